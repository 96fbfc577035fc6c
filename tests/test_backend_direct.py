"""Elements that go from one array to another have no name of their own, if nothing else mentions it."""

from __future__ import annotations

import ast

import numpy as np
import pytest
from loop_texts import bits, executed

from backend.arrays.direct import direct

TEXT = """
def kernel(a0, a1, fuel, one):
    a2_ = _empty((a0.shape[0],), _f64)
    for k in range(a0.shape[0]):
        {}
    return (a2_,)
"""
X, Y = np.array([1.5, -0.0, 2.0, -7.25]), np.array([0.1, 3.0, -2.0, 5.0])


def without(text: str) -> str:
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    direct(function)
    return ast.unparse(ast.fix_missing_locations(function))


@pytest.mark.parametrize(
    ("body", "gone"),
    [
        ("x = float(a0[k]); a2_[k] = x", True),
        ("x = float(a0[a0.shape[0] - 1 - k]); a2_[k] = x", True),
        ("x = float(a0[k]); a2_[k] = x; a1[k] = x", False),
        ("x = float(a0[k]); a2_[k] = x + 1.0", False),
        ("x = float(a0[k]); a0[k] = 2.0; a2_[k] = x", False),
        ("x = _mul(a0[k], a1[k]); a2_[k] = x", False),
    ],
)
def test_an_element_that_only_goes_on_has_no_name(body: str, gone: bool) -> None:
    text = TEXT.format(body.replace("; ", "\n        "))
    found = without(text)
    assert ("x = " not in found) == gone
    assert bits(executed(found, X.copy(), Y.copy())) == bits(executed(text, X.copy(), Y.copy()))
