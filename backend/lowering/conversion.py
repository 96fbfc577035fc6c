"""
Conversion of values at compile time: to a wider type, and to the one of two that a test chooses.

The wider type is one that inference joined: a choice goes member by member to the member of its kind, and a known scalar is
forgotten, but for a literal. Nothing is computed; what is chosen at run time is a conditional expression for each scalar.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from backend.arrays.values import ARRAYS, Held, as_type, either
from backend.lowering.shape import ROOT, Cut, Fn, Items, Nothing, Reg, Stack, Sum, default, make, plain, typed, unknown
from backend.stacks.stack_types import EMPTY, StackType, site_of, stack_of
from semantics.errors import Malformed
from semantics.type_language import ArrayType, FunctionType, RecordType, Scalar, TupleType
from semantics.type_lattice import NEVER, Literal, SliceType, Union, erase, is_below, join, kind_of


def convert(value: Any, type: Any) -> Any:
    """The value as one of the wider type `type`."""
    match type, value:
        case Literal(), _:
            return make(type, lambda _: "")
        case _, Stack() if site_of(type) is not None:
            return replace(value, type=type)
        case Union(), Items(()) | Nothing() if (site := site_of(type)) is not None and is_below(typed(value), type):
            return Stack(type, f"s{site} - 1", f"s{site}")  # wherever this is read, an empty stack on top of all others
        case ((TupleType(items) | RecordType(_, items)), Items(parts, label)) if getattr(type, "label", None) == label:
            return Items(tuple(convert(p, i) for p, i in zip(parts, items, strict=True)), label)
        case SliceType(items), Cut(parts):
            return Cut(tuple(convert(p, i) for p, i in zip(parts, items, strict=True)))
        case FunctionType(function, types), Fn(_, parts):
            return Fn(function, tuple(convert(p, t) for p, t in zip(parts, types, strict=True)))
        case Union(members), _:
            return _widened(value, type, members)
        case _, Reg(_, of, _) if of == type:
            return value
        case _, Nothing(of) if of == type:
            return value
        case ArrayType(), _ if isinstance(value, ARRAYS):
            return as_type(value, type)
        case _, Sum(Union(of), _, parts) if kind_of(type) in map(kind_of, of):  # inference knows that it is no other
            return convert(parts[[*map(kind_of, of)].index(kind_of(type))], type)
        case _ if not _has_structure(type):
            raise unknown(type)
        case _:
            raise Malformed(f"a value of type {typed(value)} cannot be stored as {type}", rule="backend")


def _has_structure(type: Any) -> bool:
    """Whether the scalars of a value of this type can be listed before anything runs."""
    return isinstance(type, (Scalar, Literal, TupleType, RecordType, FunctionType, SliceType, Union, StackType, ArrayType))


def _widened(value: Any, type: Union, members: tuple[Any, ...]) -> Any:
    """Each option of the value goes to the member of its kind; options that share a member are selected by their tests."""
    kinds = [kind_of(m) for m in members]
    match value:
        case Sum(_, found, choices):
            sources = list(zip(found, choices, strict=True))
        case Stack(Union()):
            return _widened(as_choice(value), type, members)
        case _:
            sources = [("True", value)]
    tests, options = ["False"] * len(members), [default(m) for m in members]
    for test, option in sources:
        if (kind := kind_of(typed(option))) not in kinds:
            raise Malformed(f"a value of type {typed(option)} cannot be stored as {type}", rule="backend")
        at = kinds.index(kind)
        converted = convert(option, members[at])
        options[at] = converted if tests[at] == "False" else select(test, converted, options[at])
        tests[at] = test if tests[at] == "False" else f"({tests[at]} or {test})"
    return Sum(type, tuple(tests), tuple(options))


def as_choice(value: Stack) -> Sum:
    """A stack that may be empty as one of two values; Malformed of a type that has both kinds of empty ones."""
    if (stack := stack_of(value.type)) is None:
        raise Malformed(f"a value of type {value.type} is more than one stack or none", rule="backend")
    options = tuple(Stack(m, value.top, value.base) if m == stack else convert_bottom(m) for m in value.type.members)
    return Sum(value.type, tuple(f"{value.top} {'>=' if m == stack else '<'} {value.base}" for m in value.type.members), options)


def convert_bottom(type: Any) -> Any:
    """What is below the bottom of a stack."""
    return Items(()) if type == EMPTY else Nothing(type)


def select(test: str, a: Any, b: Any) -> Any:
    """`a if test else b`, at the join of their types."""
    type = join(typed(a), typed(b))
    if site_of(type) is not None:
        a, b = convert(a, type), convert(b, type)
    match a, b:
        case Stack(_, x, y), Stack(_, z, w) if site_of(type) is not None:
            return Stack(type, f"({x} if {test} else {z})", ROOT if y == ROOT else f"({y} if {test} else {w})")
        case Reg(x, t, v), Reg(y, u, w) if t == u:
            return a if (x, v) == (y, w) else Reg(f"({x} if {test} else {y})", t)
        case Items(x, label), Items(y, other) if len(x) == len(y) and label == other:
            return Items(tuple(select(test, i, j) for i, j in zip(x, y, strict=True)), label)
        case Fn(f, x), Fn(g, y) if f == g and len(x) == len(y):
            return Fn(f, tuple(select(test, i, j) for i, j in zip(x, y, strict=True)))
        case Nothing(x), Nothing(y) if x == y:
            return a
        case _ if isinstance(a, ARRAYS) and a is b:
            return a
        case Held(), Held() if isinstance(type, ArrayType) and bool(a.mask) == bool(b.mask):
            return either(test, a, b)
        case Cut(x), Cut(y):
            return Cut(tuple(select(test, i, j) for i, j in zip(x, y, strict=True)))
        case _ if not _has_structure(type):
            raise unknown(type)
        case _ if type == NEVER or not isinstance(type, Union):
            raise Malformed(f"{typed(a)} and {typed(b)} have no common representation", rule="backend")
        case _:
            return _chosen(test, convert(plain(a), erase(type)), convert(plain(b), erase(type)))


def _chosen(test: str, a: Sum, b: Sum) -> Sum:
    """The selection between two values of one union; an option that only one side can be needs no selection."""
    tests, options = [], []
    for s, t, x, y in zip(a.tests, b.tests, a.options, b.options, strict=True):
        if t == "False":
            tests.append("False" if s == "False" else test if s == "True" else f"({test} and {s})")
            options.append(x)
        elif s == "False":
            tests.append(f"(not {test})" if t == "True" else f"((not {test}) and {t})")
            options.append(y)
        else:
            tests.append(f"({s} if {test} else {t})")
            options.append(select(test, x, y))
    return Sum(a.type, tuple(tests), tuple(options))
