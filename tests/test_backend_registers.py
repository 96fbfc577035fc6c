"""Variables in registers: which have no memory, that no bit changes, and that every array is freed once."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from numba import types
from numba.core.compiler import run_frontend
from numba.core.runtime import _nrt_python, rtsys

from backend import store, toolchain
from backend.cpu import registers
from backend.cpu.memory import Cells

TEXT = """
@_bare
def kernel(a0, a1, turns):
    if a0.shape[0] == 0:
        return (a1, 0.0, 16)
    b = _empty((a0.shape[0], 2), _f64)
    c = _empty((a0.shape[0],), _bool)
    for k in range(a0.shape[0]):
        b[k, 0] = a0[k]
        b[-k - 1, 1] = a1[k]
        c[k] = a0[k] > a1[k]
    carried = a1
    total = -0.0
    i = 0
    while True:
        if i == turns:
            break
        d = _empty((a0.shape[0],), _f64)
        view = b[i % a0.shape[0]]
        for k in range(a0.shape[0]):
            d[k] = float(carried[k]) + view[0] * b[k, 1]
        if c[i % a0.shape[0]]:
            e = _empty((2,), _f64)
            e[0] = d[0]
            e[1] = view[1]
            total = total + e[0] * e[1]
            if total > 1000.0:
                return (d, total, 3)
        carried = d
        i = i + 1
    return (carried, total, 0)
"""
ENTRY = "\n@_device\ndef entry(a0, a1, turns):\n    return kernel(a0, a1, turns)\n"
X, Y = np.array([1.5, -0.25, 2.0, -7.25]), np.array([0.1, 3.0, -2.0, 5.0])


@pytest.fixture(scope="module")
def both() -> tuple[Any, Any]:
    """The text in CPython, and compiled."""
    text = TEXT + ENTRY
    return tuple(store.load(text, target, toolchain.bindings(target, text)).entry for target in ("python", "cpu"))


CASES = [(X, Y, 0), (X, Y, 1), (X, Y, 9), (10.0 * X, Y, 40), (X[:1], Y[:1], 3), (X[:0], Y[:0], 3)]


@pytest.mark.parametrize(("x", "y", "turns"), CASES)
def test_no_bit_changes_and_what_is_made_is_freed_once(both: tuple[Any, Any], x: Any, y: Any, turns: int) -> None:
    python, compiled = both
    compiled(x, y, turns)
    _nrt_python.memsys_enable_stats()
    before = rtsys.get_allocation_stats()
    found = [compiled(x, y, turns) for _ in range(3)]
    wanted = python(x, y, turns)
    assert [f[0].tobytes() for f in found] == [wanted[0].tobytes()] * 3
    assert [(f[1].hex(), f[2]) for f in found] == [(float(wanted[1]).hex(), wanted[2])] * 3
    del found
    after = rtsys.get_allocation_stats()
    _nrt_python.memsys_disable_stats()
    assert after.alloc - before.alloc == after.free - before.free
    assert after.mi_alloc - before.mi_alloc == after.mi_free - before.mi_free


def named(function: Any) -> set[str]:
    """The variables of a function that are assigned once, before everything else that mentions them."""
    found = registers.assigned_first(run_frontend(function, inline_closures=False).blocks)
    return {name for name in found if not name.startswith("$")}


def test_what_is_assigned_once_and_first_needs_no_memory() -> None:
    def function(n):  # type: ignore[no-untyped-def]
        first = n + 1
        while n > 0:
            inside = n * first
            n = n - inside
        return first

    assert {"first", "inside"} <= named(function)


def test_what_may_be_missing_or_has_two_values_needs_memory() -> None:
    def function(n):  # type: ignore[no-untyped-def]
        twice = n
        while n > 0:
            if n > 3:
                branch = n
            n = n - 1
            late = twice
            twice = n
        return branch + late

    assert not {"twice", "branch", "late", "n"} & named(function)


READ = """
@_bare
def kernel(memory, i):
    return float(memory[i])
"""


def asks_below_zero(given: Any) -> bool:
    """Whether code that reads an element of this type chooses by the sign of the index."""
    dispatcher = store.load(READ, "cpu", toolchain.bindings("cpu", READ)).kernel
    dispatcher.compile((given, types.int64))
    code = re.search(r"^define [^\n]*kernel.*?^}", dispatcher.inspect_llvm((given, types.int64)), re.MULTILINE | re.DOTALL)
    assert code
    return "select" in code[0]


def test_a_place_in_the_memory_of_stacks_is_not_asked_whether_it_is_below_zero() -> None:
    assert not asks_below_zero(Cells(types.float64))


def test_an_index_of_another_array_is() -> None:
    assert asks_below_zero(types.Array(types.float64, 1, "C"))
