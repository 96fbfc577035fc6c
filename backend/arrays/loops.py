"""
Loops over the elements of a shape, and when a formula is computed.

A loop computes the formulas that it reads, so a chain of elementwise rows is one loop, without arrays between. A formula that is
read more than once, and is not cheap, is written down by the first loop that goes over just its elements; before any other loop
that reads it, it has one of its own. One that is read in parts alone, each element in one of them, is computed in these.

Which turns may be taken in any order is said where a loop is opened. On a GPU the threads of a block share them (`backend.cuda`);
elsewhere the names of `shares` are all `range`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from backend.arrays.assigning import Assigning
from backend.arrays.shares import shares
from backend.arrays.values import (
    ARRAYS,
    ELEMENTS,
    MADE,
    ONE,
    READ,
    Formula,
    Held,
    Sizes,
    aligned,
    place,
    uncompiled,
)
from backend.lowering.conversion import select
from backend.lowering.shape import ZERO_VALUE, Items, Nothing, Reg, Sum
from semantics.type_language import REAL, ArrayType


@dataclass(eq=False)
class Loop:
    """
    Loops that are open: the shape that they go over, and the index of each axis.

    around   the code that they are in              known    the elements that have been computed at this place
    before   lines that stand before the loops      written  the formulas that they write down
    """

    sizes: Sizes
    indices: Sizes
    around: list[Any]
    before: list[str] = field(default_factory=list)
    known: dict[Any, Reg] = field(default_factory=dict)
    written: list[tuple[Formula, Held]] = field(default_factory=list)


class Loops(Assigning):
    """What the emitter knows of arrays. `line`, `trap`, `variable`, `held` and `code` are the emitter's."""

    def __init__(self) -> None:
        super().__init__()
        self.fast = False  # whether sums may be in any order, and products BLAS's
        self.loop: Loop | None = None
        self.origin: dict[str, str] = {}

    # loops

    @contextmanager
    def over(self, sizes: Sizes, free: Iterable[int] | None) -> Iterator[Sizes]:
        """
        Loops over a shape, in row-major order; what is written meanwhile is their body.

        `free` are the axes whose turns may be taken in any order, each writing elements of its own. Without any, the loops compute
        numbers, which every thread has. None is for loops that write elements in their order: one thread takes them.
        """
        indices = tuple("0" if n == ONE else f"k{self.fresh_number()}" for n in sizes)  # type: ignore[attr-defined]
        around, outer, body = self.code, self.loop, []  # type: ignore[var-annotated]
        if outer is None:
            self.loop = Loop(sizes, indices, around)
        else:
            self.loop = Loop(
                outer.sizes + sizes, outer.indices + indices, outer.around, outer.before, dict(outer.known), outer.written
            )
        self.code = body
        try:
            yield indices
        finally:
            loop, self.loop, self.code = self.loop, outer, around
        nest = [(index, size, k) for k, (index, size) in enumerate(zip(indices, sizes, strict=True)) if index != "0"]
        if outer is None and not nest:
            nest = [(f"k{self.fresh_number()}", ONE, next(iter(free or ()), -1))]  # type: ignore[attr-defined]
        names = ["range"] * len(nest) if outer is not None else shares([k for _, _, k in nest], free)
        for (index, size, _), name in reversed(list(zip(nest, names, strict=True))):
            body = [f"for {index} in {name}({size}):", body]
        around += [*(loop.before if outer is None else ()), *body]
        if outer is None:
            for formula, array in loop.written:
                formula.kept = around, array

    def each(self, sizes: Sizes) -> AbstractContextManager[Sizes]:
        """Loops that write elements of their own; none over a shape without axes."""
        return self.over(sizes, range(len(sizes))) if sizes else nullcontext(())

    def new(self, dtype: str, sizes: Sizes, fill: str = "", mask: str = "") -> Held:
        """
        An array of its own, before the outermost loop; with a mask, if it is said what that begins with, or "_" for nothing yet.
        """
        name = self.variable(ArrayType(dtype, (None,) * len(sizes)))  # type: ignore[attr-defined]
        shape = f"({', '.join(sizes)}{',' * (len(sizes) == 1)})"
        text = f"{name} = _full({shape}, {fill}, {MADE[dtype]})" if fill else f"{name} = _empty({shape}, {MADE[dtype]})"
        if self.loop is None:
            self.line(text)  # type: ignore[attr-defined]
        else:
            self.loop.before.append(text)
        self.origin[name] = name
        return Held(dtype, name, sizes, self.new("bool", sizes, mask.strip("_")).name if mask else "")

    def assigned(self, name: Any, value: Any) -> None:
        """A variable that is assigned once has an array: what holds of that, holds of it."""
        if isinstance(name, Held) and isinstance(value, Held):
            for a, b in zip(value.sizes, name.sizes, strict=True):
                self.unified(a, b)
            if value.name in self.origin:
                self.origin[name.name] = self.origin[value.name]
        elif isinstance(name, Items) and isinstance(value, Items):
            for part, of in zip(name.items, value.items, strict=True):
                self.assigned(part, of)

    # elements

    def number_at(self, value: Any, indices: Sizes) -> Any:
        """An element, in variables."""
        with self.over((), ()):
            found = self.noted(self.element(value, indices))
        return found

    def prepared(self, value: Any, sizes: Sizes) -> None:
        """What a loop over a shape had better not compute is computed: what it would compute more than once for an element."""
        if not isinstance(value, Formula) or self.kept(value):
            return
        if value.sizes != sizes and (not value.cheap or (value.along and value.parts and _is_repeated(value.sizes, sizes))):
            self.held(value)  # type: ignore[attr-defined]
            return
        self.prepared_parts(value, sizes if value.view is not None else value.sizes)

    def prepared_parts(self, formula: Formula, sizes: Sizes) -> None:
        """The same of what a formula reads, in a loop over a shape."""
        for part in formula.parts:
            along = formula.along or formula.view is not None
            self.prepared(part, part.sizes if formula.once else sizes if along else ("",))

    def kept(self, formula: Formula) -> Held | None:
        """The array that holds the formula, if there is one here."""
        if formula.kept is None:
            return None
        here = self.code if self.loop is None else self.loop.around
        return formula.kept[1] if formula.kept[0] is here else None

    def element(self, value: Any, indices: Sizes) -> Any:
        """The element at indices; of a scalar, itself."""
        match value:
            case Held(dtype, name):
                if name.endswith(".T"):
                    name, indices = name.removesuffix(".T"), tuple(reversed(indices))
                found = Reg(f"{READ[dtype]}({name}[{place(indices)}])", ELEMENTS[dtype])
                if not value.mask:
                    return found
                return replace(select(f"{value.mask}[{place(indices)}]", found, ZERO_VALUE), neutral=found.type == REAL)
            case Formula():
                return self._of_formula(value, indices)
            case Reg() | Nothing() | Sum():
                return value
            case _:
                raise uncompiled(f"an element of {type(value).__name__.lower()}")

    def at(self, value: Any, indices: Sizes) -> Any:
        """The element that broadcasting repeats at indices."""
        return self.element(value, aligned(indices, value.sizes) if isinstance(value, ARRAYS) else indices)

    def _of_formula(self, formula: Formula, indices: Sizes) -> Any:
        if array := self.kept(formula):
            return self.element(array, indices)
        loop = self.loop
        if loop is None:
            return formula.element(self, indices)
        if (found := loop.known.get((formula, indices))) is not None:
            return found
        found = formula.element(self, indices)
        if formula.uses > 1 and not formula.cheap and (formula.sizes, indices) == (loop.sizes, loop.indices):
            array = self.new(formula.dtype, formula.sizes, mask="_" * formula.holes)
            self.write(array, indices, found)
            loop.written.append((formula, array))
        loop.known[formula, indices] = found
        return found


def _is_repeated(sizes: Sizes, whole: Sizes) -> bool:
    """Whether a loop over the whole computes elements of these sizes again and again."""
    return len(wide(sizes)) < len(wide(whole))


def wide(sizes: Sizes) -> Sizes:
    """The sizes but for ones."""
    return tuple(n for n in sizes if n != ONE)
