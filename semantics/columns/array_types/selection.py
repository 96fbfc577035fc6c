"""
What an index selects, as types: `semantics.indexing.selected` with sizes that may be unknown.

Integers and slices of known value give known sizes, arrays of booleans never do: how many are True shows when the program runs.
"""

from __future__ import annotations

from typing import Any

from semantics.arrays import broadcast_shapes, shown
from semantics.columns.record_types import known_slice
from semantics.errors import IllTyped, Trap
from semantics.indexing import OUTSIDE
from semantics.shapes import Dims, Size, clash
from semantics.type_language import BOOLEAN, INTEGER, UNIT, ArrayType, RecordType, SequenceType, TupleType
from semantics.type_lattice import ELLIPSIS_TYPE, Literal, SliceType, erase

NO_SLICE = SliceType((UNIT, UNIT, UNIT))


def is_element(dims: Dims, index: Any) -> bool:
    """Whether an index names one element: as many integers as there are axes."""
    if isinstance(index, TupleType):
        return len(index.items) == len(dims) and all(erase(i) == INTEGER for i in index.items)
    return erase(index) == INTEGER and len(dims) == 1


def check_element(dims: Dims, index: Any) -> None:
    """Trap if one of the integers is certain to lie outside its axis."""
    for i, n in zip(index.items if isinstance(index, TupleType) else (index,), dims, strict=True):
        _check_inside(i, n, dims)


def _check_inside(i: Any, n: Size, dims: Dims) -> None:
    if isinstance(i, Literal) and n is not None and not -n <= i.value < n:
        remedy = f"an index from {-n} to {n - 1}" if n else "the axis is empty"
        raise Trap(f"index {i.value} is outside an axis of {n} in an array of shape {shown(dims)}", rule=OUTSIDE, remedy=remedy)


def selected(dims: Dims, index: Any) -> Dims:
    """The sizes of what an index selects; Trap if it is certain to lie outside, IllTyped for what is no index."""
    kept: list[Size] = []
    gathered: list[Dims] = []
    first_gather, between, separated, axis = -1, False, False, 0
    for part in _expanded(dims, index):
        if part == UNIT:
            kept.append(1)
            continue
        if part == ELLIPSIS_TYPE:
            between = True
            continue
        if isinstance(part, SliceType):
            kept.append(_slice_length(part, dims[axis]))
        else:
            if first_gather < 0:
                first_gather, between = len(kept), False
            elif between or first_gather != len(kept):
                separated = True
            if not isinstance(part, ArrayType):
                _check_inside(part, dims[axis], dims)
            gathered.append(part.dims if isinstance(part, ArrayType) else ())
        axis += 1
    front = 0 if separated and any(gathered) else max(first_gather, 0)
    return (*kept[:front], *broadcast_shapes(gathered, "getitem"), *kept[front:])


def _slice_length(part: SliceType, n: Size) -> Size:
    """How many places a slice has on an axis of n; a slice without bounds has all of them."""
    found = known_slice(part)
    if n is not None and found is not None:
        return len(found.indices(n))
    everything = part.items[:2] == (UNIT, UNIT) and part.items[2] in (UNIT, Literal(INTEGER, 1), Literal(INTEGER, -1))
    return n if everything else None


def _expanded(dims: Dims, index: Any) -> list[Any]:
    """
    One part for each axis and each new axis: `...` written out, an array of booleans as one of integers for each of its axes.

    A `...` that stands for no axis stays, since it separates the index arrays around it.
    """
    parts: list[Any] = []
    for part in index.items if isinstance(index, TupleType) else (index,):
        if (
            erase(part) == INTEGER
            or part in (UNIT, ELLIPSIS_TYPE)
            or isinstance(part, SliceType)
            or (isinstance(part, ArrayType) and part.dtype == "i64")
        ):
            parts.append(part)
        elif isinstance(part, ArrayType) and part.dtype == "bool" and part.dims:
            _check_mask(part, dims, parts)
            parts.extend([ArrayType("i64", (None,))] * len(part.dims))
        elif isinstance(part, RecordType) and part.label.kind == "list" and all(erase(i) == INTEGER for i in part.items):
            parts.append(ArrayType("i64", (len(part.items),)))
        elif isinstance(part, SequenceType) and part.label is not None and erase(part.item) in (INTEGER, BOOLEAN):
            parts.append(ArrayType("i64", (None,)))
        elif isinstance(part, RecordType) and part.label.kind == "list" and all(erase(i) == BOOLEAN for i in part.items):
            _check_mask(ArrayType("bool", (len(part.items),)), dims, parts)
            parts.append(ArrayType("i64", (None,)))
        else:
            raise IllTyped(
                f"{erase(part)} is no index of an array",
                rule="getitem",
                remedy="integers, slices, None, ..., or arrays of integers or booleans",
            )
    consumed = sum(part not in (UNIT, ELLIPSIS_TYPE) for part in parts)
    if consumed > len(dims):
        raise Trap(
            f"{consumed} indices for an array of {len(dims)} axes, shape {shown(dims)}", rule="getitem", remedy="one index per axis"
        )
    if parts.count(ELLIPSIS_TYPE) > 1:
        raise IllTyped("an index has two ...", rule="getitem", remedy="keep one")
    missing = [NO_SLICE] * (len(dims) - consumed)
    at = parts.index(ELLIPSIS_TYPE) if ELLIPSIS_TYPE in parts else None
    if at is None or not missing:
        return [*parts, *missing]
    return [*parts[:at], *missing, *parts[at + 1 :]]


def _check_mask(mask: ArrayType, dims: Dims, before: list[Any]) -> None:
    """Trap if an array of booleans is certain to have other sizes than the axes it stands on."""
    start = sum(part not in (UNIT, ELLIPSIS_TYPE) for part in before)
    covered = dims[start : start + len(mask.dims)]
    if ELLIPSIS_TYPE in before:
        return
    if len(covered) < len(mask.dims) or any(map(clash, zip(covered, mask.dims, strict=True))):
        raise Trap(
            f"a boolean index of shape {shown(mask.dims)} on axes of shape {shown(covered)}", rule="getitem", remedy="equal shapes"
        )
