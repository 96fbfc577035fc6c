"""
The machine's functions on the sensitivities of arrays of f64 that have few elements, in the language of generated code: as in
`small_arrays`, with the same answers.

The sensitivity of an array of which only a part has one is written out here, with ZEROs beside it; of a larger array it is
sparse (`sparse_arrays`). Both are the same sensitivity, and their sums the same sums.
"""

from __future__ import annotations

from backend.machine.layout import (
    COUNT,
    FEW,
    FULL,
    HOLED,
    RANK,
    REAL,
    RUNNING,
    SERVICE,
    SPARSE,
    ZERO,
    ZERO_BITS,
)
from backend.machine.small_arrays import alike, array_at, few, has_holes, items, like_array, of_reals
from backend.machine.sparse_arrays import instantiate_sparse
from backend.machine.structural import Doubles, Words, copy


def add_arrays(I: Words, F: Doubles, x: int, y: int, out: int) -> int:
    """The sum of the sensitivities of one array: a ZERO leaves the other element as it is."""
    p, q = few(I, x), few(I, y)
    if p == 0 or q == 0 or not alike(I, p, q):
        return SERVICE
    r = like_array(I, p, out)
    if r == 0:
        return FULL
    a, b, to = items(I, p), items(I, q), items(I, r)
    for k in range(I[p + COUNT]):
        if I[a + k] == ZERO_BITS:
            I[to + k] = I[b + k]
        elif I[b + k] == ZERO_BITS:
            I[to + k] = I[a + k]
        else:
            F[to + k] = F[a + k] + F[b + k]
    I[r + HOLED] = has_holes(I, r) if I[p + HOLED] != 0 and I[q + HOLED] != 0 else 0
    return RUNNING


def instantiate_array(I: Words, F: Doubles, x: int, y: int, out: int) -> int:
    """The sensitivity of an array without ZEROs, 0.0 in the place of each."""
    p, q = of_reals(I, x), array_at(I, y)
    if q != 0 and I[q + HOLED] == 0 and I[x] == SPARSE:
        return instantiate_sparse(I, F, x, q, out)
    if q == 0 or I[q + HOLED] != 0 or (p == 0 and I[x] != ZERO) or (p != 0 and not alike(I, p, q)):
        return SERVICE
    if p != 0 and I[p + HOLED] == 0:
        return copy(I, x, out)
    if I[q + RANK] == 0 or I[q + COUNT] > I[FEW]:
        return SERVICE
    r = like_array(I, q, out)
    if r == 0:
        return FULL
    at, to = items(I, p), items(I, r)
    for k in range(I[r + COUNT]):
        F[to + k] = 0.0 if p == 0 or I[at + k] == ZERO_BITS else F[at + k]
    return RUNNING


def like(I: Words, F: Doubles, x: int, y: int, out: int) -> int:
    """A value as it is, where it need not be repeated to have the shape of another."""
    p, q = array_at(I, x), array_at(I, y)
    same = (p != 0 and q != 0 and alike(I, p, q)) or (I[x] == REAL and I[y] == REAL)
    return copy(I, x, out) if same else SERVICE


PARTS = (add_arrays, instantiate_array, like)
BINARY = {"like": like}
