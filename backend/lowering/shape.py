"""
Values at compile time: which scalars of the generated code make up a value of the program.

A value has the structure of its type, known before anything runs: a tuple is its elements, a record, a list or a dictionary
those and a label, a closure of a known graph its captured values, one of several types a test for each and the parts of all. So
labels, tuples and closures cost nothing, and a function chosen at run time is a choice among finitely many known ones
(Reynolds' defunctionalisation, at compile time). A stack is two integers, its top and its base (`backend.stacks.cells`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

from backend.arrays.values import MADE, Held, held
from backend.lowering.expansion import SEQUENCE
from backend.stacks.stack_types import site_of
from semantics.errors import IllTyped, Malformed
from semantics.primitives.row import Primitive
from semantics.structured import Label
from semantics.type_language import BOOLEAN, INTEGER, REAL, ArrayType, FunctionType, RecordType, Scalar, TupleType
from semantics.type_lattice import NAMES, NEVER, ZERO_TYPE, Literal, SliceType, Union

DEFAULTS = {REAL: "0.0", INTEGER: "0", BOOLEAN: "False"}
ROOT = "root"  # the base of a cell of a family, which has none


@dataclass(frozen=True, slots=True)
class Reg:
    """A scalar: an expression without effects, its type, and its value if that is known."""

    text: str
    type: Scalar
    value: Any = None


@dataclass(frozen=True, slots=True)
class Items:
    """A tuple, or what has its label."""

    items: tuple[Any, ...]
    label: Label | None = None


@dataclass(frozen=True, slots=True)
class Fn:
    """A known function: a graph with its captured values, or a primitive."""

    function: Any
    captured: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Nothing:
    """The one value of its type: unit, zero, an unbound variable, a text, a label, `...`."""

    type: Any


@dataclass(frozen=True, slots=True)
class Sum:
    """One of several: `tests[i]` holds when it is `options[i]`, of type `type.members[i]`. `neutral`: `backend.arrays.neutral`."""

    type: Union
    tests: tuple[str, ...]
    options: tuple[Any, ...]
    neutral: bool = False


@dataclass(frozen=True, slots=True)
class Stack:
    """A stack, of type `stack k` or `stack k | tuple[]`: the numbers of its last cell and of its first; empty if it ends before."""

    type: Any
    top: str
    base: str


@dataclass(frozen=True, slots=True)
class Cut:
    """A slice: its three parts."""

    items: tuple[Any, ...]


ZERO_VALUE = Nothing(ZERO_TYPE)


class Emitter(Protocol):
    """What computing on the structure of values asks of the lowering."""

    def primitive(self, primitive: Primitive, arguments: list[Any]) -> Any: ...
    def alike(self, a: Any, b: Any) -> tuple[Any, Any]: ...
    def trap(self, condition: str, status: int) -> None: ...


def is_several(value: Any) -> bool:
    """Whether a value is one of several, or an index in which a part of a slice is."""
    match value:
        case Cut(parts):
            return any(isinstance(p, Sum) for p in parts)
        case Items(parts):
            return any(isinstance(p, Cut) and is_several(p) for p in parts)
        case _:
            return isinstance(value, Sum)


def options(value: Any) -> list[tuple[str, Any]]:
    """The options of a value as an if-chain: the line that opens each, empty if there is one only. Of an index, those of a part."""
    if isinstance(value, (Cut, Items)) and is_several(value):
        k, part = next((k, p) for k, p in enumerate(value.items) if is_several(p))
        return [(line, replace(value, items=(*value.items[:k], o, *value.items[k + 1 :]))) for line, o in options(part)]
    if not isinstance(value, Sum):
        return [("", value)]
    live = [(t, o) for t, o in zip(value.tests, value.options, strict=True) if t != "False"]
    if len(live) == 1:
        return [("", live[0][1])]
    lines = [f"if {live[0][0]}:", *(f"elif {t}:" for t, _ in live[1:-1]), "else:"]
    return [(line, option) for line, (_, option) in zip(lines, live, strict=True)]


def literal(value: Any) -> Reg:
    """A constant scalar; special values by name, negative numbers in parentheses."""
    if isinstance(value, bool):
        return Reg(repr(value), BOOLEAN, value)
    if isinstance(value, int):
        if not -(1 << 63) <= value < 1 << 63:
            raise IllTyped(
                f"the constant {value} does not fit 64 bits", rule="backend", remedy="run it on the reference, or use a real"
            )
        return Reg(repr(value) if value >= 0 else f"({value!r})", INTEGER, value)
    if math.isnan(value):
        return Reg("_nan", REAL)
    if math.isinf(value):
        return Reg("_inf" if value > 0 else "(-_inf)", REAL)
    return Reg(repr(value) if math.copysign(1.0, value) > 0 else f"({value!r})", REAL)


def typed(value: Any) -> Any:
    """The type of a value."""
    match value:
        case Reg(_, type, known):
            return type if known is None else Literal(type, known)
        case Items(items, label):
            types = tuple(typed(i) for i in items)
            return TupleType(types) if label is None else RecordType(label, types)
        case Fn(function, captured):
            return FunctionType(function, tuple(typed(c) for c in captured))
        case Cut(items):
            return SliceType(tuple(typed(i) for i in items))
        case _:
            return value.type


def plain(value: Any) -> Any:
    """The value with what is known of its scalars forgotten."""
    match value:
        case Reg(text, type, _):
            return Reg(text, type)
        case Items(items) | Cut(items):
            return replace(value, items=tuple(plain(i) for i in items))
        case Fn(function, captured):
            return Fn(function, tuple(plain(c) for c in captured))
        case Sum(type, tests, options):
            return Sum(type, tests, tuple(plain(o) for o in options))
        case _:
            return value


def make(type: Any, scalar: Callable[[Scalar], str]) -> Any:
    """A value of `type` whose scalars are named by `scalar`; a literal needs none."""
    match type:
        case Literal(of, value):
            return Nothing(type) if of in NAMES else literal(value)
        case TupleType(items):
            return Items(tuple(make(i, scalar) for i in items))
        case RecordType(label, items):
            return Items(tuple(make(i, scalar) for i in items), label)
        case FunctionType(function, captured):
            return Fn(function, tuple(make(c, scalar) for c in captured))
        case _ if site_of(type) is not None:
            return Stack(type, scalar(INTEGER), ROOT if getattr(type, "bottom", None) == NEVER else scalar(INTEGER))
        case Union(members):
            tag = scalar(INTEGER)
            return Sum(type, tuple(f"{tag} == {i}" for i in range(len(members))), tuple(make(m, scalar) for m in members))
        case _ if type in DEFAULTS:
            return Reg(scalar(type), type)
        case ArrayType():
            return held(type, scalar(type), scalar(mask_type(type)) if type.holes else "")  # type: ignore[arg-type]
        case SliceType(items):
            return Cut(tuple(make(i, scalar) for i in items))
        case Scalar():
            return Nothing(type)
        case _:
            raise unknown(type)


def default(type: Any) -> Any:
    """Some value of `type`, for the parts of a choice that was not taken."""
    return make(type, lambda scalar: _empty(scalar) if isinstance(scalar, ArrayType) else DEFAULTS[scalar])


def mask_type(type: ArrayType) -> ArrayType:
    """The type of the array that tells which elements of a sensitivity are there."""
    return ArrayType("bool", type.dims)


def _empty(type: ArrayType) -> str:
    """Some array of a type."""
    return f"_empty(({'0, ' * len(type.dims)}), {MADE[type.dtype]})"


def scalars(value: Any) -> Iterator[Reg]:
    """The scalars that a value is stored in, in order; a choice begins with its number."""
    match value:
        case Reg(_, _, None):
            yield value
        case Held(_, name, _, mask):
            yield Reg(name, value.type)  # type: ignore[arg-type]
            if mask:
                yield Reg(mask, mask_type(value.type))  # type: ignore[arg-type]
        case Items(parts) | Fn(_, parts) | Cut(parts):
            for part in parts:
                yield from scalars(part)
        case Stack(_, top, base):
            yield from (Reg(text, INTEGER) for text in (top, base) if text != ROOT)
        case Sum(_, tests, options):
            yield Reg(_number(tests), INTEGER)
            for option in options:
                yield from scalars(option)


def _number(tests: tuple[str, ...]) -> str:
    """The number of the test that holds."""
    if tests[0].endswith(" == 0") and all(t == tests[0][:-1] + str(i) for i, t in enumerate(tests)):
        return tests[0][: -len(" == 0")]
    text = str(len(tests) - 1)
    for i, test in reversed(list(enumerate(tests[:-1]))):
        text = f"({i} if {test} else {text})"
    return text


def unknown(type: Any) -> Malformed:
    """The refusal of what has no structure before it runs."""
    return Malformed(
        f"a value of type {type}: sequences of unknown length are not compiled yet",
        rule=SEQUENCE,
        remedy='compile it with target="reference"',
    )
