"""
How many steps a run may take before something is worth making. What takes longer than a step counts as so many more.

The machine copies a tuple that is made longer, so a turn that makes one of thousands takes as long as thousands of steps.
The host reads and writes the values that it is asked about.
"""

from __future__ import annotations

PATIENCE, COLD = 2_000, 400_000
"""Steps on CPython before generated code is worth making, about ten milliseconds, and before the machine is compiled, which takes
seconds."""

MANY = 1 << 14
"""Elements of arrays that a run goes over on CPython before loops are compiled."""

LOOK = 10_000
"""Steps of a run that may pause after which it is asked how much it has written."""

SERVED, SERVED_COMPILED = 8, 500
"""Steps of CPython, and of compiled code, in the 12 µs in which the host does something once."""

USUAL, COPIED, READ = 16, 4, 32
"""Words that a step of compiled code may write, and those that it copies in the time of one; and steps that it takes while the host
reads or writes a value."""

AT_ONCE, IN_ARRAY = 20, 3
"""Numbers that are read or written together, and elements of an array one by one, in the time in which one value is by itself."""

EASY = 16
"""Values that the host reads or writes in the time of a step on CPython."""


def pains(compiled: bool, served: bool, steps: int, words: int, values: int) -> int:
    """How many more steps take as long as these, which have written words, and for which the host has gone over values."""
    if not compiled:
        return SERVED + values // EASY
    return max(0, words - USUAL * steps) // COPIED + READ * values + SERVED_COMPILED * served
