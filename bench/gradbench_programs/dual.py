"""
Forward mode as a program of the language: (x + ẋε)(y + ẏε) = xy + (xẏ + ẋy)ε. An operand that does not move is a dual number too.

A function written with operators runs on them as on reals. It may be differentiated once more, in any mode.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Dual(NamedTuple):
    """A number, and its derivative in one direction."""

    primal: Any
    tangent: Any

    def __add__(self, y):  # type: ignore[no-untyped-def]
        return Dual(self.primal + y.primal, self.tangent + y.tangent)

    def __sub__(self, y):  # type: ignore[no-untyped-def]
        return Dual(self.primal - y.primal, self.tangent - y.tangent)

    def __mul__(self, y):  # type: ignore[no-untyped-def]
        return Dual(self.primal * y.primal, self.primal * y.tangent + self.tangent * y.primal)

    def __pow__(self, n):  # type: ignore[no-untyped-def]
        return Dual(self.primal**n, n * self.primal ** (n - 1.0) * self.tangent)


def slope(f, x, y, a, b):  # type: ignore[no-untyped-def]
    """The gradient of f(x, y, a, b) by (x, y), one of them at a time; f is given dual numbers alone."""
    a, b = Dual(a, 0.0), Dual(b, 0.0)
    return f(Dual(x, 1.0), Dual(y, 0.0), a, b).tangent, f(Dual(x, 0.0), Dual(y, 1.0), a, b).tangent
