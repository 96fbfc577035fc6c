"""
The machine's functions on lists that are changed, in the language of generated code: as in `structural`, with the same answers.

A list that a loop appends to, or assigns to elements of, is not copied for every element. It is GROWN: so many elements of a
BUFFER, which has room for more. Who appends to the list that has all elements of the buffer writes behind them, and has a list of
the same buffer; any other list of it goes on having its own, which are the first. Who assigns to an element writes it there, and
says in CHANGES what was there before; any other list of the buffer finds that, and what has been changed after it (Baker's arrays).
So does who appends one to a list of which the last was taken. Where there is no room, or the list has been changed since, there is
a new buffer; and a list whose elements have been looked for among as many changes as it has elements is given one.

    GROWN      raw: how many elements, and         (BUFFER, the buffer), (CHANGES, what was changed after it was made)
               changes looked through
    BUFFER     raw: how many have been written     a value for each that there is room for
    CHANGES    UNIT, UNIT, UNIT                    nothing
               place, value, (CHANGES, the next)   what was there before
"""

from __future__ import annotations

from backend.machine.layout import (
    BOXED,
    BUFFER,
    CHANGED,
    CHANGES,
    FULL,
    GROWN,
    INT,
    LIMIT,
    RAW,
    RUNNING,
    UNIT,
    UNSET,
    VALUES,
)
from backend.machine.structural import Words, allocate, copy, count_of, first_of, values


def new_elements(I: Words, n: int, tag: int) -> int:
    """A new tuple of n values with this tag; 0 without room."""
    r = allocate(I, RAW + 2 * n, n)
    if r != 0:
        for k in range(n):
            I[r + RAW + 2 * k] = tag
            I[r + RAW + 2 * k + 1] = 0
    return r


def changes_of(I: Words, x: int) -> int:
    """The values of what was changed after the list at x was made."""
    return values(I, I[values(I, I[x + 1]) + 3])


def is_current(I: Words, x: int) -> bool:
    """Whether nothing has been changed since the tuple or list at x was made: then its elements are where `first_of` says."""
    return I[x] != GROWN or I[changes_of(I, x)] == UNIT


def element_of_list(I: Words, x: int, i: int, out: int) -> int:
    """Element i of a grown list, which is there."""
    v, at, steps = changes_of(I, x), 0, 0
    while at == 0 and I[v] != UNIT:
        at = v + 2 if I[v + 1] == i else 0
        v = values(I, I[v + 5])
        steps += 1
    copy(I, at if at != 0 else first_of(I, x) + 2 * i, out)
    if steps > 0:
        searched(I, x, steps)
    return RUNNING


def searched(I: Words, x: int, steps: int) -> None:
    """
    So many changes have been looked through for an element of the list at x. Once that are more than it has elements, it is given
    a buffer of its own, if there is room.
    """
    p = I[x + 1]
    I[p + RAW + 1] += steps
    if I[p + RAW + 1] > I[p + RAW]:
        note = new_note(I, 2) if p >= I[LIMIT] else 1
        changes = new_elements(I, 3, UNIT) if note != 0 else 0
        b = new_buffer(I, x, I[p + RAW]) if changes != 0 else 0
        if b != 0:
            v = values(I, p)
            if note != 1:
                I[note + RAW + 1] = v
                I[note + RAW + 2] = v + 2
            I[v + 1] = b
            I[v + 3] = changes
            I[p + RAW + 1] = 0


def new_buffer(I: Words, x: int, room: int) -> int:
    """A buffer with the elements of the list at x, and room for so many in all; 0 where there is none for it."""
    b = allocate(I, RAW + 1 + 2 * room, room)
    if b == 0:
        return 0
    n, at, to = count_of(I, x), first_of(I, x), values(I, b)
    I[b + RAW] = n
    for k in range(0, 2 * room, 2):
        I[to + k] = UNSET if k < 2 * n else UNIT
        I[to + k + 1] = 0
    v = changes_of(I, x) if I[x] == GROWN else 0
    while v != 0 and I[v] != UNIT:
        if I[v + 1] < n and I[to + 2 * I[v + 1]] == UNSET:
            copy(I, v + 2, to + 2 * I[v + 1])
        v = values(I, I[v + 5])
    for k in range(0, 2 * n, 2):
        if I[to + k] == UNSET:
            copy(I, at + k, to + k)
    return b


def new_note(I: Words, n: int) -> int:
    """
    A new object for n places of old objects that may lead to young ones, [link, places…], which are to be written; 0 without room.
    """
    r = allocate(I, RAW + 1 + n, 0)
    if r != 0:
        I[r + RAW] = I[CHANGED]
        I[CHANGED] = r
    return r


def noted(I: Words, to: int, source: int, n: int) -> int:
    """1, if a collector will find what the n values from `source` on lead to, once they are at `to`; 0 without room for a note."""
    some = 0
    for k in range(n):
        some = 1 if I[source + 2 * k] >= BOXED else some
    if to < I[LIMIT] or some == 0:
        return 1
    r = new_note(I, n)
    for k in range(n if r != 0 else 0):
        I[r + RAW + 1 + k] = to + 2 * k
    return 1 if r != 0 else 0


def new_list(I: Words, n: int, changes: int) -> int:
    """
    A list of n elements whose buffer is still to be said; 0 without room. What has been changed after it is that at `changes`, or
    nothing.
    """
    r = allocate(I, RAW + 2 + 4, 2)
    if r != 0 and changes == 0:
        changes = new_elements(I, 3, UNIT)
    if r == 0 or changes == 0:
        return 0
    I[r + RAW] = n
    I[r + RAW + 1] = 0
    I[r + RAW + 2] = BUFFER
    I[r + RAW + 4] = CHANGES
    I[r + RAW + 5] = changes
    return r


def overwritten(I: Words, b: int, v: int, i: int, z: int, changes: int) -> int:
    """
    The value at z in the place of element i of a buffer. What was there is said at v, the newest CHANGES, behind which come those
    at the value `changes`. 1, or 0 without room.
    """
    at = values(I, b) + 2 * i
    note = new_note(I, 4) if at >= I[LIMIT] or v >= I[LIMIT] else 1
    if note == 0:
        return 0
    if note != 1:
        for k in range(3):
            I[note + RAW + 1 + k] = v + 2 * k
        I[note + RAW + 4] = at
    I[v] = INT
    I[v + 1] = i
    copy(I, at, v + 2)
    copy(I, changes, v + 4)
    copy(I, z, at)
    return 1


def grown(I: Words, x: int, source: int, n: int, out: int) -> int:
    """
    The list at x with the n values from `source` on behind its own. Where another list has an element there, as before one was
    taken from it, one value is written in its place, as in `changed_element`.
    """
    m, b, v, taken = count_of(I, x), 0, 0, 0
    if I[x] == GROWN and is_current(I, x):
        b, v = I[values(I, I[x + 1]) + 1], changes_of(I, x)
        taken = 1 if I[b + RAW] > m else 0
        if m + n > I[b + VALUES] or (taken != 0 and n != 1):
            b, taken = 0, 0
    r = new_list(I, m + n, I[values(I, I[x + 1]) + 3] if b != 0 and taken == 0 else 0)
    if r == 0:
        return FULL
    if b == 0:
        b = new_buffer(I, x, 2 * (m + n))
        if b == 0:
            return FULL
    elif taken != 0:
        if overwritten(I, b, v, m, source, values(I, r) + 2) == 0:
            return FULL
    elif noted(I, values(I, b) + 2 * m, source, n) == 0:
        return FULL
    if taken == 0:
        for k in range(0, 2 * n, 2):
            copy(I, source + k, values(I, b) + 2 * m + k)
        I[b + RAW] = m + n
    I[values(I, r) + 1] = b
    I[out] = GROWN
    I[out + 1] = r
    return RUNNING


def shorter(I: Words, x: int, n: int, out: int) -> int:
    """The first n elements of the grown list at x, as a list of the same buffer."""
    v = values(I, I[x + 1])
    r = new_list(I, n, I[v + 3])
    if r == 0:
        return FULL
    I[r + RAW + 3] = I[v + 1]
    I[out] = GROWN
    I[out + 1] = r
    return RUNNING


def changed_element(I: Words, x: int, i: int, z: int, out: int) -> int:
    """The list at x with the value at z in the place of element i, which is there."""
    n = count_of(I, x)
    r = new_list(I, n, 0)
    if r == 0:
        return FULL
    if I[x] == GROWN and is_current(I, x):
        b = I[values(I, I[x + 1]) + 1]
        if overwritten(I, b, changes_of(I, x), i, z, values(I, r) + 2) == 0:
            return FULL
    else:
        b = new_buffer(I, x, n)
        if b == 0:
            return FULL
        copy(I, z, values(I, b) + 2 * i)
    I[values(I, r) + 1] = b
    I[out] = GROWN
    I[out + 1] = r
    return RUNNING


PARTS = (new_elements, changes_of, is_current, new_note, new_list)
CALLED = (new_buffer, searched, element_of_list, noted, overwritten, grown, shorter, changed_element)
"""What these use, in an order in which each is defined before it is used; and what is long, and called from several places."""
