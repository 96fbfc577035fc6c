"""
What frames can reach, in the language of generated code: the machine's collector of garbage.

A frame reaches what its next instructions name, and not what lies in it besides: a value that no instruction to come reads is
dropped, so an array goes when it has been used for the last time, and not when its function ends.

    collect      the objects that frames can reach, copied to the heap of a new buffer, one behind the other (Cheney)
    promote      the young objects that frames can reach, copied to a place among the old ones of the same buffer
    sweep        the old objects that frames cannot reach, made room for others; there are no young ones

Old objects lie one behind the other, and so does the room between them, which has its SIZE. Room of more than `large` words has the
address of the next such in the place of VALUES; HOLES has that of the last.
"""

from __future__ import annotations

from backend.machine.layout import (
    BOXED,
    CALL,
    CHANGED,
    CLOSE,
    FP,
    FRAME,
    HEAP,
    HOLES,
    HP,
    LIMIT,
    OLD,
    PC,
    RAW,
    RETURN,
    RETURN_FP,
    RETURN_OUT,
    RETURN_PC,
    SIZE,
    STATE,
    TAIL,
    UNIT,
    VALUES,
)
from backend.machine.small_arrays import items
from backend.machine.structural import Words, values


def drop(I: Words, C: Words, pc: int, fp: int, end: int) -> int:
    """
    The values of a frame, which end at `end`, that no instruction from pc on reads are UNIT now.

    The tags of all are turned to numbers below 0, and those that are read turned back.
    """
    start = fp + FRAME
    for x in range(start, end, 2):
        I[x] = -1 - I[x]
    op = CALL
    while not TAIL <= op <= RETURN:
        op, n = C[pc], C[pc + 2]
        pc += 3
        for k in range(1 if op == CLOSE else 0, n):
            x = fp + C[pc + k]
            if start <= x < end and I[x] < 0:
                I[x] = -1 - I[x]
        pc += n
    for x in range(start, end, 2):
        if I[x] < 0:
            I[x] = UNIT
            I[x + 1] = 0
    return end


def moved(I: Words, J: Words, p: int) -> int:
    """
    The address in J of the object at p, which is copied when it is first asked for, and then says where it is. What lies outside
    of the heap, or of the place of young objects, stays.
    """
    if p < I[HEAP] or p >= I[LIMIT]:
        return p
    size = I[p + SIZE]
    if size < 0:
        return -size
    q = J[HP]
    for k in range(size):
        J[q + k] = I[p + k]
    J[HP] = q + size
    I[p + SIZE] = -q
    return q


def trace(I: Words, J: Words, start: int, end: int) -> int:
    """All values from start to end in J: the objects they lead to, moved."""
    while start < end:
        if J[start] >= BOXED:
            J[start + 1] = moved(I, J, J[start + 1])
        start += 2
    return end


def follow(I: Words, C: Words, J: Words, start: int) -> int:
    """What frames reach, and what objects reach that lie in J from `start` on, moved to J: where they end."""
    pc, fp, end = I[PC], I[FP], I[FP] + C[I[PC] + 1]
    while fp != 0:
        trace(I, J, fp + FRAME, drop(J, C, pc, fp, end))
        pc = I[fp + RETURN_PC]
        end = I[fp + RETURN_OUT]
        fp = I[fp + RETURN_FP]
    at = start
    while at < J[HP]:
        trace(I, J, values(J, at), at + J[at + SIZE])
        at += J[at + SIZE]
    return J[HP]


def collect(I: Words, C: Words, J: Words) -> int:
    """
    The state, the constants, the stack and what it reaches, copied to J, whose HEAP, HP, LIMIT and STACK_END are set: words in use.

    Frames keep their addresses. What lies above the place for the result of the current instruction is not computed yet.
    """
    for k in range(HP):
        J[k] = I[k]
    for k in range(STATE, I[FP] + C[I[PC] + 1]):
        J[k] = I[k]
    return follow(I, C, J, J[HEAP]) - J[HEAP]


def promote(I: Words, C: Words, start: int) -> int:
    """
    Young objects that the stack or a changed old one reaches, moved to where `start` is, one behind the other: where they end. The
    rest is gone. What is behind the old objects is old from then on. Of old objects with many values only the changed ones are
    traced, of which a young object says where they are.
    """
    I[HP] = start
    p = I[CHANGED]
    while p != 0:
        if p >= I[LIMIT]:
            trace(I, I, values(I, p), p + I[p + SIZE])
            p = I[items(I, p)]
        else:
            for k in range(p + RAW + 1, p + I[p + SIZE]):
                trace(I, I, I[k], I[k] + 2)
            p = I[p + RAW]
    I[CHANGED] = 0
    end = follow(I, C, I, start)
    if start == I[OLD]:
        I[OLD] = end
    I[HP] = I[HEAP]
    return end


def mark(I: Words, start: int, end: int, top: int) -> int:
    """
    The old objects that the values from start to end lead to, their SIZE below 0 from then on. Those met for the first time that
    have values are on a pile, which ended at `top`: where it ends now.
    """
    while start < end:
        if I[start] >= BOXED:
            p = I[start + 1]
            if p >= I[LIMIT] and I[p + SIZE] > 0:
                if I[p + VALUES] > 0:
                    I[top] = p
                    top += 1
                I[p + SIZE] = -I[p + SIZE]
        start += 2
    return top


def mark_all(I: Words, C: Words) -> int:
    """The old objects that frames can reach, their SIZE below 0: how many values were looked at. Behind them is the pile."""
    pc, fp, end, top, seen = I[PC], I[FP], I[FP] + C[I[PC] + 1], I[OLD], 0
    while fp != 0:
        top = mark(I, fp + FRAME, drop(I, C, pc, fp, end), top)
        pc = I[fp + RETURN_PC]
        end = I[fp + RETURN_OUT]
        fp = I[fp + RETURN_FP]
        while top > I[OLD]:
            top -= 1
            p = I[top]
            stop = p - I[p + SIZE]
            seen += I[p + VALUES]
            top = mark(I, stop - 2 * I[p + VALUES], stop, top)
    return seen


def sweep(I: Words, C: Words, large: int) -> int:
    """
    Old objects that no frame can reach are room for others, one with what lies beside it, and where they were the last, the old
    ones end before: how many values and objects were looked at. There are no young objects; behind the old ones there is a word for
    each object that has values.
    """
    seen = mark_all(I, C)
    p, hole, I[HOLES] = I[LIMIT], 0, 0
    while p < I[OLD]:
        size, seen = I[p + SIZE], seen + 1
        if size < 0:
            size = I[p + SIZE] = -size
            if hole != 0 and I[hole + SIZE] > large:
                I[hole + VALUES] = I[HOLES]
                I[HOLES] = hole
            hole = 0
        elif hole != 0:
            I[hole + SIZE] += size
        else:
            hole = p
        p += size
    if hole != 0:
        I[OLD] = hole
    return seen


PARTS = (drop, moved, trace, follow, mark, mark_all)
WHOLE = (collect, promote, sweep)
