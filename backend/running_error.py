"""
Running error analysis: how far a GPU may be from the reference, computed along the run (Higham 2002, section 3.3).

A reading of the denotation in which a real is (v, e): v is the reference's own value, and |backend − v| ≤ e. An operation that
every target rounds correctly adds nothing while its inputs are exact, so a program without elementary functions has e = 0
and must agree bit for bit. Elementary functions add the bound of their "ulp" cell. Where a comparison, a floor or a sign
depends on digits that e leaves open, the run is `Ambiguous`, and its sample judges nothing.

    e(x ± y) = ex + ey + u    e(x y) = |x| ey + |y| ex + ex ey + u    e(x / y) = (ex + |x/y| ey) / (|y| − ey) + u
    e(f x) = max |f(x ± ex) − f(x)| + (U + 2) u   for monotone f      u = one ulp of the result
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from backend.columns import ULP
from semantics.columns.meaning import CELLS as NUMBERS
from semantics.columns.meaning import MEANING as WITH_ARRAYS
from semantics.columns.structure import CELLS as STRUCTURE
from semantics.columns.structure import instantiate
from semantics.denotation import Reading, denote
from semantics.ir import Program
from semantics.primitives.row import Column, Hole
from semantics.primitives.table import TABLE
from semantics.structured import Record

MEANING: dict[str, Callable[..., Any]] = {name: cell for name, cell in NUMBERS.items() if not isinstance(cell, Hole)}
PUT = WITH_ARRAYS[TABLE["put"]]  # of sequences: no number is computed
SLACK = 1.0 + 2.0**-40  # for the rounding of the bounds themselves


class Ambiguous(Exception):
    """The run depends on digits that the bound leaves open; no error of the program."""


@dataclass(frozen=True, slots=True, eq=False)
class Bounded:
    """A double and a bound on how far a backend's may be from it."""

    value: float
    bound: float

    def __add__(self, other: Any) -> Any:
        return CELLS["add"](self, other)

    def __neg__(self) -> Bounded:
        return Bounded(-self.value, self.bound)


def lift(value: Any) -> Any:
    """An exact real for a double; every other value as it is, tuples and records inside too."""
    if type(value) is float:
        return Bounded(value, 0.0)
    if isinstance(value, Record):
        return Record(value.label, tuple(lift(v) for v in value.items))
    return tuple(lift(v) for v in value) if type(value) is tuple else value


def _plain(x: Any) -> Any:
    return x.value if isinstance(x, Bounded) else x


def _error(x: Any) -> float:
    return x.bound if isinstance(x, Bounded) else 0.0


def _size(x: Any) -> float:
    return abs(float(_plain(x)))


def _ulp(x: float) -> float:
    return math.ulp(x) if math.isfinite(x) else 0.0


def _ulps(name: str) -> float:
    cell = ULP.find(TABLE[name])
    return 0.0 if isinstance(cell, Hole) else float(cell())


def _cell(name: str, propagate: Callable[..., float]) -> Callable[..., Any]:
    """The meaning, with the propagated bound and the primitive's own error; what is exact stays exact."""
    own = _ulps(name)

    def cell(*arguments: Any) -> Any:
        value = MEANING[name](*map(_plain, arguments))
        if type(value) is not float:
            return value
        inexact = any(_error(a) for a in arguments)
        if not inexact:
            return Bounded(value, own * _ulp(value))
        bound = propagate(value, *arguments)
        if not math.isfinite(value) or math.isnan(bound):
            return Bounded(value, math.inf)
        return Bounded(value, (bound + (own + 1.0) * _ulp(value)) * SLACK)

    return cell


def _sum(value: float, x: Any, y: Any) -> float:
    return _error(x) + _error(y)


def _product(value: float, x: Any, y: Any) -> float:
    return _size(x) * _error(y) + _size(y) * _error(x) + _error(x) * _error(y)


def _quotient(value: float, x: Any, y: Any) -> float:
    left = _size(y) - _error(y)
    return (_error(x) + abs(value) * _error(y)) / left if left > 0 else math.inf


def _same(value: float, x: Any) -> float:
    return _error(x)


def _larger(value: float, x: Any, y: Any) -> float:
    return max(_error(x), _error(y))


def _monotone(name: str) -> Callable[..., float]:
    """The spread of the function over the interval; its two ends suffice, each good to an ulp or two."""
    f = MEANING[name]

    def propagate(value: float, x: Any) -> float:
        ends = [f(_plain(x) - _error(x)), f(_plain(x) + _error(x))]
        return float(max(abs(e - value) + 2 * _ulp(e) for e in ends))

    return propagate


def _even(name: str) -> Callable[..., float]:
    """The spread of an even function that grows with |x| and is convex."""
    f = MEANING[name]

    def propagate(value: float, x: Any) -> float:
        end = f(_size(x) + _error(x))
        return float(abs(end - value) + 2 * _ulp(end))

    return propagate


def _tangent(value: float, x: Any) -> float:
    left = abs(math.cos(_plain(x))) - _error(x) if math.isfinite(_plain(x)) else 0.0
    return float(_error(x) / left**2) if left > 0 else math.inf


def _power(value: float, x: Any, y: Any) -> float:
    """
    For a positive base the extremes are at the corners. The power n of an exact exponent, n an integer, has the slope n x^(n - 1),
    which is steepest at the end of the interval where |x| is largest, or, for n < 0, smallest; each power is good to two ulp.
    """
    base, exponent = float(_plain(x)), float(_plain(y))
    if not _error(y) and exponent.is_integer() and (exponent >= 1 or abs(base) > _error(x)):
        steepest = abs(base) + math.copysign(_error(x), exponent)
        slope = abs(exponent) * MEANING["pow"](steepest, exponent - 1.0)
        return float(slope * SLACK**4 * _error(x) + 2 * _ulp(value) + 2 * _ulp(MEANING["pow"](steepest, exponent)))
    if base - _error(x) <= 0:
        return math.inf
    ends = [MEANING["pow"](base + s * _error(x), exponent + t * _error(y)) for s in (-1, 1) for t in (-1, 1)]
    return float(max(abs(e - value) + 2 * _ulp(e) for e in ends))


def _angle(value: float, y: Any, x: Any) -> float:
    left = math.hypot(_plain(x), _plain(y)) - _error(x) - _error(y)
    crosses = _plain(x) - _error(x) < 0 and _size(y) <= _error(y)
    return (_error(x) + _error(y)) / left if left > 0 and not crosses else math.inf


def _log_sum(x: Any, y: Any) -> Bounded:
    """
    m + log1p(exp(-d)): moves by no more than the larger of its arguments. The own error: t = exp(-d) and l = log1p(t) each differ
    by (2 + 2) u, and t < 1.45 l, so the two together by less than 10 u l; then the last addition rounds.
    """
    value = MEANING["logaddexp"](_plain(x), _plain(y))
    if not math.isfinite(value):
        return Bounded(value, math.inf if _error(x) or _error(y) else 0.0)
    small = math.log1p(math.exp(-abs(_plain(x) - _plain(y))))
    return Bounded(value, (max(_error(x), _error(y)) + 10 * _ulp(small) + 2 * _ulp(value)) * SLACK)


def _clear(name: str, *positions: int) -> Callable[..., float]:
    """Ambiguous if the sign of one of these arguments is open; the others carry their own error."""

    def propagate(value: float, *arguments: Any) -> float:
        for i in positions:
            if _size(arguments[i]) <= _error(arguments[i]):
                raise Ambiguous(f"{name} at {_plain(arguments[i])} ± {_error(arguments[i])}")
        return sum(_error(a) for i, a in enumerate(arguments) if i not in positions)

    return propagate


def _open(name: str) -> Callable[..., Any]:
    """A cell without a bound for inexact reals."""

    def cell(*arguments: Any) -> Any:
        if any(_error(a) for a in arguments):
            raise Ambiguous(f"{name} of inexact reals")
        return lift(MEANING[name](*map(_plain, arguments)))

    return cell


def _whole(name: str) -> Callable[..., Any]:
    def cell(x: Any) -> Any:
        if _error(x):
            low, high = _plain(x) - _error(x), _plain(x) + _error(x)
            if not (math.isfinite(low) and math.isfinite(high)) or MEANING[name](low) != MEANING[name](high):
                raise Ambiguous(f"{name} at {_plain(x)} ± {_error(x)}")
        return MEANING[name](_plain(x))

    return cell


def _comparison(name: str) -> Callable[..., Any]:
    def cell(x: Any, y: Any) -> Any:
        error = _error(x) + _error(y)
        if error and not abs(_plain(x) - _plain(y)) > error:
            raise Ambiguous(f"{name} of {_plain(x)} and {_plain(y)}, known to {error}")
        return MEANING[name](_plain(x), _plain(y))

    return cell


def _truth(x: Any) -> Any:
    if _error(x) and _size(x) <= _error(x):
        raise Ambiguous(f"the truth of {_plain(x)} ± {_error(x)}")
    return MEANING["to_boolean"](_plain(x))


def _where(c: Any, x: Any, y: Any) -> Any:
    """The one that is chosen; a real if it meets one."""
    chosen = x if c else y
    return Bounded(float(chosen), 0.0) if isinstance(chosen, int) and isinstance(y if c else x, Bounded) else chosen


def _exact_zero(x: Any) -> Bounded:
    return Bounded(0.0, 0.0)


_MONOTONE = tuple(
    "exp expm1 log log1p log2 log10 sqrt cbrt asin acos atan sinh tanh asinh acosh atanh erf erfc".split()  # noqa: SIM905
)

CELLS: dict[str, Callable[..., Any]] = {
    **STRUCTURE,
    **{name: _cell(name, _monotone(name)) for name in _MONOTONE},
    "sin": _cell("sin", _same),
    "cos": _cell("cos", _same),
    "tan": _cell("tan", _tangent),
    "cosh": _cell("cosh", _even("cosh")),
    "atan2": _cell("atan2", _angle),
    "hypot": _cell("hypot", _sum),
    "pow": _cell("pow", _power),
    "add": _cell("add", _sum),
    "sub": _cell("sub", _sum),
    "mul": _cell("mul", _product),
    "div": _cell("div", _quotient),
    "neg": _cell("neg", _same),
    "abs": _cell("abs", _same),
    "min": _cell("min", _larger),
    "max": _cell("max", _larger),
    "minimum": _cell("minimum", _larger),
    "maximum": _cell("maximum", _larger),
    "where": _where,
    "apart": lambda v: v,
    "put": PUT,
    "logaddexp": _log_sum,
    "single": _cell("single", _monotone("single")),
    "sign": _cell("sign", _clear("sign", 0)),
    "copysign": _cell("copysign", _clear("copysign", 1)),
    "to_real": _cell("to_real", _same),
    **{name: _open(name) for name in ("floordiv", "mod")},
    **{name: _whole(name) for name in ("floor", "ceil", "to_integer")},
    **{name: _comparison(name) for name in ("lt", "le", "gt", "ge", "eq", "ne")},
    "to_boolean": _truth,
    **{name: MEANING[name] for name in ("not_", "and_", "or_")},
    "seed": lambda out: Bounded(MEANING["seed"](_plain(out)), 0.0),
    "instantiate": lambda d, x: instantiate(d, x, _exact_zero),
}

RUNNING_ERROR = Reading(Column("running error", CELLS), lift)


def bounds(program: Program, arguments: Sequence[Any]) -> Any:
    """The value of the program with every real as (v, e). Ambiguous where branches or roundings are left open."""
    return denote(program, [lift(a) for a in arguments], RUNNING_ERROR)
