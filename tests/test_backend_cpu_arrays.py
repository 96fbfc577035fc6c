"""New arrays on the CPU: what is in them, and that LLVM knows that they overlap nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit

from backend import toolchain
from backend.cpu import arrays as cpu_arrays

COUNT = 20  # arrays: twenty that are read and twenty that are written to are more pairs than LLVM would test

MANY = "\n".join(
    [
        f"def kernel({', '.join(f'a{k}' for k in range(COUNT))}):",
        *(f"    b{k} = _empty((a0.shape[0],), _f64)" for k in range(COUNT)),
        "    for i in range(a0.shape[0]):",
        *(f"        b{k}[i] = a{k}[i] + a{(k + 1) % COUNT}[i]" for k in range(COUNT)),
        f"    return ({', '.join(f'b{k}' for k in range(COUNT))})",
    ]
)

ROWS = "\n".join(
    [
        f"def kernel({', '.join(f'a{k}' for k in range(COUNT))}):",
        f"    block = _empty(({COUNT}, a0.shape[0]), _f64)",
        *(f"    b{k} = _row_of(block, {k})" for k in range(COUNT)),
        *MANY.split("\n")[COUNT + 1 : -1],
        "    return block",
    ]
)

SWAPPED = """
def kernel(x, turns):
    a = _empty((x.shape[0],), _f64)
    b = _full((x.shape[0],), 0.5, _f64)
    for i in range(x.shape[0]):
        a[i] = x[i]
    for t in range(turns):
        for i in range(x.shape[0]):
            b[i] = a[x.shape[0] - 1 - i] * 0.5 + b[i]
        if t % 3 == 2:
            c = _empty((x.shape[0],), _f64)
            for i in range(x.shape[0]):
                c[i] = b[i] + 1.0
            a, b = c, a
        else:
            a, b = b, a
    return a, b
"""

KINDS = """
def kernel(n, m):
    whole = _full((n, m), 7, _f64)
    _empty((0, n), _f64)
    filled = _full((n,), True, _bool), _full((), 3, _i64), _full((2, 0), 1.0, _f64), _full((m,), 2.5, _float32)
    return (whole, *filled, _empty((n, m), _i64))
"""


def compiled(text: str, **bound: Any) -> Any:
    names = {**toolchain.bindings("cpu", text), **bound}
    exec(text, names)
    return njit(error_model="numpy")(names["kernel"])


def machine_code(function: Any) -> str:
    (code,) = function.inspect_asm().values()
    return str(code)


def in_vectors(function: Any) -> bool:
    """Whether sums of several numbers are taken at once. Of a single one, x86 has addsd, ARM has fadd d."""
    code = machine_code(function)
    return "addpd" in code or ".2d" in code


@njit
def item(block: Any, number: int) -> Any:
    """A row as Numba has it."""
    return block[number]


GIVEN = tuple(np.arange(100.0) + k for k in range(COUNT))


@pytest.mark.parametrize("text", [MANY, ROWS], ids=["arrays", "rows"])
def test_a_loop_over_many_arrays_is_vectorised(text: str) -> None:
    function = compiled(text)
    for k, found in enumerate(function(*GIVEN)):
        assert found.tobytes() == (GIVEN[k] + GIVEN[(k + 1) % COUNT]).tobytes()
    assert in_vectors(function)


@pytest.mark.parametrize(("text", "bound"), [(MANY, {"_empty": np.empty}), (ROWS, {"_row_of": item})], ids=["arrays", "rows"])
def test_not_so_where_llvm_knows_nothing(text: str, bound: dict[str, Any]) -> None:
    function = compiled(text, **bound)
    function(*GIVEN)
    assert not in_vectors(function)


def test_arrays_that_change_their_names_are_the_same_arrays() -> None:
    x = np.array([1.5, -0.0, 2.0, -7.25, 0.1, 3.0, -2.0, 5.0, 1e300])
    names = toolchain.bindings("python", SWAPPED)
    exec(SWAPPED, names)
    function = compiled(SWAPPED)
    for turns in range(8):
        wanted, found = names["kernel"](x, turns), function(x, turns)
        assert [a.tobytes() for a in found] == [a.tobytes() for a in wanted]


def test_arrays_have_their_sizes_their_dtype_and_their_number() -> None:
    names = toolchain.bindings("python", KINDS)
    exec(KINDS, names)
    wanted, found = names["kernel"](3, 2), compiled(KINDS)(3, 2)
    for a, b in zip(found[:-1], wanted[:-1], strict=True):
        assert (a.dtype, a.shape, a.flags.c_contiguous, a.tobytes()) == (b.dtype, b.shape, True, b.tobytes())
    assert (found[-1].dtype, found[-1].shape) == (wanted[-1].dtype, wanted[-1].shape)


def test_no_array_has_fewer_than_no_elements() -> None:
    function = compiled("def kernel(n):\n    return _full((n, n), 1.0, _f64)")
    assert function(2).tolist() == [[1.0, 1.0], [1.0, 1.0]]
    with pytest.raises(ValueError, match="negative"):
        function(-1)


def test_vectors_of_new_arrays_lie_in_one_line_of_the_cache() -> None:
    function = compiled("def kernel(n):\n    return _empty((n,), _f64), _full((n, 1), True, _bool), _empty((2, n), _i64)")
    given = [function(n) for n in range(1, 9)]
    assert {a.ctypes.data % cpu_arrays.ALIGNED for some in given for a in some} == {0}


def test_an_array_that_is_too_large_is_an_error() -> None:
    function = compiled("def kernel(n, m):\n    return _empty((n, m), _f64)")
    assert function(3, 5).shape == (3, 5)
    with pytest.raises(MemoryError, match="address space"):
        function(1 << 31, 1 << 31)
    with pytest.raises(MemoryError):
        function(1 << 24, 1 << 32)
