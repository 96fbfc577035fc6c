"""
Derivatives of all outputs at once, by difference quotients of balls; for whatever function can be evaluated on balls.

    f is evaluated at x, x ± h d and x ± h' d at hundreds of bits (h = s 2^-100, h' = s 2^-150, s the least coordinate that
    moves, at most 1). The radius of a quotient bounds the rounding; its change from h to h', doubled, estimates the truncation.

The arithmetic is rigorous, the truncation an estimate: a function that bends on a scale below 2^-100 of its argument is seen at
finer steps (`fine`) only. What one side does not know (its values are not decided, or the quotients do not settle) is NaN on
that side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from flint import arb

from checkers.array_audit.bounds import Bounds, Sides
from checkers.array_audit.case import Case, Vector
from checkers.array_audit.references.structural import Attempts, faithful
from checkers.ball_differences import precision
from checkers.primitive_audit.reference import Enclosure, doubles

STEPS, BITS = (100, 150), (600, 4000)
FINE_STEPS, FINE_BITS = (1300, 1400), (6000,)
SECOND_BITS = 1500
QUADRANTS = ((1, 1), (-1, -1), (1, -1), (-1, 1))
MOST = 4096
"""Coordinates and outputs together: beyond, one direction costs seconds. Doubles are asked then."""
Balls: TypeAlias = Sequence[arb]
Evaluate: TypeAlias = Callable[[Case, Balls], Balls | None]
"""The values of all outputs where the coordinates are these balls, at the precision in force; None where it has none."""
NAN = Enclosure(math.nan, math.nan)


def step_exponent(coordinates: Vector, direction: Vector) -> int:
    """
    The exponent of the unit of steps: that of the least nonzero coordinate that moves, at most 0.

    Functions vary on the scale of 1 or of their argument near 0, never on that of a large argument alone.
    """
    moving = coordinates[(direction != 0) & (coordinates != 0) & np.isfinite(coordinates)]
    return min(int(np.frexp(moving)[1].min()), 0) if moving.size else 0


def _exponent(coordinates: Vector, direction: Vector) -> int:
    """
    The same, but where a coordinate that is 0 moves beside one that is below the steps: it may be divided by that, as x by y in
    floor(x / y), which jumps at every multiple of y. Then it is the exponent of the least coordinate of all.
    """
    found = step_exponent(coordinates, direction)
    sizes = np.abs(coordinates[np.isfinite(coordinates) & (coordinates != 0)])
    if not sizes.size or sizes.min() >= 2.0 ** (found - STEPS[0]) or (coordinates[direction != 0] != 0).all():
        return found
    return int(np.frexp(sizes.min())[1])


@dataclass(eq=False)
class BallQuotients:
    """A reference by one way to evaluate a function on balls; `attempts` says what became of its evaluations."""

    evaluate: Evaluate
    name: str
    attempts: Attempts = field(default_factory=Attempts)
    _here: dict[int, tuple[Case, Balls | None]] = field(default_factory=dict, repr=False)

    def sides(self, case: Case, direction: Vector, *, fine: bool = False) -> Sides | None:
        """
        The derivatives along `direction`; with `fine` by steps so small that dense kinks are seen for what they are.

        Precision is raised until every quotient is sharp. None where the function has no value on balls.
        """
        if case.size + case.outputs > MOST:
            return None
        sides, wide = None, False
        for bits in FINE_BITS if fine else BITS:
            with precision(bits):
                sides, wide = self._sides(case, direction, FINE_STEPS if fine else STEPS, bits)
            if not wide:
                return sides
        return None if fine else sides

    def value(self, case: Case) -> Bounds | None:
        """An enclosure of all outputs at the case's own arguments; None where the function has no value on balls."""
        with precision(300):
            here = self._at_point(case, 300)
        return None if here is None else _bounds([doubles(v) for v in here])

    def _at_point(self, case: Case, bits: int) -> Balls | None:
        """The values at the case's own arguments: those of the last case are kept."""
        known = self._here.get(bits)
        if known is None or known[0] is not case:
            found = self.evaluate(case, [lifted(float(x)) for x in case.coordinates])
            if found is not None:
                near = [float(v.mid()) if v.is_finite() else math.nan for v in found]
                found = found if self.attempts(case, lambda: faithful(near, case)) else None
            known = self._here[bits] = (case, found)
        return known[1]

    def _sides(self, case: Case, direction: Vector, steps: tuple[int, int], bits: int) -> tuple[Sides | None, bool]:
        here = self._at_point(case, bits)
        if here is None:
            return None, False
        scale = _exponent(case.coordinates, direction)
        infinite = np.zeros(case.outputs, dtype=bool)
        wide = False
        found: list[Bounds] = []
        for sign in (-1, 1):
            far, near = (self._quotients(case, direction, here, sign, scale - k) for k in steps)
            if far is None or near is None:
                found.append(Bounds.unknown(case.outputs))
                continue
            judged = [_settled(a, b) for a, b in zip(far, near, strict=True)]
            found.append(_bounds([enclosure for enclosure, _, _ in judged]))
            infinite |= np.array([grows for _, grows, _ in judged], dtype=bool)
            wide = wide or any(blurred for _, _, blurred in judged)
        return Sides(found[0], found[1], infinite, self.name), wide

    def _quotients(self, case: Case, direction: Vector, here: Balls, sign: int, exponent: int) -> Balls | None:
        h = arb(2) ** exponent * sign
        there = self.evaluate(case, moved(case.coordinates, [(h, direction)]))
        return None if there is None else [(b - a) / h for a, b in zip(here, there, strict=True)]

    def second(self, case: Case, first: Vector, second: Vector) -> Bounds | None:
        """
        The second derivatives along two directions, where the quotients of all four quadrants agree at two steps; NaN elsewhere.

        Two quadrants are too few: where the first derivative of x -> h(x_j) has a kink, steps against each other in x_j, one by
        each direction, give the same mean of both sides ahead and behind.
        """
        if case.size + case.outputs > MOST:
            return None
        with precision(SECOND_BITS):
            rows = [self._mixed(case, first, second, signs, k) for signs in QUADRANTS for k in STEPS]
            if any(row is None for row in rows):
                return None
            found = []
            for far, near, *others in zip(*rows, strict=True):
                enclosure = _agreed(far, near)
                for far_there, near_there in zip(others[::2], others[1::2], strict=True):
                    there = _agreed(far_there, near_there)
                    enclosure = enclosure.hull(there) if enclosure and there and _agreed(near_there, near) else None
                found.append(enclosure)
            return _bounds(found)

    def _mixed(self, case: Case, first: Vector, second: Vector, signs: tuple[int, int], k: int) -> Balls | None:
        """(f(x + a + b) - f(x + a) - f(x + b) + f(x)) / a b, a and b steps along the two directions, of these signs."""
        here = self._at_point(case, SECOND_BITS)
        x = case.coordinates
        h, g = (sign * arb(2) ** (step_exponent(x, d) - k) for sign, d in zip(signs, (first, second), strict=True))
        if here is None:
            return None
        corners = [self.evaluate(case, moved(x, steps)) for steps in ([(h, first), (g, second)], [(h, first)], [(g, second)])]
        known = [c for c in corners if c is not None]
        if len(known) < len(corners):
            return None
        return [(both - a - b + value) / (h * g) for both, a, b, value in zip(*known, here, strict=True)]


def lifted(x: float) -> arb:
    """A double as a ball without radius; an infinity as itself."""
    return arb(x) if math.isfinite(x) else arb.pos_inf() if x > 0 else arb.neg_inf() if x < 0 else arb.nan()


def moved(coordinates: Vector, steps: Sequence[tuple[arb, Vector]]) -> Balls:
    """The coordinates, each moved by its steps."""
    found = [lifted(float(x)) for x in coordinates]
    for h, direction in steps:
        for k in np.flatnonzero(direction):
            found[k] = found[k] + h * arb(float(direction[k]))
    return found


def _settled(far: Any, near: Any) -> tuple[Enclosure | None, bool, bool]:
    """The limit of two quotients if they agree, whether they grow as h^-1/10 or faster, and whether rounding blurs the nearer."""
    blurred = near.rad() > abs(near.mid()) * arb(2) ** -70 and near.rad() > arb(2) ** -1080
    grows = bool(abs(near).lower() > abs(far).upper() * 2**5)
    change = abs(near - far)
    if not change.is_finite() or (change.lower() > abs(near).upper() * arb(2) ** -20 and change.lower() > arb(2) ** -30):
        return None, grows, bool(blurred)
    return doubles(near + arb(0, change.upper() * 2)), grows, bool(blurred)


def _agreed(far: Any, near: Any) -> Enclosure | None:
    change = abs(near - far)
    if not change.is_finite() or change.lower() > abs(near).upper() * arb(2) ** -20 + arb(2) ** -40:
        return None
    return doubles(near + arb(0, change.upper() * 2))


def _bounds(enclosures: Sequence[Enclosure | None]) -> Bounds:
    known = [e or NAN for e in enclosures]
    return Bounds(np.array([e.lo for e in known], dtype=np.float64), np.array([e.hi for e in known], dtype=np.float64))
