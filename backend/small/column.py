"""
What primitives do to terms: the column by which the denotation reads a program whose arguments are names.

Rows of arrays and structures are the reference's own, over terms as elements; so which number is added to which, and in which
order, is what they say. Rows of numbers leave a term where one of their arguments is one, and are computed where none is. A ZERO beside a
term is treated as the reference's rows of numbers treat it.

The rows of arrays take what they do not know for reals. So `judged` compares the result of each with the type that inference has
for it, and what does not agree is refused: no array of integers is taken for one of reals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from backend.batch_forms import OF_ELEMENTS
from backend.columns import CELLS as TEMPLATES
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
from semantics.type_language import INTEGER, REAL, ArrayType, FunctionType, RecordType, TupleType, type_of
from semantics.type_lattice import ZERO_TYPE, erase, members, of_constant
from semantics.values import Closure

LARGEST = 16
"""Elements of an array that is taken apart."""
NEUTRAL, ABSORBING = ("add", "gadd"), ("mul", "neg")


class Terms(Elements):
    """The elements of arrays, where some are terms."""

    def coerce(self, x: Any, dtype: str, name: str) -> Any:
        """An element as one of `dtype`: a term of another type is converted, or refused."""
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
    cells |= {"instantiate": instantiate, "is_instance": is_instance, "seed": seed}

    def find(primitive: Primitive) -> Any:
        cell = cells.get(primitive.name)
        if cell is None or isinstance(cell, Hole):
            raise refused(f"arrays need {primitive.name}")
        return cell

    e = Terms(find, record.truth)
    return Column("terms", {**array_cells(e), **lifted(cells, e, TABLE, ELEMENTWISE)})


def _on_numbers(record: Record, primitive: Primitive, meaning: Callable[..., Any]) -> Callable[..., Any]:
    """The cell of a row of numbers."""
    name = primitive.name

    def cell(*arguments: Any) -> Any:
        if not any(isinstance(a, Term) for a in arguments):
            return meaning(*arguments)
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
    if name == "where":
        raise refused("where a condition says so, nothing flows")
    return None


def instantiate(d: Any, x: Any) -> Any:
    """The sensitivity of x as a plain value: of integers and booleans unit."""
    if isinstance(x, Term):
        return None if x.type != REAL else 0.0 if d is ZERO else d
    meaning: Any = MEANING["instantiate"]
    return meaning(d, x)


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
    if primitive.name in ("switch", "seed"):
        return
    expected = apply_type(primitive, [known_type(a) for a in arguments])
    if not any(agrees(found, erase(t)) for t in members(expected)):
        raise refused(f"{primitive.name} gives {found} in the place of {expected}")


def known_type(value: Any) -> Any:
    """The type of a value with terms in it. Recursion is bounded by its nesting."""
    match value:
        case Term():
            return value.type
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
    holes = any(x is ZERO for x in items)
    if not all(x is ZERO or erase(type_of_number(x)) == OF_ELEMENTS[dtype] for x in items):
        raise refused(f"an element of an array of {dtype} is something else")
    return ArrayType(dtype, shape, holes)


def agrees(found: Any, expected: Any) -> bool:
    """Whether a value of one type is one of the other, of which sizes and zeros may be open. Recursion is bounded by nesting."""
    found = erase(found)
    match found, expected:
        case ArrayType(), ArrayType():
            alike = len(found.dims) == len(expected.dims) and found.dtype == expected.dtype
            return alike and all(b is None or a == b for a, b in zip(found.dims, expected.dims, strict=True))
        case (TupleType(), TupleType()) | (RecordType(), RecordType()):
            return len(found.items) == len(expected.items) and all(
                any(agrees(a, m) for m in members(b)) for a, b in zip(found.items, expected.items, strict=True)
            )
        case _:
            return found in (expected, ZERO_TYPE) or isinstance(found, FunctionType)
