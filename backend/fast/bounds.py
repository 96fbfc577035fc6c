"""
How far fast code may be from the reference: the running error analysis, with sums in any order (Higham 2002, chapters 3 and 4).

A sum of n terms, in whatever order, is within γ(n − 1) Σ|xᵢ| of the exact sum of these terms (4.2); an inner product of n terms,
whether products are rounded or not, within γ(n) Σ|xᵢ||yᵢ| (3.1), and n η besides where products are below the normal numbers
(2.8). The reference is as close, by the same theorem. If its terms are x and those of fast code x̃, |x̃ − x| ≤ e, then

    |fast − reference| ≤ Σe + 2 γ(n − 1) Σ(|x| + e)                                  γ(n) = n u / (1 − n u)
    |fast − reference| ≤ Σ(|x| e_y + e_x |y| + e_x e_y) + 2 γ(n) Σ(|x| + e_x)(|y| + e_y) + 2 n η

The terms of a norm or an Einstein sum are products that the reference has rounded, t = fl(x y), and fast code may not have: since
|x y| <= (|t| + η) / (1 - u), the second holds of them with γ(n + 1) Σ|t| (`AnyOrder`).

Every other row is that of the running error, but that an elementary function, which is the reference's own, is exact where its
arguments are; all but the exponential, which is off by some ulp (`backend.fast.exponential`). So a program without such sums, and
without exp, has e = 0, and must agree bit for bit. A sum whose terms are finite, and may overflow in some order, is `Ambiguous`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from backend.running_error import CELLS, SLACK, Ambiguous, Bounded
from backend.running_error import lift as lift_number
from semantics.arrays import Array, size_of
from semantics.columns.arrays import ARRAY_CELLS, Elements, with_arrays
from semantics.columns.meaning import MEANING
from semantics.denotation import Reading, denote
from semantics.ir import Program
from semantics.primitives.row import Column
from semantics.primitives.table import ELEMENTARY, TABLE
from semantics.structured import Record
from semantics.tangents import ZERO
from semantics.values import over_leaves

UNIT = 2.0**-53  # u: half the distance from 1 to the next double
LEAST = 2.0**-1074  # η: a product that is not normal is rounded to a multiple of it
LARGEST = math.ldexp(1.0 - UNIT, 1024)
EXP = 5.0  # ulp between the two exponentials: `backend.fast.exponential.ULPS`


def gamma(n: int) -> float:
    """γ(n), rounded up."""
    return n * UNIT / (1.0 - n * UNIT) * SLACK


def lift(value: Any) -> Any:
    """Exact reals for the doubles in a value."""
    if isinstance(value, Array):
        return value.with_items(map(lift_number, value.items)) if value.dtype == "f64" else value
    if isinstance(value, (tuple, Record)):
        return over_leaves(lift, value)
    return lift_number(value)


def _is_inexact(x: Any) -> bool:
    """Whether it is an array of reals, ZEROs among them perhaps."""
    return isinstance(x, Array) and x.dtype == "f64"


def _part(x: Any, of: Callable[[Bounded], float]) -> Any:
    """The array of doubles that are this of each element."""
    return x.with_items(of(v) if isinstance(v, Bounded) else v for v in x.items)


def _value(v: Bounded) -> float:
    return v.value


def _error(v: Bounded) -> float:
    return v.bound


def _most(v: Bounded) -> float:
    return abs(v.value) + v.bound


def _wild(v: Bounded) -> float:
    """1 for an infinity or NaN."""
    return 0.0 if math.isfinite(v.value) else 1.0


def _one(v: Bounded) -> float:
    return 1.0


def _tame(v: Bounded) -> float:
    """The same as `_most`, but 1 for an infinity or NaN, whose product with no error is none."""
    return _most(v) if math.isfinite(v.value) else 1.0


def _put_together(value: Any, error: Any, most: Any, wild: Any, n: int, least: float = 0.0) -> Any:
    """
    The bounds above, for one number or each element of an array: from Σe and Σ(|x| + e), which are rounded themselves, and from how
    many terms are not finite. With one of those, a sum in any order is not finite, and so is taken from the left.
    """
    if isinstance(value, Array):
        elements = zip(value.items, error.items, most.items, wild.items, strict=True)
        return value.with_items(_put_together(v, e, m, w, n, least) for v, e, m, w in elements)
    if not isinstance(value, float):
        return value
    if wild:
        return Bounded(value, math.inf if error else 0.0)
    if not most <= LARGEST / 2:
        raise Ambiguous("a sum that may overflow in some order, or whose terms are not bounded")
    return Bounded(value, ((error + 2.0 * gamma(n) * most) * (1.0 + 2.0 * gamma(n)) + least) * SLACK)


def _sum(name: str) -> Callable[..., Any]:
    """The cell of a row that sums the elements of its first argument."""
    row, exact = MEANING[TABLE[name]], WITH_ARRAYS[name]

    def cell(x: Any, *rest: Any) -> Any:
        if not _is_inexact(x):
            return exact(x, *rest)
        value, error, most, wild = (row(_part(x, of), *rest) for of in (_value, _error, _most, _wild))
        results = size_of(value.shape) if isinstance(value, Array) else 1
        return _put_together(value, error, most, wild, max(0, len(x.items) // max(1, results) - 1))

    return cell


class AnyOrder(Elements):
    """The cells of a column whose sums of reals go in any order, the terms perhaps products that are not rounded."""

    def total(self, items: Iterable[Any], dtype: str = "f64") -> Any:
        terms = [x for x in items if x is not ZERO]
        if dtype != "f64" or not terms:
            return super().total(terms, dtype)
        value = super().total([Bounded(x.value, 0.0) for x in terms]).value
        error, most, wild = (sum(map(of, terms)) for of in (_error, _most, _wild))
        return _put_together(value, error, most, wild, len(terms) + 1, 2 * len(terms) * LEAST)


def _row(name: str) -> Callable[..., Any]:
    """The cell of a row that sums what it makes of the elements of its arguments."""
    cells = WITH_EXP | {"mul": _factor}
    return partial(ARRAY_CELLS[name], AnyOrder(lambda primitive: cells[primitive.name]))


def _factor(x: Any, y: Any) -> Any:
    """A product that is a term of a sum: one of finite numbers that overflows may not do so, where it is not rounded by itself."""
    found = NUMBERS["mul"](x, y)
    if isinstance(found, Bounded) and _wild(found) and not any(isinstance(v, Bounded) and _wild(v) for v in (x, y)):
        raise Ambiguous("a product that overflows, of a sum that may not")
    return found


def _contraction(name: str) -> Callable[..., Any]:
    """The cell of Einstein sums: of two operands of at most two axes they may be products of matrices, all others are in order."""
    any_order, exact = _row(name), WITH_ARRAYS[name]

    def cell(*arguments: Any) -> Any:
        operands = [a for a in arguments if isinstance(a, Array)]
        flat = len(operands) == 2 and all(len(a.shape) <= 2 for a in operands)
        return (any_order if flat else exact)(*arguments)

    return cell


def _product(name: str) -> Callable[..., Any]:
    """The cell of a row of inner products."""
    row, exact = MEANING[TABLE[name]], WITH_ARRAYS[name]

    def cell(a: Any, b: Any) -> Any:
        if not (_is_inexact(a) and _is_inexact(b) and a.shape and b.shape):
            return exact(a, b)
        n, plus = a.shape[-1], MEANING[TABLE["add"]]

        def over(left: Callable[[Bounded], float], right: Callable[[Bounded], float]) -> Any:
            return row(_part(a, left), _part(b, right))

        error, wild = plus(over(_tame, _error), over(_error, _tame)), plus(over(_wild, _one), over(_one, _wild))
        return _put_together(over(_value, _value), error, over(_most, _most), wild, n, 2 * n * LEAST)

    return cell


def _unchanged(cell: Callable[..., Any]) -> Callable[..., Any]:
    """The cell of a function that both compute in the same way."""

    def of_reals(*arguments: Any) -> Any:
        found = cell(*arguments)
        inexact = any(isinstance(a, Bounded) and a.bound for a in arguments)
        return found if inexact or not isinstance(found, Bounded) else Bounded(found.value, 0.0)

    return of_reals


def _exp(x: Any) -> Any:
    """Moved by its argument, and off by the error of its own."""
    found = NUMBERS["exp"](x)
    moved = found.bound
    return Bounded(found.value, moved + EXP * math.ulp(found.value + moved) if math.isfinite(found.value) else moved)


def _log_sum(x: Any, y: Any) -> Any:
    """
    m + log1p(t), t = exp(-d): t is off by EXP ulp, so by less than 2 EXP u t, and t < 1.45 log1p(t), which is off by less than 15 u
    of itself; this is below 20 ulp, of which the running error has 10.
    """
    found = CELLS["logaddexp"](x, y)
    return Bounded(found.value, 2.0 * found.bound)


NUMBERS = CELLS | {p.name: _unchanged(CELLS[p.name]) for p in ELEMENTARY if p.name in CELLS}
WITH_EXP = NUMBERS | {"exp": _exp, "logaddexp": _log_sum}
WITH_ARRAYS = with_arrays(WITH_EXP)
ANY_ORDER: dict[str, Callable[..., Any]] = {
    "reduce_sum": _sum("reduce_sum"),
    "sum_to": _sum("sum_to"),
    "mean": _row("mean"),
    "norm": _row("norm"),
    "logsumexp": _row("logsumexp"),
    "trace": _row("trace"),
    "matmul": _product("matmul"),
    "dot": _product("dot"),
    "einsum": _contraction("einsum"),
    "tensordot": _contraction("tensordot"),
}
FAST = Reading(Column("fast", {**WITH_ARRAYS, **ANY_ORDER}), lift)


def bounds(program: Program, arguments: Sequence[Any]) -> Any:
    """The value of the reference with every real as (v, e). Ambiguous where branches, roundings or overflows are left open."""
    return denote(program, [lift(a) for a in arguments], FAST)
