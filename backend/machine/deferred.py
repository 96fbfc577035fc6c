"""
Large arrays that may never be read: a product, whose elements may only be summed, and an array in another shape, repeated or not.

Such rows answer with an object that says how to find an element (`deferred_values`). A sum goes over its factors at once, from the
left as over the array, whose memory nobody needs then; its shape is there to be asked for. What anyone else asks for is written
out first, once; so is a product that is summed again. These rows raise nothing for an element, so nothing is raised later.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from backend.machine import kernels
from backend.machine.array_services import F64, Result, View, by_pairs, moved, operand, rearranged, reduced, repeated, spread
from backend.machine.deferred_values import FACTORS, array_of, factors, is_view, is_written, shape_of
from backend.machine.heap import Heap
from backend.machine.layout import ARRAY, COUNT, DEFERRED, DTYPE, REAL, SHAPE, UNIT
from semantics.arrays import Shape, broadcast_shapes, size_of, strides_of
from semantics.errors import AdjudgeError

LEAST, MOST = 1 << 17, 1 << 24
"""
Elements of an array that is not written out: fewer are soon written, and more may want more memory than there is. As many as LEAST
lie behind the old objects at once when they are written (`holes.LARGE`), so no old object comes to lead to a young one.
"""

SEEN = ("spread", "reshape", "broadcast_to", "expand_dims")
"""Rows that show an array in another shape, its elements in their order."""


class Factor(NamedTuple):
    """The address of a real or of an array as a value, where its elements begin, and the shape and strides it is seen in."""

    cell: int
    at: int
    shape: Shape
    steps: Sequence[int]

    def over(self, shape: Shape) -> list[int]:
        """The strides with which this is broadcast to a shape."""
        ahead = len(shape) - len(self.shape)
        return [0] * ahead + [0 if n == 1 else s for n, s in zip(self.shape, self.steps, strict=True)]


def factor(heap: Heap, x: int) -> Factor | None:
    """The real, or array of f64 without ZEROs, at an address as a factor; None for anything else, and a product not written out."""
    I = heap.integers
    if I[x] == DEFERRED:
        p = I[x + 1]
        if not is_written(I, p):
            at, steps = factors(I, p)[0]
            return Factor(array_of(I, p) + 2, at, shape_of(I, p), steps) if is_view(I, p) else None
        x = array_of(I, p)
    found = operand(heap, x)
    return None if found is None else Factor(x, found.at, found.shape, strides_of(found.shape))


def shape_at(heap: Heap, x: int) -> Shape | None:
    """The shape of an array of f64, written out or not; None for anything else."""
    I = heap.integers
    p = I[x + 1]
    return shape_of(I, p) if I[x] in (ARRAY, DEFERRED) and I[p + DTYPE] == F64 else None


def made(heap: Heap, name: str, at: Sequence[int], out: int) -> bool:
    """
    Whether the row's result is such an object, and is at `out`: never without axes, as a product then is a number. `heap.Full` if
    there is no room for it.
    """
    try:
        found = multiplied(heap, at) if name == "mul" else seen(heap, name, at) if name in SEEN else None
    except AdjudgeError:
        return False  # the reference says what is wrong
    if found is None or found[0] == () or not LEAST <= size_of(found[0]) <= MOST or heap.loops(0) is None:
        return False
    write(heap, out, *found)
    return True


Made = tuple[Shape, Factor, Factor | None]
"""A shape, and one factor or two."""


def multiplied(heap: Heap, at: Sequence[int]) -> Made | None:
    """The product of two operands; None where one of them is no factor."""
    x, y = (factor(heap, k) for k in at)
    return None if x is None or y is None else (broadcast_shapes((x.shape, y.shape), "mul"), x, y)


def seen(heap: Heap, name: str, at: Sequence[int]) -> Made | None:
    """An operand in another shape; None where it is no array of reals, or not written out."""
    x = operand(heap, at[0])
    if x is None:
        return None
    if name != "spread":
        view: View | None = rearranged(name, x, heap.value(at[1]))
    else:
        like = shape_at(heap, at[1])
        view = None if like is None else spread(x, like, heap.value(at[2]), heap.value(at[3]))
    return None if view is None else (view[0], Factor(at[0], x.at, *view), None)


def write(heap: Heap, out: int, shape: Shape, x: Factor, y: Factor | None) -> None:
    """Puts an object of one factor or two at `out`."""
    I, rank = heap.integers, len(shape)
    p = heap.room(SHAPE + rank + 1 + FACTORS * rank + 2 * (1 + FACTORS), 1 + FACTORS)
    raw = (F64, 0, rank, size_of(shape), *shape, 0, *x.over(shape), *(y.over(shape) if y else (0,) * rank))
    for k, word in enumerate(raw):
        I[p + DTYPE + k] = word
    to = array_of(I, p)
    for k, cell in enumerate((None, x.cell, y.cell if y else None)):
        I[to + 2 * k], I[to + 2 * k + 1] = (UNIT, 0) if cell is None else (I[cell], I[cell + 1])
    I[out], I[out + 1] = DEFERRED, p


def summed(heap: Heap, name: str, at: Sequence[int]) -> Result | None:
    """
    A sum over axes, one at least, of an array that is not written out; None for other rows, and for a product that has been summed
    before.
    """
    I = heap.integers
    if name not in ("reduce_sum", "sum_to") or I[at[0]] != DEFERRED or is_written(I, I[at[0] + 1]):
        return None
    p = I[at[0] + 1]
    shape = shape_of(I, p)
    if name == "reduce_sum":
        kept, gone, result = reduced(shape, heap.value(at[1]), heap.value(at[2]))
    else:
        result = () if I[at[1]] == REAL else shape_at(heap, at[1]) or shape
        kept, gone, _ = reduced(shape, repeated(shape, result) or (), False)
    if not gone:
        return None
    times = p + SHAPE + len(shape)
    return None if I[times] and not is_view(I, p) else Result(result, lambda k, to: total(heap, p, kept, gone, k, to))


def total(heap: Heap, p: int, kept: Sequence[int], gone: Sequence[int], loops: Any, to: int) -> int:
    """Writes the sums of the object at p along axes that go; there are some."""
    I = heap.integers
    shape = shape_of(I, p)
    (x, xs), (y, ys) = factors(I, p)
    I[p + SHAPE + len(shape)] += 1

    def of(axes: Sequence[int]) -> tuple[list[int], list[int], list[int]]:
        return [shape[a] for a in axes] or [1], [xs[a] for a in axes] or [0], [ys[a] for a in axes] or [0]

    behind = [a for a in kept if a > gone[-1]]
    before = [a for a in kept if a < gone[0]]
    if behind and len(before) + len(behind) == len(kept):
        return int(loops.totals_of_products(x, y, to, *of(before), *of(gone), *of(behind)))
    return int(loops.total_of_products(x, y, to, *of(kept), *of(gone)))


def written_out(heap: Heap, at: Sequence[int]) -> bool:
    """Whether one of the operands was no array yet. All of them are now. `heap.Full` if there is no room for one."""
    I = heap.integers
    there = {x for x in at if I[x] == DEFERRED}  # one value may be several operands
    for x in there:
        p = I[x + 1]
        cell = array_of(I, p)
        if not is_written(I, p):
            I[cell + 1] = array(heap, p)
            I[cell] = ARRAY
        I[x], I[x + 1] = ARRAY, I[cell + 1]
    return bool(there)


def array(heap: Heap, p: int) -> int:
    """The address of an array with the elements of the object at p."""
    I = heap.integers
    shape, (x, y), count = shape_of(I, p), factors(I, p), I[p + COUNT]
    q = heap.new_head("f64", shape, count)
    by = kernels.made().numbers[1]["mul"]
    found = moved(x[0], shape, x[1]) if is_view(I, p) else by_pairs(by, shape, x, y)
    found.write(heap.loops(count), q + SHAPE + len(shape))
    return q
