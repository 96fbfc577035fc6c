"""
The machine's functions on structured values, in the language of generated code: plain Python that a JIT can type.

Each is the source of an opcode or of a part of the loop. An opcode is given the addresses of its operands and of its result, and
answers RUNNING; SERVICE where the host has to look, because the arguments are of another kind or wrong; or FULL where the heap has
no room, and then nothing has been changed that counts, so it can be done again.
"""

from __future__ import annotations

from collections.abc import MutableSequence
from typing import Any

from backend.machine.layout import (
    ARRAY,
    BOOL,
    DTYPE,
    FULL,
    GROWN,
    HOLED,
    HP,
    INT,
    LIMIT,
    LIST_LABEL,
    OPAQUE,
    PRIM,
    RANK,
    RAW,
    REAL,
    RECORD,
    RUNNING,
    SERVICE,
    SHAPE,
    SINGLES,
    SIZE,
    SLICE,
    SMALL,
    SPARSE,
    TUPLE,
    VALUES,
    WANTED,
    ZERO,
    ZERO_BITS,
)

part_of_array: Any
"""In `array_parts`."""

grown: Any
is_current: Any
element_of_list: Any
"""In `growing_lists`."""

is_listed: Any
"""In `sparse_lists`."""

part_of_list: Any
"""In `list_sensitivities`."""

slice_of_list: Any
"""In `list_slices`."""

_order: Any
"""The helper of that name in `backend.prelude`: how an integer compares with a real."""

Words = MutableSequence[int]  # a memoryview, a NumPy array, or a part of global memory
Doubles = MutableSequence[float]


def operand(C: Words, at: int, fp: int) -> int:
    """The address of the operand that the word at `at` names."""
    place = C[at]
    return place + fp if place >= 0 else -place


def copy(I: Words, x: int, out: int) -> int:
    """The value at x, at out."""
    I[out] = I[x]
    I[out + 1] = I[x + 1]
    return RUNNING


def real(I: Words, F: Doubles, x: int) -> float:
    """The number at x as a real."""
    return F[x + 1] if I[x] == REAL else float(I[x + 1])


def allocate(I: Words, words: int, values: int) -> int:
    """The address of a new object; 0 if there is no room."""
    p = I[HP]
    if p + words > I[LIMIT]:
        I[WANTED] = words
        return 0
    I[HP] = p + words
    I[p + SIZE] = words
    I[p + VALUES] = values
    return p


def values(I: Words, p: int) -> int:
    """Where the values of the object at p begin: they are its end."""
    return p + I[p + SIZE] - 2 * I[p + VALUES]


def switch(I: Words, F: Doubles, x: int, y: int, z: int, out: int) -> int:
    """The consequent if the condition is True, the alternative if it is False."""
    if I[x] != BOOL:
        return SERVICE
    return copy(I, y, out) if I[x + 1] != 0 else copy(I, z, out)


def where(I: Words, F: Doubles, x: int, y: int, z: int, out: int) -> int:
    """The same of numbers and booleans of one kind; a ZERO is of any."""
    if I[x] != BOOL or I[y] < REAL or I[y] > ZERO or I[z] < REAL or I[z] > ZERO:
        return SERVICE
    if I[y] != I[z] and I[y] != ZERO and I[z] != ZERO:
        return SERVICE
    return copy(I, y, out) if I[x + 1] != 0 else copy(I, z, out)


def build(I: Words, C: Words, at: int, n: int, fp: int, tag: int, raws: int, raw: int, out: int) -> int:
    """A new object of n operands, with a raw word before them if `raws` is 1."""
    p = allocate(I, RAW + raws + 2 * n, n)
    if p == 0:
        return FULL
    if raws != 0:
        I[p + RAW] = raw
    to = p + RAW + raws
    for k in range(n):
        copy(I, operand(C, at + k, fp), to + 2 * k)
    I[out] = tag
    I[out + 1] = p
    return RUNNING


def make_tuple(I: Words, F: Doubles, C: Words, at: int, n: int, fp: int, out: int) -> int:
    """A new tuple of the operands."""
    return build(I, C, at, n, fp, TUPLE, 0, 0, out)


def make_record(I: Words, F: Doubles, C: Words, at: int, n: int, fp: int, out: int) -> int:
    """A new record: the label is the first operand."""
    label = operand(C, at, fp)
    return SERVICE if n == 0 or I[label] != OPAQUE else build(I, C, at + 1, n - 1, fp, RECORD, 1, I[label + 1], out)


def is_sequence(I: Words, x: int) -> bool:
    """Whether the value at x is a tuple or a list."""
    return I[x] == TUPLE or I[x] == GROWN or (I[x] == RECORD and I[I[x + 1] + RAW] == LIST_LABEL)


def count_of(I: Words, x: int) -> int:
    """How many elements the tuple or list at x has."""
    return I[I[x + 1] + RAW] if I[x] == GROWN else I[I[x + 1] + VALUES]


def first_of(I: Words, x: int) -> int:
    """Where they begin; of a list that is not current, where those of the list that is."""
    p = I[x + 1]
    return values(I, I[values(I, p) + 1]) if I[x] == GROWN else values(I, p)


def getitem(I: Words, F: Doubles, x: int, y: int, out: int) -> int:
    """Element i of a tuple or of a list, or a part of a list or of an array; the host knows the other sequences and indices."""
    if I[x] == ZERO:
        return copy(I, x, out)
    p = I[x + 1]
    if I[x] == ARRAY or (I[x] == SPARSE and not is_listed(I, x)):
        if I[x] == ARRAY and I[y] == INT and I[p + RANK] == 1 and I[p + DTYPE] != SINGLES:
            i = I[y + 1] + I[p + SHAPE] if I[y + 1] < 0 else I[y + 1]
            if i < 0 or i >= I[p + SHAPE]:
                return SERVICE
            element(I, p, SHAPE + 1 + i, out)
            return RUNNING
        return part_of_array(I, x, y, out)
    if not is_sequence(I, x) and I[x] != SPARSE:
        return SERVICE
    if I[y] != INT:
        return slice_of_list(I, x, y, out) if I[y] == SLICE else SERVICE
    n = I[p + SHAPE] if I[x] == SPARSE else count_of(I, x)
    i = I[y + 1] + n if I[y + 1] < 0 else I[y + 1]
    if i < 0 or i >= n:
        return SERVICE
    if I[x] == SPARSE:
        return part_of_list(I, x, i, out)
    return element_of_list(I, x, i, out) if I[x] == GROWN else copy(I, values(I, p) + 2 * i, out)


def element(I: Words, p: int, at: int, out: int) -> None:
    """The element of the array p that lies `at` words behind its address, as a scalar at out."""
    dtype = I[p + DTYPE]
    I[out] = ZERO if I[p + HOLED] != 0 and I[p + at] == ZERO_BITS else BOOL if dtype == 0 else INT if dtype == 1 else REAL
    I[out + 1] = I[p + at]


def length(I: Words, F: Doubles, x: int, out: int) -> int:
    """How many elements a tuple or a list has, or the first axis of an array."""
    p = I[x + 1]
    if is_sequence(I, x):
        n = count_of(I, x)
    elif (I[x] == ARRAY or I[x] == SPARSE) and I[p + RANK] > 0:
        n = I[p + SHAPE]
    else:
        return SERVICE
    I[out] = INT
    I[out + 1] = n
    return RUNNING


def of_length(I: Words, F: Doubles, x: int, y: int, out: int) -> int:
    """The tuple or list itself, if it has so many elements."""
    if not is_sequence(I, x) or I[y] != INT or count_of(I, x) != I[y + 1]:
        return SERVICE
    return copy(I, x, out)


def extended(I: Words, x: int, source: int, n: int, out: int) -> int:
    """The tuple or list at x with the n values from `source` on behind its own."""
    if I[x] == GROWN or (I[x] == RECORD and count_of(I, x) + n > SMALL):
        return grown(I, x, source, n, out)
    p = I[x + 1]
    size = I[p + SIZE]
    r = allocate(I, size + 2 * n, I[p + VALUES] + n)
    if r == 0:
        return FULL
    for k in range(RAW, size):
        I[r + k] = I[p + k]
    for k in range(2 * n):
        I[r + size + k] = I[source + k]
    I[out] = I[x]
    I[out + 1] = r
    return RUNNING


def concat(I: Words, F: Doubles, x: int, y: int, out: int) -> int:
    """The elements of a tuple or list and then those of another."""
    if not is_sequence(I, x) or not is_sequence(I, y) or not is_current(I, y):
        return SERVICE
    return extended(I, x, first_of(I, y), count_of(I, y), out)


def append(I: Words, F: Doubles, x: int, y: int, out: int) -> int:
    """The tuple or list with one more element."""
    return extended(I, x, y, 1, out) if is_sequence(I, x) else SERVICE


def place_in(I: Words, F: Doubles, x: int, y: int, out: int) -> int:
    """An index that is no key stays as it is."""
    return SERVICE if I[y] == OPAQUE else copy(I, y, out)


def iterated(I: Words, F: Doubles, x: int, out: int) -> int:
    """What is no dictionary is gone over itself."""
    return SERVICE if I[x] == RECORD and not is_sequence(I, x) else copy(I, x, out)


def identity(I: Words, F: Doubles, x: int, out: int) -> int:
    """`apart` of a number."""
    return SERVICE if I[x] == PRIM or I[x] >= OPAQUE else copy(I, x, out)


def image(I: Words, F: Doubles, x: int, out: int) -> int:
    """J of a number or an array."""
    return SERVICE if I[x] == PRIM or (I[x] >= OPAQUE and I[x] != ARRAY and I[x] != SPARSE) else copy(I, x, out)


def compared(I: Words, F: Doubles, x: int, y: int) -> int:
    """1, 2, 4 or 8: whether <, ==, > or none of them holds of two numbers or booleans, exactly; 0 if they are something else."""
    if I[x] == REAL and I[y] == REAL:
        a, b = F[x + 1], F[y + 1]
        return 1 if a < b else 2 if a == b else 4 if a > b else 8
    if I[x] == I[y] and (I[x] == INT or I[x] == BOOL):
        return 1 if I[x + 1] < I[y + 1] else 2 if I[x + 1] == I[y + 1] else 4
    if I[x] == INT and I[y] == REAL:
        found = _order(I[x + 1], F[y + 1])
        return 8 if found == 2 else 1 if found < 0 else 2 if found == 0 else 4
    if I[x] == REAL and I[y] == INT:
        found = _order(I[y + 1], F[x + 1])
        return 8 if found == 2 else 4 if found < 0 else 2 if found == 0 else 1
    return 0


PARTS = (operand, copy, real, allocate, values, build, is_sequence, count_of, first_of, element, extended, compared)
"""What the opcodes below use, in an order in which each is defined before it is used."""

VARIADIC = {"make_tuple": make_tuple, "make_record": make_record}
UNARY = {"length": length, "iterated": iterated, "J": image, "apart": identity}
BINARY = {
    "getitem": getitem,
    "of_length": of_length,
    "concat": concat,
    "append": append,
    "place_in": place_in,
}
TERNARY = {"switch": switch, "where": where}
