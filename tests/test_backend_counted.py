"""Integers in cells of stacks that count turns: told from the place of the cell, with the tests that they have passed."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest
from claims import costly
from hypothesis import event, given
from hypothesis import strategies as st
from loop_texts import executed
from test_backend_arrays import normal, types_of
from test_backend_begun import stencils
from test_backend_stack_arrays import agrees, compiled

from backend.arrays import counted as counting
from backend.arrays.counted import counted, counts
from backend.arrays.one_turn import turns as followed
from semantics.type_language import INTEGER
from transforms.gradient_programs import calling
from transforms.parse import parse_text


def pushing(
    value: str = "i8 + 1", test: str = "i9 < -a0.shape[0] or i9 >= a0.shape[0]", q: str = "i7", step: str = "1", after: str = "pass"
) -> str:
    """A loop that pushes what it reads at, and one that pops that, as code has them before cells have places."""
    return f"""
def kernel(a0, a1, integers, fuel, one):
    s5 = 2
    x1 = 0.0
    i6, i7, i8 = (s5 - 1, s5, 0)
    while True:
        b1 = i8 < fuel - 98
        if b1:
            i9 = {value}
            if {test}:
                return (x1, 16)
            x1 = x1 * 0.5 + a1[i9 + a0.shape[0] if i9 < 0 else i9]
            i10, i11 = (i6, i7)
            if i10 != s5 - 1:
                return (x1, 14)
            integers[_cell(5, s5, '0')] = i9
            i12 = i8 + {step}
            i10 = s5
            s5 = s5 + 1
            {after}
            i6, i7, i8 = (i10, {"i11" if q == "i7" else q}, i12)
            continue
        else:
            break
    i20, i21 = (i6, i7)
    while i20 >= i21:
        if i20 < i21:
            return (x1, 5)
        i22 = int(integers[_cell(5, i20, '0')])
        if i22 < -a0.shape[0] or i22 >= a0.shape[0]:
            return (x1, 16)
        if i22 >= a1.shape[0]:
            return (x1, 16)
        i23 = i22 + a0.shape[0] if i22 < 0 else i22
        x1 = x1 * 0.5 + a0[i23]
        i20 = i20 - 1
    return (x1, 0)
"""


def told(text: str) -> str:
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    counted(function, counts(function, followed(function, frozenset({"a0", "a1"})), set()))
    return ast.unparse(ast.fix_missing_locations(function))


def test_an_integer_that_counts_turns_is_not_read() -> None:
    found = told(pushing())
    assert "i22 = i20 - i21 + 1\n" in found
    assert "i23 = i22\n" in found
    assert "if i22 < -a0" not in found
    assert "if i22 >= a1.shape[0]" in found  # which the turn that pushed has not tested


def test_one_that_may_be_negative_is_still_asked() -> None:
    found = told(pushing("i8 - 1"))
    assert "i22 = i20 - i21 + -1\n" in found
    assert "i23 = i22 + a0.shape[0] if i22 < 0 else i22" in found


NEAR = {
    "no constant distance": pushing("i8 * 2"),
    "another step": pushing(step="2"),
    "another base": pushing(q="s5"),
    "a counter that is set again": pushing(after="i12 = i12 + 1"),
    "a turn that may push twice": pushing(after="s5 = s5 + 1"),
}


@pytest.mark.parametrize("near", NEAR)
def test_else_it_is_read(near: str) -> None:
    assert "i22 = int(integers[_cell(5, i20, '0')])" in told(NEAR[near])


def test_what_has_been_tested_before_it_was_pushed_is_not_tested_again() -> None:
    found = told(pushing("i8 * 2"))
    assert found.count("-a0.shape[0]") == 1
    assert "if i22 >= a1.shape[0]" in found
    assert told(pushing("i8 * 2", test="i8 >= a0.shape[0]")).count("i22 < -a0.shape[0]") == 1


def run(text: str, size: int, turns: int) -> Any:
    x = np.arange(1.0, size + 1.0)
    integers = np.full(40, 1_000_000)
    names = text.replace("_cell(5, s5, '0')", "3 * s5 + 1").replace("_cell(5, i20, '0')", "3 * i20 + 1")
    return executed(names.replace("fuel - 98", f"{turns}"), x, x, integers)


@given(st.sampled_from(("i8", "i8 + 1", "i8 - 1", "2 + i8")), st.integers(1, 6), st.integers(0, 7))
def test_what_is_computed_is_the_same(value: str, size: int, turns: int) -> None:
    assert run(told(pushing(value)), size, turns) == run(pushing(value), size, turns)


def test_a_wrong_distance_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "number", lambda value, counters: 1)
    assert run(told(pushing("2 + i8")), 6, 3) != run(pushing("2 + i8"), 6, 3)


WRAPPED = """
import numpy as np
def f(u, turns: int):
    for t in range(turns):
        a = np.zeros(len(u))
        for i in range(len(u)):
            a[i] = u[i - 1] * u[i] - 0.5 * u[i - 2]
        u = a
    return np.sum(u)
"""


def test_indices_that_go_round_are_the_references() -> None:
    arrays = (normal(5),)
    types = (*types_of(arrays), INTEGER)
    code, reference = compiled(calling(parse_text(WRAPPED, "f"), "grad", 0, types), types)
    assert agrees(code, reference, *arrays, 3)
    assert " + -1\n" in code.code.source


@costly(10)
@given(stencils(), st.integers(0, 2))
def test_stencils_on_compiled_loops_are_the_references_in_every_bit(text: str, turns: int) -> None:
    arrays = (normal(6), normal(6), normal(6))
    types = (*types_of(arrays), INTEGER)
    code, reference = compiled(calling(parse_text(text, "f"), "value_and_grad", (0, 1, 2), types), types)
    event("counted" if " + 1\n" in code.code.source else "read")
    assert agrees(code, reference, *arrays, turns)
