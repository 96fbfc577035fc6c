"""Scatters: one loop over lines, each adding its element to an array that nobody else has."""

from __future__ import annotations

from typing import Any

from backend.arrays.values import Held, Scatter, Sizes, place
from semantics.type_language import INTEGER


def scattered(emit: Any, array: Held, scatter: Scatter, first: bool) -> Held:
    """The array with the elements of the scatter added; in place of what is there, if `first`."""
    lines = tuple(n for k, n in enumerate(scatter.sizes) if k not in scatter.axes)
    emit.prepared(scatter.sources, lines)
    with emit.over(lines, range(len(lines)) or None) as indices:
        number = emit.variable(INTEGER)
        emit.line(f"{number} = {emit.element(scatter.numbers, indices).text}")
        source = emit.element(scatter.sources, indices).text
        at = f"[{place(_indices(scatter, indices, number))}]"
        emit.line(f"{array.name}{at} = {source}" if first else f"{array.name}{at} = {array.name}{at} + {source}")
        if array.mask:
            emit.line(f"{array.mask}{at} = True")
    return array


def _indices(scatter: Scatter, indices: Sizes, number: str) -> Sizes:
    """The indices of the element with a number in its line."""
    found, own = list(indices), in_line(scatter.sizes, scatter.axes, number)
    for axis in scatter.axes:
        found.insert(axis, own[axis])
    return tuple(found)


def in_line(sizes: Sizes, axes: tuple[int, ...], number: str) -> dict[int, str]:
    """The index along each axis of the element with a number among those along these axes, in row-major order."""
    found = {}
    for axis in reversed(axes):
        found[axis] = f"{number} % {sizes[axis]}" if axis != axes[0] else number
        number = f"({number} // {sizes[axis]})"
    return found
