"""
Values of many samples as one value, whose leaves are columns: what is one scalar or array of each sample, along a new first axis.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from semantics.arrays import Array
from semantics.errors import IllTyped, Trap
from semantics.structured import Record
from semantics.tangents import ZERO
from semantics.type_language import UNIT, RecordType, TupleType
from transforms.array_rows import to_numpy

REMEDY = "call the function on each sample, or give all results one structure, shape and dtype"


def over_type(type: Any, columns: Iterator[Any]) -> Any:
    """The value of a type whose leaves are the columns, in order; recursion is bounded by the nesting of the type."""
    match type:
        case RecordType(label, items):
            return Record(label, tuple([over_type(t, columns) for t in items]))
        case TupleType(items):
            return tuple([over_type(t, columns) for t in items])
        case _:
            return None if type == UNIT else next(columns)


def beyond(value: Any) -> Trap | None:
    """The Trap, if an integer in a value needs more than 64 bits: no column has it. An explicit stack, since values nest."""
    todo = [value]
    while todo:
        top = todo.pop()
        if isinstance(top, tuple):
            todo += top
        elif isinstance(top, Record):
            todo += top.items
        elif type(top) is int and not -(1 << 63) <= top < 1 << 63:
            return Trap("an integer in a result needs more than 64 bits", rule="vmap", remedy="return a real")
    return None


def stacked(values: Sequence[Any], missing: Collection[int]) -> Any:
    """
    The values as one, with not a number, 0 or False for those that are missing; None if all are.

    IllTyped if they differ in structure, shape or dtype, or are functions. No integer needs more than 64 bits.
    """
    there = [v for k, v in enumerate(values) if k not in missing]
    if not there:
        return None
    absent = np.zeros(len(values), np.bool_)
    absent[list(missing)] = True
    return _stacked(there, absent)


def _stacked(values: list[Any], absent: Any) -> Any:
    """The same for the values that are there; recursion is bounded by the nesting of a value."""
    first = values[0]
    if isinstance(first, tuple):
        _demand(all(type(v) is tuple and len(v) == len(first) for v in values), "tuples of other lengths")
        return tuple(_stacked([v[i] for v in values], absent) for i in range(len(first)))
    if isinstance(first, Record):
        _demand(all(isinstance(v, Record) and v.label == first.label for v in values), "records of other classes, or other lengths")
        _demand(all(len(v.items) == len(first.items) for v in values), "sequences of other lengths")
        return Record(first.label, tuple(_stacked([v.items[i] for v in values], absent) for i in range(len(first.items))))
    if first is None:
        _demand(all(v is None for v in values), "None and other values")
        return None
    return _column(values, absent)


def _column(values: list[Any], absent: Any) -> Any:
    """Numbers, booleans or arrays, one after another."""
    if isinstance(values[0], Array):
        alike = all(isinstance(v, Array) and v.shape == values[0].shape and v.dtype == values[0].dtype for v in values)
        _demand(alike, "arrays of other shapes or dtypes")
        items = np.stack([to_numpy(v) for v in values])
    else:
        values = [0.0 if v is ZERO else v for v in values]
        kinds = {type(v) for v in values}
        _demand(kinds <= {float} or kinds <= {int} or kinds <= {bool}, " and ".join(sorted(k.__name__ for k in kinds)))
        items = np.array(values, {float: np.float64, int: np.int64, bool: np.bool_}[kinds.pop()])
    column = np.full((absent.size, *items.shape[1:]), np.nan if items.dtype.kind == "f" else 0, items.dtype)
    column[~absent] = items
    return column


def _demand(holds: bool, found: str) -> None:
    if not holds:
        raise IllTyped(f"the results of the samples cannot be put together: {found}", rule="vmap", remedy=REMEDY)
