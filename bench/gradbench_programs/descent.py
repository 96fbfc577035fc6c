"""
The descent of `saddle` and `particle`: steps against the gradient, whose length is doubled after ten that succeed, and halved
after one that does not. It ends where the gradient or the step is at most 1e-5 long.

The rule is the one that comes with the problems (Pearlmutter and Siskind, "Putting the automatic back into AD", 2008), so that
all who follow it end at one point. A point is a tuple of reals.
"""

from __future__ import annotations

import math

NEAR = 1e-5


def length(v):  # type: ignore[no-untyped-def]
    """The Euclidean length."""
    return math.sqrt(sum([a * a for a in v]))


def stepped(x, rate, slope):  # type: ignore[no-untyped-def]
    """x - rate · slope"""
    return tuple([a - rate * b for a, b in zip(x, slope)])  # noqa: B905 -- the language has no strict zip


def argmin(f, gradient, start):  # type: ignore[no-untyped-def]
    """A point where f is least, from a start on. `gradient` is that of f."""
    x, lowest, slope = start, f(start), gradient(start)
    rate, successes = 1e-5, 0
    while length(slope) > NEAR:
        if successes == 10:
            rate, successes = 2.0 * rate, 0
        else:
            there = stepped(x, rate, slope)
            if length(stepped(x, 1.0, there)) <= NEAR:
                break
            found = f(there)
            if found < lowest:
                x, lowest, slope, successes = there, found, gradient(there), successes + 1
            else:
                rate, successes = 0.5 * rate, 0
    return x
