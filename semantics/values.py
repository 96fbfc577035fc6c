"""
What programs compute with, and when two of them are the same.

    real, integer, boolean   Python's float (f64), int (mathematical) and bool
    unit                     None
    tuple                    Python's tuple, of any values
    array                    `Array`: dtype, shape and elements
    record                   `Record`: a labelled tuple; a NamedTuple, dataclass, list, or dictionary
    slice, ...               `Slice` and ELLIPSIS, which index arrays and sequences
    closure                  a graph and the values of its free variables, in order
    primitive                a row of the primitive table
    memory, pointer          `Memory`, the token of a store; `Pointer`, a place in it
    Unbound(x)               the local variable x before it is assigned; using it traps, as in Python

Equality domains (DESIGN, section 6): BITS tells every two bit patterns apart but NaN payloads; IEEE is BITS with one NaN, which
Python floats already are; so the two differ only on tensors of NaN payloads, and BITS is what scalars use.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from semantics.arrays import Array
from semantics.memory import Cells, Memory, ordered
from semantics.structured import Record, Slice
from semantics.tangents import Sparse, SparseArray, dense


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A graph with the values of its free variables, in the order of `free_variables`. Compared by `same`."""

    graph: int
    captured: tuple[Any, ...]
    name: str = ""

    def __repr__(self) -> str:
        inside = f" with {len(self.captured)} captured" if self.captured else ""
        return f"<closure @{self.name or self.graph}{inside}>"


@dataclass(frozen=True, slots=True)
class Unbound:
    """The value of a local variable that this path did not assign."""

    name: str

    def __repr__(self) -> str:
        return f"unbound({self.name})"


def bits(x: float) -> int:
    """The 64 bits of a double as an integer; every NaN gives the same one."""
    if math.isnan(x):
        return 0x7FF8000000000000
    return int.from_bytes(struct.pack(">d", x), "big")


def atom(value: Any) -> Any:
    """A hashable key: equal for two atoms exactly when they are the same value in BITS. 1, 1.0 and True all differ."""
    if isinstance(value, float):
        return ("f64", bits(value))
    if isinstance(value, (bool, int, str)):
        return (type(value).__name__, value)
    if isinstance(value, (tuple, Array, Record)):
        return tuple(flatten(value))
    if isinstance(value, Slice):
        return ("slice", value.start, value.stop, value.step)
    return value


def flatten(value: Any) -> Iterator[tuple[str, Any]]:
    """The value as a stream of tokens, without recursion: two values are the same when their streams are."""
    todo = [value]
    while todo:
        top = todo.pop()
        match top:
            case Sparse() | SparseArray():
                todo.append(dense(top))
            case tuple():
                yield ("tuple", len(top))
                todo.extend(reversed(top))
            case Array(dtype, shape, items):
                yield ("array", (dtype, shape))
                todo.extend(reversed(items))
            case Record(label, items):
                yield ("record", (label, len(items)))
                todo.extend(reversed(items))
            case Memory() | Cells():
                yield ("memory", tuple(address for address, _ in ordered(top)))
                todo.extend(reversed([content for _, content in ordered(top)]))
            case Closure(graph, captured):
                yield ("closure", (graph, len(captured)))
                todo.extend(reversed(captured))
            case _:
                yield ("atom", atom(top))


def over_leaves(function: Callable[[Any], Any], value: Any) -> Any:
    """The value with every leaf of its tuples, records and arrays replaced. An explicit stack."""
    if not isinstance(value, (tuple, Record, Array)):
        return function(value)
    built: list[Any] = []
    todo: list[tuple[Any, int]] = [(value, -1)]
    while todo:
        top, gather = todo.pop()
        if gather >= 0:
            parts = tuple(built[len(built) - gather :])
            del built[len(built) - gather :]
            built.append(Record(top.label, parts) if isinstance(top, Record) else parts)
        elif isinstance(top, Array):
            built.append(top.with_items(map(function, top.items)))
        elif isinstance(top, (tuple, Record)):
            items = top.items if isinstance(top, Record) else top
            todo.append((top, len(items)))
            todo.extend((item, -1) for item in reversed(items))
        else:
            built.append(function(top))
    return built[0]


def same(a: Any, b: Any) -> bool:
    """Equality in BITS: same structure, same bits in every real, one NaN. Signed zeros differ."""
    return all(x == y for x, y in zip_longest(flatten(a), flatten(b)))


def ulp_distance(a: float, b: float) -> float:
    """The number of doubles from a to b, in ulp; 0 for the same bits or two NaNs, infinite if one is NaN."""
    if math.isnan(a) or math.isnan(b):
        return 0.0 if math.isnan(a) and math.isnan(b) else math.inf
    return float(abs(_ordered(a) - _ordered(b)))


def _ordered(x: float) -> int:
    """Doubles in order as consecutive integers; both zeros are 0."""
    pattern = bits(x)
    return pattern if pattern < 1 << 63 else (1 << 63) - pattern
