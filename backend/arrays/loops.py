"""
Loops over the elements of a shape, and when a formula is computed.

A loop computes the formulas that it reads, so a chain of elementwise rows is one loop, without arrays between. A formula that is
read more than once, and is not cheap, is written down by the first loop that goes over just its elements; before any other loop
that reads it, it has one of its own.

Which turns may be taken in any order is said where a loop is opened. On a GPU the threads of a block share them (`backend.cuda`);
elsewhere the names of `shares` are all `range`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from backend.arrays.assigning import Assigning
from backend.arrays.injected import written
from backend.arrays.neutral import NEUTRAL
from backend.arrays.scatter import scattered
from backend.arrays.shares import shares
from backend.arrays.values import (
    ARRAYS,
    ELEMENTS,
    MADE,
    ONE,
    READ,
    Formula,
    Held,
    Injected,
    Places,
    Scatter,
    Sizes,
    aligned,
    as_type,
    numbered,
    place,
    uncompiled,
)
from backend.shape import ZERO_VALUE, Fn, Items, Nothing, Reg, Sum, options, select, typed
from semantics.type_language import REAL, ArrayType
from semantics.type_lattice import join

DEPTH = 40  # of formulas in formulas: deeper ones are computed


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
    """What the emitter knows of arrays. `line`, `trap`, `variable` and `code` are the emitter's."""

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

    def fresh(self, value: Any, holes: bool = False) -> Held:
        """An array of its own with these elements."""
        if isinstance(value, Held) and not value.name.endswith(".T"):
            return self.copied(value, holes or value.type.holes)
        whole = as_type(value, replace(value.type, holes=holes or value.type.holes))
        return self._computed(
            Formula(whole.dtype, whole.sizes, lambda emit, at: emit.at(whole, at), (whole,), holes=whole.type.holes)
        )

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

    def without(self, value: Any, axes: Iterable[int]) -> Any:
        """The array without axes of size 1; the number, if no axis is left."""
        sizes = tuple(n for k, n in enumerate(value.sizes) if k not in axes)
        if sizes or value.dtype == "f32":
            return self.reshaped(value, sizes)
        return self.number_at(self.held(value), ("0",) * len(value.sizes))

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
            self.held(value)
            return
        for part in value.parts:
            self.prepared(part, sizes if value.view is not None else value.sizes if value.along else ("",))

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

    def held(self, value: Any) -> Any:
        """The value with every array in memory."""
        match value:
            case Formula():
                return self.kept(value) or self._computed(value)
            case Scatter() if self.loop is None:
                return scattered(self, self.new("f64", value.sizes, NEUTRAL, "False"), value, first=True)
            case Injected() if self.loop is None:
                return written(self, value)
            case Places(axes=None):
                return self.held(numbered(value.sizes, ONE))
            case _ if isinstance(value, ARRAYS) and not isinstance(value, Held):
                raise uncompiled(f"{type(value).__name__.lower()} as an array")
            case _:
                return _of_parts(self.held, value)

    def _computed(self, formula: Formula) -> Held:
        """The formula in an array, by loops of its own."""
        if self.loop is not None:
            raise uncompiled("an array that is computed inside a loop over another")
        if formula.view is not None:
            viewed = self._view(self.contiguous(formula.view), formula.sizes)
            formula.kept = self.code, viewed
            return viewed
        for part in formula.parts:
            self.prepared(part, formula.sizes if formula.along else ("",))
        array = self.new(formula.dtype, formula.sizes, mask="_" * formula.holes)
        formula.uses, uses = 1, formula.uses
        with self.over(formula.sizes, range(len(formula.sizes))) as indices:
            self.write(array, indices, self.element(formula, indices))
        formula.uses, formula.kept = uses, (self.code, array)
        return array

    def alike(self, a: Any, b: Any) -> tuple[Any, Any]:
        """Two values of which one is to be chosen: in memory, arrays at one type."""
        if isinstance(a, ARRAYS) and isinstance(b, ARRAYS):
            type = join(typed(a), typed(b))
            if isinstance(type, ArrayType):
                a, b = as_type(a, type), as_type(b, type)
        return self.contiguous(a), self.contiguous(b)

    def formula(self, *arguments: Any, **options: Any) -> Any:
        """A formula; held at once if it is deep. Refused where its elements would be those of an array with ZERO in it."""
        made = Formula(*arguments, **options)
        if made.dtype not in ELEMENTS:
            raise uncompiled(f"moving an array of {made.dtype}")
        return self.held(made) if made.depth > DEPTH else made

    def contiguous(self, value: Any) -> Any:
        """The value held, each array in row-major order."""
        found = self.held(value)
        if isinstance(found, Held) and found.name.endswith(".T"):
            return self.fresh(found)
        return _of_parts(self.contiguous, found)

    def reshaped(self, value: Any, sizes: Sizes) -> Any:
        """The same elements in the same order, in an array of other sizes."""
        before, after = tuple(map(self.same, value.sizes)), tuple(map(self.same, sizes))
        if before == after:
            return value
        if isinstance(value, (Formula, Held)) and _wide(before) == _wide(after):
            return self.formula(
                value.dtype,
                sizes,
                lambda emit, at: emit.element(value, _replaced(at, after, before)),
                (value,),
                along=False,
                cheap=True,
                holes=value.type.holes,
                view=value,
            )
        return self._view(self.contiguous(value), sizes)

    def _view(self, array: Any, sizes: Sizes) -> Held:
        """An array in row-major order with other sizes."""
        name = self.variable(ArrayType(array.dtype, (None,) * len(sizes)))  # type: ignore[attr-defined]
        if array.name in self.origin:
            self.origin[name] = self.origin[array.name]
        shape = f"({', '.join(sizes)}{',' * (len(sizes) == 1)})"
        self.line(f"{name} = _reshape({array.name}, {shape})")  # type: ignore[attr-defined]
        if array.mask:
            self.line(f"{name}m = _reshape({array.mask}, {shape})")  # type: ignore[attr-defined]
        return Held(array.dtype, name, sizes, f"{name}m" if array.mask else "")

    def counted(self, value: Any, users: int) -> Any:
        """The value, read by so many more; a formula that is there already, by so many less one, through which it came."""
        if isinstance(value, Formula):
            value.uses = max(1, value.uses + users - 1)
            value.sizes = tuple(map(self.same, value.sizes))
        if isinstance(value, Held):
            return replace(value, sizes=tuple(map(self.same, value.sizes)))
        injected = any(isinstance(option, Injected) for _, option in options(value))
        return self.held(value) if injected and users > 1 else value

    def given_out(self, value: Any, given: set[str] | None = None) -> Any:
        """The value with arrays that nobody else has: neither an argument, nor what is given out already."""
        given = set() if given is None else given
        array = self.contiguous(value)
        if not isinstance(array, Held):
            return _of_parts(lambda part: self.given_out(part, given), array)
        origin = self.origin.get(array.name)
        if origin is not None and origin not in given:
            given.add(origin)
            return array
        return self.fresh(array)


def _is_repeated(sizes: Sizes, whole: Sizes) -> bool:
    """Whether a loop over the whole computes elements of these sizes again and again."""
    return len(_wide(sizes)) < len(_wide(whole))


def _wide(sizes: Sizes) -> Sizes:
    """The sizes but for ones."""
    return tuple(n for n in sizes if n != ONE)


def _replaced(indices: Sizes, sizes: Sizes, others: Sizes) -> Sizes:
    """The indices into an array of other sizes, which differ by ones."""
    rest = (i for i, n in zip(indices, sizes, strict=True) if n != ONE)
    return tuple("0" if n == ONE else next(rest) for n in others)


def _of_parts(change: Callable[[Any], Any], value: Any) -> Any:
    """The value with each of its parts changed."""
    match value:
        case Items(parts):
            return replace(value, items=tuple(map(change, parts)))
        case Fn(function, parts):
            return Fn(function, tuple(map(change, parts)))
        case Sum(type, tests, parts):
            return Sum(type, tests, tuple(map(change, parts)))
        case _:
            return value
