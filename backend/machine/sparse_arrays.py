"""
The machine's functions on large arrays that are changed, and on sensitivities of large arrays of f64 of which a part has one, in
the language of generated code: as in `small_arrays`, with the same answers.

Such a value is SPARSE. It has the head of the array that it belongs to, and then either its entries, in the order of their places,

    work, n, place, word, place, word, …           no values

or, once sums of entries have taken as much work as writing the array out, the array with ZEROs as the object's value. Adding
entries to that changes it in place, so a loop over the rows of a matrix costs no more than the rows. Whoever still has the sum that
was there before finds in it the new one, and what to put where to have the old one again (Baker's arrays):

    (ARRAY, elements), (UNIT, 0)                   the newest
    (ARRAY, elements), (BOOL, 1)                   the same, whose elements are an array's too: they do not change any more
    (SPARSE, a newer one), (SPARSE, entries)       one before it

An array whose elements are assigned to is such a sum too, without ZEROs among its elements, so HOLED is 0: entries then stand for
what is there. It is as good as an array; what wants one is given it (`settled`).

Before these is a word for the address of another such sum: CHANGED is the last old object that leads to young ones, and each says
which was the one before.
"""

from __future__ import annotations

from backend.machine.growing_lists import new_note
from backend.machine.layout import (
    ARRAY,
    BEFORE,
    BEHIND,
    BOOL,
    CHANGED,
    COUNT,
    DOUBLES,
    DTYPE,
    FEW,
    FULL,
    HOLED,
    LIMIT,
    LISTED,
    OVER,
    RANK,
    RAW,
    RUNNING,
    SERVICE,
    SHAPE,
    SPARSE,
    UNIT,
    VALUES,
    ZERO_BITS,
)
from backend.machine.small_arrays import alike, has_holes, items
from backend.machine.structural import Doubles, Words, allocate, copy, operand, values


def new_sparse(I: Words, p: int, words: int, count: int) -> int:
    """A new object with the head of another, so many words behind it, and so many values at its end; 0 if there is no room."""
    r = allocate(I, SHAPE + I[p + RANK] + words, count)
    if r != 0:
        for k in range(DTYPE, SHAPE + I[p + RANK]):
            I[r + k] = I[p + k]
        I[r + HOLED] = 1
    return r


def met(I: Words, F: Doubles, how: int, a: int, b: int, to: int) -> None:
    """What becomes, at `to`, of a word at a and an entry's at b."""
    if how == OVER or I[a] == ZERO_BITS:
        I[to] = I[b]
    elif I[b] == ZERO_BITS:
        I[to] = I[a]
    else:
        F[to] = F[a] + F[b] if how == BEHIND else F[b] + F[a]


def merged(I: Words, F: Doubles, p: int, q: int, how: int) -> int:
    """The entries p and q as entries; 0 if there is no room."""
    a, b = items(I, p), items(I, q)
    n, m = I[a + 1], I[b + 1]
    r = new_sparse(I, p, 2 + 2 * (n + m), 0)
    if r == 0:
        return 0
    head, i, j = items(I, r), 0, 0
    to = head + 2
    while i < n or j < m:
        u, v = a + 2 + 2 * i, b + 2 + 2 * j
        if j == m or (i < n and I[u] < I[v]):
            copy(I, u, to)
            i += 1
        elif i == n or I[v] < I[u]:
            copy(I, v, to)
            j += 1
        else:
            I[to] = I[u]
            met(I, F, how, u + 1, v + 1, to + 1)
            i += 1
            j += 1
        to += 2
    I[head] = I[a] + I[b] + n + m
    I[head + 1] = (to - head - 2) // 2
    return r


def is_newest(I: Words, x: int) -> bool:
    """Whether the value at x is an array, or a sum that has its elements."""
    return I[x] == ARRAY or (I[I[x + 1] + VALUES] != 0 and I[values(I, I[x + 1])] == ARRAY)


def is_entries(I: Words, x: int) -> bool:
    """Whether the value at x is entries."""
    return I[x] == SPARSE and I[I[x + 1] + VALUES] == 0


def elements(I: Words, x: int) -> int:
    """Where the elements begin of an array, or of a newest sum."""
    p = I[x + 1]
    return items(I, p) if I[x] == ARRAY else items(I, I[values(I, p) + 1])


def read(I: Words, x: int, before: int, n: int, to: int) -> int:
    """
    So many words of the value at x, but for those `before`, at `to`: of the newest, where nothing has been changed since. 1, or 0
    without room for what says which have been found.
    """
    left, at, there = n, 0, 0
    if not is_newest(I, x):
        there = allocate(I, RAW + n, 0)
        if there == 0:
            return 0
        there += RAW
        for k in range(n):
            I[there + k] = 0
    while left > 0 and not is_newest(I, x) and at >= 0:
        at = items(I, I[x + 1] if is_entries(I, x) else I[values(I, I[x + 1]) + 3])
        for k in range(at + 2, at + 2 + 2 * I[at + 1], 2):
            place = I[k] - before
            if 0 <= place < n and I[there + place] == 0:
                I[there + place] = 1
                I[to + place] = I[k + 1]
                left -= 1
        at = -1 if is_entries(I, x) else at
        x = values(I, I[x + 1]) if at >= 0 else x
    for k in range(n if left > 0 else 0):
        if there == 0 or I[there + k] == 0:
            I[to + k] = ZERO_BITS if at < 0 else I[elements(I, x) + before + k]
    return 1


def written_out(I: Words, x: int) -> int:
    """A new array with the elements of the value at x; 0 without room."""
    p = I[x + 1]
    r = new_sparse(I, p, I[p + COUNT], 0)
    return r if r != 0 and read(I, x, 0, I[p + COUNT], items(I, r)) != 0 else 0


def begun(I: Words, x: int, out: int) -> int:
    """A newest sum, at out, of what the value at x has."""
    r = new_sparse(I, I[x + 1], 5, 2)
    c = written_out(I, x) if r != 0 else 0
    if c == 0:
        return FULL
    v = values(I, r)
    I[r + HOLED] = I[I[x + 1] + HOLED]
    I[v] = ARRAY
    I[v + 1] = c
    I[v + 2] = UNIT
    I[v + 3] = 0
    I[out] = SPARSE
    I[out + 1] = r
    return RUNNING


def outdated(I: Words, p: int, r: int, undo: int) -> None:
    """The sum p is one before r from now on, and what the entries `undo` say."""
    v = values(I, p)
    if p >= I[LIMIT]:
        I[items(I, p)] = I[CHANGED]
        I[CHANGED] = p
    I[v] = SPARSE
    I[v + 1] = r
    I[v + 2] = SPARSE
    I[v + 3] = undo


def changed(I: Words, F: Doubles, p: int, q: int, how: int, out: int) -> int:
    """The newest sum p with the entries q: p then says what it was."""
    at = items(I, q)
    n = I[at + 1]
    r = new_sparse(I, p, 5, 2)
    undo = new_sparse(I, p, 2 + 2 * n, 0) if r != 0 else 0
    if undo == 0:
        return FULL
    v, w, u = values(I, p), values(I, r), items(I, undo)
    to = items(I, I[v + 1])
    I[u] = n
    I[u + 1] = n
    for k in range(2, 2 + 2 * n, 2):
        word = to + I[at + k]
        I[u + k] = I[at + k]
        I[u + k + 1] = I[word]
        met(I, F, how, word, at + k + 1, word)
    copy(I, v, w)
    copy(I, v + 2, w + 2)
    I[r + HOLED] = I[p + HOLED] | I[q + HOLED]
    outdated(I, p, r, undo)
    I[out] = SPARSE
    I[out + 1] = r
    return RUNNING


def with_entries(I: Words, F: Doubles, x: int, q: int, how: int, out: int) -> int:
    """The value at x with the entries q."""
    p, at = I[x + 1], items(I, q)
    if is_entries(I, x):
        if I[items(I, p)] + I[at] + I[items(I, p) + 1] + I[at + 1] <= I[p + COUNT]:
            r = merged(I, F, p, q, how)
            if r == 0:
                return FULL
            I[out] = SPARSE
            I[out + 1] = r
            return RUNNING
    elif I[x] == SPARSE and is_newest(I, x) and I[values(I, p) + 2] == UNIT:
        return changed(I, F, p, q, how, out)
    status = begun(I, x, out)
    return changed(I, F, I[out + 1], q, how, out) if status == RUNNING else status


def add_sparse(I: Words, F: Doubles, x: int, y: int, out: int) -> int:
    """The sum of two sensitivities of one array, of which one at least is SPARSE."""
    if (I[x] != SPARSE and I[x] != ARRAY) or (I[y] != SPARSE and I[y] != ARRAY):
        return SERVICE
    p, q = I[x + 1], I[y + 1]
    if I[p + DTYPE] != DOUBLES or I[q + DTYPE] != DOUBLES or not alike(I, p, q):
        return SERVICE
    if is_entries(I, y):
        return with_entries(I, F, x, q, BEHIND, out)
    if is_entries(I, x):
        return with_entries(I, F, y, p, BEFORE, out)
    if not is_newest(I, y):
        return SERVICE
    r = written_out(I, x)
    if r == 0:
        return FULL
    at, to = elements(I, y), items(I, r)
    for k in range(I[r + COUNT]):
        met(I, F, BEHIND, to + k, at + k, to + k)
    I[r + HOLED] = has_holes(I, r)
    I[out] = ARRAY
    I[out + 1] = r
    return RUNNING


def instantiate_sparse(I: Words, F: Doubles, x: int, q: int, out: int) -> int:
    """The sensitivity of the array q without ZEROs, 0.0 in the place of each."""
    if not alike(I, I[x + 1], q):
        return SERVICE
    r = written_out(I, x)
    if r == 0:
        return FULL
    to = items(I, r)
    for k in range(I[r + COUNT]):
        if I[to + k] == ZERO_BITS:
            F[to + k] = 0.0
    I[r + HOLED] = 0
    I[out] = ARRAY
    I[out + 1] = r
    return RUNNING


def settled(I: Words, C: Words, at: int, n: int, fp: int) -> int:
    """
    The operands that are sums as arrays, and those that are entries of one that is gone over here, for who knows no others: RUNNING
    if there was one, SERVICE if there was none. The newest sum gives its elements away; who changes it then has a copy.
    """
    status = SERVICE
    for k in range(n):
        x = operand(C, at + k, fp)
        p = I[x + 1]
        if I[x] == SPARSE and I[p + DTYPE] != LISTED and (not is_entries(I, x) or I[p + COUNT] <= I[FEW]):
            c = written_out(I, x) if is_entries(I, x) else given_away(I, x)
            if c == 0:
                return FULL
            I[c + HOLED] = I[p + HOLED]
            I[x] = ARRAY
            I[x + 1] = c
            status = RUNNING
    return status


def given_away(I: Words, x: int) -> int:
    """The array of the elements of the sum at x, which do not change any more; 0 without room."""
    p = I[x + 1]
    v = values(I, p)
    if not is_newest(I, x):
        note = new_note(I, 1) if p >= I[LIMIT] else 1
        c = written_out(I, x) if note != 0 else 0
        if c == 0:
            return 0
        if note != 1:
            I[note + RAW + 1] = v
        I[v] = ARRAY
        I[v + 1] = c
    I[v + 2] = BOOL
    I[v + 3] = 1
    return I[v + 1]


PARTS = (new_sparse, met, is_newest, is_entries, elements, begun, outdated)
CALLED = (read, written_out, merged, changed, with_entries, add_sparse, instantiate_sparse, given_away, settled)
"""What these use, in an order in which each is defined before it is used; and what is long, and called from several places."""
