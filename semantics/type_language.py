"""
Types, and the tangent of each.

    f64  i64  bool  unit  tuple[…]  function[graph or primitive; captured types]  any

Source: 2018, section 3, "Strongly typed"; the tangent of a function is the tuple of its free variables' tangents (2017, section 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from semantics.errors import Malformed
from semantics.primitives.row import Primitive
from semantics.values import Closure


@dataclass(frozen=True, slots=True)
class Scalar:
    """A type without parts."""

    name: str

    def __str__(self) -> str:
        return self.name


REAL, INTEGER, BOOLEAN, UNIT = Scalar("f64"), Scalar("i64"), Scalar("bool"), Scalar("unit")
SCALARS = {t.name: t for t in (REAL, INTEGER, BOOLEAN, UNIT)}


@dataclass(frozen=True, slots=True)
class TupleType:
    """A tuple of known length."""

    items: tuple[Any, ...]

    def __str__(self) -> str:
        return f"tuple[{', '.join(map(str, self.items))}]"


@dataclass(frozen=True, slots=True)
class FunctionType:
    """A known function: a graph with the types of its captured values, or a primitive."""

    function: Any
    captured: tuple[Any, ...] = ()

    def __str__(self) -> str:
        name = self.function.name if isinstance(self.function, Primitive) else f"@{self.function}"
        return f"function[{name}{'; ' if self.captured else ''}{', '.join(map(str, self.captured))}]"


Type = Scalar | TupleType | FunctionType


def type_of(value: Any) -> Type:
    """The type of a value; recursion is bounded by the nesting of types."""
    match value:
        case bool():
            return BOOLEAN
        case int():
            return INTEGER
        case float():
            return REAL
        case None:
            return UNIT
        case tuple():
            return TupleType(tuple(type_of(v) for v in value))
        case Closure(graph, captured):
            return FunctionType(graph, tuple(type_of(v) for v in captured))
        case Primitive():
            return FunctionType(value)
        case _:
            raise Malformed(f"{value!r} has no type", remedy="numbers, booleans, tuples and functions are values")


def tangent(t: Type) -> Type:
    """The type of the sensitivities of a value of type t."""
    match t:
        case Scalar("f64"):
            return REAL
        case Scalar():
            return UNIT
        case TupleType(items):
            return TupleType(tuple(tangent(i) for i in items))
        case FunctionType(_, captured):
            return TupleType(tuple(tangent(c) for c in captured))


def parse_type(text: str) -> Type:
    """Reads what `str` prints, for scalars and tuples."""
    text = text.strip()
    if text in SCALARS:
        return SCALARS[text]
    if text.startswith("tuple[") and text.endswith("]"):
        inside, items, depth, start = text[6:-1], [], 0, 0
        for i, c in enumerate(inside + ","):
            depth += (c == "[") - (c == "]")
            if c == "," and depth == 0:
                if inside[start:i].strip():
                    items.append(parse_type(inside[start:i]))
                start = i + 1
        return TupleType(tuple(items))
    raise Malformed(f"{text!r} is not a type", remedy="f64, i64, bool, unit or tuple[…]")
