"""
Jets of rationals: f(x + ε d) = c₀ + c₁ε + c₂ε² for an infinitesimal ε > 0, exactly. c₁ is a derivative from the right, 2c₂ a
second.

Jets are ordered as the reals close to x are: by the first coefficient in which they differ. So a comparison at a kink is
decided, for the side on which ε lies, and nothing is estimated. Where two jets that vary agree in all coefficients, what lies
beyond decides, and nobody knows: Undecided. Only rational functions have jets of rationals; `exp` and `sqrt` refuse.
"""

from __future__ import annotations

import math
from typing import Any

from flint import fmpq

from checkers.array_audit.references.number import Number
from checkers.columns.undecided import Undecided
from semantics.errors import OutOfFuel, Trap

BITS = 60_000
"""The longest coefficient: some thousand products of doubles. A rational that is iterated doubles its length with every step."""
Coefficients = tuple[fmpq, fmpq, fmpq]
NOTHING = fmpq(0)


class Jet(Number):
    """c₀ + c₁ε + c₂ε²; `varies` is False of what does not depend on ε at all."""

    __slots__ = ("varies",)
    kind = "jet of rationals"

    def __init__(self, value: Coefficients, varies: bool) -> None:
        super().__init__(value)
        self.varies = varies

    @classmethod
    def of(cls, x: float) -> Jet:
        if isinstance(x, float) and not math.isfinite(x):
            raise Trap(f"{x} is not a rational", rule="numbers")
        return cls((fmpq(*x.as_integer_ratio()), NOTHING, NOTHING), False)

    @classmethod
    def moving(cls, x: float, along: float) -> Jet:
        """x + ε·along."""
        return cls((cls.of(x).value[0], cls.of(along).value[0], NOTHING), along != 0)

    def plus(self, other: Jet) -> Jet:
        a, b = self.value, other.value
        return Jet((a[0] + b[0], a[1] + b[1], a[2] + b[2]), self.varies or other.varies)

    def minus(self, other: Jet) -> Jet:
        a, b = self.value, other.value
        return Jet((a[0] - b[0], a[1] - b[1], a[2] - b[2]), self.varies or other.varies)

    def times(self, other: Jet) -> Jet:
        a, b = self.value, other.value
        if max(map(_length, (*a, *b))) > BITS:
            raise OutOfFuel("the rationals grow too long", rule="numbers")
        if self.never or other.never:
            return Jet.of(0)
        found = (a[0] * b[0], a[0] * b[1] + a[1] * b[0], a[0] * b[2] + a[1] * b[1] + a[2] * b[0])
        return Jet(found, self.varies or other.varies)

    def over(self, other: Jet) -> Jet:
        """The series q with q·b = a."""
        a, b = self.value, other.value
        if b[0] == 0:
            raise Trap("division by zero", rule="numbers", remedy="test the divisor first")
        q0 = a[0] / b[0]
        q1 = (a[1] - q0 * b[1]) / b[0]
        q2 = (a[2] - q0 * b[2] - q1 * b[1]) / b[0]
        return Jet((q0, q1, q2), self.varies or other.varies)

    def power(self, other: Jet) -> Jet:
        exponent = other.value[0]
        if other.varies or exponent.q != 1 or abs(exponent) > 4096:
            return super().exp()  # type: ignore[misc]  # irrational: refused
        n, base, result = abs(int(exponent.p)), self, Jet.of(1)
        while n:
            result = result * base if n & 1 else result
            base, n = base * base if n > 1 else base, n >> 1
        return 1 / result if exponent < 0 else result

    @property
    def never(self) -> bool:
        """Whether it is the constant 0."""
        return not self.varies and self.value[0] == 0

    def order(self) -> int:
        """The sign of the jet: that of its first coefficient that is not 0."""
        for c in self.value:
            if c != 0:
                return 1 if c > 0 else -1
        if self.varies:
            raise Undecided("a comparison is not decided: both sides agree to second order", rule="numbers")
        return 0

    def less(self, other: Jet) -> bool:
        return self is not other and self.minus(other).order() < 0

    def equal(self, other: Jet) -> bool:
        return self is other or self.minus(other).order() == 0

    def maximum(self, other: Any) -> Any:
        """Where the jets agree in all coefficients, either is the maximum's."""
        return other if self.value == other.value or self < other else self

    def minimum(self, other: Any) -> Any:
        return other if self.value == other.value or other < self else self

    def __abs__(self) -> Jet:
        return self if not any(self.value) else -self if self.order() < 0 else self

    def floor(self) -> Jet:
        whole = self.value[0].floor()
        below = self.varies and self.value[0].q == 1 and self.minus(Jet.of(int(whole))).order() < 0
        return Jet((fmpq(whole) - int(below), NOTHING, NOTHING), False)

    def magnitude(self) -> float:
        """The size of its standard part, about; 0 if it is infinitesimal."""
        c = abs(self.value[0])
        return 2.0 ** min(max(int(c.p).bit_length() - int(c.q).bit_length(), -1074), 1000) if c else 0.0

    def isnan(self) -> bool:
        return False

    isinf = isnan


def _length(c: fmpq) -> int:
    return int(c.height_bits())
