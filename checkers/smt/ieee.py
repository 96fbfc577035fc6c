"""
The column "z3_ieee": programs read in one IEEE-754 format, bit for bit, as z3 terms.

Rounding is to nearest, ties to even. NaNs are one value, zeros are two. A constant is rounded to the format. `min` and `max` are
Python's, by comparison. Where an integer meets a real it is rounded to the format, which is exact in the formats used for the small
integers of rewrites. Functions that no standard fixes to the last bit (exp, sin, `pow`) are holes. Arrays have a known shape and
dtype, and terms for elements.

The formats form a ladder: a tiny one, in which a solver decides almost anything and which only screens; half, single and double.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import z3

from checkers.smt.real import CELLS as REAL_CELLS
from checkers.smt.terms import Course, bound_to, is_condition, without_discrete
from semantics.arrays import Array
from semantics.columns.arrays import with_arrays
from semantics.columns.structure import CELLS as STRUCTURE
from semantics.columns.structure import instantiate, wrong
from semantics.denotation import Reading
from semantics.primitives.row import Column, Hole
from semantics.tangents import ZERO


@dataclass(frozen=True, slots=True)
class Format:
    """A binary format: bits of exponent, and of significand with the hidden one."""

    name: str
    ebits: int
    sbits: int

    @property
    def sort(self) -> Any:
        return z3.FPSort(self.ebits, self.sbits)


TINY = Format("tiny", 3, 4)
HALF = Format("f16", 5, 11)
SINGLE = Format("f32", 8, 24)
DOUBLE = Format("f64", 11, 53)
LADDER = (TINY, HALF, SINGLE, DOUBLE)

NOT_FIXED = Hole("IEEE 754 does not fix its last bit")
NOT_READ = Hole("it is not arithmetic on one format")


class Ieee:
    """One symbolic run in a format."""

    def __init__(self, format: Format, course: Course | None = None) -> None:
        self.format, self.course = format, course
        self.column = Column("z3_ieee", with_arrays(bound_to(self, CELLS), self.truth))

    def reading(self) -> Reading:
        """The reading for `denote`."""
        return Reading(self.column, self.lift, self.truth)

    def lift(self, value: Any) -> Any:
        """A constant: a double is rounded to the format."""
        if isinstance(value, Array):
            return value.with_items(map(self.lift, value.items))
        return self.number(value) if type(value) is float else value

    def number(self, value: float | int) -> Any:
        """A Python number rounded to the format."""
        from checkers.smt.replay import rounded

        return z3.FPVal(rounded(float(value), self.format.ebits, self.format.sbits), self.format.sort)

    def truth(self, condition: Any) -> Any:
        return self.course.decide(condition) if self.course is not None and z3.is_bool(condition) else condition

    def real(self, name: str, x: Any) -> Any:
        """x as a term of the format; ZERO reads as 0.0."""
        if z3.is_fp(x):
            return x
        if x is ZERO:
            return self.number(0.0)
        if type(x) is int:
            return self.number(x)
        raise wrong(name, "numbers", x)


def _whole(*arguments: Any) -> bool:
    """Whether all arguments are Python integers."""
    return all(type(x) is int for x in arguments)


def _arithmetic(name: str, on_fp: Callable[[Any, Any], Any], on_integers: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """ZERO is neutral for sums and absorbs products, as the meaning has it."""

    def cell(run: Ieee, a: Any, b: Any) -> Any:
        if a is ZERO or b is ZERO:
            if name == "mul":
                return ZERO
            return a if b is ZERO else neg(run, b) if name == "sub" else b
        return on_integers(a, b) if _whole(a, b) else on_fp(run.real(name, a), run.real(name, b))

    return cell


def _rne() -> Any:
    return z3.RNE()


def div(run: Ieee, a: Any, b: Any) -> Any:
    if a is ZERO:
        return ZERO
    return z3.fpDiv(_rne(), run.real("div", a), run.real("div", b))


def neg(run: Ieee, a: Any) -> Any:
    return -a if a is ZERO or _whole(a) else z3.fpNeg(run.real("neg", a))


def absolute(run: Ieee, a: Any) -> Any:
    return abs(a) if _whole(a) else z3.fpAbs(run.real("abs", a))


def _choice(name: str, better: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """b if it is better than a, else a: a on ties and NaN, as Python has it."""

    def cell(run: Ieee, a: Any, b: Any) -> Any:
        if _whole(a, b):
            return b if better(b, a) else a
        x, y = run.real(name, a), run.real(name, b)
        return z3.If(better(y, x), y, x)

    return cell


def _extreme(name: str, better: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """As `_choice`, but NaN if either is: NumPy's."""

    def cell(run: Ieee, a: Any, b: Any) -> Any:
        if _whole(a, b):
            return b if better(b, a) else a
        x, y = run.real(name, a), run.real(name, b)
        return z3.If(z3.Or(better(y, x), z3.fpIsNaN(y)), y, x)

    return cell


def where(run: Ieee, c: Any, a: Any, b: Any) -> Any:
    """An `if` of the solver's; where one value is ZERO, which is no number of the format, the run decides."""
    if not is_condition(c):
        raise wrong("where", "a boolean", c)
    if a is ZERO or b is ZERO:
        c = run.truth(c)
    if isinstance(c, bool):
        return a if c else b
    if all(is_condition(x) for x in (a, b)):
        return z3.If(c, a, b)
    return z3.If(c, run.real("where", a), run.real("where", b))


def single(run: Ieee, a: Any) -> Any:
    """x rounded to f32, in a format that has more; itself in one that has not."""
    x = run.real("single", a)
    if run.format.sbits <= SINGLE.sbits and run.format.ebits <= SINGLE.ebits:
        return x
    return z3.fpFPToFP(_rne(), z3.fpFPToFP(_rne(), x, SINGLE.sort), run.format.sort)


def sign(run: Ieee, a: Any) -> Any:
    if _whole(a):
        return (a > 0) - (a < 0)
    x = run.real("sign", a)
    one = run.number(1.0)
    nonzero = z3.If(z3.fpIsNegative(x), z3.fpNeg(one), one)
    return z3.If(z3.Or(z3.fpIsZero(x), z3.fpIsNaN(x)), z3.fpAdd(_rne(), x, run.number(0.0)), nonzero)


def copysign(run: Ieee, a: Any, b: Any) -> Any:
    x, y = run.real("copysign", a), run.real("copysign", b)
    size = z3.fpAbs(x)
    return z3.If(z3.fpIsNegative(y), z3.fpNeg(size), size)


def sqrt(run: Ieee, a: Any) -> Any:
    return z3.fpSqrt(_rne(), run.real("sqrt", a))


def to_boolean(run: Ieee, a: Any) -> Any:
    if isinstance(a, Array) and len(a.items) == 1:
        a = a.items[0]
    return z3.Not(z3.fpIsZero(a)) if z3.is_fp(a) else REAL_CELLS["to_boolean"](None, a)  # type: ignore[operator]


def _comparison(name: str, on_fp: Callable[[Any, Any], Any], plain: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def cell(run: Ieee, a: Any, b: Any) -> Any:
        if _whole(a, b) or all(is_condition(x) for x in (a, b)):
            return plain(a, b)
        return on_fp(run.real(name, a), run.real(name, b))

    return cell


def _structural(cell: Callable[..., Any]) -> Callable[..., Any]:
    def structural(_: Ieee, *arguments: Any) -> Any:
        return cell(*arguments)

    return structural


CELLS: dict[str, Callable[..., Any] | Hole] = {
    **dict.fromkeys(REAL_CELLS, NOT_FIXED),
    **dict.fromkeys(("floordiv", "mod", "to_integer", "floor", "ceil"), NOT_READ),
    **{name: _structural(cell) for name, cell in STRUCTURE.items()},
    "add": _arithmetic("add", lambda a, b: z3.fpAdd(_rne(), a, b), lambda a, b: a + b),
    "sub": _arithmetic("sub", lambda a, b: z3.fpSub(_rne(), a, b), lambda a, b: a - b),
    "mul": _arithmetic("mul", lambda a, b: z3.fpMul(_rne(), a, b), lambda a, b: a * b),
    "div": div,
    "neg": neg,
    "abs": absolute,
    "min": _choice("min", lambda b, a: b < a),
    "max": _choice("max", lambda b, a: b > a),
    "maximum": _extreme("maximum", lambda b, a: b > a),
    "minimum": _extreme("minimum", lambda b, a: b < a),
    "where": where,
    "single": single,
    "sign": sign,
    "copysign": copysign,
    "sqrt": sqrt,
    "to_real": lambda run, a: run.real("float", a),
    "to_boolean": to_boolean,
    "lt": _comparison("lt", z3.fpLT, lambda a, b: a < b),
    "le": _comparison("le", z3.fpLEQ, lambda a, b: a <= b),
    "gt": _comparison("gt", z3.fpGT, lambda a, b: a > b),
    "ge": _comparison("ge", z3.fpGEQ, lambda a, b: a >= b),
    "eq": _comparison("eq", z3.fpEQ, lambda a, b: a == b),
    "ne": _comparison("ne", z3.fpNEQ, lambda a, b: a != b),
    **{name: REAL_CELLS[name] for name in ("not_", "and_", "or_")},
    "instantiate": lambda run, d, x: instantiate(d, without_discrete(x), lambda _: run.number(0.0)),
    "seed": lambda run, out: run.number(1.0),
}

# The column as others see it: which primitives can be read at all.
Z3_IEEE = Ieee(DOUBLE).column


def ieee_column() -> Column:
    """The column, for reports on which primitives it reads."""
    return Z3_IEEE


class Numeric:
    """A floating-point term with the comparisons of IEEE 754, for reading side conditions: `==` between zeros holds."""

    __slots__ = ("run", "term")

    def __init__(self, run: Ieee, term: Any) -> None:
        self.run, self.term = run, term

    def _of(self, other: Any) -> Any:
        return other.term if isinstance(other, Numeric) else self.run.number(other)

    def _made(self, term: Any) -> Numeric:
        return Numeric(self.run, term)

    def __add__(self, other: Any) -> Numeric:
        return self._made(z3.fpAdd(_rne(), self.term, self._of(other)))

    def __sub__(self, other: Any) -> Numeric:
        return self._made(z3.fpSub(_rne(), self.term, self._of(other)))

    def __mul__(self, other: Any) -> Numeric:
        return self._made(z3.fpMul(_rne(), self.term, self._of(other)))

    def __truediv__(self, other: Any) -> Numeric:
        return self._made(z3.fpDiv(_rne(), self.term, self._of(other)))

    def __neg__(self) -> Numeric:
        return self._made(z3.fpNeg(self.term))

    def __abs__(self) -> Numeric:
        return self._made(z3.fpAbs(self.term))

    def __lt__(self, other: Any) -> Any:
        return z3.fpLT(self.term, self._of(other))

    def __le__(self, other: Any) -> Any:
        return z3.fpLEQ(self.term, self._of(other))

    def __gt__(self, other: Any) -> Any:
        return z3.fpGT(self.term, self._of(other))

    def __ge__(self, other: Any) -> Any:
        return z3.fpGEQ(self.term, self._of(other))

    def __eq__(self, other: object) -> Any:
        return z3.fpEQ(self.term, self._of(other))

    def __ne__(self, other: object) -> Any:
        return z3.fpNEQ(self.term, self._of(other))

    __hash__ = None  # type: ignore[assignment]
