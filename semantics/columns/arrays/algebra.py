"""Products of arrays: dot, matmul, outer, tensordot, trace. Every sum of products goes from the left."""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any

from semantics.arrays import Array, broadcast_positions, normal_axes, of_rank_zero, positions, strides_of
from semantics.columns.arrays.einstein import Subscripts, contract, met, sum_of
from semantics.columns.arrays.elements import Elements, absorbs, as_array, integer, looked_at
from semantics.columns.kinds import wrong
from semantics.errors import Trap
from semantics.shapes import known, matrix_product
from semantics.tangents import ZERO


def _inner(e: Elements, xs: tuple[Any, ...], ys: tuple[Any, ...], dtype: str) -> Any:
    return sum_of(e, [e.rounded(e.mul(x, y), dtype) for x, y in zip(xs, ys, strict=True)], dtype)


def matmul(e: Elements, a: Any, b: Any) -> Any:
    """a @ b, as NumPy has it: vectors get an axis that is dropped again, leading axes are stacks of matrices and broadcast."""
    dtype, (x, y) = met(e, "matmul", a, b)
    shape = known(matrix_product(x.shape, y.shape))
    left = x.shape if len(x.shape) > 1 else (1, *x.shape)
    right = y.shape if len(y.shape) > 1 else (*y.shape, 1)
    stacked = shape[: max(len(left), len(right)) - 2]
    n, k, m = left[-2], left[-1], right[-1]
    items: list[Any] = []
    for p, q in zip(broadcast_positions(left[:-2], stacked), broadcast_positions(right[:-2], stacked), strict=True):
        matrix, other = x.items[p * n * k : (p + 1) * n * k], y.items[q * k * m : (q + 1) * k * m]
        columns = [other[j::m] for j in range(m)]
        rows = [matrix[i * k : (i + 1) * k] for i in range(n)]
        items.extend(_inner(e, row, column, dtype) for row in rows for column in columns)
    return of_rank_zero(Array(dtype, shape, tuple(items)))


def dot(e: Elements, a: Any, b: Any) -> Any:
    """np.dot(a, b): of a scalar, the product; else the sum over the last axis of a and the last but one, or only one, of b."""
    dtype, (x, y) = met(e, "dot", a, b)
    if not x.shape or not y.shape:
        letters = string.ascii_letters[: max(len(x.shape), len(y.shape))]
        own = Subscripts((letters[: len(x.shape)], letters[: len(y.shape)]), letters)
        return of_rank_zero(contract(e, dtype, (x, y), own))
    return tensordot(e, x, y, ((-1,), (-2 if len(y.shape) > 1 else -1,)))


def outer(e: Elements, a: Any, b: Any) -> Array:
    """np.outer(a, b)[i, j] = a[i] * b[j], both in row-major order."""
    dtype, (x, y) = met(e, "outer", a, b)
    items = tuple(e.rounded(e.mul(p, q), dtype) for p in x.items for q in y.items)
    return Array(dtype, (len(x.items), len(y.items)), items)


def tensordot(e: Elements, a: Any, b: Any, axes: Any) -> Any:
    """np.tensordot(a, b, axes): the sum over pairs of axes; n stands for the last n of a and the first n of b."""
    dtype, (x, y) = met(e, "tensordot", a, b)
    return of_rank_zero(contract(e, dtype, (x, y), paired(x, y, axes)))


def paired(x: Array, y: Array, axes: Any) -> Subscripts:
    """The subscripts of a tensordot; Trap where the sizes of paired axes differ."""
    left, right = _pairs(x, y, axes)
    letters = iter(string.ascii_letters)
    if len(x.shape) + len(y.shape) > len(string.ascii_letters):
        raise Trap("tensordot: more axes than there are letters", rule="tensordot", remedy="reshape first")
    own = [next(letters) for _ in x.shape]
    other = [next(letters) for _ in y.shape]
    for i, j in zip(left, right, strict=True):
        if x.shape[i] != y.shape[j]:
            raise Trap(
                f"tensordot: axis {i} of {x.shape} and axis {j} of {y.shape} differ in size",
                rule="tensordot",
                remedy="pair axes of equal size",
            )
        other[j] = own[i]
    free = [c for i, c in enumerate(own) if i not in left] + [c for j, c in enumerate(other) if j not in right]
    return Subscripts(("".join(own), "".join(other)), "".join(free))


def _pairs(x: Array, y: Array, axes: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes of x and those of y that are summed over, pairwise."""
    ranks = len(x.shape), len(y.shape)
    if type(axes) is int:
        if not 0 <= axes <= min(ranks):
            raise Trap(f"tensordot over {axes} axes of arrays of {ranks[0]} and {ranks[1]}", rule="tensordot", remedy="fewer axes")
        return tuple(range(ranks[0] - axes, ranks[0])), tuple(range(axes))
    parts = getattr(axes, "items", axes)
    if not isinstance(parts, tuple) or len(parts) != 2:
        raise wrong("tensordot", "a number of axes, or a pair of tuples of them", axes)
    sides = [_axes(getattr(p, "items", p)) for p in parts]
    if len(sides[0]) != len(sides[1]):
        raise Trap(f"tensordot: {axes} does not pair axes", rule="tensordot", remedy="as many axes of a as of b")
    return normal_axes(sides[0], ranks[0], "tensordot"), normal_axes(sides[1], ranks[1], "tensordot")


def _axes(side: Any) -> tuple[int, ...]:
    """One axis, or a tuple of them; IllTyped for anything else."""
    if not isinstance(side, tuple):
        return (integer("tensordot", "axis", side),)
    return tuple(integer("tensordot", "axis", a) for a in side)


def tensordot_subscripts(e: Elements, a: Any, b: Any, axes: Any) -> str:
    """The subscripts with which einsum is this tensordot."""
    return str(paired(as_array("tensordot", a), as_array("tensordot", b), axes))


def trace(e: Elements, a: Any) -> Any:
    """np.trace(a): the sum of the diagonal of the first two axes."""
    array = as_array("trace", a)
    if len(array.shape) < 2:
        raise Trap(f"trace of an array of shape {array.shape}", rule="trace", remedy="a matrix")
    dtype = "i64" if array.dtype == "bool" else array.dtype
    strides = strides_of(array.shape)
    rest = array.shape[2:]
    diagonal = [k * (strides[0] + strides[1]) for k in range(min(array.shape[:2]))]
    items = [[e.coerce(array.items[p + k], dtype, "trace") for k in diagonal] for p in positions(rest, strides[2:])]
    return of_rank_zero(Array(dtype, rest, tuple(sum_of(e, found, dtype) for found in items)))


def ndim(e: Elements, x: Any) -> int:
    """np.ndim(x): the number of axes; 0 of a scalar, and of a ZERO, which has no shape: what is made of it is ZERO anyway."""
    return 0 if x is ZERO else len(looked_at("ndim", x).shape)


def swap_last(e: Elements, x: Any) -> Array:
    """x with its last two axes exchanged: every matrix of a stack transposed."""
    array = as_array("swap_last", x)
    if len(array.shape) < 2:
        raise Trap(
            f"an array of shape {array.shape} has no two axes to exchange", rule="swap_last", remedy="a matrix, or a stack of them"
        )
    *rest, s, t = strides_of(array.shape)
    shape = (*array.shape[:-2], array.shape[-1], array.shape[-2])
    return Array(array.dtype, shape, tuple(array.items[p] for p in positions(shape, (*rest, t, s))))


CELLS: dict[str, Callable[..., Any]] = {
    "ndim": ndim,
    **{cell.__name__: absorbs(cell) for cell in (matmul, dot, outer, tensordot, tensordot_subscripts, trace, swap_last)},
}
