"""
Running a solver's counterexample before it is believed.

Over the reals there are two independent ways to compute both sides: exact fractions, where every operation is rational, and
balls, which enclose the value of a z3 term at a rational point at any precision. In a format, the reference meaning is run on
doubles and rounded to the format after every operation, which gives the correctly rounded result for + - * / and sqrt because a
double has more than twice the digits of the narrower formats (Figueroa).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import z3
from flint import arb, ctx, fmpq

from checkers.smt.terms import PI, fraction
from semantics.arrays import Array, single
from semantics.columns.arrays import with_arrays
from semantics.columns.meaning import CELLS as NUMBERS
from semantics.columns.meaning import MEANING
from semantics.denotation import FRACTIONS, Reading, denote
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.machine import run
from semantics.primitives.row import Column, Hole

PRECISION = 300

# doubles rounded to a narrower format


def rounded(x: float, ebits: int, sbits: int) -> float:
    """x rounded to the nearest number of the format, ties to even; overflow gives an infinity."""
    if (ebits, sbits) == (11, 53) or x == 0 or not math.isfinite(x):
        return x
    bias = (1 << (ebits - 1)) - 1
    lowest = 1 - bias
    exponent = max(math.frexp(x)[1] - 1, lowest)
    unit = exponent - (sbits - 1)
    value = round(Fraction(x) / Fraction(2) ** unit) * Fraction(2) ** unit
    largest = (2 - Fraction(2) ** (1 - sbits)) * Fraction(2) ** bias
    if abs(value) > largest:
        return math.copysign(math.inf, x)
    return math.copysign(float(value), x)


def run_in(program: Program, arguments: Sequence[Any], ebits: int, sbits: int) -> Any:
    """The value of `program` where every real result is rounded to the format, inside the sums of arrays too."""
    return denote(program, arguments, narrow_reading(ebits, sbits))


@cache
def narrow_reading(ebits: int, sbits: int) -> Reading:
    """The reference meaning, every real result rounded to the format. It is asked for at every point, and made once."""

    def narrow(value: Any) -> Any:
        if isinstance(value, Array):
            return value.with_items(map(narrow, value.items))
        return rounded(value, ebits, sbits) if type(value) is float else value

    def cell(function: Callable[..., Any] | Hole) -> Callable[..., Any] | Hole:
        if isinstance(function, Hole):
            return function
        return lambda *arguments: narrow(function(*arguments))

    column = Column(MEANING.name, with_arrays({name: cell(function) for name, function in NUMBERS.items()}))
    return Reading(column, narrow)


# enclosures of z3 terms


def ball(value: Fraction) -> arb:
    """The rational number as a ball."""
    return arb(fmpq(value.numerator, value.denominator))


_FUNCTIONS: dict[str, Callable[..., arb]] = {
    "u_exp": lambda x: x.exp(),
    "u_log": lambda x: x.log(),
    "u_sin": lambda x: x.sin(),
    "u_cos": lambda x: x.cos(),
    "u_sqrt": lambda x: arb(0) if x == 0 else x.sqrt(),
    "u_cbrt": lambda x: x.root(3) if x >= 0 else -((-x).root(3)),
    "u_asin": lambda x: x.asin(),
    "u_acos": lambda x: x.acos(),
    "u_atan": lambda x: x.atan(),
    "u_atan2": arb.atan2,
    "u_erf": lambda x: x.erf(),
}


class Undecided(Exception):
    """A ball straddles a jump: the value cannot be enclosed there."""


def enclose(term: z3.ExprRef, point: Mapping[str, Fraction]) -> Any:
    """
    The value of a term at a rational point: a ball, or a boolean. Undecided where precision does not tell or it is undefined.
    """
    old = ctx.prec
    ctx.prec = PRECISION
    try:
        return _enclose(term, point)
    except (ValueError, ZeroDivisionError) as error:
        raise Undecided(str(error)) from None
    finally:
        ctx.prec = old


def _enclose(root: z3.ExprRef, point: Mapping[str, Fraction]) -> Any:
    """Demand-driven: of an `if` only the branch that is taken is evaluated."""
    values: dict[int, Any] = {}
    todo: list[z3.ExprRef] = [root]
    while todo:
        term = todo[-1]
        key = term.get_id()
        if key in values:
            todo.pop()
            continue
        children = term.children()
        if z3.is_app_of(term, z3.Z3_OP_ITE):
            condition = children[0]
            if condition.get_id() not in values:
                todo.append(condition)
                continue
            children = [children[1] if values[condition.get_id()] else children[2]]
        missing = [c for c in children if c.get_id() not in values]
        if missing:
            todo.extend(missing)
            continue
        todo.pop()
        values[key] = _value(term, [values[c.get_id()] for c in children], point)
    return values[root.get_id()]


def _value(term: z3.ExprRef, arguments: list[Any], point: Mapping[str, Fraction]) -> Any:
    constant = fraction(term)
    result: Any
    if constant is not None:
        return ball(constant)
    kind = term.decl().kind()
    if kind == z3.Z3_OP_UNINTERPRETED:
        name = term.decl().name()
        if arguments:
            result = _FUNCTIONS[name](*arguments)
        else:
            given = point.get(name)
            result = arb.pi() if name == PI else given if isinstance(given, bool) else ball(Fraction(point[name]))
        if isinstance(result, arb) and not result.is_finite():
            raise Undecided(f"{name} is undefined there")
        return result
    if kind == z3.Z3_OP_ITE:
        return arguments[0]
    if kind not in _OPERATORS:
        raise Undecided(f"{term.decl().name()} is not evaluated")
    result = _OPERATORS[kind](arguments)
    if isinstance(result, arb) and not result.is_finite():
        raise Undecided("division by zero")
    return result


def _product(arguments: list[Any]) -> Any:
    result = arguments[0]
    for x in arguments[1:]:
        result = result * x
    return result


def _floor(arguments: list[Any]) -> Any:
    low = arguments[0].floor()
    if not low.is_exact():
        raise Undecided("a ball straddles an integer")
    return low


def _compare(name: str) -> Callable[[list[Any]], bool]:
    """A comparison of balls that is certain, or Undecided."""

    def decide(arguments: list[Any]) -> bool:
        a, b = arguments
        if isinstance(a, bool):
            return bool((a == b) == (name == "eq"))
        difference = a - b
        below, above, zero = bool(difference < 0), bool(difference > 0), difference.is_exact() and difference == 0
        if not (below or above or zero):
            raise Undecided("a comparison of values too close to tell")
        known: dict[str, bool] = {"lt": below, "le": below or zero, "gt": above, "ge": above or zero, "eq": zero, "ne": not zero}
        return known[name]

    return decide


_OPERATORS: dict[int, Callable[[list[Any]], Any]] = {
    z3.Z3_OP_ADD: sum,
    z3.Z3_OP_MUL: _product,
    z3.Z3_OP_SUB: lambda a: a[0] - sum(a[1:]),
    z3.Z3_OP_UMINUS: lambda a: -a[0],
    z3.Z3_OP_DIV: lambda a: a[0] / a[1],
    z3.Z3_OP_TO_REAL: lambda a: a[0],
    z3.Z3_OP_TO_INT: _floor,
    z3.Z3_OP_LT: _compare("lt"),
    z3.Z3_OP_LE: _compare("le"),
    z3.Z3_OP_GT: _compare("gt"),
    z3.Z3_OP_GE: _compare("ge"),
    z3.Z3_OP_EQ: _compare("eq"),
    z3.Z3_OP_DISTINCT: _compare("ne"),
    z3.Z3_OP_NOT: lambda a: not a[0],
    z3.Z3_OP_AND: all,
    z3.Z3_OP_OR: any,
    z3.Z3_OP_IMPLIES: lambda a: not a[0] or a[1],
    z3.Z3_OP_TRUE: lambda _: True,
    z3.Z3_OP_FALSE: lambda _: False,
}


def holds(conditions: Sequence[z3.BoolRef], point: Mapping[str, Fraction]) -> bool:
    """Whether every condition certainly holds at the point."""
    try:
        return all(enclose(c, point) for c in conditions)
    except Undecided:
        return False


def apart(a: z3.ExprRef, b: z3.ExprRef, point: Mapping[str, Fraction]) -> tuple[arb, arb] | None:
    """The two enclosures, if they show that the terms differ at the point."""
    try:
        x, y = enclose(a, point), enclose(b, point)
    except Undecided:
        return None
    if isinstance(x, bool) or isinstance(y, bool):
        return (x, y) if x is not y else None
    return None if x.overlaps(y) else (x, y)


# the programs themselves


def exact(program: Program, arguments: Sequence[Any], fuel: int = 100_000) -> Any:
    """The value over fractions; the error where it is undefined (a Trap), not rational or not reached (anything else)."""
    try:
        return denote(program, arguments, FRACTIONS, fuel=fuel)
    except AdjudgeError as error:
        return error


def floats(program: Program, arguments: Sequence[Any]) -> Any:
    """The value on the reference machine, on doubles; the error where it traps."""
    try:
        return run(program, *map(_double, arguments), fuel=1_000_000)
    except (AdjudgeError, OverflowError) as error:
        return error


def _double(value: Any) -> Any:
    """A rational as a double, in an array of f32 as one of those."""
    if isinstance(value, Array):
        doubles = (float(x) if isinstance(x, Fraction) else x for x in value.items)
        return value.with_items(single(x) if value.dtype == "f32" else x for x in doubles)
    return float(value) if isinstance(value, Fraction) else value


def nearer(x: float, a: arb, b: arb) -> bool:
    """Whether the double x is certainly nearer to a than to b."""
    if not math.isfinite(x):
        return False
    here = ball(Fraction(x))
    return bool(abs(here - a) < abs(here - b))
