"""Loops down whose turns are apart but for sums go over a range: the same bits, the same fuel, and vectors."""

from __future__ import annotations

import ast
from functools import partial

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from loop_texts import executed, stays, through
from test_backend_arrays import normal, types_of
from test_backend_begun import SPECIAL
from test_backend_stack_arrays import agrees, compiled

import backend
from adjudge.values import to_value
from backend.arrays.ranged import ranged
from semantics.machine import Machine
from semantics.type_language import REAL
from semantics.values import same
from transforms.gradient_programs import calling
from transforms.nested_grad import expand
from transforms.parse import parse_text

N = "a0.shape[0]"
with_ranges = partial(through, ranged)
agree = partial(stays, ranged)
WHOLE = ("a3_[i6] = x11",)
FLAGGED = """if i8 == 0:
                x51 = x9 + x12
                x52 = x51
            else:
                x52 = x12"""


def going_down(
    stores: tuple[str, ...] = WHOLE,
    turns: str = f"{N} - 1",
    turn: str = "pass",
    flag: int = 1,
    rest: str = "pass",
    added: str = "x10 + x11",
) -> str:
    """A loop down that writes its own element of arrays, and has two sums, one of which is ZERO at first if the flag is 1."""
    written = "\n            ".join(stores)
    return f"""
def kernel(a0, a1, fuel, one):
    a2_ = _empty(({N},), _f64)
    a5_ = _empty(({N},), _f64)
    for k in range({N}):
        a2_[k] = a1[k] * 2.0
        a5_[k] = a0[k] - 1.0
    x14 = 0.0
    i1, i2, a3_, a4_, i8, x9, x10 = (3 + {turns} - 1, 3, a2_, a5_, {flag}, 0.5, -1.0)
    while True:
        fuel = fuel - 1
        if fuel < 0:
            return (a0, a0, 0.0, 0.0, 0, fuel, 4)
        i20 = 2 if i1 >= i2 else 0
        b1 = i20 > 0
        if b1:
            if i1 < i2:
                return (a0, a0, 0.0, 0.0, 0, fuel, 5)
            i6 = i1 - i2 + 1
            if i6 < -{N} or i6 >= {N}:
                return (a0, a0, 0.0, 0.0, 0, fuel, 16)
            for k in range(1):
                x11 = float(a0[i6]) * 0.5
                x12 = float(a3_[i6]) - x11
            {turn}
            {written}
            {FLAGGED}
            x53 = {added}
            x54 = x53
            i7 = i1 - 1
            i1, a3_, a4_, i8, x9, x10 = (i7, a3_, a4_, 0, x52, x54)
            continue
        else:
            {rest}
            a8_ = a3_
            break
    return (a8_, a4_, x9 if i8 == 0 else 0.0, x10 + x14, i8 + i1, fuel, 0)"""


def test_the_loop_goes_over_a_range() -> None:
    found = with_ranges(going_down())
    before, _, loop = found.partition("for i1k in _apart(i1turns):")
    assert "while" not in found
    assert f"if i1 >= i2 and i1 - i2 + 1 >= {N}:" in before
    assert "x9 = x9 if i8 == 0 or i1turns < 1 else -0.0" in before
    assert "a3_[i1at0] = x11" in loop
    assert "x52 = x9 + x12" in loop
    assert "i8 = 0 if i1turns > 0 else i8" in loop


STORES = (
    "a3_[i6] = x11",
    "a4_[i6] = x12",
    "a3_[i6] = float(a4_[i6]) + x12",
    "if x11 > 0.0: a4_[i6] = -0.0",
    "a3_[i1 - i2 + 1] = -0.0",
)


@given(
    st.lists(st.sampled_from(STORES), min_size=1, max_size=4),
    st.lists(st.sampled_from(SPECIAL), min_size=1, max_size=9),
    st.sampled_from((f"{N} - 1", f"min(2, {N} - 1)", "0", "-3")),
    st.integers(0, 1),
)
def test_every_number_is_what_it_was(stores: list[str], numbers: list[float], turns: str, flag: int) -> None:
    text = going_down(tuple(stores), turns, flag=flag)
    assert "_apart" in with_ranges(text)
    event(f"{turns}, flag {flag}")
    assert agree(text, numbers)


@given(st.sampled_from(("x10 * x11", "x10 + x10", "x10 - x9", "x11")), st.lists(st.sampled_from(SPECIAL), min_size=1, max_size=6))
def test_any_number_may_go_from_turn_to_turn(added: str, numbers: list[float]) -> None:
    text = going_down(added=added, turn="x13 = x10", flag=0)
    if "x9" in added:  # which is a number from the start, and no sum
        text = text.replace("i8 == 0", "i1 > 0")
    assert ("_apart" in with_ranges(text)) == ("x9" not in added)
    assert agree(text, numbers)


def in_a_matrix(sizes: str, at: str, chosen: str = "i30 + 2 if i30 < 0 else i30") -> str:
    """A loop that writes to a matrix as well, at an index that a turn chooses: the row or the column before the first, the last."""
    text = going_down((*WHOLE, f"i31 = {chosen}", f"a9_[{at}] = x12"), rest="x14 = float(a9_[1, 0])")
    return text.replace("    x14 = 0.0", f"    x14 = 0.0\n    i30 = -1\n    a9_ = _full(({sizes}), 0.5, _f64)")


@pytest.mark.parametrize(("sizes", "at", "goes"), [(f"2, {N}", "i31, i6", "_apart"), (f"{N}, 2", "i6, i31", "range")])
@given(numbers=st.lists(st.sampled_from(SPECIAL), min_size=2, max_size=6))
def test_an_index_of_all_turns_is_chosen_first_and_columns_are_not_vectors(
    sizes: str, at: str, goes: str, numbers: list[float]
) -> None:
    text = in_a_matrix(sizes, at)
    before, loop, _ = with_ranges(text).partition(f"for i1k in {goes}(i1turns):")
    assert loop
    assert "i31 = i30 + 2 if i30 < 0 else i30" in before
    assert agree(text, numbers)


def test_an_index_outside_is_told_before_the_loop() -> None:
    numbers = np.array([0.5, 1.0, -2.0, 3.0])
    ends = [executed(made(going_down(turns=N)), numbers, numbers)[-1] for made in (str, with_ranges)]
    assert ends == [16, 16]


@pytest.mark.parametrize("fuel", [0, 2, 5, 6, 7, 100])
def test_as_much_fuel_is_taken(fuel: int) -> None:
    text = going_down().replace("    x14 = 0.0", f"    fuel = {fuel}\n    x14 = 0.0")
    found = [executed(made(text), *[np.arange(6.0)] * 2) for made in (str, with_ranges)]
    assert found[0][-1] == found[1][-1] == (0 if fuel > 5 else 4)
    assert found[0][-2] == found[1][-2] or fuel <= 5


NEAR = {
    "two elements in a turn": going_down((*WHOLE, "a3_[i1 - i2] = x12")),
    "a neighbour of what the array is by another name": going_down(turn="x14 = float(a2_[i1 - i2])"),
    "the same element in every turn": going_down(("a3_[0] = x11",)),
    "nothing written": going_down(("pass",)),
    "an array that is passed on": going_down(turn="x13 = _norm(a3_)"),
    "a number that is set outside too": going_down(turn="x14 = x11"),
    "a flag that is asked for": going_down(turn="x13 = i8"),
    "a term that is another where the sum is ZERO": going_down().replace("x52 = x12\n", "x52 = x11\n"),
    "a turn that ends the function": going_down(turn="if x11 > 9.0: return (a0, a0, 0.0, 0.0, 0, fuel, 1)"),
    "a loop inside": going_down(turn=f"for k in range({N}): x13 = float(a0[k])"),
    "another jump out": going_down(rest="if x9 > 0.0: break"),
    "turns that go down by two": going_down().replace("i7 = i1 - 1", "i7 = i1 - 2"),
    "another question": going_down().replace("2 if i1 >= i2 else 0", "2 if i1 > i2 else 0"),
    "an answer that is asked for": going_down(rest="x14 = float(i20)"),
    "an answer that is asked for afterwards": going_down().replace("i8 + i1, fuel", "i8 + i20, fuel"),
    "an index that each turn chooses": in_a_matrix(f"{N}, {N}", "i31, i6", "0 if i6 > 1 else i30"),
    "a term that is another where it is added": going_down().replace(
        "x51 = x9 + x12", "x12 = x11 * 2.0\n                x51 = x9 + x12"
    ),
}


@pytest.mark.parametrize("near", NEAR)
def test_else_the_loop_stays(near: str) -> None:
    assert with_ranges(NEAR[near]) == ast.unparse(ast.parse(NEAR[near]))


PROGRAMS = {
    "a sum": ("s = 0.0\n    for v in x:\n        s = s + h * v * v * v\n    return s", 1),
    "a sum by index": ("s = 0.0\n    for i in range(x.shape[0]):\n        s = s + math.exp(-h * x[i])\n    return s", 1),
    "a vector that is filled": (
        "y = np.zeros(len(x))\n    for i in range(len(x)):\n        y[i] = h * x[i] * x[i]\n"
        "    s = 0.0\n    for i in range(len(x)):\n        s = s + y[i] * y[i]\n    return s",
        2,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_of_loops_over_elements_are_the_references_in_every_bit(name: str) -> None:
    body, ranges = PROGRAMS[name]
    types = (REAL, *types_of((normal(5),)))
    program = calling(
        parse_text(f"import math\nimport numpy as np\ndef f(h, x):\n    {body}", "f"), "value_and_grad", (0, 1), types
    )
    code, reference = compiled(program, types)
    assert code.code.alone.count("k in _apart(i") == ranges
    for n in (0, 1, 2, 9):
        assert agrees(code, reference, 0.3, normal(n))
    assert agrees(code, reference, np.inf, np.array([-0.0, 1.0, np.nan, np.inf]))


PAIRS = """
def f(h, x):
    points = [(v, 1.0) for v in x]
    for turn in range(3):
        points = [(p + h * q, q - h * p) for p, q in points]
    total = 0.0
    for p, q in points:
        total = total + p * q
    return total
"""


def test_gradients_of_lists_of_pairs_are_made_in_vectors() -> None:
    types = (REAL, *types_of((normal(5),)))
    program = calling(parse_text(PAIRS, "f"), "value_and_grad", (0, 1), types)
    code, reference = backend.compile(program, types, "python"), Machine(expand(program, "ssa"))
    assert code.code.alone.count("k in _apart(i") >= 3
    for n in (0, 1, 2, 9):
        x = np.arange(n) - 0.5 * n  # every sum is exact
        assert same(code(*map(to_value, (0.25, x))), reference.run([*map(to_value, (0.25, x))]).value)
