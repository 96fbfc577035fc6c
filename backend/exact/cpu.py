"""
What the CPU target binds to `_exp`, `_tanh` and `_cosh`, and to those of a number by itself. Apart, since Numba's cache finds
functions again by import.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from backend.exact import alone, hyperbolic

WRITTEN = (hyperbolic.FUNCTIONS, alone.FUNCTIONS)


def _intrinsic(by_itself: bool, name: str, fused: bool) -> Any:
    @intrinsic
    def function(context, x):  # type: ignore[no-untyped-def]
        """The value with the bits of the C library, of a number or of lanes."""

        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            return WRITTEN[by_itself][name](builder, arguments[0], fused)

        of = x if isinstance(getattr(x, "vector", None), ir.VectorType) else types.float64
        return of(of), generate

    return function


def _variants(by_itself: bool) -> dict[tuple[str, str], Any]:
    keys = ("fused", "plain")
    return {(name, key): _intrinsic(by_itself, name, key == "fused") for name in WRITTEN[by_itself] for key in keys}


INTRINSICS, ALONE = _variants(False), _variants(True)
