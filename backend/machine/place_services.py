"""
Rows of arrays that choose among elements, number them and send them back, done by the loops of `place_loops`.

Here elements may be integers, and sensitivities may have ZEROs among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backend.machine.array_services import Answer, Operand, Result, moved, rearranged
from backend.machine.heap import Heap
from backend.machine.layout import ARRAY, COMPARISONS, DTYPE, HOLED, RANK, RAW, REAL, SHAPE, ZERO, ZERO_BITS
from semantics import shapes
from semantics.arrays import DTYPES, normal_axes, normal_axis, size_of, strides_of
from semantics.columns.arrays.elements import boolean


class Elements(Operand):
    """The elements of an array of any dtype, among which there may be ZEROs."""

    __slots__ = ()


def elements(heap: Heap, x: int) -> Elements | None:
    """The array at an address; None if there is none."""
    I = heap.integers
    if I[x] != ARRAY:
        return None
    p = I[x + 1]
    start = p + SHAPE + I[p + RANK]
    return Elements(start, tuple(I[p + SHAPE : start]), DTYPES[I[p + DTYPE]], bool(I[p + HOLED]))


def extreme(name: str, x: Operand, axis: Any, keepdims: bool) -> Answer:
    """`reduce_max` and `reduce_min`; of no elements it is the reference that traps."""
    boolean(name, "keepdims", keepdims)
    axes, strides = normal_axes(axis, len(x.shape), name), strides_of(x.shape)
    kept, gone = [a for a in range(len(x.shape)) if a not in axes], sorted(axes)
    shape = shapes.known(shapes.reduced(x.shape, axis, keepdims, name))
    m = size_of([x.shape[a] for a in gone])
    given = [x.shape[a] for a in kept], [strides[a] for a in kept], m, [x.shape[a] for a in gone], [strides[a] for a in gone]
    most = int(name == "reduce_max")
    return Result(shape, lambda k, out: k.extreme(most, x.at, out, size_of(shape), *given)) if m else None


def first(name: str, x: Operand, axis: Any) -> Answer:
    """`argmax` and `argmin` along one axis, or of all elements in order."""
    shape = x.shape if axis is not None else (size_of(x.shape),)
    along = normal_axis(0 if axis is None else axis, len(shape), name)
    kept, strides = [a for a in range(len(shape)) if a != along], strides_of(shape)
    lines = tuple(shape[a] for a in kept)
    given = list(lines), [strides[a] for a in kept], shape[along], strides[along]
    most = int(name == "argmax")
    write = Result(lines, lambda k, out: k.first(most, x.at, out, size_of(lines), *given), "i64")
    return write if shape[along] and lines else None


def grouped(x: Operand, axis: Any) -> Result:
    """x with what `axis` names as one last axis."""
    axes, strides = normal_axes(axis, len(x.shape), "grouped"), strides_of(x.shape)
    order = [*(a for a in range(len(x.shape)) if a not in axes), *sorted(axes)]
    result = moved(x.at, tuple(x.shape[a] for a in order), [strides[a] for a in order])
    return Result(shapes.known(shapes.grouped(x.shape, axis)), result.write)


def take_along(x: Elements, index: Elements, axis: int) -> Answer:
    """The elements that indices name on the lines of x."""
    along, strides = normal_axis(axis, len(x.shape), "take_along"), strides_of(x.shape)
    if len(index.shape) != len(x.shape) or any(
        a != b for k, (a, b) in enumerate(zip(x.shape, index.shape, strict=True)) if k != along
    ):
        return None
    own = [0 if k == along else s for k, s in enumerate(strides)]
    given = size_of(index.shape), list(index.shape), own, x.shape[along], strides[along]
    return Result(index.shape, lambda k, out: k.along(x.at, index.at, out, *given), x.dtype)


def word(heap: Heap, x: int) -> int | None:
    """Where the word of a real is, or one of a symbolic ZERO, which is then on the heap; None for anything else."""
    if heap.integers[x] == ZERO:
        p = heap.room(RAW + 1, 0)
        heap.integers[p + RAW] = ZERO_BITS
        return p + RAW
    return x + 1 if heap.integers[x] == REAL else None


def where(heap: Heap, c: Elements, chosen: Sequence[tuple[int, Elements | None]]) -> Answer:
    """A choice for each condition among reals, of which an array has as many as there are conditions; one at least is an array."""
    if {(x.shape, x.dtype) for _, x in chosen if x} != {(c.shape, "f64")}:
        return None
    (a, s), (b, t) = [(x.at, 1) if x else (word(heap, at), 0) for at, x in chosen]
    if a is None or b is None:
        return None
    return Result(c.shape, lambda k, out: k.chosen(c.at, a, b, out, size_of(c.shape), s, t), holed=True)


def instantiated(heap: Heap, at: int, d: Elements | None, x: Elements) -> Answer:
    """The sensitivity d of an array x of f64, where it is of its shape, or ZERO; without ZEROs."""
    if d is None:
        start, stride = (word(heap, at) if heap.integers[at] == ZERO else None), 0
    else:
        start, stride = (d.at if (d.shape, d.dtype) == (x.shape, "f64") else None), 1
    return None if start is None else Result(x.shape, lambda k, out: k.whole(start, out, size_of(x.shape), stride))


def order(heap: Heap, name: str, operands: Sequence[tuple[int, Elements | None]]) -> Answer:
    """A comparison of arrays of f64 of one shape, or of one with a real."""
    shapes_of = {x.shape for _, x in operands if x}
    if len(shapes_of) != 1 or any(x.dtype != "f64" or x.holed if x else heap.integers[at] != REAL for at, x in operands):
        return None
    (shape,) = shapes_of
    (x, s), (y, t) = [(x.at, 1) if x else (at + 1, 0) for at, x in operands]
    asked, n = COMPARISONS[name], size_of(shape)
    return Result(shape, lambda k, out: k.compared(asked, x, y, out, n, s, t), "bool") if shape else None


def product(heap: Heap, operands: Sequence[tuple[int, Elements | None]]) -> Answer:
    """The product of sensitivities of one shape, or of one with a real."""
    shapes_of = {x.shape for _, x in operands if x}
    if len(shapes_of) != 1 or any(x.dtype != "f64" if x else heap.integers[at] != REAL for at, x in operands):
        return None
    (shape,) = shapes_of
    (x, s), (y, t) = [(x.at, 1) if x else (at + 1, 0) for at, x in operands]
    n = size_of(shape)
    return Result(shape, lambda k, out: k.products(x, y, out, n, s, t), holed=True) if shape else None


def answer(heap: Heap, name: str, at: Sequence[int]) -> Answer:
    """What these loops can make of a row and its operands."""
    found = [elements(heap, x) for x in at]
    if name in COMPARISONS:
        return order(heap, name, list(zip(at, found, strict=True)))
    match name, found:
        case "mul", [_, _]:
            return product(heap, list(zip(at, found, strict=True)))
        case "neg", [Elements(dtype="f64", shape=(_, *_)) as d]:
            return Result(d.shape, lambda k, out: k.opposite(d.at, out, size_of(d.shape)), holed=True)  # type: ignore[union-attr]
        case "where", [Elements(dtype="bool", shape=(_, *_)) as c, _, _]:
            return where(heap, c, list(zip(at[1:], found[1:], strict=True)))
        case "sum_to", [Elements(dtype="f64", shape=(_, *_)) as d, None] if heap.integers[at[1]] == REAL and size_of(d.shape):
            return Result((), lambda k, out: k.sum_there(d.at, out, size_of(d.shape)), holed=True)  # type: ignore[union-attr]
        case "instantiate", [d, Elements(dtype="f64", shape=(_, *_), holed=False) as x]:
            return instantiated(heap, at[0], d, x)
        case "reduce_max" | "reduce_min", [Elements(dtype="f64", holed=False) as x, _, _]:
            return extreme(name, x, heap.value(at[1]), heap.value(at[2]))
        case "argmax" | "argmin", [Elements(dtype="f64", holed=False) as x, _]:
            return first(name, x, heap.value(at[1]))
        case "grouped", [Elements(dtype=dtype, holed=False) as x, _]:
            turned = grouped(x, heap.value(at[1]))
            return Result(turned.shape, turned.write, dtype)
        case "expand_dims", [Elements(dtype=dtype, holed=False) as x, _]:
            wider = rearranged(name, x, heap.value(at[1]))
            return Result(wider[0], moved(x.at, *wider).write, dtype)
        case "take_along", [Elements(holed=False) as x, Elements(dtype="i64") as index, None] if type(heap.value(at[2])) is int:
            return take_along(x, index, heap.value(at[2]))
        case "places", [Elements(shape=shape)]:
            return Result(shape, lambda k, out: k.numbered(out, size_of(shape)), "i64")
        case "gathered", [Elements(dtype="f64") as v, Elements(dtype="i64") as p, Elements(dtype="f64") as x] if v.shape == x.shape:
            given = size_of(p.shape), size_of(x.shape)
            return Result(p.shape, lambda k, out: k.gathered(v.at, p.at, out, *given), holed=True)
        case "returned", [Elements(dtype="f64") as d, Elements(dtype="i64") as p, Elements(dtype="f64") as x] if size_of(
            d.shape
        ) == size_of(p.shape):
            given = size_of(p.shape), size_of(x.shape)
            return Result(x.shape, lambda k, out: k.returned(d.at, p.at, out, *given), holed=True)
        case "gadd", [Elements(dtype="f64") as a, Elements(dtype="f64") as b] if a.shape == b.shape:
            return Result(a.shape, lambda k, out: k.both(a.at, b.at, out, size_of(a.shape)), holed=True)
        case _:
            return None
