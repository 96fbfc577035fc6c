"""
What primitives do to terms: the column by which the denotation reads a program whose arguments are names.

Rows of arrays and structures are the reference's own, over terms as elements; so which number is added to which, and in which
order, is what they say. Rows of numbers leave a term where one of their arguments is one, and are computed where none is. A ZERO
beside a term is treated as the reference's rows of numbers treat it.

The rows of arrays take what they do not know for reals. So `judged` compares the result of each with the type that inference has
for it, and what does not agree is refused: no array of integers is taken for one of reals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from backend.batches.forms import LARGEST, OF_ELEMENTS
from backend.columns import CELLS as TEMPLATES
from backend.small import extremes
from backend.small.perhaps import TAKEN, Perhaps, chosen, perhaps
from backend.small.terms import Record, Term, refused, type_of_number
from semantics.arrays import Array, size_of
from semantics.columns.arrays import array_cells
from semantics.columns.arrays.elements import Elements
from semantics.columns.elementwise import lifted
from semantics.columns.meaning import CELLS as MEANING
from semantics.columns.structure import CELLS as STRUCTURE
from semantics.columns.types import apply_type
from semantics.errors import IllTyped
from semantics.ir import NodeId, Program
from semantics.primitives.row import Column, Hole, Primitive
from semantics.primitives.table import ELEMENTWISE, TABLE
from semantics.structured import Record as Labelled
from semantics.tangents import ZERO, Sparse, SparseArray
from semantics.type_language import BOOLEAN, INTEGER, REAL, ArrayType, FunctionType, RecordType, TupleType, type_of
from semantics.type_lattice import ZERO_TYPE, Union, erase, join, members, of_constant
from semantics.values import Closure


class Terms(Elements):
    """The elements of arrays, where some are terms."""

    def coerce(self, x: Any, dtype: str, name: str) -> Any:
        """An element as one of `dtype`: a term of another type is converted, or refused."""
        if isinstance(x, Perhaps) and dtype == "f64":
            return x
        if isinstance(x, Perhaps):
            raise refused(f"what is perhaps ZERO becomes one of {dtype}")
        if not isinstance(x, Term) or x.type == OF_ELEMENTS.get(dtype):
            return super().coerce(x, dtype, name)
        if dtype == "f64" and x.type == INTEGER:
            return self.to_real(x)
        raise refused(f"an element of {x.type} becomes one of {dtype}")


def column(record: Record) -> Column:
    """The column over the terms of a record."""
    numbers = {name for name, cell in TEMPLATES.items() if not isinstance(cell, Hole)} | {"where"}
    cells = {
        name: cell if isinstance(cell, Hole) or name not in numbers else _on_numbers(record, TABLE[name], cell)
        for name, cell in MEANING.items()
    }
    cells |= {"instantiate": partial(instantiate, record), "is_instance": is_instance, "seed": seed}

    def find(primitive: Primitive) -> Any:
        cell = cells.get(primitive.name)
        if cell is None or isinstance(cell, Hole):
            raise refused(f"arrays need {primitive.name}")
        return cell

    e = Terms(find, record.truth)
    rows = array_cells(e) | lifted(cells, e, TABLE, ELEMENTWISE)
    own = {"keep": partial(keep, record, rows["keep"]), "where": partial(where, rows["where"])}
    own["sum_to"] = partial(sum_to, rows["sum_to"])
    return Column("terms", rows | own | extremes.cells(record, rows))


def _on_numbers(record: Record, primitive: Primitive, meaning: Callable[..., Any]) -> Callable[..., Any]:
    """The cell of a row of numbers."""
    name = primitive.name

    def cell(*arguments: Any) -> Any:
        if not any(isinstance(a, (Term, Perhaps)) for a in arguments):
            return meaning(*arguments)
        if name == "where" or any(isinstance(a, Perhaps) for a in arguments):
            return perhaps(record, primitive, arguments)
        if any(a is ZERO for a in arguments):
            if (found := _with_zero(name, arguments)) is not None:
                return found
            arguments = tuple(0.0 if a is ZERO else a for a in arguments)
        return record.apply(primitive, *arguments)

    return cell


def _with_zero(name: str, arguments: Sequence[Any]) -> Any:
    """A row of numbers at a term and ZERO; None where ZERO is read as 0.0."""
    if name == "add":
        return arguments[arguments[0] is ZERO]
    if name == "sub":
        return arguments[0] if arguments[1] is ZERO else -arguments[1]
    if name == "mul" or (name == "div" and arguments[0] is ZERO):
        return ZERO
    return None


def instantiate(record: Record, d: Any, x: Any) -> Any:
    """The sensitivity of x as a plain value: of integers and booleans unit, and 0.0 where nothing flows."""
    if isinstance(x, Term) and x.type != REAL:
        return None
    meaning: Any = MEANING["instantiate"]
    return _definite(record, meaning(d, x))


def _definite(record: Record, value: Any) -> Any:
    """A value in which 0.0 is where a number is ZERO. Recursion is bounded by its nesting."""
    match value:
        case Perhaps(x, there):
            return record.apply(TABLE["where"], there, x, 0.0)
        case tuple():
            return tuple([_definite(record, v) for v in value])
        case Labelled(label, items):
            return Labelled(label, _definite(record, items))
        case Array():
            return value.with_items(_definite(record, x) for x in value.items)
        case _:
            return value


def where(row: Callable[..., Any], c: Any, x: Any, y: Any) -> Any:
    """np.where(c, x, y), of which a condition that is a term is an array without axes."""
    whole = isinstance(c, Term) and c.type == BOOLEAN and any(isinstance(z, (Array, SparseArray)) for z in (x, y))
    return row(Array("bool", (), (c,)) if whole else c, x, y)


def sum_to(row: Callable[..., Any], d: Any, x: Any) -> Any:
    """The sensitivity d as that of x; ZERO where x is an integer or a boolean."""
    return ZERO if isinstance(x, Term) and x.type != REAL else row(d, x)


def keep(record: Record, row: Callable[..., Any], d: Any, c: Any) -> Any:
    """d where c is True, ZERO elsewhere: of numbers and arrays, where a term says so."""
    if isinstance(c, Array) and isinstance(d, Array) and c.shape == d.shape and c.dtype == "bool":
        return d.with_items(chosen(record, b, x, ZERO) for x, b in zip(d.items, c.items, strict=True))
    if not isinstance(c, Term) or d is ZERO:
        return row(d, c)
    if isinstance(d, Array):
        return d.with_items(chosen(record, c, x, ZERO) for x in d.items)
    if not isinstance(d, (Term, Perhaps, float)):
        raise refused("nothing flows to a structure where a condition says so")
    return chosen(record, c, d, ZERO)


def is_instance(x: Any, kinds: Any) -> bool:
    """As on numbers: a term is refused if it is no real."""
    if isinstance(x, Term) and x.type != REAL:
        raise refused("it asks for the class of a number")
    return bool(STRUCTURE["is_instance"](x, kinds))


def seed(out: Any) -> Any:
    """1.0; the result must be a real."""
    if isinstance(out, Term) and out.type == REAL:
        return 1.0
    meaning: Any = MEANING["seed"]
    return meaning(out)


def judged(program: Program, node: NodeId, primitive: Primitive, arguments: Sequence[Any], value: Any) -> None:
    """Refuses a value whose type is not the one that inference has for it, and an array that is large, or of f32."""
    found = known_type(value)
    if primitive.name not in TAKEN and any(_is_open(a) for a in arguments):
        raise refused(f"{primitive.name} of what is perhaps ZERO")
    if primitive.name in ("switch", "seed"):
        return
    expected = apply_type(primitive, [known_type(a) for a in arguments])
    if not any(agrees(found, erase(t)) for t in members(expected)):
        raise refused(f"{primitive.name} gives {found} in the place of {expected}")


def _is_open(value: Any) -> bool:
    """Whether a value has a number in it that is perhaps ZERO. Recursion is bounded by its nesting."""
    match value:
        case Perhaps():
            return True
        case tuple():
            return any(map(_is_open, value))
        case Array(_, _, parts) | Labelled(_, parts) | Closure(_, parts):
            return any(map(_is_open, parts))
        case Sparse(_, entries) | SparseArray(_, _, entries):
            return any(map(_is_open, entries.values()))
        case _:
            return False


def known_type(value: Any) -> Any:
    """The type of a value with terms in it. Recursion is bounded by its nesting."""
    match value:
        case Term():
            return value.type
        case Perhaps():
            return join(REAL, ZERO_TYPE)
        case tuple():
            return TupleType(tuple(map(known_type, value)))
        case Labelled(label, items):
            return RecordType(label, tuple(map(known_type, items)))
        case Array(dtype, shape, items):
            return _array_type(dtype, shape, items)
        case SparseArray(dtype, shape, entries):
            return _array_type(dtype, shape, (*entries.values(), *[ZERO] * (len(entries) < size_of(shape))))
        case Sparse():
            return TupleType(tuple(known_type(value[k]) for k in range(value.size)))
        case Closure(graph, captured):
            return FunctionType(graph, tuple(map(known_type, captured)))
        case bool() | int() | float():
            return type_of_number(value)
        case _:
            return ZERO_TYPE if value is ZERO else _of_other(value)


def _of_other(value: Any) -> Any:
    try:
        return of_constant(value)
    except IllTyped:
        return type_of(value)


def _array_type(dtype: str, shape: tuple[int, ...], items: Sequence[Any]) -> ArrayType:
    """The type of an array, each of whose elements is a number of its dtype."""
    if dtype not in OF_ELEMENTS or size_of(shape) > LARGEST:
        raise refused(f"an array of {dtype}" if dtype not in OF_ELEMENTS else f"an array of more than {LARGEST} elements")
    holes = any(x is ZERO or isinstance(x, Perhaps) for x in items)
    if not all(x is ZERO or isinstance(x, Perhaps) or erase(type_of_number(x)) == OF_ELEMENTS[dtype] for x in items):
        raise refused(f"an element of an array of {dtype} is something else")
    return ArrayType(dtype, shape, holes)


def agrees(found: Any, expected: Any) -> bool:
    """Whether a value of one type is one of the other, of which sizes and zeros may be open. Recursion is bounded by nesting."""
    found = erase(found)
    match found, expected:
        case Union(), _:
            return all(agrees(m, expected) or m == ZERO_TYPE for m in members(found))
        case ArrayType(), ArrayType():
            alike = len(found.dims) == len(expected.dims) and found.dtype == expected.dtype
            return alike and all(b is None or a == b for a, b in zip(found.dims, expected.dims, strict=True))
        case (TupleType(), TupleType()) | (RecordType(), RecordType()):
            return len(found.items) == len(expected.items) and all(
                any(agrees(a, m) for m in members(b)) for a, b in zip(found.items, expected.items, strict=True)
            )
        case _:
            return found in (expected, ZERO_TYPE) or isinstance(found, FunctionType)
