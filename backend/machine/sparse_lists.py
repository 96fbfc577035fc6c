"""
The machine's functions on sensitivities of long tuples and lists of which a part has one, in the language of generated code: as in
`structural`, with the same answers.

Such a value is SPARSE, of dtype LISTED, with the head of an array of one axis and one word more. As of arrays (`sparse_arrays`), it
is either its entries, in the order of their places, or a sum that is changed in place, which older ones can be told from:

    HOLED is ENTRIES    the word: what sums have cost so far       place, value, …
    HOLED is SUM        the word: the next of CHANGED              (TUPLE, elements), (UNIT, 0)                the newest
                                                                   (SPARSE, a newer one), (SPARSE, entries)    one before it

Of the elements the first are meant, as many as the head says. So the sensitivity of a list that was one shorter is there at once,
and a loop that has appended costs no more on the way back than its turns.
"""

from __future__ import annotations

from backend.machine.growing_lists import new_elements, new_note
from backend.machine.layout import (
    BOXED,
    COUNT,
    DTYPE,
    ENTRIES,
    FULL,
    HOLED,
    INT,
    LIMIT,
    LISTED,
    RANK,
    RAW,
    REAL,
    RUNNING,
    SHAPE,
    SPARSE,
    SUM,
    TO_ADD,
    TUPLE,
    UNIT,
    UNSET,
    VALUES,
    ZERO,
)
from backend.machine.small_arrays import items
from backend.machine.sparse_arrays import outdated
from backend.machine.structural import Doubles, Words, allocate, copy, values


def is_listed(I: Words, x: int) -> bool:
    """Whether the value at x is the sensitivity of a tuple or a list, and sparse."""
    return I[x] == SPARSE and I[I[x + 1] + DTYPE] == LISTED


def new_listed(I: Words, n: int, kind: int, count: int) -> int:
    """A new sensitivity of n elements, with room for so many values; 0 without room."""
    r = allocate(I, SHAPE + 2 + 2 * count, count)
    if r != 0:
        I[r + DTYPE] = LISTED
        I[r + HOLED] = kind
        I[r + RANK] = 1
        I[r + COUNT] = n
        I[r + SHAPE] = n
        I[r + SHAPE + 1] = 0
    return r


def new_entry(I: Words, n: int, place: int, z: int) -> int:
    """The sensitivity of n elements of which one has that at z; 0 without room."""
    r = new_listed(I, n, ENTRIES, 2)
    if r != 0:
        v = values(I, r)
        I[v] = INT
        I[v + 1] = place
        copy(I, z, v + 2)
    return r


def has_newest(I: Words, p: int) -> bool:
    """Whether p is a sum that has its elements."""
    return I[p + HOLED] == SUM and I[values(I, p)] == TUPLE


def elements_of(I: Words, x: int) -> int:
    """Where the elements begin of a tuple, or of a newest sum; 0 of what has none."""
    if I[x] == TUPLE:
        return values(I, I[x + 1])
    return values(I, I[values(I, I[x + 1]) + 1]) if has_newest(I, I[x + 1]) else 0


def met_values(I: Words, F: Doubles, a: int, b: int, to: int, last: int) -> int:
    """
    The sum of two numbers, at `to`. Of other values the second one, and a note for `gadd` that their sum is to be at `last`: it
    may be one of lists again.
    """
    if I[a] == ZERO or I[b] == ZERO:
        return copy(I, b, to) if I[a] == ZERO else copy(I, a, to)
    if I[a] == REAL and I[b] == REAL:
        I[to] = REAL
        F[to + 1] = F[a + 1] + F[b + 1]
        return RUNNING
    r = allocate(I, RAW + 5, 0)
    if r == 0:
        return FULL
    I[r + VALUES] = TO_ADD
    I[r + RAW] = last
    copy(I, a, r + RAW + 1)
    copy(I, b, r + RAW + 3)
    return copy(I, b, to)


def common(I: Words, a: int, n: int, b: int, m: int) -> int:
    """How many places the entries have in common whose n and m words begin at a and b."""
    i, j, found = 0, 0, 0
    while i < n and j < m:
        u, v = I[a + i + 1], I[b + j + 1]
        found += 1 if u == v else 0
        i += 4 if u <= v else 0
        j += 4 if v <= u else 0
    return found


def merged_lists(I: Words, F: Doubles, p: int, q: int, over: int, out: int) -> int:
    """The entries p, and behind or over them the entries q, as entries."""
    a, b, n, m = values(I, p), values(I, q), 2 * I[p + VALUES], 2 * I[q + VALUES]
    r = new_listed(I, I[p + COUNT], ENTRIES, (n + m) // 2 - 2 * common(I, a, n, b, m))
    if r == 0:
        return FULL
    i, j, to = 0, 0, values(I, r)
    while i < n or j < m:
        if j == m or (i < n and I[a + i + 1] < I[b + j + 1]):
            copy(I, a + i, to)
            copy(I, a + i + 2, to + 2)
            i += 4
        elif i == n or I[b + j + 1] < I[a + i + 1] or over != 0:
            i += 4 if i < n and I[b + j + 1] == I[a + i + 1] else 0
            copy(I, b + j, to)
            copy(I, b + j + 2, to + 2)
            j += 4
        else:
            copy(I, a + i, to)
            status = met_values(I, F, a + i + 2, b + j + 2, to + 2, to + 2)
            if status != RUNNING:
                return status
            i += 4
            j += 4
        to += 4
    I[items(I, r)] = I[items(I, p)] + I[items(I, q)] + n + m
    I[out] = SPARSE
    I[out + 1] = r
    return RUNNING


def put_entries(I: Words, q: int, start: int, n: int, unset: int) -> None:
    """The entries q written to their places among the n elements from `start` on; if `unset`, where nothing is yet."""
    v = values(I, q)
    for k in range(v, v + 2 * I[q + VALUES], 4):
        to = start + 2 * I[k + 1]
        if I[k + 1] < n and (unset == 0 or I[to] == UNSET):
            copy(I, k + 2, to)


def listed_elements(I: Words, x: int, n: int) -> int:
    """A new tuple of the first n elements of the value at x; 0 without room. Of an old sum, what was changed since is undone."""
    p = I[x + 1]
    r = new_elements(I, n, ZERO if is_listed(I, x) and I[p + HOLED] == ENTRIES else UNSET)
    if r == 0:
        return 0
    if is_listed(I, x):
        if I[p + HOLED] == ENTRIES:
            put_entries(I, p, r + RAW, n, 0)
            return r
        while not has_newest(I, p):
            put_entries(I, I[values(I, p) + 3], r + RAW, n, 1)
            p = I[values(I, p) + 1]
        p = I[values(I, p) + 1]
    at = values(I, p)
    for k in range(0, 2 * n, 2):
        if I[r + RAW + k] == UNSET:
            copy(I, at + k, r + RAW + k)
    return r


def begun_list(I: Words, x: int, n: int, out: int) -> int:
    """A newest sum, at out, of the first n elements of the value at x."""
    r = new_listed(I, n, SUM, 2)
    e = listed_elements(I, x, n) if r != 0 else 0
    if e == 0:
        return FULL
    newest_list(I, r, e, out)
    return RUNNING


def newest_list(I: Words, r: int, e: int, out: int) -> None:
    """The sum r has the elements e, and is the value at out."""
    v = values(I, r)
    I[v] = TUPLE
    I[v + 1] = e
    I[v + 2] = UNIT
    I[v + 3] = 0
    I[out] = SPARSE
    I[out + 1] = r


def older_list(I: Words, p: int, r: int, undo: int, out: int) -> None:
    """The sum r goes on from p, which from now on says what it was."""
    newest_list(I, r, I[values(I, p) + 1], out)
    outdated(I, p, r, undo)


def note_places(I: Words, e: int, q: int) -> int:
    """
    1, if a collector will find what the entries q lead to from the elements e; 0 without room.

    Old elements do not lead to young objects, so where some are to, their places are noted.
    """
    v, n, some = values(I, q), I[q + VALUES] // 2, 0
    for k in range(n):
        some = 1 if I[v + 4 * k + 2] >= BOXED else some
    if e < I[LIMIT] or some == 0:
        return 1
    r = new_note(I, n)
    for k in range(n if r != 0 else 0):
        I[r + RAW + 1 + k] = values(I, e) + 2 * I[v + 4 * k + 1]
    return 1 if r != 0 else 0


def changed_list(I: Words, F: Doubles, p: int, q: int, over: int, out: int) -> int:
    """The newest sum p with the entries q behind or over what is there: p then says what it was."""
    n = I[q + VALUES]
    r = new_listed(I, I[p + COUNT], SUM, 2)
    undo = new_listed(I, I[p + COUNT], ENTRIES, n) if r != 0 else 0
    new = new_listed(I, I[p + COUNT], ENTRIES, n) if undo != 0 else 0
    if new == 0:
        return FULL
    e = I[values(I, p) + 1]
    start, b, was, becomes = values(I, e), values(I, q), values(I, undo), values(I, new)
    for k in range(0, 2 * n, 4):
        at = start + 2 * I[b + k + 1]
        copy(I, b + k, was + k)
        copy(I, at, was + k + 2)
        copy(I, b + k, becomes + k)
        to = becomes + k + 2
        status = copy(I, b + k + 2, to) if over != 0 else met_values(I, F, at, b + k + 2, to, at)
        if status != RUNNING:
            return status
    if note_places(I, e, new) == 0:
        return FULL
    put_entries(I, new, start, I[p + COUNT], 0)
    older_list(I, p, r, undo, out)
    return RUNNING


def list_with_entries(I: Words, F: Doubles, x: int, q: int, over: int, out: int) -> int:
    """The value at x with the entries q."""
    p = I[x + 1]
    if I[x] == SPARSE:
        if has_newest(I, p):
            return changed_list(I, F, p, q, over, out)
        n = 2 * (I[p + VALUES] + I[q + VALUES])
        if I[p + HOLED] == ENTRIES and I[items(I, p)] + I[items(I, q)] + n <= I[p + COUNT]:
            return merged_lists(I, F, p, q, over, out)
    status = begun_list(I, x, I[q + COUNT], out)
    return changed_list(I, F, I[out + 1], q, over, out) if status == RUNNING else status


PARTS = (is_listed, new_listed, new_entry, has_newest, elements_of, newest_list, older_list)
CALLED = (met_values, common, merged_lists, put_entries, listed_elements, begun_list, note_places, changed_list, list_with_entries)
"""What these use, in an order in which each is defined before it is used; and what is long, and called from several places."""
