"""
Arithmetic, comparisons and conversions over the reals: cells of the column "z3_real", each of (course, arguments…).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import z3

from checkers.smt.terms import (
    Course,
    as_real,
    fraction,
    is_condition,
    is_integer,
    is_number,
    product,
    real,
    together,
    uninterpreted,
    without_discrete,
)
from semantics.arrays import Array
from semantics.columns import sequences
from semantics.columns.structure import instantiate, wrong
from semantics.errors import Trap
from semantics.tangents import ZERO

MOST_FACTORS = 64


def add(_: Course, a: Any, b: Any) -> Any:
    a, b = together("add", a, b)
    if a is ZERO or b is ZERO:
        return b if a is ZERO else a
    return a + b


def sub(_: Course, a: Any, b: Any) -> Any:
    a, b = together("sub", a, b)
    if a is ZERO or b is ZERO:
        return neg(_, b) if a is ZERO else a
    return a - b


def mul(_: Course, a: Any, b: Any) -> Any:
    a, b = together("mul", a, b)
    return ZERO if a is ZERO or b is ZERO else a * b


def neg(_: Course, a: Any) -> Any:
    if a is ZERO:
        return a
    if not is_number(a):
        raise wrong("neg", "a number", a)
    return -a


def div(course: Course, a: Any, b: Any) -> Any:
    """a / b; b ≠ 0 is noted."""
    if a is ZERO:
        return ZERO
    numerator, denominator = as_real("div", a), as_real("div", b)
    course.need(denominator != 0)
    return numerator / denominator


def floordiv(course: Course, a: Any, b: Any) -> Any:
    """floor(a / b), on z3 integers through its Euclidean `div`, whose remainder is never negative."""
    a, b = together("floordiv", a, b)
    if isinstance(a, int) and isinstance(b, int):
        if b == 0:
            raise Trap("integer division by zero", rule="floordiv")
        return a // b
    if is_integer(a) and is_integer(b):
        course.need(b != 0)
        a, b = (z3.IntVal(x) if isinstance(x, int) else x for x in (a, b))
        return z3.If(b > 0, a / b, (-a) / (-b))
    return z3.ToReal(z3.ToInt(div(course, a, b)))


def mod(course: Course, a: Any, b: Any) -> Any:
    """a - b * floor(a / b)"""
    a, b = together("mod", a, b)
    return a - b * floordiv(course, a, b)


def range_length(course: Course, start: Any, stop: Any, step: Any) -> Any:
    """
    max(0, ⌈(stop - start) / step⌉), for steps of either sign; step ≠ 0 is noted.

    So k < range_length(a, b, s) ⟺ a + k s < b for k ≥ 0 and s > 0, and ⟺ a + k s > b for s < 0.
    """
    bounds = (start, stop, step)
    if all(isinstance(x, int) for x in bounds) or any(isinstance(x, bool) or not is_integer(x) for x in bounds):
        return sequences.range_length(start, stop, step)
    turns = -floordiv(course, start - stop, step)
    return z3.simplify(z3.If(turns > 0, turns, 0))


def power(course: Course, a: Any, b: Any) -> Any:
    """a to a known integer is a product, to a known half one of roots; to anything else, exp(b log a) where a > 0."""
    if is_integer(a) and isinstance(b, int) and b >= 0:
        if isinstance(a, int):
            return a**b
        return product(a, b) if b else 1
    exponent = fraction(b)
    base = as_real("pow", a)
    if exponent is not None and exponent.denominator == 1 and abs(exponent) <= MOST_FACTORS:
        if exponent < 0:
            course.need(base != 0)
            return 1 / product(base, -exponent.numerator)
        return product(base, exponent.numerator)
    if exponent is not None and exponent.denominator == 2 and abs(exponent) <= MOST_FACTORS:
        course.need(base >= 0 if exponent > 0 else base > 0)
        root = product(uninterpreted("u_sqrt", base), abs(exponent.numerator))
        return root if exponent > 0 else 1 / root
    course.need(base > 0)
    return uninterpreted("u_exp", as_real("pow", b) * uninterpreted("u_log", base))


def absolute(_: Course, a: Any) -> Any:
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


def minimum(_: Course, a: Any, b: Any) -> Any:
    a, b = _dense("min", a, b)
    return _choose(b < a, b, a)


def maximum(_: Course, a: Any, b: Any) -> Any:
    a, b = _dense("max", a, b)
    return _choose(b > a, b, a)


def np_minimum(_: Course, a: Any, b: Any) -> Any:
    a, b = _dense("minimum", a, b)
    return _choose(b < a, b, a)


def np_maximum(_: Course, a: Any, b: Any) -> Any:
    a, b = _dense("maximum", a, b)
    return _choose(b > a, b, a)


def where(_: Course, c: Any, a: Any, b: Any) -> Any:
    """An `if` of the solver's, since both values are computed anyway; ZERO reads as 0."""
    if not isinstance(c, bool) and not z3.is_bool(c):
        raise wrong("where", "a boolean", c)
    if isinstance(c, bool):
        return a if c else b
    if all(is_condition(x) for x in (a, b)):
        return z3.If(c, a, b)
    return ZERO if a is ZERO and b is ZERO else _choose(c, *_dense("where", a, b))


def sign(_: Course, a: Any) -> Any:
    if isinstance(a, int) and not isinstance(a, bool):
        return (a > 0) - (a < 0)
    if is_integer(a):
        return z3.If(a > 0, z3.IntVal(1), z3.If(a < 0, z3.IntVal(-1), z3.IntVal(0)))
    x = as_real("sign", a)
    return z3.If(x > 0, real(1), z3.If(x < 0, real(-1), real(0)))


def copysign(_: Course, a: Any, b: Any) -> Any:
    """|a| where b ≥ 0, else -|a|: over the reals there is one zero, and it counts as positive."""
    x, y = as_real("copysign", a), as_real("copysign", b)
    size = z3.If(x < 0, -x, x)
    return z3.If(y >= 0, size, -size)


# conversions, comparisons, booleans


def to_whole(name: str) -> Callable[..., Any]:
    def cell(_: Course, a: Any) -> Any:
        if is_integer(a) and not isinstance(a, bool):
            return a
        x = as_real(name, a)
        down, up = z3.ToInt(x), -z3.ToInt(-x)
        return {"floor": down, "ceil": up, "int": z3.If(x >= 0, down, up)}[name]

    return cell


def to_boolean(_: Course, a: Any) -> Any:
    if isinstance(a, Array) and len(a.items) == 1:
        a = a.items[0]
    if isinstance(a, (bool, int, tuple)) or z3.is_bool(a):
        return bool(a) if not z3.is_bool(a) else a
    return as_real("bool", a) != 0


def comparison(name: str, compare: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def cell(_: Course, a: Any, b: Any) -> Any:
        if name in ("eq", "ne") and all(is_condition(x) for x in (a, b)):
            return compare(a, b)
        return compare(*_dense(name, a, b))

    return cell


def not_(_: Course, a: Any) -> Any:
    if isinstance(a, bool):
        return not a
    if z3.is_bool(a):
        return z3.Not(a)
    raise wrong("not", "a boolean", a)


def logical(name: str, join: Callable[..., Any]) -> Callable[..., Any]:
    """and, or of two conditions that are both known or both terms."""

    def cell(_: Course, a: Any, b: Any) -> Any:
        for x in (a, b):
            if not is_condition(x):
                raise wrong(name, "booleans", x)
        found = z3.simplify(join(a, b))
        return z3.is_true(found) if z3.is_true(found) or z3.is_false(found) else found

    return cell


def seed(_: Course, out: Any) -> Any:
    if isinstance(out, Array) and out.shape == ():
        return seed(_, out.items[0])
    if not z3.is_arith(out) or out.is_int():
        raise wrong("grad", "a function whose result is a real", out)
    return real(1)


def instantiated(course: Course, d: Any, x: Any) -> Any:
    return instantiate(d, without_discrete(x), lambda _: real(0))
