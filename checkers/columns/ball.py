"""
The column "ball": reals are balls, midpoint and radius, of `python-flint`; every result encloses the exact one.

Integers stay integers, doubles are taken exactly; `single` rounds nothing, since its ball holds the real that is rounded. Arrays
hold balls. A comparison, a kink or an edge of a domain is decided when all reals of
the ball agree; if some differ, `Undecided` says that the point lies on a guard boundary; if none is in the domain, `Trap`.
Balls know no signed zeros and no NaN.

`balls(bits, smooth)`: with `smooth` a ball that is exactly a point at which a primitive has no finite derivative is
undecided too. A program that runs in a smooth reading on a box is differentiable on the box, by composition.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from flint import arb, ctx

from checkers.columns.ball_decisions import (
    ball_of,
    check_numbers,
    comparison,
    equal,
    finite,
    floor_of,
    less,
    lift,
    outside,
    sign_of,
    straddles,
    to_boolean,
    to_whole,
    truncate,
    whole,
)
from semantics.arrays import Array
from semantics.columns.arrays import with_arrays
from semantics.columns.meaning import MEANING
from semantics.columns.structure import CELLS as STRUCTURE
from semantics.columns.structure import instantiate, wrong
from semantics.denotation import Reading
from semantics.primitives.row import Column, Hole
from semantics.primitives.table import MACROS
from semantics.tangents import ZERO

BITS = 400


# arithmetic


def _arithmetic(name: str, function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def cell(a: Any, b: Any) -> Any:
        check_numbers(name, a, b)
        return function(a, b)

    return cell


def _nonzero(name: str, y: arb) -> arb:
    if y == 0:
        raise outside(name, "a zero divisor")
    if not y != 0:
        raise straddles(name, y, "0")
    return y


def _divide(a: Any, b: Any) -> Any:
    return ZERO if a is ZERO else finite("div", ball_of("div", a) / _nonzero("div", ball_of("div", b)))


def _floordiv(a: Any, b: Any) -> Any:
    if whole(a, b):
        return MEANING.cells["floordiv"](a, b)  # type: ignore[operator]
    return arb(floor_of("floordiv", _divide(ball_of("floordiv", a), b)))


def _mod(a: Any, b: Any) -> Any:
    if whole(a, b):
        return MEANING.cells["mod"](a, b)  # type: ignore[operator]
    return ball_of("mod", a) - ball_of("mod", b) * _floordiv(ball_of("mod", a), b)


def _abs(x: Any) -> Any:
    if type(x) is int:
        return abs(x)
    x = ball_of("abs", x)
    return x if sign_of("abs", x) >= 0 else -x


def _copysign(x: Any, y: Any) -> arb:
    x, y = ball_of("copysign", x), ball_of("copysign", y)
    if y == 0:
        raise straddles("copysign", y, "a zero whose sign is not known")
    size: arb = _abs(x)
    return size * sign_of("copysign", y)


def _natural_power(x: arb, n: int) -> arb:
    """x**n by squaring, n >= 0: also where the ball holds 0."""
    result = arb(1)
    while n:
        if n & 1:
            result = result * x
        x, n = x * x, n >> 1
    return result


def _power(smooth: bool) -> Callable[[Any, Any], Any]:
    def power(a: Any, b: Any) -> Any:
        check_numbers("pow", a, b)
        if whole(a, b) and b >= 0:
            return MEANING.cells["pow"](a, b)  # type: ignore[operator]
        x, y = ball_of("pow", a), ball_of("pow", b)
        n = y.unique_fmpz() if y.is_exact() else None
        if x != 0:
            if n is None and not x > 0:
                raise outside("pow", x) if x < 0 else straddles("pow", x, "0")
            return finite("pow", x**y)
        if n is not None and n >= 0:
            return _natural_power(x, int(n))
        if x == 0 and y > 0 and not smooth:
            return arb(0)
        raise outside("pow", x) if x == 0 and y < 0 else straddles("pow", x, "0")

    return power


# elementary functions


@dataclass(frozen=True, slots=True)
class _Domain:
    """An interval of the line. `closed`: its ends belong to it. `blunt`: there the derivative is infinite."""

    low: float = -math.inf
    high: float = math.inf
    closed: bool = False
    blunt: bool = False

    def check(self, name: str, x: arb, smooth: bool) -> None:
        """Raises unless x is inside; in a smooth reading, unless it is off the blunt ends too."""
        edge = x in (self.low, self.high)
        if x < self.low or x > self.high or (edge and not self.closed):
            raise outside(name, x)
        if not (x > self.low and x < self.high) and not (edge and not (smooth and self.blunt)):
            raise straddles(name, x, "the edge of the domain")


LINE = _Domain()
POSITIVE = _Domain(0.0)
ELEMENTARY: dict[str, tuple[Callable[[arb], arb], _Domain]] = {
    "exp": (arb.exp, LINE),
    "expm1": (arb.expm1, LINE),
    "log": (arb.log, POSITIVE),
    "log1p": (arb.log1p, _Domain(-1.0)),
    "log2": (lambda x: x.log() / arb(2).log(), POSITIVE),
    "log10": (lambda x: x.log() / arb(10).log(), POSITIVE),
    "sqrt": (arb.sqrt, _Domain(0.0, closed=True, blunt=True)),
    "sin": (arb.sin, LINE),
    "cos": (arb.cos, LINE),
    "tan": (arb.tan, LINE),
    "asin": (arb.asin, _Domain(-1.0, 1.0, closed=True, blunt=True)),
    "acos": (arb.acos, _Domain(-1.0, 1.0, closed=True, blunt=True)),
    "atan": (arb.atan, LINE),
    "sinh": (arb.sinh, LINE),
    "cosh": (arb.cosh, LINE),
    "tanh": (arb.tanh, LINE),
    "asinh": (arb.asinh, LINE),
    "acosh": (arb.acosh, _Domain(1.0, closed=True, blunt=True)),
    "atanh": (arb.atanh, _Domain(-1.0, 1.0)),
    "erf": (arb.erf, LINE),
    "erfc": (arb.erfc, LINE),
}


def _elementary(name: str, function: Callable[[arb], arb], domain: _Domain, smooth: bool) -> Callable[[Any], arb]:
    def cell(a: Any) -> arb:
        x = ball_of(name, a)
        domain.check(name, x, smooth)
        return finite(name, function(x))

    return cell


def _cbrt(smooth: bool) -> Callable[[Any], arb]:
    def cbrt(a: Any) -> arb:
        x = ball_of("cbrt", a)
        sign = sign_of("cbrt", x)
        if sign == 0 and smooth:
            raise straddles("cbrt", x, "0")
        return sign * (x if sign >= 0 else -x).root(3)

    return cbrt


def _hypot(smooth: bool) -> Callable[[Any, Any], arb]:
    def hypot(x: Any, y: Any) -> arb:
        x, y = ball_of("hypot", x), ball_of("hypot", y)
        if x == 0 and y == 0 and not smooth:
            return arb(0)
        if not (x != 0 or y != 0):
            raise straddles("hypot", x, "the origin")
        return finite("hypot", (_natural_power(x, 2) + _natural_power(y, 2)).sqrt())

    return hypot


def _atan2(y: Any, x: Any) -> arb:
    y, x = ball_of("atan2", y), ball_of("atan2", x)
    if not (x > 0 or y != 0):
        raise straddles("atan2", y, "the half-line where the angle jumps")
    return finite("atan2", arb.atan2(y, x))


def _logaddexp(a: Any, b: Any) -> arb:
    """log(exp x + exp y) = x + log1p(exp(y - x)), with the larger first where it is known: exp(y - x) does not overflow then."""
    x, y = ball_of("logaddexp", a), ball_of("logaddexp", b)
    if y > x:
        x, y = y, x
    return finite("logaddexp", x + (y - x).exp().log1p())


def _where(c: Any, a: Any, b: Any) -> Any:
    if not isinstance(c, bool):
        raise wrong("where", "a boolean", c)
    check_numbers("where", *(x for x in (a, b) if not isinstance(x, bool)))
    chosen = a if c else b
    return chosen if a is ZERO or b is ZERO else _one_kind("where", chosen, a, b)


def _one_kind(name: str, chosen: Any, a: Any, b: Any) -> Any:
    """What was chosen of a and b; a ball if either is one."""
    return ball_of(name, chosen) if isinstance(a, arb) or isinstance(b, arb) else chosen


def _seed(out: Any) -> arb:
    if isinstance(out, Array) and out.shape == ():
        return _seed(out.items[0])
    if not isinstance(out, arb):
        raise wrong("grad", "a function whose result is a real", out)
    return arb(1)


def _cells(smooth: bool) -> dict[str, Callable[..., Any] | Hole]:
    """The cells at the ambient precision."""
    return {
        **STRUCTURE,
        **{name: _elementary(name, function, domain, smooth) for name, (function, domain) in ELEMENTARY.items()},
        **{p.name: Hole("a function on functions, expanded before a program runs") for p in MACROS},
        "add": _arithmetic("add", lambda a, b: a + b),
        "sub": _arithmetic("sub", lambda a, b: a - b),
        "mul": _arithmetic("mul", lambda a, b: a * b),
        "div": _arithmetic("div", _divide),
        "floordiv": _arithmetic("floordiv", _floordiv),
        "mod": _arithmetic("mod", _mod),
        "pow": _power(smooth),
        "neg": lambda a: -a if a is ZERO or type(a) is int else -ball_of("neg", a),
        "abs": _abs,
        "min": _arithmetic("min", lambda a, b: b if less("min", b, a) else a),
        "max": _arithmetic("max", lambda a, b: b if less("max", a, b) else a),
        "sign": lambda a: MEANING.cells["sign"](a) if whole(a) else arb(sign_of("sign", ball_of("sign", a))),  # type: ignore
        "cbrt": _cbrt(smooth),
        "atan2": _atan2,
        "hypot": _hypot(smooth),
        "copysign": _copysign,
        "maximum": _arithmetic("maximum", lambda a, b: _one_kind("maximum", b if less("maximum", a, b) else a, a, b)),
        "minimum": _arithmetic("minimum", lambda a, b: _one_kind("minimum", b if less("minimum", b, a) else a, a, b)),
        "where": _where,
        "logaddexp": _logaddexp,
        "single": lambda a: ball_of("single", a),
        "and_": MEANING.cells["and_"],
        "or_": MEANING.cells["or_"],
        "to_real": lambda a: ball_of("float", a),
        "to_integer": to_whole("int", truncate),
        "to_boolean": to_boolean,
        "floor": to_whole("floor", lambda x: floor_of("floor", x)),
        "ceil": to_whole("ceil", lambda x: -floor_of("ceil", -x)),
        "lt": comparison("lt", lambda a, b: less("lt", a, b)),
        "le": comparison("le", lambda a, b: not less("le", b, a)),
        "gt": comparison("gt", lambda a, b: less("gt", b, a)),
        "ge": comparison("ge", lambda a, b: not less("ge", a, b)),
        "eq": lambda a, b: equal("eq", a, b),
        "ne": lambda a, b: not equal("ne", a, b),
        "not_": MEANING.cells["not_"],
        "instantiate": lambda d, x: instantiate(d, x, lambda _: arb(0)),
        "seed": _seed,
    }


def _precisely(bits: int, cell: Callable[..., Any] | Hole) -> Callable[..., Any] | Hole:
    """The cell at its own precision, whatever that of the caller is."""
    if isinstance(cell, Hole):
        return cell

    def at_precision(*arguments: Any) -> Any:
        before = ctx.prec
        ctx.prec = bits
        try:
            return cell(*arguments)
        finally:
            ctx.prec = before

    return at_precision


@cache
def balls(bits: int = BITS, smooth: bool = False) -> Reading:
    """The reading by balls of `bits` bits; with `smooth`, undecided wherever a primitive has no finite derivative."""
    cells = with_arrays(_cells(smooth))
    return Reading(Column("ball", {name: _precisely(bits, cell) for name, cell in cells.items()}), lift)


def ball_column(bits: int = BITS) -> Column:
    """The column at a precision."""
    return balls(bits).column


BALLS = balls()
BALL = BALLS.column
