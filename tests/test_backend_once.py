"""Sizes of arguments are read at the beginning, tests that return the same are one; what the code computes is the same."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from backend.arrays.once import read_once

BODY = """
def kernel(a0, a1, fuel):
    if a0.shape[0] != a1.shape[1]:
        return (0.0, fuel, 16)
    if a1.shape[1] == 0 or a1.shape[0] == 0:
        return (0.0, fuel, 16)
    if fuel < 0:
        return (0.0, fuel, {status})
    b = a1
    x = 0.0
    for k in range(a0.shape[0]):
        if x > 9.0:
            return (x, fuel, 1)
        if x * a0[k] > 5.0 and a1.shape[1] > 2:
            return (x, fuel, 1)
        x = x + a0[k] * b[b.shape[0] - 1, k] * float(a1.shape[0])
    {last}
    return (x * float(a1.shape[0]), fuel, 0)
"""


def read(text: str) -> str:
    module = ast.parse(text)
    function = module.body[0]
    assert isinstance(function, ast.FunctionDef)
    read_once(function)
    return ast.unparse(ast.fix_missing_locations(module))


def ran(text: str, *given: Any) -> Any:
    names: dict[str, Any] = {}
    exec(text, names)
    return names["kernel"](*given)


@given(st.integers(0, 4), st.integers(0, 4), st.integers(0, 2), st.integers(-1, 1), st.integers(0, 9))
def test_the_code_computes_the_same_and_returns_as_soon(n: int, m: int, rows: int, fuel: int, seed: int) -> None:
    text = BODY.format(status=16, last="pass")
    random = np.random.default_rng(seed)
    arrays = random.normal(size=n) * 3, random.normal(size=(rows, m))
    wanted = ran(text, *arrays, fuel)
    event(f"status {wanted[-1]}")
    assert ran(read(text), *arrays, fuel) == wanted


def test_a_size_of_an_argument_has_one_name_and_tests_in_a_row_are_one() -> None:
    found = read(BODY.format(status=16, last="pass"))
    assert found.count("shape") == 3 + 1, "three sizes of arguments, and that of b"
    plain = found.replace("(", "").replace(")", "")
    assert "if n_a0_0 != n_a1_1 or n_a1_1 == 0 or n_a1_0 == 0 or fuel < 0:\n" in plain
    assert "if x > 9.0 or x * a0[k] > 5.0 and n_a1_1 > 2:\n" in plain


@pytest.mark.parametrize(("status", "last"), [(4, "pass"), (16, "a1 = a1[:1]")])
def test_what_returns_something_else_or_changes_stays(status: int, last: str) -> None:
    found = read(BODY.format(status=status, last=last))
    assert ("    if fuel < 0:" not in found) == (status == 16)
    assert ("a1.shape[0] == 0" in found) == (last != "pass"), "what is assigned may have another size"


def test_a_size_that_is_mentioned_once_has_no_name() -> None:
    assert read("def kernel(a0, fuel):\n    return (a0.shape[0], fuel, 0)").count("n_a0_0") == 0
