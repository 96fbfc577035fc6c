"""
The machine's functions that give the elements of a small array another shape or order, and multiply small matrices, in the language
of generated code: as in `small_arrays`, with the same answers. A gradient of a product is a product with what these make.
"""

from __future__ import annotations

from typing import Any

from backend.machine.layout import (
    ARRAY,
    BOOL,
    COUNT,
    DTYPE,
    FEW,
    FULL,
    HOLED,
    INT,
    INTEGERS,
    RANK,
    RAW,
    REAL,
    RUNNING,
    SERVICE,
    SHAPE,
    SINGLES,
    TUPLE,
    UNIT,
    VALUES,
)
from backend.machine.small_arrays import few, items, like_array, whole
from backend.machine.structural import Doubles, Words, allocate, copy

_mul: Any
"""The product of two reals, which every target rounds."""


def new_array(I: Words, dtype: int, rank: int, count: int, out: int) -> int:
    """The address of a new array at out, without ZEROs, whose sizes and elements are still to be written; 0 if there is no room."""
    r = allocate(I, SHAPE + rank + count, 0)
    if r != 0:
        I[r + DTYPE] = dtype
        I[r + HOLED] = 0
        I[r + RANK] = rank
        I[r + COUNT] = count
        I[out] = ARRAY
        I[out + 1] = r
    return r


def again_of(I: Words, p: int, rank: int, out: int) -> int:
    """A new array with the elements of p in their order; its sizes are still to be written."""
    r = new_array(I, I[p + DTYPE], rank, I[p + COUNT], out)
    if r != 0:
        at, to = items(I, p), items(I, r)
        for k in range(I[p + COUNT]):
            I[to + k] = I[at + k]
        I[r + HOLED] = I[p + HOLED]
    return r


def reshape(I: Words, F: Doubles, x: int, y: int, out: int) -> int:
    """The same elements in the shape that a tuple of known sizes says."""
    if I[x] != ARRAY or I[y] != TUPLE or I[I[x + 1] + COUNT] > I[FEW]:
        return SERVICE
    p, t = I[x + 1], I[y + 1]
    rank, count = I[t + VALUES], 1
    for k in range(rank):
        size = I[t + RAW + 2 * k + 1]
        if I[t + RAW + 2 * k] != INT or size < 0 or size > I[FEW] or count > I[FEW]:
            return SERVICE
        count *= size
    if rank == 0 or count != I[p + COUNT]:
        return SERVICE
    r = again_of(I, p, rank, out)
    if r == 0:
        return FULL
    for k in range(rank):
        I[r + SHAPE + k] = I[t + RAW + 2 * k + 1]
    return RUNNING


def as_array(I: Words, F: Doubles, x: int, y: int, out: int) -> int:
    """An array, where no dtype is asked for, is one already."""
    if I[x] != ARRAY or I[y] != UNIT:
        return SERVICE
    p = I[x + 1]
    same = I[p + RANK] > 0 and I[p + COUNT] > 0 and I[p + HOLED] == 0 and I[p + DTYPE] != SINGLES
    return copy(I, x, out) if same else SERVICE


def places(I: Words, F: Doubles, x: int, out: int) -> int:
    """1, 2, … in the shape of an array."""
    p = few(I, x)
    if p == 0:
        return SERVICE
    r = like_array(I, p, out)
    if r == 0:
        return FULL
    I[r + DTYPE] = INTEGERS
    I[r + HOLED] = 0
    to = items(I, r)
    for k in range(I[r + COUNT]):
        I[to + k] = k + 1
    return RUNNING


def expand_dims(I: Words, F: Doubles, x: int, y: int, out: int) -> int:
    """The same elements with one axis of size 1 more."""
    if I[x] != ARRAY or I[y] != INT or I[I[x + 1] + COUNT] > I[FEW]:
        return SERVICE
    p = I[x + 1]
    rank, axis = I[p + RANK] + 1, I[y + 1]
    if axis < -rank or axis >= rank:
        return SERVICE
    r = again_of(I, p, rank, out)
    if r == 0:
        return FULL
    axis = axis + rank if axis < 0 else axis
    for k in range(rank):
        I[r + SHAPE + k] = 1 if k == axis else I[p + SHAPE + (k if k < axis else k - 1)]
    return RUNNING


def swap_last(I: Words, F: Doubles, x: int, out: int) -> int:
    """The last two axes in each other's place."""
    p = whole(I, x)
    if p == 0 or I[p + RANK] < 2:
        return SERVICE
    r = like_array(I, p, out)
    if r == 0:
        return FULL
    last = SHAPE + I[p + RANK] - 1
    n, m = I[p + last - 1], I[p + last]
    I[r + last - 1] = m
    I[r + last] = n
    at, to, end = items(I, p), items(I, r), items(I, r) + I[p + COUNT]
    while to < end:
        for j in range(m):
            for i in range(n):
                I[to + j * n + i] = I[at + i * m + j]
        at += n * m
        to += n * m
    return RUNNING


def spread(I: Words, F: Doubles, x: int, y: int, z: int, w: int, out: int) -> int:
    """The sensitivity of a sum over all elements: for each of them that of the sum."""
    p = whole(I, y)
    if p == 0 or I[x] != REAL or I[z] != UNIT or I[w] != BOOL or I[w + 1] != 0:
        return SERVICE
    r = like_array(I, p, out)
    if r == 0:
        return FULL
    to = items(I, r)
    for k in range(I[r + COUNT]):
        F[to + k] = F[x + 1]
    return RUNNING


def product_of_row(F: Doubles, a: int, b: int, to: int, inner: int, columns: int) -> None:
    """A row times a matrix, each sum from the left: one in a register, several side by side."""
    if columns == 1:
        found = _mul(F[a], F[b])
        for k in range(1, inner):
            found = found + _mul(F[a + k], F[b + k])
        F[to] = found
        return
    for j in range(columns):
        F[to + j] = _mul(F[a], F[b + j])
    for k in range(1, inner):
        b += columns
        u = F[a + k]
        for j in range(columns):
            F[to + j] = F[to + j] + _mul(u, F[b + j])


def matmul(I: Words, F: Doubles, x: int, y: int, out: int) -> int:
    """The product of matrices and vectors: each element is a sum from the left."""
    p, q = whole(I, x), whole(I, y)
    if p == 0 or q == 0 or I[p + RANK] > 2 or I[q + RANK] > 2:
        return SERVICE
    inner = I[p + SHAPE + I[p + RANK] - 1]
    rows = I[p + SHAPE] if I[p + RANK] == 2 else 1
    columns = I[q + SHAPE + 1] if I[q + RANK] == 2 else 1
    if inner == 0 or inner != I[q + SHAPE] or rows * columns > I[FEW]:
        return SERVICE
    rank = I[p + RANK] + I[q + RANK] - 2
    r = new_array(I, I[p + DTYPE], rank, rows * columns, out)
    if r == 0:
        return FULL
    if I[p + RANK] == 2:
        I[r + SHAPE] = rows
    if I[q + RANK] == 2:
        I[r + SHAPE + rank - 1] = columns
    a, b, to = items(I, p), items(I, q), items(I, r)
    for _ in range(rows):
        product_of_row(F, a, b, to, inner, columns)
        a += inner
        to += columns
    if rank == 0:
        I[out] = REAL
        F[out + 1] = F[to - 1]
    return RUNNING


PARTS = (new_array, again_of, product_of_row)
UNARY = {"swap_last": swap_last, "places": places}
BINARY = {"as_array": as_array, "reshape": reshape, "expand_dims": expand_dims, "matmul": matmul}
QUATERNARY = {"spread": spread}
