"""References to arrays: counted by plain additions, in generated code alone, and every array is freed once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit
from numba.core.runtime import _nrt_python, rtsys

from backend import toolchain

CARRIED = """
@_bare
def kernel(a, turns):
    b = a
    c = _full((a.shape[0],), 1.0, _f64)
    for t in range(turns):
        d = _empty((a.shape[0],), _f64)
        for k in range(a.shape[0]):
            d[k] = b[k] + c[k]
        if t % 3 == 2:
            c = _reshape(d, (a.shape[0],))
        else:
            b, c = d, b
    return _reshape(b, (1, a.shape[0])), c
"""


def compiled(text: str) -> tuple[Any, Any]:
    """The kernel, and a function that Python calls, into which it is compiled."""
    names = toolchain.bindings("cpu", text)
    exec(text, names)
    exec("def called(a, turns):\n    return kernel(a, turns)", names)
    return names["kernel"], njit(names["called"], error_model="numpy")


@pytest.fixture(scope="module")
def carried() -> tuple[Any, Any]:
    kernel, called = compiled(CARRIED)
    called(np.ones(3), 2)
    return kernel, called


def atomic(function: Any) -> bool:
    """Whether code has additions to memory that others see whole."""
    (code,) = function.inspect_llvm().values()
    return "atomicrmw" in code


@pytest.mark.parametrize("turns", [0, 1, 2, 3, 8])
def test_every_array_is_freed_once_and_not_before_it_is_read(carried: tuple[Any, Any], turns: int) -> None:
    a = np.array([0.5, -0.25, 3.0])
    names = toolchain.bindings("python", CARRIED)
    exec(CARRIED, names)
    _nrt_python.memsys_enable_stats()
    before = rtsys.get_allocation_stats()
    found, wanted = carried[1](a, turns), names["kernel"](a, turns)
    assert [(f.shape, f.tobytes()) for f in found] == [(w.shape, w.tobytes()) for w in wanted]
    del found
    after = rtsys.get_allocation_stats()
    _nrt_python.memsys_disable_stats()
    assert after.alloc - before.alloc == after.free - before.free > 0


def test_generated_code_adds_plainly(carried: tuple[Any, Any]) -> None:
    kernel, _ = carried
    (code,) = kernel.inspect_llvm().values()
    assert "NRT_MemInfo_call_dtor" in code
    assert not atomic(kernel)


def test_other_functions_count_as_before(carried: tuple[Any, Any]) -> None:
    @njit
    def swap(a: Any, turns: int) -> Any:
        b = a + 1.0
        for _ in range(turns):
            a, b = b, a
        return a

    swap(np.ones(3), 3)
    assert atomic(swap)
    assert atomic(carried[1])  # what makes arrays of Python's
