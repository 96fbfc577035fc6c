"""
Which loop does a row of arrays, and where its result goes. A row without a loop is left to the reference's meaning.
"""

from __future__ import annotations

from collections.abc import Sequence

from backend.machine import array_services, deferred, kernels, place_services
from backend.machine.array_services import operand
from backend.machine.heap import Heap
from backend.machine.layout import ARRAY, COUNT, DEFERRED, HOLED, RANK, REAL, SHAPE, ZERO, ZERO_BITS
from semantics.arrays import size_of, within_budget
from semantics.errors import AdjudgeError

SCALAR_RESULTS = frozenset({"reduce_sum", "matmul", "reduce_max", "reduce_min", "sum_to"})
"""Rows whose result is a number where no axis is left; so it is of the elementwise ones."""


def served(heap: Heap, name: str, at: Sequence[int], out: int) -> bool:
    """Whether the row has been done by loops, and its result is at `out`. `heap.Full` if there is no room for it."""
    arrays = [x for x in at if heap.integers[x] in (ARRAY, DEFERRED)]
    if not arrays:
        return False
    if known(heap, name, at, out) or deferred.made(heap, name, at, out):
        return True
    try:
        found = (
            deferred.summed(heap, name, at)
            or array_services.answer(heap, name, at, [operand(heap, x) for x in at])
            or place_services.answer(heap, name, at)
        )
        if found is not None:
            within_budget(name, found.shape)
    except AdjudgeError:
        return False  # the reference says what is wrong
    if found is None:
        return False
    shape, count = found.shape, size_of(found.shape)
    loops = heap.loops(max(count, *(heap.integers[heap.integers[x + 1] + COUNT] for x in arrays)))
    if loops is None:
        return False
    if shape == () and (name in SCALAR_RESULTS or kernels.is_row(name)):
        if found.write(loops, out + 1):
            return False
        heap.integers[out] = ZERO if found.holed and heap.integers[out + 1] == ZERO_BITS else REAL
        return True
    p = heap.new_head(found.dtype, shape, count)
    start = p + SHAPE + len(shape)
    if found.write(loops, start):
        return False
    heap.integers[p + HOLED] = loops.has_zeros(start, count) if found.holed else 0
    heap.integers[out], heap.integers[out + 1] = ARRAY, p
    return True


def known(heap: Heap, name: str, at: Sequence[int], out: int) -> bool:
    """Whether the result is an operand itself, or its shape; then it is at `out`."""
    I = heap.integers
    if name == "shape" and I[at[0]] in (ARRAY, DEFERRED):
        p = I[at[0] + 1]
        heap.write(out, tuple(I[p + SHAPE : p + SHAPE + I[p + RANK]]))
    elif name == "ndim" and I[at[0]] in (ARRAY, DEFERRED):
        heap.write(out, I[I[at[0] + 1] + RANK])
    elif name in ("sum_to", "instantiate") and _alike(heap, at[0], at[1], name):
        I[out], I[out + 1] = I[at[0]], I[at[0] + 1]
    else:
        return False
    return True


def _alike(heap: Heap, d: int, x: int, name: str) -> bool:
    """Whether a sensitivity has the shape and the dtype of its value already; and no ZEROs, if it is to be written out."""
    I = heap.integers
    shape = deferred.shape_at(heap, d)
    if shape is None or shape != deferred.shape_at(heap, x):
        return False
    return name == "sum_to" or not (I[I[d + 1] + HOLED] or I[I[x + 1] + HOLED])
