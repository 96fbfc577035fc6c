"""
Which instructions for an elementary function have the bits of `math` in this process.

They are compiled by themselves and compared with the reference's function at 30,000 points or more: over all arguments of a finite
result, closer where arguments, or results, are small, beside the places where the nearest integer changes, and at what is special.
Variants that round other products differ at some twenty of them, and one that does so as often is missed with probability e^-20.
What is found is kept, by the sources, the processor, the C library and what this answers at a few points where the variants differ,
since the environment may choose between its own.
"""

from __future__ import annotations

import ctypes
import math
import platform
from array import array
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from backend import store
from backend.cpu import native
from semantics.columns.elementary import ELEMENTARY

Function = Callable[[float], float]
VARIANTS = ("fused", "plain")
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0  # multiples of which lie evenly between integers
RANGES = {
    "exp": ((-746.0, 709.8, 8_000), (-746.0, -512.0, 20_000), (-1.0, 1.0, 4_000)),
    "tanh": ((-22.5, 22.5, 8_000), (-1.0, 1.0, 20_000)),
    "cosh": ((-711.0, 711.0, 6_000), (-22.5, 22.5, 6_000), (-0.4, 0.4, 8_000)),
}
"""What is tried of each function: from, to, and how many points."""
STEPS = {"exp": math.log(2.0) / 128.0, "tanh": math.log(2.0) / 2.0, "cosh": math.log(2.0) / 128.0}
"""By how much an argument grows until the nearest integer changes."""
LIMITS = (
    *(0.0, 5e-324, 2.0**-1022, 2.0**-54, 2.0**-28, 1.0, 20.0 * math.log(2.0), 22.0, 512.0, 708.396418532264, 709.782712893384),
    *(710.4758600739439, 745.1332191019411, 746.0, 1e308, math.inf, math.nan),
)
"""Where, on either side of 0, results or the way to them become others: and their neighbours are tried."""
TELLING = {
    "exp": (-352.4846, -43.8753, -8.5552, -0.4204, 0.4888, 1.6849, 113.5645, 527.1085),
    "tanh": (0.0944, 0.1655, 0.2136, 0.7626, 2.1531),
    "cosh": (0.4888, 0.5768, 1.789, 6.4995, 16.9751, 45.251, 685.6859),
}
"""Arguments at which the variants of a function differ."""


@cache
def variant(name: str, alone: bool = False) -> str:
    """The variant of a function, or of that of a number by itself, whose bits are those of `math`, "" if there is none."""
    said = [ELEMENTARY[name](x).hex() for x in TELLING[name]]
    key = f"exact {name}{' alone' * alone} {native.processor()} {platform.libc_ver()} {said}"
    return store.remembered(key, lambda: chosen(name, candidates(name, alone)))


def chosen(name: str, candidates: dict[str, Function]) -> str:
    """The first of the candidates that agrees with the reference at all points; "" if none does."""
    arguments = list(points(name))
    right = array("d", map(ELEMENTARY[name], arguments)).tobytes()
    agree = (key for key, function in candidates.items() if array("d", map(function, arguments)).tobytes() == right)
    return next(agree, "")


def points(name: str) -> Iterator[float]:
    """Where the bits of a function are compared."""
    for low, high, count in RANGES[name]:
        yield from (low + (high - low) * (n * GOLDEN % 1.0) for n in range(count))
    low, high, _ = RANGES[name][0]
    for n in range(2_000):
        size = 2.0 ** (70.0 * (n * GOLDEN % 1.0) - 60.0)
        yield from (size, -size)
        middle = (math.floor((low + (high - low) * (n * GOLDEN % 1.0)) / STEPS[name]) + 0.5) * STEPS[name]
        yield from (math.nextafter(middle, -math.inf), middle, math.nextafter(middle, math.inf))
    for x in LIMITS:
        yield from (s * y for s in (1.0, -1.0) for y in (math.nextafter(x, 0.0), x, math.nextafter(x, math.inf)))


@cache
def candidates(name: str, alone: bool = False) -> dict[str, Function]:
    """The variants of a function that the processor has instructions for, compiled."""
    fuses = native.llvm().get_host_cpu_features().get("fma", False)
    return {key: _compiled(name, alone, key == "fused") for key in VARIANTS if fuses or key != "fused"}


TRIED = "adjudge.tried"  # no name of the C library's, which a candidate may call
_ENGINES: list[Any] = []
"""Whoever holds the machine code, for as long as the process lives."""


def _compiled(name: str, by_itself: bool, fused: bool) -> Function:
    from llvmlite import ir

    from backend.exact import alone, hyperbolic
    from backend.exact.instructions import DOUBLE

    module, written = ir.Module(), alone.FUNCTIONS if by_itself else hyperbolic.FUNCTIONS
    function = ir.Function(module, ir.FunctionType(DOUBLE, [DOUBLE]), TRIED)
    builder = ir.IRBuilder(function.append_basic_block())
    builder.ret(written[name](builder, function.args[0], fused))
    llvm = native.llvm()
    cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    machine = llvm.Target.from_default_triple().create_target_machine(cpu=cpu, features=features)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(str(module)), machine)
    engine.finalize_object()
    _ENGINES.append(engine)
    return ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(engine.get_function_address(TRIED))
