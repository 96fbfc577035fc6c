"""
What inference forgets of a type where a program calls itself with ever other ones, so that the types come to an end.

    unsized      the sizes of arrays
    lengthless   also the lengths of tuples and lists, and which cell of a memory a pointer points to
"""

from __future__ import annotations

from typing import Any

from semantics.memory_types import MemoryType, PointerType
from semantics.structured import LIST
from semantics.type_language import ArrayType, RecordType, TupleType
from semantics.type_lattice import NEVER, Union, cells_joined, join, longer, over_parts, parts
from semantics.type_memo import once


@once
def unsized(t: Any) -> Any:
    """The type with the sizes of arrays forgotten."""
    match t:
        case ArrayType(dtype, dims, holes):
            return ArrayType(dtype, (None,) * len(dims), holes)
        case Union(of):
            return Union(tuple(unsized(m) for m in of))
        case _:
            return over_parts(t, unsized)


@once
def lengthless(t: Any) -> Any:
    """The type with the lengths of tuples and lists, and the numbers of cells, forgotten too."""
    match t:
        case Union(of):
            result: Any = NEVER
            for member in of:
                result = join(result, lengthless(member), 1)
            return result
        case TupleType(items):
            return longer(None, TupleType(tuple(map(lengthless, items))), TupleType(()), 1)
        case RecordType(label, items) if label == LIST:
            return longer(label, TupleType(tuple(map(lengthless, items))), TupleType(()), 1)
        case MemoryType(home):
            changed = over_parts(t, lengthless)
            return MemoryType(home, *cells_joined(changed, MemoryType(home, ()), 1))
        case PointerType(home, _, _, path):
            return PointerType(home, 0, False, tuple(map(lengthless, path)))
        case _:
            return unsized(t) if isinstance(t, ArrayType) else over_parts(t, lengthless)


def lengths_joined(a: Any, b: Any) -> Any:
    """The join in which tuples of two lengths, too, are a sequence of unknown length."""
    return join(a, b, 1)


@once
def extent(t: Any) -> int:
    """The number of parts of a type, of their parts, and so on."""
    return sum(1 + extent(part) for part in parts(t))
