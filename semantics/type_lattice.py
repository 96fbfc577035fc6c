"""
The types that inference computes with: those of `type_language`, and more than a boundary may show.

    literal        an integer, a boolean or a string whose value is known: indices, axes, exponents, conditions, dtypes; a label
    slice          what `a:b:c` is, with the type of each part
    a | b          one of finitely many types, decided when the program runs: closures of two branches, ZERO or a real
    zero           the symbolic zero of sensitivities         unbound   a local variable that this path did not assign
    never          no value at all: the application traps, or is not yet known to return

They form a join-semilattice with `never` at the bottom; inference takes least fixpoints in it. Arrays of one dtype and one number
of axes meet in an array whose sizes are unknown where theirs differ, so a loop that makes an array longer comes to an end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from semantics.errors import AdjudgeError, OutOfFuel, Trap
from semantics.structured import Ellipsis_, Label, Record, Slice
from semantics.tangents import Zero
from semantics.type_language import BOOLEAN, INTEGER, UNIT, ArrayType, FunctionType, RecordType, Scalar, TupleType, type_of
from semantics.values import Unbound

ZERO_TYPE, NEVER, UNBOUND, TEXT = Scalar("zero"), Scalar("never"), Scalar("unbound"), Scalar("text")
ELLIPSIS_TYPE = Scalar("...")
LABEL = Scalar("label")
NAMES = (TEXT, LABEL)
COMBINATIONS = 512
Refusals = tuple[type[AdjudgeError], ...]


@dataclass(frozen=True, slots=True)
class Literal:
    """An integer, a boolean, a string or a label of known value. Strings and labels are always known: no program computes one."""

    type: Scalar
    value: Any

    def __str__(self) -> str:
        return f"{self.type}={self.value}"


@dataclass(frozen=True, slots=True)
class SliceType:
    """A slice: the types of its three parts."""

    items: tuple[Any, ...]

    def __str__(self) -> str:
        return f"slice[{', '.join(map(str, self.items))}]"


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
    """The least type above both. Tuples of one length, closures of one graph, arrays of one rank and dtype join part by part."""
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
        case RecordType(label, items):
            return ("record", label, len(items))
        case SliceType():
            return SliceType
        case FunctionType(function, captured):
            return ("function", function, len(captured))
        case ArrayType(dtype, dims):
            return ("array", dtype, len(dims))
        case Literal(type, _) if type not in NAMES:
            return type
        case _:
            return t


def _merge(a: Any, b: Any) -> Any:
    match a, b:
        case TupleType(x), TupleType(y):
            return TupleType(tuple(join(i, j) for i, j in zip(x, y, strict=True)))
        case RecordType(label, x), RecordType(_, y):
            return RecordType(label, tuple(join(i, j) for i, j in zip(x, y, strict=True)))
        case SliceType(x), SliceType(y):
            return SliceType(tuple(join(i, j) for i, j in zip(x, y, strict=True)))
        case FunctionType(function, x), FunctionType(_, y):
            return FunctionType(function, tuple(join(i, j) for i, j in zip(x, y, strict=True)))
        case ArrayType(dtype, x, holes), ArrayType(_, y, more):
            return ArrayType(dtype, tuple(n if n == m else None for n, m in zip(x, y, strict=True)), holes or more)
        case _:
            return a if a == b else erase(a)


def is_below(a: Any, b: Any) -> bool:
    """Whether every value of type a is one of type b."""
    return bool(join(a, b) == b)


def erase(t: Any) -> Any:
    """The type with the values of literal numbers forgotten."""
    match t:
        case Literal(type, _) if type not in NAMES:
            return type
        case TupleType(items):
            return TupleType(tuple(erase(i) for i in items))
        case RecordType(label, items):
            return RecordType(label, tuple(erase(i) for i in items))
        case SliceType(items):
            return SliceType(tuple(erase(i) for i in items))
        case FunctionType(function, captured):
            return FunctionType(function, tuple(erase(c) for c in captured))
        case Union(of):
            result: Any = NEVER
            for member in of:
                result = join(result, erase(member))
            return result
        case _:
            return t


def is_known(t: Any) -> bool:
    """Whether a type has one value only: an attribute, not an operand. Recursion is bounded by the nesting of the type."""
    match t:
        case TupleType(items) | SliceType(items):
            return all(is_known(i) for i in items)
        case _:
            return isinstance(t, Literal) or t in (UNIT, ELLIPSIS_TYPE)


def unsized(t: Any) -> Any:
    """The type with the sizes of arrays forgotten."""
    match t:
        case ArrayType(dtype, dims, holes):
            return ArrayType(dtype, (None,) * len(dims), holes)
        case TupleType(items):
            return TupleType(tuple(unsized(i) for i in items))
        case RecordType(label, items):
            return RecordType(label, tuple(unsized(i) for i in items))
        case FunctionType(function, captured):
            return FunctionType(function, tuple(unsized(c) for c in captured))
        case Union(of):
            return Union(tuple(unsized(m) for m in of))
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
            return Literal(TEXT, value)
        case Zero():
            return ZERO_TYPE
        case Unbound():
            return UNBOUND
        case Ellipsis_():
            return ELLIPSIS_TYPE
        case Label():
            return Literal(LABEL, value)
        case Slice(start, stop, step):
            return SliceType(tuple(UNIT if p is None else of_constant(p) for p in (start, stop, step)))
        case Record(label, items):
            return RecordType(label, tuple(of_constant(v) for v in items))
        case tuple():
            return TupleType(tuple(of_constant(v) for v in value))
        case _:
            return type_of(value)


def distribute(rule: Callable[..., Any], arguments: Sequence[Any], impossible: Refusals = (Trap,)) -> Any:
    """The join of the rule over every combination of members. An unbound variable traps, so it contributes nothing."""
    parts = [[m for m in members(t) if m != UNBOUND] for t in arguments]
    count = 1
    for part in parts:
        count *= len(part)
    if count > COMBINATIONS:
        raise OutOfFuel(f"{count} combinations of argument types", rule="type", remedy="let fewer kinds of values meet here")
    return joined(rule, product(*parts), impossible)


def joined(rule: Callable[..., Any], combinations: Iterable[tuple[Any, ...]], impossible: Refusals = (Trap,)) -> Any:
    """
    The join of the rule over combinations of arguments.

    One for which the rule raises one of `impossible`, such as what is certain to trap, contributes nothing. If every one does, so
    does this.
    """
    result: Any = NEVER
    refusal, returns = None, False
    for combination in combinations:
        try:
            result, returns = join(result, rule(*combination)), True
        except impossible as found:
            refusal = refusal or found
    if refusal is not None and not returns:
        raise refusal
    return result
