"""
Arithmetic on doubles and integers, and what an argument must be. Doubles are IEEE 754 and total; integers are Python's: exact, and
trapping where Python raises. A symbolic ZERO is neutral for sums and absorbs products; elsewhere it reads as 0.0.
"""

from __future__ import annotations

import math
from typing import Any

from semantics.arrays import single
from semantics.columns.kinds import JOINS
from semantics.columns.structure import wrong
from semantics.errors import Trap
from semantics.structured import Label, Record
from semantics.tangents import ZERO

INF, NAN = math.inf, math.nan


def check(name: str, *arguments: Any) -> None:
    """Every argument is a number or ZERO; otherwise the error says which is not."""
    for x in arguments:
        if type(x) is not float and type(x) is not int and x is not ZERO:
            raise wrong(name, "numbers", x, _instead(name, x))


def _instead(name: str, x: Any) -> str:
    """What to write where a number is wanted."""
    match x:
        case Record(Label("list")) | tuple() if name == "add":
            return JOINS
        case bool():
            return "write a number for it: 1 if b else 0"
        case Record(Label("list")):
            return "make an array of it: np.array(xs)"
        case tuple() | Record():
            return "take a part of it"
        case _:
            return ""


def real(name: str, x: Any) -> float:
    """x as a double. Integers are rounded to nearest even; one beyond the doubles traps; ZERO reads as 0.0."""
    if type(x) is float:
        return x
    check(name, x)
    if x is ZERO:
        return 0.0
    try:
        return float(x)
    except OverflowError:
        raise Trap("an integer is too large for a real", rule=name, remedy="keep it below 2**1024") from None


def mixed(name: str, a: Any, b: Any) -> tuple[Any, Any]:
    """Both arguments as they are if of one type, else both as doubles; ZERO is left alone."""
    check(name, a, b)
    if type(a) is type(b) or a is ZERO or b is ZERO:
        return a, b
    return real(name, a), real(name, b)


def _met(name: str, a: Any, b: Any) -> tuple[Any, Any]:
    """As `mixed`; ZERO reads as 0.0."""
    if type(a) is float and type(b) is float:
        return a, b
    return mixed(name, *(0.0 if x is ZERO else x for x in (a, b)))


def add(a: Any, b: Any) -> Any:
    """a + b"""
    if type(a) is float and type(b) is float:
        return a + b
    a, b = mixed("add", a, b)
    return a + b


def sub(a: Any, b: Any) -> Any:
    """a - b"""
    if type(a) is float and type(b) is float:
        return a - b
    a, b = mixed("sub", a, b)
    return a - b


def mul(a: Any, b: Any) -> Any:
    """a * b; a ZERO absorbs."""
    if type(a) is float and type(b) is float:
        return a * b
    a, b = mixed("mul", a, b)
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
    check("div", a, b)
    if a is ZERO:
        return ZERO
    return ieee_divide(real("div", a), real("div", b))


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
    a, b = _met("floordiv", a, b)
    if type(a) is int:
        if b == 0:
            raise Trap("integer division by zero", rule="floordiv", remedy="test the divisor first")
        return a // b
    x, y = real("floordiv", a), real("floordiv", b)
    return x // y if y != 0 else ieee_divide(x, y)


def mod(a: Any, b: Any) -> Any:
    """a - b * floor(a / b), with the sign of b, as Python has it; on reals by zero, NaN."""
    a, b = _met("mod", a, b)
    if type(a) is int:
        if b == 0:
            raise Trap("integer modulo by zero", rule="mod", remedy="test the divisor first")
        return a % b
    x, y = real("mod", a), real("mod", b)
    return x % y if y != 0 else NAN


MOST_BITS = 1 << 20


def power(a: Any, b: Any) -> Any:
    """a ** b. An integer to a natural power is an integer (at most 2^20 bits); everything else is a real."""
    check("pow", a, b)
    if type(a) is int and type(b) is int:
        if b >= 0:
            if a.bit_length() * b > MOST_BITS:
                raise Trap(f"an integer power of more than {MOST_BITS} bits", rule="pow", remedy="use a real base")
            return a**b
        if a == 0:
            raise Trap("0 to a negative power", rule="pow", remedy="test the base first")
    return ieee_power(real("pow", a), real("pow", b))


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
    check("neg", a)
    return -a


def absolute(a: Any) -> Any:
    """|a|"""
    check("abs", a)
    return abs(0.0 if a is ZERO else a)


def minimum(a: Any, b: Any) -> Any:
    """b if b < a else a: the first argument on ties and NaN, as Python has it."""
    check("min", a, b)
    a, b = (0.0 if x is ZERO else x for x in (a, b))
    return b if b < a else a


def maximum(a: Any, b: Any) -> Any:
    """b if b > a else a: the first argument on ties and NaN, as Python has it."""
    check("max", a, b)
    a, b = (0.0 if x is ZERO else x for x in (a, b))
    return b if b > a else a


def np_maximum(a: Any, b: Any) -> Any:
    """b if b > a else a of both in one type, but NaN if either is NaN: NumPy's maximum."""
    a, b = _met("maximum", a, b)
    return b if b > a or (type(b) is float and math.isnan(b)) else a


def np_minimum(a: Any, b: Any) -> Any:
    """b if b < a else a of both in one type, but NaN if either is NaN: NumPy's minimum."""
    a, b = _met("minimum", a, b)
    return b if b < a or (type(b) is float and math.isnan(b)) else a


def where(c: Any, a: Any, b: Any) -> Any:
    """a where c is True, b where it is False, in the type in which both meet; a boolean that meets a number is 0 or 1."""
    if not isinstance(c, bool):
        raise wrong("where", "a boolean", c, "compare first: np.where(x > 0, …)")
    for x in (a, b):
        if not isinstance(x, bool):
            check("where", x)
    if type(a) is type(b) or a is ZERO or b is ZERO:
        return a if c else b
    chosen = a if c else b
    if isinstance(chosen, bool):
        chosen = int(chosen)
    return real("where", chosen) if float in (type(a), type(b)) else chosen


def to_single(a: Any) -> float:
    """The nearest f32, as a double."""
    return single(real("single", a))


def sign(a: Any) -> Any:
    """-1, 0 or 1, in the type of a; NaN of NaN."""
    if type(a) is int:
        return (a > 0) - (a < 0)
    x = real("sign", a)
    return math.copysign(1.0, x) if x != 0 and not math.isnan(x) else x + 0.0
