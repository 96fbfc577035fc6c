"""Functional updates: the array, tuple, list or dictionary with other values where an index points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semantics.arrays import FLOATING, Array, Shape, broadcast_positions, normal_axis, of_rank_zero
from semantics.columns.arrays.elements import Elements, absorbs, as_array, looked_at
from semantics.columns.kinds import wrong
from semantics.errors import Trap
from semantics.indexing import element_place, is_element, selected
from semantics.shapes import fits
from semantics.structured import Record, Slice
from semantics.tangents import ZERO, Sparse, SparseArray, dense, gadd


def put(e: Elements, t: Any, i: Any, v: Any) -> Any:
    """t with t[i] = v done to it; t itself is left alone. Where an index is repeated, the last value stays."""
    if t is ZERO and v is ZERO:
        return ZERO
    if isinstance(t, SparseArray) and v is ZERO and is_element(t.shape, i):
        place = element_place(t.shape, i)
        return SparseArray(t.dtype, t.shape, t.entries.delete(place)) if place in t.entries else t
    if isinstance(t, (Array, SparseArray)):
        return _put_array(e, dense(t), i, v)
    return _put_item(t, i, v)


def _put_array(e: Elements, t: Array, i: Any, v: Any) -> Array:
    places, values = written(e, t, i, v)
    items = list(t.items)
    for place, value in zip(places, values, strict=True):
        items[place] = value
    return t.with_items(items)


def written(e: Elements, t: Array, i: Any, v: Any) -> tuple[list[int], list[Any]]:
    """The places that t[i] names, and the element of v, broadcast, for each of them."""
    if is_element(t.shape, i):
        shape: Shape = ()
        places = [element_place(t.shape, i)]
    else:
        shape, places = selected(t.shape, i)
    if v is ZERO:
        return places, [ZERO] * len(places)
    given = looked_at("put", v)
    if not fits(given.shape, shape):
        raise Trap(f"an array of shape {given.shape} does not fit into one of shape {shape}", rule="put", remedy="equal shapes")
    found = given.shape[max(0, len(given.shape) - len(shape)) :]
    values = [given.items[k] for k in broadcast_positions(found, shape)]
    if given.dtype != t.dtype and t.dtype not in FLOATING and (t.dtype == "bool" or given.dtype in FLOATING):
        raise wrong("put", f"{t.dtype} values for an array of {t.dtype}", v, "NumPy would cut off: write x.astype(int)")
    if given.dtype != t.dtype or t.dtype == "i64":
        values = [e.coerce(x, t.dtype, "put") for x in values]
    return places, values


def _put_item(t: Any, i: Any, v: Any) -> Any:
    if isinstance(t, (tuple, Record)) and type(i) is int:
        items = t.items if isinstance(t, Record) else t
        if not -len(items) <= i < len(items):
            raise Trap(f"index {i} is outside a sequence of {len(items)}", rule="put", remedy="an index inside it")
        place = i % len(items)
        changed = (*items[:place], v, *items[place + 1 :])
        return Record(t.label, changed) if isinstance(t, Record) else changed
    if isinstance(t, Sparse) and type(i) is int:
        place = i % t.size
        if v is ZERO:
            return Sparse(t.size, t.entries.delete(place)) if place in t.entries else t
        return Sparse(t.size, t.entries.set(place, v))
    raise wrong("put", "a list or an array, and an index into it", t)


def final(e: Elements, t: Any, i: Any) -> Any:
    """For every place that t[i] names, whether a value written there stays: False where the place is named again later."""
    if t is ZERO:
        return ZERO
    if not isinstance(t, (Array, SparseArray)) or is_element(t.shape, i):
        return True
    shape, places = selected(t.shape, i)
    last = {place: k for k, place in enumerate(places)}
    return Array("bool", shape, tuple(last[place] == k for k, place in enumerate(places)))


def scatter_add(e: Elements, x: Any, i: Any, v: Any) -> Any:
    """np.add.at on a copy: x with v added at every place that x[i] names, as often as it is named."""
    if x is ZERO:
        return ZERO
    array = as_array("scatter_add", x)
    places, values = written(e, array, i, v)
    items = list(array.items)
    for place, value in zip(places, values, strict=True):
        old = items[place]
        items[place] = gadd(old, value) if old is ZERO or value is ZERO else e.rounded(e.add(old, value), array.dtype)
    return array.with_items(items)


def take(e: Elements, x: Any, indices: Any, axis: Any) -> Any:
    """np.take(x, indices, axis); of the elements in row-major order if axis is None."""
    array = as_array("take", x)
    index = Array("i64", (), (indices,)) if type(indices) is int else indices
    if not (type(index) is Array and index.dtype == "i64") and not (isinstance(index, Record) and index.label.kind == "list"):
        raise wrong("take", "an integer, or an array or a list of integers", indices)
    if axis is None:
        flat = Array(array.dtype, (len(array.items),), array.items)
        return _selection(flat, index)
    before = normal_axis(axis, len(array.shape), "take")
    return _selection(array, (*(Slice(),) * before, index))


def _selection(array: Array, index: Any) -> Any:
    shape, places = selected(array.shape, index)
    return of_rank_zero(Array(array.dtype, shape, tuple(array.items[p] for p in places)))


CELLS: dict[str, Callable[..., Any]] = {
    "put": put,
    "final": final,
    "scatter_add": scatter_add,
    "take": absorbs(take),
}
