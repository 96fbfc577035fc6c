"""
The machine's functions on memories of few cells, their pointers and their sensitivities, in the language of generated code: as in
`structural`, with the same answers. What they mean is said in `semantics.columns.arrays.memory`.

    MEMORY     what each cell holds, in the order of the addresses
    POINTER    the home, the address, and the indices of its path as values
    CELLS      the sensitivity of the first cells, ZERO where a cell has none; of the others there is none
"""

from __future__ import annotations

from typing import Any

from backend.machine.array_parts import put_part
from backend.machine.growing_lists import new_elements
from backend.machine.layout import (
    CELLS,
    FEW_CELLS,
    FULL,
    GROWN,
    INT,
    MEMORY,
    POINTER,
    RAW,
    RECORD,
    RUNNING,
    SERVICE,
    SIZE,
    TUPLE,
    VALUES,
    ZERO,
)
from backend.machine.list_sensitivities import put_in_list
from backend.machine.sparse_lists import is_listed
from backend.machine.structural import Doubles, Words, allocate, copy, values

getitem: Any
"""The function of that opcode, in `structural`."""

inject: Any
"""The function of that opcode, in `sensitivities`, which comes after this module."""


def put(I: Words, F: Doubles, x: int, y: int, z: int, out: int) -> int:
    """The array, tuple, record or sensitivity of one at x with the value at z in the place of element i."""
    if I[x] == TUPLE or I[x] == RECORD or I[x] == GROWN or is_listed(I, x):
        return put_in_list(I, F, x, y, z, out)
    return put_part(I, F, x, y, z, out)


def nothing(I: Words, out: int) -> int:
    """ZERO, at out."""
    I[out] = ZERO
    I[out + 1] = 0
    return RUNNING


def memory(I: Words, F: Doubles, x: int, out: int) -> int:
    """A memory without cells."""
    if I[x] != INT:
        return SERVICE
    r = allocate(I, RAW + 1, 0)
    if r == 0:
        return FULL
    I[r + RAW] = I[x + 1]
    I[out] = MEMORY
    I[out + 1] = r
    return RUNNING


def new_memory(I: Words, p: int, n: int) -> int:
    """A memory of n cells with what the memory p holds; 0 without room."""
    r = allocate(I, RAW + 1 + 2 * n, n)
    if r != 0:
        for k in range(RAW, I[p + SIZE]):
            I[r + k] = I[p + k]
    return r


def alloc(I: Words, F: Doubles, x: int, y: int, out: int) -> int:
    """The memory with one more cell, and the pointer to it."""
    if I[x] != MEMORY or I[I[x + 1] + VALUES] == FEW_CELLS:
        return SERVICE
    p, n = I[x + 1], I[I[x + 1] + VALUES]
    m = new_memory(I, p, n + 1)
    q = allocate(I, RAW + 2, 0) if m != 0 else 0
    r = new_elements(I, 2, MEMORY) if q != 0 else 0
    if r == 0:
        return FULL
    copy(I, y, m + RAW + 1 + 2 * n)
    I[q + RAW] = I[p + RAW]
    I[q + RAW + 1] = n
    I[r + RAW + 1] = m
    I[r + RAW + 2] = POINTER
    I[r + RAW + 3] = q
    I[out] = TUPLE
    I[out + 1] = r
    return RUNNING


def lea(I: Words, F: Doubles, x: int, y: int, out: int) -> int:
    """The pointer to element i of what the pointer at x points to."""
    if I[x] != POINTER or (I[y] != INT and I[y] != TUPLE):
        return SERVICE
    if I[y] == TUPLE:
        v = values(I, I[y + 1])
        for k in range(v, v + 2 * I[I[y + 1] + VALUES], 2):
            if I[k] != INT:
                return SERVICE
    p = I[x + 1]
    size, n = I[p + SIZE], I[p + VALUES]
    r = allocate(I, size + 2, n + 1)
    if r == 0:
        return FULL
    for k in range(RAW, size):
        I[r + k] = I[p + k]
    copy(I, y, r + size)
    I[out] = POINTER
    I[out + 1] = r
    return RUNNING


def points(I: Words, x: int, y: int) -> bool:
    """Whether at x there is a memory, and at y a pointer to one of its cells."""
    if I[x] != MEMORY or I[y] != POINTER:
        return False
    p, q = I[x + 1], I[y + 1]
    return I[p + RAW] == I[q + RAW] and 0 <= I[q + RAW + 1] < I[p + VALUES]


def inside(I: Words, F: Doubles, x: int, q: int, n: int, out: int) -> int:
    """The part of the value at x to which the first n indices of the pointer q lead."""
    copy(I, x, out)
    v = values(I, q)
    for k in range(v, v + 2 * n, 2):
        status = getitem(I, F, out, k, out)
        if status != RUNNING:
            return status
    return RUNNING


def put_inside(I: Words, F: Doubles, x: int, q: int, z: int, to: int, out: int) -> int:
    """The value at x with that at z where the pointer q leads, at `to`, which is another place. What is at out is lost."""
    copy(I, z, to)
    v = values(I, q)
    for k in range(I[q + VALUES] - 1, -1, -1):
        status = inside(I, F, x, q, k, out)
        if status == RUNNING and (I[out] != ZERO or I[to] != ZERO):
            status = put(I, F, out, v + 2 * k, to, out)
        if status != RUNNING:
            return status
        copy(I, out, to)
    return RUNNING


def load(I: Words, F: Doubles, x: int, y: int, out: int) -> int:
    """What the pointer at y points to."""
    if not points(I, x, y):
        return SERVICE
    q = I[y + 1]
    return inside(I, F, values(I, I[x + 1]) + 2 * I[q + RAW + 1], q, I[q + VALUES], out)


def store(I: Words, F: Doubles, x: int, y: int, z: int, out: int) -> int:
    """The memory in which the pointer at y points to the value at z."""
    if not points(I, x, y):
        return SERVICE
    p, q = I[x + 1], I[y + 1]
    r = new_memory(I, p, I[p + VALUES])
    if r == 0:
        return FULL
    place = 2 * I[q + RAW + 1]
    status = put_inside(I, F, values(I, p) + place, q, z, values(I, r) + place, out)
    I[out] = MEMORY
    I[out + 1] = r
    return status


def has_cell(I: Words, x: int, y: int) -> bool:
    """Whether the sensitivity at x has something in the cell of the pointer at y."""
    p, i = I[x + 1], I[I[y + 1] + RAW + 1]
    return i < I[p + VALUES] and I[values(I, p) + 2 * i] != ZERO


def cell(I: Words, F: Doubles, x: int, y: int, out: int) -> int:
    """The sensitivity, in that of a memory, of what the pointer at y points to."""
    if I[x] == ZERO:
        return nothing(I, out)
    if I[x] != CELLS or I[y] != POINTER:
        return SERVICE
    q = I[y + 1]
    if not has_cell(I, x, y):
        return nothing(I, out)
    return inside(I, F, values(I, I[x + 1]) + 2 * I[q + RAW + 1], q, I[q + VALUES], out)


def cell_alone(I: Words, F: Doubles, x: int, y: int, z: int, out: int) -> int:
    """The sensitivity of the memory at x, or of its sensitivity, of which only what the pointer at y points to has one."""
    if I[x] == ZERO or I[z] == ZERO:
        return nothing(I, out)
    if (I[x] != MEMORY and I[x] != CELLS) or I[y] != POINTER:
        return SERVICE
    if not has_cell(I, x, y):
        return nothing(I, out)
    q = I[y + 1]
    i, v = I[q + RAW + 1], values(I, q)
    r = new_elements(I, i + 1, ZERO)
    if r == 0:
        return FULL
    to = values(I, r) + 2 * i
    copy(I, z, to)
    for k in range(I[q + VALUES] - 1, -1, -1):
        status = inside(I, F, values(I, I[x + 1]) + 2 * i, q, k, out)
        if status == RUNNING:
            status = inject(I, F, out, v + 2 * k, to, out)
        if status != RUNNING:
            return status
        copy(I, out, to)
    if I[to] == ZERO:
        return nothing(I, out)
    I[out] = CELLS
    I[out + 1] = r
    return RUNNING


def longer(I: Words, p: int, n: int) -> int:
    """The sensitivity p of a memory as one of n cells, which are not fewer; 0 without room."""
    r = new_elements(I, n, ZERO)
    if r != 0:
        for k in range(2 * I[p + VALUES]):
            I[r + RAW + k] = I[values(I, p) + k]
    return r


def cell_cleared(I: Words, F: Doubles, x: int, y: int, out: int) -> int:
    """The sensitivity of a memory without that of what the pointer at y points to."""
    if I[x] == ZERO:
        return nothing(I, out)
    if I[x] != CELLS or I[y] != POINTER:
        return SERVICE
    if not has_cell(I, x, y):
        return copy(I, x, out)
    p, q = I[x + 1], I[y + 1]
    none = new_elements(I, 1, ZERO)
    r = longer(I, p, I[p + VALUES]) if none != 0 else 0
    if r == 0:
        return FULL
    place = 2 * I[q + RAW + 1]
    status = put_inside(I, F, values(I, p) + place, q, none + RAW, values(I, r) + place, out)
    I[out] = CELLS
    I[out + 1] = r
    return status


PARTS = (nothing, new_memory, points, has_cell, longer)
CALLED = (put, inside, put_inside)
"""What these use, in an order in which each is defined before it is used; and what is long, and called from several places."""
UNARY = {"memory": memory}
BINARY = {"alloc": alloc, "load": load, "lea": lea, "cell": cell, "cell_cleared": cell_cleared}
TERNARY = {"put": put, "store": store, "cell_alone": cell_alone}
