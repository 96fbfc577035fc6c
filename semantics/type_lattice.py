"""
The types that inference computes with: those of `type_language`, and more than a boundary may show.

    literal        an integer or a boolean whose value is known: tuple indices, exponents, decided conditions
    a | b          one of finitely many types, decided when the program runs: closures of two branches, ZERO or a real
    zero           the symbolic zero of sensitivities         unbound   a local variable that this path did not assign
    never          no value at all: the application traps, or is not yet known to return

They form a join-semilattice with `never` at the bottom; inference takes least fixpoints in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from semantics.errors import OutOfFuel
from semantics.tangents import Zero
from semantics.type_language import BOOLEAN, INTEGER, FunctionType, Scalar, TupleType, type_of
from semantics.values import Unbound

ZERO_TYPE, NEVER, UNBOUND, TEXT = Scalar("zero"), Scalar("never"), Scalar("unbound"), Scalar("text")
COMBINATIONS = 512


@dataclass(frozen=True, slots=True)
class Literal:
    """An integer or a boolean of known value."""

    type: Scalar
    value: Any

    def __str__(self) -> str:
        return f"{self.type}={self.value}"


@dataclass(frozen=True, slots=True)
class Union:
    """One of several types, ordered by their text. Made by `join` only."""

    members: tuple[Any, ...]

    def __str__(self) -> str:
        return " | ".join(map(str, self.members))


def members(t: Any) -> tuple[Any, ...]:
    """The types that a value of type t can have; none for `never`."""
    if isinstance(t, Union):
        return t.members
    return () if t == NEVER else (t,)


def join(a: Any, b: Any) -> Any:
    """The least type above both. Tuples of one length, and closures of one graph, join part by part."""
    if b in (a, NEVER):
        return a
    if a == NEVER:
        return b
    found: dict[Any, Any] = {}
    for t in (*members(a), *members(b)):
        kind = kind_of(t)
        found[kind] = _merge(found[kind], t) if kind in found else t
    result = tuple(sorted(found.values(), key=str))
    return result[0] if len(result) == 1 else Union(result)


def kind_of(t: Any) -> Any:
    """Two types of one kind merge into one."""
    match t:
        case TupleType(items):
            return ("tuple", len(items))
        case FunctionType(function, captured):
            return ("function", function, len(captured))
        case Literal(type, _):
            return type
        case _:
            return t


def _merge(a: Any, b: Any) -> Any:
    match a, b:
        case TupleType(x), TupleType(y):
            return TupleType(tuple(join(i, j) for i, j in zip(x, y, strict=True)))
        case FunctionType(function, x), FunctionType(_, y):
            return FunctionType(function, tuple(join(i, j) for i, j in zip(x, y, strict=True)))
        case _:
            return a if a == b else erase(a)


def erase(t: Any) -> Any:
    """The type with the values of literals forgotten."""
    match t:
        case Literal(type, _):
            return type
        case TupleType(items):
            return TupleType(tuple(erase(i) for i in items))
        case FunctionType(function, captured):
            return FunctionType(function, tuple(erase(c) for c in captured))
        case Union(of):
            result: Any = NEVER
            for member in of:
                result = join(result, erase(member))
            return result
        case _:
            return t


def of_constant(value: Any) -> Any:
    """The type of a constant of a program, literals kept."""
    match value:
        case bool():
            return Literal(BOOLEAN, value)
        case int():
            return Literal(INTEGER, value)
        case str():
            return TEXT
        case Zero():
            return ZERO_TYPE
        case Unbound():
            return UNBOUND
        case _:
            return type_of(value)


def distribute(rule: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """The join of the rule over every combination of members. An unbound variable traps, so it contributes nothing."""
    parts = [[m for m in members(t) if m != UNBOUND] for t in arguments]
    count = 1
    for part in parts:
        count *= len(part)
    if count > COMBINATIONS:
        raise OutOfFuel(f"{count} combinations of argument types", rule="type", remedy="let fewer kinds of values meet here")
    result: Any = NEVER
    for combination in product(*parts):
        result = join(result, rule(*combination))
    return result
