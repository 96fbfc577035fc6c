"""
References for a scalar function whose program cannot be read: the Python function itself, run on other numbers than doubles.

Balls come first, then jets of rationals, then floats of sixty digits; they are those of `checkers.array_audit.references`, and
a real is an argument without axes there. What would round on the way is refused, and these references then say nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from checkers.inputs import Point
from checkers.primitive_audit.reference import UNKNOWN, Balls, Direction, Enclosure, Slope, joined
from semantics.errors import Trap

PROBES = (0.5, 2.0, -0.5, 0.0, 1.25, 3.0)
"""Where a function is tried on balls: if it gives none here, it is a black box."""


def on_balls(function: Callable[..., Any], arity: int) -> Balls | None:
    """Balls by running a Python function on balls in place of doubles; None if it gives no ball at any of a few points."""
    from checkers.array_audit.references.ball import Ball
    from checkers.array_audit.references.number import fueled
    from checkers.array_audit.references.rebound import rebound

    def on_numbers(*xs: Any) -> Any:
        with fueled():
            try:
                found = rebound(Ball, function)(*map(Ball, xs))
            except Exception as error:  # a foreign function may raise anything
                raise Trap(f"the function does not run on balls here: {error}", rule="reference") from None
        return getattr(found, "value", found)

    found = Balls(on_numbers, "differences in ball arithmetic on arrays of objects")
    return found if any(found.value((x,) * arity) is not None for x in PROBES) else None


@dataclass(frozen=True)
class Numbers:
    """Slopes by a reference on arrays, for a function of reals: its case has one real per argument."""

    reference: Any
    function: Callable[..., Any]

    @property
    def name(self) -> str:
        return str(self.reference.name)

    def slope(self, xs: Point, direction: Direction) -> Slope:
        """The slope at xs along `direction`."""
        from checkers.array_audit.case import Case

        try:
            here = float(self.function(*xs))
        except Exception:  # a foreign function may raise anything
            return UNKNOWN
        found = self.reference.sides(Case(tuple(xs), here), np.array(direction))
        if found is None:
            return UNKNOWN
        left, right = (Enclosure(float(b.lo[0]), float(b.hi[0])) if b.known[0] else None for b in (found.left, found.right))
        return joined(left, right, bool(found.infinite[0]), self.name, found.agreement)


def on_other_numbers(function: Callable[..., Any]) -> tuple[Numbers, ...]:
    """The references that run a Python function on jets of rationals and on floats of sixty digits."""
    from checkers.array_audit.references.by_objects import DigitQuotients, ExactJets

    return Numbers(ExactJets(function), function), Numbers(DigitQuotients(function), function)
