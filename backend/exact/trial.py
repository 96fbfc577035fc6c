"""
Which instructions for the exponential have the bits of `math.exp` in this process.

They are compiled by themselves and compared with the reference's exponential at 140,000 points: over all arguments of a finite
result, closer where results are small and where arguments are, beside the places where the nearest integer changes, and at what is
special. Variants that round other products differ at one point in a thousand. What is found is kept, by the sources, the processor,
the C library and what this answers at a few points where the variants differ, since the environment may choose between its own.
"""

from __future__ import annotations

import ctypes
import math
import platform
from array import array
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from backend import native, store
from semantics.columns.elementary import ELEMENTARY

Function = Callable[[float], float]
VARIANTS = ("fused", "plain")
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0  # multiples of which lie evenly between integers
TELLING = (-352.4846, -43.8753, -8.5552, -0.4204, 0.4888, 1.6849, 113.5645, 527.1085)
"""Arguments at which the variants differ."""
LIMITS = 0.0, 5e-324, 2.0**-1022, 2.0**-54, 512.0, 708.396418532264, 709.782712893384, 745.1332191019411, 746.0, 1e308, math.inf
"""Where, on either side of 0, results or the way to them become others: and their neighbours are tried."""


@cache
def variant() -> str:
    """The variant whose bits are those of `math.exp`, "" if there is none."""
    said = [ELEMENTARY["exp"](x).hex() for x in TELLING]
    return store.remembered(f"exp {native.processor()} {platform.libc_ver()} {said}", lambda: chosen(candidates()))


def chosen(candidates: dict[str, Function]) -> str:
    """The first of the candidates that agrees with the reference at all points; "" if none does."""
    arguments = list(points())
    right = array("d", map(ELEMENTARY["exp"], arguments)).tobytes()
    agree = (name for name, function in candidates.items() if array("d", map(function, arguments)).tobytes() == right)
    return next(agree, "")


def points() -> Iterator[float]:
    """Where the bits are compared."""
    for low, high, count in ((-746.0, 709.8, 30_000), (-746.0, -512.0, 40_000), (-1.0, 1.0, 20_000)):
        yield from (low + (high - low) * (n * GOLDEN % 1.0) for n in range(count))
    for n in range(10_000):
        size = 2.0 ** (70.0 * (n * GOLDEN % 1.0) - 60.0)
        yield from (size, -size) if size < 709.8 else (-size,)
        half = (math.floor(264_000 * (n * GOLDEN % 1.0)) - 133_000 + 0.5) * math.log(2.0) / 128.0
        yield from (math.nextafter(half, -math.inf), half, math.nextafter(half, math.inf))
    for x in (*LIMITS, math.nan):
        yield from (s * y for s in (1.0, -1.0) for y in (math.nextafter(x, 0.0), x, math.nextafter(x, math.inf)))


@cache
def candidates() -> dict[str, Function]:
    """The variants that the processor has instructions for, compiled."""
    fuses = native.llvm().get_host_cpu_features().get("fma", False)
    return {name: _compiled(name == "fused") for name in VARIANTS if fuses or name != "fused"}


_ENGINES: list[Any] = []
"""Whoever holds the machine code, for as long as the process lives."""


def _compiled(fused: bool) -> Function:
    from llvmlite import ir

    from backend.exact.exponential import DOUBLE, exponential

    module = ir.Module()
    function = ir.Function(module, ir.FunctionType(DOUBLE, [DOUBLE]), "exponential")
    builder = ir.IRBuilder(function.append_basic_block())
    builder.ret(exponential(builder, function.args[0], fused))
    llvm = native.llvm()
    name, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    machine = llvm.Target.from_default_triple().create_target_machine(cpu=name, features=features)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(str(module)), machine)
    engine.finalize_object()
    _ENGINES.append(engine)
    return ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(engine.get_function_address("exponential"))
