"""
Arrays at compile time. `Held` is a variable of the generated code; `Formula` says what each element is, and is computed by the loop
that reads it. A size is a text: a number where it is known, else an expression of the generated code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, ClassVar

from semantics.errors import Malformed
from semantics.type_language import BOOLEAN, INTEGER, REAL, ArrayType, Scalar

Sizes = tuple[str, ...]
ONE = "1"
ELEMENTS: dict[str, Scalar] = {"f64": REAL, "f32": REAL, "i64": INTEGER, "bool": BOOLEAN}
MADE = {"f64": "_f64", "f32": "_float32", "i64": "_i64", "bool": "_bool"}  # how a dtype is named where an array is made
READ = {"f64": "float", "f32": "float", "i64": "int", "bool": "bool"}


@dataclass(frozen=True, slots=True)
class Held:
    """
    The array that a variable holds, or the transpose of one: `name` ends in `.T`.

    mask   the variable of booleans that tell which elements are there, if others are ZERO
    """

    dtype: str
    name: str
    sizes: Sizes
    mask: str = ""

    @property
    def type(self) -> ArrayType:
        return _type(self.dtype, self.sizes, bool(self.mask))


@dataclass(eq=False, slots=True)
class Formula:
    """
    An array whose elements are computed when they are read.

    element   the scalar at indices, written into a loop
    parts     the arrays that it reads
    cheap     whether to compute an element again costs no more than to read it
    along     whether each element reads elements of `parts` at the same indices
    once      whether it reads elements of `parts` that nothing else reads, each once
    holes     whether an element may be ZERO
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
    holes: bool = False
    uses: int = 1
    view: Any = None
    kept: tuple[Any, Held] | None = None
    once: bool = False
    depth: int = field(init=False)

    def __post_init__(self) -> None:
        self.depth = 1 + max((p.depth for p in self.parts if isinstance(p, Formula)), default=0)

    @property
    def type(self) -> ArrayType:
        return _type(self.dtype, self.sizes, self.holes)


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
        return _type("f64", self.sizes, True)


@dataclass(frozen=True, slots=True)
class Injected:
    """
    An array of ZEROs but for what indices select, no element twice: `parts` are a `Selection` each, with what is there. If there is
    a `test`, arrays among these are there only where it holds.
    """

    of: str
    sizes: Sizes
    parts: tuple[tuple[Any, Any], ...]
    test: str = ""

    dtype: ClassVar[str] = "f64 with ZERO"

    @property
    def type(self) -> ArrayType:
        return _type(self.of, self.sizes, True)


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


@dataclass(frozen=True, slots=True)
class Moved:
    """
    The numbers of the elements of several arrays, or of one, each of which is somewhere, and nothing else.

    where   for the number of an array among these, the indices at which the number of its element at indices is
    parts   the numbers of each of these arrays
    move    from such arrays what is made of them
    """

    sizes: Sizes
    where: dict[int, Callable[[Sizes], Sizes]]
    parts: list[Any]
    move: Callable[[list[Any]], Any]

    dtype: ClassVar[str] = "places"

    @property
    def type(self) -> ArrayType:
        return _type("i64", self.sizes)

    def made(self) -> Any:
        """The array of numbers."""
        return self.move(self.parts)


ARRAYS = (Held, Formula, Scatter, Injected, Places, Chosen, Moved)


def _type(dtype: str, sizes: Sizes, holes: bool = False) -> ArrayType:
    return ArrayType(dtype, tuple(int(n) if n.isdigit() else None for n in sizes), holes)


def held(type: ArrayType, name: str, mask: str = "") -> Held:
    """The array of a type that a variable holds."""
    sizes = tuple(f"{name}.shape[{k}]" if n is None else str(n) for k, n in enumerate(type.dims))
    return Held(type.dtype, name, sizes, mask)


def as_type(value: Any, type: ArrayType) -> Any:
    """The array, with the sizes that its type knows; one whose elements may be ZERO, if the type says so."""
    if not isinstance(value, (Held, Formula)):
        return value
    known = tuple(n if m is None or n.isdigit() else str(m) for n, m in zip(value.sizes, type.dims, strict=True))
    if isinstance(value, Held) and known != value.sizes:
        value = replace(value, sizes=known)
    elif isinstance(value, Formula):
        value.sizes = known
    if type.holes and not value.type.holes:
        return Formula(value.dtype, known, lambda emit, at: emit.at(value, at), (value,), cheap=True, holes=True)
    return value


def either(test: str, a: Held, b: Held) -> Held:
    """One of two arrays of one dtype and rank."""

    def one(x: str, y: str) -> str:
        return x if x == y else f"({x} if {test} else {y})"

    return Held(a.dtype, one(a.name, b.name), tuple(map(one, a.sizes, b.sizes)), a.mask and one(a.mask, b.mask))


def uncompiled(what: str) -> Malformed:
    """The refusal of what has no loops yet."""
    return Malformed(f"{what}: not compiled yet", rule="lower", remedy='target="reference", or leave it to the virtual machine')


def row_major(indices: Sizes, sizes: Sizes) -> str:
    """The number of an element, from 0, in row-major order."""
    text = ""
    for k, n in zip(indices, sizes, strict=True):
        text = f"({text} * {n} + {k})" if text else k
    return text or "0"


def plus(a: str, b: str) -> str:
    """a + b, of sizes or places: of a number and a size less a number, the size less their difference."""
    if a.isdigit() and b.isdigit():
        return str(int(a) + int(b))
    for one, other in ((a, b), (b, a)):
        found = LESS.fullmatch(other)
        if found is not None and one.isdigit() and int(one) <= int(found[2]):
            return less(found[1], int(found[2]) - int(one))
    return a if b == "0" else b if a == "0" else f"{a} + {b}"


def product(sizes: Iterable[str]) -> str:
    """How many elements there are, as text: the sizes that the run knows, and one number for those that are known before it."""
    sizes = tuple(sizes)
    number = prod(int(n) for n in sizes if n.isdigit())
    names = [n for n in sizes if not n.isdigit()]
    return " * ".join([*names, str(number)] if number != 1 or not names else names)


LESS = re.compile(r"\(([\w.]+(?:\[\d+\])?) - (\d+)\)")
"""A size less a number."""


def less(n: str, count: int) -> str:
    """A size less a number that it is not less than."""
    if n.isdigit() or count == 0:
        return str(int(n) - count) if count else n
    if (found := LESS.fullmatch(n)) is not None:
        return f"({found[1]} - {int(found[2]) + count})"
    return f"({n} - {count})"


def is_size(text: str) -> bool:
    """Whether a text is a number, a name, a size of an array, or one of these less a number: as short as a name for it."""
    return LESS.fullmatch(f"({text} - 0)") is not None or LESS.fullmatch(text) is not None


@dataclass(eq=False, slots=True)
class Numbered(Formula):
    """The numbers of the elements of an array, in row-major order, from `first`; `leaf` is its own among all that are numbered."""

    first: str = "0"
    leaf: int = 0


def numbered(sizes: Sizes, first: str, leaf: int = 0) -> Formula:
    """The numbers of the elements of an array, in row-major order."""

    def element(emit: Any, at: Sizes) -> Any:
        return emit.integer(plus(row_major(at, sizes), first))

    return Numbered("i64", sizes, element, cheap=True, first=first, leaf=leaf)


def place(indices: Sizes) -> str:
    """What stands in the brackets."""
    return ", ".join(indices) or "()"


def aligned(indices: Sizes, sizes: Sizes) -> Sizes:
    """The indices of the element that broadcasting repeats at `indices`."""
    return tuple("0" if n == ONE else i for i, n in zip(indices[len(indices) - len(sizes) :], sizes, strict=True))
