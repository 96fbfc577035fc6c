"""
How an array that is not written out lies in memory, and what it is worth. DEFERRED has the head of the array, and then

    how often it was summed, the strides of one factor, those of the other      its values: the array, once there is one, or UNIT;
                                                                                and the factors, which are reals or arrays

Each element is the product of an element of each factor; a stride is 0 along an axis on which a factor is repeated. Of an array
seen in another shape one factor is 1.0, which leaves every number as it is, a NaN too.
"""

from __future__ import annotations

from typing import Any

from backend.machine.layout import ARRAY, ONE, RANK, REAL, SHAPE, SIZE, UNIT
from semantics.arrays import Array, Shape
from transforms.unboxed import unboxed

FACTORS = 2
"""Factors of an element; before them such an object has the array as a value."""

Factor = tuple[int, tuple[int, ...]]
"""Where the elements of a factor begin, and the strides with which it is gone over."""


def array_of(I: Any, p: int) -> int:
    """The address of the value that is the array, once it is written out; the factors follow it."""
    return int(p + I[p + SIZE] - 2 * (1 + FACTORS))


def is_written(I: Any, p: int) -> bool:
    """Whether the array is there."""
    return bool(I[array_of(I, p)] != UNIT)


def is_view(I: Any, p: int) -> bool:
    """Whether one factor alone says what the elements are."""
    return factors(I, p)[1][0] == ONE


def shape_of(I: Any, p: int) -> Shape:
    """The sizes of the axes, as of any array."""
    return tuple(I[p + SHAPE : p + SHAPE + I[p + RANK]])


def factors(I: Any, p: int) -> tuple[Factor, Factor]:
    """Both factors; the second is the word ONE of the state where there is but one."""
    rank = I[p + RANK]
    strides, cells = p + SHAPE + rank + 1, array_of(I, p) + 2
    first, second = [(_elements(I, cells + 2 * k), tuple(I[strides + k * rank : strides + (k + 1) * rank])) for k in range(FACTORS)]
    return first, second


def _elements(I: Any, cell: int) -> int:
    if I[cell] == REAL:
        return cell + 1
    if I[cell] != ARRAY:
        return ONE
    p = int(I[cell + 1])
    return int(p + SHAPE + I[p + RANK])


def at(I: Any, F: Any, p: int, array: Array | None) -> Array:
    """The array, made now if it has not been written out."""
    if array is not None:
        return array
    import numpy

    shape = shape_of(I, p)
    seen = [numpy.lib.stride_tricks.as_strided(_from(F, at, shape, s), shape, [8 * n for n in s]) for at, s in factors(I, p)]
    with numpy.errstate(all="ignore"):
        return unboxed("f64", shape, (seen[0] * seen[1]).ravel())


def _from(F: Any, at: int, shape: Shape, strides: tuple[int, ...]) -> Any:
    """The words in which a factor has its elements."""
    import numpy

    return numpy.frombuffer(F[at : at + 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))], numpy.float64)
