"""
Balls as numbers: every result encloses the real one, at the precision in force. Infinities are exact, NaN is the whole line.

A maximum, a minimum and an absolute value never need a decision: the enclosure of the result is the union.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from flint import arb

from checkers.array_audit.references.number import Number, refused
from checkers.columns import ball_decisions as decisions
from checkers.columns.undecided import Undecided


class Ball(Number):
    """A real between lower and upper, both exact."""

    __slots__ = ()
    kind = "ball"

    @classmethod
    def of(cls, x: float) -> Ball:
        if isinstance(x, float) and math.isinf(x):
            return cls(arb.pos_inf() if x > 0 else arb.neg_inf())
        return cls(arb(x))

    def plus(self, other: Ball) -> Ball:
        return Ball(self.value + other.value)

    def minus(self, other: Ball) -> Ball:
        return Ball(self.value - other.value)

    def times(self, other: Ball) -> Ball:
        return Ball(self.value * other.value)

    def over(self, other: Ball) -> Ball:
        return Ball(self.value / other.value)

    def power(self, other: Ball) -> Ball:
        x, y = self.value, other.value
        if x == 0 and y > 0:
            return Ball.of(0)
        return Ball(x**y)

    def less(self, other: Ball) -> bool:
        return decisions.less("a comparison", self.value, other.value)

    def equal(self, other: Ball) -> bool:
        return self is other or decisions.equal("a comparison", self.value, other.value)

    def magnitude(self) -> float:
        """A lower bound of its size, about; 0 if it may be 0."""
        low = self.value.abs_lower() if self.value.is_finite() else arb(0)
        return float(low) or (5e-324 if low > 0 else 0.0)

    def isnan(self) -> bool:
        return bool(self.value.is_nan())

    def isinf(self) -> bool:
        """Whether it is certainly infinite; Undecided where it may be."""
        if self.value.is_finite():
            return False
        if self.value in (arb.pos_inf(), arb.neg_inf()):
            return True
        raise Undecided("isinf is not decided: the enclosure is unbounded", rule="isinf")

    def __neg__(self) -> Ball:
        return Ball(-self.value)

    def __abs__(self) -> Ball:
        return Ball(abs(self.value))

    def maximum(self, other: Ball) -> Ball:
        return Ball(self.value.max(other.value))

    def minimum(self, other: Ball) -> Ball:
        return Ball(self.value.min(other.value))

    def floor(self) -> Ball:
        return Ball(arb(decisions.floor_of("floor", self.value)))

    def arctan2(self, x: Any) -> Ball:
        if not (x.value > 0 or self.value != 0):
            raise Undecided("arctan2 is not decided: the ball reaches the half-line where the angle jumps", rule="arctan2")
        return Ball(arb.atan2(self.value, x.value))

    def cbrt(self) -> Ball:
        if self.value == 0:
            return self
        sign = decisions.sign_of("cbrt", self.value)
        return Ball(sign * abs(self.value).root(3))

    def log(self) -> Ball:
        return Ball.of(-math.inf) if self.value == 0 else Ball(self.value.log())


def _unary(name: str, function: Callable[[arb], arb]) -> None:
    def method(self: Ball) -> Ball:
        return Ball(function(self.value))

    method.__name__ = name
    setattr(Ball, name, method)


def _gammaln(x: arb) -> arb:
    """log|Γ(x)|."""
    if x > 0:
        return x.lgamma()
    found = abs(x.gamma())
    if not found > 0:
        raise refused("gammaln at a pole")
    return found.log()


for _name, _function in {
    **{
        name: getattr(arb, name)
        for name in ["exp", "expm1", "log1p", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "erf", "erfc", "gamma"]
    },
    **{f"arc{name}": getattr(arb, f"a{name}") for name in ["sin", "cos", "tan", "sinh", "cosh", "tanh"]},
    "exp2": lambda x: arb(2) ** x,
    "log2": lambda x: x.log() / arb(2).log(),
    "log10": lambda x: x.log() / arb(10).log(),
    "psi": arb.digamma,
    "gammaln": _gammaln,
}.items():
    _unary(_name, _function)
