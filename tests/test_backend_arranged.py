"""Arrays of integers that are arranged in order are not read: what goes by them goes straight on, and no bit changes."""

from __future__ import annotations

import ast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loop_texts import bits, executed

from backend.arrays.arranged import arranged

N = "a0.shape[0]"


def scattered(
    size: str = f"{N} + 2",
    first: str = "a2_[0] = 1",
    middle: str = "a2_[1 + k2] = i1",
    value: str = "k2 + 2",
    last: str = f"a2_[{N} + 1] = {N} + 2",
    again: str = "pass",
    other: str = "a2_",
    at: str = "k5",
) -> str:
    """The places that a concatenation has in a sensitivity, and what is added there."""
    return f"""
def kernel(a0, a1, fuel, one):
    a2_ = _empty(({size},), _i64)
    for k1 in range(1):
        {first}
    for k2 in range({N}):
        i1 = {value}
        {middle}
    for k3 in range(1):
        {last}
    {again}
    a4_ = {other}
    a5_ = _full(({N} + 3,), -0.0, _f64)
    for k5 in range({N}):
        i2 = int(a4_[{at}])
        if i2 > 0:
            x1 = a5_[i2 - 1] + a0[k5]
            a5_[i2 - 1] = x1
    return (a5_,)
"""


def told(text: str) -> str:
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    arranged(function)
    return ast.unparse(ast.fix_missing_locations(function))


@given(st.lists(st.floats(-4.0, 4.0), max_size=5))
def test_places_in_order_are_not_read(numbers: list[float]) -> None:
    found, x = told(scattered()), np.array(numbers)
    assert "a5_[k5] = x1" in found
    assert "if i2" not in found
    assert bits(executed(found, x, x)) == bits(executed(scattered(), x, x))


def test_what_may_be_0_is_still_asked() -> None:
    found = told(scattered(first="a2_[0] = 0", value="k2 + 1", last=f"a2_[{N} + 1] = {N} + 1"))
    assert "i2 = k5\n" in found
    assert "if i2 > 0" in found


NEAR = {
    "an element that is not written": scattered(size=f"{N} + 3"),
    "another place": scattered(first="a2_[1] = 2"),
    "another order": scattered(value=f"{N} - k2"),
    "another distance": scattered(last=f"a2_[{N} + 1] = 0"),
    "two at a time": scattered(value="2 * k2 + 2"),
    "one place for all": scattered(middle="a2_[1] = i1"),
    "what comes from elsewhere": scattered(value="a1.shape[0]"),
    "a size that is another": scattered(size="fuel"),
    "an element that is written again": scattered(again="a2_[0] = 0"),
    "what may write to it": scattered(again="_row(a2_, a2_)"),
    "a part of it": scattered(other="a2_[1:]"),
    "one of two": scattered(other="a2_ if fuel > 0 else a2_"),
    "a name that is given something else": scattered(again="a4_ = a1"),
    "another index": scattered(at="k5 * 1"),
}


@pytest.mark.parametrize("near", NEAR)
def test_else_they_are_read(near: str) -> None:
    assert told(NEAR[near]) == ast.unparse(ast.parse(NEAR[near]))
