"""
The axioms of `trusted` in numbers: for each what its two sides are at a point, computed in balls.

A claim gives pairs: the two sides of an equation, or for a limit the distance of the quotient from it and a bound on that, at
steps h = ±2^-10 … ±2^-60.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import TypeAlias

from flint import arb, fmpq

WIDEST = Fraction(1, 2**200)
Sides: TypeAlias = Iterator[tuple[arb, arb]]


def number(text: str) -> arb:
    """A rational number as a ball."""
    value = Fraction(text)
    return arb(fmpq(value.numerator, value.denominator))


def steps() -> list[arb]:
    """±2^-10 … ±2^-60"""
    return [arb(sign) / arb(2) ** k for k in range(10, 61, 10) for sign in (1, -1)]


def pairs(x: arb) -> Sequence[tuple[arb, arb]]:
    return [(x, number(y)) for y in ("-3/4", "1/5", "2")]


def square_slope(x: arb) -> Sides:
    yield from ((abs(((x + h) ** 2 - x**2) / h - 2 * x), 2 * abs(h)) for h in steps())


def log_slope(x: arb) -> Sides:
    yield from ((abs(((x + h).log() - x.log()) / h - 1 / x), abs(h) / x**2) for h in steps())


def pieces(x: arb) -> Sides:
    yield from (((x + h).floor(), x.floor()) for h in steps())


def exp_sum(x: arb) -> Sides:
    yield from (((a + b).exp(), a.exp() * b.exp()) for a, b in pairs(x))


def sin_sum(x: arb) -> Sides:
    yield from (((a + b).sin(), a.sin() * b.cos() + a.cos() * b.sin()) for a, b in pairs(x))


def cos_sum(x: arb) -> Sides:
    yield from (((a + b).cos(), a.cos() * b.cos() - a.sin() * b.sin()) for a, b in pairs(x))


def exp_slope(x: arb) -> Sides:
    yield from ((abs((h.exp() - 1) / h - 1), abs(h)) for h in steps())


def sin_slope(x: arb) -> Sides:
    yield from ((abs(h.sin() / h - 1), abs(h)) for h in steps())


def cos_slope(x: arb) -> Sides:
    yield from ((abs((h.cos() - 1) / h), abs(h)) for h in steps())


def exp_positive(x: arb) -> Sides:
    yield arb(0), x.exp()


def equation(*sides: Callable[[arb], arb]) -> Callable[[arb], Sides]:
    """The two sides of one equation."""

    def claims(x: arb) -> Sides:
        yield sides[0](x), sides[1](x)

    return claims


def equations(*equations: tuple[Callable[[arb], arb], Callable[[arb], arb]]) -> Callable[[arb], Sides]:
    def claims(x: arb) -> Sides:
        yield from ((left(x), right(x)) for left, right in equations)

    return claims


def roots(x: arb) -> Sides:
    """The cube root of -x is minus that of x."""
    yield x.sqrt() ** 2, x
    yield from (((sign * x.root(3)) ** 3, sign * x) for sign in (1, -1))


def polar(x: arb) -> Sides:
    for a, b in pairs(x):
        radius, angle = (a * a + b * b).sqrt(), arb.atan2(b, a)
        yield radius * angle.cos(), a
        yield radius * angle.sin(), b


def power(x: arb) -> Sides:
    yield from ((x ** number(y), (number(y) * x.log()).exp()) for y in ("-3/2", "1/2", "5"))


def erf_slope(x: arb) -> Sides:
    """|erf''| ≤ 4/√π·|x|·exp(-x²) < 2, so the difference quotient is within |h| of the derivative."""
    slope = 2 / arb.pi().sqrt() * (-(x * x)).exp()
    yield from ((abs(((x + h).erf() - x.erf()) / h - slope), abs(h)) for h in steps())
    yield abs(x.erf()), arb(1)
    yield from (
        (abs(side), arb(fmpq(WIDEST.numerator, WIDEST.denominator))) for side in (x.erf() + (-x).erf(), 1 - x.erf() - x.erfc())
    )


def shifted(x: arb) -> Sides:
    yield x.expm1(), x.exp() - 1
    yield x.log1p(), (1 + x).log()
    yield from ((a + (b - a).exp().log1p(), (a.exp() + b.exp()).log()) for a, b in pairs(x))


def sine_of_pi(x: arb) -> Sides:
    yield arb.pi().sin(), arb(0)
    yield (arb.pi() - arb("3.145")).floor() + (arb("3.15") - arb.pi()).floor(), arb(-1)
