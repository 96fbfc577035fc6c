"""
A SPARSE object of the machine (`sparse_arrays`) as the reference's value.
"""

from __future__ import annotations

from typing import Any

from immutables import Map

from backend.machine.layout import COUNT, RANK, SHAPE, SIZE, SPARSE, VALUES, ZERO_BITS
from semantics.tangents import ZERO, SparseArray


def at(I: Any, F: Any, p: int) -> SparseArray:
    """The sensitivity at p: its entries, or those of the newest sum, with what has been changed since then put back."""
    shape, changes = tuple(map(int, I[p + SHAPE : p + SHAPE + I[p + RANK]])), []
    while I[p + VALUES] and I[p + I[p + SIZE] - 4] == SPARSE:
        changes.append(entries(I, F, I[p + I[p + SIZE] - 1]))
        p = I[p + I[p + SIZE] - 3]
    found = elements(I, F, I[p + I[p + SIZE] - 3]) if I[p + VALUES] else entries(I, F, p)
    for change in reversed(changes):
        found |= change
    return SparseArray("f64", shape, Map({place: x for place, x in found.items() if x is not ZERO}))


def entries(I: Any, F: Any, p: int) -> dict[int, Any]:
    """The places and words of entries."""
    start = p + SHAPE + int(I[p + RANK])
    return {int(I[k]): word(I, F, k + 1) for k in range(start + 2, start + 2 + 2 * int(I[start + 1]), 2)}


def elements(I: Any, F: Any, p: int) -> dict[int, Any]:
    """The elements of an array, by their places."""
    start = p + SHAPE + int(I[p + RANK])
    return {k: word(I, F, start + k) for k in range(int(I[p + COUNT])) if I[start + k] != ZERO_BITS}


def word(I: Any, F: Any, k: int) -> Any:
    """A real, or ZERO."""
    return ZERO if I[k] == ZERO_BITS else float(F[k])
