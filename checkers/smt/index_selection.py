"""
Indexing at symbolic sizes: which element an index selects, and what is written there.

    x[i]     i an integer, a slice, None, `...`, an array of indices, or a tuple of those
    put      x - Σk [s(k) = j] x[j] + Σk [s(k) = j] v[k], for an index s that selects no element twice
    add      x + Σk [s(k) = j] v[k], for every s

Bounds of slices are taken as they stand, so they must lie within the array: a statement for all sizes from them on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from checkers.smt import index_form as forms
from checkers.smt.index_factors import Form, NotReachedError
from checkers.smt.index_movement import Integers, Piece, dim_of_length, index_term, moved, piece, reshape, shape_of
from checkers.smt.index_places import Dim, Index, Lookup, Place, extent, plus, times
from checkers.smt.index_values import Indexed, Run, as_array, common_shape
from semantics.arrays import normal_axis
from semantics.structured import ELLIPSIS, Slice
from semantics.tangents import ZERO

Where = Callable[[tuple[Index, ...]], list[Index]]


def selected(shape: tuple[Dim, ...], index: Any) -> tuple[tuple[Dim, ...], Where, bool]:
    """The shape of what an index selects, where each element of it comes from, and whether none comes twice."""
    parts = _expanded(len(shape), index if type(index) is tuple else (index,))
    advanced = [k for k, p in enumerate(parts) if isinstance(p, (Integers, int, Lookup, Place))]
    arrays = [parts[k] for k in advanced if isinstance(parts[k], Integers) and parts[k].shape]
    common = common_shape([a.shape for a in arrays]) if arrays else ()
    together = advanced == list(range(advanced[0], advanced[-1] + 1)) if advanced else True
    front = 0 if not together else sum(p is None or isinstance(p, Slice) for p in parts[: advanced[0]]) if arrays else 0
    kept: list[Dim] = []
    axis, plans = 0, []
    for part in parts:
        if part is None:
            kept.append(1)
            continue
        if isinstance(part, Slice):
            start, step, count = _range(part, shape[axis])
            plans.append((len(kept), start, step))
            kept.append(count)
        else:
            plans.append((-1, _wrapped(part, shape[axis]), 0))
        axis += 1
    result = (*kept[:front], *common, *kept[front:])

    def where(at: tuple[Index, ...]) -> list[Index]:
        gathered = at[front : front + len(common)]
        own = (*at[:front], *at[front + len(common) :])
        found: list[Index] = []
        for place, start, step in plans:
            if place >= 0:
                found.append(plus(start, times(step, own[place])))
            elif isinstance(start, Integers):
                tail = gathered[len(gathered) - len(start.shape) :]
                found.append(start.at(tuple(0 if n == 1 else i for i, n in zip(tail, start.shape, strict=True))))
            else:
                found.append(start)
        return found

    return result, where, all(a.distinct for a in arrays)


def _expanded(rank: int, given: tuple[Any, ...]) -> list[Any]:
    parts = list(given)
    missing = rank - sum(p is not None and p is not ELLIPSIS for p in parts)
    at = next((k for k, p in enumerate(parts) if p is ELLIPSIS), len(parts))
    parts[at : at + 1] = [Slice()] * missing
    known = all(p is None or type(p) is int or isinstance(p, (Slice, Integers, Lookup, Place)) for p in parts)
    if missing < 0 or not known:
        raise NotReachedError("an index that is not made of integers, slices and arrays of indices")
    return parts


def _wrapped(part: Any, n: Dim) -> Any:
    """An index from the end as one from the front."""
    if type(part) is int and part < 0:
        return plus(extent(n), part)
    return part if isinstance(part, Integers) and part.shape else index_term(part)


def _range(part: Slice, n: Dim) -> tuple[Index, int, Dim]:
    """The first index, the step and the number of the indices that a slice names."""
    step = 1 if part.step is None else part.step
    if type(step) is not int or step == 0:
        raise NotReachedError("a step that is not written out")
    ends = [_wrapped(e, n) if e is not None else None for e in (part.start, part.stop)]
    start = ends[0] if ends[0] is not None else 0 if step > 0 else plus(extent(n), 1, -1)
    stop = ends[1] if ends[1] is not None else extent(n) if step > 0 else -1
    distance = plus(stop, start, -1)
    if abs(step) == 1:
        return start, step, dim_of_length(times(step, distance))
    return start, step, dim_of_length(_steps(distance if step > 0 else times(-1, distance), abs(step)))


def _steps(distance: Index, step: int) -> Index:
    """⌈distance / step⌉, where the step divides what is not known."""
    known, rest = (distance, ()) if isinstance(distance, int) else (0, distance.terms if isinstance(distance, Place) else ())
    found: Index = 0
    for atoms, c in rest:
        if not atoms:
            known = c
        elif c % step:
            raise NotReachedError("a number of steps that is no polynomial of the sizes")
        else:
            found = plus(found, Place(((atoms, c // step),)))
    return plus(found, -(-known // step))


def getitem(x: Any, index: Any) -> Any:
    """x[index]"""
    shape, where, _ = selected(shape_of(x), index)
    found = moved(x, shape, lambda at: piece(where(at)))
    return found.at(()) if isinstance(found, (Indexed, Integers)) and not shape else found


def _written(run: Run, v: Any, shape: tuple[Dim, ...], where: Where, at: tuple[Index, ...]) -> Form:
    """Σk [s(k) = at] v(k)"""
    if v is ZERO:
        return forms.constant(0)
    names = tuple(run.name() for _ in shape)
    form = broadcast_entry(v, shape, names)
    for here, there in zip(where(names), at, strict=True):
        form = forms.multiply(form, forms.holds("eq", plus(here, there, -1)))
    for name, n in zip(names, shape, strict=True):
        form = forms.summed(form, name, n)
    return form


def broadcast_entry(v: Any, shape: tuple[Dim, ...], at: tuple[Index, ...]) -> Form:
    """The entry of v repeated to a shape."""
    a = as_array(v)
    if len(a.shape) > len(shape) or common_shape([a.shape, shape]) != shape:
        raise NotReachedError("a value that is not known to fit")
    return a.at(tuple(0 if n == 1 else i for i, n in zip(at[len(at) - len(a.shape) :], a.shape, strict=True)))


def put(run: Run, t: Any, index: Any, v: Any) -> Indexed:
    """t with v written at the index, which selects no element twice."""
    a = as_array(t)
    shape, where, distinct = selected(a.shape, index)
    if not distinct:
        raise NotReachedError("indices that may be repeated: the last value stays")
    one = forms.constant(1)

    def at(j: tuple[Index, ...]) -> Form:
        there = _written(run, one, shape, where, j)
        kept = forms.add(a.at(j), forms.scaled(forms.multiply(there, a.at(j)), -1))
        return forms.add(kept, _written(run, v, shape, where, j))

    return Indexed(a.dtype, a.shape, at)


def scatter_add(run: Run, x: Any, index: Any, v: Any) -> Indexed:
    """x with v added at the index."""
    a = as_array(x)
    shape, where, _ = selected(a.shape, index)
    return Indexed(a.dtype, a.shape, lambda j: forms.add(a.at(j), _written(run, v, shape, where, j)))


def take(run: Run, x: Any, indices: Any, axis: Any) -> Any:
    """The elements at the indices along the axis; of all in row-major order if axis is None."""
    if axis is None:
        x, axis = reshape(run, x, (-1,)), 0
    k = normal_axis(axis, len(shape_of(x)), "take")
    return getitem(x, (*(Slice() for _ in range(k)), indices))


def take_along(run: Run, x: Any, indices: Any, axis: Any) -> Any:
    """The elements of each line at the indices."""
    if not isinstance(indices, Integers):
        raise NotReachedError("indices that are not known as such")
    if axis is None:
        x, axis = reshape(run, x, (-1,)), 0
    shape = shape_of(x)
    k = normal_axis(axis, len(shape), "take_along")
    result = (*shape[:k], indices.shape[k], *shape[k + 1 :])
    if any(n not in (m, 1) for j, (n, m) in enumerate(zip(indices.shape, shape, strict=True)) if j != k):
        raise NotReachedError("indices of another shape")

    def source(at: tuple[Index, ...]) -> list[Piece]:
        own = tuple(0 if n == 1 else i for i, n in zip(at, indices.shape, strict=True))
        return piece([*at[:k], indices.at(own), *at[k + 1 :]])

    return moved(x, result, source)
