"""
Reductions: what becomes of all elements along some axes. Sums and products go from the left in row-major order; that order is
part of their meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from semantics import shapes
from semantics.arrays import FLOATING, Array, normal_axes, of_rank_zero, positions, strides_of
from semantics.columns.arrays.elements import Elements, absorbs, as_array, boolean, looked_at
from semantics.errors import Trap
from semantics.shapes import known
from semantics.tangents import ZERO


def groups(array: Array, axis: Any, name: str) -> list[list[Any]]:
    """What is reduced to each element of the result, in order."""
    shape = array.shape
    axes = normal_axes(axis, len(shape), name)
    strides = strides_of(shape)
    kept = [a for a in range(len(shape)) if a not in axes]
    gone = sorted(axes)
    inner = positions([shape[a] for a in gone], [strides[a] for a in gone])
    outer = positions([shape[a] for a in kept], [strides[a] for a in kept])
    return [[array.items[base + k] for k in inner] for base in outer]


def grouped(e: Elements, x: Any, axis: Any) -> Array:
    """x with what `axis` names moved to one last axis, in row-major order: what a reduction over it reduces."""
    array = as_array("grouped", x)
    found = groups(array, axis, "grouped")
    return Array(array.dtype, known(shapes.grouped(array.shape, axis)), tuple(x for group in found for x in group))


def reduction(
    name: str, dtype_of: Callable[[str], str], reduce: Callable[[Elements, Sequence[Any], str], Any]
) -> Callable[..., Any]:
    """A cell (x, axis, keepdims) from what it makes of the elements of one group and the dtype of the result."""

    def cell(e: Elements, x: Any, axis: Any, keepdims: Any) -> Any:
        array = looked_at(name, x)
        dtype = dtype_of(array.dtype)
        shape = known(shapes.reduced(array.shape, axis, boolean(name, "keepdims", keepdims), name))
        return of_rank_zero(Array(dtype, shape, tuple(reduce(e, g, dtype) for g in groups(array, axis, name))))

    cell.__name__ = name
    return cell


def summed(dtype: str) -> str:
    """The dtype of sums and products: booleans are counted."""
    return "i64" if dtype == "bool" else dtype


def floating(dtype: str) -> str:
    """The dtype of what is no whole number."""
    return dtype if dtype in FLOATING else "f64"


def _same(dtype: str) -> str:
    return dtype


def _sum(e: Elements, items: Sequence[Any], dtype: str) -> Any:
    """The sum from the left; ZERO of ZEROs."""
    if items and all(x is ZERO for x in items):
        return ZERO
    return e.total((int(x) if type(x) is bool else x for x in items), dtype)


def _prod(e: Elements, items: Sequence[Any], dtype: str) -> Any:
    result = e.number(1, dtype)
    for x in items:
        result = e.rounded(e.mul(result, int(x) if type(x) is bool else x), dtype)
    return result


def _mean(e: Elements, items: Sequence[Any], dtype: str) -> Any:
    total = e.total((e.coerce(x, dtype, "mean") for x in items), dtype)
    return e.rounded(e.div(total, e.real(len(items))), dtype)


def _extreme(name: str, better: str) -> Callable[[Elements, Sequence[Any], str], Any]:
    def reduce(e: Elements, items: Sequence[Any], dtype: str) -> Any:
        if not items:
            raise Trap(f"{name} of no elements", rule=name, remedy="an axis that is not empty")
        pick, result = getattr(e, better), _number(items[0])
        for x in items[1:]:
            result = pick(result, _number(x))
        return bool(result) if dtype == "bool" else result

    return reduce


def _number(x: Any) -> Any:
    return int(x) if type(x) is bool else x


def _all(e: Elements, items: Sequence[Any], dtype: str) -> bool:
    return all(e.truth(_truth(e, x)) for x in items)


def _any(e: Elements, items: Sequence[Any], dtype: str) -> bool:
    return any(e.truth(_truth(e, x)) for x in items)


def _truth(e: Elements, x: Any) -> Any:
    return x if type(x) is bool else e.to_boolean(e.real(0) if x is ZERO else x)


def _to_bool(_: str) -> str:
    return "bool"


def _logsumexp(e: Elements, items: Sequence[Any], dtype: str) -> Any:
    """m + log Σ exp(x - m), m the largest, or m itself if it is infinite or NaN; -inf of no elements."""
    reals = [e.coerce(x, dtype, "logsumexp") for x in items]
    if not reals:
        return e.rounded(e.log(e.real(0)), dtype)
    largest = reals[0]
    for x in reals[1:]:
        largest = e.maximum(largest, x)
    if not e.truth(e.eq(e.mul(largest, e.real(0)), e.real(0))):
        return largest
    exponentials = (e.rounded(e.exp(e.rounded(e.sub(x, largest), dtype)), dtype) for x in reals)
    return e.rounded(e.add(largest, e.rounded(e.log(e.total(exponentials, dtype)), dtype)), dtype)


def _norm(e: Elements, items: Sequence[Any], dtype: str) -> Any:
    """The square root of the sum of squares."""
    reals = [e.coerce(x, dtype, "norm") for x in items]
    return e.rounded(e.sqrt(e.dot(reals, reals, dtype)), dtype)


CELLS: dict[str, Callable[..., Any]] = {
    cell.__name__: absorbs(cell)
    for cell in (
        grouped,
        reduction("reduce_sum", summed, _sum),
        reduction("reduce_prod", summed, _prod),
        reduction("mean", floating, _mean),
        reduction("reduce_max", _same, _extreme("reduce_max", "maximum")),
        reduction("reduce_min", _same, _extreme("reduce_min", "minimum")),
        reduction("reduce_all", _to_bool, _all),
        reduction("reduce_any", _to_bool, _any),
        reduction("logsumexp", floating, _logsumexp),
        reduction("norm", floating, _norm),
    )
}
