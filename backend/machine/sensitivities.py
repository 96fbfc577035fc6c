"""
The machine's functions on sensitivities, in the language of generated code: as in `structural`, with the same answers.

What only a part of a tuple has is, for a small tuple, a tuple of ZEROs but there; for a larger one it is sparse (`sparse_lists`).
Both are the same sensitivity.
"""

from __future__ import annotations

from backend.machine.array_parts import inject_part
from backend.machine.layout import (
    ARRAY,
    BOOL,
    CELLS,
    COUNT,
    FULL,
    GROWN,
    HP,
    INT,
    RAW,
    REAL,
    RECORD,
    RUNNING,
    SERVICE,
    SIZE,
    SLICE,
    SMALL,
    SPARSE,
    TO_ADD,
    TUPLE,
    UNIT,
    VALUES,
    ZERO,
)
from backend.machine.list_sensitivities import add_lists
from backend.machine.list_slices import inject_slice
from backend.machine.memory_cells import longer
from backend.machine.small_arrays import total
from backend.machine.small_sensitivities import add_arrays, instantiate_array, like
from backend.machine.sparse_arrays import add_sparse
from backend.machine.sparse_lists import is_listed, new_entry
from backend.machine.structural import Doubles, Words, allocate, copy, count_of, values


def seed(I: Words, F: Doubles, x: int, out: int) -> int:
    """1.0, if the result to be differentiated is a real."""
    if I[x] != REAL:
        return SERVICE
    I[out] = REAL
    F[out + 1] = 1.0
    return RUNNING


def instantiate(I: Words, F: Doubles, x: int, y: int, out: int) -> int:
    """The sensitivity of a number or an array as a plain value: reals, or unit."""
    if I[y] == REAL:
        if I[x] == REAL:
            return copy(I, x, out)
        if I[x] != ZERO:
            return SERVICE
        I[out] = REAL
        F[out + 1] = 0.0
        return RUNNING
    if I[y] == ARRAY or (I[y] == SPARSE and not is_listed(I, y)):
        return instantiate_array(I, F, x, y, out)
    if I[y] != INT and I[y] != BOOL and I[y] != UNIT:
        return SERVICE
    I[out] = UNIT
    I[out + 1] = 0
    return RUNNING


def inject(I: Words, F: Doubles, x: int, y: int, z: int, out: int) -> int:
    """The sensitivity of a tuple, record or array of which only element i has one."""
    if I[x] == ZERO or I[z] == ZERO:
        I[out] = ZERO
        I[out + 1] = 0
        return RUNNING
    if I[x] == ARRAY or (I[x] == SPARSE and not is_listed(I, x)):
        return inject_part(I, F, x, y, z, out)
    if I[y] == SLICE:
        return inject_slice(I, x, y, z, out)
    if (I[x] != TUPLE and I[x] != RECORD and I[x] != GROWN and not is_listed(I, x)) or I[y] != INT:
        return SERVICE
    n = I[I[x + 1] + COUNT] if I[x] == SPARSE else count_of(I, x)
    if n == 0 or I[y + 1] < -n or I[y + 1] >= n:
        return SERVICE
    if n > SMALL:
        r = new_entry(I, n, I[y + 1] if I[y + 1] >= 0 else I[y + 1] + n, z)
        I[out] = SPARSE
        I[out + 1] = r
        return RUNNING if r != 0 else FULL
    p = allocate(I, RAW + 2 * n, n)
    if p == 0:
        return FULL
    for k in range(n):
        I[p + RAW + 2 * k] = ZERO
        I[p + RAW + 2 * k + 1] = 0
    copy(I, z, p + RAW + 2 * (I[y + 1] if I[y + 1] >= 0 else I[y + 1] + n))
    I[out] = TUPLE
    I[out + 1] = p
    return RUNNING


def gadd(I: Words, F: Doubles, x: int, y: int, out: int) -> int:
    """
    The sum of two sensitivities: of reals, of ZEROs, of arrays, and of tuples and cells of these, however deep.

    New objects lie one behind the other, and each tuple says what it is the sum of; so they are themselves the queue of the sums to
    do. So are two values that meet in a list, of which the sum goes to the place of one of them. Of an array the sum is there at
    once. A sparse sum may have been changed by the time that there is no room for others: what it was is still known, from objects
    that lie here too, so they stay.
    """
    start = I[HP]
    status = add_values(I, F, x, y, out)
    at = start
    while status == RUNNING and at < I[HP]:
        n = I[at + VALUES] if I[at + SIZE] == RAW + 2 + 2 * I[at + VALUES] else 0
        if I[at + VALUES] == TO_ADD:
            status = add_values(I, F, at + RAW + 1, at + RAW + 3, I[at + RAW])
        for k in range(0, 2 * n, 2):
            status = add_values(I, F, values(I, I[at + RAW]) + k, values(I, I[at + RAW + 1]) + k, values(I, at) + k)
            if status != RUNNING:
                break
        at += I[at + SIZE]
    return status


def add_values(I: Words, F: Doubles, x: int, y: int, out: int) -> int:
    """The sum of two values at out; of two tuples or of cells, an object of unset values that notes what it is the sum of."""
    if I[x] == ZERO:
        return copy(I, y, out)
    if I[y] == ZERO:
        return copy(I, x, out)
    if I[x] == REAL and I[y] == REAL:
        I[out] = REAL
        F[out + 1] = F[x + 1] + F[y + 1]
        return RUNNING
    if I[x] == ARRAY and I[y] == ARRAY:
        return add_arrays(I, F, x, y, out)
    if is_listed(I, x) or is_listed(I, y):
        return add_lists(I, F, x, y, out)
    if I[x] == SPARSE or I[y] == SPARSE:
        return add_sparse(I, F, x, y, out)
    if I[x] != I[y] or (I[x] != TUPLE and I[x] != CELLS):
        return SERVICE
    p, q, tag = I[x + 1], I[y + 1], I[x]
    n, m = I[p + VALUES], I[q + VALUES]
    if n != m:
        if tag == TUPLE:
            return SERVICE
        p = longer(I, p, m) if n < m else p
        q = longer(I, q, n) if m < n else q
        n = max(n, m)
    r = allocate(I, RAW + 2 + 2 * n, n) if p != 0 and q != 0 else 0
    if r == 0:
        return FULL
    I[r + RAW] = p
    I[r + RAW + 1] = q
    for k in range(0, 2 * n, 2):
        I[r + RAW + 2 + k] = UNIT
    I[out] = tag
    I[out + 1] = r
    return RUNNING


def sum_to(I: Words, F: Doubles, x: int, y: int, out: int) -> int:
    """The sensitivity of what nothing repeated is itself, that of a real is the sum of all; of what is no real there is none."""
    if I[x] == ZERO or I[y] == ZERO or I[y] == INT or I[y] == BOOL or I[y] == UNIT:
        I[out] = ZERO
        I[out + 1] = 0
        return RUNNING
    if I[x] == ARRAY and I[y] == REAL:
        return total(I, F, x, out)
    return like(I, F, x, y, out)


PARTS = (add_values,)
UNARY = {"seed": seed}
BINARY = {"instantiate": instantiate, "gadd": gadd, "sum_to": sum_to}
TERNARY = {"inject": inject}
