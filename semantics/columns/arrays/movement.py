"""
Moving elements about: every cell says, for each element of the result, which element of the operand it is.

`sum_to` and `like`, `spread` and the sum are adjoint pairs: what broadcasting repeats, its adjoint adds up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from semantics import shapes
from semantics.arrays import (
    FLOATING,
    Array,
    Shape,
    broadcast_positions,
    normal_axes,
    normal_axis,
    positions,
    promoted,
    size_of,
    strides_of,
    within_budget,
)
from semantics.columns.arrays.elements import (
    Elements,
    absorbs,
    as_array,
    boolean,
    integer,
    is_number,
    looked_at,
    not_negative,
    sizes,
)
from semantics.columns.kinds import wrong
from semantics.errors import Trap
from semantics.shapes import known
from semantics.structured import Record
from semantics.tangents import ZERO, Sparse, SparseArray, dense
from semantics.values import Closure


def moved(array: Array, shape: Shape, places: Sequence[int]) -> Array:
    """The array of `shape` whose elements are those of `array` at `places`."""
    return Array(array.dtype, shape, tuple(array.items[p] for p in places))


def reshape(e: Elements, x: Any, shape: Any) -> Array:
    """np.reshape(x, shape): the same elements in the same order; one size may be -1."""
    array = as_array("reshape", x)
    found = known(shapes.reshaped(array.shape, sizes("reshape", shape)))
    return Array(array.dtype, within_budget("reshape", found), array.items)


def transpose(e: Elements, x: Any, axes: Any) -> Array:
    """np.transpose(x, axes): axis k of the result is axis axes[k] of x; reversed for None."""
    array = as_array("transpose", x)
    shape, order = shapes.transposed(array.shape, axes)
    strides = strides_of(array.shape)
    return moved(array, known(shape), positions(known(shape), [strides[a] for a in order]))


def broadcast_to(e: Elements, x: Any, shape: Any) -> Array:
    """np.broadcast_to(x, shape)"""
    array, wanted = as_array("broadcast_to", x), not_negative("broadcast_to", sizes("broadcast_to", shape))
    shapes.broadcast_to(array.shape, wanted)
    return moved(array, wanted, broadcast_positions(array.shape, wanted))


def like(e: Elements, v: Any, x: Any) -> Any:
    """v repeated to the shape of x, in its dtype; v itself if x is a scalar. The adjoint of `sum_to`."""
    if v is ZERO or x is ZERO:
        return ZERO
    if not isinstance(x, (Array, SparseArray)):
        return dense(v).items[0] if isinstance(v, (Array, SparseArray)) and v.shape == () else v
    array = as_array("like", v)
    shapes.repeated_to(array.shape, x.shape)
    shape = array.shape[max(0, len(array.shape) - len(x.shape)) :]
    found = moved(Array(array.dtype, shape, array.items), x.shape, broadcast_positions(shape, x.shape))
    if found.dtype == x.dtype or x.dtype not in FLOATING:
        return found
    return Array(x.dtype, found.shape, tuple(e.coerce(i, x.dtype, "like") for i in found.items))


def sum_to(e: Elements, d: Any, x: Any) -> Any:
    """
    The sensitivity d of x broadcast, as the sensitivity of x: summed over the axes along which x was repeated, in x's dtype.

    ZERO where x is no real and no array of reals. The adjoint of `like`.
    """
    if d is ZERO or x is ZERO:
        return ZERO
    if isinstance(x, (tuple, Record, Sparse, Closure)):
        return d
    if not isinstance(x, (Array, SparseArray)):
        return _total(e, d) if is_number(x) else ZERO
    if x.dtype not in FLOATING:
        return ZERO
    if isinstance(d, SparseArray) and (d.shape, d.dtype) == (x.shape, x.dtype):
        return d
    array = _numbers(d)
    shapes.summed_to(array.shape, x.shape)
    if array.shape == x.shape:
        return (
            array if array.dtype == x.dtype else Array(x.dtype, x.shape, tuple(e.coerce(i, x.dtype, "sum_to") for i in array.items))
        )
    groups: list[list[Any]] = [[] for _ in range(size_of(x.shape))]
    wider = (1,) * (len(x.shape) - len(array.shape)) + array.shape
    for place, item in zip(broadcast_positions(x.shape, wider), array.items, strict=True):
        groups[place].append(item)
    return Array(x.dtype, x.shape, tuple(_sum_of(e, g, x.dtype) for g in groups))


def _total(e: Elements, d: Any) -> Any:
    return _sum_of(e, _numbers(d).items, "f64") if isinstance(d, (Array, SparseArray)) else d


def _numbers(d: Any) -> Array:
    """The array of numbers that a sensitivity is."""
    array = as_array("sum_to", d)
    if array.dtype == "bool":
        raise wrong("sum_to", "numbers", d)
    return array


def _sum_of(e: Elements, items: Sequence[Any], dtype: str) -> Any:
    """The sum, ZERO if every item is."""
    return ZERO if items and all(x is ZERO for x in items) else e.coerce(e.total(items, dtype), dtype, "sum_to")


def spread(e: Elements, d: Any, x: Any, axis: Any, keepdims: Any) -> Array:
    """d, which has x's shape without the axes in `axis`, repeated along them. The adjoint of the sum over them."""
    target, array = as_array("spread", x).shape, as_array("spread", d)
    axes = normal_axes(axis, len(target), "spread")
    shapes.spread_over(array.shape, target, axes, boolean("spread", "keepdims", keepdims))
    kept = tuple(1 if a in axes else n for a, n in enumerate(target))
    return moved(array, target, broadcast_positions(kept, target))


def concatenate(e: Elements, arrays: Any, axis: Any) -> Any:
    """np.concatenate(arrays, axis); of the elements in row-major order if axis is None."""
    if arrays is ZERO:
        return ZERO
    parts = [as_array("concatenate", p) for p in _several("concatenate", arrays)]
    if axis is None:
        parts = [Array(p.dtype, (len(p.items),), p.items) for p in parts]
    at = 0 if axis is None else integer("concatenate", "axis", axis)
    shape = known(shapes.concatenated([p.shape for p in parts], at))
    along = at % len(shape)
    dtype = promoted([p.dtype for p in parts], "concatenate")
    inner = size_of(parts[0].shape[along + 1 :])
    outer = size_of(parts[0].shape[:along])
    blocks = [(p.items, p.shape[along] * inner) for p in parts]
    items = [x for k in range(outer) for own, n in blocks for x in own[k * n : (k + 1) * n]]
    return Array(dtype, shape, tuple(e.coerce(x, dtype, "concatenate") for x in items))


def _several(name: str, arrays: Any) -> tuple[Any, ...]:
    items = arrays.items if isinstance(arrays, Record) else arrays
    if isinstance(items, Array) and items.shape:
        inner = size_of(items.shape[1:])
        items = tuple(moved(items, items.shape[1:], range(k * inner, (k + 1) * inner)) for k in range(items.shape[0]))
    if not isinstance(items, tuple):
        raise wrong(name, "a tuple or list of arrays", arrays)
    if not items:
        raise Trap(f"{name} of no arrays", rule=name, remedy="at least one array")
    return items


def stack(e: Elements, arrays: Any, axis: Any) -> Any:
    """np.stack(arrays, axis): a new axis that numbers the arrays."""
    if arrays is ZERO:
        return ZERO
    parts = [looked_at("stack", p) for p in _several("stack", arrays)]
    rank = len(parts[0].shape)
    along = normal_axis(integer("stack", "axis", axis), rank + 1, "stack")
    return concatenate(e, tuple(expand_dims(e, p, along) for p in parts), along)


def expand_dims(e: Elements, x: Any, axis: Any) -> Array:
    """np.expand_dims(x, axis): axes of size 1 at the named places of the result."""
    array = as_array("expand_dims", x)
    return Array(array.dtype, known(shapes.with_axes(array.shape, axis, "expand_dims")), array.items)


def squeeze(e: Elements, x: Any, axis: Any) -> Array:
    """np.squeeze(x, axis): without the named axes, which have size 1; without all such axes if None."""
    array = as_array("squeeze", x)
    return Array(array.dtype, known(shapes.squeezed(array.shape, axis)), array.items)


def flip(e: Elements, x: Any, axis: Any) -> Array:
    """np.flip(x, axis): backwards along the named axes; along all if None."""
    array = as_array("flip", x)
    axes = normal_axes(axis, len(array.shape), "flip")
    strides = strides_of(array.shape)
    turned = [-s if a in axes else s for a, s in enumerate(strides)]
    offset = sum((n - 1) * s for a, (n, s) in enumerate(zip(array.shape, strides, strict=True)) if a in axes)
    return moved(array, array.shape, positions(array.shape, turned, offset))


def roll(e: Elements, x: Any, shift: Any, axis: Any) -> Array:
    """np.roll(x, shift, axis): element i goes to (i + shift) mod n; in row-major order if axis is None."""
    array = as_array("roll", x)
    if axis is None:
        n, distance = len(array.items), integer("roll", "shift", shift)
        by = distance % n if n else 0
        return array.with_items((*array.items[n - by :], *array.items[: n - by]))
    axes = axis if isinstance(axis, tuple) else (axis,)
    shifts = shift if isinstance(shift, tuple) else (integer("roll", "shift", shift),) * len(axes)
    if len(shifts) != len(axes):
        raise wrong("roll", "as many shifts as axes", shift)
    places: list[list[int]] = [list(range(n)) for n in array.shape]
    for a, by in zip(axes, shifts, strict=True):
        at = normal_axis(a, len(array.shape), "roll")
        n, distance = array.shape[at], integer("roll", "shift", by)
        places[at] = [places[at][(i - distance) % n] for i in range(n)]
    found = [0]
    for own, stride in zip(places, strides_of(array.shape), strict=True):
        found = [base + i * stride for base in found for i in own]
    return moved(array, array.shape, found)


def diag(e: Elements, x: Any, k: Any) -> Array:
    """np.diag(x, k): of a vector the matrix with it on diagonal k, of a matrix its diagonal k."""
    array, diagonal = as_array("diag", x), integer("diag", "diagonal", k)
    if len(array.shape) == 1:
        n, _ = within_budget("diag", (array.shape[0] + abs(diagonal),) * 2)
        zero = e.number(0, array.dtype)
        items = [zero] * (n * n)
        for i, item in enumerate(array.items):
            items[(i + max(-diagonal, 0)) * n + i + max(diagonal, 0)] = item
        return Array(array.dtype, (n, n), tuple(items))
    if len(array.shape) != 2:
        raise Trap(f"diag of an array of shape {array.shape}", rule="diag", remedy="a vector or a matrix")
    rows, columns = array.shape
    places = [i * columns + i + diagonal for i in range(rows) if 0 <= i + diagonal < columns]
    return moved(array, (len(places),), places)


def _triangle(name: str, keep: Callable[[int, int], bool]) -> Callable[..., Array]:
    def cell(e: Elements, x: Any, k: Any) -> Array:
        array, diagonal = as_array(name, x), integer(name, "diagonal", k)
        if len(array.shape) < 2:
            raise Trap(f"{name} of an array of shape {array.shape}", rule=name, remedy="a matrix, or a stack of them")
        columns, zero = array.shape[-1], e.number(0, array.dtype)
        rows = array.shape[-2]
        kept = [keep(j - i, diagonal) for i in range(rows) for j in range(columns)]
        return array.with_items(x if kept[p % len(kept)] else zero for p, x in enumerate(array.items))

    cell.__name__ = name
    cell.__doc__ = f"np.{name}(x, k): the other triangle, beyond diagonal k, set to 0."
    return cell


tril = _triangle("tril", lambda distance, k: distance <= k)
triu = _triangle("triu", lambda distance, k: distance >= k)

CELLS: dict[str, Callable[..., Any]] = {
    "sum_to": sum_to,
    "like": like,
    "concatenate": concatenate,
    "stack": stack,
    **{
        cell.__name__: absorbs(cell)
        for cell in (reshape, transpose, broadcast_to, spread, expand_dims, squeeze, flip, roll, diag, tril, triu)
    },
}
