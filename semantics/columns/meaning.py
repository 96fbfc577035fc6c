"""
The meaning of every primitive on doubles and integers. The machine, the folder and every checker call it; nobody restates it.

Scalar mathematics is `math.*`, one call per operation, made total: where `math` raises, the IEEE value is returned
(exp(1000) is inf, log(0) is -inf, sin(inf) is NaN). Integers are Python's: exact, and trapping where Python raises.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from semantics.columns.structure import CELLS as STRUCTURE
from semantics.columns.structure import EXPANDED, instantiate, wrong
from semantics.errors import Trap
from semantics.primitives.row import Column, Hole
from semantics.tangents import ZERO

INF, NAN = math.inf, math.nan


def _check(name: str, *arguments: Any) -> None:
    """Every argument is a number or ZERO; otherwise the error says which is not."""
    for x in arguments:
        if type(x) is not float and type(x) is not int and x is not ZERO:
            remedy = "write a number for it: 1 if b else 0" if isinstance(x, bool) else ""
            raise wrong(name, "numbers", x, remedy)


def _real(name: str, x: Any) -> float:
    """x as a double. Integers are rounded to nearest even; one beyond the doubles traps; ZERO reads as 0.0."""
    if type(x) is float:
        return x
    _check(name, x)
    if x is ZERO:
        return 0.0
    try:
        return float(x)
    except OverflowError:
        raise Trap("an integer is too large for a real", rule=name, remedy="keep it below 2**1024") from None


def _mixed(name: str, a: Any, b: Any) -> tuple[Any, Any]:
    """Both arguments as they are if of one type, else both as doubles; ZERO is left alone."""
    _check(name, a, b)
    if type(a) is type(b) or a is ZERO or b is ZERO:
        return a, b
    return _real(name, a), _real(name, b)


# arithmetic


def add(a: Any, b: Any) -> Any:
    """a + b"""
    if type(a) is float and type(b) is float:
        return a + b
    a, b = _mixed("add", a, b)
    return a + b


def sub(a: Any, b: Any) -> Any:
    """a - b"""
    if type(a) is float and type(b) is float:
        return a - b
    a, b = _mixed("sub", a, b)
    return a - b


def mul(a: Any, b: Any) -> Any:
    """a * b; a ZERO absorbs."""
    if type(a) is float and type(b) is float:
        return a * b
    a, b = _mixed("mul", a, b)
    return a * b


def div(a: Any, b: Any) -> Any:
    """True division: IEEE on reals; on integers the nearest real, trapping at 0. A ZERO numerator absorbs."""
    if type(a) is int and type(b) is int:
        if b == 0:
            raise Trap("integer division by zero", rule="div", remedy="test the divisor first")
        try:
            return a / b
        except OverflowError:
            raise Trap("the quotient of two integers is too large for a real", rule="div") from None
    _check("div", a, b)
    if a is ZERO:
        return ZERO
    return ieee_divide(_real("div", a), _real("div", b))


def ieee_divide(x: float, y: float) -> float:
    """x / y for doubles, total."""
    try:
        return x / y
    except ZeroDivisionError:
        if x == 0 or math.isnan(x):
            return NAN
        return math.copysign(INF, x) * math.copysign(1.0, y)


def floordiv(a: Any, b: Any) -> Any:
    """floor(a / b), as Python has it; on reals by zero, the IEEE quotient."""
    a, b = _mixed("floordiv", a, b)
    if type(a) is int:
        if b == 0:
            raise Trap("integer division by zero", rule="floordiv", remedy="test the divisor first")
        return a // b
    x, y = _real("floordiv", a), _real("floordiv", b)
    return x // y if y != 0 else ieee_divide(x, y)


def mod(a: Any, b: Any) -> Any:
    """a - b * floor(a / b), with the sign of b, as Python has it; on reals by zero, NaN."""
    a, b = _mixed("mod", a, b)
    if type(a) is int:
        if b == 0:
            raise Trap("integer modulo by zero", rule="mod", remedy="test the divisor first")
        return a % b
    x, y = _real("mod", a), _real("mod", b)
    return x % y if y != 0 else NAN


MOST_BITS = 1 << 20


def power(a: Any, b: Any) -> Any:
    """a ** b. An integer to a natural power is an integer (at most 2^20 bits); everything else is a real."""
    _check("pow", a, b)
    if type(a) is int and type(b) is int:
        if b >= 0:
            if a.bit_length() * b > MOST_BITS:
                raise Trap(f"an integer power of more than {MOST_BITS} bits", rule="pow", remedy="use a real base")
            return a**b
        if a == 0:
            raise Trap("0 to a negative power", rule="pow", remedy="test the base first")
    return ieee_power(_real("pow", a), _real("pow", b))


def ieee_power(x: float, y: float) -> float:
    """x ** y for doubles, as IEEE 754 `pow`; NaN where the result is not real."""
    try:
        return math.pow(x, y)
    except OverflowError:
        return -INF if x < 0 and y % 2 == 1 else INF
    except ValueError:
        if x == 0 and y < 0:
            return math.copysign(INF, x) if y % 2 == 1 else INF
        return NAN


def neg(a: Any) -> Any:
    """-a"""
    if type(a) is float:
        return -a
    _check("neg", a)
    return -a


def absolute(a: Any) -> Any:
    """|a|"""
    _check("abs", a)
    return abs(0.0 if a is ZERO else a)


def minimum(a: Any, b: Any) -> Any:
    """b if b < a else a: the first argument on ties and NaN, as Python has it."""
    _check("min", a, b)
    a, b = (0.0 if x is ZERO else x for x in (a, b))
    return b if b < a else a


def maximum(a: Any, b: Any) -> Any:
    """b if b > a else a: the first argument on ties and NaN, as Python has it."""
    _check("max", a, b)
    a, b = (0.0 if x is ZERO else x for x in (a, b))
    return b if b > a else a


def sign(a: Any) -> float:
    """-1.0, 0.0 or 1.0; NaN of NaN."""
    x = _real("sign", a)
    return math.copysign(1.0, x) if x != 0 and not math.isnan(x) else x + 0.0


# elementary functions


def _total(name: str, function: Callable[[float], float], exceptional: Callable[[float], float]) -> Callable[[Any], float]:
    """`function` on doubles, with `exceptional` where it raises."""

    def cell(a: Any) -> float:
        x = a if type(a) is float else _real(name, a)
        try:
            return function(x)
        except (OverflowError, ValueError):
            return exceptional(x)

    cell.__name__ = name
    cell.__doc__ = f"{name} of a double, total"
    return cell


def _nan(x: float) -> float:
    return NAN


def _infinite(x: float) -> float:
    return INF


def _signed_infinite(x: float) -> float:
    return math.copysign(INF, x)


def _pole_at(pole: float) -> Callable[[float], float]:
    """-inf at the pole, NaN elsewhere: what the logarithms give where `math` raises."""
    return lambda x: -INF if x == pole else NAN


ELEMENTARY: dict[str, Callable[[Any], float]] = {
    name: _total(name, function, exceptional)
    for name, function, exceptional in (
        ("exp", math.exp, _infinite),
        ("expm1", math.expm1, _infinite),
        ("log", math.log, _pole_at(0.0)),
        ("log1p", math.log1p, _pole_at(-1.0)),
        ("log2", math.log2, _pole_at(0.0)),
        ("log10", math.log10, _pole_at(0.0)),
        ("sqrt", math.sqrt, _nan),
        ("cbrt", math.cbrt, _nan),
        ("sin", math.sin, _nan),
        ("cos", math.cos, _nan),
        ("tan", math.tan, _nan),
        ("asin", math.asin, _nan),
        ("acos", math.acos, _nan),
        ("atan", math.atan, _nan),
        ("sinh", math.sinh, _signed_infinite),
        ("cosh", math.cosh, _infinite),
        ("tanh", math.tanh, _nan),
        ("asinh", math.asinh, _nan),
        ("acosh", math.acosh, _nan),
        ("atanh", math.atanh, lambda x: math.copysign(INF, x) if abs(x) == 1 else NAN),
        ("erf", math.erf, _nan),
        ("erfc", math.erfc, _nan),
    )
}


def atan2(a: Any, b: Any) -> float:
    """The angle of the point (b, a)."""
    return math.atan2(_real("atan2", a), _real("atan2", b))


def hypot(a: Any, b: Any) -> float:
    """sqrt(a*a + b*b) without overflow."""
    return math.hypot(_real("hypot", a), _real("hypot", b))


def copysign(a: Any, b: Any) -> float:
    """The size of a with the sign of b."""
    return math.copysign(_real("copysign", a), _real("copysign", b))


# conversions, comparisons, booleans


def _to_whole(name: str, function: Callable[[float], int]) -> Callable[[Any], int]:
    def cell(a: Any) -> int:
        _check(name, a)
        if type(a) is int:
            return a
        x = _real(name, a)
        if not math.isfinite(x):
            raise Trap(f"{x} has no integer part", rule=name, remedy="test math.isfinite first")
        return function(x)

    return cell


def to_boolean(a: Any) -> bool:
    """Python's truth of a number, a boolean or a tuple."""
    if isinstance(a, (bool, int, float, tuple)):
        return bool(a)
    raise wrong("bool", "a number, a boolean or a tuple", a)


def _comparison(name: str, compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def cell(a: Any, b: Any) -> bool:
        if type(a) is float and type(b) is float:
            return compare(a, b)
        if not (name in ("eq", "ne") and isinstance(a, bool) and isinstance(b, bool)):
            _check(name, a, b)
        return compare(*(0.0 if x is ZERO else x for x in (a, b)))

    return cell


def not_(a: Any) -> bool:
    """The other boolean."""
    if not isinstance(a, bool):
        raise wrong("not", "a boolean", a)
    return not a


def seed(out: Any) -> float:
    """The sensitivity of the result of a differentiated function to itself, 1.0; the result must be a real."""
    if type(out) is not float:
        raise wrong("grad", "a function whose result is a real", out, "differentiate a real output; use vjp for any other")
    return 1.0


CELLS: dict[str, Callable[..., Any] | Hole] = {
    **EXPANDED,
    **STRUCTURE,
    **ELEMENTARY,
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
    "atan2": atan2,
    "hypot": hypot,
    "copysign": copysign,
    "to_real": lambda a: _real("float", a),
    "to_integer": _to_whole("int", math.trunc),
    "to_boolean": to_boolean,
    "floor": _to_whole("floor", math.floor),
    "ceil": _to_whole("ceil", math.ceil),
    "lt": _comparison("lt", lambda a, b: a < b),
    "le": _comparison("le", lambda a, b: a <= b),
    "gt": _comparison("gt", lambda a, b: a > b),
    "ge": _comparison("ge", lambda a, b: a >= b),
    "eq": _comparison("eq", lambda a, b: a == b),
    "ne": _comparison("ne", lambda a, b: a != b),
    "not_": not_,
    "instantiate": instantiate,
    "seed": seed,
}

MEANING = Column("meaning", CELLS)
