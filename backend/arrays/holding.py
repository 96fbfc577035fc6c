"""
Arrays in memory: when a formula is written down, and what has the same elements in another shape.

Two values of which one is chosen, and what a function gives, are held: in arrays in row-major order, the latter in arrays that
nobody else has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from backend.arrays.injected import written
from backend.arrays.loops import Loops, wide
from backend.arrays.neutral import NEUTRAL
from backend.arrays.scatter import scattered
from backend.arrays.values import (
    ARRAYS,
    ELEMENTS,
    ONE,
    Formula,
    Held,
    Injected,
    Moved,
    Places,
    Scatter,
    Sizes,
    as_type,
    numbered,
    uncompiled,
)
from backend.lowering.shape import Fn, Items, Sum, options, typed
from semantics.type_language import ArrayType
from semantics.type_lattice import join

DEPTH = 40  # of formulas in formulas: deeper ones are computed


class Holding(Loops):
    """What the emitter knows of arrays in memory. `line`, `variable` and `copied` are the emitter's."""

    def held(self, value: Any) -> Any:
        """The value with every array in memory."""
        match value:
            case Formula():
                return self.kept(value) or self._computed(value)
            case Scatter() if self.loop is None:
                return scattered(self, self.new("f64", value.sizes, NEUTRAL, "False"), value, first=True)
            case Injected() if self.loop is None:
                return written(self, value)
            case Moved():
                return self.held(value.made())
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
        self.prepared_parts(formula, formula.sizes)
        array = self.new(formula.dtype, formula.sizes, mask="_" * formula.holes)
        formula.uses, uses = 1, formula.uses
        with self.over(formula.sizes, range(len(formula.sizes))) as indices:
            self.write(array, indices, self.element(formula, indices))
        formula.uses, formula.kept = uses, (self.code, array)
        return array

    def formula(self, *arguments: Any, **options: Any) -> Any:
        """A formula; held at once if it is deep. Refused where its elements would be those of an array with ZERO in it."""
        made = Formula(*arguments, **options)
        if made.dtype not in ELEMENTS:
            raise uncompiled(f"moving an array of {made.dtype}")
        return self.held(made) if made.depth > DEPTH else made

    def fresh(self, value: Any, holes: bool = False) -> Held:
        """An array of its own with these elements."""
        if isinstance(value, Held) and not value.name.endswith(".T"):
            return self.copied(value, holes or value.type.holes)
        whole = as_type(value, replace(value.type, holes=holes or value.type.holes))
        return self._computed(
            Formula(whole.dtype, whole.sizes, lambda emit, at: emit.at(whole, at), (whole,), holes=whole.type.holes)
        )

    def contiguous(self, value: Any) -> Any:
        """The value held, each array in row-major order."""
        found = self.held(value)
        if isinstance(found, Held) and found.name.endswith(".T"):
            return self.fresh(found)
        return _of_parts(self.contiguous, found)

    def alike(self, a: Any, b: Any) -> tuple[Any, Any]:
        """Two values of which one is to be chosen: in memory, arrays at one type."""
        if isinstance(a, ARRAYS) and isinstance(b, ARRAYS):
            type = join(typed(a), typed(b))
            if isinstance(type, ArrayType):
                a, b = as_type(a, type), as_type(b, type)
        return self.contiguous(a), self.contiguous(b)

    def without(self, value: Any, axes: Iterable[int]) -> Any:
        """The array without axes of size 1; the number, if no axis is left."""
        sizes = tuple(n for k, n in enumerate(value.sizes) if k not in axes)
        if sizes or value.dtype == "f32":
            return self.reshaped(value, sizes)
        return self.number_at(self.held(value), ("0",) * len(value.sizes))

    def reshaped(self, value: Any, sizes: Sizes) -> Any:
        """The same elements in the same order, in an array of other sizes."""
        before, after = tuple(map(self.same, value.sizes)), tuple(map(self.same, sizes))
        if before == after:
            return value
        if isinstance(value, (Formula, Held)) and wide(before) == wide(after):
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
