"""
Values and their sensitivities, part by part, over the terms of z3: which reals a value has, and what a sensitivity says of each.

    reals(value)            the reals in a value, in order
    entries(d, value)       what the sensitivity d of the value says of each of them: 0 where it is ZERO
    sensitivities(value)    sensitivities with a variable for every real, in every representation

The recursion is over examples, which are a few levels deep.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import z3
from immutables import Map

from semantics.arrays import FLOATING, Array
from semantics.memory import Cells, Memory, contents
from semantics.structured import Record
from semantics.tangents import ZERO, Sparse, SparseArray


class WrongStructureError(Exception):
    """A cotangent that has not the structure of its argument."""


NOTHING = Memory(0, 0, Map())


def parts(value: Any) -> Mapping[int, Any] | None:
    """The parts of a value or of a sensitivity by their places; None if it has none."""
    match value:
        case tuple():
            return dict(enumerate(value))
        case Record():
            return dict(enumerate(value.items))
        case Array():
            return dict(enumerate(value.items)) if value.dtype in FLOATING else None
        case Sparse() | SparseArray() | Cells():
            return value.entries
        case Memory():
            return contents(value)
        case _:
            return None


def length(value: Any) -> int | None:
    """How many parts a tuple, a record or a sensitivity of one has; None of what has no length."""
    match value:
        case tuple():
            return len(value)
        case Record() | Array():
            return len(value.items)
        case Sparse():
            return value.size
        case _:
            return None


def is_real(value: Any) -> bool:
    return z3.is_arith(value) and bool(value.is_real())


def reals(value: Any) -> list[Any]:
    """The reals in a value, in order."""
    inside = parts(value)
    if inside is None:
        return [value] if is_real(value) or isinstance(value, float) else []
    return [x for place in sorted(inside) for x in reals(inside[place])]


def entries(d: Any, value: Any) -> list[Any]:
    """
    The entries of a sensitivity for each of `reals(value)`: 0 where it is ZERO. WrongStructureError if it is of another value.

    Of ZERO, on which nothing depends, any sensitivity will do.
    """
    if value is ZERO:
        return []
    inside = parts(value)
    if d is ZERO:
        return [0] * len(reals(value))
    if inside is None:
        if reals(value):
            if parts(d) is not None or d is None:
                raise WrongStructureError(f"{d!r} for a real")
            return [d]
        if d is not None:
            raise WrongStructureError(f"{d!r} for {value!r}, which has no sensitivity")
        return []
    found = parts(d)
    if found is None or (None not in (length(d), length(value)) and length(d) != length(value)):
        raise WrongStructureError(f"{d!r} for {value!r}")
    if isinstance(value, Memory) and not set(found) <= set(inside):
        raise WrongStructureError(f"{d!r} for cells that are not there")
    return [x for place in sorted(inside) for x in entries(found.get(place, ZERO), inside[place])]


def written_out(value: Any, names: Iterator[str], memory: Memory) -> Any:
    """
    A sensitivity of a value with a variable for every real.

    Where a part of the value is ZERO, so that nothing depends on it, its sensitivity need not be: it has a variable there too.
    """
    match value:
        case tuple() | Record():
            return tuple(written_out(x, names, memory) for x in (value.items if isinstance(value, Record) else value))
        case Array() if value.dtype in FLOATING:
            return value.with_items(z3.Real(next(names)) for _ in value.items)
        case Memory():
            return Cells(Map({a: written_out(x, names, memory) for a, x in value.cells.items()}))
        case Cells():
            whole = value.entries.update(memory.cells)
            return Cells(Map({a: written_out(x, names, memory) for a, x in whole.items()}))
        case Sparse():
            return tuple(written_out(value[i], names, memory) for i in range(value.size))
        case _:
            return z3.Real(next(names)) if is_real(value) or value is ZERO else ZERO


def sensitivities(value: Any, memory: Memory = NOTHING) -> list[Any]:
    """
    Sensitivities of a value in every representation: ZERO, written out, and of a sequence sparse, with one part and with all.

    `memory` is one that the sensitivity of a memory is of: it may speak of any of its cells.
    """
    if not reals(value) and not isinstance(value, (Sparse, Cells)):
        return [ZERO]
    whole = written_out(value, (f"d{k}" for k in itertools.count()), memory)
    found = [ZERO, whole]
    if isinstance(whole, tuple) and whole:
        found += [Sparse(len(whole), Map({i: x})) for i, x in enumerate(whole)] + [Sparse(len(whole), Map(enumerate(whole)))]
    return found


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """The value with a function of each of its reals."""
    match value:
        case tuple():
            return tuple(mapped(function, x) for x in value)
        case Record():
            return Record(value.label, tuple(mapped(function, x) for x in value.items))
        case Array() if value.dtype in FLOATING:
            return value.with_items(mapped(function, x) for x in value.items)
        case Memory():
            return Memory(value.home, value.next, Map({a: mapped(function, x) for a, x in value.cells.items()}))
        case Cells():
            return Cells(Map({a: mapped(function, x) for a, x in value.entries.items()}))
        case Sparse():
            return Sparse(value.size, Map({i: mapped(function, x) for i, x in value.entries.items()}))
        case _:
            return function(value) if is_real(value) else value
