"""
Along one axis: where the extreme elements are, sorting, and running sums and products.

NaN comes first for argmax and argmin and last when sorting, as in NumPy. Sorting is stable: equal elements keep their order.
`recurrence` is what running products and their backpropagators are made of, and its own kind of adjoint:

    y[k] = b[k] + c[k]·y[k-1]            reverse:  y[k] = b[k] + c[k+1]·y[k+1]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cmp_to_key
from itertools import pairwise
from typing import Any

from semantics.arrays import Array, normal_axis, of_rank_zero, size_of, strides_of
from semantics.columns.arrays.elements import Elements, absorbs, as_array, boolean, integer
from semantics.columns.arrays.reductions import summed
from semantics.columns.kinds import wrong
from semantics.errors import Trap
from semantics.tangents import ZERO, gadd


def lines(name: str, x: Any, axis: Any) -> tuple[Array, int, list[range]]:
    """The array, the axis, and the places of each line along it; the elements in row-major order as one line if axis is None."""
    array = as_array(name, x)
    if axis is None:
        array = Array(array.dtype, (len(array.items),), array.items)
    along = normal_axis(0 if axis is None else integer(name, "axis", axis), len(array.shape), name)
    n, step = array.shape[along], strides_of(array.shape)[along]
    count = len(array.items) // n if n else 0
    starts = (k // step * step * n + k % step for k in range(count))
    return array, along, [range(start, start + n * step, step) for start in starts]


def along_lines(name: str, x: Any, axis: Any, dtype: str, change: Callable[[list[Any]], list[Any]]) -> Array:
    """The array with every line changed."""
    array, _, found = lines(name, x, axis)
    items: list[Any] = list(array.items)
    for line in found:
        for place, item in zip(line, change([array.items[p] for p in line]), strict=True):
            items[place] = item
    return Array(dtype, array.shape, tuple(items))


def compare(e: Elements, a: Any, b: Any, nan: int = 1) -> int:
    """-1 if a comes before b, 1 if after, 0 if neither. NaN comes after everything else; before it, if `nan` is -1."""
    x, y = (int(v) if type(v) is bool else v for v in (a, b))
    if e.truth(e.lt(x, y)):
        return -1
    if e.truth(e.lt(y, x)):
        return 1
    if e.truth(e.eq(x, y)):
        return 0
    return nan * (int(e.truth(e.ne(x, x))) - int(e.truth(e.ne(y, y))))


def order(e: Elements, items: Sequence[Any]) -> list[int]:
    """The indices of the elements in ascending order; of equal ones the first comes first."""

    def comparison(i: int, j: int) -> int:
        return compare(e, items[i], items[j])

    return sorted(range(len(items)), key=cmp_to_key(comparison))


def _first(name: str, better: Callable[[Elements, Any, Any], bool]) -> Callable[..., Any]:
    def cell(e: Elements, x: Any, axis: Any) -> Any:
        array, along, found = lines(name, x, axis)
        dropped = (*array.shape[:along], *array.shape[along + 1 :])
        if not array.shape[along] and size_of(dropped):
            raise Trap(f"{name} of no elements", rule=name, remedy="an axis that is not empty")
        items: list[int] = []
        for line in found:
            best = 0
            for k in range(1, len(line)):
                if better(e, array.items[line[k]], array.items[line[best]]):
                    best = k
            items.append(best)
        return of_rank_zero(Array("i64", dropped, tuple(items)))

    cell.__name__ = name
    return cell


def argsort(e: Elements, x: Any, axis: Any) -> Array:
    """np.argsort(x, axis, kind="stable"): the indices that sort each line; of all elements in order if axis is None."""
    return along_lines("argsort", x, axis, "i64", lambda items: order(e, items))


def sort(e: Elements, x: Any, axis: Any) -> Array:
    """np.sort(x, axis, kind="stable")"""
    return along_lines("sort", x, axis, as_array("sort", x).dtype, lambda items: [items[k] for k in order(e, items)])


def _running(name: str, step: Callable[[Elements], Callable[[Any, Any], Any]]) -> Callable[..., Array]:
    def cell(e: Elements, x: Any, axis: Any) -> Array:
        combine, dtype = step(e), summed(as_array(name, x).dtype)

        def run(items: list[Any]) -> list[Any]:
            found: list[Any] = []
            for item in items:
                own = int(item) if type(item) is bool else item
                found.append(e.rounded(combine(found[-1], own), dtype) if found else own)
            return found

        return along_lines(name, x, axis, dtype, run)

    cell.__name__ = name
    return cell


def recurrence(e: Elements, b: Any, c: Any, axis: Any, reverse: Any) -> Array:
    """y[k] = b[k] + c[k]·y[k-1] along the axis; reverse: y[k] = b[k] + c[k+1]·y[k+1]. Each is the other's transpose."""
    factors, backwards = as_array("recurrence", c), boolean("recurrence", "reverse", reverse)
    array, _, found = lines("recurrence", b, axis)
    if "bool" in (array.dtype, factors.dtype):
        raise wrong("recurrence", "numbers", (b, c))
    if len(factors.items) != len(array.items):
        raise Trap(f"recurrence of shapes {array.shape} and {factors.shape}", rule="recurrence", remedy="equal shapes")
    items: list[Any] = list(array.items)
    for line in found:
        for before, place in pairwise(reversed(line) if backwards else line):
            factor = factors.items[before if backwards else place]
            items[place] = _plus(e, items[place], e.rounded(e.mul(factor, items[before]), array.dtype), array.dtype)
    return array.with_items(items)


def _plus(e: Elements, a: Any, b: Any, dtype: str) -> Any:
    return gadd(a, b) if a is ZERO or b is ZERO else e.rounded(e.add(a, b), dtype)


def shift(e: Elements, x: Any, by: Any, axis: Any, fill: Any) -> Array:
    """Element k is x[k - by] along the axis, and the integer `fill` where there is none."""
    array, count = as_array("shift", x), integer("shift", "distance", by)
    filler = e.number(integer("shift", "to fill with", fill), array.dtype)

    def moved(items: list[Any]) -> list[Any]:
        return [items[k - count] if 0 <= k - count < len(items) else filler for k in range(len(items))]

    return along_lines("shift", x, axis, array.dtype, moved)


CELLS: dict[str, Callable[..., Any]] = {
    cell.__name__: absorbs(cell)
    for cell in (
        _first("argmax", lambda e, a, b: compare(e, a, b) > 0),
        _first("argmin", lambda e, a, b: compare(e, a, b, -1) < 0),
        argsort,
        sort,
        _running("cumsum", lambda e: e.add),
        _running("cumprod", lambda e: e.mul),
        recurrence,
        shift,
    )
}
