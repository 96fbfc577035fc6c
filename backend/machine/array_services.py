"""
Rows of arrays that the host does with compiled loops (`kernels`), where all operands are arrays of f64 without ZEROs, or numbers.

Each answers with the result's shape and what writes its elements, or None: then the meaning of the reference does it. What shapes
there are is said by `semantics`; `array_rows` puts the result in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from backend.machine import kernels
from backend.machine.heap import Heap
from backend.machine.layout import ARRAY, DTYPE, HOLED, INT, RANK, RAW, REAL, SHAPE
from semantics import shapes
from semantics.arrays import DTYPES, Shape, broadcast_shapes, normal_axes, size_of, strides_of
from semantics.columns.arrays.elements import boolean, not_negative, sizes

F64 = DTYPES.index("f64")


class Operand(NamedTuple):
    """The elements of an array, or the number that a scalar is: where they begin, their shape, and what there may be."""

    at: int
    shape: Shape
    dtype: str = "f64"
    holed: bool = False

    def strides(self, shape: Shape) -> list[int]:
        """The strides with which this is broadcast to a shape."""
        padded = (1,) * (len(shape) - len(self.shape)) + self.shape
        return [0 if n == 1 else s for n, s in zip(padded, strides_of(padded), strict=True)]


class Result(NamedTuple):
    """
    A shape, and what writes its elements: a function of the loops and the address, which answers 1 where the reference must say
    what is wrong. `holed` where there may be ZEROs among them.
    """

    shape: Shape
    write: Callable[[Any, int], int]
    dtype: str = "f64"
    holed: bool = False


Answer = Result | None


def operand(heap: Heap, x: int) -> Operand | None:
    """The operand at an address; None if it is neither an array of f64 without ZEROs nor a real."""
    I = heap.integers
    if I[x] == REAL:
        return Operand(x + 1, ())
    if I[x] != ARRAY or I[I[x + 1] + DTYPE] != F64 or I[I[x + 1] + HOLED]:
        return None
    p = I[x + 1]
    start = p + SHAPE + I[p + RANK]
    return Operand(start, tuple(I[p + SHAPE : start]))


def as_real(heap: Heap, x: int) -> Operand | None:
    """An integer that meets arrays of reals, as a real of its own on the heap; None for anything else."""
    if heap.integers[x] != INT:
        return None
    p = heap.room(RAW + 1, 0)
    heap.doubles[p + RAW] = float(heap.integers[x + 1])
    return Operand(p + RAW, ())


def elementwise(name: str, operands: Sequence[Operand]) -> Answer:
    """A row of `ELEMENTWISE` on one or two operands."""
    op = kernels.made().numbers[len(operands) - 1].get(name)
    if op is None:
        return None
    if len(operands) == 1:
        (a,) = operands
        return Result(a.shape, lambda k, out: k.map_1(op, a.at, out, size_of(a.shape)))
    a, b = operands
    if a.shape == b.shape and (count := size_of(a.shape)) > 0:
        return Result(a.shape, lambda k, out: k.map_2(op, a.at, b.at, out, [count], [1], [1]))
    shape = broadcast_shapes((a.shape, b.shape), name)
    return by_pairs(op, shape, (a.at, a.strides(shape)), (b.at, b.strides(shape)))


def by_pairs(op: int, shape: Shape, a: tuple[int, Sequence[int]], b: tuple[int, Sequence[int]]) -> Result:
    """The op of the elements of two arrays, of each where they begin and the strides with which they are seen in a shape."""
    flat = [[n, s, t] for n, s, t in zip(shape, a[1], b[1], strict=True)]
    counts, left, right = map(list, zip(*_merged(flat), strict=True))
    return Result(shape, lambda k, out: k.map_2(op, a[0], b[0], out, counts, left, right))


def _merged(axes: list[list[int]]) -> list[list[int]]:
    """Axes [size, stride, stride], those next to each other made one where their elements follow each other in both operands."""
    merged = [[1, 0, 0]]
    for n, s, t in axes:
        size, left, right = merged[-1]
        if (size == 1 or (left == n * s and right == n * t)) and n != 0:
            merged[-1] = [size * n, s, t]
        else:
            merged.append([n, s, t])
    return merged


def reduced(x: Shape, axis: Any, keepdims: bool) -> tuple[list[int], list[int], Shape]:
    """The axes of a shape that are kept and those that go, each in order, and the shape of a sum. IllTyped for other keepdims."""
    boolean("reduce_sum", "keepdims", keepdims)
    axes = normal_axes(axis, len(x), "reduce_sum")
    kept = [a for a in range(len(x)) if a not in axes]
    return kept, sorted(axes), tuple(1 if a in axes else n for a, n in enumerate(x) if keepdims or a not in axes)


def reduce_sum(x: Operand, axis: Any, keepdims: bool) -> Result:
    """The sum over axes."""
    kept, gone, shape = reduced(x.shape, axis, keepdims)
    strides = strides_of(x.shape)
    outer, inner = [x.shape[a] for a in kept], [x.shape[a] for a in gone]
    given = (
        size_of(outer),
        outer,
        [strides[a] for a in kept],
        size_of(inner),
        inner,
        [strides[a] for a in gone],
    )
    return Result(shape, lambda k, out: k.total(x.at, out, *given))


def matmul(a: Operand, b: Operand) -> Answer:
    """The product of matrices and vectors; stacks of matrices are the reference's."""
    if not 1 <= len(a.shape) <= 2 or not 1 <= len(b.shape) <= 2 or a.shape[-1] != b.shape[0]:
        return None
    rows, columns = a.shape[:-1], b.shape[1:]
    given = size_of(rows), a.shape[-1], size_of(columns)
    return Result((*rows, *columns), lambda k, out: k.product(a.at, b.at, out, *given))


def moved(x: int, shape: Shape, strides: Sequence[int]) -> Result:
    """The elements that begin at x in the order of a shape and its strides."""
    counts, steps, _ = map(list, zip(*_merged([[n, s, s] for n, s in zip(shape, strides, strict=True)]), strict=True))
    return Result(shape, lambda k, out: k.move(x, out, size_of(shape), counts, steps))


def repeated(shape: Shape, x: Shape) -> tuple[int, ...] | None:
    """The axes of a shape along which x is repeated in it; None if it is not."""
    padded = (1,) * (len(shape) - len(x)) + x
    if len(padded) > len(shape):
        return None
    axes = tuple(a for a, (n, m) in enumerate(zip(shape, padded, strict=True)) if m == 1 and n != 1)
    return axes if all(n == m or a in axes for a, (n, m) in enumerate(zip(shape, padded, strict=True))) else None


def sum_to(d: Operand, x: Operand) -> Answer:
    """d summed over the axes along which x is repeated in it."""
    axes = repeated(d.shape, x.shape)
    return None if axes is None else Result(x.shape, reduce_sum(d, axes, False).write)


View = tuple[Shape, Sequence[int]]
"""A shape, and the strides with which the elements of an array are seen in it."""


def spread(d: Operand, x: Shape, axis: Any, keepdims: Any) -> View | None:
    """d, which lacks some axes of a shape or has 1 there, repeated along them."""
    axes = normal_axes(axis, len(x), "spread")
    shapes.spread_over(d.shape, x, axes, boolean("spread", "keepdims", keepdims))
    kept = tuple(1 if a in axes else n for a, n in enumerate(x))
    return (x, Operand(d.at, kept).strides(x)) if size_of(kept) == size_of(d.shape) else None


def rearranged(name: str, x: Operand, how: Any) -> View:
    """The elements of x, or some of them repeated, in another shape."""
    if name == "reshape":
        shape = shapes.known(shapes.reshaped(x.shape, sizes(name, how)))
        return shape, strides_of(shape)
    if name == "expand_dims":
        shape = shapes.known(shapes.with_axes(x.shape, how, name))
        return shape, strides_of(shape)
    if name == "broadcast_to":
        shape = not_negative(name, sizes(name, how))
        shapes.broadcast_to(x.shape, shape)
        return shape, x.strides(shape)
    swapped, order = shapes.transposed(x.shape, how)
    return shapes.known(swapped), [strides_of(x.shape)[a] for a in order]


def answer(heap: Heap, name: str, at: Sequence[int], operands: Sequence[Operand | None]) -> Answer:
    """What the loops can make of a row and its operands; `at` are their addresses, for what is no array of reals."""
    match name, operands:
        case "gadd", [Operand(_, s) as a, Operand(_, t) as b] if s == t != ():
            return elementwise("add", (a, b))
        case "reduce_sum", [Operand() as x, _, _]:
            return reduce_sum(x, heap.value(at[1]), heap.value(at[2]))
        case "matmul", [Operand() as a, Operand() as b]:
            return matmul(a, b)
        case "sum_to", [Operand() as d, Operand(_, shape) as x] if shape != ():
            return sum_to(d, x)
        case "spread", [Operand() as d, Operand(_, shape), _, _]:
            view = spread(d, shape, heap.value(at[2]), heap.value(at[3]))
            return None if view is None else moved(d.at, *view)
        case "swap_last", [Operand(_, shape) as x] if len(shape) > 1:
            order = range(len(shape))
            return moved(x.at, *rearranged("transpose", x, (*order[:-2], order[-1], order[-2])))
        case "reshape" | "broadcast_to" | "transpose", [Operand() as x, _]:
            return moved(x.at, *rearranged(name, x, heap.value(at[1])))
        case _ if kernels.is_row(name) and len(at) <= 2:
            found = [x or as_real(heap, k) for x, k in zip(operands, at, strict=True)]
            return elementwise(name, [x for x in found if x is not None]) if all(found) else None
        case _:
            return None
