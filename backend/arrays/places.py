"""
The way back of a maximum, a minimum, and what else picks one element of a line.

    returned(d, take_along(grouped(places(x), axis), expand_dims(k, -1), -1), x)

is an array of ZEROs but for the elements that the numbers k pick: a `Scatter`. No number of a place is ever computed.
"""

from __future__ import annotations

from typing import Any

from backend.arrays.reductions import axes_of
from backend.arrays.scatter import in_line
from backend.arrays.values import ARRAYS, ONE, Chosen, Places, Scatter, Sizes, uncompiled
from backend.shape import ZERO_VALUE, Nothing, Reg
from semantics.type_language import INTEGER, REAL


def grouped(emit: Any, x: Any, axis: Any) -> Any:
    """x with the named axes made one and put last."""
    axes = axes_of(axis, len(x.sizes))
    if isinstance(x, Places):
        return Places(x.sizes, axes)
    kept = tuple(k for k in range(len(x.sizes)) if k not in axes)
    if not axes:
        raise uncompiled("grouped along no axis")
    size = x.sizes[axes[0]]
    if len(axes) > 1:
        size = emit.variable(INTEGER)
        emit.line(f"{size} = {' * '.join(x.sizes[k] for k in axes)}")
    if kept + axes == tuple(range(len(x.sizes))) and len(axes) == 1:
        return x
    sizes = (*(x.sizes[k] for k in kept), size)
    if kept + axes == tuple(range(len(x.sizes))):
        return emit.reshaped(emit.contiguous(x), sizes)

    def element(emit: Any, at: Sizes) -> Reg:
        where = dict(zip(kept, at, strict=False))
        where |= in_line(x.sizes, axes, at[-1])
        found: Reg = emit.element(x, tuple(where[k] for k in range(len(x.sizes))))
        return found

    return emit.formula(x.dtype, sizes, element, (x,), along=False)


def take_along(emit: Any, x: Any, indices: Any, axis: Any) -> Any:
    """The element of each line at an index."""
    if not isinstance(x, Places) or x.axes is None:
        raise uncompiled("take_along")
    if (
        not isinstance(indices, ARRAYS)
        or indices.sizes[-1] != ONE
        or axes_of(axis, len(indices.sizes)) != (len(indices.sizes) - 1,)
    ):
        raise uncompiled("several elements of a line")
    return Chosen(x.sizes, x.axes, indices)


def returned(emit: Any, d: Any, p: Any, x: Any) -> Any:
    """d gone back to the places p of x."""
    if any(isinstance(v, Nothing) for v in (d, p, x)):
        return ZERO_VALUE
    if not isinstance(p, Chosen) or not isinstance(x, ARRAYS):
        raise uncompiled("a way back to other places than one in each line")
    lines = tuple(n for k, n in enumerate(p.sizes) if k not in p.axes)
    numbers = emit.reshaped(p.numbers, lines) if lines else p.numbers
    if not lines:
        number = emit.variable(INTEGER)
        with emit.over((ONE,), ()) as at:
            emit.line(f"{number} = {emit.element(p.numbers, at).text}")
        numbers = Reg(number, INTEGER)
    return Scatter(p.sizes, p.axes, _by_line(emit, d, lines), numbers)


def _by_line(emit: Any, d: Any, lines: Sizes) -> Any:
    """The sensitivities, one for each line."""
    if isinstance(d, Reg):
        if lines:
            raise uncompiled("one sensitivity for several lines")
        return d
    if lines:
        return emit.reshaped(d, lines)
    value, number = emit.held(d), emit.variable(REAL)
    with emit.over((ONE,), ()):
        emit.line(f"{number} = {emit.element(value, tuple('0' for _ in value.sizes)).text}")
    return Reg(number, REAL)
