"""
What opcodes do with the sensitivities of long tuples and lists (`sparse_lists`), in the language of generated code: as in
`structural`, with the same answers.
"""

from __future__ import annotations

from backend.machine.growing_lists import changed_element, new_elements, shorter
from backend.machine.layout import (
    COUNT,
    ENTRIES,
    FULL,
    GROWN,
    HOLED,
    INT,
    RAW,
    RECORD,
    RUNNING,
    SERVICE,
    SIZE,
    SLICE,
    SMALL,
    SPARSE,
    SUM,
    TUPLE,
    UNIT,
    VALUES,
    ZERO,
)
from backend.machine.small_arrays import items
from backend.machine.sparse_lists import (
    begun_list,
    elements_of,
    has_newest,
    is_listed,
    list_with_entries,
    listed_elements,
    met_values,
    new_entry,
    new_listed,
    newest_list,
    older_list,
)
from backend.machine.structural import Doubles, Words, allocate, copy, count_of, is_sequence, values


def add_lists(I: Words, F: Doubles, x: int, y: int, out: int) -> int:
    """The sum of two sensitivities of one tuple or list, of which one at least is sparse."""
    if not (is_listed(I, x) or I[x] == TUPLE) or not (is_listed(I, y) or I[y] == TUPLE):
        return SERVICE
    p, q = I[x + 1], I[y + 1]
    n, m = I[p + VALUES] if I[x] == TUPLE else I[p + COUNT], I[q + VALUES] if I[y] == TUPLE else I[q + COUNT]
    if n != m:
        return SERVICE
    if I[y] == SPARSE and I[q + HOLED] == ENTRIES:
        return list_with_entries(I, F, x, q, 0, out)
    if I[x] == SPARSE and I[p + HOLED] == ENTRIES:
        return list_with_entries(I, F, y, p, 0, out)
    at = elements_of(I, y)
    r = new_listed(I, n, SUM, 2)
    e = listed_elements(I, x, n) if r != 0 else 0
    other = listed_elements(I, y, n) if e != 0 and at == 0 else e
    if other == 0:
        return FULL
    at, to = values(I, other) if at == 0 else at, values(I, e)
    for k in range(0, 2 * n, 2):
        status = met_values(I, F, to + k, at + k, to + k, to + k)
        if status != RUNNING:
            return status
    newest_list(I, r, e, out)
    return RUNNING


def part_of_list(I: Words, x: int, i: int, out: int) -> int:
    """Element i, which is there."""
    p = I[x + 1]
    while I[p + HOLED] == SUM and not has_newest(I, p):
        v = values(I, I[values(I, p) + 3])
        for k in range(v, v + 2 * I[I[values(I, p) + 3] + VALUES], 4):
            if I[k + 1] == i:
                return copy(I, k + 2, out)
        p = I[values(I, p) + 1]
    v = values(I, p)
    if I[p + HOLED] == SUM:
        return copy(I, values(I, I[v + 1]) + 2 * i, out)
    I[out] = ZERO
    I[out + 1] = 0
    for k in range(v, v + 2 * I[p + VALUES], 4):
        if I[k + 1] == i:
            copy(I, k + 2, out)
    return RUNNING


def first_of_list(I: Words, x: int, n: int, out: int) -> int:
    """The sensitivity of the first n elements, which are not more than there are."""
    p = I[x + 1]
    if n == I[p + COUNT]:
        return copy(I, x, out)
    if I[p + HOLED] == SUM:
        if not has_newest(I, p):
            return begun_list(I, x, n, out)
        r = new_listed(I, n, SUM, 2)
        undo = new_listed(I, I[p + COUNT], ENTRIES, 0) if r != 0 else 0
        if undo == 0:
            return FULL
        older_list(I, p, r, undo, out)
        return RUNNING
    v, count = values(I, p), 0
    for k in range(v, v + 2 * I[p + VALUES], 4):
        count += 2 if I[k + 1] < n else 0
    if I[items(I, p)] + 2 * count > n > 0:
        return begun_list(I, x, n, out)
    r = new_listed(I, n, ENTRIES, count)
    if r == 0:
        return FULL
    I[items(I, r)] = I[items(I, p)] + 2 * count
    for k in range(2 * count):
        I[values(I, r) + k] = I[v + k]
    I[out] = SPARSE
    I[out + 1] = r
    return RUNNING


def slice_of_list(I: Words, x: int, y: int, out: int) -> int:
    """The part of a grown list that begins where the list does, or of a list's sensitivity."""
    s = values(I, I[y + 1])
    begins = I[s] == UNIT or I[s + 1] == 0
    if not begins or I[s + 2] != INT or (I[s + 4] != UNIT and I[s + 5] != 1):
        return SERVICE
    n, i = count_of(I, x) if I[x] == GROWN else I[I[x + 1] + COUNT], I[s + 3]
    i = i + n if i < 0 else i
    i = 0 if i < 0 else n if i > n else i
    return shorter(I, x, i, out) if I[x] == GROWN else first_of_list(I, x, i, out)


def make_slice(I: Words, F: Doubles, x: int, y: int, z: int, out: int) -> int:
    """What stands in t[x:y:z]."""
    if (I[x] != UNIT and I[x] != INT) or (I[y] != UNIT and I[y] != INT) or (I[z] != UNIT and (I[z] != INT or I[z + 1] == 0)):
        return SERVICE
    r = new_elements(I, 3, UNIT)
    if r == 0:
        return FULL
    copy(I, x, r + RAW)
    copy(I, y, r + RAW + 2)
    copy(I, z, r + RAW + 4)
    I[out] = SLICE
    I[out + 1] = r
    return RUNNING


def put_in_list(I: Words, F: Doubles, x: int, y: int, z: int, out: int) -> int:
    """The tuple, record or sensitivity of one at x with the value at z in the place of element i."""
    p = I[x + 1]
    n = I[p + COUNT] if I[x] == SPARSE else count_of(I, x)
    if I[y] != INT or I[y + 1] < -n or I[y + 1] >= n:
        return SERVICE
    place = I[y + 1] + n if I[y + 1] < 0 else I[y + 1]
    if I[x] == SPARSE:
        q = new_entry(I, n, place, z)
        return list_with_entries(I, F, x, q, 1, out) if q != 0 else FULL
    if I[x] == GROWN or (I[x] == RECORD and n > SMALL and is_sequence(I, x)):
        return changed_element(I, x, place, z, out)
    size, tag = I[p + SIZE], I[x]
    r = allocate(I, size, n)
    if r == 0:
        return FULL
    for k in range(RAW, size):
        I[r + k] = I[p + k]
    copy(I, z, values(I, r) + 2 * place)
    I[out] = tag
    I[out + 1] = r
    return RUNNING


CALLED = (add_lists, part_of_list, first_of_list, slice_of_list, put_in_list)
TERNARY = {"make_slice": make_slice}
