"""The inner product of two values of one structure, and the multiple of a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backend.arrays.attributes import as_operand, is_zero
from backend.arrays.elementwise import as_element
from backend.arrays.values import ARRAYS, Sizes, uncompiled
from backend.lowering.shape import ZERO_VALUE, Fn, Items, Nothing, Reg
from semantics.primitives.table import TABLE
from semantics.type_language import REAL, UNIT

FLOATING = ("f64", "f32")


def inner(emit: Any, a: Any, b: Any) -> Any:
    """Σ aₖ·bₖ over the reals of both, from the left."""
    if is_zero(a) or is_zero(b):
        return ZERO_VALUE
    total = emit.variable(REAL)
    emit.line(f"{total} = -0.0")
    if not _summed(emit, total, a, b):
        emit.line(f"{total} = 0.0")
    return Reg(total, REAL)


def _summed(emit: Any, total: str, a: Any, b: Any) -> bool:
    """Adds the products of two parts; whether there are any. Recursion is bounded by the nesting of the types."""
    if is_zero(a) or is_zero(b):
        return False
    match a, b:
        case ((Items(x) | Fn(_, x)), (Items(y) | Fn(_, y))):
            return sum(_summed(emit, total, p, q) for p, q in zip(x, y, strict=True)) > 0
        case Reg(_, s), Reg(_, t):
            if s != REAL or t != REAL:
                return False
            _add(emit, total, a, b)
            return True
        case _ if isinstance(a, ARRAYS) and isinstance(b, ARRAYS):
            a, b = as_operand(emit, a), as_operand(emit, b)
            if a.dtype not in FLOATING or b.dtype not in FLOATING:
                return False
            if a.type.holes or b.type.holes:
                raise uncompiled("the inner product of sensitivities with ZERO in them")
            emit.not_empty(tuple(map(emit.equal, a.sizes, b.sizes)))
            emit.prepared(a, a.sizes)
            emit.prepared(b, a.sizes)
            with emit.over(a.sizes, ()) as at:
                _add(emit, total, emit.element(a, at), emit.element(b, at))
            return True
        case _ if isinstance(a, Nothing) or isinstance(b, Nothing):
            return False
        case _:
            raise uncompiled("the inner product of a choice")


def _add(emit: Any, total: str, a: Any, b: Any) -> None:
    product = emit.primitive(TABLE["mul"], [a, b])
    emit.line(f"{total} = {emit.primitive(TABLE['add'], [Reg(total, REAL), product]).text}")


def scale(emit: Any, c: Any, t: Any) -> Any:
    """c times every real of t, as a sensitivity of t: a record becomes a tuple."""
    if is_zero(c) or is_zero(t):
        return ZERO_VALUE
    match t:
        case Items(parts) | Fn(_, parts):
            return Items(tuple(emit.primitive(TABLE["scale"], [c, p]) for p in parts))
        case Reg(_, of) if of == REAL:
            return emit.primitive(TABLE["mul"], [c, t])
        case _ if isinstance(t, ARRAYS) and as_operand(emit, t).dtype in FLOATING:
            x = as_operand(emit, t)

            def element(emit: Any, at: Sizes) -> Any:
                return as_element(emit, emit.primitive(TABLE["mul"], [c, emit.element(x, at)]), x.dtype)

            return emit.formula(x.dtype, x.sizes, element, (x,), cheap=True, holes=x.type.holes)
        case _:
            return Nothing(UNIT)


CELLS: dict[str, Callable[..., Any]] = {"inner": inner, "scale": scale}
