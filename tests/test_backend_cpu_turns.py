"""Which variables count the turns of a loop, and elements at indices that do and that do not."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import pytest
from numba import njit
from numba.core import compiler

from backend.cpu.compiler import Usual
from backend.cpu.functions import from_zero
from backend.cpu.turns import given, turns
from backend.ways_in.entry import known


def counted(function: Callable[..., Any]) -> set[str]:
    """The variables of the text that count turns."""
    return {name for name in turns(given(compiler.run_frontend(function).blocks)) if not name.startswith("$")}


def through(a: Any) -> Any:
    total = 0.0
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            total += a[i, k] * a[i, -k]
    return total


def from_below(a: Any) -> Any:
    total = 0.0
    for k in range(-3, 2):
        total += 10.0 * total + a[k, k]
    return total


def given_again(a: Any) -> Any:
    total = 0.0
    for k in range(2):
        total += a[k, 0]
        k = -1
        total += 10.0 * a[k, k]
    return total


def downwards(a: Any) -> Any:
    total, k = 0.0, 1
    while k > -3:
        total += 10.0 * total + a[k, k]
        k = k - 1
    return total


def of_a_tuple(a: Any) -> Any:
    total = 0.0
    for k in (2, -1):
        total += 10.0 * total + a[k, k]
    return total


def other_name(a: Any) -> Any:
    total, last = 0.0, -1
    for k in range(3):
        total += 10.0 * total + a[last, k]
        last = k
    return total


def from_the_beginning(a: Any) -> Any:
    total = 0.0
    for j in range(-3, 3):
        i = from_zero(j, a.shape[0])
        total += 10.0 * total + a[i, 2] * a[j, 0]
    return total


CASES = {through: {"i", "k"}, from_below: set(), given_again: set(), downwards: set(), of_a_tuple: set(), other_name: {"k"}}
CASES[from_the_beginning] = {"i"}


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_what_counts_turns_from_zero_is_never_negative(function: Callable[..., Any]) -> None:
    assert counted(function) == CASES[function]


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_negative_indices_count_from_the_end(function: Callable[..., Any]) -> None:
    a = np.arange(1.0, 10.0).reshape(3, 3)
    plain = FunctionType(function.__code__, {"from_zero": lambda index, size: index % size})
    assert njit(error_model="numpy", pipeline_class=Usual)(function)(a) == plain(a)


def test_an_index_that_is_inside_counts_from_the_beginning() -> None:
    text = "    if i1 < -a2_.shape[0] or i1 >= a2_.shape[0]:\n        return 16\n    i3 = i1 + a2_.shape[0] if i1 < 0 else i1\n"
    assert known(text).splitlines()[-1] == "    i3 = _from_zero(i1, a2_.shape[0])"
    for old, new in (
        ("else i1", "else i2"),
        ("if i1 <", "if i2 <"),
        ("i1 < 0", "i1 > 0"),
        ("i1 + a2_", "i1 - a2_"),
        ("else i1", "else i1 + 1"),
    ):
        near = text.replace(old, new)
        assert known(near) == near != text
