"""How many elements slices and ranges select, written out in terms of sizes: what is computed is the same."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loop_texts import executed

from backend import prelude
from backend.arrays.assumed import Assignments, assignments
from backend.arrays.indices import SOURCES
from backend.arrays.spans import spans

N = "a0.shape[0]"
HELPERS = "\n".join([*SOURCES.values(), prelude.HELPERS["_range_"][0], "_MIN, _MAX = -(1 << 63), (1 << 63) - 1"])


def text(*lines: str) -> str:
    return "\n".join(["def kernel(a0, a1, fuel, one):", *(f"    {line}" for line in lines)])


def told(code: str) -> str:
    function = ast.parse(code).body[0]
    assert isinstance(function, ast.FunctionDef)
    spans(function)
    return ast.unparse(ast.fix_missing_locations(function))


TOLD = {
    f"_range_(0, {N}, 1)": f"({N}, 0)",
    f"_bound(2, {N} + 2, 1)": "2",
    f"_bound(0, {N}, 1)": "0",
    f"_bound(-2, {N} + 2, 1)": N,
    f"_bound(-1, {N} + 2, 1)": f"{N} + 1",
    f"_bound({N} + 1, {N} + 2, 1)": f"{N} + 1",
    f"_bound({N}, {N}, 1)": N,
    f"_steps(2, {N} + 2, 1)": N,
    f"_steps({N}, {N} + 3, 1)": "3",
    f"_steps(0, {N}, 1)": N,
}


@pytest.mark.parametrize("call", TOLD)
def test_what_is_selected_is_known(call: str) -> None:
    assert told(text(f"return {call}")) == ast.unparse(ast.parse(text(f"return {TOLD[call]}")))


NEAR = (
    f"_range_(1, {N}, 1)",
    f"_range_(0, {N}, 2)",
    f"_range_(0, {N} - 1, 1)",
    "_range_(0, fuel, 1)",
    f"_bound(3, {N} + 2, 1)",
    f"_bound(-3, {N} + 2, 1)",
    f"_bound(1, {N} - 1, 1)",
    f"_bound({N} - 1, {N}, 1)",
    f"_bound({N} + 3, {N} + 2, 1)",
    f"_bound(2, {N} + 2, -1)",
    f"_bound(a1.shape[0], {N}, 1)",
    f"_steps(3, {N} + 2, 1)",
    f"_steps(0, {N}, 2)",
    f"_steps(a1.shape[0], {N}, 1)",
)


@pytest.mark.parametrize("call", NEAR)
def test_else_it_is_computed(call: str) -> None:
    assert told(text(f"return {call}")) == ast.unparse(ast.parse(text(f"return {call}")))


def run(code: str, size: int, other: int) -> Any:
    body = "\n".join(f"    {line}" for line in HELPERS.splitlines())
    head, rest = code.split("\n", 1)
    return executed(f"{head}\n{body}\n{rest}", np.zeros(size), np.zeros(other))


@given(st.sampled_from((*TOLD, *NEAR)), st.integers(0, 5), st.integers(0, 5))
def test_what_is_computed_is_the_same(call: str, size: int, other: int) -> None:
    code = text(f"return {call},")
    assert run(told(code), size, other) == run(code, size, other)


def test_both_sizes_of_a_matrix_are_told_where_no_size_is_asked_for() -> None:
    function = ast.parse(text(f"a2_ = _empty(({N}, {N}), _f64)", "a3_ = a2_", "return a3_")).body[0]
    assert isinstance(function, ast.FunctionDef)
    found = Assignments([*assignments(function, {"a0"})]).assumed(())
    assert found["a3_", "0"] == found["a3_", "1"] == N


def test_a_number_below_0_that_a_loop_carries_is_told() -> None:
    function = ast.parse(text("i1 = -2", "i2 = i1", "return i2")).body[0]
    assert isinstance(function, ast.FunctionDef)
    assert Assignments([*assignments(function, {"a0"})]).assumed(())["i2",] == "-2"
