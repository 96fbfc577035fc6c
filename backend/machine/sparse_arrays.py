"""
The machine's functions on sensitivities of large arrays of f64 of which a part has one, in the language of generated code: as in
`small_arrays`, with the same answers.

Such a value is SPARSE. It has the head of the array that it belongs to, and then either its entries, in the order of their places,

    work, n, place, word, place, word, …           no values

or, once sums of entries have taken as much work as writing the array out, the array with ZEROs as the object's value. Adding
entries to that changes it in place, so a loop over the rows of a matrix costs no more than the rows. Whoever still has the sum that
was there before finds in it the new one, and what to put where to have the old one again (Baker's arrays):

    (ARRAY, elements), (UNIT, 0)                   the newest
    (SPARSE, a newer one), (SPARSE, entries)       one before it

Before these is a word for the address of another such sum: CHANGED is the last old object that leads to young ones, and each says
which was the one before.
"""

from __future__ import annotations

from backend.machine.layout import (
    ARRAY,
    BEFORE,
    BEHIND,
    CHANGED,
    COUNT,
    DOUBLES,
    DTYPE,
    FULL,
    HOLED,
    INT,
    LIMIT,
    OVER,
    RANK,
    REAL,
    RUNNING,
    SERVICE,
    SHAPE,
    SPARSE,
    UNIT,
    VALUES,
    ZERO,
    ZERO_BITS,
)
from backend.machine.small_arrays import alike, has_holes, items
from backend.machine.structural import Doubles, Words, allocate, copy, values


def new_sparse(I: Words, p: int, words: int, count: int) -> int:
    """A new object with the head of another, so many words behind it, and so many values at its end; 0 if there is no room."""
    r = allocate(I, SHAPE + I[p + RANK] + words, count)
    if r != 0:
        for k in range(DTYPE, SHAPE + I[p + RANK]):
            I[r + k] = I[p + k]
        I[r + HOLED] = 1
    return r


def new_entries(I: Words, p: int, place: int, source: int, n: int) -> int:
    """Entries with the n words from `source` on, at as many places of the array p; 0 if there is no room."""
    r = new_sparse(I, p, 2 + 2 * n, 0)
    if r != 0:
        to = items(I, r)
        I[to] = n
        I[to + 1] = n
        for k in range(n):
            I[to + 2 + 2 * k] = place + k
            I[to + 3 + 2 * k] = I[source + k]
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


def put_back(I: Words, d: int, q: int) -> None:
    """The words of the entries q written to their places among the elements that begin at d."""
    at = items(I, q)
    for k in range(I[at + 1]):
        I[d + I[at + 2 + 2 * k]] = I[at + 3 + 2 * k]


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


def written_out(I: Words, x: int) -> int:
    """A new array with the elements of the value at x, which for an old sum are the newest with changes undone; 0 without room."""
    p = I[x + 1]
    r = new_sparse(I, p, I[p + COUNT], 0)
    if r == 0:
        return 0
    to = items(I, r)
    if is_entries(I, x):
        for k in range(I[p + COUNT]):
            I[to + k] = ZERO_BITS
        put_back(I, to, p)
        return r
    last = x
    while not is_newest(I, last):
        last = values(I, I[last + 1])
    at = elements(I, last)
    for k in range(I[p + COUNT]):
        I[to + k] = I[at + k]
    while I[last + 1] != p:
        before = x
        while I[values(I, I[before + 1]) + 1] != I[last + 1]:
            before = values(I, I[before + 1])
        put_back(I, to, I[values(I, I[before + 1]) + 3])
        last = before
    return r


def begun(I: Words, x: int, out: int) -> int:
    """A newest sum, at out, of what the value at x has."""
    r = new_sparse(I, I[x + 1], 5, 2)
    c = written_out(I, x) if r != 0 else 0
    if c == 0:
        return FULL
    v = values(I, r)
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
    elif I[x] == SPARSE and is_newest(I, x):
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


def put_sparse(I: Words, F: Doubles, x: int, y: int, z: int, out: int) -> int:
    """A real or a ZERO at one place."""
    p = I[x + 1]
    n = I[p + SHAPE]
    if I[p + RANK] != 1 or I[y] != INT or I[y + 1] < -n or I[y + 1] >= n or (I[z] != REAL and I[z] != ZERO):
        return SERVICE
    q = new_entries(I, p, I[y + 1] if I[y + 1] >= 0 else I[y + 1] + n, z + 1, 1)
    if q == 0:
        return FULL
    if I[z] == ZERO:
        I[items(I, q) + 3] = ZERO_BITS
    return with_entries(I, F, x, q, OVER, out)


def part_of_sparse(I: Words, x: int, i: int, out: int) -> int:
    """Element i, which is there, or row i."""
    p = I[x + 1]
    width, rank = I[p + COUNT] // I[p + SHAPE], I[p + RANK] - 1
    if not is_entries(I, x) and not is_newest(I, x):
        return SERVICE
    r = allocate(I, SHAPE + rank + width, 0)
    if r == 0:
        return FULL
    I[r + DTYPE] = I[p + DTYPE]
    I[r + HOLED] = 0
    I[r + RANK] = rank
    I[r + COUNT] = width
    for k in range(rank):
        I[r + SHAPE + k] = I[p + SHAPE + 1 + k]
    at, to = items(I, p) if is_entries(I, x) else elements(I, x), items(I, r)
    for k in range(width):
        I[to + k] = ZERO_BITS if is_entries(I, x) else I[at + i * width + k]
    for k in range(2, 2 + 2 * I[at + 1] if is_entries(I, x) else 2, 2):
        if i * width <= I[at + k] < (i + 1) * width:
            I[to + I[at + k] - i * width] = I[at + k + 1]
    I[r + HOLED] = has_holes(I, r)
    I[out] = ARRAY if rank > 0 else ZERO if I[r + HOLED] != 0 else REAL
    I[out + 1] = r if rank > 0 else I[to]
    return RUNNING


PARTS = (new_sparse, new_entries, met, put_back, is_newest, is_entries, elements, begun, outdated)
CALLED = (written_out, merged, changed, with_entries, add_sparse, instantiate_sparse, put_sparse, part_of_sparse)
"""What these use, in an order in which each is defined before it is used; and what is long, and called from several places."""
