"""
Slices of tuples, of lists and of their sensitivities, and the sensitivity that a slice sends back, in the language of generated
code: as in `structural`, with the same answers.

The first elements of a grown list, or of a sum that has its elements, are there at once; so is the sensitivity of a list of which
the first elements have such a sum. So a stack whose last element a loop takes costs no more than its turns, there and back.
"""

from __future__ import annotations

from backend.machine.growing_lists import element_of_list, new_elements, shorter
from backend.machine.layout import (
    COUNT,
    ENTRIES,
    FULL,
    GROWN,
    HOLED,
    INT,
    LIST_LABEL,
    RAW,
    RECORD,
    RUNNING,
    SERVICE,
    SLICE,
    SMALL,
    SPARSE,
    SUM,
    TUPLE,
    UNIT,
    VALUES,
    ZERO,
)
from backend.machine.slices import count_of_slice, first_of_slice, step_of
from backend.machine.small_arrays import items
from backend.machine.sparse_lists import (
    begun_list,
    elements_of,
    has_newest,
    is_listed,
    listed_elements,
    new_listed,
    newest_list,
    older_list,
)
from backend.machine.structural import Doubles, Words, allocate, copy, count_of, is_sequence, values


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


def any_of_list(I: Words, x: int, first: int, step: int, n: int, out: int) -> int:
    """The sensitivity of n elements, of which the first is given, and how far it is to the next."""
    p = I[x + 1]
    if I[p + HOLED] == ENTRIES and step == 1 and n > SMALL:
        v, count = values(I, p), 0
        for k in range(v, v + 2 * I[p + VALUES], 4):
            if first <= I[k + 1] < first + n:
                count += 1
        r = new_listed(I, n, ENTRIES, 2 * count)
        if r == 0:
            return FULL
        to = values(I, r)
        for k in range(v, v + 2 * I[p + VALUES], 4):
            if first <= I[k + 1] < first + n:
                I[to] = INT
                I[to + 1] = I[k + 1] - first
                copy(I, k + 2, to + 2)
                to += 4
        I[out] = SPARSE
        I[out + 1] = r
        return RUNNING
    e, at = new_elements(I, n, ZERO), elements_of(I, x)
    r = new_listed(I, n, SUM, 2) if e != 0 else 0
    if r == 0:
        return FULL
    if at == 0:
        at = listed_elements(I, x, I[p + COUNT])
        if at == 0:
            return FULL
        at = values(I, at)
    for k in range(n):
        copy(I, at + 2 * (first + k * step), values(I, e) + 2 * k)
    if n > SMALL:
        newest_list(I, r, e, out)
        return RUNNING
    I[out] = TUPLE
    I[out + 1] = e
    return RUNNING


def slice_of_list(I: Words, x: int, y: int, out: int) -> int:
    """A slice of a tuple or a list, or of the sensitivity of one."""
    step, n = step_of(I, y), I[I[x + 1] + COUNT] if I[x] == SPARSE else count_of(I, x)
    if step == 0:
        return SERVICE
    first, m = first_of_slice(I, y, n, step), count_of_slice(I, y, n, step)
    begins = step == 1 and (first == 0 or m == 0)
    if I[x] == SPARSE:
        return first_of_list(I, x, m, out) if begins else any_of_list(I, x, first, step, m, out)
    if begins and I[x] == GROWN:
        return shorter(I, x, m, out)
    raw = 0 if I[x] == TUPLE else 1
    r = allocate(I, RAW + raw + 2 * m, m)
    if r == 0:
        return FULL
    if raw != 0:
        I[r + RAW] = LIST_LABEL
    for k in range(m):
        i = first + k * step
        if I[x] == GROWN:
            element_of_list(I, x, i, values(I, r) + 2 * k)
        else:
            copy(I, values(I, I[x + 1]) + 2 * i, values(I, r) + 2 * k)
    I[out] = TUPLE if raw == 0 else RECORD
    I[out + 1] = r
    return RUNNING


def longer_list(I: Words, z: int, n: int, out: int) -> int:
    """The sensitivity of n elements of which the first have the sparse one at z, and the others none."""
    p = I[z + 1]
    m = I[p + COUNT]
    if n == m:
        return copy(I, z, out)
    if I[p + HOLED] == ENTRIES:
        r = new_listed(I, n, ENTRIES, I[p + VALUES])
        if r == 0:
            return FULL
        I[items(I, r)] = I[items(I, p)]
        for k in range(2 * I[p + VALUES]):
            I[values(I, r) + k] = I[values(I, p) + k]
        I[out] = SPARSE
        I[out + 1] = r
        return RUNNING
    r = new_listed(I, n, SUM, 2)
    if r == 0:
        return FULL
    if has_newest(I, p) and I[I[values(I, p) + 1] + VALUES] >= n:
        undo, at = new_listed(I, m, ENTRIES, 2 * (n - m)), elements_of(I, z)
        if undo == 0:
            return FULL
        to = values(I, undo)
        for k in range(m, n):
            I[to] = INT
            I[to + 1] = k
            copy(I, at + 2 * k, to + 2)
            I[at + 2 * k] = ZERO
            I[at + 2 * k + 1] = 0
            to += 4
        older_list(I, p, r, undo, out)
        return RUNNING
    e, at = new_elements(I, 2 * n, ZERO), elements_of(I, z)
    if e == 0:
        return FULL
    if at == 0:
        at = listed_elements(I, z, m)
        if at == 0:
            return FULL
        at = values(I, at)
    for k in range(2 * m):
        I[values(I, e) + k] = I[at + k]
    newest_list(I, r, e, out)
    return RUNNING


def inject_slice(I: Words, x: int, y: int, z: int, out: int) -> int:
    """The sensitivity of a tuple or a list of which only a slice has one, that at z."""
    if (I[z] != TUPLE and not is_listed(I, z)) or (not is_sequence(I, x) and not is_listed(I, x)):
        return SERVICE
    step, n = step_of(I, y), I[I[x + 1] + COUNT] if I[x] == SPARSE else count_of(I, x)
    if step == 0:
        return SERVICE
    first, m = first_of_slice(I, y, n, step), count_of_slice(I, y, n, step)
    if m != (I[I[z + 1] + VALUES] if I[z] == TUPLE else I[I[z + 1] + COUNT]):
        return SERVICE
    if n > SMALL and I[z] == SPARSE and step == 1 and first == 0:
        return longer_list(I, z, n, out)
    at = elements_of(I, z)
    if at == 0:
        at = listed_elements(I, z, m)
        if at == 0:
            return FULL
        at = values(I, at)
    if n <= SMALL:
        e = new_elements(I, n, ZERO)
        if e == 0:
            return FULL
        for k in range(m):
            copy(I, at + 2 * k, values(I, e) + 2 * (first + k * step))
        I[out] = TUPLE
        I[out + 1] = e
        return RUNNING
    count = 0
    for k in range(m):
        count += 0 if I[at + 2 * k] == ZERO else 1
    r = new_listed(I, n, ENTRIES, 2 * count)
    if r == 0:
        return FULL
    to = values(I, r)
    for j in range(m):
        k = j if step > 0 else m - 1 - j
        if I[at + 2 * k] != ZERO:
            I[to] = INT
            I[to + 1] = first + k * step
            copy(I, at + 2 * k, to + 2)
            to += 4
    I[out] = SPARSE
    I[out + 1] = r
    return RUNNING


CALLED = (first_of_list, any_of_list, slice_of_list, longer_list, inject_slice)
"""What is long, and called from several places, in an order in which each is defined before it is used."""
TERNARY = {"make_slice": make_slice}
