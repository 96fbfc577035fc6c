"""Loops in loops that take each element of a mask of two axes once: nobody asks whether it is there, and no bit changes."""

from __future__ import annotations

import numpy as np
import pytest
from claims import costly
from hypothesis import given
from hypothesis import strategies as st
from loop_texts import bits, executed
from test_backend_arrays import types_of
from test_backend_begun import SPECIAL
from test_backend_stack_arrays import agrees, compiled
from test_backend_whole import without

from backend.arrays import turns_of_nests
from bench.nests import PRODUCT
from transforms.gradient_programs import calling
from transforms.parse import parse_text

N, M = "a0.shape[0]", "a0.shape[1]"


def nest(
    first: str = "True",
    row: str = "i1 + 0",
    column: str = "i4 - 0",
    onward: str = "i1 - 1",
    step: str = "i4 - 1",
    early: str = "pass",
    again: str = "pass",
    within: str = "",
    after: str = "pass",
    outside: str = "pass",
    leaves: str = "",
) -> str:
    """All elements of a matrix are taken, and summed: those that are there."""
    return f"""
def kernel(a0, fuel, one):
    _go = 0
    a2_ = _empty(({N}, {M}), _f64)
    for k1 in range({N}):
        for k2 in range({M}):
            a2_[k1, k2] = a0[k1, k2]
    a3_ = _empty(({N}, {M}), _f64)
    i1, a4_, a5_, x3 = ({N} - 1, a2_, _full(({N}, {M}), {first}, _bool), 0.0)
    while True:
        i2 = 2 if i1 >= 0 else 0
        b3 = i2 > 0
        if b3:
            {outside}
            i4, a6_, a7_, x5 = ({M} - 1, a4_, a5_, x3)
            while True:
                i5 = 2 if i4 >= 0 else 0
                b6 = i5 > 0
                if b6:
                    i7 = {row}
                    i8 = {column}
                    {early}
                    b9 = a7_[i7, i8]
                    x10 = a6_[i7, i8]
                    x11 = x5
                    if b9:
                        x11 = x5 + x10
                    a7_[i7, i8] = False
                    a6_[i7, i8] = 0.5
                    {again}
                    {within or "x5, i4 = (x11, " + step + ")"}
                    continue
                else:
                    {after}
                    i1, a4_, a5_, x3 = ({onward}, a6_, a7_, x5)
                    _go = 7
                    break
        else:
            break
{leaves}
    return (x3, a4_)
"""


THROUGH = """i12, x13, a14_ = (2, x11, a7_)
                    while True:
                        i15 = 2 if i12 >= 0 else 0
                        b16 = i15 > 0
                        if b16:
                            {0}
                            i12, x13 = (i12 - 1, x13 * 0.5)
                            continue
                        else:
                            x5, i4, a7_ = (x13, i4 - 1, a14_)
                            _go = 9
                            break"""
"""A turn that goes through a loop, which is handed the mask."""


def kept(text: str, numbers: list[float]) -> bool:
    """Whether the bits of what a text gives stay, for a matrix of two rows and for one of a row."""
    matrix = np.array(numbers).reshape(2, -1)
    return all(bits(executed(without(text) or text, a)) == bits(executed(text, a)) for a in (matrix, matrix[:1]))


def is_told(text: str) -> bool:
    found = without(text)
    return found is not None and "if b9" not in found and "a7_[i7, i8]:" not in found


TOLD = {
    "alone": nest(),
    "with another that becomes True": nest(again="a7_[0, 0] = True"),
    "through a loop": nest(within=THROUGH.format("pass")).replace(
        "                    continue\n                else:", "                else:"
    ),
    "in a loop that is left elsewhere": nest(leaves="        if _go != 7:\n            break"),
}


@pytest.mark.parametrize("text", TOLD)
@given(numbers=st.lists(st.sampled_from(SPECIAL), min_size=6, max_size=6))
def test_what_two_indices_take_is_there(text: str, numbers: list[float]) -> None:
    assert is_told(TOLD[text])
    assert kept(TOLD[text], numbers)


NEAR = {
    "elements that are ZERO": nest(first="False"),
    "the row of no turn": nest(row="0"),
    "a column of every turn": nest(column="0"),
    "rows as columns": nest(row="i4 - 0", column="i1 + 0").replace("a0.shape[1]", "a0.shape[0]"),
    "a counter of the outer loop that stays": nest(onward="i1 - (2 if i1 == 0 else 1)"),
    "a counter of the inner loop that stays": nest(step="i4 - (2 if i4 == 0 else 1)"),
    "another that is lost in the turn": nest(again="a7_[0, 0] = False"),
    "another that is lost before": nest(early="a7_[0, 0] = False"),
    "another that is lost after the inner loop": nest(after="a7_[0, 0] = False"),
    "another that is lost before the inner loop": nest(outside="a5_[0, 0] = False"),
    "a mask that is called with": nest(again="_row(a7_, a7_)"),
    "one of another name": nest().replace("(i1 - 1, a6_, a7_, x5)", "(i1 - 1, a6_, _full((2, 3), False, _bool), x5)"),
    "a turn that may end sooner": nest(early="if x5 > 2.0:\n                        break"),
    "another that is lost in a loop of the turn": nest(within=THROUGH.format("a14_[0, 0] = False")),
}


@pytest.mark.parametrize("near", NEAR)
def test_else_it_is_asked_whether_it_is(near: str) -> None:
    assert not is_told(NEAR[near])


def test_what_was_taken_in_this_turn_is_gone() -> None:
    assert "b9 = a7_[i7, i8]" in str(without(nest(again="b9 = a7_[i7, i8]\n                    x11 = x5 if b9 else x11")))


@pytest.mark.parametrize(
    ("planted", "near"),
    [
        ("is_at", "a column of every turn"),
        ("is_at", "another that is lost in the turn"),
        ("handed", "another that is lost before the inner loop"),
    ],
)
def test_a_pass_that_does_not_look_is_seen(planted: str, near: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if planted == "is_at":
        monkeypatch.setattr(turns_of_nests.Nest, "is_at", lambda nest, event, values: True)
    else:
        monkeypatch.setattr(turns_of_nests.Nest, "handed", lambda nest, mask: {"a5_": "a7_"}.get(mask))
    assert not kept(NEAR[near], [1.0, 2.0, 4.0, 8.0, 16.0, 32.0])


PRODUCTS = ("A[i, k] * B[k, j]", "A[i, k] * A[k, j]", "A[k, i] * B[j, k]", "A[i, k] * B[k, j] * A[k, k]")
STORES = ("C[i, j] = t", "C[i, j] = C[i, j] + t", "C[j, i] = t", "C[i, 0] = t", "if j < 2:\n                C[i, j] = t")
READS = ("C[i, j] * C[i, j]", "C[i, j]", "C[j, i] * A[i, j]", "C[0, j]", "C[i, j] * C[i, 0]")


@st.composite
def products(draw: st.DrawFn) -> str:
    """A matrix made element by element, by sums of products, and what is made of it in the same way."""
    one, store, read = draw(st.sampled_from(PRODUCTS)), draw(st.sampled_from(STORES)), draw(st.sampled_from(READS))
    made = draw(st.sampled_from(("numpy.zeros((n, n))", "A * 0.5")))
    head = draw(st.sampled_from(("range(n)", "range(1, n)", "range(n - 1, -1, -1)")))
    return f"""import numpy
def f(A, B):
    n = A.shape[0]
    C = {made}
    for i in {head}:
        for j in range(n):
            t = 0.0
            for k in range(n):
                t = t + {one}
            {store}
    s = 0.0
    for i in range(n):
        for j in range(n):
            s = s + {read}
    return s
"""


@costly(20)
@given(products(), st.integers(1, 3), st.lists(st.sampled_from(SPECIAL), min_size=18, max_size=18))
def test_the_gradient_of_a_product_by_index_is_the_references_in_every_bit(text: str, n: int, numbers: list[float]) -> None:
    arrays = tuple(np.array(numbers[at : at + n * n]).reshape(n, n) for at in (0, 9))
    types = types_of(arrays)
    code, reference = compiled(calling(parse_text(text, "f"), "value_and_grad", (0, 1), types), types)
    assert agrees(code, reference, *arrays)


def test_the_gradient_of_a_product_asks_no_mask_of_the_product() -> None:
    matrices = (np.ones((2, 3)), np.ones((3, 4)))
    types = types_of(matrices)
    code, reference = compiled(calling(parse_text(PRODUCT, "f"), "grad", (0, 1), types), types)
    assert code.code.alone.count(", False, _bool)") == 2, "of the two that are given out"
    assert agrees(code, reference, *matrices)
