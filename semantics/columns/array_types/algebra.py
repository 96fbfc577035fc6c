"""The types of products of arrays and of linear algebra."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semantics.arrays import broadcast_shapes, normal_axes, promoted, shown
from semantics.columns.array_types.operands import absorbing, axes, integer, operand, over, result
from semantics.columns.arrays.einstein import explicit
from semantics.columns.arrays.reductions import floating, summed
from semantics.columns.record_types import wrong
from semantics.errors import IllTyped, Trap
from semantics.shapes import Dims, clash, count, letter_sizes, matrix_product, meet, without_axes
from semantics.type_language import INTEGER, UNIT, ArrayType, TupleType
from semantics.type_lattice import TEXT, ZERO_TYPE, Literal


def _met(name: str, *operands: ArrayType) -> str:
    """The dtype in which operands meet. IllTyped for booleans only, whose sums would be no numbers."""
    dtype = promoted([a.dtype for a in operands], name)
    if dtype == "bool":
        raise IllTyped(f"{name} of booleans only", rule=name, remedy="convert one: x.astype(int)")
    return dtype


def _product(name: str, dims: Dims, *operands: ArrayType) -> Any:
    """A sum of products, zero where all of them are."""
    return result(_met(name, *operands), dims, any(a.holes for a in operands))


def matmul(a: Any, b: Any) -> Any:
    """a @ b"""
    x, y = operand("matmul", a), operand("matmul", b)
    return _product("matmul", matrix_product(x.dims, y.dims), x, y)


def dot(a: Any, b: Any) -> Any:
    """np.dot(a, b): the last axis of a with the last but one of b; with a scalar, a product."""
    x, y = operand("dot", a), operand("dot", b)
    if not x.dims or not y.dims:
        return _product("dot", x.dims or y.dims, x, y)
    inner = len(y.dims) - min(len(y.dims), 2)
    if clash((x.dims[-1], y.dims[inner])):
        raise Trap(
            f"dot: the shapes {shown(x.dims)} and {shown(y.dims)} do not match", rule="dot", remedy="transpose one, or reshape"
        )
    return _product("dot", (*x.dims[:-1], *without_axes(y.dims, (inner,))), x, y)


def outer(a: Any, b: Any) -> Any:
    """np.outer(a, b)"""
    x, y = operand("outer", a), operand("outer", b)
    return ArrayType(_met("outer", x, y), (count(x.dims), count(y.dims)), x.holes or y.holes)


def tensordot(a: Any, b: Any, pairs: Any) -> Any:
    """np.tensordot(a, b, axes): as many last axes of a with first axes of b, or the axes that a pair names."""
    x, y = operand("tensordot", a), operand("tensordot", b)

    def rule(left: Any, right: Any) -> Any:
        own, other = (normal_axes(n, len(o.dims), "tensordot") for n, o in ((left, x), (right, y)))
        if len(own) != len(other) or any(clash((x.dims[i], y.dims[j])) for i, j in zip(own, other, strict=False)):
            raise Trap(
                f"tensordot: the shapes {shown(x.dims)} and {shown(y.dims)} do not match along {own} and {other}",
                rule="tensordot",
                remedy="axes of equal sizes",
            )
        return _product("tensordot", (*without_axes(x.dims, own), *without_axes(y.dims, other)), x, y)

    if isinstance(pairs, TupleType):
        if len(pairs.items) != 2 or UNIT in pairs.items:
            raise wrong("tensordot", "a number of axes, or a pair of axes or of tuples of axes", pairs)
        return over(rule, *(axes("tensordot", t, len(o.dims)) for t, o in zip(pairs.items, (x, y), strict=True)))
    n = integer("tensordot", "number of axes", pairs)
    most = min(len(x.dims), len(y.dims))
    if n is not None and not 0 <= n <= most:
        raise Trap(f"tensordot over {n} axes", rule="tensordot", remedy=f"0 to {most}")
    numbers = range(most + 1) if n is None else (n,)
    return over(lambda k: rule(tuple(range(len(x.dims) - k, len(x.dims))), tuple(range(k))), numbers)


def einsum(subscripts: Any, *arguments: Any) -> Any:
    """np.einsum(subscripts, …): the size of every letter must be one in all operands."""
    if not isinstance(subscripts, Literal) or subscripts.type != TEXT:
        raise wrong("einsum", "subscripts", subscripts, 'write them out: np.einsum("ij,jk->ik", a, b)')
    arrays = [operand("einsum", t) for t in arguments]
    letters = explicit(subscripts.value, [a.dims for a in arrays])
    sizes = letter_sizes([a.dims for a in arrays], letters.inputs)
    return _product("einsum", tuple(sizes[letter] for letter in letters.output), *arrays)


def _square(name: str, t: Any) -> ArrayType:
    """A matrix, or a stack of them, that can be square."""
    array = operand(name, t)
    if len(array.dims) < 2 or clash(array.dims[-2:]):
        raise Trap(f"{name} of an array of shape {shown(array.dims)}", rule=name, remedy="a square matrix, or a stack of them")
    side = meet(array.dims[-2:])
    return ArrayType(floating(array.dtype), (*array.dims[:-2], side, side))


def solve(a: Any, b: Any) -> Any:
    """np.linalg.solve(a, b): b is one vector, or matrices of columns."""
    matrix, right = _square("solve", a), operand("solve", b)
    columns = right.dims if len(right.dims) > 1 else (*right.dims, 1)
    if not right.dims or clash((matrix.dims[-1], columns[-2])):
        raise Trap(
            f"solve: the shapes {shown(matrix.dims)} and {shown(right.dims)} do not match", rule="solve", remedy="as many rows"
        )
    stacked = broadcast_shapes((matrix.dims[:-2], columns[:-2]), "solve")
    dims = (*stacked, meet((matrix.dims[-1], columns[-2])), *(columns[-1:] if len(right.dims) > 1 else ()))
    return ArrayType(floating(promoted((matrix.dtype, right.dtype), "solve")), dims)


def inv(a: Any) -> Any:
    """np.linalg.inv(a)"""
    return _square("inv", a)


def cholesky(a: Any) -> Any:
    """np.linalg.cholesky(a)"""
    return _square("cholesky", a)


def det(a: Any) -> Any:
    """np.linalg.det(a)"""
    array = _square("det", a)
    return result(array.dtype, array.dims[:-2])


def slogdet(a: Any) -> Any:
    """np.linalg.slogdet(a): the sign, and the logarithm of the absolute value."""
    return TupleType((det(a), det(a)))


def trace(a: Any) -> Any:
    """np.trace(a): the sum of the diagonal of the first two axes."""
    array = operand("trace", a)
    if len(array.dims) < 2:
        raise Trap(f"trace of an array of shape {shown(array.dims)}", rule="trace", remedy="a matrix")
    return result(summed(array.dtype), array.dims[2:], array.holes)


def ndim(x: Any) -> Any:
    """np.ndim(x), known; 0 of a zero."""
    return Literal(INTEGER, 0 if x == ZERO_TYPE else len(operand("ndim", x).dims))


def swap_last(x: Any) -> Any:
    """The last two axes exchanged"""
    array = operand("swap_last", x)
    if len(array.dims) < 2:
        shape = shown(array.dims)
        raise Trap(
            f"an array of shape {shape} has no two axes to exchange", rule="swap_last", remedy="a matrix, or a stack of them"
        )
    return ArrayType(array.dtype, (*array.dims[:-2], array.dims[-1], array.dims[-2]), array.holes)


CELLS: dict[str, Callable[..., Any]] = {
    "ndim": ndim,
    **{
        rule.__name__: absorbing(rule)
        for rule in (matmul, dot, outer, tensordot, einsum, solve, inv, cholesky, det, slogdet, trace, swap_last)
    },
}
