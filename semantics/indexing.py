"""
Indexing: which elements an index selects, and what is put where.

An index is an integer, a Slice, None (a new axis), ELLIPSIS, an array of integers or of booleans, or a tuple of those; its meaning
is NumPy's, combined integer-array and slice indexing included. `selected` gives the shape of the result and, for each of its
elements, the place in the array, in row-major order; reading, writing and the adjoints of both are loops over these places.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from semantics.arrays import Array, Shape, broadcast_positions, broadcast_shapes, positions, size_of, strides_of
from semantics.errors import IllTyped, Trap
from semantics.structured import ELLIPSIS, Record, Slice

OUTSIDE = "index"  # the rule that objects to an integer outside its axis


class Selection(NamedTuple):
    """The shape of what an index selects, and the place of each element of it."""

    shape: Shape
    places: list[int]


def is_element(shape: Shape, index: Any) -> bool:
    """Whether an index names one element: as many integers as there are axes."""
    if type(index) is int:
        return len(shape) == 1
    return type(index) is tuple and len(index) == len(shape) and all(type(i) is int for i in index)


def element_place(shape: Shape, index: Any) -> int:
    """The place of the one element that an index of integers names; Trap outside the array."""
    place = 0
    for i, n in zip(index if type(index) is tuple else (index,), shape, strict=True):
        place = place * n + _inside(i, n, shape)
    return place


def _inside(i: int, n: int, shape: Shape) -> int:
    if not -n <= i < n:
        remedy = f"an index from {-n} to {n - 1}" if n else "the axis is empty"
        raise Trap(f"index {i} is outside an axis of {n} in an array of shape {shape}", rule=OUTSIDE, remedy=remedy)
    return i % n


def selected(shape: Shape, index: Any) -> Selection:
    """What `index` selects from an array of `shape`; Trap outside it, IllTyped for what is no index."""
    parts = _expanded(shape, index)
    kept: list[tuple[int, int]] = []  # size and stride of each axis that remains, in the order of the result
    gathered: list[tuple[Array, int, int]] = []  # index array, axis size, stride
    front, separated, offset, axis = -1, False, 0, 0
    strides, between = strides_of(shape), False
    for part in parts:
        if part is None:
            kept.append((1, 0))
        elif part is ELLIPSIS:
            between = True
        elif isinstance(part, Slice):
            steps = part.indices(shape[axis])
            kept.append((len(steps), strides[axis] * steps.step))
            offset += steps.start * strides[axis] if len(steps) else 0
            axis += 1
        else:
            if front < 0:
                front, between = len(kept), False
            elif between or front != len(kept):
                separated = True
            if type(part) is int:
                part = Array("i64", (), (part,))
            gathered.append((part, shape[axis], strides[axis]))
            axis += 1
    if not any(a.shape != () for a, _, _ in gathered):
        offset += sum(_inside(a.items[0], n, shape) * s for a, n, s in gathered)
        sizes = tuple(n for n, _ in kept)
        return Selection(sizes, positions(sizes, [s for _, s in kept], offset))
    return _gather(shape, kept, gathered, 0 if separated else front, offset)


def _gather(
    shape: Shape, kept: list[tuple[int, int]], gathered: list[tuple[Array, int, int]], front: int, offset: int
) -> Selection:
    """Index arrays broadcast together; their axes stand at `front` among those that are kept. Integers are checked always."""
    common = broadcast_shapes((a.shape for a, _, _ in gathered), "getitem")
    places = [0] * size_of(common)
    for array, n, stride in gathered:
        if not places and array.shape:
            continue
        steps = [_inside(i, n, shape) * stride for i in array.items]
        for k, source in enumerate(broadcast_positions(array.shape, common)):
            places[k] += steps[source]
    before, after = kept[:front], kept[front:]
    heads = positions([n for n, _ in before], [s for _, s in before], offset)
    tails = positions([n for n, _ in after], [s for _, s in after])
    result = (*(n for n, _ in before), *common, *(n for n, _ in after))
    return Selection(result, [h + p + t for h in heads for p in places for t in tails])


def _expanded(shape: Shape, index: Any) -> list[Any]:
    """
    One part for each axis and each new axis: `...` written out, boolean arrays as the integer arrays of their True places.

    A `...` that stands for no axis stays, since it separates the index arrays around it.
    """
    given = [_part(p) for p in (index if type(index) is tuple else (index,))]
    consumed = sum(map(_axes_of, given))
    if consumed > len(shape):
        raise Trap(
            f"{consumed} indices for an array of {len(shape)} axes, shape {shape}", rule="getitem", remedy="one index per axis"
        )
    if sum(part is ELLIPSIS for part in given) > 1:
        raise IllTyped("an index has two ...", rule="getitem", remedy="keep one")
    at = next((i for i, part in enumerate(given) if part is ELLIPSIS), len(given))
    missing = len(shape) - consumed
    if missing or at == len(given):
        given[at : at + 1] = [Slice()] * missing
    parts: list[Any] = []
    axis = 0
    for part in given:
        masks = isinstance(part, Array) and part.dtype == "bool"
        parts.extend(_nonzero(part, shape[axis : axis + len(part.shape)]) if masks else [part])
        axis += _axes_of(part)
    return parts


def _part(part: Any) -> Any:
    """A part of an index, a list as the array that it is; IllTyped if it is none."""
    if isinstance(part, Record) and part.label.kind == "list":
        if all(type(i) is int for i in part.items):
            return Array("i64", (len(part.items),), part.items)
        if all(type(i) is bool for i in part.items):
            return Array("bool", (len(part.items),), part.items)
    if type(part) is int or part is None or part is ELLIPSIS or isinstance(part, Slice):
        return part
    if isinstance(part, Array) and (part.dtype == "i64" or (part.dtype == "bool" and part.shape)):
        return part
    raise IllTyped(
        f"{part!r} is no index of an array", rule="getitem", remedy="integers, slices, None, ..., or arrays of integers or booleans"
    )


def _axes_of(part: Any) -> int:
    """How many axes of the array a part is about."""
    if part is None or part is ELLIPSIS:
        return 0
    return len(part.shape) if isinstance(part, Array) and part.dtype == "bool" else 1


def _nonzero(mask: Array, covered: Shape) -> list[Array]:
    """The integer arrays that select what a boolean array selects: one for each of the axes it covers, whose sizes are its own."""
    if covered != mask.shape:
        raise Trap(f"a boolean index of shape {mask.shape} on axes of shape {covered}", rule="getitem", remedy="equal shapes")
    true = [place for place, chosen in enumerate(mask.items) if chosen]
    strides = strides_of(mask.shape)
    return [Array("i64", (len(true),), tuple(p // s % n for p in true)) for s, n in zip(strides, mask.shape, strict=True)]
