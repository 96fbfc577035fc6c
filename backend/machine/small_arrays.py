"""
The machine's functions on arrays of f64 that have few elements, in the language of generated code: as in `structural`, with the
same answers.

The host needs some twenty microseconds for a row of arrays, whatever their size: so an array that has axes, and at most as many
elements as the word FEW of the state says, is gone over by the machine itself. On CPython these are few, in compiled code more.
"""

from __future__ import annotations

from typing import Any

from backend.machine.layout import (
    ARRAY,
    BOOL,
    COUNT,
    DOUBLES,
    DTYPE,
    FEW,
    FULL,
    HOLED,
    INT,
    RANK,
    RAW,
    REAL,
    RUNNING,
    SERVICE,
    SHAPE,
    SPARSE,
    TUPLE,
    UNIT,
    ZERO_BITS,
)
from backend.machine.structural import Doubles, Words, allocate, real

BY_PAIRS = ("add", "sub", "mul", "div")
"""The rows of numbers that go over pairs of elements here; `source` writes the choice among them."""

pair: Any


def of_reals(I: Words, x: int) -> int:
    """The address of the array at x, if it is one of f64; else 0."""
    return I[x + 1] if I[x] == ARRAY and I[I[x + 1] + DTYPE] == DOUBLES else 0


def array_at(I: Words, x: int) -> int:
    """The same, if it is an array or the sensitivity of one, written out or not."""
    return I[x + 1] if (I[x] == ARRAY or I[x] == SPARSE) and I[I[x + 1] + DTYPE] == DOUBLES else 0


def few(I: Words, x: int) -> int:
    """The address of the array of f64 at x, if it has axes and is to be gone over here; else 0."""
    p = of_reals(I, x)
    return p if p != 0 and I[p + RANK] > 0 and I[p + COUNT] <= I[FEW] else 0


def whole(I: Words, x: int) -> int:
    """The same, if it has no ZEROs either."""
    p = few(I, x)
    return p if p != 0 and I[p + HOLED] == 0 else 0


def alike(I: Words, p: int, q: int) -> bool:
    """Whether two arrays have one shape."""
    if I[p + RANK] != I[q + RANK]:
        return False
    same = True
    for k in range(I[p + RANK]):
        same = same and I[p + SHAPE + k] == I[q + SHAPE + k]
    return same


def items(I: Words, p: int) -> int:
    """Where the elements of an array begin."""
    return p + SHAPE + I[p + RANK]


def like_array(I: Words, p: int, out: int) -> int:
    """The address of a new array at out, with the dtype and the shape of another; 0 if there is no room."""
    r = allocate(I, SHAPE + I[p + RANK] + I[p + COUNT], 0)
    if r != 0:
        for k in range(DTYPE, SHAPE + I[p + RANK]):
            I[r + k] = I[p + k]
        I[out] = ARRAY
        I[out + 1] = r
    return r


def has_holes(I: Words, p: int) -> int:
    """1 if there is a ZERO among the elements, else 0."""
    at = items(I, p)
    for k in range(I[p + COUNT]):
        if I[at + k] == ZERO_BITS:
            return 1
    return 0


def pairs(I: Words, F: Doubles, op: int, x: int, y: int, out: int) -> int:
    """A row of BY_PAIRS of two arrays of one shape, or of an array and a number."""
    p, q = whole(I, x), whole(I, y)
    if (p == 0 and (q == 0 or (I[x] != REAL and I[x] != INT))) or (q == 0 and I[y] != REAL and I[y] != INT):
        return SERVICE
    if p != 0 and q != 0 and not alike(I, p, q):
        return SERVICE
    r = like_array(I, p if p != 0 else q, out)
    if r == 0:
        return FULL
    a, b, to = items(I, p), items(I, q), items(I, r)
    u = real(I, F, x) if p == 0 else 0.0
    v = real(I, F, y) if q == 0 else 0.0
    for k in range(I[r + COUNT]):
        F[to + k] = pair(op, F[a + k] if p != 0 else u, F[b + k] if q != 0 else v)
    return RUNNING


def negated(I: Words, F: Doubles, x: int, out: int) -> int:
    """Each element with the other sign."""
    p = whole(I, x)
    if p == 0:
        return SERVICE
    r = like_array(I, p, out)
    if r == 0:
        return FULL
    at, to = items(I, p), items(I, r)
    for k in range(I[p + COUNT]):
        F[to + k] = -F[at + k]
    return RUNNING


def total(I: Words, F: Doubles, x: int, out: int) -> int:
    """The sum of all elements, from the left; of none, the host says what it is."""
    p = whole(I, x)
    if p == 0 or I[p + COUNT] == 0:
        return SERVICE
    at = items(I, p)
    found = F[at]
    for k in range(1, I[p + COUNT]):
        found = found + F[at + k]
    I[out] = REAL
    F[out + 1] = found
    return RUNNING


def reduce_sum(I: Words, F: Doubles, x: int, y: int, z: int, out: int) -> int:
    """The sum over all axes, as a number."""
    return total(I, F, x, out) if I[y] == UNIT and I[z] == BOOL and I[z + 1] == 0 else SERVICE


def ndim(I: Words, F: Doubles, x: int, out: int) -> int:
    """How many axes an array has."""
    if I[x] != ARRAY and I[x] != SPARSE:
        return SERVICE
    I[out] = INT
    I[out + 1] = I[I[x + 1] + RANK]
    return RUNNING


def shape(I: Words, F: Doubles, x: int, out: int) -> int:
    """The sizes of the axes of an array, as a tuple."""
    if I[x] != ARRAY and I[x] != SPARSE:
        return SERVICE
    p = I[x + 1]
    n = I[p + RANK]
    r = allocate(I, RAW + 2 * n, n)
    if r == 0:
        return FULL
    for k in range(n):
        I[r + RAW + 2 * k] = INT
        I[r + RAW + 2 * k + 1] = I[p + SHAPE + k]
    I[out] = TUPLE
    I[out + 1] = r
    return RUNNING


BASIC = (of_reals, array_at, few, whole, alike, items, like_array, has_holes)
"""What `structural` and the functions below use."""
PARTS = (pairs, negated, total)
UNARY = {"ndim": ndim, "shape": shape}
TERNARY = {"reduce_sum": reduce_sum}
