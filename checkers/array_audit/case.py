"""
One application of a function on arrays, and the reals in it that vary.

    arguments   what forward takes: arrays of NumPy, numbers, and attributes (axes, shapes, flags); tuples of these
    leaves      the arrays of floats and the Python floats among them, each with its path; these are differentiated
    coordinates all elements of all leaves, in order and row-major: a direction is a vector of them, a Jacobian has a column each

The value of a function has leaves too, and its Jacobian a row for each of their elements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

Arguments: TypeAlias = tuple[Any, ...]
Path: TypeAlias = tuple[int, ...]
Values: TypeAlias = Sequence[Any] | np.ndarray[Any, Any]
Vector: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float64]]
ORIGINS = ("sample", "shape", "layout", "attribute", "random", "edge", "tie", "shrunk")


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """
    Arguments, and the value there.

    origin  where the case comes from, one of ORIGINS        note  what is special about it, such as "Fortran order"
    fixed   positions of arguments that are attributes, whatever they hold
    """

    arguments: Arguments
    value: Any
    origin: str = "sample"
    note: str = ""
    fixed: frozenset[int] = frozenset()

    @property
    def size(self) -> int:
        """How many coordinates vary."""
        return sum(np.size(leaf) for _, leaf in leaves(self.arguments, self.fixed))

    @property
    def outputs(self) -> int:
        """How many reals the value has."""
        return sum(np.size(leaf) for _, leaf in leaves((self.value,)))

    @property
    def coordinates(self) -> Vector:
        """The reals that vary, one after the other."""
        return flat([leaf for _, leaf in leaves(self.arguments, self.fixed)])

    def at(self, coordinates: Values) -> Arguments:
        """The arguments with these reals in place of their own: of the same dtype, or objects where the new ones are objects."""
        return unflat(self.arguments, coordinates, self.fixed)

    def with_value(self, arguments: Arguments, value: Any, origin: str = "shrunk", note: str = "") -> Case:
        """Another application of the same function."""
        return replace(self, arguments=arguments, value=value, origin=origin, note=note)


def is_real(value: Any) -> bool:
    """Whether a value is a leaf: an array of floats, or a float."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "f"
    return isinstance(value, (float, np.floating))


def leaves(arguments: Arguments, fixed: frozenset[int] = frozenset()) -> tuple[tuple[Path, Any], ...]:
    """The leaves with their paths, in order; none below an argument that is fixed."""
    found: list[tuple[Path, Any]] = []
    todo: list[tuple[Path, Any]] = [((i,), value) for i, value in enumerate(arguments) if i not in fixed]
    todo.reverse()
    while todo:
        path, value = todo.pop()
        if isinstance(value, (tuple, list)):
            todo.extend(((*path, i), item) for i, item in reversed(list(enumerate(value))))
        elif is_real(value):
            found.append((path, value))
    return tuple(found)


def replaced(arguments: Arguments, new: Mapping[Path, Any]) -> Arguments:
    """The arguments with other values at these paths."""

    def at(path: Path, value: Any) -> Any:
        if path in new:
            return new[path]
        if isinstance(value, (tuple, list)):
            return type(value)(at((*path, i), item) for i, item in enumerate(value))
        return value

    return tuple(at((i,), value) for i, value in enumerate(arguments))


def flat(values: Sequence[Any]) -> Vector:
    """The elements of arrays and numbers, one after the other, as doubles."""
    parts = [np.asarray(value, dtype=np.float64).ravel() for value in values]
    return np.concatenate(parts) if parts else np.zeros(0)


def unflat(arguments: Arguments, coordinates: Values, fixed: frozenset[int] = frozenset()) -> Arguments:
    """
    The arguments with the coordinates put into their leaves, in order.

    Doubles are put into arrays of the dtype and the memory order that were there; other objects (balls, fractions) into arrays of
    objects, and a leaf that is a number becomes the object itself.
    """
    vector = np.asarray(coordinates)
    new: dict[Path, Any] = {}
    start = 0
    for path, leaf in leaves(arguments, fixed):
        part = vector[start : start + np.size(leaf)]
        start += np.size(leaf)
        if not isinstance(leaf, np.ndarray):
            new[path] = part[0] if vector.dtype == object else type(leaf)(part[0])
        elif vector.dtype == object:
            new[path] = part.reshape(leaf.shape)
        else:
            new[path] = np.empty_like(leaf, subok=False)
            new[path][...] = part.reshape(leaf.shape)
    return replaced(arguments, new)


def unit(size: int, k: int) -> Vector:
    """The direction of coordinate k."""
    direction = np.zeros(size)
    direction[k] = 1.0
    return direction


def named(case: Case, parameters: Sequence[str], k: int) -> str:
    """Coordinate k as users write it: `x[0, 2]`, `xs[1][3]`, or `x`."""
    for path, leaf in leaves(case.arguments, case.fixed):
        if k < np.size(leaf):
            where = "".join(f"[{i}]" for i in path[1:])
            index = ", ".join(map(str, np.unravel_index(k, np.shape(leaf)))) if np.ndim(leaf) else ""
            return f"{parameters[path[0]]}{where}" + (f"[{index}]" if index else "")
        k -= np.size(leaf)
    raise IndexError(k)
