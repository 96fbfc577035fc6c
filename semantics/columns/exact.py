"""
The exact reading: reals are fractions. A rational program has one exact value and one exact gradient, with nothing to tolerate.

Only rational operations have a cell; the others are holes that say so. The digits of a fraction may double at every step, so their
number is a budget too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from semantics.arrays import Array
from semantics.columns.arrays import with_arrays
from semantics.columns.meaning import logical, not_, to_boolean
from semantics.columns.structure import CELLS as STRUCTURE
from semantics.columns.structure import EXPANDED, instantiate, wrong
from semantics.errors import OutOfFuel, Trap
from semantics.primitives.row import Column, Hole
from semantics.primitives.table import ELEMENTARY
from semantics.tangents import ZERO

MOST_BITS = 1 << 16
IRRATIONAL = Hole("its value at a rational point is irrational")


def lift(value: Any) -> Any:
    """A constant as the exact column reads it: a finite double is the fraction it stands for."""
    if type(value) is float:
        if not math.isfinite(value):
            raise Trap(f"{value} is not a rational", rule="exact")
        return Fraction(value)
    if isinstance(value, Array):
        return value.with_items(lift(x) for x in value.items)
    return value


def _numbers(name: str, *arguments: Any) -> None:
    for x in arguments:
        if not (isinstance(x, (int, Fraction)) and not isinstance(x, bool)) and x is not ZERO:
            raise wrong(name, "numbers", x)


def _arithmetic(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def cell(*arguments: Any) -> Any:
        _numbers(name, *arguments)
        try:
            return _of_few_digits(name, function(*arguments))
        except ZeroDivisionError:
            raise Trap(f"{name} by zero", rule=name, remedy="test the divisor first") from None

    return cell


def _of_few_digits(name: str, found: Any) -> Any:
    """The number itself; OutOfFuel if its digits are more than the budget."""
    if isinstance(found, (int, Fraction)) and _bits(found) > MOST_BITS:
        raise _too_long(name)
    return found


def _bits(x: int | Fraction) -> int:
    """The binary digits of the longer of numerator and denominator: |x| or 1/|x| is at least 2 to one less."""
    return max(x.numerator.bit_length(), x.denominator.bit_length())


def _too_long(name: str) -> OutOfFuel:
    return OutOfFuel(f"a fraction of more than {MOST_BITS} bits", rule=name, remedy="fewer steps, or a point of fewer digits")


def _divide(a: Any, b: Any) -> Any:
    return ZERO if a is ZERO else Fraction(a) / b


def _power(a: Any, b: Any) -> Any:
    if isinstance(b, Fraction) and b.denominator != 1:
        raise Trap("a fractional power is irrational", rule="pow")
    if (_bits(a) - 1) * abs(b) > MOST_BITS:
        raise _too_long("pow")
    if isinstance(b, Fraction):
        return Fraction(a) ** b.numerator
    return Fraction(a) ** b if b < 0 or isinstance(a, Fraction) else a**b


def _seed(out: Any) -> Fraction:
    if isinstance(out, Array) and out.shape == () and isinstance(out.items[0], Fraction):
        return Fraction(1)
    if not isinstance(out, Fraction):
        raise wrong("grad", "a function whose result is a real", out)
    return Fraction(1)


def _where(c: Any, a: Any, b: Any) -> Any:
    if not isinstance(c, bool):
        raise wrong("where", "a boolean", c)
    chosen = a if c else b
    return Fraction(chosen) if any(isinstance(x, Fraction) for x in (a, b)) and isinstance(chosen, int) else chosen


def _extreme(better: Callable[[Any, Any], bool]) -> Callable[..., Any]:
    """b if it is better than a, else a: of an integer and a fraction, a fraction."""

    def cell(a: Any, b: Any) -> Any:
        chosen = b if better(b, a) else a
        return chosen if isinstance(a, int) and isinstance(b, int) else Fraction(chosen)

    return cell


def _truth(a: Any) -> bool:
    """Python's truth: of a fraction whether it is not 0, of anything else as on doubles."""
    return a != 0 if isinstance(a, Fraction) else to_boolean(a)


CELLS: dict[str, Callable[..., Any] | Hole] = {
    **{p.name: IRRATIONAL for p in ELEMENTARY},
    **EXPANDED,
    **STRUCTURE,
    "add": _arithmetic("add", lambda a, b: a + b),
    "sub": _arithmetic("sub", lambda a, b: a - b),
    "mul": _arithmetic("mul", lambda a, b: a * b),
    "div": _arithmetic("div", _divide),
    "floordiv": _arithmetic("floordiv", lambda a, b: a // b if isinstance(a, int) and isinstance(b, int) else Fraction(a // b)),
    "mod": _arithmetic("mod", lambda a, b: a % b),
    "pow": _arithmetic("pow", _power),
    "neg": _arithmetic("neg", lambda a: -a),
    "abs": _arithmetic("abs", lambda a: abs(Fraction(0) if a is ZERO else a)),
    "min": _arithmetic("min", lambda a, b: b if b < a else a),
    "max": _arithmetic("max", lambda a, b: b if b > a else a),
    "sign": _arithmetic("sign", lambda a: ((a > 0) - (a < 0)) if isinstance(a, int) else Fraction((a > 0) - (a < 0))),
    "copysign": _arithmetic("copysign", lambda a, b: Fraction(abs(a) if b >= 0 else -abs(a))),
    "maximum": _arithmetic("maximum", _extreme(lambda b, a: b > a)),
    "minimum": _arithmetic("minimum", _extreme(lambda b, a: b < a)),
    "where": _where,
    "and_": logical("logical_and", lambda a, b: a and b),
    "or_": logical("logical_or", lambda a, b: a or b),
    "single": _arithmetic("single", Fraction),
    "to_real": _arithmetic("float", Fraction),
    "to_integer": _arithmetic("int", math.trunc),
    "to_boolean": _truth,
    "floor": _arithmetic("floor", math.floor),
    "ceil": _arithmetic("ceil", math.ceil),
    "lt": _arithmetic("lt", lambda a, b: a < b),
    "le": _arithmetic("le", lambda a, b: a <= b),
    "gt": _arithmetic("gt", lambda a, b: a > b),
    "ge": _arithmetic("ge", lambda a, b: a >= b),
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "not_": not_,
    "instantiate": lambda d, x: instantiate(d, x, lambda _: Fraction(0)),
    "seed": _seed,
}

# rows of arrays that need a root, an exponential or a logarithm
TRANSCENDENTAL = dict.fromkeys(("logsumexp", "norm", "cholesky", "slogdet"), IRRATIONAL)

EXACT = Column("exact", {**with_arrays(CELLS), **TRANSCENDENTAL})
