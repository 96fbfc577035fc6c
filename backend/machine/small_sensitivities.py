"""
The machine's functions on the sensitivities of arrays of f64 that have few elements, in the language of generated code: as in
`small_arrays`, with the same answers.

The sensitivity of an array of which only a part has one is written out here, with ZEROs beside it; of a larger array it is
sparse (`sparse_arrays`). Both are the same sensitivity, and their sums the same sums.
"""

from __future__ import annotations

from backend.machine.layout import (
    ARRAY,
    BOOL,
    COUNT,
    FULL,
    HOLED,
    INT,
    RANK,
    REAL,
    RUNNING,
    SERVICE,
    SHAPE,
    SPARSE,
    ZERO,
    ZERO_BITS,
)
from backend.machine.small_arrays import alike, few, has_holes, items, like_array, of_reals
from backend.machine.sparse_arrays import instantiate_sparse, new_entries, put_sparse
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


def inject_part(I: Words, F: Doubles, x: int, y: int, z: int, out: int) -> int:
    """The sensitivity of an array of which only element i has one, or row i."""
    p = of_reals(I, x)
    if p == 0 or I[p + RANK] == 0 or I[y] != INT or I[y + 1] < -I[p + SHAPE] or I[y + 1] >= I[p + SHAPE]:
        return SERVICE
    q, width = of_reals(I, z), I[p + COUNT] // I[p + SHAPE]
    if I[z] != REAL if I[p + RANK] == 1 else (q == 0 or I[q + RANK] != I[p + RANK] - 1 or I[q + COUNT] != width):
        return SERVICE
    at, place = z + 1 if q == 0 else items(I, q), width * (I[y + 1] if I[y + 1] >= 0 else I[y + 1] + I[p + SHAPE])
    if few(I, x) == 0:
        r = new_entries(I, p, place, at, width)
        I[out] = SPARSE
        I[out + 1] = r
        return RUNNING if r != 0 else FULL
    r = like_array(I, p, out)
    if r == 0:
        return FULL
    to = items(I, r)
    for k in range(I[p + COUNT]):
        I[to + k] = ZERO_BITS
    to += place
    for k in range(width):
        I[to + k] = I[at + k]
    I[r + HOLED] = has_holes(I, r)
    return RUNNING


def instantiate_array(I: Words, F: Doubles, x: int, y: int, out: int) -> int:
    """The sensitivity of an array without ZEROs, 0.0 in the place of each."""
    p, q = of_reals(I, x), of_reals(I, y)
    if q != 0 and I[q + HOLED] == 0 and I[x] == SPARSE:
        return instantiate_sparse(I, F, x, q, out)
    if q == 0 or I[q + HOLED] != 0 or (p == 0 and I[x] != ZERO) or (p != 0 and not alike(I, p, q)):
        return SERVICE
    if p != 0 and I[p + HOLED] == 0:
        return copy(I, x, out)
    if few(I, y) == 0:
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
    p, q = I[x + 1] if I[x] == SPARSE else of_reals(I, x), of_reals(I, y)
    same = (p != 0 and q != 0 and alike(I, p, q)) or (I[x] == REAL and I[y] == REAL)
    return copy(I, x, out) if same else SERVICE


def put_array(I: Words, F: Doubles, x: int, y: int, z: int, out: int) -> int:
    """A copy of an array of one axis with a real or a ZERO at one place."""
    if I[x] == SPARSE:
        return put_sparse(I, F, x, y, z, out)
    p = few(I, x)
    if p == 0 or I[p + RANK] != 1 or I[y] != INT or I[y + 1] < -I[p + SHAPE] or I[y + 1] >= I[p + SHAPE]:
        return SERVICE
    if I[z] != REAL and I[z] != ZERO:
        return SERVICE
    r = like_array(I, p, out)
    if r == 0:
        return FULL
    at, to = items(I, p), items(I, r)
    for k in range(I[p + COUNT]):
        I[to + k] = I[at + k]
    I[to + (I[y + 1] if I[y + 1] >= 0 else I[y + 1] + I[p + SHAPE])] = I[z + 1] if I[z] == REAL else ZERO_BITS
    I[r + HOLED] = 1 if I[z] == ZERO else has_holes(I, r) if I[p + HOLED] != 0 else 0
    return RUNNING


def final(I: Words, F: Doubles, x: int, y: int, out: int) -> int:
    """That a value written to one element stays there."""
    if (I[x] != ARRAY and I[x] != SPARSE) or I[I[x + 1] + RANK] != 1 or I[y] != INT:
        return SERVICE
    I[out] = BOOL
    I[out + 1] = 1
    return RUNNING


def keep(I: Words, F: Doubles, x: int, y: int, out: int) -> int:
    """A sensitivity if the boolean is True, else ZERO."""
    if I[y] != BOOL:
        return SERVICE
    if I[y + 1] != 0:
        return copy(I, x, out)
    I[out] = ZERO
    I[out + 1] = 0
    return RUNNING


PARTS = (add_arrays, inject_part, instantiate_array, like, put_array)
BINARY = {"final": final, "keep": keep, "like": like}
