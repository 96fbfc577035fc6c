"""
Elementary functions over the reals: cells of the column "z3_real", each of (course, arguments…).

exp, log, sin, cos, sqrt, cbrt, asin, acos, atan, atan2 and erf are names; everything else is read by its definition.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import z3

from checkers.smt.real_arithmetic import div
from checkers.smt.terms import Course, as_real, real, uninterpreted


def elementary(name: str, need: Callable[[Any], Any] | None = None) -> Callable[..., Any]:
    """The uninterpreted function `u_name`, defined where `need` says."""

    def cell(course: Course, a: Any) -> Any:
        x = as_real(name, a)
        if need is not None:
            course.need(need(x))
        return uninterpreted(f"u_{name}", x)

    return cell


exp = elementary("exp")
log = elementary("log", lambda x: x > 0)
sqrt = elementary("sqrt", lambda x: x >= 0)


def logaddexp(course: Course, a: Any, b: Any) -> Any:
    """log (exp x + exp y); the sum is positive."""
    x, y = as_real("logaddexp", a), as_real("logaddexp", b)
    return uninterpreted("u_log", exp(course, x) + exp(course, y))


def tan(course: Course, a: Any) -> Any:
    """tan x = sin x / cos x"""
    x = as_real("tan", a)
    return div(course, uninterpreted("u_sin", x), uninterpreted("u_cos", x))


def sinh(course: Course, a: Any) -> Any:
    """sinh x = (exp x - exp -x) / 2"""
    x = as_real("sinh", a)
    return (exp(course, x) - exp(course, -x)) / 2


def cosh(course: Course, a: Any) -> Any:
    """cosh x = (exp x + exp -x) / 2"""
    x = as_real("cosh", a)
    return (exp(course, x) + exp(course, -x)) / 2


def tanh(course: Course, a: Any) -> Any:
    """tanh x = sinh x / cosh x; the denominator is positive."""
    return sinh(course, a) / cosh(course, a)


def expm1(course: Course, a: Any) -> Any:
    """exp x - 1"""
    return exp(course, a) - 1


def log1p(course: Course, a: Any) -> Any:
    """log (1 + x)"""
    return log(course, 1 + as_real("log1p", a))


def log_of(base: int) -> Callable[..., Any]:
    def cell(course: Course, a: Any) -> Any:
        return log(course, a) / uninterpreted("u_log", real(base))

    return cell


def asinh(course: Course, a: Any) -> Any:
    """log (x + sqrt (x² + 1))"""
    x = as_real("asinh", a)
    return uninterpreted("u_log", x + uninterpreted("u_sqrt", x * x + 1))


def acosh(course: Course, a: Any) -> Any:
    """log (x + sqrt (x² - 1)), x ≥ 1"""
    x = as_real("acosh", a)
    course.need(x >= 1)
    return uninterpreted("u_log", x + uninterpreted("u_sqrt", x * x - 1))


def atanh(course: Course, a: Any) -> Any:
    """(log (1 + x) - log (1 - x)) / 2, -1 < x < 1"""
    x = as_real("atanh", a)
    course.need(z3.And(x > -1, x < 1))
    return (uninterpreted("u_log", 1 + x) - uninterpreted("u_log", 1 - x)) / 2


def atan2(course: Course, a: Any, b: Any) -> Any:
    y, x = as_real("atan2", a), as_real("atan2", b)
    course.need(z3.Or(x != 0, y != 0))
    return uninterpreted("u_atan2", y, x)


def hypot(_: Course, a: Any, b: Any) -> Any:
    """sqrt (x² + y²)"""
    x, y = as_real("hypot", a), as_real("hypot", b)
    return uninterpreted("u_sqrt", x * x + y * y)


def erfc(_: Course, a: Any) -> Any:
    """1 - erf x"""
    return 1 - uninterpreted("u_erf", as_real("erfc", a))
