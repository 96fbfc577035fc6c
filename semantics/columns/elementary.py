"""
Elementary functions on doubles: `math.*`, one call per operation, made total. Where `math` raises, the IEEE value is returned:
exp(1000) is inf, log(0) is -inf, sin(inf) is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from semantics.columns.arithmetic import INF, NAN, np_maximum, real


def _total(name: str, function: Callable[[float], float], exceptional: Callable[[float], float]) -> Callable[[Any], float]:
    """`function` on doubles, with `exceptional` where it raises."""

    def cell(a: Any) -> float:
        x = a if type(a) is float else real(name, a)
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
    return math.atan2(real("atan2", a), real("atan2", b))


def hypot(a: Any, b: Any) -> float:
    """sqrt(a*a + b*b) without overflow."""
    return math.hypot(real("hypot", a), real("hypot", b))


def copysign(a: Any, b: Any) -> float:
    """The size of a with the sign of b."""
    return math.copysign(real("copysign", a), real("copysign", b))


def logaddexp(a: Any, b: Any) -> float:
    """log(exp(a) + exp(b)), from the larger of the two: m + log1p(exp(-|a - b|)); m where both are one infinity."""
    x, y = real("logaddexp", a), real("logaddexp", b)
    larger = np_maximum(x, y)
    if x == y and math.isinf(x):
        return x
    return larger + math.log1p(math.exp(-abs(x - y)))  # type: ignore[no-any-return]
