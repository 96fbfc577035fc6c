"""
Rows that move elements along an axis, at symbolic sizes: backwards, around, by a distance, one array after another, onto diagonals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from checkers.smt import index_form as forms
from checkers.smt.index_factors import Form, NotReachedError
from checkers.smt.index_movement import (
    Integers,
    Piece,
    Places,
    dim_of_length,
    dim_plus,
    expand_dims,
    index_term,
    last,
    moved,
    piece,
    reshape,
    shape_of,
)
from checkers.smt.index_places import Dim, Index, extent, plus, times
from checkers.smt.index_values import Indexed, Run, SizeOf
from semantics.arrays import normal_axes, normal_axis


def flip(x: Any, axis: Any) -> Any:
    """Element i is x[n - 1 - i] along the named axes."""
    shape = shape_of(x)
    axes = normal_axes(axis, len(shape), "flip")
    return moved(x, shape, lambda at: piece([plus(last(shape[k]), i, -1) if k in axes else i for k, i in enumerate(at)]))


def _along(x: Any, axis: Any, terms: Callable[[Index, Dim], Iterator[tuple[Index, tuple[tuple[str, Index], ...]]]]) -> Any:
    """The pieces along one axis: other indices stay."""
    shape = shape_of(x)
    k = normal_axis(axis, len(shape), "axis")

    def source(at: tuple[Index, ...]) -> list[Piece]:
        return [p for i, conditions in terms(at[k], shape[k]) for p in piece([*at[:k], i, *at[k + 1 :]], *conditions)]

    return moved(x, shape, source)


def roll(run: Run, x: Any, by: Any, axis: Any) -> Any:
    """Element i is x[i - by], or x[i - by + n] where that is negative; by at least 0 and below n."""
    shape = shape_of(x)
    if axis is None:
        turned = roll(run, reshape(run, x, (-1,)), by, 0)
        return reshape(run, turned, tuple(SizeOf(n) if not isinstance(n, int) else n for n in shape))
    for a, b in zip(axis, by, strict=True) if isinstance(axis, tuple) else [(axis, by)]:
        distance = index_term(b)
        if isinstance(distance, int) and distance:
            raise NotReachedError("a distance that is not known to be below the size")

        def terms(i: Index, n: Dim, by: Index = distance) -> Iterator[tuple[Index, tuple[tuple[str, Index], ...]]]:
            before = plus(i, by, -1)
            yield before, (("ge", before),)
            yield plus(before, extent(n)), (("ge", plus(-1, before, -1)),)

        x = _along(x, a, terms)
    return x


def shift(run: Run, x: Any, by: Any, axis: Any, fill: Any) -> Any:
    """Element i is x[i - by], and `fill` where there is none."""
    if axis is None:
        x, axis = reshape(run, x, (-1,)), 0
    distance = index_term(by)

    def inside(i: Index, n: Dim) -> tuple[Index, tuple[tuple[str, Index], ...]]:
        before = plus(i, distance, -1)
        return before, (("ge", before), ("ge", plus(last(n), before, -1)))

    found = _along(x, axis, lambda i, n: iter([inside(i, n)]))
    if fill == 0 or not isinstance(found, Indexed):
        return found
    k = normal_axis(axis, len(found.shape), "shift")

    def filled(at: tuple[Index, ...]) -> Form:
        there = forms.constant(1)
        for kind, term in inside(at[k], found.shape[k])[1]:
            there = forms.multiply(there, forms.holds(kind, term))
        return forms.add(found.at(at), forms.constant(fill), forms.scaled(there, -fill))

    return Indexed(found.dtype, found.shape, filled)


def concatenate(run: Run, arrays: Any, axis: Any) -> Any:
    """Along the axis, each array after those before it."""
    if not isinstance(arrays, tuple) or not arrays:
        raise NotReachedError("a concatenation of what is not written out")
    parts = [reshape(run, p, (-1,)) for p in arrays] if axis is None else list(arrays)
    shapes = [shape_of(p) for p in parts]
    k = normal_axis(0 if axis is None else axis, len(shapes[0]), "concatenate")
    if any((*s[:k], *s[k + 1 :]) != (*shapes[0][:k], *shapes[0][k + 1 :]) for s in shapes):
        raise NotReachedError("arrays whose other sizes are not known to be the same")
    whole = (*shapes[0][:k], dim_plus(*(s[k] for s in shapes)), *shapes[0][k + 1 :])
    placed = []
    for number, part in enumerate(parts):
        start = extent(dim_plus(*(s[k] for s in shapes[:number])))

        def source(at: tuple[Index, ...], start: Index = start, n: Dim = shapes[number][k]) -> list[Piece]:
            own = plus(at[k], start, -1)
            return piece([*at[:k], own, *at[k + 1 :]], ("ge", own), ("ge", plus(last(n), own, -1)))

        placed.append(moved(part, whole, source))
    if all(isinstance(p, Places) for p in placed):
        return Places(whole, lambda at: tuple(found for p in placed for found in p.at(at)))
    if any(isinstance(p, (Places, Integers)) for p in placed):
        raise NotReachedError("a concatenation of indices")
    dtypes = {p.dtype for p in placed}
    return Indexed("f64" if "f64" in dtypes else min(dtypes), whole, lambda at: forms.add(*(p.at(at) for p in placed)))


def stack(run: Run, arrays: Any, axis: Any) -> Any:
    """A new axis that numbers the arrays."""
    if not isinstance(arrays, tuple) or not arrays:
        raise NotReachedError("a stack of what is not written out")
    k = normal_axis(axis, len(shape_of(arrays[0])) + 1, "stack")
    return concatenate(run, tuple(expand_dims(p, k) for p in arrays), k)


# matrices


def diag(x: Any, k: Any) -> Any:
    """Of a vector the matrix with it on diagonal k; of a square matrix its diagonal k."""
    shape, by = shape_of(x), index_term(k)
    if isinstance(by, int):
        below, right = max(-by, 0), max(by, 0)
    else:
        below, right = 0, by  # type: ignore[assignment]  # an index is not negative
    if len(shape) == 1:
        n = dim_of_length(plus(plus(extent(shape[0]), below), right))

        def source(at: tuple[Index, ...]) -> list[Piece]:
            own = plus(at[0], below, -1)
            apart = plus(plus(plus(at[1], right, -1), at[0], -1), below)
            return piece([own], ("eq", apart), ("ge", own), ("ge", plus(last(shape[0]), own, -1)))

        return moved(x, (n, n), source)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise NotReachedError("a diagonal of what is not known to be square")
    length = dim_of_length(plus(plus(extent(shape[0]), below, -1), right, -1))
    return moved(x, (length,), lambda at: piece([plus(at[0], below), plus(at[0], right)]))


def triangle(sign: int) -> Callable[[Any, Any], Any]:
    """tril (sign 1) keeps j - i ≤ k, triu (sign -1) keeps j - i ≥ k."""

    def cell(x: Any, k: Any) -> Any:
        by = index_term(k)
        return moved(x, shape_of(x), lambda at: piece(at, ("ge", times(sign, plus(plus(by, at[-1], -1), at[-2])))))

    return cell
