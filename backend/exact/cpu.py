"""What the CPU target binds to `_exp`, `_tanh` and `_cosh`. Apart, since Numba's cache finds functions again by import."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from backend.exact.hyperbolic import FUNCTIONS


def _intrinsic(name: str, fused: bool) -> Any:
    @intrinsic
    def function(context, x):  # type: ignore[no-untyped-def]
        """The value with the bits of the C library, of a number or of lanes. Compiled where it stands: no function of its own."""

        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            return FUNCTIONS[name](builder, arguments[0], fused)

        of = x if isinstance(getattr(x, "vector", None), ir.VectorType) else types.float64
        return of(of), generate

    return function


INTRINSICS = {(name, variant): _intrinsic(name, variant == "fused") for name in FUNCTIONS for variant in ("fused", "plain")}
