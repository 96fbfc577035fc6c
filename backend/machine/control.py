"""
The machine's functions on frames, and its loop, in the language of generated code.

    enter        a frame for a closure at the top of the stack: its parameters from the operands, then what it captured
    again        the same in place of the current frame, which a call at the output does not need any more
    run          the loop: an instruction, and the next
"""

from __future__ import annotations

from typing import Any

from backend.machine.layout import (
    BODY,
    CALL,
    CAPTURED,
    CLOSE,
    CLOSURE,
    DONE,
    FP,
    FRAME,
    FULL,
    PARAMETERS,
    PAUSED,
    PC,
    PRIM,
    RAW,
    RESULT,
    RETURN,
    RETURN_FP,
    RETURN_OUT,
    RETURN_PC,
    RUNNING,
    SERVICE,
    STACK_END,
    STEPS,
    TAIL,
    TOP,
    WANTED,
    WORDS,
)
from backend.machine.sparse_arrays import settled
from backend.machine.structural import Doubles, Words, build, copy, operand, values


def fill(I: Words, C: Words, at: int, n: int, fp: int, new: int) -> int:
    """
    The parameters and the captured values of a call, one behind the other from `new` on: RUNNING, and the graph's address in PC.

    The operands are the function and its arguments. SERVICE if it is no closure that takes so many; FULL if the stack ends
    before, and then what is wanted is below 0.
    """
    f = operand(C, at, fp)
    if I[f] != CLOSURE:
        return SERVICE
    g = I[I[f + 1] + RAW]
    if C[g + PARAMETERS] != n - 1:
        return SERVICE
    captured = 2 * C[g + CAPTURED]
    if new + C[g + WORDS] + 2 * n + captured > I[STACK_END]:
        I[WANTED] = -(FRAME + C[g + WORDS] + 2 * n + captured)
        return FULL
    for k in range(1, n):
        a = operand(C, at + k, fp)
        I[new] = I[a]
        I[new + 1] = I[a + 1]
        new += 2
    p = values(I, I[f + 1])
    for k in range(captured):
        I[new + k] = I[p + k]
    I[PC] = g
    return RUNNING


def enter(I: Words, C: Words, pc: int, at: int, n: int, out: int) -> int:
    """Calls the first operand with the others; the result will be at `out`."""
    fp, top = I[FP], I[TOP]
    status = fill(I, C, at, n, fp, top + FRAME)
    if status != RUNNING:
        return status
    I[top + RETURN_PC] = pc
    I[top + RETURN_FP] = fp
    I[top + RETURN_OUT] = out
    I[FP] = top
    I[TOP] = top + C[I[PC] + WORDS]
    I[PC] += BODY
    return RUNNING


def again(I: Words, C: Words, at: int, n: int) -> int:
    """Calls the first operand in place of this frame: what was filled in above it is moved down."""
    fp, top = I[FP], I[TOP]
    status = fill(I, C, at, n, fp, top)
    if status != RUNNING:
        return status
    g = I[PC]
    for k in range(2 * (C[g + PARAMETERS] + C[g + CAPTURED])):
        I[fp + FRAME + k] = I[top + k]
    I[TOP] = fp + C[g + WORDS]
    I[PC] = g + BODY
    return RUNNING


def run(I: Words, F: Doubles, C: Words, limit: int) -> int:
    """
    Goes on from the state in I until the program ends (DONE), `limit` steps have been taken in all (PAUSED), the host must act
    (SERVICE) or the buffer is full (FULL). It can be called again after each of these.

    A call of a primitive that is only now known is executed as that primitive's instruction would be. One that the machine has no
    answer to is executed again where an operand may be turned into an array first.
    """
    status = RUNNING
    steps, pc, fp = I[STEPS], I[PC], I[FP]
    while steps < limit:
        op, out, n = C[pc], fp + C[pc + 1], C[pc + 2]
        at = pc + 3
        after = at + n
        if op <= TAIL:
            x = operand(C, at, fp)
            if I[x] == PRIM:
                op = I[x + 1]
                at += 1
                n -= 1
        if op == RETURN:
            x = operand(C, at, fp)
            if I[fp + RETURN_FP] == 0:
                copy(I, x, RESULT)
                status = DONE
                break
            copy(I, x, I[fp + RETURN_OUT])
            pc = I[fp + RETURN_PC]
            I[TOP] = fp
            fp = I[fp + RETURN_FP]
            I[FP] = fp
        elif op <= TAIL:
            I[PC] = pc
            status = enter(I, C, after, at, n, out) if op == CALL else again(I, C, at, n)
            pc = I[PC]
            fp = I[FP]
        else:
            if op == CLOSE:
                status = build(I, C, at + 1, n - 1, fp, CLOSURE, 1, C[at], out)
            else:
                status = apply(I, F, C, op, at, n, fp, out)
            if status == SERVICE:
                status = settled(I, C, at, n, fp)
                if status == RUNNING:
                    continue
            pc = after if status == RUNNING else pc
        if status != RUNNING:
            break
        steps += 1
    I[STEPS] = steps
    I[PC] = pc
    I[FP] = fp
    return PAUSED if status == RUNNING else status


apply: Any
"""In its place `interpreter` writes the choice among the opcodes of primitives."""

PARTS = (fill, enter, again)
