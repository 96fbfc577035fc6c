"""
Attributes: arguments that are not differentiated, such as axes, flags, shifts and indices; and other values for them.

    axis, dim    each axis from both ends, all of them, the last with the first
    flags        both ways
    integers     their neighbours, 0, ±1, the opposite, one beyond the number of elements
    tuples       reversed, and counted from the end
    indices      reversed, all equal, counted from the end; masks inverted, all true, all false

Which of these a function takes, whoever calls it finds out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from checkers.array_audit.case import Arguments, is_real
from checkers.array_audit.shapes import arrays_in

AXES = ("axis", "axes", "dim", "dims")
"""What parameters are called that name axes."""


def is_attribute(value: Any) -> bool:
    """Whether no real is in it."""
    if isinstance(value, (tuple, list)):
        return all(map(is_attribute, value))
    return not is_real(value)


def attributes(arguments: Arguments) -> tuple[int, ...]:
    """The positions of the attributes."""
    return tuple(i for i, value in enumerate(arguments) if is_attribute(value))


def alternatives(arguments: Arguments, i: int, name: str) -> tuple[Any, ...]:
    """Other values for the attribute at position i; none for strings and whatever else has no neighbours."""
    value = arguments[i]
    shapes = [array.shape for _, array in arrays_in(arguments) if array.dtype.kind == "f"]
    rank = max(map(len, shapes), default=0)
    match value:
        case bool() | np.bool_():
            found: tuple[Any, ...] = (not value,)
        case None | int() | np.integer() | tuple() if name in AXES and not _mixed(value):
            found = (*range(-rank, rank), None, *(((rank - 1, 0),) if rank > 1 else ()))
        case int() | np.integer():
            beyond = max((n for shape in shapes for n in shape), default=1) + 1
            found = tuple(dict.fromkeys(int(v) for v in (value - 1, value + 1, -value, 0, 1, -1, beyond)))
        case None:
            found = (0, -1)
        case tuple() if value and not _mixed(value):
            found = (value[::-1], tuple(v - rank for v in value))
        case np.ndarray() if value.dtype.kind == "i" and value.size:
            found = tuple(_indices(value, shapes))
        case np.ndarray() if value.dtype.kind == "b":
            found = (~value, np.ones_like(value), np.zeros_like(value))
        case _:
            found = ()
    return tuple(v for v in found if not _same(v, value))


def _indices(value: Any, shapes: Sequence[tuple[int, ...]]) -> Iterator[Any]:
    yield np.full_like(value, value.flat[0])
    yield np.full_like(value, value.flat[value.size - 1])
    yield value[::-1].copy() if value.ndim else value
    for n in sorted({n for shape in shapes for n in shape if n > value.max(initial=0)}):
        counted = value.copy()
        counted.flat[::2] -= n
        yield counted
        yield value - n


def _mixed(value: Any) -> bool:
    return isinstance(value, tuple) and not all(isinstance(v, (int, np.integer)) and not isinstance(v, bool) for v in value)


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and bool(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b)


def swept(samples: Sequence[Arguments], parameters: Sequence[str]) -> Iterator[tuple[str, Arguments]]:
    """
    The samples with other attributes, and which: each alone, then axes together with flags.

    A sample like one before it, but for the values of its reals, is not swept again.
    """
    seen: set[str] = set()
    for sample in samples:
        places = attributes(sample)
        others = {i: alternatives(sample, i, parameters[i]) for i in places}
        for i in places:
            for value in others[i]:
                yield from _unseen(_changed(sample, {i: value}, parameters), seen)
        flags = [i for i in places if isinstance(sample[i], (bool, np.bool_))]
        axes = [i for i in places if parameters[i] in AXES]
        for i, j in product(axes, flags):
            for value in others[i]:
                yield from _unseen(_changed(sample, {i: value, j: not sample[j]}, parameters), seen)


def _changed(sample: Arguments, new: dict[int, Any], parameters: Sequence[str]) -> tuple[str, Arguments]:
    note = ", ".join(f"{parameters[i]}={_shown(value)}" for i, value in new.items())
    return note, tuple(new.get(i, value) for i, value in enumerate(sample))


def _shown(value: Any) -> str:
    return str(value.tolist()) if isinstance(value, np.ndarray) else repr(value)


def _unseen(changed: tuple[str, Arguments], seen: set[str]) -> Iterator[tuple[str, Arguments]]:
    shapes = [(path, array.shape) for path, array in arrays_in(changed[1])]
    key = f"{shapes} {[(i, _shown(changed[1][i])) for i in attributes(changed[1])]}"
    if key not in seen:
        seen.add(key)
        yield changed
