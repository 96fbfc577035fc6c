"""
Rows that order elements, reduce them or make arrays, as index forms; argmax and argsort are arrays of indices known by name only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from checkers.smt import index_movement as movement
from checkers.smt import index_selection as selection
from checkers.smt.index_cells import cells
from checkers.smt.index_factors import NotReachedError
from checkers.smt.index_movement import Integers, Places, product_of, shape_of
from checkers.smt.index_places import Lookup, dim_of, extent
from checkers.smt.index_values import Indexed, as_floating
from proofs.arrays.course import Course
from proofs.arrays.whole_numbers import number_of, whole
from semantics.arrays import normal_axes, normal_axis


def arange(start: Any, stop: Any, step: Any) -> Integers:
    length = whole(stop)
    if start != 0 or step != 1 or length is None:
        raise NotReachedError("a range that does not count from 0")
    return Integers((dim_of(length),), lambda at: at[0], True)


def same(x: Any, _: Any) -> Any:
    """Over the reals a conversion between reals changes nothing."""
    if isinstance(x, Places):
        return x
    a = as_floating(x)
    return a if isinstance(x, Indexed) else a.at(())


def size(x: Any) -> Any:
    return number_of(extent(product_of(shape_of(x))))


def _named(kind: str, a: Indexed) -> str:
    """A name for indices that the array `a` determines: equal forms make equal names."""
    return f"{kind} of {a.at(tuple(0 if n == 1 else f'e{k}' for k, n in enumerate(a.shape)))!r}"


def argbest(kind: str) -> Callable[[Any, Any], Integers]:
    def cell(x: Any, axis: Any) -> Integers:
        a = as_floating(x)
        k = normal_axis(axis, len(a.shape), kind)
        name, below = f"{_named(kind, a)} along {k}", extent(a.shape[k])
        return Integers((*a.shape[:k], *a.shape[k + 1 :]), lambda at: Lookup(name, tuple(at), below))

    return cell


def argsort(course: Course, x: Any, axis: Any) -> Integers:
    a = as_floating(x if axis is not None else movement.reshape(course, x, (-1,)))
    axis = 0 if axis is None else axis
    k = normal_axis(axis, len(a.shape), "argsort")
    name, below = f"{_named('argsort', a)} along {k}", extent(a.shape[k])
    return Integers(a.shape, lambda at: Lookup(name, tuple(at), below), True)


def sort(course: Course, x: Any, axis: Any) -> Any:
    """The elements in the order of argsort."""
    if axis is None:
        x, axis = movement.reshape(course, x, (-1,)), 0
    return selection.take_along(course, x, argsort(course, x, axis), axis)


def best(kind: str) -> Callable[..., Any]:
    """The element at argmax, or argmin."""

    def cell(course: Course, x: Any, axis: Any, keepdims: Any) -> Any:
        lines = movement.grouped(course, as_floating(x), axis)
        where = movement.expand_dims(argbest(kind)(lines, -1), -1)
        found = movement.squeeze(selection.take_along(course, lines, where, -1), -1)
        return movement.expand_dims(found, normal_axes(axis, len(shape_of(x)), kind)) if keepdims else found

    return cell


def logsumexp(course: Course, x: Any, axis: Any, keepdims: Any) -> Any:
    base = cells(course)
    return base["log"](base["reduce_sum"](base["exp"](x), axis, keepdims))


def norm(course: Course, x: Any, axis: Any, keepdims: Any) -> Any:
    base = cells(course)
    return base["sqrt"](base["reduce_sum"](base["mul"](x, x), axis, keepdims))
