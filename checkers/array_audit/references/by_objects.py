"""
References that run the user's own function on arrays of numbers: jets of rationals, balls, floats of sixty digits.

    jets     exact, where the function is rational; kinks and jumps are decided by the order of the jets
    balls    `quotients`, where comparisons are decided
    digits   quotients at sixty digits, extrapolated once: T = 2 D(h/2) - D(h) is wrong by O(h²), and the change from T(h) to T(h/2)
             is four times the error left; the rounding of f is measured by evaluating it at fifteen digits more
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from flint import arb, fmpq

from checkers.array_audit.bounds import Bounds, Sides
from checkers.array_audit.case import Case, Vector
from checkers.array_audit.references.ball import Ball
from checkers.array_audit.references.digits import CONTEXT, DIGITS, Digits, digits
from checkers.array_audit.references.jet import Jet
from checkers.array_audit.references.number import fueled
from checkers.array_audit.references.objects import run
from checkers.array_audit.references.quotients import MOST, BallQuotients, step_exponent
from checkers.array_audit.references.structural import Attempts, faithful

Forward = Callable[..., Any]


def ball_objects(forward: Forward) -> BallQuotients:
    """Differences of the function run on arrays of balls."""
    attempts = Attempts()

    def evaluate(case: Case, coordinates: Sequence[arb]) -> list[arb] | None:
        def compute() -> list[arb]:
            with fueled():
                return [n.value for n in run(Ball, forward, case, [Ball(x) for x in coordinates])]

        found: list[arb] | None = attempts(case, compute)
        return found

    return BallQuotients(evaluate, "differences in ball arithmetic on arrays of objects", attempts)


# jets


def nearest(q: fmpq) -> tuple[float, float]:
    """The doubles around a rational: twice itself if it is one."""
    try:
        x = int(q.p) / int(q.q)
    except OverflowError:
        return (1.7976931348623157e308, math.inf) if q > 0 else (-math.inf, -1.7976931348623157e308)
    exact = fmpq(*x.as_integer_ratio())
    return (x if exact <= q else math.nextafter(x, -math.inf)), (x if exact >= q else math.nextafter(x, math.inf))


def _bounds(rationals: Sequence[fmpq | None]) -> Bounds:
    ends = np.array([(math.nan, math.nan) if q is None else nearest(q) for q in rationals], dtype=np.float64).reshape(-1, 2)
    return Bounds(ends[:, 0], ends[:, 1])


@dataclass(eq=False)
class ExactJets:
    """The derivatives of a rational function, exactly."""

    forward: Forward
    name: str = "exact rationals"
    attempts: Attempts = field(default_factory=Attempts)

    def _run(self, case: Case, direction: Vector) -> list[Any] | None:
        """The jets of all outputs along a direction; None where a comparison, or the function, is not decided in rationals."""

        def compute() -> list[Any]:
            start = [Jet.moving(float(x), float(d)) for x, d in zip(case.coordinates, direction, strict=True)]
            with fueled():
                values = [n.value for n in run(Jet, self.forward, case, start)]
            if not direction.any():
                faithful([nearest(v[0])[0] for v in values], case)
            return values

        found: list[Any] | None = self.attempts(case, compute)
        return found

    def sides(self, case: Case, direction: Vector) -> Sides | None:
        """The one-sided derivatives, exactly; infinite where the function jumps."""
        if case.size + case.outputs > MOST:
            return None
        here = self._run(case, np.zeros(case.size))
        if here is None:
            return None
        infinite = np.zeros(case.outputs, dtype=bool)
        found: list[Bounds] = []
        for sign in (-1, 1):
            there = self._run(case, direction * sign)
            if there is None:
                found.append(Bounds.unknown(case.outputs))
                continue
            jumps = np.array([a[0] != b[0] for a, b in zip(here, there, strict=True)], dtype=bool)
            infinite |= jumps
            found.append(_bounds([None if j else jet[1] * sign for j, jet in zip(jumps, there, strict=True)]))
        return Sides(found[0], found[1], infinite, self.name)

    def second(self, case: Case, first: Vector, second: Vector) -> Bounds | None:
        """uᵀ f'' v = (q(u + v) - q(u - v)) / 2, where q(w) = wᵀ f'' w / 2 is the last coefficient along w; NaN at kinks."""
        if case.size + case.outputs > MOST:
            return None
        forms: list[list[fmpq | None]] = []
        for w in (first + second, first - second):
            forth, back = self._run(case, w), self._run(case, -w)
            if forth is None or back is None:
                return None
            forms.append([a[2] if (a[0], a[1], a[2]) == (b[0], -b[1], b[2]) else None for a, b in zip(forth, back, strict=True)])
        return _bounds([None if p is None or m is None else (p - m) / 2 for p, m in zip(*forms, strict=True)])


# sixty digits

STEP = 50
EXTRA = 15
HALVINGS = 3
FEWER = 1e-20
"""Relative: what differs by more has not settled; of a smooth function T at steps of 2^-50 and half of it differ by 2^-100."""


@dataclass(eq=False)
class DigitQuotients:
    """Differences at sixty digits: an estimate with its error, not an enclosure; every comparison is decided."""

    forward: Forward
    name: str = "differences at sixty digits on arrays of objects"
    attempts: Attempts = field(default_factory=Attempts)
    _here: list[Any] = field(default_factory=lambda: [None, None, None], repr=False)

    def _run(self, case: Case, coordinates: Sequence[Any]) -> list[Any] | None:
        def compute() -> list[Any]:
            with fueled():
                values = [n.value for n in run(Digits, self.forward, case, [Digits(x) for x in coordinates])]
            if self._here[0] is not case:
                faithful(list(map(float, values)), case)
            return values

        found: list[Any] | None = self.attempts(case, compute)
        return found

    def _at_point(self, case: Case) -> tuple[list[Any], list[Any]] | None:
        """The values at the case's own arguments, and twice how far they are from those at more digits; kept for one case."""
        if self._here[0] is not case:
            start = [CONTEXT.mpf(float(x)) for x in case.coordinates]
            here = self._run(case, start)
            with digits(DIGITS + EXTRA):
                closer = self._run(case, start)
            noise = None
            if here is not None and closer is not None:
                noise = [2 * abs(a - b) + 64 * CONTEXT.eps * abs(a) for a, b in zip(here, closer, strict=True)]
            self._here[:] = [case, here, noise]
        return None if self._here[1] is None or self._here[2] is None else (self._here[1], self._here[2])

    def sides(self, case: Case, direction: Vector) -> Sides | None:
        """The derivatives along `direction`, with their errors."""
        if case.size + case.outputs > MOST:
            return None
        known = self._at_point(case)
        if known is None:
            return None
        infinite = np.zeros(case.outputs, dtype=bool)
        found: list[Bounds] = []
        for sign in (-1, 1):
            rows = self._quotients(case, direction, known[0], sign)
            if rows is None:
                found.append(Bounds.unknown(case.outputs))
                continue
            h = CONTEXT.ldexp(1, step_exponent(case.coordinates, direction) - STEP - HALVINGS + 1)
            judged = [_extrapolated(d0, d1, d2, 2 * eta / h) for d0, d1, d2, eta in zip(*rows, known[1], strict=True)]
            infinite |= np.array([grows for _, grows in judged], dtype=bool)
            ends = np.array([ends for ends, _ in judged], dtype=np.float64).reshape(-1, 2)
            found.append(Bounds(ends[:, 0], ends[:, 1]))
        return Sides(found[0], found[1], infinite, self.name)

    def _quotients(self, case: Case, direction: Vector, here: list[Any], sign: int) -> list[list[Any]] | None:
        """The quotients at steps h, h/2, h/4, each of all outputs."""
        rows: list[list[Any]] = []
        for k in range(HALVINGS):
            h = sign * CONTEXT.ldexp(1, step_exponent(case.coordinates, direction) - STEP - k)
            start = [CONTEXT.mpf(float(x)) + h * float(d) for x, d in zip(case.coordinates, direction, strict=True)]
            there = self._run(case, start)
            if there is None:
                return None
            rows.append([(b - a) / h for a, b in zip(here, there, strict=True)])
        return rows

    def second(self, case: Case, first: Vector, second: Vector) -> Bounds | None:
        """Not known: sixty digits leave too few after two differences."""
        return None


def _extrapolated(d0: Any, d1: Any, d2: Any, floor: Any) -> tuple[tuple[float, float], bool]:
    """The ends of the estimate from three quotients, and whether they grow like an inverse power of the step, h^-0.4 or faster."""
    unknown = (math.nan, math.nan)
    if not all(CONTEXT.isfinite(d) for d in (d0, d1, d2, floor)):
        return unknown, False
    if abs(d2) > CONTEXT.mpf(1.3) * abs(d1) > CONTEXT.mpf(1.69) * abs(d0) and abs(d2) > 2**10 * floor:
        return unknown, True
    t0, t1 = 2 * d1 - d0, 2 * d2 - d1
    bound = 4 * abs(t1 - t0) + 8 * floor
    if bound > FEWER * max(1, abs(t1)):
        return unknown, False
    return (math.nextafter(float(t1 - bound), -math.inf), math.nextafter(float(t1 + bound), math.inf)), False
