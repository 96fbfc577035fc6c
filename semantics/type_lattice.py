"""
The types that inference computes with: those of `type_language`, and more than a boundary may show.

    literal        an integer, a boolean or a string whose value is known: indices, axes, exponents, conditions, dtypes; a label
    slice          what `a:b:c` is, with the type of each part
    a | b          one of finitely many types, decided when the program runs: closures of two branches, ZERO or a real
    zero           the symbolic zero of sensitivities         unbound   a local variable that this path did not assign
    never          no value at all: the application traps, or is not yet known to return

They form a join-semilattice with `never` at the bottom; inference takes least fixpoints in it. Arrays of one dtype and one number
of axes meet in an array whose sizes are unknown where theirs differ, so a loop that makes an array longer comes to an end.
So do two lists of different lengths, more than LENGTHS lengths of tuples, and memories of different numbers of cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from semantics.errors import AdjudgeError, OutOfFuel, Trap
from semantics.memory_types import CellsType, MemoryType, PointerType
from semantics.structured import LIST, Ellipsis_, Label, Record, Slice
from semantics.tangents import Zero
from semantics.type_language import (
    BOOLEAN,
    INTEGER,
    UNIT,
    ArrayType,
    FunctionType,
    RecordType,
    Scalar,
    SequenceType,
    TupleType,
    type_of,
)
from semantics.type_memo import Composite, Plain, Spelling, joining, once, ordinal
from semantics.values import Unbound

ZERO_TYPE, NEVER, UNBOUND, TEXT = Scalar("zero"), Scalar("never"), Scalar("unbound"), Scalar("text")
ELLIPSIS_TYPE = Scalar("...")
LABEL = Scalar("label")
NAMES = (TEXT, LABEL)
COMBINATIONS = 512
LENGTHS = 4  # of tuples that one type distinguishes: unpacking wants to know them, and a loop that makes longer ones must end
Refusals = tuple[type[AdjudgeError], ...]


@dataclass(frozen=True, slots=True)
class Literal(Plain):
    """An integer, a boolean, a string or a label of known value. Strings and labels are always known: no program computes one."""

    type: Scalar
    value: Any

    def __str__(self) -> str:
        return f"{self.type}={self.value}"

    def standing(self) -> Any:
        """Of equal labels the Python classes may differ."""
        return id(self) if self.type == LABEL else self


@dataclass(frozen=True, slots=True, eq=False)
class SliceType(Composite):
    """A slice: the types of its three parts."""

    items: tuple[Any, ...]

    def spelled(self, part: Spelling) -> str:
        return f"slice[{', '.join(map(part, self.items))}]"


@dataclass(frozen=True, slots=True, eq=False)
class Union(Composite):
    """One of several types, ordered by their text. Made by `join` only."""

    members: tuple[Any, ...]

    def spelled(self, part: Spelling) -> str:
        return " | ".join(map(part, self.members))


def labels(t: Any) -> Iterator[Label]:
    """The labels of records in a type; recursion is bounded by the nesting of types."""
    match t:
        case RecordType(label, items):
            yield label
            for item in items:
                yield from labels(item)
        case SequenceType(label, item):
            if label is not None:
                yield label
            yield from labels(item)
        case TupleType(items) | Union(items):
            for item in items:
                yield from labels(item)


def members(t: Any) -> tuple[Any, ...]:
    """The types that a value of type t can have; none for `never`."""
    if isinstance(t, Union):
        return t.members
    return () if t == NEVER else (t,)


@joining
def join(a: Any, b: Any, lengths: int = LENGTHS) -> Any:
    """
    The least type above both. Tuples of one length, closures of one graph, arrays of one rank and dtype join part by part.

    Lists of two lengths, and tuples of more than `lengths`, are a sequence of unknown length.
    """
    if b in (a, NEVER):
        return a
    if a == NEVER:
        return b
    found: dict[Any, Any] = {}
    for t in (*members(a), *members(b)):
        kind = kind_of(t)
        found[kind] = _merge(found[kind], t, lengths) if kind in found else t
    tuples = [kind for kind in found if kind[:1] == ("tuple",)] if len(found) > 1 else []
    if len(tuples) > lengths or (len(tuples) > 1 and ("tuple", None) in tuples):
        sequence = found.pop(tuples[0])
        for kind in tuples[1:]:
            sequence = longer(None, sequence, found.pop(kind), lengths)
        found["tuple", None] = sequence
    result = tuple(sorted(found.values(), key=ordinal))
    return result[0] if len(result) == 1 else Union(result)


def kind_of(t: Any) -> tuple[Any, ...]:
    """Two types of one kind merge into one."""
    match t:
        case TupleType(items):
            return ("tuple", len(items))
        case SequenceType(None, _):
            return ("tuple", None)
        case RecordType(label, items):
            return ("record", label) if label == LIST else ("record", label, len(items))
        case SequenceType(label, _):
            return ("record", label)
        case SliceType():
            return (SliceType,)
        case FunctionType(function, captured):
            return ("function", function, len(captured))
        case ArrayType(dtype, dims):
            return ("array", dtype, len(dims))
        case MemoryType(home):
            return ("memory", home)
        case PointerType(home, _, _, path):
            return ("pointer", home, len(path))
        case CellsType():
            return (CellsType,)
        case Literal(type, _) if type not in NAMES:
            return (type,)
        case _:
            return (t,)


def _merge(a: Any, b: Any, lengths: int) -> Any:
    """The join of two types of one kind."""

    def each(x: Sequence[Any], y: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(join(i, j, lengths) for i, j in zip(x, y, strict=True))

    match a, b:
        case TupleType(x), TupleType(y):
            return TupleType(each(x, y))
        case RecordType(label, x), RecordType(_, y) if len(x) == len(y):
            return RecordType(label, each(x, y))
        case (RecordType() | SequenceType(), RecordType() | SequenceType()):
            return longer(a.label, a, b, lengths)
        case SliceType(x), SliceType(y):
            return SliceType(each(x, y))
        case FunctionType(function, x), FunctionType(_, y):
            return FunctionType(function, each(x, y))
        case ArrayType(dtype, x, holes), ArrayType(_, y, more):
            return ArrayType(dtype, tuple(n if n == m else None for n, m in zip(x, y, strict=True)), holes or more)
        case MemoryType(home), MemoryType():
            return MemoryType(home, *cells_joined(a, b, lengths))
        case CellsType(), CellsType():
            behind = max(len(a.items), len(b.items))
            items = [join(x, y, lengths) for x, y in paired(a, b)]
            return cells_type(items, join(held(a, behind), held(b, behind), lengths))
        case PointerType(home, n, exact, x), PointerType(_, m, certain, y):
            return PointerType(home, min(n, m), exact and certain and n == m, each(x, y))
        case _:
            return a if a == b else erase(a)


def longer(label: Label | None, a: Any, b: Any, lengths: int) -> SequenceType:
    """The sequence that two tuples or lists of different lengths are."""
    item = NEVER
    for t in (a, b):
        for part in (t.item,) if isinstance(t, SequenceType) else t.items:
            item = join(item, part, lengths)
    return SequenceType(label, item)


def cells_joined(a: Any, b: Any, lengths: int) -> tuple[tuple[Any, ...], Any]:
    """What the cells hold that both have, and what others do. A cell that a token has not is never read through it."""
    common = min(len(a.items), len(b.items))
    rest: Any = NEVER
    for part in (*a.items[common:], *b.items[common:], *(r for r in (a.rest, b.rest) if r is not None)):
        rest = join(rest, part, lengths)
    items = tuple(join(x, y, lengths) for x, y in zip(a.items[:common], b.items[:common], strict=True))
    return items, None if rest == NEVER else rest


def paired(a: CellsType, b: CellsType) -> list[tuple[Any, Any]]:
    """The sensitivities of every cell that one of the two knows."""
    return [(held(a, k), held(b, k)) for k in range(max(len(a.items), len(b.items)))]


def held(d: CellsType, k: int) -> Any:
    """The sensitivity of cell k; where it is not known, there may be none."""
    return d.items[k] if k < len(d.items) else join(NEVER if d.rest is None else d.rest, ZERO_TYPE)


def cells_type(items: Sequence[Any], rest: Any = NEVER) -> CellsType:
    """The type of sensitivities of memories; each has one text, in which `rest` does not say that there may be none."""
    left = [t for t in members(rest) if t != ZERO_TYPE]
    behind = CellsType((), None if not left else left[0] if len(left) == 1 else Union(tuple(left)))
    while items and items[-1] == held(behind, 0):
        items = items[:-1]
    return CellsType(tuple(items), behind.rest)


def is_below(a: Any, b: Any) -> bool:
    """Whether every value of type a is one of type b."""
    return bool(join(a, b) == b)


def over_parts(t: Any, change: Callable[[Any], Any]) -> Any:
    """The type with every part of it changed: itself if it has none. The members of a union are not parts of it."""
    match t:
        case TupleType(items) | SliceType(items):
            return type(t)(tuple(map(change, items)))
        case RecordType(label, items):
            return RecordType(label, tuple(map(change, items)))
        case SequenceType(label, item):
            return SequenceType(label, change(item))
        case FunctionType(function, captured):
            return FunctionType(function, tuple(map(change, captured)))
        case MemoryType(home, items, rest):
            return MemoryType(home, tuple(map(change, items)), None if rest is None else change(rest))
        case CellsType(items, rest):
            return cells_type(tuple(map(change, items)), NEVER if rest is None else change(rest))
        case PointerType(home, low, exact, path):
            return PointerType(home, low, exact, tuple(map(change, path)))
        case _:
            return t


def parts(t: Any) -> tuple[Any, ...]:
    """The parts of a type, or the members of a union."""
    if isinstance(t, Union):
        return t.members
    found: list[Any] = []
    over_parts(t, lambda part: found.append(part) or part)  # type: ignore[func-returns-value]
    return tuple(found)


@once
def erase(t: Any) -> Any:
    """The type with the values of literal numbers forgotten."""
    match t:
        case Literal(type, _) if type not in NAMES:
            return type
        case Union(of):
            result: Any = NEVER
            for member in of:
                result = join(result, erase(member))
            return result
        case _:
            return over_parts(t, erase)


def is_known(t: Any) -> bool:
    """Whether a type has one value only: an attribute, not an operand. Recursion is bounded by the nesting of the type."""
    match t:
        case TupleType(items) | SliceType(items):
            return all(is_known(i) for i in items)
        case _:
            return isinstance(t, Literal) or t in (UNIT, ELLIPSIS_TYPE)


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
