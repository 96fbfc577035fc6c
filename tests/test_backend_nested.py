"""Loops in loops: what cells need not keep, choices that are told, and values and gradients that have the reference's bits."""

from __future__ import annotations

import ast
import re

import numpy as np
import pytest
from claims import costly
from hypothesis import event, given
from hypothesis import strategies as st
from nested_loops import nested_loops
from test_backend_arrays import normal, types_of
from test_backend_stack_arrays import agrees, compiled

from backend.arrays import one_turn
from backend.run import Compiled
from semantics.machine import Machine
from transforms.gradient_programs import calling
from transforms.parse import parse_text

EXACT = (-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0)


@pytest.fixture(autouse=True)
def unremembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backend.store.remembered", lambda key, make: make())


def gradient(body: str, *arrays: np.ndarray) -> tuple[Compiled, Machine]:
    """The value and the gradient of a body, of arrays that are called h, x and A."""
    types = types_of(arrays)
    program = parse_text(f"import math\ndef f({', '.join('hxA'[: len(arrays)])}):\n{body}", "f")
    return compiled(calling(program, "value_and_grad", tuple(range(len(arrays))), types), types)


def stored(code: Compiled) -> set[str]:
    """Where the code writes to the memory of stacks."""
    return {*re.findall(r"^\s*((?:reals|integers)\[.*\]) = ", code.code.alone, re.MULTILINE)}


@costly(20)
@given(nested_loops(), st.lists(st.sampled_from(EXACT), min_size=18, max_size=18), st.integers(2, 3), st.integers(1, 3))
def test_a_generated_nest_has_the_references_gradient_in_every_bit(text: str, numbers: list[float], m: int, n: int) -> None:
    of = np.array(numbers)
    arrays = of[:m], of[3 : 3 + n], of[6 : 6 + n * m].reshape(n, m)
    types = types_of(arrays)
    code, reference = compiled(calling(parse_text(text, "f"), "value_and_grad", (0, 1, 2), types), types)
    event(f"{code.code.alone.count('turns):')} loops over ranges")
    assert agrees(code, reference, *arrays)


NESTS = {
    "a product of a matrix and a vector": (
        """
    s = 0.0
    for i in range(A.shape[0]):
        t = 0.0
        for j in range(A.shape[1]):
            t = t + A[i, j] * h[j] * x[i]
        s = s + t * t
    return s""",
        1,
    ),
    "a choice": (
        """
    s = 0.0
    for v in x:
        if v > h[0]:
            s = s + (v - h[0]) * A[0, 0]
        elif v < -h[0]:
            s = s - v * h[1]
    return s""",
        1,
    ),
    "a polynomial": (
        """
    s = 0.0
    for v in x:
        p = 0.0
        for c in h:
            p = p * v + c
        s = s + p * p * A[0, 1]
    return s""",
        1,
    ),
}


@pytest.mark.parametrize("name", NESTS)
def test_the_way_back_goes_over_ranges(name: str) -> None:
    body, ranges = NESTS[name]
    code, reference = gradient(body, normal(3), normal(5), normal(5, 3))
    assert code.code.alone.count("turns):") >= ranges
    for n in (1, 2, 4):
        assert agrees(code, reference, normal(3), normal(n), normal(n, 3))


def test_an_inner_loop_whose_numbers_are_told_keeps_nothing() -> None:
    """Its indices are those of turns, and the elements are there: what is stored are the sum, and where the inner cells are."""
    code, _ = gradient(NESTS["a product of a matrix and a vector"][0], normal(3), normal(5), normal(5, 3))
    assert len(stored(code)) == 2


def test_near_miss_an_index_that_does_not_count_is_kept() -> None:
    body = """
    s = 0.0
    k = 0
    for i in range(len(x)):
        if x[i] > 0.0:
            k = i
        s = s + h[k] * A[i, 0] * x[i]
    return s"""
    code, reference = gradient(body, normal(3), normal(3), normal(3, 3))
    assert any(place.startswith("integers") for place in stored(code))
    assert agrees(code, reference, normal(3), np.array([-1.0, 1.0, -0.5]), normal(3, 3))


CONVOLVED = """
    s = 0.0
    for i in range(len(x) - len(h) + 1):
        t = 0.0
        for k in range(len(h)):
            t = t + h[k] * x[{}]
        s = s + t * t
    return s"""


@pytest.mark.parametrize("index", ["i + k", "k + i", "i + k + 0"])
def test_an_index_that_is_a_sum_of_the_numbers_of_turns_is_told(index: str) -> None:
    """What is stored are the sum, and where the inner cells are."""
    code, reference = gradient(CONVOLVED.format(index), normal(2), normal(5))
    assert len(stored(code)) == 2
    assert "turns):" in code.code.alone
    for n in (2, 3, 6):
        assert agrees(code, reference, normal(2), normal(n))


def test_so_is_one_in_four_loops() -> None:
    """What is stored are the sum of a pixel, and where the cells of the inner loops are: none of the innermost."""
    text = """
def f(K, A):
    s = 0.0
    for i in range(A.shape[0] - K.shape[0] + 1):
        for j in range(A.shape[1] - K.shape[1] + 1):
            t = 0.0
            for p in range(K.shape[0]):
                for q in range(K.shape[1]):
                    t = t + A[i + p, j + q] * K[p, q]
            s = s + t * t
    return s"""
    arrays = normal(2, 2), normal(4, 3)
    types = types_of(arrays)
    code, reference = compiled(calling(parse_text(text, "f"), "grad", (0, 1), types), types)
    assert sum(place.startswith("reals") for place in stored(code)) == 1
    assert len(stored(code)) <= 10, "each of the other cells has a counter, and two ends"
    assert "_apart(" in code.code.alone
    for shape in ((2, 2), (4, 3), (3, 6)):
        assert agrees(code, reference, normal(2, 2), normal(*shape))


@pytest.mark.parametrize("index", ["i * k", "i + k * k", "len(x) - 1 - i - k", "i + k - 1"])
def test_near_miss_an_index_that_is_no_such_sum_or_may_be_negative(index: str) -> None:
    code, reference = gradient(CONVOLVED.format(index), normal(2), normal(5))
    assert len(stored(code)) > 2 or " < 0 else " in code.code.alone.split("1.0")[-1]
    for n in (2, 3, 6):
        assert agrees(code, reference, normal(2), normal(n))


INDEX = """
    s = 0.0
    c = 1.0
    z = h * 1.0
    for j in range(len(h)):
        for k in range(2):
            for i in range(len(x)):
                c = -1.0 * A[i, j]
            for i in range(len(x)):
                z[j] = x[i - j] - x[k - 1]
    return s + 0.0 * c"""


def test_a_stack_that_grows_in_a_turn_is_not_the_same_in_all_turns() -> None:
    """A regression: a loop that is left behind its choice was taken for one without turns."""
    code, reference = gradient(INDEX, normal(3), normal(3), normal(3, 3))
    matrix = np.array([[-1.5, -0.5, -0.5], [2.0, 0.25, -1.5], [0.0, 2.0, -1.0]])
    assert agrees(code, reference, np.array([1.0, 0.25, 0.5]), np.array([2.0, 2.0, -1.0]), matrix)


TURN = """
def kernel(a0, a1, fuel, one):
    p, q, i, j, x = (s7 - 1, s7, 0, 3, 0.0)
    while True:
        if i < a0.shape[0]:
            n = i + 1
            if i < -a0.shape[0]:
                return (x, 16)
            y = float(a0[i])
            if y > x:
                b, k = (True, 4)
            else:
                b, k = (False, 6)
            t = 0
            while True:
                if t < 2:
                    t = t + 1
                    continue
                else:
                    _go = 3
                    break
            if _go != 3:
                break
            if p != s7 - 1:
                return (x, 14)
            reals[_cell(7, s7, '0')] = y
            integers[_cell(7, s7, '1')] = int(b)
            integers[_cell(7, s7, '2')] = k
            integers[_cell(7, s7, '3')] = j
            integers[_cell(7, s7, '4')] = t
            p = s7
            s7 = s7 + 1
            i, j = (n, j + 1)
            continue
        else:
            break
    return (x, 0)
"""


def followed(text: str) -> one_turn.Turn:
    """The turn of the outermost loop."""
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    return one_turn.turns(function, frozenset({"a0"}))[-1]


def test_a_turn_is_followed() -> None:
    turn = followed(TURN)
    assert turn.counters() == {"i": 0, "j": 3}
    assert turn.stack("7", {"s7": 2}) == ("p", "q")
    (push,) = turn.pushes["7"]
    assert push.on_top
    assert "i < -a0.shape[0]" in push.passed
    assert push.places["0"].value == ("element", "a0", ("name", "i"))
    assert push.places["1"].value[:1] == push.places["2"].value[:1] == ("arms",)
    assert push.places["1"].value[1] == push.places["2"].value[1]
    assert push.places["3"].value == ("name", "j")
    assert push.places["4"].value[0] == "unknown"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("p = s7\n", "p = i\n"),
        ("s7 = s7 + 1\n", "s7 = s7 + 2\n"),
        ("i, j = (n, j + 1)", "i, j, q = (n, j + 1, s7)"),
        ("_go = 3", "s7 = s7 + 1; _go = 3"),
    ],
)
def test_near_miss_a_stack_that_does_not_get_one_cell_a_turn(old: str, new: str) -> None:
    assert followed(TURN.replace(old, new)).stack("7", {"s7": 2}) is None


def test_what_an_inner_loop_carries_is_not_known() -> None:
    turn = followed(TURN.replace("t = t + 1", "t, j = (t + 1, j + 1)"))
    assert turn.counters() == {"i": 0}
    assert followed(TURN.replace("t = t + 1", "t, j = (t + 1, j)")).counters() == {"i": 0, "j": 3}
