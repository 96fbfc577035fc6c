"""
Rows that move elements about, at symbolic sizes: each says which element of the operand stands at given indices of the result.
Here those that order axes anew or read in row-major order; `index_along` has those that move along an axis.

What is moved may be an array of reals, one of indices, or the places of elements (`Places`), which is how backpropagators find the
way back. A piece is one such element and the conditions under which it is the one; the pieces of a row exclude each other. A piece
with bound indices stands for the one choice of these that meets the conditions: reshaping matches places in row-major order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from checkers.smt import index_form as forms
from checkers.smt.index_factors import Form, NotReachedError
from checkers.smt.index_places import Condition, Dim, Index, Lookup, Place, condition, dim_of, extent, flat, plus, times
from checkers.smt.index_values import Indexed, Run, SizeOf, as_array, common_shape, sizes_of
from semantics.arrays import normal_axes, normal_axis


@dataclass(frozen=True, slots=True)
class Piece:
    """An element of an operand, where the conditions hold for the one choice of the bound indices that meets them."""

    indices: tuple[Index, ...]
    conditions: tuple[Condition, ...] = ()
    bound: tuple[tuple[str, Dim], ...] = ()
    leaf: int = 0


@dataclass(frozen=True, slots=True)
class Places:
    """An array of places of elements: for given indices, the pieces that may stand there."""

    shape: tuple[Dim, ...]
    at: Callable[[tuple[Index, ...]], tuple[Piece, ...]]


@dataclass(frozen=True, slots=True)
class Integers:
    """An array of indices; `distinct` if no two of its elements are known to be the same by the program."""

    shape: tuple[Dim, ...]
    at: Callable[[tuple[Index, ...]], Index]
    distinct: bool = False


Source = Callable[[tuple[Index, ...]], Sequence[Piece]]


def met(*terms: tuple[str, Index]) -> tuple[Condition, ...] | None:
    """The conditions that are not plainly true; None if one is plainly false."""
    found = [condition(kind, term) for kind, term in terms]
    return None if False in found else tuple(c for c in found if isinstance(c, Condition))


def piece(indices: Sequence[Index], *terms: tuple[str, Index], bound: tuple[tuple[str, Dim], ...] = ()) -> list[Piece]:
    """One piece; none where its conditions are plainly false."""
    conditions = met(*terms)
    return [] if conditions is None else [Piece(tuple(indices), conditions, bound)]


def guarded(form: Form, found: Piece) -> Form:
    """The form where the piece is the one, summed over its bound indices."""
    for c in found.conditions:
        form = forms.multiply(form, forms.holds(c.kind, c.place))
    for index, n in found.bound:
        form = forms.summed(form, index, n)
    return form


def moved(x: Any, shape: tuple[Dim, ...], source: Source) -> Any:
    """The array of `shape` with the pieces of x that `source` names."""
    if isinstance(x, Places):
        return Places(shape, lambda at: tuple(_after(p, inner) for p in source(at) for inner in x.at(p.indices)))
    if isinstance(x, Integers):
        return Integers(shape, lambda at: x.at(_only(source(at)).indices), x.distinct)
    a = as_array(x)
    return Indexed(a.dtype, shape, lambda at: forms.add(*(guarded(a.at(p.indices), p) for p in source(at))))


def _after(outer: Piece, inner: Piece) -> Piece:
    return Piece(inner.indices, (*outer.conditions, *inner.conditions), (*outer.bound, *inner.bound), inner.leaf)


def _only(pieces: Sequence[Piece]) -> Piece:
    if len(pieces) != 1 or pieces[0].conditions or pieces[0].bound:
        raise NotReachedError("indices that depend on where they stand")
    return pieces[0]


def shape_of(x: Any) -> tuple[Dim, ...]:
    """The sizes of what is moved."""
    return x.shape if isinstance(x, (Places, Integers)) else as_array(x).shape


def last(n: Dim) -> Index:
    """n - 1"""
    return plus(extent(n), 1, -1)


def dim_plus(*dims: Dim) -> Dim:
    """The sum of sizes."""
    found: Index = 0
    for n in dims:
        found = plus(found, extent(n))
    return dim_of(found)


def product_of(dims: Sequence[Dim]) -> Dim:
    """The product of sizes."""
    found: Index = 1
    for n in dims:
        found = times(found, extent(n))
    return dim_of(found)


def index_term(x: Any) -> Index:
    """A whole number as an index term."""
    if isinstance(x, Integers) and x.shape == ():
        return x.at(())
    if type(x) is int or isinstance(x, (Lookup, Place)):
        return x
    raise NotReachedError(f"{type(x).__name__} as an index")


def dim_of_length(term: Index) -> Dim:
    """A term as the size of an axis; one that an index is part of is not said."""
    try:
        return dim_of(term)
    except ValueError:
        raise NotReachedError("a size that depends on an index") from None


# the order of axes


def transpose(x: Any, axes: Any) -> Any:
    """Axis k of the result is axis axes[k] of x; reversed for None."""
    shape = shape_of(x)
    rank = len(shape)
    if axes is not None and not isinstance(axes, tuple):
        raise NotReachedError("axes that are no tuple")
    order = tuple(reversed(range(rank))) if axes is None else tuple(normal_axis(i, rank, "transpose") for i in axes)
    if sorted(order) != list(range(rank)):
        raise NotReachedError("axes that are no permutation")
    return moved(x, tuple(shape[i] for i in order), lambda at: piece([at[order.index(i)] for i in range(rank)]))


def swap_last(x: Any) -> Any:
    """The last two axes in each other's place."""
    rank = len(shape_of(x))
    return transpose(x, (*range(rank - 2), rank - 1, rank - 2))


def expand_dims(x: Any, axis: Any) -> Any:
    """Axes of size 1 at the named places of the result."""
    shape = shape_of(x)
    rank = len(shape) + (len(axis) if isinstance(axis, tuple) else 1)
    new = normal_axes(axis, rank, "expand_dims")
    sizes = iter(shape)
    wide = tuple(1 if i in new else next(sizes) for i in range(rank))
    return moved(x, wide, lambda at: piece([i for k, i in enumerate(at) if k not in new]))


def squeeze(x: Any, axis: Any) -> Any:
    """Without the named axes, which have size 1."""
    shape = shape_of(x)
    gone = normal_axes(axis, len(shape), "squeeze")
    if axis is None or any(shape[k] != 1 for k in gone):
        raise NotReachedError("which sizes are 1 is not known")
    return moved(x, tuple(n for k, n in enumerate(shape) if k not in gone), lambda at: piece(_with_zeros(at, shape, gone)))


def _with_zeros(at: Sequence[Index], shape: Sequence[Dim], gone: Sequence[int]) -> list[Index]:
    rest = iter(at)
    return [0 if k in gone else next(rest) for k in range(len(shape))]


def broadcast_to(x: Any, shape: Any) -> Any:
    """x repeated to the shape."""
    own, to = shape_of(x), sizes_of(shape)
    if len(to) < len(own) or common_shape([own, to]) != to:
        raise NotReachedError("a shape that is not known to fit")
    return moved(x, to, lambda at: piece([0 if n == 1 else i for i, n in zip(at[len(at) - len(own) :], own, strict=True)]))


# row-major order


def reshape(run: Run, x: Any, shape: Any) -> Any:
    """The same elements in row-major order. Axes of size 1 and equal axes at both ends are matched one by one, others by place."""
    own, to = shape_of(x), _resolved(shape_of(x), shape)
    if 0 in own or 0 in to:
        raise NotReachedError("a reshaped array that is empty")
    old = [k for k, n in enumerate(own) if n != 1]
    new = [k for k, n in enumerate(to) if n != 1]
    front = _common([own[k] for k in old], [to[k] for k in new])
    back = _common([own[k] for k in old[front:][::-1]], [to[k] for k in new[front:][::-1]])
    inner = (old[front : len(old) - back], new[front : len(new) - back])
    if product_of([own[k] for k in inner[0]]) != product_of([to[k] for k in inner[1]]):
        raise NotReachedError("a reshape to a size that is not known to be the same")
    paired = [*zip(old[:front], new[:front], strict=True), *zip(old[len(old) - back :], new[len(new) - back :], strict=True)]

    def source(at: tuple[Index, ...]) -> list[Piece]:
        indices: list[Index] = [0] * len(own)
        for k, j in paired:
            indices[k] = at[j]
        bound = tuple((run.name(), own[k]) for k in inner[0])
        for k, (name, _) in zip(inner[0], bound, strict=True):
            indices[k] = name
        if not bound:
            return piece(indices)
        here = flat(tuple(name for name, _ in bound), tuple(n for _, n in bound))
        there = flat(tuple(at[k] for k in inner[1]), tuple(to[k] for k in inner[1]))
        return piece(indices, ("eq", plus(here, there, -1)), bound=bound)

    return moved(x, to, source)


def _common(a: Sequence[Dim], b: Sequence[Dim]) -> int:
    """How many sizes agree from the front."""
    return next((k for k, (n, m) in enumerate(zip(a, b, strict=False)) if n != m), min(len(a), len(b)))


def _resolved(own: tuple[Dim, ...], shape: Any) -> tuple[Dim, ...]:
    """The shape, where one size may be -1."""
    wanted = shape if isinstance(shape, tuple) else (shape,)
    if -1 not in wanted:
        return sizes_of(wanted)
    known = list(sizes_of(tuple(n for n in wanted if n != -1)))
    left = [n for n in own if n != 1]
    for n in known:
        if n != 1 and n not in left:
            raise NotReachedError("a size -1 that is not known")
        left.remove(n) if n != 1 else None
    at = wanted.index(-1)
    return (*known[:at], product_of(left), *known[at:])


def grouped(run: Run, x: Any, axis: Any) -> Any:
    """What `axis` names moved to one last axis, in row-major order."""
    shape = shape_of(x)
    gone = sorted(normal_axes(axis, len(shape), "grouped"))
    kept = [k for k in range(len(shape)) if k not in gone]
    turned = transpose(x, (*kept, *gone))
    to = (*(shape[k] for k in kept), product_of([shape[k] for k in gone]))
    return reshape(run, turned, tuple(SizeOf(n) if not isinstance(n, int) else n for n in to))
