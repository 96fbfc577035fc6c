"""
A SPARSE object of the machine (`sparse_arrays`, `sparse_lists`) as the reference's value.
"""

from __future__ import annotations

from typing import Any

from immutables import Map

from backend.machine.layout import COUNT, DTYPE, ENTRIES, HOLED, LISTED, RANK, SHAPE, SIZE, SPARSE, VALUES, ZERO, ZERO_BITS
from semantics.arrays import DTYPES, FLOATING, Array
from semantics.tangents import Sparse, SparseArray


def at(I: Any, F: Any, p: int) -> SparseArray | Array:
    """
    The sensitivity at p: its entries, or those of the newest sum, with what has been changed since then put back. Or the array
    that has been changed.
    """
    shape, dtype, holed = tuple(map(int, I[p + SHAPE : p + SHAPE + I[p + RANK]])), DTYPES[I[p + DTYPE]], I[p + HOLED]
    changes = []
    while I[p + VALUES] and I[p + I[p + SIZE] - 4] == SPARSE:
        changes.append(int(I[p + I[p + SIZE] - 1]))
        p = I[p + I[p + SIZE] - 3]
    found = elements(I, I[p + I[p + SIZE] - 3]) if I[p + VALUES] else entries(I, p)
    for change in reversed(changes):
        found |= entries(I, change)
    if holed:
        return SparseArray(dtype, shape, Map({k: float(F[at]) for k, at in found.items() if I[at] != ZERO_BITS}))
    words = F if dtype in FLOATING else I
    kind = {"i64": int, "bool": bool}.get(dtype, float)
    return Array(dtype, shape, tuple(kind(words[at]) for at in found.values()))


def entries(I: Any, p: int) -> dict[int, int]:
    """Where the words of entries are, by their places."""
    start = p + SHAPE + int(I[p + RANK])
    return {int(I[k]): k + 1 for k in range(start + 2, start + 2 + 2 * int(I[start + 1]), 2)}


def elements(I: Any, p: int) -> dict[int, int]:
    """Where the elements of an array are, by their places."""
    start = p + SHAPE + int(I[p + RANK])
    return {k: start + k for k in range(int(I[p + COUNT]))}


def places(I: Any, p: int) -> dict[int, int]:
    """Where the elements of a list's sensitivity are that are not ZERO, by their indices; nothing of what is an array's."""
    if I[p + DTYPE] != LISTED:
        return {}
    count, changes, own = int(I[p + COUNT]), [], values_of(I, p).start
    while I[p + HOLED] != ENTRIES and I[own] == SPARSE:
        changes.append(of_entries(I, int(I[own + 3])))
        p = int(I[own + 1])
        own = values_of(I, p).start
    found = of_entries(I, p) if I[p + HOLED] == ENTRIES else dict(enumerate(values_of(I, int(I[own + 1]))[:count]))
    for change in reversed(changes):
        found |= change
    return {k: at for k, at in found.items() if k < count and I[at] != ZERO}


def of_entries(I: Any, p: int) -> dict[int, int]:
    """Where the values of entries are."""
    return {int(I[k + 1]): k + 2 for k in values_of(I, p)[::2]}


def values_of(I: Any, p: int) -> range:
    """Where the values of an object are."""
    end = p + int(I[p + SIZE])
    return range(end - 2 * int(I[p + VALUES]), end, 2)


def of_list(I: Any, p: int, parts: tuple[Any, ...]) -> Sparse:
    """The sensitivity of a list at p, from its elements that are not ZERO."""
    return Sparse(int(I[p + COUNT]), Map(zip(places(I, p), parts, strict=True)))
