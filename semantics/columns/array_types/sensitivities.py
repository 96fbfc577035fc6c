"""The types of sensitivities that hold arrays: their sum, their dense form, the seed, the inner product and the multiple."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semantics.arrays import FLOATING
from semantics.columns.array_types.operands import dtype_of
from semantics.columns.record_types import wrong
from semantics.shapes import clash, meet
from semantics.type_language import REAL, UNIT, ArrayType, RecordType, SequenceType, TupleType
from semantics.type_lattice import UNBOUND, ZERO_TYPE, distribute


def gadd(a: Any, b: Any) -> Any:
    """The sum, place by place; one of the two is an array. A place is zero where both are."""
    if not isinstance(a, ArrayType) or not isinstance(b, ArrayType) or len(a.dims) != len(b.dims):
        raise wrong("gadd", f"two sensitivities of one value, one of them {a}", b, "a backpropagator returned another structure")
    if any(map(clash, zip(a.dims, b.dims, strict=True))):
        raise wrong("gadd", f"sensitivities of one shape, one of them {a}", b, "a backpropagator returned another shape")
    return ArrayType(a.dtype, tuple(map(meet, zip(a.dims, b.dims, strict=True))), a.holes and b.holes)


def instantiate(d: Any, x: ArrayType) -> Any:
    """The sensitivity with numbers for its zeros, for which a number may stand without axes; unit for integers and booleans."""
    if x.dtype not in FLOATING:
        return UNIT
    if d == ZERO_TYPE or (d == REAL and not x.dims):
        return ArrayType(x.dtype, x.dims)
    if not isinstance(d, ArrayType) or len(d.dims) != len(x.dims) or any(map(clash, zip(d.dims, x.dims, strict=True))):
        raise wrong("instantiate", f"the sensitivity of {x}", d, "a backpropagator returned another shape")
    return ArrayType(x.dtype, tuple(map(meet, zip(d.dims, x.dims, strict=True))))


def is_seed(out: Any) -> bool:
    """Whether a value without axes can be differentiated."""
    return isinstance(out, ArrayType) and out.dims == () and out.dtype in FLOATING


def inner(a: Any, b: Any) -> Any:
    """A real; zero if one of the two is."""
    return ZERO_TYPE if ZERO_TYPE in (a, b) else REAL


def scale(c: Any, t: Any) -> Any:
    """The structure of t, records made tuples; unit where it has no reals. Recursion is bounded by the nesting of the type."""
    if ZERO_TYPE in (c, t):
        return ZERO_TYPE
    if dtype_of(c) not in ("f64", "i64"):
        raise wrong("scale", "a number", c)
    match t:
        case ArrayType(dtype):
            return t if dtype in FLOATING else UNIT
        case TupleType(items) | RecordType(_, items):
            return TupleType(tuple(distribute(scale, (c, i)) for i in items))
        case SequenceType(_, item):
            return SequenceType(None, distribute(scale, (c, item)))
    if t not in (UNIT, UNBOUND) and dtype_of(t) is None:
        raise wrong("scale", "numbers", t)
    return REAL if t == REAL else UNIT


CELLS: dict[str, Callable[..., Any]] = {"inner": inner, "scale": scale}
