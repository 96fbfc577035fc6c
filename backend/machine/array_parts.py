"""
The machine's functions on parts of arrays that lie in one piece, in the language of generated code: as in `structural`, with the
same answers.

An element, a row, rows that follow one another, and the same of a row: what an index of integers names, of which the last may be a
slice of steps of 1. Other indices are the host's. A part is read, is given other elements, has a sensitivity alone (`inject`), and
loses it. An array that is much larger than the part is not copied when that is given others (`sparse_arrays`).
"""

from __future__ import annotations

from backend.machine.layout import (
    ARRAY,
    BOOL,
    BOOLEANS,
    COUNT,
    DEAR,
    DOUBLES,
    DTYPE,
    EXACT,
    FEW,
    FULL,
    GROWN,
    HOLED,
    HP,
    INT,
    INTEGERS,
    LIMIT,
    LISTED,
    OVER,
    RANK,
    REAL,
    RECORD,
    RUNNING,
    SERVICE,
    SHAPE,
    SHORT,
    SINGLES,
    SIZE,
    SLICE,
    SPARSE,
    TUPLE,
    VALUES,
    WANTED,
    ZERO,
    ZERO_BITS,
)
from backend.machine.slices import count_of_slice, first_of_slice, step_of
from backend.machine.small_arrays import alike, array_at, has_holes, items, like_array
from backend.machine.sparse_arrays import new_sparse, read, with_entries, written_out
from backend.machine.structural import Doubles, Words, allocate, copy, element, values


def piece(I: Words, p: int, y: int) -> int:
    """
    A new array, still without room for elements, of the shape of what the index at y names of the array p, if that is one piece; in
    the place of HOLED, how many elements lie before it. 0 without room, -1 for another index, or one that is outside.
    """
    v = values(I, I[y + 1]) if I[y] == TUPLE else y
    n, rank = I[I[y + 1] + VALUES] if I[y] == TUPLE else 1, I[p + RANK]
    if n == 0 or n > rank:
        return -1
    last = v + 2 * (n - 1)
    integers = n - 1 if I[last] == SLICE else n
    before, count = 0, I[p + COUNT]
    for k in range(integers):
        i, size = I[v + 2 * k + 1], I[p + SHAPE + k]
        if I[v + 2 * k] != INT or i < -size or i >= size:
            return -1
        count = count // size
        before += count * (i + size if i < 0 else i)
    rows = 0
    if integers < n:
        size = I[p + SHAPE + integers]
        if size == 0 or step_of(I, last) != 1:
            return -1
        rows = count_of_slice(I, last, size, 1)
        count = count // size
        before += count * first_of_slice(I, last, size, 1)
        count = count * rows
    r = allocate(I, SHAPE + rank - integers, 0)
    if r == 0:
        return 0
    I[r + DTYPE] = I[p + DTYPE]
    I[r + HOLED] = before
    I[r + RANK] = rank - integers
    I[r + COUNT] = count
    for k in range(integers, rank):
        I[r + SHAPE + k - integers] = I[p + SHAPE + k]
    if integers < n:
        I[r + SHAPE] = rows
    return r


def with_room(I: Words, r: int) -> int:
    """1 if the newest object, an array, has room for its elements now; 0 without room."""
    n = I[r + COUNT]
    if I[HP] + n > I[LIMIT]:
        I[WANTED] = I[r + SIZE] + n
        return 0
    I[HP] += n
    I[r + SIZE] += n
    return 1


def part_of_array(I: Words, x: int, y: int, out: int) -> int:
    """What the index at y names of an array, or of the sensitivity of one."""
    p = I[x + 1]
    r = piece(I, p, y)
    if r <= 0:
        return FULL if r == 0 else SERVICE
    if I[r + RANK] == 0 and I[p + DTYPE] == SINGLES:
        return SERVICE
    n, before = I[r + COUNT], I[r + HOLED]
    if with_room(I, r) == 0 or read(I, x, before, n, items(I, r)) == 0:
        return FULL
    I[r + HOLED] = has_holes(I, r) if I[p + HOLED] != 0 else 0
    if I[r + RANK] == 0:
        element(I, r, SHAPE, out)
        return RUNNING
    I[out] = ARRAY
    I[out + 1] = r
    return RUNNING


def fits(I: Words, r: int, z: int) -> bool:
    """Whether the value at z can be written to the part r as it is, or as a real that it is exactly."""
    dtype = I[r + DTYPE]
    if I[z] == ZERO:
        return dtype == DOUBLES
    if I[z] == ARRAY:
        return I[I[z + 1] + DTYPE] == dtype and alike(I, r, I[z + 1])
    if I[z] == INT and dtype == DOUBLES:
        return -EXACT <= I[z + 1] <= EXACT
    return I[z] == (REAL if dtype == DOUBLES else INT if dtype == INTEGERS else BOOL)


def write(I: Words, F: Doubles, r: int, z: int, to: int, step: int) -> None:
    """The value at z, which fits the part r, written to as many words as that has elements, `step` apart."""
    at = items(I, I[z + 1]) if I[z] == ARRAY else 0
    for k in range(I[r + COUNT]):
        if at != 0:
            I[to + k * step] = I[at + k]
        elif I[z] == ZERO:
            I[to + k * step] = ZERO_BITS
        elif I[z] == INT and I[r + DTYPE] == DOUBLES:
            F[to + k * step] = float(I[z + 1])
        else:
            I[to + k * step] = I[z + 1]


def has_zeros(I: Words, z: int) -> bool:
    """Whether the value at z may have ZEROs."""
    return I[z] == ZERO or (I[z] == ARRAY and I[I[z + 1] + HOLED] != 0)


def entries_of(I: Words, F: Doubles, p: int, r: int, z: int) -> int:
    """The value at z as entries of the array p, at the places of its part r; 0 without room."""
    n = I[r + COUNT]
    q = new_sparse(I, p, 2 + 2 * n, 0)
    if q == 0:
        return 0
    at = items(I, q)
    I[at] = n
    I[at + 1] = n
    for k in range(n):
        I[at + 2 + 2 * k] = I[r + HOLED] + k
    write(I, F, r, z, at + 3, 2)
    I[q + HOLED] = 1 if has_zeros(I, z) else 0
    return q


def is_better_left(I: Words, p: int, r: int) -> bool:
    """Whether the array p is so much larger than its part r that what becomes of that is cheaper said than written out."""
    n = I[p + COUNT]
    return n > 2 * I[r + COUNT] if n > I[FEW] else n > SHORT + DEAR * I[r + COUNT]


def put_part(I: Words, F: Doubles, x: int, y: int, z: int, out: int) -> int:
    """The array, or the sensitivity of one, with the value at z for what the index at y names."""
    if I[x] != ARRAY and I[x] != SPARSE:
        return SERVICE
    p = I[x + 1]
    if I[p + DTYPE] != DOUBLES and I[p + DTYPE] != INTEGERS and I[p + DTYPE] != BOOLEANS:
        return SERVICE
    r = piece(I, p, y)
    if r <= 0:
        return FULL if r == 0 else SERVICE
    if not fits(I, r, z):
        return SERVICE
    if is_better_left(I, p, r):
        q = entries_of(I, F, p, r, z)
        return with_entries(I, F, x, q, OVER, out) if q != 0 else FULL
    a = written_out(I, x)
    if a == 0:
        return FULL
    I[out] = ARRAY
    I[out + 1] = a
    write(I, F, r, z, items(I, a) + I[r + HOLED], 1)
    I[a + HOLED] = has_holes(I, a) if I[p + HOLED] != 0 or has_zeros(I, z) else 0
    return RUNNING


def inject_part(I: Words, F: Doubles, x: int, y: int, z: int, out: int) -> int:
    """The sensitivity of an array of f64 of which only what the index at y names has one."""
    p = array_at(I, x)
    if p == 0 or I[p + RANK] == 0 or (I[z] != REAL and I[z] != ARRAY):
        return SERVICE
    r = piece(I, p, y)
    if r <= 0:
        return FULL if r == 0 else SERVICE
    if (I[z] == REAL and I[r + RANK] != 0) or not fits(I, r, z):
        return SERVICE
    if is_better_left(I, p, r):
        q = entries_of(I, F, p, r, z)
        if q == 0:
            return FULL
        I[q + HOLED] = 1
        I[out] = SPARSE
        I[out + 1] = q
        return RUNNING
    a = like_array(I, p, out)
    if a == 0:
        return FULL
    to = items(I, a)
    for k in range(I[p + COUNT]):
        I[to + k] = ZERO_BITS
    write(I, F, r, z, to + I[r + HOLED], 1)
    I[a + HOLED] = has_holes(I, a)
    return RUNNING


def final(I: Words, F: Doubles, x: int, y: int, out: int) -> int:
    """That what is written to a part stays there: a boolean, or of an array as many as the part has elements."""
    I[out] = BOOL
    I[out + 1] = 1
    if I[x] == TUPLE or I[x] == RECORD or I[x] == GROWN or (I[x] == SPARSE and I[I[x + 1] + DTYPE] == LISTED):
        return RUNNING
    if I[x] != ARRAY and I[x] != SPARSE:
        return SERVICE
    r = piece(I, I[x + 1], y)
    if r <= 0:
        return FULL if r == 0 else SERVICE
    if I[r + RANK] == 0:
        return RUNNING
    if with_room(I, r) == 0:
        return FULL
    I[r + DTYPE] = BOOLEANS
    I[r + HOLED] = 0
    for k in range(I[r + COUNT]):
        I[items(I, r) + k] = 1
    I[out] = ARRAY
    I[out + 1] = r
    return RUNNING


def keep(I: Words, F: Doubles, x: int, y: int, out: int) -> int:
    """A sensitivity if the boolean is True, else ZERO; of an array, the elements for which they are."""
    if I[y] == BOOL:
        if I[y + 1] != 0:
            return copy(I, x, out)
        I[out] = ZERO
        I[out + 1] = 0
        return RUNNING
    if I[x] != ARRAY or I[y] != ARRAY or I[I[x + 1] + DTYPE] != DOUBLES or I[I[y + 1] + DTYPE] != BOOLEANS:
        return SERVICE
    p, q, all_there = I[x + 1], I[y + 1], 1
    if I[p + COUNT] != I[q + COUNT]:
        return SERVICE
    for k in range(I[q + COUNT]):
        all_there = all_there & I[items(I, q) + k]
    if all_there != 0:
        return copy(I, x, out)
    r = like_array(I, p, out)
    if r == 0:
        return FULL
    for k in range(I[p + COUNT]):
        I[items(I, r) + k] = I[items(I, p) + k] if I[items(I, q) + k] != 0 else ZERO_BITS
    I[r + HOLED] = 1
    return RUNNING


PARTS = (with_room, fits, write, has_zeros, is_better_left)
CALLED = (piece, part_of_array, entries_of, put_part, inject_part)
"""What these use, in an order in which each is defined before it is used; and what is long, and called from several places."""
BINARY = {"final": final, "keep": keep}
