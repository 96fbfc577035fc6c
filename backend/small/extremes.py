"""
Where the extreme elements of an array of terms are, and the way back to them: indices that are known when the program runs.

    argmax, argmin   an index is chosen by as many comparisons as there are elements
    take_along       an element is chosen by such an index, of all that it may be
    returned         each place gets what is sent back there, which is perhaps nothing (`backend.small.perhaps`)

As the reference's rows do, the first of equal elements is taken, and NaN before all else. An index of another origin might lie
outside; so no other is a subscript here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from backend.small.perhaps import added, chosen
from backend.small.terms import Record, Term, refused
from semantics.arrays import FLOATING, Array, normal_axis, of_rank_zero, positions, strides_of
from semantics.columns.arrays.elements import as_array
from semantics.columns.arrays.sorting import lines
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO
from semantics.type_language import INTEGER, REAL

Row = Callable[..., Any]


def extreme(record: Record, row: Row, most: bool, x: Any, axis: Any) -> Any:
    """np.argmax(x, axis), or np.argmin where it is not `most`."""
    if not isinstance(x, Array) or not x.items or not all(isinstance(v, Term) and v.type == REAL for v in x.items):
        return row(x, axis)
    array, along, found = lines("argmax", x, axis)
    dropped = (*array.shape[:along], *array.shape[along + 1 :])
    return of_rank_zero(Array("i64", dropped, tuple(_index(record, most, [array.items[p] for p in line]) for line in found)))


def _index(record: Record, most: bool, items: Sequence[Any]) -> Any:
    """The index of the extreme one of some terms: k where it comes before the best of those before it, or is the first NaN."""
    best, index = items[0], 0
    for k, x in enumerate(items[1:], 1):
        before = record.apply(TABLE["gt" if most else "lt"], x, best)
        number = record.apply(TABLE["and_"], record.apply(TABLE["ne"], x, x), record.apply(TABLE["eq"], best, best))
        better = record.apply(TABLE["or_"], before, number)
        best, index = chosen(record, better, x, best), chosen(record, better, k, index)
    if isinstance(index, Term):
        record.below[index.number] = len(items)
    return index


def take_along(record: Record, row: Row, x: Any, indices: Any, axis: Any) -> Any:
    """np.take_along_axis(x, indices, axis), where indices are those of extreme elements."""
    if not isinstance(indices, Array) or not any(isinstance(i, Term) for i in indices.items) or axis is None:
        return row(x, indices, axis)
    array = as_array("take_along", x)
    along = normal_axis(axis, len(array.shape), "take_along")
    n, strides = array.shape[along], strides_of(array.shape)
    if len(indices.shape) != len(array.shape) or any(record.below.get(getattr(i, "number", -1)) != n for i in indices.items):
        raise refused("an index is no extreme element's")
    bases = positions(indices.shape, [0 if k == along else s for k, s in enumerate(strides)])
    items = []
    for base, i in zip(bases, indices.items, strict=True):
        line = [array.items[base + k * strides[along]] for k in range(n)]
        items.append(_at(record, i, line))
    return Array(array.dtype, indices.shape, tuple(items))


def _at(record: Record, index: Term, line: Sequence[Any]) -> Any:
    """The element at an index; which numbers it may be is noted, if all are known."""
    found = line[0]
    for k, x in enumerate(line[1:], 1):
        found = chosen(record, record.apply(TABLE["eq"], index, k), x, found)
    if isinstance(found, Term) and all(type(x) is int for x in line):
        record.among[found.number] = frozenset(line)
    return found


def returned(record: Record, row: Row, d: Any, p: Any, x: Any) -> Any:
    """The sensitivity of x, a number or an array of them, to which each element of d went back to a place that may be a term."""
    places = as_array("returned", p).items if isinstance(p, (Array, Term)) else ()
    if d is ZERO or not any(isinstance(k, Term) for k in places):
        return row(d, p, x)
    given = as_array("returned", d).items
    if not isinstance(x, Array) or x.dtype not in FLOATING or len(given) != len(places):
        raise refused("what is sent back goes to a structure")
    items: list[Any] = [ZERO] * (1 + len(x.items))
    for value, place in zip(given, places, strict=True):
        known = record.among.get(place.number) if isinstance(place, Term) else frozenset((place,))
        if known is None or not known <= {*range(len(items))}:
            raise refused("a place is not one of those that are known")
        for k in sorted(known):
            here = record.apply(TABLE["eq"], place, k) if isinstance(place, Term) else True
            items[k] = added(record, items[k], chosen(record, here, value, ZERO))
    return x.with_items(items[1:])


def of_number(row: Row, x: Any, *attributes: Any) -> Any:
    """A row of an array, at a number: an integer that is a term is an array of integers without axes."""
    whole = isinstance(x, Term) and x.type == INTEGER
    return row(Array("i64", (), (x,)) if whole else x, *attributes)


def cells(record: Record, rows: dict[str, Row]) -> dict[str, Row]:
    """The cells that take the place of the reference's rows."""
    return {
        "argmax": partial(extreme, record, rows["argmax"], True),
        "argmin": partial(extreme, record, rows["argmin"], False),
        **{name: partial(of_number, rows[name]) for name in ("expand_dims", "reshape", "broadcast_to")},
        "take_along": partial(take_along, record, rows["take_along"]),
        "returned": partial(returned, record, rows["returned"]),
    }
