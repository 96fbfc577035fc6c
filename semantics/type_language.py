"""
Types, and the tangent of each.

    f64  i64  bool  unit  tuple[…]  f64[2, 3]  f32[?]  function[graph or primitive; captured types]  any
    dataclass Point[x: f64, y: f64]  namedtuple Pair[…]  list[f64, f64]  dict["a": f64]
    tuple[f64, ...]  list[f64, ...]  of unknown length     memory, pointers: `semantics.memory_types`

Source: 2018, section 3, "Strongly typed"; the tangent of a function is the tuple of its free variables' tangents (2017, section 3).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from semantics.arrays import DTYPES, FLOATING, Array, size_of
from semantics.errors import Malformed
from semantics.memory import Memory, Pointer, ordered
from semantics.memory_types import CellsType, MemoryType, PointerType
from semantics.primitives.row import Primitive
from semantics.structured import LIST, Label, Record
from semantics.tangents import ZERO, SparseArray
from semantics.type_memo import Composite, Plain, Spelling
from semantics.values import Closure


@dataclass(frozen=True, slots=True)
class Scalar(Plain):
    """A type without parts."""

    name: str

    def __str__(self) -> str:
        return self.name


REAL, INTEGER, BOOLEAN, UNIT = Scalar("f64"), Scalar("i64"), Scalar("bool"), Scalar("unit")
SCALARS = {t.name: t for t in (REAL, INTEGER, BOOLEAN, UNIT)}


@dataclass(frozen=True, slots=True, eq=False)
class TupleType(Composite):
    """A tuple of known length."""

    items: tuple[Any, ...]

    def spelled(self, part: Spelling) -> str:
        return f"tuple[{', '.join(map(part, self.items))}]"


@dataclass(frozen=True, slots=True)
class ArrayType(Plain):
    """
    An array of a dtype and a known number of axes; `dims` are its sizes, None where one is not known.

    holes   an element may be the symbolic ZERO: the array is a sensitivity
    """

    dtype: str
    dims: tuple[int | None, ...]
    holes: bool = False

    def __str__(self) -> str:
        sizes = ", ".join("?" if n is None else str(n) for n in self.dims)
        return f"({self.dtype}|zero)[{sizes}]" if self.holes else f"{self.dtype}[{sizes}]"


@dataclass(frozen=True, slots=True, eq=False)
class RecordType(Composite):
    """A labelled tuple: a NamedTuple, a dataclass, a list of known length, or a dictionary."""

    label: Label
    items: tuple[Any, ...]

    def spelled(self, part: Spelling) -> str:
        names = [json.dumps(f) if self.label.kind == "dict" else f for f in self.label.fields]
        inside = [f"{n}: {part(t)}" for n, t in zip(names, self.items, strict=True)] if names else [*map(part, self.items)]
        return f"{self.label.kind}{' ' * bool(self.label.name)}{self.label.name}[{', '.join(inside)}]"


@dataclass(frozen=True, slots=True, eq=False)
class SequenceType(Composite):
    """A tuple or, with the label of one, a list: of unknown length, every item of one type."""

    label: Label | None
    item: Any

    def spelled(self, part: Spelling) -> str:
        return f"{'tuple' if self.label is None else self.label.kind}[{part(self.item)}, ...]"


@dataclass(frozen=True, slots=True, eq=False)
class FunctionType(Composite):
    """A known function: a graph with the types of its captured values, or a primitive."""

    function: Any
    captured: tuple[Any, ...] = ()

    def spelled(self, part: Spelling) -> str:
        name = self.function.name if isinstance(self.function, Primitive) else f"@{self.function}"
        return f"function[{name}{'; ' if self.captured else ''}{', '.join(map(part, self.captured))}]"


Type = Scalar | TupleType | RecordType | SequenceType | ArrayType | FunctionType | MemoryType | PointerType | CellsType


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
        case Record(label, items):
            return RecordType(label, tuple(type_of(v) for v in items))
        case Array(dtype, shape, elements):
            return ArrayType(dtype, shape, ZERO in elements)
        case SparseArray(dtype, shape, entries):
            return ArrayType(dtype, shape, len(entries) < size_of(shape) or any(x is ZERO for x in entries.values()))
        case Closure(graph, captured):
            return FunctionType(graph, tuple(type_of(v) for v in captured))
        case Primitive():
            return FunctionType(value)
        case Memory(home):
            return MemoryType(home, tuple(type_of(content) for _, content in ordered(value)))
        case Pointer(home, address, path):
            return PointerType(home, address, True, tuple(type_of(i) for i in path))
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
        case RecordType(label, items):
            return RecordType(label, tuple(tangent(i) for i in items))
        case SequenceType(label, item):
            return SequenceType(label, tangent(item))
        case MemoryType(_, items, rest):
            return CellsType(tuple(tangent(i) for i in items), None if rest is None else tangent(rest))
        case PointerType() | CellsType():
            return UNIT if isinstance(t, PointerType) else t
        case ArrayType(dtype, dims):
            return ArrayType(dtype, dims) if dtype in FLOATING else UNIT
        case FunctionType(_, captured):
            return TupleType(tuple(tangent(c) for c in captured))


def parse_type(text: str) -> Type:
    """Reads what `str` prints, for scalars, tuples, records and arrays."""
    text = text.strip()
    if text in SCALARS:
        return SCALARS[text]
    if (sequence := _parse_sequence(text)) is not None:
        return sequence
    if text.startswith("tuple[") and text.endswith("]"):
        return TupleType(tuple(parse_type(part) for part in _parts(text[6:-1])))
    if (record := _parse_record(text)) is not None:
        return record
    if (array := _parse_array(text)) is not None:
        return array
    raise Malformed(f"{text!r} is not a type", remedy="f64, i64, bool, unit, tuple[…], or an array such as f64[2, 3] or f64[?]")


def _parts(inside: str) -> list[str]:
    """What stands between the commas that are in no bracket and in no string."""
    parts, depth, start, quoted = [], 0, 0, False
    for i, c in enumerate(inside + ","):
        quoted ^= c == '"' and inside[i - 1 : i] != "\\"
        depth += 0 if quoted else (c == "[") - (c == "]")
        if c == "," and depth == 0 and not quoted:
            parts.append(inside[start:i].strip())
            start = i + 1
    return [part for part in parts if part]


def _parse_sequence(text: str) -> SequenceType | None:
    """tuple[type, ...] or list[type, ...]; None for other text."""
    kind, bracket, inside = text.partition("[")
    parts = _parts(inside[:-1]) if kind.strip() in ("tuple", "list") and bracket and inside.endswith("]") else []
    if len(parts) != 2 or parts[1] != "...":
        return None
    return SequenceType(LIST if kind.strip() == "list" else None, parse_type(parts[0]))


_RECORD = re.compile(r"(list|dict|namedtuple|dataclass)\s*(\w*)\s*\[(.*)\]", re.DOTALL)
_NAMED = re.compile(r'(\w+|"(?:[^"\\]|\\.)*")\s*:\s*(.*)', re.DOTALL)


def _parse_record(text: str) -> RecordType | None:
    """kind Name[field: type, …], or list[type, …]; None for other text."""
    if (found := _RECORD.fullmatch(text)) is None:
        return None
    kind, name, inside = found.groups()
    if kind == "list":
        return RecordType(Label("list"), tuple(parse_type(part) for part in _parts(inside)))
    named = [_NAMED.fullmatch(part) for part in _parts(inside)]
    if not all(named):
        raise Malformed(f"{text!r} is not a type", remedy=f"{kind} {name}[field: type, …]")
    pairs = [n.groups() for n in named if n is not None]
    fields = tuple(json.loads(field) if field.startswith('"') else field for field, _ in pairs)
    return RecordType(Label(kind, name, fields), tuple(parse_type(t) for _, t in pairs))


def _parse_array(text: str) -> ArrayType | None:
    """dtype[size, …] with ? for a size that is not known; None for other text."""
    dtype, bracket, inside = text.partition("[")
    sizes = [part.strip() for part in inside[:-1].split(",") if part.strip()]
    if dtype not in DTYPES or not bracket or not inside.endswith("]") or not all(n == "?" or n.isdecimal() for n in sizes):
        return None
    return ArrayType(dtype, tuple(None if n == "?" else int(n) for n in sizes))
