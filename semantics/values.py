"""
What programs compute with, and when two of them are the same.

    real, integer, boolean   Python's float (f64), int (mathematical) and bool
    unit                     None
    tuple                    Python's tuple, of any values
    closure                  a graph and the values of its free variables, in order
    primitive                a row of the primitive table
    Unbound(x)               the local variable x before it is assigned; using it traps, as in Python

Equality domains (DESIGN, section 6): BITS tells every two bit patterns apart but NaN payloads; IEEE is BITS with one NaN, which
Python floats already are; so the two differ only on tensors of NaN payloads, and BITS is what scalars use.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from semantics.tangents import Sparse, dense


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
    return value


def flatten(value: Any) -> Iterator[tuple[str, Any]]:
    """The value as a stream of tokens, without recursion: two values are the same when their streams are."""
    todo = [value]
    while todo:
        top = todo.pop()
        match top:
            case Sparse():
                todo.append(dense(top))
            case tuple():
                yield ("tuple", len(top))
                todo.extend(reversed(top))
            case Closure(graph, captured):
                yield ("closure", (graph, len(captured)))
                todo.extend(reversed(captured))
            case _:
                yield ("atom", atom(top))


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
