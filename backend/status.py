"""
Status codes: how generated code says that it trapped. It computes no exception, so the same source runs on a GPU.

Every generated function ends in `…, fuel, status`; a status other than OK becomes the error that the reference raises. FULL,
FULL_ARRAYS, those from FULL_AT on, and LINKED are no errors: the host answers them with more memory, or with other code
(`backend.stacks.cells`), and runs again.
So is ORDER, which only fast code has: the host runs the exact code. No code leaves AHEAD, which is said in the place of a trap.
"""

from __future__ import annotations

from typing import Any

from semantics.errors import AdjudgeError, Crash, OutOfFuel, Trap

(
    OK,
    OVERFLOW,
    DIVISION,
    NOT_FINITE,
    FUEL,
    INDEX,
    ZERO_POWER,
    ZERO_STEP,
    UNBOUND,
    STUCK,
    RAISED,
    FIELD,
    CLASS,
    FULL,
    LINKED,
    MEMORY_LIMIT,
    SIZES,
    FULL_ARRAYS,
    ORDER,
    AHEAD,
) = range(20)
FULL_AT, TOLD_APART = 32, 64
"""FULL_AT + k says that stack number k is full; from number TOLD_APART on, FULL says so, as of all."""

_TRAPS = {
    OVERFLOW: ("integer overflow in 64 bits; the reference has integers of any size", "run it on the reference, or use reals"),
    DIVISION: ("integer division by zero", "test the divisor first"),
    NOT_FINITE: ("an infinity or NaN has no integer part", "test math.isfinite first"),
    INDEX: ("an index is outside its tuple", "test the index first"),
    ZERO_POWER: ("0 to a negative power", "test the base first"),
    ZERO_STEP: ("range or a slice with step 0", "test the step first"),
    UNBOUND: ("a local variable is used before it is assigned", "assign it on every path"),
    RAISED: ("the program raises, or an assertion does not hold", 'run it with target="reference", which gives the message'),
    FIELD: ("a record has not the field, or a dictionary the key", "one that it has"),
    CLASS: ("a method is called on what is not of its class", "test with isinstance first"),
    SIZES: ("sizes that the code of arrays was not made for", "run it on the virtual machine"),
    ORDER: ("a sum that is not finite, in fast code", "the exact code, which the host runs"),
    STUCK: ("the program does not return here", "every path to this place traps"),
    AHEAD: (
        "a trap in code with lists as arrays, where the program may have none, or another",
        "`backend.runnable`: its machine tells",
    ),
}
_CERTAIN = (FUEL, MEMORY_LIMIT, OVERFLOW, SIZES, ORDER, STUCK)
"""What is no trap of the program, whatever its lists are."""


def full_of(stack: int) -> int:
    """The status that says that a stack of this number is full."""
    return FULL_AT + stack if stack < TOLD_APART else FULL


def is_full(status: Any) -> Any:
    """Whether a run wants more memory for a stack or for arrays; of an array of statuses, which."""
    return (status == FULL) | (status == FULL_ARRAYS) | (status >= FULL_AT)


def error(status: int, budget: int, ahead: bool = False) -> AdjudgeError:
    """
    The error for a status that is not OK. Of code that is `ahead`, no trap is said to be the program's: where lists are arrays, a
    turn may be taken before its loop asks whether there is one, and what an array traps on, a list may not (`backend.lists`).
    """
    status = AHEAD if ahead and status not in _CERTAIN else status
    if status == FUEL:
        remedy = "fewer turns, or `backend.compile` with a larger budget"
        return OutOfFuel(f"the loops did not end within {budget} turns", rule="backend", remedy=remedy)
    if status == MEMORY_LIMIT:
        return OutOfFuel("the stacks of its loops do not fit", rule="backend", remedy='fewer turns, or mode="ssa-recompute"')
    what, remedy = _TRAPS[status]
    return Trap(what, rule="backend", remedy=remedy)


def raised_by(raised: Exception) -> AdjudgeError:
    """The error for what was raised where generated code, which raises nothing, ran: OutOfFuel for memory, else a Crash."""
    if isinstance(raised, MemoryError):
        return OutOfFuel("there is no memory for the arrays of a call", rule="backend", remedy="smaller arrays")
    what = f"generated code raised {type(raised).__name__}: {raised}"
    return Crash(what, rule="backend", remedy="report it with the program")
