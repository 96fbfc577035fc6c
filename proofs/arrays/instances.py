"""
Kinds of arguments of array rows: arrays whose sizes are symbols, indices, attributes; as index forms, and at given sizes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from checkers.smt.index_movement import Integers
from checkers.smt.index_places import Dim, Extent, Index, Lookup, Place, extent
from checkers.smt.index_values import SizeOf, array, number
from semantics.arrays import Array, size_of


@dataclass(frozen=True, slots=True)
class A:
    """An array of reals (or of booleans) of these sizes."""

    shape: tuple[Dim, ...]
    dtype: str = "f64"

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


@dataclass(frozen=True, slots=True)
class Number:
    """A real."""

    def __str__(self) -> str:
        return "f64"


@dataclass(frozen=True, slots=True)
class Indices:
    """An array of indices, or without sizes one index, each at least 0 and below a size."""

    name: str
    shape: tuple[Dim, ...]
    below: Dim

    def __str__(self) -> str:
        sizes = f"[{', '.join(map(str, self.shape))}]" if self.shape else ""
        return f"{self.name}{sizes} below {self.below}"


@dataclass(frozen=True, slots=True)
class Sizes:
    """An attribute that is a shape made of sizes."""

    shape: tuple[Dim, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.shape))})"


Example = tuple[Any, ...]


def symbolic(argument: Any, name: str) -> Any:
    """An argument as an index form."""
    match argument:
        case A(shape, dtype):
            return array(name, dtype, shape)
        case Number():
            return number(name)
        case Indices(label, shape, below):
            return Integers(shape, lambda at: Lookup(label, tuple(at), extent(below)))
        case Sizes(shape):
            return tuple(n if isinstance(n, int) else SizeOf(n) for n in shape)
        case tuple():
            return tuple(symbolic(a, f"{name}.{k}") for k, a in enumerate(argument))
        case _:
            return argument


def parameters(argument: Any, name: str) -> Iterator[tuple[str, Any, tuple[int, ...]]]:
    """The arrays and numbers of reals in an argument: the name, the argument, and where it is among the parts of a tuple."""
    if isinstance(argument, tuple):
        for k, a in enumerate(argument):
            yield from ((n, p, (k, *path)) for n, p, path in parameters(a, f"{name}.{k}"))
    elif isinstance(argument, Number) or (isinstance(argument, A) and argument.dtype == "f64"):
        yield name, argument, ()


def names_of_sizes(example: Any) -> set[str]:
    """The symbols among the sizes."""
    match example:
        case tuple():
            return {n for part in example for n in names_of_sizes(part)}
        case A(shape, _) | Sizes(shape):
            return {n for d in shape for n in _symbols(d)}
        case Indices(_, shape, below):
            return {n for d in (*shape, below) for n in _symbols(d)}
        case _:
            return set()


def _symbols(dim: Dim) -> Iterator[str]:
    if isinstance(dim, str):
        yield dim
    elif isinstance(dim, Place):
        yield from (a.name for atoms, _ in dim.terms for a in atoms if isinstance(a, Extent))


def sized(dim: Dim | Index, sizes: dict[str, int]) -> int:
    """A size as a number."""
    if isinstance(dim, str):
        return sizes[dim]
    if isinstance(dim, Place):
        total = 0
        for atoms, c in dim.terms:
            for atom in atoms:
                assert isinstance(atom, Extent)
                c *= sizes[atom.name]
            total += c
        return total
    assert isinstance(dim, int)
    return dim


def concrete(argument: Any, sizes: dict[str, int], numbers: Iterator[Any]) -> Any:
    """An argument at given sizes; `numbers` are its reals."""
    match argument:
        case A(shape, dtype):
            known = tuple(sized(n, sizes) for n in shape)
            items = [next(numbers) for _ in range(size_of(known))]
            return Array(dtype, known, tuple(x > 0 for x in items) if dtype == "bool" else tuple(items))
        case Number():
            return next(numbers)
        case Indices(_, shape, below):
            known, top = tuple(sized(n, sizes) for n in shape), sized(below, sizes)
            found = tuple((2 * k * k + 1) % top for k in range(size_of(known)))
            return Array("i64", known, found) if shape else found[0]
        case Sizes(shape):
            return tuple(sized(n, sizes) for n in shape)
        case tuple():
            return tuple(concrete(a, sizes, numbers) for a in argument)
        case _:
            return argument
