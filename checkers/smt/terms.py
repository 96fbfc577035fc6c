"""
z3 terms over the reals, and the course of the run that makes them.

A number of this reading is a Python int, a z3 term of sort Int, or a z3 term of sort Real. Reals keep `/` and the names of
functions (`u_exp`); see `purify`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Protocol

import z3

from semantics.columns.structure import wrong
from semantics.primitives.row import Hole
from semantics.structured import Record
from semantics.tangents import ZERO
from semantics.values import Closure

PI = "u_pi"


class Course(Protocol):
    """What a run asks while it goes: which way at an undecided branch; and what it needs in order to be defined."""

    def decide(self, condition: Any) -> bool: ...

    def need(self, condition: Any) -> None: ...


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


def is_number(x: Any) -> bool:
    """Whether x is a number of this reading."""
    return (isinstance(x, int) and not isinstance(x, bool)) or z3.is_arith(x)


def is_integer(x: Any) -> bool:
    return isinstance(x, int) or (z3.is_arith(x) and x.is_int())


def is_condition(x: Any) -> bool:
    """Whether x is a boolean of this reading."""
    return isinstance(x, bool) or z3.is_bool(x)


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


def without_discrete(x: Any) -> Any:
    """x with unit for every symbolic integer and boolean, which have no sensitivity; types nest as deep as somebody wrote them."""
    if isinstance(x, tuple):
        return tuple(without_discrete(item) for item in x)
    if isinstance(x, Closure):
        return replace(x, captured=without_discrete(x.captured))
    if isinstance(x, Record):
        return replace(x, items=without_discrete(x.items))
    return None if z3.is_bool(x) or (z3.is_expr(x) and z3.is_int(x)) else x


def product(base: Any, n: int) -> Any:
    """base times itself, n ≥ 0 factors."""
    result = base if n else real(1)
    for _ in range(n - 1):
        result = result * base
    return result


def bound_to(run: Any, cells: Mapping[str, Callable[..., Any] | Hole]) -> dict[str, Callable[..., Any] | Hole]:
    """Cells that take the run first, as cells of that run."""

    def bind(cell: Callable[..., Any] | Hole) -> Callable[..., Any] | Hole:
        if isinstance(cell, Hole):
            return cell

        def bound(*arguments: Any) -> Any:
            return cell(run, *arguments)

        return bound

    return {name: bind(cell) for name, cell in cells.items()}
