"""The types of what moves elements about, and of `like` and `sum_to`, `spread` and its sum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semantics.arrays import FLOATING, normal_axes, promoted
from semantics.columns.array_types.operands import (
    absorbing,
    axes,
    element,
    flags,
    integer,
    not_negative,
    operand,
    over,
    sizes,
)
from semantics.columns.record_types import wrong
from semantics.errors import Trap
from semantics.primitives.row import Primitive
from semantics.shapes import (
    broadcast_to,
    concatenated,
    count,
    repeated_to,
    reshaped,
    spread_over,
    squeezed,
    summed_to,
    transposed,
    with_axes,
)
from semantics.type_language import REAL, UNIT, ArrayType, FunctionType, RecordType, SequenceType, TupleType
from semantics.type_lattice import ZERO_TYPE, distribute


def _shaped(array: ArrayType, dims: Any) -> ArrayType:
    return ArrayType(array.dtype, dims, array.holes)


def reshape(x: Any, shape: Any) -> Any:
    """np.reshape(x, shape)"""
    array = operand("reshape", x)
    return _shaped(array, reshaped(array.dims, sizes("reshape", shape)))


def transpose(x: Any, order: Any) -> Any:
    """np.transpose(x, axes)"""
    array = operand("transpose", x)
    return over(lambda a: _shaped(array, transposed(array.dims, a)[0]), axes("transpose", order, len(array.dims)))


def repeated(x: Any, shape: Any) -> Any:
    """np.broadcast_to(x, shape)"""
    array = operand("broadcast_to", x)
    return _shaped(array, broadcast_to(array.dims, not_negative("broadcast_to", sizes("broadcast_to", shape))))


def like(v: Any, x: Any) -> Any:
    """v with the shape of x"""
    if ZERO_TYPE in (v, x):
        return ZERO_TYPE
    if not isinstance(x, ArrayType):
        return element(v.dtype, v.holes) if isinstance(v, ArrayType) and v.dims == () else v
    array = operand("like", v)
    return ArrayType(x.dtype if x.dtype in FLOATING else array.dtype, repeated_to(array.dims, x.dims), array.holes)


def sum_to(d: Any, x: Any) -> Any:
    """A sensitivity of x, from one of x broadcast"""
    if ZERO_TYPE in (d, x):
        return ZERO_TYPE
    if isinstance(x, (TupleType, RecordType, SequenceType)):
        return d
    if isinstance(x, FunctionType) and not isinstance(x.function, Primitive):
        return d
    if x != REAL and not (isinstance(x, ArrayType) and x.dtype in FLOATING):
        return ZERO_TYPE
    if x == REAL and not isinstance(d, ArrayType):
        return d
    array = operand("sum_to", d)
    if array.dtype == "bool":
        raise wrong("sum_to", "numbers", d)
    if x == REAL:
        return element("f64", array.holes)
    return ArrayType(x.dtype, summed_to(array.dims, x.dims), array.holes)


def spread(d: Any, x: Any, axis: Any, keepdims: Any) -> Any:
    """d repeated along axes of x that a sum has removed"""
    target, array = operand("spread", x).dims, operand("spread", d)

    def rule(named: Any, kept: bool) -> Any:
        return _shaped(array, spread_over(array.dims, target, normal_axes(named, len(target), "spread"), kept))

    return over(rule, axes("spread", axis, len(target)), flags("spread", "keepdims", keepdims))


def _several(name: str, t: Any) -> tuple[list[ArrayType], bool]:
    """The arrays in a tuple or list, or along the first axis of an array; and whether there may be more of the last one."""
    if isinstance(t, ArrayType):
        if not t.dims:
            raise wrong(name, "a tuple or list of arrays", t, "put them into a tuple: (x, y)")
        found = [ArrayType(t.dtype, t.dims[1:], t.holes)] * (1 if t.dims[0] is None else t.dims[0])
    elif isinstance(t, (TupleType, RecordType)):
        found = [operand(name, i) for i in t.items]
    elif isinstance(t, SequenceType):
        found = [operand(name, t.item)]
    else:
        raise wrong(name, "a tuple or list of arrays", t, "put them into a tuple: (x, y)")
    if not found:
        raise Trap(f"{name} of no arrays", rule=name, remedy="at least one array")
    return found, isinstance(t, SequenceType) or (isinstance(t, ArrayType) and t.dims[0] is None)


def _of_each(rule: Callable[[Any], Any], arrays: Any) -> Any:
    """The rule, over every combination of what the elements of a tuple or list may be."""
    match arrays:
        case TupleType(items):
            return distribute(lambda *chosen: rule(TupleType(chosen)), items)
        case RecordType(label, items):
            return distribute(lambda *chosen: rule(RecordType(label, chosen)), items)
        case _:
            return rule(arrays)


def _joined(parts: list[ArrayType], more: bool, axis: int) -> Any:
    dims = concatenated([p.dims for p in parts], axis)
    if more:
        dims = tuple(None if a == axis % len(dims) else n for a, n in enumerate(dims))
    return ArrayType(promoted([p.dtype for p in parts], "concatenate"), dims, any(p.holes for p in parts))


def concatenate(arrays: Any, axis: Any) -> Any:
    """np.concatenate(arrays, axis)"""
    return _of_each(lambda found: _concatenated(found, axis), arrays)


def _concatenated(arrays: Any, axis: Any) -> Any:
    parts, more = _several("concatenate", arrays)
    if axis == UNIT:
        return _joined([ArrayType(p.dtype, (count(p.dims),), p.holes) for p in parts], more, 0)
    integer("concatenate", "axis", axis)
    return over(lambda a: _joined(parts, more, a), axes("concatenate", axis, len(parts[0].dims)))


def stack(arrays: Any, axis: Any) -> Any:
    """np.stack(arrays, axis)"""
    return _of_each(lambda found: _stacked(found, axis), arrays)


def _stacked(arrays: Any, axis: Any) -> Any:
    parts, more = _several("stack", arrays)
    integer("stack", "axis", axis)
    rank = len(parts[0].dims) + 1

    def rule(along: int) -> Any:
        return _joined([_shaped(p, with_axes(p.dims, along, "stack")) for p in parts], more, along)

    return over(rule, axes("stack", axis, rank))


def expand_dims(x: Any, axis: Any) -> Any:
    """np.expand_dims(x, axis)"""
    array = operand("expand_dims", x)
    if axis == UNIT:
        raise wrong("expand_dims", "an axis: an integer or a tuple of integers", axis, "name the place of the new axis")
    rank = len(array.dims) + (len(axis.items) if isinstance(axis, TupleType) else 1)
    return over(lambda a: _shaped(array, with_axes(array.dims, a, "expand_dims")), axes("expand_dims", axis, rank))


def squeeze(x: Any, axis: Any) -> Any:
    """np.squeeze(x, axis); an axis of unknown size may have size 1 or not"""
    array = operand("squeeze", x)
    if axis != UNIT:
        return over(lambda a: _shaped(array, squeezed(array.dims, a)), axes("squeeze", axis, len(array.dims)))
    unknown = [a for a, n in enumerate(array.dims) if n is None]
    ones = [a for a, n in enumerate(array.dims) if n == 1]
    choices = ((a, None) for a in unknown)
    return over(lambda *gone: _shaped(array, squeezed(array.dims, (*ones, *(a for a in gone if a is not None)))), *choices)


def flip(x: Any, axis: Any) -> Any:
    """np.flip(x, axis)"""
    array = operand("flip", x)

    def rule(named: Any) -> Any:
        normal_axes(named, len(array.dims), "flip")
        return array

    return over(rule, axes("flip", axis, len(array.dims)))


def roll(x: Any, shift: Any, axis: Any) -> Any:
    """np.roll(x, shift, axis)"""
    array = operand("roll", x)
    if axis == UNIT:
        integer("roll", "shift", shift)
        return array
    shifts = shift.items if isinstance(shift, TupleType) else (shift,)
    for by in shifts:
        integer("roll", "shift", by)
    if isinstance(shift, TupleType) and len(shifts) != (len(axis.items) if isinstance(axis, TupleType) else 1):
        raise wrong("roll", "as many shifts as axes", shift, "one shift for each axis")

    def rule(named: Any) -> Any:
        for a in named if isinstance(named, tuple) else (named,):
            normal_axes(a, len(array.dims), "roll")
        return array

    return over(rule, axes("roll", axis, len(array.dims)))


def diag(x: Any, k: Any) -> Any:
    """np.diag(x, k)"""
    array, by = operand("diag", x), integer("diag", "diagonal", k)
    if len(array.dims) == 1:
        n = array.dims[0]
        side = None if n is None or by is None else n + abs(by)
        return ArrayType(array.dtype, (side, side), array.holes)
    if len(array.dims) != 2:
        raise Trap(f"diag of an array of shape {array.dims}", rule="diag", remedy="a vector or a matrix")
    rows, columns = array.dims
    if rows is None or columns is None or by is None:
        return _shaped(array, (None,))
    return _shaped(array, (max(0, min(rows, columns - by) - max(0, -by)),))


def triangle(name: str) -> Callable[..., Any]:
    """np.tril and np.triu: the shape stays."""

    def rule(x: Any, k: Any) -> Any:
        array = operand(name, x)
        integer(name, "diagonal", k)
        if len(array.dims) < 2:
            raise Trap(f"{name} of an array of shape {array.dims}", rule=name, remedy="a matrix, or a stack of them")
        return array

    return rule


CELLS: dict[str, Callable[..., Any]] = {
    "like": like,
    "sum_to": sum_to,
    "concatenate": concatenate,
    "stack": stack,
    "reshape": absorbing(reshape),
    "transpose": absorbing(transpose),
    "broadcast_to": absorbing(repeated),
    "spread": absorbing(spread),
    "expand_dims": absorbing(expand_dims),
    "squeeze": absorbing(squeeze),
    "flip": absorbing(flip),
    "roll": absorbing(roll),
    "diag": absorbing(diag),
    "tril": absorbing(triangle("tril")),
    "triu": absorbing(triangle("triu")),
}
