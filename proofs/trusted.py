"""
The trusted base: everything the proofs assume and do not prove, as data. At most 25 axioms; a test keeps it so.

Beside them the proofs trust Python's int and Fraction, the normal form (cross-checked by z3), z3 (cross-checked by cvc5 and
bitwuzla), and the reading of programs as terms (cross-checked by execution).

Each axiom is executed on numbers: on rigorous enclosures, where an identity holds if both sides overlap in balls of radius below
2^-200, and a limit holds if the quotient is within its stated distance of the limit at h = ±2^-10 … ±2^-60.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from flint import arb, ctx, fmpq

from proofs import axioms_in_numbers as numbers

PRECISION = 400
MOST = 25
Ball = arb
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
    functions  those that a proof may not name without resting on this axiom: what a question calls exp!0 is u_exp here
    slopes     functions whose derivative is derived from it
    defines    primitives that the reading as terms replaces by what they are defined as, which is this axiom
    """

    name: str
    statement: str
    source: str
    domain: Points
    claims: Callable[[arb], numbers.Sides]
    limit: bool = False
    functions: tuple[str, ...] = ()
    slopes: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}: {self.statement}   [{self.source}; executed at {', '.join(self.domain)}]"

    def failures(self) -> list[str]:
        """Where the axiom is false in numbers, or could not be computed; empty if it stands."""
        old, ctx.prec = ctx.prec, PRECISION
        try:
            return [
                f"{self.name} at {x}: {a} and {b}"
                for x in self.domain
                for a, b in self.claims(numbers.number(x))
                if not self._holds(a, b)
            ]
        finally:
            ctx.prec = old

    def _holds(self, a: arb, b: arb) -> bool:
        if self.limit:
            return bool(a <= b)
        widest = arb(fmpq(numbers.WIDEST.numerator, numbers.WIDEST.denominator))
        return bool(a.overlaps(b)) and all(bool(arb(s.rad()) < widest) for s in (a, b))


TRUSTED: tuple[Axiom, ...] = (
    Axiom(
        "slope",
        "if f(x + h) - f(x) = h s(h), s continuous at 0, then f'(x) = s(0)",
        "Carathéodory's definition",
        EVERYWHERE,
        numbers.square_slope,
        True,
    ),
    Axiom(
        "inverse",
        "if g inverts f and f'(g(x)) is not 0, then g'(x) = 1 / f'(g(x))",
        "the inverse function theorem",
        POSITIVE,
        numbers.log_slope,
        True,
        slopes=(
            "u_log",
            "u_asin",
            "u_acos",
            "u_atan",
            "u_atan2",
        ),
    ),
    Axiom(
        "pieces",
        "floor is constant between two integers that follow each other",
        "definition of floor",
        ("-5/2", "-1/3", "1/7", "9/4"),
        numbers.pieces,
    ),
    Axiom(
        "exp_sum",
        "exp(a + b) = exp a · exp b",
        "definition of exp",
        EVERYWHERE,
        numbers.exp_sum,
        functions=("u_exp",),
        slopes=("u_log",),
    ),
    Axiom(
        "exp_slope",
        "(exp h - 1) / h → 1",
        "definition of exp",
        ("0",),
        numbers.exp_slope,
        True,
        slopes=(
            "u_exp",
            "u_log",
            "u_erf",
        ),
    ),
    Axiom("exp_positive", "exp x > 0", "exp(x) = exp(x/2)²", EVERYWHERE, numbers.exp_positive, True, functions=("u_exp",)),
    Axiom(
        "log_inverse",
        "exp(log x) = x for x > 0",
        "definition of log",
        POSITIVE,
        numbers.equation(lambda x: x.log().exp(), lambda x: x),
        functions=("u_log",),
    ),
    Axiom(
        "sin_sum", "sin(a + b) = sin a cos b + cos a sin b", "addition formulas", EVERYWHERE, numbers.sin_sum, functions=("u_sin",)
    ),
    Axiom(
        "cos_sum", "cos(a + b) = cos a cos b - sin a sin b", "addition formulas", EVERYWHERE, numbers.cos_sum, functions=("u_cos",)
    ),
    Axiom(
        "sin_slope",
        "sin h / h → 1",
        "geometry of the circle",
        ("0",),
        numbers.sin_slope,
        True,
        slopes=(
            "u_sin",
            "u_cos",
        ),
    ),
    Axiom(
        "cos_slope",
        "(cos h - 1) / h → 0",
        "geometry of the circle",
        ("0",),
        numbers.cos_slope,
        True,
        slopes=(
            "u_sin",
            "u_cos",
        ),
    ),
    Axiom(
        "circle",
        "sin² x + cos² x = 1",
        "geometry of the circle",
        EVERYWHERE,
        numbers.equation(lambda x: x.sin() ** 2 + x.cos() ** 2, lambda x: arb(1)),
        functions=(
            "u_sin",
            "u_cos",
        ),
    ),
    Axiom(
        "roots",
        "sqrt(x)² = x for x ≥ 0, cbrt(x)³ = x, and both have the sign of x",
        "definition",
        POSITIVE,
        numbers.roots,
        functions=(
            "u_sqrt",
            "u_cbrt",
        ),
        defines=("hypot",),
    ),
    Axiom(
        "tangent",
        "tan x = sin x / cos x",
        "definition",
        EVERYWHERE,
        numbers.equation(lambda x: x.tan(), lambda x: x.sin() / x.cos()),
        defines=("tan",),
    ),
    Axiom(
        "hyperbolic",
        "sinh, cosh = (exp x ∓ exp -x) / 2, tanh = sinh / cosh",
        "definition",
        EVERYWHERE,
        numbers.equations(
            (lambda x: x.sinh(), lambda x: (x.exp() - (-x).exp()) / 2),
            (lambda x: x.cosh(), lambda x: (x.exp() + (-x).exp()) / 2),
            (lambda x: x.tanh(), lambda x: x.sinh() / x.cosh()),
        ),
        defines=(
            "sinh",
            "cosh",
            "tanh",
        ),
    ),
    Axiom(
        "inverse_hyperbolic",
        "asinh x = log(x + sqrt(x² + 1)), acosh x = log(x + sqrt(x² - 1)), atanh x = (log(1 + x) - log(1 - x)) / 2",
        "solving for exp",
        ABOVE_ONE,
        numbers.equations(
            (lambda x: x.asinh(), lambda x: (x + (x * x + 1).sqrt()).log()),
            (lambda x: x.acosh(), lambda x: (x + (x * x - 1).sqrt()).log()),
            (lambda x: (1 / x).atanh(), lambda x: ((1 + 1 / x).log() - (1 - 1 / x).log()) / 2),
        ),
        defines=(
            "asinh",
            "acosh",
            "atanh",
        ),
    ),
    Axiom(
        "shifted",
        "expm1 x = exp x - 1, log1p x = log(1 + x), logaddexp(x, y) = log(exp x + exp y)",
        "definition",
        POSITIVE,
        numbers.shifted,
        defines=(
            "expm1",
            "log1p",
            "logaddexp",
        ),
    ),
    Axiom(
        "logarithm_bases",
        "log2 x = log x / log 2, log10 x = log x / log 10",
        "definition",
        POSITIVE,
        numbers.equations(
            (lambda x: arb(2) ** (x.log() / arb(2).log()), lambda x: x),
            (lambda x: arb(10) ** (x.log() / arb(10).log()), lambda x: x),
        ),
        defines=(
            "log2",
            "log10",
        ),
    ),
    Axiom(
        "asin_inverse",
        "sin(asin x) = x, cos(asin x) ≥ 0",
        "definition",
        INSIDE,
        numbers.equations((lambda x: x.asin().sin(), lambda x: x), (lambda x: x.asin().cos(), lambda x: (1 - x * x).sqrt())),
        functions=("u_asin",),
    ),
    Axiom(
        "acos_inverse",
        "cos(acos x) = x, sin(acos x) ≥ 0",
        "definition",
        INSIDE,
        numbers.equations((lambda x: x.acos().cos(), lambda x: x), (lambda x: x.acos().sin(), lambda x: (1 - x * x).sqrt())),
        functions=("u_acos",),
    ),
    Axiom(
        "atan_inverse",
        "tan(atan x) = x, cos(atan x) > 0",
        "definition",
        EVERYWHERE,
        numbers.equations((lambda x: x.atan().tan(), lambda x: x), (lambda x: x.atan().cos(), lambda x: 1 / (1 + x * x).sqrt())),
        functions=("u_atan",),
    ),
    Axiom(
        "polar",
        "x = r cos θ and y = r sin θ for r = sqrt(x² + y²), θ = atan2(y, x)",
        "definition",
        EVERYWHERE,
        numbers.polar,
        functions=("u_atan2",),
    ),
    Axiom(
        "erf_integral",
        "erf' x = 2/√π · exp(-x²); erf is odd, |erf x| < 1; erfc x = 1 - erf x",
        "fundamental theorem of calculus",
        EVERYWHERE,
        numbers.erf_slope,
        True,
        functions=("u_erf",),
        defines=("erfc",),
    ),
    Axiom("real_power", "x ** y = exp(y log x) for x > 0", "definition", POSITIVE, numbers.power, defines=("pow",)),
    Axiom(
        "pi",
        "in a backpropagator the double nearest to π stands for π; sin π = 0 and 3.14 < π < 3.15",
        "a reading of rules",
        ("0",),
        numbers.sine_of_pi,
        functions=("u_pi",),
    ),
)


def failures(axioms: Sequence[Axiom] = TRUSTED) -> list[str]:
    """Every axiom that does not stand in numbers."""
    return [failure for axiom in axioms for failure in axiom.failures()]


def listing() -> str:
    """The trusted base as text, one line per axiom."""
    return "\n".join(str(axiom) for axiom in TRUSTED)
