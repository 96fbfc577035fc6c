"""
Floats of sixty digits as numbers, by mpmath: every comparison is decided, as it is for doubles, and nothing is enclosed.

What has no real value is NaN. A context of our own keeps the caller's precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import mpmath

from checkers.array_audit.references.number import Number

DIGITS = 60
CONTEXT = mpmath.MPContext()
CONTEXT.dps = DIGITS


@contextmanager
def digits(count: int) -> Iterator[None]:
    """Computes with that many decimal digits inside the block."""
    before, CONTEXT.dps = CONTEXT.dps, count
    try:
        yield
    finally:
        CONTEXT.dps = before


class Digits(Number):
    """A float of `CONTEXT`."""

    __slots__ = ()
    kind = "float of many digits"

    @classmethod
    def of(cls, x: float) -> Digits:
        return cls(CONTEXT.mpf(x))

    def plus(self, other: Digits) -> Digits:
        return Digits(self.value + other.value)

    def minus(self, other: Digits) -> Digits:
        return Digits(self.value - other.value)

    def times(self, other: Digits) -> Digits:
        return Digits(self.value * other.value)

    def over(self, other: Digits) -> Digits:
        return _real(lambda: self.value / other.value)

    def power(self, other: Digits) -> Digits:
        return _real(lambda: self.value**other.value)

    def less(self, other: Digits) -> bool:
        return bool(self.value < other.value)

    def equal(self, other: Digits) -> bool:
        return bool(self.value == other.value)

    def magnitude(self) -> float:
        """Its size, about; 0 if it is 0 or NaN."""
        return 0.0 if self.isnan() or self.value == 0 else float(abs(self.value)) or 5e-324

    def isnan(self) -> bool:
        return bool(CONTEXT.isnan(self.value))

    def isinf(self) -> bool:
        return bool(CONTEXT.isinf(self.value))

    def floor(self) -> Digits:
        return Digits(CONTEXT.floor(self.value))

    def rint(self) -> Digits:
        return Digits(CONTEXT.nint(self.value))

    def arctan2(self, x: Any) -> Digits:
        return _real(lambda: CONTEXT.atan2(self.value, x.value))

    def cbrt(self) -> Digits:
        return Digits(CONTEXT.sign(self.value) * CONTEXT.cbrt(abs(self.value)))

    def log(self) -> Digits:
        return Digits(CONTEXT.ninf) if self.value == 0 else _real(lambda: CONTEXT.log(self.value))


def _real(compute: Callable[[], Any]) -> Digits:
    """The result; NaN where there is none, or none that is real."""
    try:
        found = compute()
    except (ZeroDivisionError, ValueError):
        return Digits(CONTEXT.nan)
    return Digits(found if isinstance(found, CONTEXT.mpf) else CONTEXT.nan)


def _unary(name: str, function: Callable[[Any], Any]) -> None:
    def method(self: Digits) -> Digits:
        return _real(lambda: function(self.value))

    method.__name__ = name
    setattr(Digits, name, method)


for _name, _function in {
    **{
        name: getattr(CONTEXT, name)
        for name in ["exp", "expm1", "log1p", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "erf", "erfc", "gamma"]
    },
    **{f"arc{name}": getattr(CONTEXT, f"a{name}") for name in ["sin", "cos", "tan", "sinh", "cosh", "tanh"]},
    "exp2": lambda x: CONTEXT.mpf(2) ** x,
    "log2": lambda x: CONTEXT.log(x, 2),
    "log10": CONTEXT.log10,
    "psi": lambda x: CONTEXT.psi(0, x),
    "gammaln": lambda x: CONTEXT.log(abs(CONTEXT.gamma(x))),
}.items():
    _unary(_name, _function)
