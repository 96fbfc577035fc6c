"""Loops that make every element of a mask True, and those whose first turn is taken before: masks that nobody need ask."""

from __future__ import annotations

import ast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loop_texts import bits, executed
from test_backend_begun import SPECIAL

from backend.arrays.whole import whole

N = "a0.shape[0]"


def loops(
    size: str = N,
    there: str = f"a3_[{N} - 1] = True",
    top: str = f"{N} - 2",
    base: str = "0",
    step: str = "i6 - 1",
    mask: str = "a7_[i8] = True",
    taken: str = f"a11_[{N} - 1] = False",
    again: str = "pass",
    ends: str = "i6 >= i7",
) -> str:
    """A loop that writes all elements of an array, behind the last; and one that takes all of them, behind the last too."""
    return f"""
def kernel(a0, a1, fuel, one):
    a2_ = _full(({size},), -0.0, _f64)
    a3_ = _full(({size},), False, _bool)
    a2_[{N} - 1] = a0[{N} - 1]
    {there}
    i6, i7, a6_, a7_ = ({top}, {base}, a2_, a3_)
    while True:
        i1 = 2 if {ends} else 0
        b1 = i1 > 0
        if b1:
            if i6 < i7:
                return (a1, 5)
            i8 = i6 - i7
            a6_[i8] = a6_[i8] + a0[i8]
            {mask}
            i9 = {step}
            i6, a6_, a7_ = (i9, a6_, a7_)
            continue
        else:
            x1 = a6_[{N} - 1]
            b2 = a7_[{N} - 1]
            a10_ = a6_
            a11_ = a7_
            a10_[{N} - 1] = -0.0
            {taken}
            if b2:
                x3 = 2.0 * x1
            else:
                x3 = 0.0
            i16, i17, a12_, a13_, x4 = ({N} - 2, 0, a10_, a11_, x3)
            while True:
                i18 = 2 if i16 >= i17 else 0
                b3 = i18 > 0
                if b3:
                    if i16 < i17:
                        return (a1, 5)
                    i19 = i16 - i17
                    b4 = a13_[i19]
                    x2 = a12_[i19]
                    a12_[i19] = -0.0
                    a13_[i19] = False
                    {again}
                    if b4:
                        x5 = x4 + 3.0 * x2
                    else:
                        x5 = x4
                    i20 = i16 - 1
                    i16, a12_, a13_, x4 = (i20, a12_, a13_, x5)
                    continue
                else:
                    break
            break
    return (x4, x3)
"""


def without(text: str) -> str | None:
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    found = whole(function)
    return None if found is None else ast.unparse(ast.fix_missing_locations(found))


@given(st.lists(st.sampled_from(SPECIAL), min_size=2, max_size=6))
def test_what_a_loop_has_written_is_there(numbers: list[float]) -> None:
    found, x = without(loops()), np.array(numbers)
    assert found is not None
    assert "if b2" not in found
    assert "if b4" not in found
    assert bits(executed(found, x, x)) == bits(executed(loops(), x, x))


def test_so_it_is_where_the_loop_writes_the_last_too() -> None:
    found = without(loops(there="pass", top=f"{N} - 1"))
    assert found is not None
    assert "if b4" not in found


@pytest.mark.parametrize("more", [f"a11_[{N} - 2] = True", "a11_[0] = True\n            a14_ = a11_\n            a14_[0] = True"])
def test_so_it_is_where_more_is_made_true(more: str) -> None:
    text = loops(taken=f"a11_[{N} - 1] = False\n            {more}")
    found = without(text.replace("a10_, a11_, x3", "a10_, a14_, x3") if "a14_" in more else text)
    assert found is not None
    assert "if b4" not in found


def test_what_is_read_where_a_loop_has_written_all_is_there_though_nothing_is_taken() -> None:
    found = without(loops(again="a13_[0] = False"))
    assert found is not None
    assert "if b2" not in found
    assert "if b4" in found


NEAR = {
    "the last is not there": loops(there="pass"),
    "another is there": loops(there="a3_[0] = True"),
    "it becomes ZERO again": loops(there=f"a3_[{N} - 1] = True\n    a3_[0] = False"),
    "a loop that leaves two": loops(top=f"{N} - 3"),
    "a loop that does not end at 0": loops(base="1"),
    "every second": loops(step="i6 - 2"),
    "upwards": loops(step="i6 + 1"),
    "elements that are sometimes there": loops(mask="if a0[i8] > 0.0:\n                a7_[i8] = True"),
    "an element that goes": loops(mask="a7_[i8] = True\n            a7_[0] = False"),
    "one element": loops(mask="a7_[0] = True"),
    "a larger mask": loops(size=f"{N} + 1"),
    "a loop that goes on for another reason": loops(ends="i6 > i7"),
    "an element taken that the loop takes too": loops(taken="a11_[0] = False"),
    "an element made what nobody knows": loops(taken=f"a11_[{N} - 1] = False\n            a11_[0] = a0[0] > 0.0"),
    "two elements taken": loops(taken=f"a11_[{N} - 1] = False\n            a11_[0] = False"),
    "the next one taken too": loops(again="a13_[i19 - 1] = False"),
}


@pytest.mark.parametrize("near", NEAR)
def test_else_the_masks_are_asked(near: str) -> None:
    found = without(NEAR[near])
    assert found is None or "if b4" in found
