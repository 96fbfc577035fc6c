"""
The values that array programs of symbolic shapes compute with, read as index forms.

    an array     its sizes, and a form for the entry at given indices      a real     a form
    a size       a name, or a known integer                                attributes  themselves
    an array of unknown rank, which only `reshape` reads
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from checkers.smt import index_form as forms
from checkers.smt.index_factors import Factor, Form, NotReachedError, occurs
from checkers.smt.index_places import Dim, Index, Place
from semantics.arrays import FLOATING


@dataclass(frozen=True, slots=True)
class Indexed:
    """An array: its sizes, and its entry at given indices."""

    dtype: str
    shape: tuple[Dim, ...]
    at: Callable[[tuple[Index, ...]], Form]


@dataclass(frozen=True, slots=True)
class View:
    """An array of any shape, known as an array in another shape: its name, and its own shape by a name."""

    dtype: str
    base: str
    shape: Any


@dataclass(frozen=True, slots=True)
class Opaque:
    """An attribute, or a shape, of which only its name is known."""

    name: str


@dataclass(frozen=True, slots=True)
class SizeOf:
    """A size with a name, or a polynomial of such sizes, as a number."""

    name: str | Place


@dataclass(frozen=True, slots=True)
class Need:
    """A condition on forms for all indices within `sizes`, if none of the `idle` sizes, over which nothing varies, is 0."""

    what: str
    arguments: tuple[Form, ...]
    sizes: tuple[Dim, ...]
    idle: frozenset[Dim]


def implied(need: Need, by: Need) -> bool:
    """Whether one need follows from another: the same condition, idle over no less."""
    same = (need.arguments, need.sizes) == (by.arguments, by.sizes) and by.idle <= need.idle
    return same and (need.what == by.what or (need.what == "nonzero" and by.what in ("log", "log2", "log10")))


@dataclass(slots=True)
class Run:
    """One reading: what the program needed, how many names it has made, and whether it has only moved entries."""

    needs: set[Need] = field(default_factory=set)
    made: int = 0
    moves_only: bool = True

    def name(self) -> str:
        """An index that occurs nowhere else."""
        self.made += 1
        return f"t{self.made}"

    def need(self, what: str, arguments: Sequence[Form], indices: Sequence[Index], shape: Sequence[Dim]) -> None:
        """Notes a condition for all indices within a shape."""
        used = [k for k, i in enumerate(indices) if any(occurs(i, f) for f in arguments)]
        names: dict[Index, Index] = {indices[k]: f"n{place}" for place, k in enumerate(used)}
        renamed = tuple(forms.rename(f, names) for f in arguments)
        idle = frozenset(n for k, n in enumerate(shape) if k not in used and not (isinstance(n, int) and n > 0))
        self.needs.add(Need(what, renamed, tuple(shape[k] for k in used), idle))


def array(name: str, dtype: str, shape: tuple[Dim, ...]) -> Indexed:
    """An array that is given."""
    # the only index of an axis of size 1 is 0
    return Indexed(
        dtype,
        shape,
        lambda at: forms.single(Factor("entry", name, tuple(0 if n == 1 else i for i, n in zip(at, shape, strict=True)))),
    )


def number(name: str) -> Form:
    """A real that is given."""
    return forms.single(Factor("entry", name))


def as_form(x: Any) -> Form:
    """A scalar as a form."""
    match x:
        case Form():
            return x
        case bool():
            raise NotReachedError("a boolean as a number")
        case int() | Fraction():
            return forms.constant(x)
        case SizeOf(name):
            return forms.size(name)
        case Indexed(_, ()):
            return x.at(())
        case _:
            raise NotReachedError(f"{type(x).__name__} as a number")


def as_array(x: Any) -> Indexed:
    """An operand as an array; a scalar is one without axes."""
    if isinstance(x, Indexed):
        return x
    form = as_form(x)
    return Indexed("f64", (), lambda _: form)


def as_floating(x: Any) -> Indexed:
    found = as_array(x)
    if found.dtype not in FLOATING:
        raise NotReachedError(f"arithmetic on {found.dtype}")
    return found


def common_shape(shapes: Sequence[tuple[Dim, ...]]) -> tuple[Dim, ...]:
    """The common shape: sizes are the same, or known to be 1. That two names stand for one size is not known."""
    rank = max(map(len, shapes))
    result: list[Dim] = []
    for sizes in zip(*((1,) * (rank - len(s)) + s for s in shapes), strict=True):
        wide = {n for n in sizes if n != 1}
        if len(wide) > 1:
            raise NotReachedError(f"the sizes {' and '.join(map(str, sorted(wide, key=str)))} are not known to be the same")
        result.append(wide.pop() if wide else 1)
    return tuple(result)


def entry_of(x: Indexed, at: tuple[Index, ...]) -> Form:
    """The entry of an operand that is repeated along the axes it lacks or has of size 1."""
    own = at[len(at) - len(x.shape) :]
    return x.at(tuple(0 if n == 1 else i for i, n in zip(own, x.shape, strict=True)))


def sizes_of(shape: Any) -> tuple[Dim, ...]:
    found = shape if isinstance(shape, tuple) else (shape,)
    if not all(isinstance(n, SizeOf) or (type(n) is int and n >= 0) for n in found):
        raise NotReachedError("a shape that is not made of sizes")
    return tuple(n.name if isinstance(n, SizeOf) else n for n in found)
