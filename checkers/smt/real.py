"""
The column "z3_real": programs read over the real numbers, as z3 terms.

    a real     a z3 term of sort Real            an integer  a Python int, or a z3 term of sort Int
    a boolean  a Python bool, or a z3 term       ZERO, unit, tuples, closures   themselves

The terms keep `/` and the names of functions (`u_exp`, `u_sqrt`): `purify` turns them into what a solver decides well, and a
normaliser can read them as they are. What a function needs in order to be defined is noted in `encoder.domain` as it is met, so a
proof can ask whether a rewrite added a pole. Functions that have a definition in terms of exp, log, sin, cos are read by it:
tan, sinh, cosh, tanh, expm1, log1p, log2, log10, asinh, acosh, atanh, erfc, and `pow` with an exponent that is no integer.

A condition that is not yet a boolean is decided by `encoder.decide`, which `paths` provides.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import z3

from semantics.columns.structure import CELLS as STRUCTURE
from semantics.columns.structure import instantiate, wrong
from semantics.denotation import Reading
from semantics.errors import AdjudgeError, IllTyped, Trap
from semantics.primitives.row import Column, Hole
from semantics.tangents import ZERO

MOST_FACTORS = 64
PI = "u_pi"


def undecided(condition: Any) -> bool:
    """The `decide` of an encoder that explores no paths."""
    raise IllTyped(f"the branch on {condition} needs a path", rule="z3_real", remedy="explore the paths of the program")


def real(value: Fraction | float | int) -> z3.ArithRef:
    """A rational number as a z3 term."""
    return z3.RealVal(str(Fraction(value)))


def fraction(term: Any) -> Fraction | None:
    """The rational number that a term is, if it is a numeral."""
    if isinstance(term, int) and not isinstance(term, bool):
        return Fraction(term)
    if z3.is_rational_value(term):
        return Fraction(term.numerator_as_long(), term.denominator_as_long())
    if z3.is_int_value(term):
        return Fraction(term.as_long())
    return None


def uninterpreted(name: str, *arguments: z3.ArithRef) -> z3.ArithRef:
    """The term name(arguments…) over the reals; `purify` and the normal forms know what to do with it."""
    if not arguments:
        return z3.Real(name)
    return z3.Function(name, *[z3.RealSort()] * (len(arguments) + 1))(*arguments)


class Encoder:
    """One symbolic run: the conditions of definedness it meets, and how it decides branches."""

    def __init__(self, decide: Callable[[Any], bool] = undecided, pi: bool = False) -> None:
        self.decide, self.pi = decide, pi
        self.domain: list[z3.BoolRef] = []
        self.column = Column("z3_real", {name: self._bind(cell) for name, cell in CELLS.items()})

    def _bind(self, cell: Callable[..., Any] | Hole) -> Callable[..., Any] | Hole:
        if isinstance(cell, Hole):
            return cell

        def bound(*arguments: Any) -> Any:
            return cell(self, *arguments)

        return bound

    def reading(self) -> Reading:
        """The reading for `denote`."""
        return Reading(self.column, self.lift, self.truth)

    def lift(self, value: Any) -> Any:
        """A constant: a double is the rational it stands for, but with `pi` the double nearest to π is π."""
        if type(value) is not float:
            return value
        if not math.isfinite(value):
            raise Trap(f"{value} is not a real number", rule="z3_real")
        return uninterpreted(PI) if self.pi and value == math.pi else real(value)

    def truth(self, condition: Any) -> Any:
        """A boolean; undecided ones go to `decide`."""
        return self.decide(condition) if z3.is_bool(condition) else condition

    def need(self, condition: Any) -> None:
        """Notes a condition of definedness; a plainly false one traps."""
        condition = z3.simplify(condition)
        if z3.is_false(condition):
            raise Trap("undefined over the reals", rule="z3_real")
        if not z3.is_true(condition):
            self.domain.append(condition)


def is_number(x: Any) -> bool:
    """Whether x is a number of this reading."""
    return (isinstance(x, int) and not isinstance(x, bool)) or z3.is_arith(x)


def is_integer(x: Any) -> bool:
    return isinstance(x, int) or (z3.is_arith(x) and x.is_int())


def as_real(name: str, x: Any) -> z3.ArithRef:
    """x as a term of sort Real; ZERO reads as 0."""
    if x is ZERO:
        return real(0)
    if not is_number(x):
        raise wrong(name, "numbers", x)
    if isinstance(x, int):
        return real(x)
    return z3.ToReal(x) if x.is_int() else x


def together(name: str, a: Any, b: Any) -> tuple[Any, Any]:
    """Two numbers of one sort: both integers, or both reals."""
    for x in (a, b):
        if x is not ZERO and not is_number(x):
            raise wrong(name, "numbers", x)
    if a is ZERO or b is ZERO or (is_integer(a) and is_integer(b)):
        return a, b
    return as_real(name, a), as_real(name, b)


# arithmetic


def add(_: Encoder, a: Any, b: Any) -> Any:
    a, b = together("add", a, b)
    return a + b


def sub(_: Encoder, a: Any, b: Any) -> Any:
    a, b = together("sub", a, b)
    return a + neg(_, b) if a is ZERO or b is ZERO else a - b


def mul(_: Encoder, a: Any, b: Any) -> Any:
    a, b = together("mul", a, b)
    return ZERO if a is ZERO or b is ZERO else a * b


def neg(_: Encoder, a: Any) -> Any:
    if a is ZERO:
        return a
    if not is_number(a):
        raise wrong("neg", "a number", a)
    return -a


def div(encoder: Encoder, a: Any, b: Any) -> Any:
    """a / b; b ≠ 0 is noted."""
    if a is ZERO:
        return ZERO
    numerator, denominator = as_real("div", a), as_real("div", b)
    encoder.need(denominator != 0)
    return numerator / denominator


def floordiv(encoder: Encoder, a: Any, b: Any) -> Any:
    """floor(a / b), on z3 integers through its Euclidean `div`, whose remainder is never negative."""
    a, b = together("floordiv", a, b)
    if isinstance(a, int) and isinstance(b, int):
        if b == 0:
            raise Trap("integer division by zero", rule="floordiv")
        return a // b
    if is_integer(a) and is_integer(b):
        encoder.need(b != 0)
        a, b = (z3.IntVal(x) if isinstance(x, int) else x for x in (a, b))
        return z3.If(b > 0, a / b, (-a) / (-b))
    return z3.ToReal(z3.ToInt(div(encoder, a, b)))


def mod(encoder: Encoder, a: Any, b: Any) -> Any:
    """a - b * floor(a / b)"""
    a, b = together("mod", a, b)
    return a - b * floordiv(encoder, a, b)


def power(encoder: Encoder, a: Any, b: Any) -> Any:
    """a to a known integer is a product; to anything else, exp(b log a) where a > 0."""
    if is_integer(a) and isinstance(b, int) and b >= 0:
        if isinstance(a, int):
            return a**b
        return product(a, b) if b else 1
    exponent = fraction(b)
    base = as_real("pow", a)
    if exponent is not None and exponent.denominator == 1 and abs(exponent) <= MOST_FACTORS:
        if exponent < 0:
            encoder.need(base != 0)
            return 1 / product(base, -exponent.numerator)
        return product(base, exponent.numerator)
    encoder.need(base > 0)
    return uninterpreted("u_exp", as_real("pow", b) * uninterpreted("u_log", base))


def product(base: Any, n: int) -> Any:
    """base times itself, n ≥ 0 factors."""
    result = base if n else real(1)
    for _ in range(n - 1):
        result = result * base
    return result


def absolute(_: Encoder, a: Any) -> Any:
    if isinstance(a, int) and not isinstance(a, bool):
        return abs(a)
    x = a if z3.is_arith(a) else as_real("abs", a)
    return z3.If(x < 0, -x, x)


def _choose(condition: Any, a: Any, b: Any) -> Any:
    if isinstance(condition, bool):
        return a if condition else b
    return z3.If(condition, *(z3.IntVal(x) if isinstance(x, int) else x for x in (a, b)))


def _dense(name: str, a: Any, b: Any) -> tuple[Any, Any]:
    a, b = (real(0) if x is ZERO else x for x in (a, b))
    return together(name, a, b)


def minimum(_: Encoder, a: Any, b: Any) -> Any:
    a, b = _dense("min", a, b)
    return _choose(b < a, b, a)


def maximum(_: Encoder, a: Any, b: Any) -> Any:
    a, b = _dense("max", a, b)
    return _choose(b > a, b, a)


def sign(_: Encoder, a: Any) -> Any:
    x = as_real("sign", a)
    return z3.If(x > 0, real(1), z3.If(x < 0, real(-1), real(0)))


def copysign(_: Encoder, a: Any, b: Any) -> Any:
    """|a| where b ≥ 0, else -|a|: over the reals there is one zero, and it counts as positive."""
    x, y = as_real("copysign", a), as_real("copysign", b)
    size = z3.If(x < 0, -x, x)
    return z3.If(y >= 0, size, -size)


# elementary functions, by definition where there is one


def _elementary(name: str, need: Callable[[Any], Any] | None = None) -> Callable[..., Any]:
    """The uninterpreted function `u_name`, defined where `need` says."""

    def cell(encoder: Encoder, a: Any) -> Any:
        x = as_real(name, a)
        if need is not None:
            encoder.need(need(x))
        return uninterpreted(f"u_{name}", x)

    return cell


exp = _elementary("exp")
log = _elementary("log", lambda x: x > 0)
sqrt = _elementary("sqrt", lambda x: x >= 0)


def tan(encoder: Encoder, a: Any) -> Any:
    """tan x = sin x / cos x"""
    x = as_real("tan", a)
    return div(encoder, uninterpreted("u_sin", x), uninterpreted("u_cos", x))


def sinh(encoder: Encoder, a: Any) -> Any:
    """sinh x = (exp x - exp -x) / 2"""
    x = as_real("sinh", a)
    return (exp(encoder, x) - exp(encoder, -x)) / 2


def cosh(encoder: Encoder, a: Any) -> Any:
    """cosh x = (exp x + exp -x) / 2"""
    x = as_real("cosh", a)
    return (exp(encoder, x) + exp(encoder, -x)) / 2


def tanh(encoder: Encoder, a: Any) -> Any:
    """tanh x = sinh x / cosh x; the denominator is positive."""
    return sinh(encoder, a) / cosh(encoder, a)


def expm1(encoder: Encoder, a: Any) -> Any:
    """exp x - 1"""
    return exp(encoder, a) - 1


def log1p(encoder: Encoder, a: Any) -> Any:
    """log (1 + x)"""
    return log(encoder, 1 + as_real("log1p", a))


def _log_of(base: int) -> Callable[..., Any]:
    def cell(encoder: Encoder, a: Any) -> Any:
        return log(encoder, a) / uninterpreted("u_log", real(base))

    return cell


def asinh(encoder: Encoder, a: Any) -> Any:
    """log (x + sqrt (x² + 1))"""
    x = as_real("asinh", a)
    return uninterpreted("u_log", x + uninterpreted("u_sqrt", x * x + 1))


def acosh(encoder: Encoder, a: Any) -> Any:
    """log (x + sqrt (x² - 1)), x ≥ 1"""
    x = as_real("acosh", a)
    encoder.need(x >= 1)
    return uninterpreted("u_log", x + uninterpreted("u_sqrt", x * x - 1))


def atanh(encoder: Encoder, a: Any) -> Any:
    """(log (1 + x) - log (1 - x)) / 2, -1 < x < 1"""
    x = as_real("atanh", a)
    encoder.need(z3.And(x > -1, x < 1))
    return (uninterpreted("u_log", 1 + x) - uninterpreted("u_log", 1 - x)) / 2


def atan2(encoder: Encoder, a: Any, b: Any) -> Any:
    y, x = as_real("atan2", a), as_real("atan2", b)
    encoder.need(z3.Or(x != 0, y != 0))
    return uninterpreted("u_atan2", y, x)


def hypot(_: Encoder, a: Any, b: Any) -> Any:
    """sqrt (x² + y²)"""
    x, y = as_real("hypot", a), as_real("hypot", b)
    return uninterpreted("u_sqrt", x * x + y * y)


def erfc(_: Encoder, a: Any) -> Any:
    """1 - erf x"""
    return 1 - uninterpreted("u_erf", as_real("erfc", a))


# conversions, comparisons, booleans


def _to_whole(name: str) -> Callable[..., Any]:
    def cell(_: Encoder, a: Any) -> Any:
        if is_integer(a) and not isinstance(a, bool):
            return a
        x = as_real(name, a)
        down, up = z3.ToInt(x), -z3.ToInt(-x)
        return {"floor": down, "ceil": up, "int": z3.If(x >= 0, down, up)}[name]

    return cell


def to_boolean(_: Encoder, a: Any) -> Any:
    if isinstance(a, (bool, int, tuple)) or z3.is_bool(a):
        return bool(a) if not z3.is_bool(a) else a
    return as_real("bool", a) != 0


def _comparison(name: str, compare: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def cell(_: Encoder, a: Any, b: Any) -> Any:
        if name in ("eq", "ne") and all(isinstance(x, bool) or z3.is_bool(x) for x in (a, b)):
            return compare(a, b)
        return compare(*_dense(name, a, b))

    return cell


def not_(_: Encoder, a: Any) -> Any:
    if isinstance(a, bool):
        return not a
    if z3.is_bool(a):
        return z3.Not(a)
    raise wrong("not", "a boolean", a)


def _seed(_: Encoder, out: Any) -> Any:
    if not z3.is_arith(out) or out.is_int():
        raise wrong("grad", "a function whose result is a real", out)
    return real(1)


def _structural(cell: Callable[..., Any]) -> Callable[..., Any]:
    def structural(_: Encoder, *arguments: Any) -> Any:
        return cell(*arguments)

    return structural


def _instantiate(encoder: Encoder, d: Any, x: Any) -> Any:
    return instantiate(d, x, lambda primal: None if is_integer(primal) or z3.is_bool(primal) else real(0))


CELLS: dict[str, Callable[..., Any] | Hole] = {
    **{name: _structural(cell) for name, cell in STRUCTURE.items()},
    "add": add,
    "sub": sub,
    "mul": mul,
    "div": div,
    "floordiv": floordiv,
    "mod": mod,
    "pow": power,
    "neg": neg,
    "abs": absolute,
    "min": minimum,
    "max": maximum,
    "sign": sign,
    "copysign": copysign,
    "exp": exp,
    "expm1": expm1,
    "log": log,
    "log1p": log1p,
    "log2": _log_of(2),
    "log10": _log_of(10),
    "sqrt": sqrt,
    "cbrt": _elementary("cbrt"),
    "sin": _elementary("sin"),
    "cos": _elementary("cos"),
    "tan": tan,
    "asin": _elementary("asin", lambda x: z3.And(x >= -1, x <= 1)),
    "acos": _elementary("acos", lambda x: z3.And(x >= -1, x <= 1)),
    "atan": _elementary("atan"),
    "atan2": atan2,
    "sinh": sinh,
    "cosh": cosh,
    "tanh": tanh,
    "asinh": asinh,
    "acosh": acosh,
    "atanh": atanh,
    "hypot": hypot,
    "erf": _elementary("erf"),
    "erfc": erfc,
    "to_real": lambda _, a: as_real("float", a),
    "to_integer": _to_whole("int"),
    "floor": _to_whole("floor"),
    "ceil": _to_whole("ceil"),
    "to_boolean": to_boolean,
    "lt": _comparison("lt", lambda a, b: a < b),
    "le": _comparison("le", lambda a, b: a <= b),
    "gt": _comparison("gt", lambda a, b: a > b),
    "ge": _comparison("ge", lambda a, b: a >= b),
    "eq": _comparison("eq", lambda a, b: a == b),
    "ne": _comparison("ne", lambda a, b: a != b),
    "not_": not_,
    "instantiate": _instantiate,
    "seed": _seed,
}

# The column as others see it: which primitives can be read at all. A run uses the cells of its own `Encoder`.
Z3_REAL = Column("z3_real", CELLS)

__all__ = ["PI", "Z3_REAL", "AdjudgeError", "Encoder", "as_real", "fraction", "is_integer", "is_number", "real", "uninterpreted"]
