"""
The elements of an array as NumPy holds them: Python's objects are made of them when somebody asks for one.

Compiled code takes arrays and gives them back without looking at an element; the reference's rows see a sequence like any other.
The elements are a copy, so nobody can change them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from semantics.arrays import Array

FEW = 64
"""Elements that are boxed at once: a tuple of so few costs less than a copy that knows how."""


class Unboxed(Sequence[Any]):
    """Elements in row-major order: a vector of doubles, integers or booleans, and from the first question on a tuple."""

    __slots__ = ("source", "tuple")

    def __init__(self, source: np.ndarray[Any, Any]) -> None:
        self.source = source
        self.tuple: tuple[Any, ...] | None = None

    @property
    def boxed(self) -> tuple[Any, ...]:
        """The elements as objects of Python."""
        if self.tuple is None:
            self.tuple = tuple(self.source.tolist())
        return self.tuple

    def __len__(self) -> int:
        return len(self.source)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.boxed)

    def __getitem__(self, place: Any) -> Any:
        return self.boxed[place]

    def __contains__(self, value: object) -> bool:
        """What is no number, as a symbolic ZERO, is none of them: so these need not be made into objects."""
        return isinstance(value, (int, float)) and value in self.boxed

    def __add__(self, other: Any) -> tuple[Any, ...]:
        return self.boxed + tuple(other)

    def __radd__(self, other: Any) -> tuple[Any, ...]:
        return tuple(other) + self.boxed

    def __eq__(self, other: object) -> bool:
        return self.boxed == (other.boxed if isinstance(other, Unboxed) else other)

    def __hash__(self) -> int:
        return hash(self.boxed)


def unboxed(dtype: str, shape: tuple[int, ...], flat: np.ndarray[Any, Any]) -> Array:
    """The array of these elements, which are its own from now on."""
    items: Any = Unboxed(flat) if len(flat) > FEW else tuple(flat.tolist())
    return Array(dtype, shape, items)


def source_of(array: Array) -> np.ndarray[Any, Any] | None:
    """The elements as NumPy holds them, where it does."""
    return array.items.source if isinstance(array.items, Unboxed) else None


def boxed(value: Any) -> Any:
    """The same array with a tuple of elements, which one goes through faster; any other value as it is."""
    return (
        Array(value.dtype, value.shape, value.items.boxed)
        if isinstance(value, Array) and isinstance(value.items, Unboxed)
        else value
    )
