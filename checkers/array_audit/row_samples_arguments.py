"""
What arguments of array rows are written with: ways to name axes, arrays of each dtype, matrices that can be inverted.

Arrays are those of the language, and their elements are short fractions, so that every carrier reads them without rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from checkers.columns.ball import BALLS
from semantics.arrays import FLOATING, Array, size_of
from semantics.denotation import FRACTIONS, Reading


@dataclass(frozen=True)
class Example:
    """
    Arguments of a row.

    rational  they have an exact derivative; otherwise balls enclose it
    constant  a bound on the relative error of a constant that the rule multiplies by, 0 if it has none that is rounded
    """

    arguments: tuple[Any, ...]
    rational: bool = True
    constant: float = 0.0

    def __str__(self) -> str:
        return "-".join(shown(a) for a in self.arguments)

    @property
    def carrier(self) -> Reading:
        return FRACTIONS if self.rational else BALLS


def shown(value: Any) -> str:
    """An argument as the name of a test has it: an array by its dtype and shape."""
    if isinstance(value, Array):
        return f"{value.dtype}{list(value.shape)}".replace(" ", "")
    if isinstance(value, tuple):
        return f"({','.join(map(shown, value))})"
    return str(value)


def array(shape: tuple[int, ...], seed: int = 0, low: float = -2.0, dtype: str = "f64") -> Array:
    """Distinct multiples of 1/64 between low and low + 4, in no order; none of them an integer or a half."""
    items = tuple(low + ((37 * (k + 5 * seed) + 11 * seed + 3) % 127 * 2 + 1) / 64 for k in range(size_of(shape)))
    return Array(dtype, shape, items)


def is_data(value: Any) -> bool:
    """Whether an argument is differentiated: a real, an array of reals, a tuple of such. Others are attributes."""
    if isinstance(value, tuple):
        return bool(value) and all(is_data(v) for v in value)
    return value.dtype in FLOATING if isinstance(value, Array) else isinstance(value, float)


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
