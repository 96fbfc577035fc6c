"""
The boundary of compiled code: values of the program as rows of scalars, and back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from backend.status import OVERFLOW, error
from semantics.arrays import Array
from semantics.errors import IllTyped, takes
from semantics.structured import Record
from semantics.type_language import BOOLEAN, INTEGER, REAL, ArrayType, RecordType, Scalar, TupleType
from semantics.type_lattice import Union
from transforms.array_rows import to_numpy
from transforms.unboxed import unboxed

PYTHON = {REAL: float, INTEGER: int, BOOLEAN: bool}


def general(type: Any) -> Any:
    """The type without the sizes of its arrays, but for ones: code for it is code for all sizes, and broadcasting is known."""
    match type:
        case ArrayType(_, dims):
            return replace(type, dims=tuple(n if n == 1 else None for n in dims))
        case TupleType(items) | RecordType(_, items):
            return replace(type, items=tuple(map(general, items)))
        case _:
            return type


def fits(type: ArrayType, dtype: str, shape: Sequence[int]) -> bool:
    """Whether an array has the dtype, the number of axes and the known sizes of a type."""
    known = all(n is None or n == m for n, m in zip(type.dims, shape, strict=False))
    return type.dtype == dtype and len(type.dims) == len(shape) and known


def flatten_arguments(values: Sequence[Any], types: Sequence[Any]) -> list[Any]:
    """The scalars of the arguments; IllTyped if one does not have its type, Trap if an integer needs more than 64 bits."""
    if len(values) != len(types):
        raise IllTyped(takes("the program", len(types), len(values)), rule="enter")
    scalars: list[Any] = []
    todo = list(zip(values, types, strict=True))[::-1]
    while todo:
        value, type = todo.pop()
        match type, value:
            case TupleType(items), tuple() if len(items) == len(value):
                todo += list(zip(value, items, strict=True))[::-1]
            case RecordType(label, items), Record(of, parts) if label == of and len(items) == len(parts):
                todo += list(zip(parts, items, strict=True))[::-1]
            case Scalar("f64"), float():
                scalars.append(value)
            case Scalar("bool"), bool():
                scalars.append(value)
            case Scalar("i64"), int() if not isinstance(value, bool):
                if not -(1 << 63) <= value < 1 << 63:
                    raise error(OVERFLOW, 0)
                scalars.append(value)
            case ArrayType(), Array() if fits(type, value.dtype, value.shape):
                scalars.append(to_numpy(value))
            case Scalar("unit"), None:
                pass
            case _:
                raise IllTyped(f"an argument wants {type}, found {value!r}", rule="enter")
    return scalars


def unflatten(row: Sequence[Any], type: Any) -> Any:
    """The value of a type from its scalars; recursion is bounded by the nesting of the type."""
    value, rest = _take(list(row), type)
    assert not rest, "every scalar belongs to the value"
    return value


def _take(row: list[Any], type: Any) -> tuple[Any, list[Any]]:
    match type:
        case TupleType(items) | RecordType(_, items):
            parts = []
            for item in items:
                part, row = _take(row, item)
                parts.append(part)
            return Record(type.label, tuple(parts)) if isinstance(type, RecordType) else tuple(parts), row
        case Union(members):
            number, row = int(row[0]), row[1:]
            options = []
            for member in members:
                option, row = _take(row, member)
                options.append(option)
            return options[number], row
        case ArrayType(dtype):
            return unboxed(dtype, tuple(row[0].shape), row[0].flatten()), row[1:]
        case Scalar() if type in PYTHON:
            return PYTHON[type](row[0]), row[1:]
        case _:
            return None, row
