"""
What an object of the heap is as a value, and what of a value is in an object: its parts, and the words of an array.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import nan as NAN
from typing import TYPE_CHECKING, Any

from immutables import Map

from backend.machine import deferred_values, sparse_values
from backend.machine.layout import (
    CELLS,
    CLOSURE,
    COUNT,
    DEFERRED,
    DTYPE,
    FEW_CELLS,
    GROWN,
    HOLED,
    LISTED,
    MEMORY,
    POINTER,
    RANK,
    RAW,
    RECORD,
    SHAPE,
    SLICE,
    SPARSE,
    TUPLE,
    UNIT,
    ZERO_BITS,
)
from backend.machine.patience import AT_ONCE, IN_ARRAY
from backend.machine.sparse_values import values_of
from semantics.arrays import DTYPES, FLOATING, Array
from semantics.memory import Cells, Memory, Pointer, contents
from semantics.structured import LIST, Record, Slice
from semantics.tangents import ZERO as ZERO_VALUE
from semantics.tangents import Sparse, Zero
from semantics.values import Closure
from transforms.unboxed import FEW, source_of, unboxed

if TYPE_CHECKING:
    from backend.machine.heap import Heap


def places_of(I: Any, tag: int, p: int) -> Sequence[int]:
    """Where the parts are that are values themselves, of which the value of an object is made."""
    if tag == SPARSE:
        return tuple(sparse_values.places(I, p).values())
    if tag == GROWN:
        return elements_of(I, p)
    return values_of(I, p)[: 1 if tag == DEFERRED else None]


def elements_of(I: Any, p: int) -> Sequence[int]:
    """Where the elements of a grown list are: in its buffer, but for those that have been changed since it was made."""
    own, before = values_of(I, p).start, dict[int, int]()
    found = values_of(I, int(I[own + 1]))[: int(I[p + RAW])]
    at = values_of(I, int(I[own + 3])).start
    while I[at] != UNIT:
        before.setdefault(int(I[at + 1]), at + 2)
        at = values_of(I, int(I[at + 5])).start
    return [before.get(k, place) for k, place in enumerate(found)] if before else found


def built(heap: Heap, tag: int, p: int, parts: tuple[Any, ...]) -> Any:
    """The value of an object, from its parts."""
    I = heap.integers
    if tag == TUPLE:
        return parts
    if tag == DEFERRED:
        return deferred_values.at(I, heap.doubles, p, *parts)
    if tag == SPARSE:
        return sparse_values.of_list(I, p, parts) if I[p + DTYPE] == LISTED else sparse_values.at(I, heap.doubles, p)
    if tag == SLICE:
        return Slice(*parts)
    if tag == MEMORY:
        return Memory(int(I[p + RAW]), len(parts), Map(enumerate(parts)))
    if tag == POINTER:
        return Pointer(int(I[p + RAW]), int(I[p + RAW + 1]), parts)
    if tag == CELLS:
        return Cells(Map((k, x) for k, x in enumerate(parts) if x is not ZERO_VALUE))
    if tag == GROWN:
        return Record(LIST, parts)
    if tag == RECORD:
        return Record(heap.table[I[p + RAW]], parts)
    if tag == CLOSURE:
        graph = heap.code.graph_at[int(I[p + RAW])]
        return Closure(graph, parts, heap.code.program.graphs[graph].name)
    rank, count = int(I[p + RANK]), int(I[p + COUNT])
    at = p + SHAPE + rank
    dtype, shape = DTYPES[I[p + DTYPE]], tuple(map(int, I[p + SHAPE : at]))
    if count > FEW and not I[p + HOLED]:
        heap.gone_over += count // AT_ONCE
        return lifted(heap, dtype, shape, at, count)
    heap.gone_over += count // IN_ARRAY
    if dtype not in FLOATING:
        words = I[at : at + count].tolist()
        return Array(dtype, shape, tuple(map(bool, words) if dtype == "bool" else words))
    items = heap.doubles[at : at + count].tolist()
    if I[p + HOLED]:
        items = [ZERO_VALUE if word == ZERO_BITS else x for word, x in zip(I[at : at + count].tolist(), items, strict=True)]
    return Array(dtype, shape, tuple(items))


def lifted(heap: Heap, dtype: str, shape: tuple[int, ...], at: int, count: int) -> Array:
    """An array of many elements, copied as they are."""
    import numpy

    words = heap.doubles if dtype in FLOATING else heap.integers
    flat = numpy.array(words[at : at + count])
    return unboxed(dtype, shape, flat.astype(bool) if dtype == "bool" else flat)


def number(nan: float) -> float:
    """A NaN that is not taken for a ZERO: it itself, if its bits are not those that stand for one."""
    return NAN if array("q", array("d", [nan]).tobytes())[0] == ZERO_BITS else nan


def parts_of(value: Any) -> tuple[Any, ...]:
    """The parts that are values themselves."""
    match value:
        case tuple():
            return value
        case Record():
            return value.items
        case Closure():
            return value.captured
        case Pointer():
            return value.path
        case Slice(start, stop, step):
            return start, stop, step
        case Memory() | Cells():
            return cells_of(value)
        case Sparse():
            return tuple(x for place in sorted(value.entries) for x in (place, value.entries[place]))
        case _:
            return ()


def cells_of(value: Memory | Cells) -> tuple[Any, ...]:
    """What the cells hold, in the order of the addresses."""
    found = contents(value)
    return tuple(found.get(k, ZERO_VALUE) for k in range(max(found, default=-1) + 1))


def is_small(value: Memory | Cells) -> bool:
    """Whether the machine has a form for it: it has few cells."""
    return value.next <= FEW_CELLS if isinstance(value, Memory) else max(value.entries, default=-1) < FEW_CELLS


def fits(value: Array) -> bool:
    """Whether every element is of the array's own dtype or, among reals, a ZERO: what words can hold."""
    if source_of(value) is not None:
        return True
    kind = {"f64": float, "f32": float, "i64": int, "bool": bool}[value.dtype]
    kinds = set(map(type, value.items))
    return kinds <= ({kind, Zero} if kind is float else {kind})
