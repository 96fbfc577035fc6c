"""How many cells loops have pushed, told where their stacks are gone over: fewer tests, and no bit changes."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loop_texts import executed

from backend.arrays.heights import with_heights
from backend.arrays.one_turn import turns


def pushing(
    turns: str = "a0.shape[0]",
    first: str = "s5 - 1",
    step: str = "1",
    push: str = "s5 = s5 + 1",
    inside: str = "pass",
    handed: str = "i20, i21 = (i6, i7)",
    kept: str = "i21",
) -> str:
    """A loop that pushes a cell a turn, one that keeps its top and its base in a cell, and what goes over the first one's cells."""
    return f"""
def kernel(a0, a1, integers, fuel, one):
    x1 = 0.0
    s5 = 2
    s9 = 0
    i6, i7, i8 = ({first}, s5, 0)
    while True:
        b1 = i8 < {turns}
        if b1:
            i9 = i8 + {step}
            {inside}
            i10, i11 = (i6, i7)
            i10 = s5
            {push}
            i6, i7, i8 = (i10, i11, i9)
            continue
        else:
            {handed}
            break
    i30, i31, i32 = (s9 - 1, s9, 0)
    while True:
        b2 = i32 < 2
        if b2:
            i33 = i32 + 1
            integers[_cell(9, s9, '0')] = i20
            integers[_cell(9, s9, '1')] = {kept}
            i34 = s9
            s9 = s9 + 1
            i30, i32 = (i34, i33)
            continue
        else:
            i22 = i30
            break
    i23 = int(integers[_cell(9, i22, '0')])
    i24 = int(integers[_cell(9, i22, '1')])
    i40 = 2 if i23 >= i24 else 0
    b3 = i40 > 0
    if b3:
        i25 = i23 - i24
        x1 = x1 + 0.5 * i25
        i41 = 2 if i20 >= i21 else 0
        b4 = i41 > 0
        if b4:
            x1 = x1 + 16.0
        else:
            x1 = x1 + 32.0
        i26, i27 = (i23 - 1, i24)
        while i26 >= i27:
            x1 = x1 * 3.0 + i26 - i27
            i26 = i26 - 1
    else:
        i42 = 2 if i20 >= i21 else 0
        b5 = i42 > 0
        if b5:
            x1 = x1 + 64.0
        else:
            x1 = x1 + 128.0
    return (x1, 0)
"""


def told(text: str, shared: tuple[str, ...] = ()) -> str:
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    with_heights(function, turns(function, frozenset({"a0", "a1"})), {*shared})
    return ast.unparse(ast.fix_missing_locations(function))


def test_whether_there_are_turns_is_asked_once() -> None:
    found = told(pushing())
    assert "i40 = 2 if a0.shape[0] > 0 else 0" in found
    assert "i25 = a0.shape[0] - 1" in found
    assert "i26, i27 = (i23 - 1, i23 - (a0.shape[0] - 1))" in found
    assert "if b4" not in found
    assert "if b5" not in found
    assert "32.0" not in found
    assert "64.0" not in found


def test_a_number_of_turns_is_not_asked_for() -> None:
    found = told(pushing("3"))
    assert "if b3" not in found
    assert "i25 = 2\n" in found
    assert "128.0" not in found


NEAR = {
    "a number of turns that is no size": pushing("fuel - 98"),
    "a number that a turn changes": pushing("i8 + 1 - i8"),
    "another top": pushing(first="s5"),
    "another step": pushing(step="2"),
    "two cells a turn": pushing(push="s5 = s5 + 2"),
    "a turn that may push twice": pushing(inside="s5 = s5 + 1"),
    "a counter that is set again": pushing(inside="i9 = i9 + 1"),
    "another base": pushing(inside="i7 = i7 + 1"),
    "a top from elsewhere": pushing(handed="i20, i21 = (i8, i7)"),
    "a top and a base that are handed on apart": pushing(handed="i21 = i7\n            i20 = i6"),
}


@pytest.mark.parametrize("near", NEAR)
def test_else_tops_and_bases_are_compared(near: str) -> None:
    assert "if b4" in told(NEAR[near])
    assert "i40 = 2 if i23 >= i24" in told(NEAR[near])


def test_cells_that_keep_another_base_are_asked() -> None:
    found = told(pushing(kept="i22 * 0"))
    assert "i40 = 2 if i23 >= i24" in found
    assert "i41 = 2 if a0.shape[0] > 0" in found


def test_cells_that_others_write_are_asked() -> None:
    assert "i40 = 2 if i23 >= i24" in told(pushing(), ("9",))


def run(text: str, size: int) -> Any:
    x = np.arange(1.0, size + 1.0)
    names = text
    for cell in ("s9", "i22"):
        for place in "01":
            names = names.replace(f"_cell(9, {cell}, '{place}')", f"2 * {cell} + {place}")
    return executed(names, x, x, np.full(40, 1_000_000))


@given(st.sampled_from(("a0.shape[0]", "3", "0", "1")), st.integers(0, 5))
def test_what_is_computed_is_the_same(turns: str, size: int) -> None:
    assert run(told(pushing(turns)), size) == run(pushing(turns), size)
