"""
Arrays at compile time. `Held` is a variable of the generated code; `Formula` says what each element is, and is computed by the loop
that reads it. A size is a text: a number where it is known, else an expression of the generated code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from semantics.errors import Malformed
from semantics.type_language import BOOLEAN, INTEGER, REAL, ArrayType, Scalar

Sizes = tuple[str, ...]
ONE = "1"
ELEMENTS: dict[str, Scalar] = {"f64": REAL, "i64": INTEGER, "bool": BOOLEAN}
READ = {"f64": "float", "i64": "int", "bool": "bool"}


@dataclass(frozen=True, slots=True)
class Held:
    """The array that a variable holds, or the transpose of one: `name` ends in `.T`."""

    dtype: str
    name: str
    sizes: Sizes

    @property
    def type(self) -> ArrayType:
        return _type(self.dtype, self.sizes)


@dataclass(eq=False, slots=True)
class Formula:
    """
    An array whose elements are computed when they are read.

    element   the scalar at indices, written into a loop
    parts     the arrays that it reads
    cheap     whether to compute an element again costs no more than to read it
    along     whether each element reads elements of `parts` at the same indices
    uses      how many read it
    view      the array of other sizes that has the same elements in the same order, if it is no more than that
    kept      the code in which it has been computed, and the array that holds it there
    """

    dtype: str
    sizes: Sizes
    element: Callable[[Any, Sizes], Any]
    parts: tuple[Any, ...] = ()
    cheap: bool = False
    along: bool = True
    uses: int = 1
    view: Any = None
    kept: tuple[Any, Held] | None = None
    depth: int = field(init=False)

    def __post_init__(self) -> None:
        self.depth = 1 + max((p.depth for p in self.parts if isinstance(p, Formula)), default=0)

    @property
    def type(self) -> ArrayType:
        return _type(self.dtype, self.sizes)


@dataclass(frozen=True, slots=True)
class Scatter:
    """
    An array of ZEROs but for one element in each line along `axes`: that of `sources`, at the place whose number in the line is in
    `numbers`. Both are arrays of the other axes, in order.
    """

    sizes: Sizes
    axes: tuple[int, ...]
    sources: Any
    numbers: Any

    dtype: ClassVar[str] = "f64 with ZERO"

    @property
    def type(self) -> ArrayType:
        return ArrayType("f64", _type("f64", self.sizes).dims, True)


@dataclass(frozen=True, slots=True)
class Places:
    """The numbers of the elements of an array, from 1; with `axes`, these axes made one and put last."""

    sizes: Sizes
    axes: tuple[int, ...] | None = None

    dtype: ClassVar[str] = "places"

    @property
    def type(self) -> ArrayType:
        return ArrayType("i64", (None,) * len(self.sizes))


@dataclass(frozen=True, slots=True)
class Chosen:
    """One place in each line of an array along `axes`: that with the number in `numbers`."""

    sizes: Sizes
    axes: tuple[int, ...]
    numbers: Any

    dtype: ClassVar[str] = "places"

    @property
    def type(self) -> ArrayType:
        return ArrayType("i64", (None,) * (len(self.sizes) - len(self.axes) + 1))


ARRAYS = (Held, Formula, Scatter, Places, Chosen)


def _type(dtype: str, sizes: Sizes) -> ArrayType:
    return ArrayType(dtype, tuple(int(n) if n.isdigit() else None for n in sizes))


def held(type: ArrayType, name: str) -> Held:
    """The array of a type that a variable holds."""
    if type.dtype not in ELEMENTS or type.holes:
        raise uncompiled(f"a value of type {type}")
    return Held(type.dtype, name, tuple(f"{name}.shape[{k}]" if n is None else str(n) for k, n in enumerate(type.dims)))


def uncompiled(what: str) -> Malformed:
    """The refusal of what has no loops yet."""
    return Malformed(f"{what}: not compiled yet", rule="lower", remedy='target="reference", or leave it to the virtual machine')


def aligned(indices: Sizes, sizes: Sizes) -> Sizes:
    """The indices of the element that broadcasting repeats at `indices`."""
    return tuple("0" if n == ONE else i for i, n in zip(indices[len(indices) - len(sizes) :], sizes, strict=True))
