"""
The trusted base: everything the proofs assume and do not prove, as data. At most 25 axioms; a test keeps it so.

Beside them the proofs trust Python's int and Fraction, the normal form (cross-checked by z3), z3 (cross-checked by cvc5 and
bitwuzla), and the reading of programs as terms (cross-checked by execution).

Each axiom is executed on numbers: on rigorous enclosures, where an identity holds if both sides overlap in balls of radius below
2^-200, and a limit holds if the quotient is within its stated distance of the limit at h = ±2^-10 … ±2^-60.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx, fmpq

PRECISION = 400
WIDEST = Fraction(1, 2**200)
MOST = 25
Ball = arb
Sides = Iterator[tuple[arb, arb]]
Points = tuple[str, ...]

EVERYWHERE: Points = ("-5/2", "-1", "-1/3", "0", "1/7", "1", "9/4")
POSITIVE: Points = ("1/9", "1/2", "1", "7/3", "40")
INSIDE: Points = ("-9/10", "-1/2", "0", "1/3", "8/9")
ABOVE_ONE: Points = ("9/8", "2", "31/3")


@dataclass(frozen=True)
class Axiom:
    """
    name       what obligations say they use
    statement  what is assumed
    source     where a reader finds it
    domain     the points on which it is executed
    claims     the two sides at a point, or (|quotient - limit|, bound) for a limit
    """

    name: str
    statement: str
    source: str
    domain: Points
    claims: Callable[[arb], Sides]
    limit: bool = False

    def __str__(self) -> str:
        return f"{self.name}: {self.statement}   [{self.source}; executed at {', '.join(self.domain)}]"

    def failures(self) -> list[str]:
        """Where the axiom is false in numbers, or could not be computed; empty if it stands."""
        old, ctx.prec = ctx.prec, PRECISION
        try:
            return [
                f"{self.name} at {x}: {a} and {b}" for x in self.domain for a, b in self.claims(number(x)) if not self._holds(a, b)
            ]
        finally:
            ctx.prec = old

    def _holds(self, a: arb, b: arb) -> bool:
        if self.limit:
            return bool(a <= b)
        widest = arb(fmpq(WIDEST.numerator, WIDEST.denominator))
        return bool(a.overlaps(b)) and all(bool(arb(s.rad()) < widest) for s in (a, b))


def number(text: str) -> arb:
    """A rational number as a ball."""
    value = Fraction(text)
    return arb(fmpq(value.numerator, value.denominator))


def steps() -> list[arb]:
    """±2^-10 … ±2^-60"""
    return [arb(sign) / arb(2) ** k for k in range(10, 61, 10) for sign in (1, -1)]


def _pairs(x: arb) -> Sequence[tuple[arb, arb]]:
    return [(x, number(y)) for y in ("-3/4", "1/5", "2")]


def _square_slope(x: arb) -> Sides:
    yield from ((abs(((x + h) ** 2 - x**2) / h - 2 * x), 2 * abs(h)) for h in steps())


def _log_slope(x: arb) -> Sides:
    yield from ((abs(((x + h).log() - x.log()) / h - 1 / x), abs(h) / x**2) for h in steps())


def _pieces(x: arb) -> Sides:
    yield from (((x + h).floor(), x.floor()) for h in steps())


def _exp_sum(x: arb) -> Sides:
    yield from (((a + b).exp(), a.exp() * b.exp()) for a, b in _pairs(x))


def _sin_sum(x: arb) -> Sides:
    yield from (((a + b).sin(), a.sin() * b.cos() + a.cos() * b.sin()) for a, b in _pairs(x))


def _cos_sum(x: arb) -> Sides:
    yield from (((a + b).cos(), a.cos() * b.cos() - a.sin() * b.sin()) for a, b in _pairs(x))


def _exp_slope(x: arb) -> Sides:
    yield from ((abs((h.exp() - 1) / h - 1), abs(h)) for h in steps())


def _sin_slope(x: arb) -> Sides:
    yield from ((abs(h.sin() / h - 1), abs(h)) for h in steps())


def _cos_slope(x: arb) -> Sides:
    yield from ((abs((h.cos() - 1) / h), abs(h)) for h in steps())


def _exp_positive(x: arb) -> Sides:
    yield arb(0), x.exp()


def _one(*sides: Callable[[arb], arb]) -> Callable[[arb], Sides]:
    """The two sides of one equation."""

    def claims(x: arb) -> Sides:
        yield sides[0](x), sides[1](x)

    return claims


def _many(*equations: tuple[Callable[[arb], arb], Callable[[arb], arb]]) -> Callable[[arb], Sides]:
    def claims(x: arb) -> Sides:
        yield from ((left(x), right(x)) for left, right in equations)

    return claims


def _polar(x: arb) -> Sides:
    for a, b in _pairs(x):
        radius, angle = (a * a + b * b).sqrt(), arb.atan2(b, a)
        yield radius * angle.cos(), a
        yield radius * angle.sin(), b


def _power(x: arb) -> Sides:
    yield from ((x ** number(y), (number(y) * x.log()).exp()) for y in ("-3/2", "1/2", "5"))


def _erf_slope(x: arb) -> Sides:
    """|erf''| ≤ 4/√π·|x|·exp(-x²) < 2, so the difference quotient is within |h| of the derivative."""
    slope = 2 / arb.pi().sqrt() * (-(x * x)).exp()
    yield from ((abs(((x + h).erf() - x.erf()) / h - slope), abs(h)) for h in steps())


def _pi(x: arb) -> Sides:
    yield arb.pi().sin(), arb(0)


TRUSTED: tuple[Axiom, ...] = (
    Axiom("slope", "a continuous slope at h = 0 is the derivative", "Carathéodory", EVERYWHERE, _square_slope, True),
    Axiom(
        "inverse",
        "the slope of an inverse function is the inverse of the slope, where it is not 0",
        "analysis",
        POSITIVE,
        _log_slope,
        True,
    ),
    Axiom("pieces", "an integer part is constant between integers", "order of the reals", ("-5/2", "-1/3", "1/7", "9/4"), _pieces),
    Axiom("exp_sum", "exp(a + b) = exp a · exp b", "definition of exp", EVERYWHERE, _exp_sum),
    Axiom("exp_slope", "(exp h - 1) / h → 1", "definition of exp", ("0",), _exp_slope, True),
    Axiom("exp_positive", "exp x > 0", "exp(x) = exp(x/2)²", EVERYWHERE, _exp_positive, True),
    Axiom("log_inverse", "exp(log x) = x for x > 0", "definition of log", POSITIVE, _one(lambda x: x.log().exp(), lambda x: x)),
    Axiom("sin_sum", "sin(a + b) = sin a cos b + cos a sin b", "addition formulas", EVERYWHERE, _sin_sum),
    Axiom("cos_sum", "cos(a + b) = cos a cos b - sin a sin b", "addition formulas", EVERYWHERE, _cos_sum),
    Axiom("sin_slope", "sin h / h → 1", "geometry of the circle", ("0",), _sin_slope, True),
    Axiom("cos_slope", "(cos h - 1) / h → 0", "geometry of the circle", ("0",), _cos_slope, True),
    Axiom(
        "circle",
        "sin² x + cos² x = 1",
        "geometry of the circle",
        EVERYWHERE,
        _one(lambda x: x.sin() ** 2 + x.cos() ** 2, lambda x: arb(1)),
    ),
    Axiom(
        "roots",
        "sqrt(x)² = x and cbrt(x)³ = x, both positive for x > 0",
        "definition",
        POSITIVE,
        _many((lambda x: x.sqrt() ** 2, lambda x: x), (lambda x: x.root(3) ** 3, lambda x: x)),
    ),
    Axiom("tangent", "tan x = sin x / cos x", "definition", EVERYWHERE, _one(lambda x: x.tan(), lambda x: x.sin() / x.cos())),
    Axiom(
        "hyperbolic",
        "sinh, cosh = (exp x ∓ exp -x) / 2, tanh = sinh / cosh",
        "definition",
        EVERYWHERE,
        _many(
            (lambda x: x.sinh(), lambda x: (x.exp() - (-x).exp()) / 2),
            (lambda x: x.cosh(), lambda x: (x.exp() + (-x).exp()) / 2),
            (lambda x: x.tanh(), lambda x: x.sinh() / x.cosh()),
        ),
    ),
    Axiom(
        "inverse_hyperbolic",
        "asinh x = log(x + sqrt(x² + 1)), acosh x = log(x + sqrt(x² - 1)), atanh x = (log(1 + x) - log(1 - x)) / 2",
        "solving for exp",
        ABOVE_ONE,
        _many(
            (lambda x: x.asinh(), lambda x: (x + (x * x + 1).sqrt()).log()),
            (lambda x: x.acosh(), lambda x: (x + (x * x - 1).sqrt()).log()),
            (lambda x: (1 / x).atanh(), lambda x: ((1 + 1 / x).log() - (1 - 1 / x).log()) / 2),
        ),
    ),
    Axiom(
        "shifted",
        "expm1 x = exp x - 1, log1p x = log(1 + x)",
        "definition",
        POSITIVE,
        _many((lambda x: x.expm1(), lambda x: x.exp() - 1), (lambda x: x.log1p(), lambda x: (1 + x).log())),
    ),
    Axiom(
        "logarithm_bases",
        "log2 x = log x / log 2, log10 x = log x / log 10",
        "definition",
        POSITIVE,
        _many(
            (lambda x: arb(2) ** (x.log() / arb(2).log()), lambda x: x),
            (lambda x: arb(10) ** (x.log() / arb(10).log()), lambda x: x),
        ),
    ),
    Axiom(
        "asin_inverse",
        "sin(asin x) = x, cos(asin x) ≥ 0",
        "definition",
        INSIDE,
        _many((lambda x: x.asin().sin(), lambda x: x), (lambda x: x.asin().cos(), lambda x: (1 - x * x).sqrt())),
    ),
    Axiom(
        "acos_inverse",
        "cos(acos x) = x, sin(acos x) ≥ 0",
        "definition",
        INSIDE,
        _many((lambda x: x.acos().cos(), lambda x: x), (lambda x: x.acos().sin(), lambda x: (1 - x * x).sqrt())),
    ),
    Axiom(
        "atan_inverse", "tan(atan x) = x, cos(atan x) > 0", "definition", EVERYWHERE, _one(lambda x: x.atan().tan(), lambda x: x)
    ),
    Axiom("polar", "x = r cos θ and y = r sin θ for r = sqrt(x² + y²), θ = atan2(y, x)", "definition", EVERYWHERE, _polar),
    Axiom(
        "erf_integral", "erf' x = 2/√π · exp(-x²); erfc = 1 - erf", "fundamental theorem of calculus", EVERYWHERE, _erf_slope, True
    ),
    Axiom("real_power", "x ** y = exp(y log x) for x > 0", "definition", POSITIVE, _power),
    Axiom("pi", "in a backpropagator the double nearest to π is read as π, which has sin π = 0", "reading", ("0",), _pi),
)


def failures(axioms: Sequence[Axiom] = TRUSTED) -> list[str]:
    """Every axiom that does not stand in numbers."""
    return [failure for axiom in axioms for failure in axiom.failures()]


def listing() -> str:
    """The trusted base as text, one line per axiom."""
    return "\n".join(str(axiom) for axiom in TRUSTED)
