"""Smooth functions of arrays with their Jacobians in closed form, and what the tests of references ask of them."""

from __future__ import annotations

import numpy as np

from checkers.array_audit.bounds import Bounds
from checkers.array_audit.case import Case, unit

SINGLE = 2.0**-24
MATRIX = np.array([[0.5, -1.25, 2.0], [3.0, 0.75, -0.375]])
VECTOR = np.array([0.5, -1.25, 2.0])


def case_of(forward, *arguments, fixed=()):
    with np.errstate(all="ignore"):
        return Case(arguments, forward(*arguments), fixed=frozenset(fixed))


def jacobian(reference, case) -> Bounds:
    """All columns of a reference's derivative; NaN where it does not know."""
    columns = [reference.sides(case, unit(case.size, k)) for k in range(case.size)]
    values = [Bounds.unknown(case.outputs) if c is None else c.value for c in columns]
    return Bounds(np.array([v.lo for v in values]).T, np.array([v.hi for v in values]).T)


# the functions, with their Jacobians in closed form

SMOOTH = {
    "exp": (np.exp, np.exp),
    "tanh": (np.tanh, lambda x: 1 / np.cosh(x) ** 2),
    "sin": (np.sin, np.cos),
    "cube": (lambda x: x**3, lambda x: 3 * x**2),
    "bell": (lambda x: np.exp(-x * x), lambda x: -2 * x * np.exp(-x * x)),
    "rational": (lambda x: x / (1 + x * x), lambda x: (1 - x * x) / (1 + x * x) ** 2),
    "expm1": (np.expm1, np.exp),
    "wave": (lambda x: np.sin(20 * x), lambda x: 20 * np.cos(20 * x)),
}
CLOSED = 16
"""Units in the last place by which a closed form above, in doubles, may be wrong: at most 8 operations."""


def holds(bounds: Bounds, closed) -> bool:
    """Whether every bound that is known holds the closed form, but for its rounding; that of sin(20 x) is beside its size."""
    known = bounds.known
    room = CLOSED * 2.0**-52 * (np.abs(closed) + 20)
    return bool((bounds.distance(closed)[known] <= room[known]).all())
