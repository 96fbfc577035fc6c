"""The types of arrays made from values, and of what can be asked of an array: shape, dtype, size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semantics.arrays import FLOATING, promoted
from semantics.columns.array_types.operands import absorbing, dtype_of, integer, not_negative, operand, sizes
from semantics.columns.arrays.creation import named_dtype
from semantics.columns.record_types import wrong
from semantics.errors import Trap
from semantics.shapes import Dims, clash, count, meet
from semantics.type_language import INTEGER, UNIT, ArrayType, RecordType, SequenceType, TupleType
from semantics.type_lattice import NEVER, TEXT, ZERO_TYPE, Literal, distribute, join, members


def as_dtype(name: str, t: Any) -> str | None:
    """The dtype that an attribute names; None if it leaves the choice to the value."""
    if t == UNIT:
        return None
    if not isinstance(t, Literal) or t.type != TEXT:
        raise wrong(name, "the name of a dtype", t, "such as float, int, bool or np.float32")
    return named_dtype(name, t.value)


def as_array(value: Any, dtype: Any) -> Any:
    """np.array(value, dtype) of nested tuples, lists and arrays."""
    result: Any = NEVER
    for rows in members(distribute(_nested, [value])):
        target = as_dtype("array", dtype) or rows.dtype
        result = join(result, ArrayType(target, rows.dims, rows.holes and target in FLOATING))
    return result


def _nested(value: Any) -> Any:
    """The array of nested rows. Recursion is bounded by the nesting of the type."""
    if isinstance(value, ArrayType):
        return value
    if value == ZERO_TYPE:
        return ArrayType("f64", (), True)
    if isinstance(value, SequenceType):
        return _rows_of(value)
    if not isinstance(value, (TupleType, RecordType)):
        if (dtype := dtype_of(value)) is None:
            raise wrong("array", "numbers in equally long rows", value, "numbers, or rows of one length")
        return ArrayType(dtype, ())
    parts = [distribute(_nested, [i]) for i in value.items]
    if NEVER in parts:
        return NEVER
    if not parts:
        return ArrayType("f64", (0,))
    if not all(isinstance(p, ArrayType) for p in parts) or len({len(p.dims) for p in parts}) > 1:
        raise wrong("array", "numbers in equally long rows", value, "numbers, or rows of one length")
    if any(clash(sizes) for sizes in zip(*(p.dims for p in parts), strict=True)):
        raise Trap("array: the rows have different lengths", rule="as_array", remedy="rows of one length")
    inner: Dims = tuple(meet(sizes) for sizes in zip(*(p.dims for p in parts), strict=True))
    return ArrayType(promoted([p.dtype for p in parts], "as_array"), (len(parts), *inner), any(p.holes for p in parts))


def _rows_of(value: SequenceType) -> Any:
    """The array of a sequence of rows; of an empty one it is f64[0], whatever its rows would be."""
    result: Any = ArrayType("f64", (0,))
    for row in members(distribute(_nested, [value.item])):
        result = join(result, ArrayType(row.dtype, (None, *row.dims), row.holes))
    return result


def full(shape: Any, value: Any, dtype: Any) -> Any:
    """np.full(shape, value, dtype)"""
    dims = not_negative("full", sizes("full", shape))
    if (isinstance(value, ArrayType) and value.dims != ()) or (not isinstance(value, ArrayType) and dtype_of(value) is None):
        raise wrong("full", "a number to fill with", value, "np.broadcast_to repeats an array")
    filled = operand("full", value)
    target = as_dtype("full", dtype) or filled.dtype
    return ArrayType(target, dims, filled.holes and target in FLOATING)


def arange(start: Any, stop: Any, step: Any) -> Any:
    """np.arange(start, stop, step) of integers"""
    first, last, by = (integer("arange", "bound", t) for t in (start, stop, step))
    if by == 0:
        raise Trap("arange with step 0", rule="arange", remedy="a step that is not 0")
    known = None not in (first, last, by)
    return ArrayType("i64", (len(range(first, last, by)) if known else None,))  # type: ignore[arg-type]


def linspace(start: Any, stop: Any, num: Any) -> Any:
    """np.linspace(start, stop, num)"""
    n = integer("linspace", "number of points", num)
    for bound in (start, stop):
        if bound != ZERO_TYPE and dtype_of(bound) not in ("f64", "i64"):
            raise wrong("linspace", "numbers", bound, "two numbers: np.linspace(0.0, 1.0, n)")
    if n is not None and n < 0:
        raise Trap(f"linspace of {n} points", rule="linspace", remedy="0 points or more")
    return ArrayType("f64", (n,))


def eye(n: Any, m: Any, k: Any) -> Any:
    """np.eye(n, m, k)"""
    integer("eye", "diagonal", k)
    return ArrayType("f64", not_negative("eye", (integer("eye", "number", n), integer("eye", "number", m))))


def astype(x: Any, dtype: Any) -> Any:
    """x.astype(dtype)"""
    array = operand("astype", x)
    if dtype == UNIT:
        raise wrong("astype", "the name of a dtype", dtype, "such as float, int, bool or np.float32")
    target = as_dtype("astype", dtype) or array.dtype
    return ArrayType(target, array.dims, array.holes and target in FLOATING)


def shape(x: Any) -> Any:
    """np.shape(x): what sizes are known is known of its items."""
    return TupleType(tuple(INTEGER if n is None else Literal(INTEGER, n) for n in operand("shape", x).dims))


def dtype(x: Any) -> Any:
    """The name of the dtype is known."""
    return Literal(TEXT, operand("dtype", x).dtype)


def array_size(x: Any) -> Any:
    """np.size(x), known where all sizes are."""
    found = count(operand("size", x).dims)
    return INTEGER if found is None else Literal(INTEGER, found)


CELLS: dict[str, Callable[..., Any]] = {
    "as_array": as_array,
    "full": absorbing(full),
    "arange": absorbing(arange),
    "linspace": linspace,
    "eye": eye,
    "astype": absorbing(astype),
    "shape": absorbing(shape),
    "dtype": absorbing(dtype),
    "array_size": absorbing(array_size),
}
