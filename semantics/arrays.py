"""
Arrays: a dtype, a shape, and the elements in row-major order.

    Array("f64", (2, 3), (x00, x01, x02, x10, x11, x12))

The elements are values of the carrier: doubles in the reference, fractions, balls, dual numbers or solver terms elsewhere. So
every primitive on arrays is written once, by what it does to elements, and every column reads it (`semantics.columns.arrays`).
In a sensitivity an element may be the symbolic ZERO: nothing flows there.

    f64  f32 (rounded after every operation)  i64 (checked: beyond 64 bits it traps)  bool
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeVar

from semantics.errors import IllTyped, OutOfFuel, Trap

DTYPES = ("bool", "i64", "f32", "f64")
FLOATING = ("f32", "f64")
MOST = 1 << 28
"""Elements of an array that is made: the budget of memory."""
Shape = tuple[int, ...]
Size = TypeVar("Size", int, int | None)


@dataclass(frozen=True, slots=True, eq=False)
class Array:
    """An array. Compared by `semantics.values.same`."""

    dtype: str
    shape: Shape
    items: tuple[Any, ...]

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self.items[:6])) + (", …" if len(self.items) > 6 else "")
        return f"array[{self.dtype}; {', '.join(map(str, self.shape))}]({shown})"

    def __getitem__(self, flat: int) -> Any:
        """The element at a place in row-major order."""
        return self.items[flat]

    def __len__(self) -> int:
        return len(self.items)

    def with_items(self, items: Iterable[Any]) -> Array:
        """The same shape and dtype with other elements."""
        return Array(self.dtype, self.shape, tuple(items))


def size_of(shape: Sequence[int]) -> int:
    """The number of elements."""
    return math.prod(shape)


def within_budget(name: str, shape: Shape) -> Shape:
    """The shape; OutOfFuel where an array of it has more than MOST elements, or would have, were its axes of none left out."""
    if size_of([n for n in shape if n]) > MOST:
        none = ", but for its axes of none" if 0 in shape else ""
        found = f"{name}: an array of shape {shown(shape)} has more than 2^{MOST.bit_length() - 1} elements{none}"
        raise OutOfFuel(found, rule=name, remedy="smaller sizes, or a loop over parts")
    return shape


def strides_of(shape: Sequence[int]) -> Shape:
    """How far apart neighbours along each axis lie in row-major order."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return tuple(reversed(strides))


def indices_of(shape: Sequence[int]) -> Iterator[Shape]:
    """All index tuples in row-major order; one empty tuple for a shape without axes."""
    return product(*map(range, shape))


def positions(shape: Sequence[int], strides: Sequence[int], offset: int = 0) -> list[int]:
    """offset + Σ iₖ·strideₖ for all indices i of `shape`, in row-major order."""
    found = [offset]
    for n, stride in zip(shape, strides, strict=True):
        steps = [k * stride for k in range(n)]
        found = [base + step for base in found for step in steps]
    return found


def normal_axis(axis: int, rank: int, name: str) -> int:
    """The axis counted from the front; Trap outside the rank, IllTyped if it is no integer."""
    if type(axis) is not int:
        raise IllTyped(f"{name}: {axis!r} is no axis", rule=name, remedy="an integer, a tuple of integers, or None")
    if not -rank <= axis < rank:
        raise Trap(f"{name}: axis {axis} of an array of {rank} axes", rule=name, remedy=_axes(rank))
    return axis % rank


def _axes(rank: int) -> str:
    return f"an axis from {-rank} to {rank - 1}" if rank else "an array without axes has none to name; leave axis out"


def normal_axes(axis: Any, rank: int, name: str) -> Shape:
    """What `axis` names: all axes for None, else one or a tuple of them, each counted from the front, no axis twice."""
    if axis is None:
        return tuple(range(rank))
    axes = tuple(normal_axis(a, rank, name) for a in (axis if isinstance(axis, tuple) else (axis,)))
    if len(set(axes)) < len(axes):
        raise Trap(f"{name}: an axis is named twice in {axis}", rule=name, remedy="name each axis once")
    return axes


def shown(shape: Sequence[int | None]) -> str:
    """A shape as messages show it; a size that is not known is a question mark."""
    inside = ", ".join("?" if n is None else str(n) for n in shape)
    return f"({inside},)" if len(shape) == 1 else f"({inside})"


def broadcast_shapes(shapes: Iterable[tuple[Size, ...]], name: str) -> tuple[Size, ...]:
    """
    The shape that all broadcast to, aligned at the last axis; Trap if two sizes differ and neither is 1.

    A size may be None, not known: then only a mismatch that is certain traps. OutOfFuel beyond the budget of memory.
    """
    shapes = tuple(shapes)
    if shapes and shapes.count(shapes[0]) == len(shapes):
        return shapes[0]
    result: list[Size] = []
    rank = max(map(len, shapes), default=0)
    for sizes in zip(*((1,) * (rank - len(s)) + s for s in shapes), strict=True):
        wide = {n for n in sizes if n != 1}
        certain = wide - {None}
        if len(certain) > 1:
            found = " and ".join(map(shown, shapes))
            raise Trap(
                f"{name}: the shapes {found} do not broadcast", rule=name, remedy="equal sizes, or 1, axis by axis from the last"
            )
        result.append(certain.pop() if certain else wide.pop() if wide else 1)
    within_budget(name, tuple(n or 0 for n in result))
    return tuple(result)


def broadcast_positions(shape: Shape, to: Shape) -> list[int]:
    """For every element of `to`, the place in an array of `shape` that is repeated there."""
    padded = (1,) * (len(to) - len(shape)) + shape
    strides = [0 if n == 1 else s for n, s in zip(padded, strides_of(padded), strict=True)]
    return positions(to, strides)


def single(x: float) -> float:
    """The f32 nearest to a double, as a double; beyond the range, infinite."""
    if math.isinf(x) or math.isnan(x):
        return x
    try:
        return float(struct.unpack("<f", struct.pack("<f", x))[0])
    except OverflowError:
        return math.copysign(math.inf, x)


def promoted(operands: Sequence[str], name: str) -> str:
    """
    The dtype in which operands meet, as NumPy has it (NEP 50).

    `operands` are dtypes of arrays, and "real", "integer", "boolean" for scalars, which take the dtype of the arrays they meet.
    """
    strong = [d for d in operands if d in DTYPES]
    result = max(strong, key=DTYPES.index) if strong else "bool"
    if result == "f32" and "i64" in strong:
        result = "f64"
    if "real" in operands and result not in FLOATING:
        return "f64"
    if "integer" in operands and result == "bool":
        return "i64"
    return result


def checked_integer(n: int, name: str) -> int:
    """n, if it is one of 64 bits; Trap otherwise, where NumPy would wrap around."""
    if not -(1 << 63) <= n < 1 << 63:
        raise Trap(f"{n} is beyond 64 bits", rule=name, remedy="use f64, or smaller integers")
    return n


def of_rank_zero(array: Array) -> Any:
    """The scalar that an operation gives where no axis is left; an f32 stays an array without axes."""
    return array.items[0] if array.shape == () and array.dtype != "f32" else array
