"""
Values of z3 terms over the reals at rational points: balls of arb, and booleans.

A term is read once, however often it is evaluated: asking z3 for the parts of a term costs more than computing with them. What
conditions share is evaluated once at a point.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import z3
from flint import arb, ctx, fmpq

from checkers.smt.terms import PI, fraction

PRECISION = 300
MOST_NODES = 50_000  # that are kept; with more, all are forgotten

Point: TypeAlias = Mapping[str, Fraction]
Meaning: TypeAlias = Callable[[list[Any], Point], Any]


class Undecided(Exception):
    """A ball straddles a jump: the value cannot be enclosed there."""


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """
    A term as it is evaluated. It holds the term, so that nothing else gets the term's id while the node is known.

    meaning  from the values of the parts and a point to the value        chooses  whether it is an `if`: condition, then, else
    """

    term: z3.ExprRef
    meaning: Meaning
    parts: tuple[Node, ...]
    chooses: bool = False


_read: dict[tuple[int, int], Node] = {}


def ball(value: Fraction) -> arb:
    """The rational number as a ball."""
    return arb(fmpq(value.numerator, value.denominator))


def enclose(term: z3.ExprRef, point: Point) -> Any:
    """
    The value of a term at a rational point: a ball, or a boolean. Undecided where precision does not tell or it is undefined.
    """
    return enclosed([term], point)[0]


def enclosed(terms: Sequence[z3.ExprRef], point: Point, until: Any = None) -> list[Any]:
    """The values of terms at a point, in order, up to the first that is `until`; Undecided where one of these is."""
    old = ctx.prec
    ctx.prec = PRECISION
    values: dict[Node, Any] = {}
    found = []
    try:
        for term in terms:
            found.append(_evaluated(_node(term), point, values))
            if found[-1] is until:
                break
    except (ValueError, ZeroDivisionError) as error:
        raise Undecided(str(error)) from None
    finally:
        ctx.prec = old
    return found


def holds(conditions: Sequence[z3.BoolRef], point: Point) -> bool:
    """Whether every condition certainly holds at the point."""
    try:
        return all(enclosed(conditions, point, until=False))
    except Undecided:
        return False


def apart(a: z3.ExprRef, b: z3.ExprRef, point: Point) -> tuple[arb, arb] | None:
    """The two enclosures, if they show that the terms differ at the point."""
    try:
        x, y = enclosed([a, b], point)
    except Undecided:
        return None
    if isinstance(x, bool) or isinstance(y, bool):
        return (x, y) if x is not y else None
    return None if x.overlaps(y) else (x, y)


def nearer(x: float, a: arb, b: arb) -> bool:
    """Whether the double x is certainly nearer to a than to b."""
    if not math.isfinite(x):
        return False
    here = ball(Fraction(x))
    return bool(abs(here - a) < abs(here - b))


def _evaluated(root: Node, point: Point, values: dict[Node, Any]) -> Any:
    """Demand-driven: of an `if` only the branch that is taken is evaluated. What is computed is added to `values`."""
    todo = [root]
    while todo:
        node = todo[-1]
        if node in values:
            todo.pop()
            continue
        parts: Sequence[Node] = node.parts
        if node.chooses:
            condition, then, otherwise = parts
            if condition not in values:
                todo.append(condition)
                continue
            parts = (then if values[condition] else otherwise,)
        missing = [part for part in parts if part not in values]
        if missing:
            todo.extend(missing)
            continue
        todo.pop()
        values[node] = node.meaning([values[part] for part in parts], point)
    return values[root]


# terms, read


def _node(root: z3.ExprRef) -> Node:
    """The node of a term, its parts before it; terms that are known are not read again."""
    if len(_read) > MOST_NODES:
        _read.clear()
    todo = [root]
    while todo:
        term = todo[-1]
        key = _key(term)
        if key in _read:
            todo.pop()
            continue
        children = term.children()
        missing = [child for child in children if _key(child) not in _read]
        if missing:
            todo.extend(missing)
            continue
        todo.pop()
        parts = tuple(_read[_key(child)] for child in children)
        _read[key] = Node(term, _meaning(term), parts, z3.is_app_of(term, z3.Z3_OP_ITE))
    return _read[_key(root)]


def _key(term: z3.ExprRef) -> tuple[int, int]:
    """What tells living terms apart: their context, and their id in it."""
    return id(term.ctx), term.get_id()


def _meaning(term: z3.ExprRef) -> Meaning:
    """How the value of a term is found from those of its parts."""
    constant = fraction(term)
    if constant is not None:
        value = ball(constant)
        return lambda _values, _point: value
    if not z3.is_app(term):
        return lambda _values, _point: _refuse("a quantifier is not evaluated")
    kind, name = term.decl().kind(), term.decl().name()
    if kind == z3.Z3_OP_ITE:
        return lambda values, _point: values[0]
    if kind == z3.Z3_OP_UNINTERPRETED:
        return _function(name) if term.num_args() else _variable(name)
    if kind not in _OPERATORS:
        return lambda _values, _point: _refuse(f"{name} is not evaluated")
    operator = _OPERATORS[kind]
    return lambda values, _point: _finite(operator(values), "division by zero")


def _function(name: str) -> Meaning:
    if name not in _FUNCTIONS:
        return lambda _values, _point: _refuse(f"{name} is not evaluated")
    function = _FUNCTIONS[name]
    return lambda values, _point: _finite(function(*values), f"{name} is undefined there")


def _variable(name: str) -> Meaning:
    def meaning(_values: list[Any], point: Point) -> Any:
        if name == PI:
            return arb.pi()
        return point[name] if isinstance(point[name], bool) else ball(Fraction(point[name]))

    return meaning


def _finite(value: Any, otherwise: str) -> Any:
    return _refuse(otherwise) if isinstance(value, arb) and not value.is_finite() else value


def _refuse(why: str) -> Any:
    raise Undecided(why)


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
