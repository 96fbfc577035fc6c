"""
What a derivative should be: slopes of the forward function, by differences in ball arithmetic where its program can be read so,
and by Richardson extrapolation of double differences where it is a black box. Neither looks at a backpropagator.

    Ball     f is evaluated at x, x ± h and x ± h' with hundreds of bits (h = s 2^-100, h' = s 2^-150, s the size of x, at most
             1); the radius of the quotients bounds the rounding, their change from h to h' estimates the truncation
    Numeric  f is evaluated in doubles only, where each value may be wrong by `ULPS` units; its bound is an estimate, not a proof

A function whose program cannot be read is run on other numbers than doubles, if it runs (`checkers.primitive_audit.other_numbers`).

A `Slope` knows both one-sided derivatives, and with them whether the point is a kink.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from flint import arb, ctx

from checkers.finite_differences import Estimate, derivative, one_sided
from checkers.inputs import Point
from semantics.errors import AdjudgeError

ULPS = 64.0
"""Units in the last place by which a black box's value may be wrong: 32 operations of at most 2 each."""
U = 2.0**-53


@dataclass(frozen=True, slots=True)
class Enclosure:
    """The reference value lies between lo and hi."""

    lo: float
    hi: float

    def distance(self, x: float) -> float:
        """How far x is from the nearest point of the enclosure; infinite for a NaN."""
        return math.inf if math.isnan(x) else max(self.lo - x, x - self.hi, 0.0)

    @property
    def size(self) -> float:
        """The largest magnitude inside."""
        return max(abs(self.lo), abs(self.hi))

    @property
    def middle(self) -> float:
        return self.lo / 2 + self.hi / 2

    @property
    def finite(self) -> bool:
        return math.isfinite(self.lo) and math.isfinite(self.hi)

    def hull(self, other: Enclosure) -> Enclosure:
        """The least enclosure that holds both."""
        return Enclosure(min(self.lo, other.lo), max(self.hi, other.hi))

    def overlaps(self, other: Enclosure, slack: float = 0.0) -> bool:
        """Whether the two are within `slack` of each other."""
        return self.lo - other.hi <= slack and other.lo - self.hi <= slack

    def __str__(self) -> str:
        return f"{self.lo!r}" if self.lo == self.hi else f"[{self.lo!r}, {self.hi!r}]"


@dataclass(frozen=True, slots=True)
class Slope:
    """
    The derivative in one direction at one point, as far as the reference knows it.

    value        the enclosure, where left and right agree
    left, right  the one-sided derivatives, None where unknown
    note         "" | "kink" | "infinite" | "edge" (defined on one side only) | "unknown"
    by           which reference
    """

    value: Enclosure | None
    left: Enclosure | None
    right: Enclosure | None
    note: str
    by: str

    @property
    def clarke(self) -> Enclosure | None:
        """The Clarke derivative in this direction, from both sides."""
        return self.left.hull(self.right) if self.left is not None and self.right is not None else None


STEPS = (100, 150)
FINE_STEPS = (1300, 1400)
UNKNOWN = Slope(None, None, None, "unknown", "nothing")
Direction = tuple[float, ...]


def unit(arity: int, i: int) -> Direction:
    """The direction of argument i."""
    return tuple(float(i == j) for j in range(arity))


def joined(left: Enclosure | None, right: Enclosure | None, infinite: bool, by: str, agreement: float) -> Slope:
    """The slope from its two sides. They agree where they are within `agreement` of their size."""
    if infinite:
        return Slope(None, left, right, "infinite", by)
    if left is None or right is None:
        if left is None and right is None:
            return UNKNOWN
        return Slope(None, left, right, "edge", by)
    if left.overlaps(right, agreement * max(left.size, right.size)):
        return Slope(left.hull(right), left, right, "", by)
    return Slope(None, left, right, "kink", by)


# balls


def doubles(ball: Any) -> Enclosure | None:
    """A finite ball as an enclosure by doubles, rounded outwards; None if it is not finite."""
    if not ball.is_finite():
        return None
    if ball.is_zero():
        return Enclosure(0.0, 0.0)
    return Enclosure(math.nextafter(float(ball.lower()), -math.inf), math.nextafter(float(ball.upper()), math.inf))


@dataclass(frozen=True)
class Balls:
    """Slopes of `function`, which takes and returns balls, by differences at 600 and if need be at 4000 bits."""

    function: Callable[..., Any]
    name: str = "differences in ball arithmetic"

    def at(self, xs: Sequence[Any]) -> Any:
        """The value as a ball, or None where it cannot be decided or is not finite."""
        try:
            value = self.function(*xs)
        except (AdjudgeError, ValueError, ArithmeticError, TypeError, NotImplementedError):
            return None
        value = arb(value) if isinstance(value, (int, float)) else value
        return value if isinstance(value, arb) and value.is_finite() else None

    def value(self, xs: Point) -> Enclosure | None:
        """An enclosure of the function's value."""
        found = with_precision(300, lambda: self.at([arb(x) for x in xs]))
        return None if found is None else doubles(found)

    def slope(self, xs: Point, direction: Direction) -> Slope:
        """The slope at xs along `direction`."""
        slope = UNKNOWN
        for bits in (600, 4000):
            slope, wide = with_precision(bits, lambda: self._slope(xs, direction, STEPS))
            if not wide:
                break
        return slope

    def confirmed(self, xs: Point, direction: Direction) -> Slope:
        """The slope again, with steps so small that dense kinks are seen for what they are: asked before a fault is claimed."""
        slope, wide = with_precision(6000, lambda: self._slope(xs, direction, FINE_STEPS))
        return UNKNOWN if wide else slope

    def _slope(self, xs: Point, direction: Direction, steps: tuple[int, int]) -> tuple[Slope, bool]:
        here = self.at([arb(x) for x in xs])
        if here is None:
            return UNKNOWN, False
        exponent = scale_exponent(xs, direction)
        sides: list[Enclosure | None] = []
        infinite = wide = False
        for sign in (-1, 1):
            quotients = [self._quotient(xs, direction, here, sign, exponent - k) for k in steps]
            if quotients[0] is None or quotients[1] is None:
                sides.append(None)
                continue
            near, far = quotients[1], quotients[0]
            if near.rad() > abs(near.mid()) * arb(2) ** -70 and near.rad() > arb(2) ** -1080:
                wide = True
            growth = abs(near - far)
            if abs(near).lower() > abs(far).upper() * 2**5:
                infinite = True
            if growth.lower() > abs(near).upper() * arb(2) ** -20 and growth.lower() > arb(2) ** -30:
                sides.append(None)
                continue
            sides.append(doubles(near + arb(0, growth.upper() * 2)))
        return joined(sides[0], sides[1], infinite, self.name, 2.0**-30), wide

    def _quotient(self, xs: Point, direction: Direction, here: Any, sign: int, exponent: int) -> Any:
        h = arb(2) ** exponent * sign
        there = self.at([arb(x) + h * arb(v) if v else arb(x) for x, v in zip(xs, direction, strict=True)])
        return None if there is None else (there - here) / h

    def second(self, xs: Point, i: int, j: int) -> Enclosure | None:
        """The second derivative by arguments i and j, where two steps agree."""
        found = [with_precision(1500, partial(self._second, xs, i, j, k)) for k in (100, 150)]
        far, near = found
        if far is None or near is None:
            return None
        growth = abs(near - far)
        if growth.lower() > abs(near).upper() * arb(2) ** -20 + arb(2) ** -40:
            return None
        return doubles(near + arb(0, growth.upper() * 2))

    def _second(self, xs: Point, i: int, j: int, k: int) -> Any:
        n = len(xs)
        hs = [arb(2) ** (scale_exponent(xs, unit(n, d)) - k) for d in (i, j)]
        total = arb(0)
        for a in (1, -1):
            for b in (1, -1):
                moved = [arb(x) for x in xs]
                moved[i] += hs[0] * a
                moved[j] += hs[1] * b
                there = self.at(moved)
                if there is None:
                    return None
                total += there * (a * b)
        return total / (hs[0] * hs[1] * 4)


def with_precision(bits: int, compute: Callable[[], Any]) -> Any:
    """The result of `compute` at that many bits; the precision is put back."""
    before = ctx.prec
    ctx.prec = bits
    try:
        return compute()
    finally:
        ctx.prec = before


def scale_exponent(xs: Point, direction: Direction) -> int:
    """
    The exponent of the unit of steps: that of the least nonzero argument that moves, at most 0.

    Functions vary on the scale of 1 (sin, floor) or of their argument near 0 (log, sqrt), never on that of a large argument alone.
    """
    moving = [math.frexp(x)[1] for x, v in zip(xs, direction, strict=True) if v and x and math.isfinite(x)]
    return min([*moving, 0])


# doubles


@dataclass(frozen=True)
class Numeric:
    """Slopes of a black box, by the long-double differences of `finite_differences`."""

    function: Callable[..., float]
    name: str = "Richardson differences in long double"

    def slope(self, xs: Point, direction: Direction) -> Slope:
        """The slope at xs along `direction`, which is an axis or keeps ties (all that moves has one magnitude); else unknown."""
        moving = [(x, v) for x, v in zip(xs, direction, strict=True) if v]
        start, forth = moving[0][0] * moving[0][1], moving[0][1]
        if any(abs(v) != 1 or x * v != start for x, v in moving) or not math.isfinite(start):
            return UNKNOWN

        def along(t: float) -> float:
            try:
                return float(self.function(*(t * v if v else x for x, v in zip(xs, direction, strict=True))))
            except (AdjudgeError, ArithmeticError, ValueError):
                return math.nan

        assert abs(forth) == 1
        found = derivative(along, (start,), 0, ulps=ULPS)
        if isinstance(found, Estimate):
            both = Enclosure(found.value - found.bound, found.value + found.bound)
            return Slope(both, both, both, "", self.name)
        sides = [one_sided(along, (start,), 0, s, ulps=ULPS) for s in (-1, 1)]
        left, right = (Enclosure(e.value - e.bound, e.value + e.bound) if isinstance(e, Estimate) else None for e in sides)
        if left is not None and right is not None:
            return Slope(None, left, right, "unknown" if left.overlaps(right) else "kink", self.name)
        missing = -1 if left is None else 1
        outside = math.isnan(along(start + missing * 2.0**-30 * (abs(start) or 1.0)))
        known = left is not None or right is not None
        return Slope(None, left, right, "edge" if known and outside else "unknown", self.name)


@dataclass(frozen=True)
class Best:
    """The first of several references, each with a name and a slope, that knows; extreme points are left to the exact ones."""

    references: tuple[Any, ...]

    @property
    def name(self) -> str:
        return self.references[0].name

    def slope(self, xs: Point, direction: Direction) -> Slope:
        """The slope by the first reference that has one."""
        found = UNKNOWN
        for reference in self.references:
            if isinstance(reference, Numeric) and not all(x == 0 or 2.0**-40 <= abs(x) <= 2.0**40 for x in xs if math.isfinite(x)):
                continue
            found = reference.slope(xs, direction)
            if found.note != "unknown":
                return found
        return found

    def second(self, xs: Point, i: int, j: int) -> Enclosure | None:
        """The second derivative, if a reference can enclose it."""
        return next((r.second(xs, i, j) for r in self.references if isinstance(r, Balls)), None)

    @property
    def balls(self) -> Balls | None:
        return next((r for r in self.references if isinstance(r, Balls)), None)
