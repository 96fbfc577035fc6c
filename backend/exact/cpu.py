"""What the CPU target binds to `_exp`. In a module of its own, since Numba's cache finds functions again by import."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from backend.exact.exponential import exponential


def _intrinsic(fused: bool) -> Any:
    @intrinsic
    def exp(context, x):  # type: ignore[no-untyped-def]
        """e^x with the bits of the C library, of a number or of lanes. Compiled where it stands: no function of its own."""

        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            return exponential(builder, arguments[0], fused)

        of = x if isinstance(getattr(x, "vector", None), ir.VectorType) else types.float64
        return of(of), generate

    return exp


EXPONENTIALS = {"fused": _intrinsic(True), "plain": _intrinsic(False)}
