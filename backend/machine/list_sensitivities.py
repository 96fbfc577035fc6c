"""
What opcodes do with the sensitivities of long tuples and lists (`sparse_lists`), in the language of generated code: as in
`structural`, with the same answers.
"""

from __future__ import annotations

from backend.machine.growing_lists import changed_element
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
    SMALL,
    SPARSE,
    SUM,
    TUPLE,
    VALUES,
    ZERO,
)
from backend.machine.sparse_lists import (
    elements_of,
    has_newest,
    is_listed,
    list_with_entries,
    listed_elements,
    met_values,
    new_entry,
    new_listed,
    newest_list,
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


CALLED = (add_lists, part_of_list, put_in_list)
"""What is long, and called from several places."""
