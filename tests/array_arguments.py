"""What examples of array rows are written with: ways to name axes, arrays of each dtype, matrices that can be inverted."""

from __future__ import annotations

from typing import Any

from array_rules import Example, array

from semantics.arrays import Array

A = array
SHAPES: tuple[tuple[int, ...], ...] = ((), (1,), (3,), (0,), (2, 3), (3, 1), (2, 0), (2, 1, 2))


def integers(*items: int, shape: tuple[int, ...] | None = None) -> Array:
    return Array("i64", shape if shape is not None else (len(items),), items)


def booleans(*items: bool, shape: tuple[int, ...] | None = None) -> Array:
    return Array("bool", shape if shape is not None else (len(items),), items)


def every(*arguments: tuple[Any, ...], rational: bool = True) -> tuple[Example, ...]:
    return tuple(Example(a, rational) for a in arguments)


def axes_of(shape: tuple[int, ...]) -> tuple[Any, ...]:
    """The ways to name axes of a shape: all, each from both ends, the last with the first, none."""
    rank = len(shape)
    return (None, (), *range(-rank, rank), *(((rank - 1, 0),) if rank > 1 else ()))


def reducing(*shapes: tuple[int, ...], rational: bool = True, low: float = -2.0, empty: bool = True) -> tuple[Example, ...]:
    """x, axis, keepdims: every way to name axes, keeping them or not. Without `empty`, no group may be empty."""
    found = []
    for shape in shapes:
        for k, axis in enumerate(axes_of(shape)):
            named = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
            if empty or all(shape[a] for a in named):
                found.append(Example((A(shape, k, low), axis, k % 2 == 1), rational))
    return tuple(found)


def along(*shapes: tuple[int, ...], none: bool = True) -> tuple[Example, ...]:
    """x, axis: each axis from both ends, and None."""
    return tuple(
        Example((A(shape, k), axis))
        for shape in shapes
        for k, axis in enumerate((*((None,) if none else ()), *range(-len(shape), len(shape))))
    )


def squares(*sizes: int, rational: bool = True) -> tuple[Example, ...]:
    """Matrices that are far from singular, symmetric parts positive: a dominant diagonal."""
    return tuple(Example((dominant(n),), rational) for n in sizes)


def dominant(n: int, seed: int = 0) -> Array:
    items = A((n, n), seed).items
    return Array("f64", (n, n), tuple(x / 8 + 4.0 * (k % (n + 1) == 0) for k, x in enumerate(items)))


def symmetric(n: int) -> Array:
    m = dominant(n)
    return Array("f64", (n, n), tuple((m.items[i * n + j] + m.items[j * n + i]) / 2 for i in range(n) for j in range(n)))


PRODUCTS = (
    ((2,), (2,)),
    ((2, 3), (3,)),
    ((2,), (2, 3)),
    ((2, 3), (3, 2)),
    ((1, 2), (2, 1)),
    ((0, 2), (2, 1)),
    ((2, 0), (0, 3)),
    ((0,), (0,)),
)
