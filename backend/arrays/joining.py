"""Rows that put arrays together or turn them about: concatenate, stack, flip, roll, shift, diag, tril, triu."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from backend.arrays.attributes import along, as_operand, axes_of, flat, is_unit, is_zero, known, not_negative, result_type
from backend.arrays.elementwise import as_element
from backend.arrays.moves import expand_dims, moved
from backend.arrays.values import ARRAYS, Moved, Numbered, Sizes, is_size, plus, uncompiled
from backend.lowering.shape import ZERO_VALUE, Items, Reg, literal
from backend.status import SIZES
from semantics.arrays import MOST
from semantics.primitives.table import TABLE
from semantics.type_language import BOOLEAN


def concatenate(emit: Any, arrays: Any, axis: Any) -> Any:
    """np.concatenate(arrays, axis): each part is written behind the one before."""
    if is_zero(arrays):
        return ZERO_VALUE
    parts = _several(emit, arrays)
    if is_unit(axis):
        parts, axis = [flat(emit, p) for p in parts], literal(0)
    (k,) = axes_of(axis, len(parts[0].sizes))
    sizes = list(parts[0].sizes)
    for part in parts[1:]:
        for a, n in enumerate(part.sizes):
            if a != k:
                sizes[a] = emit.equal(sizes[a], n)
    starts = ["0"]
    for part in parts:
        end = plus(starts[-1], part.sizes[k])
        starts.append(end if is_size(end) else emit.integer(end).text)
    sizes[k] = starts[-1]
    where = [partial(_behind, k, start) for start in starts[:-1]]
    return _as_places(parts, tuple(sizes), where, partial(_joined, emit, starts, tuple(sizes), k))  # type: ignore[arg-type]


def _behind(k: int, start: str, at: Sizes) -> Sizes:
    """The indices with that along axis k counted from a start."""
    return (*at[:k], plus(start, at[k]), *at[k + 1 :])


def _as_places(parts: list[Any], sizes: Sizes, where: list[Callable[[Sizes], Sizes]], move: Callable[[list[Any]], Any]) -> Any:
    """What is made of the parts; where they are numbers of places, each of other arrays, and never asked for, it is not."""
    leaves = [p.leaf for p in parts if isinstance(p, Numbered)]
    if len({*leaves}) < len(parts):
        return move(parts)
    return Moved(sizes, dict(zip(leaves, where, strict=True)), parts, move)


def _joined(emit: Any, starts: list[str], sizes: Sizes, k: int, parts: list[Any]) -> Any:
    """The parts behind one another."""
    type = result_type("concatenate", Items(tuple(parts)), literal(k))
    array = emit.new(type.dtype, sizes, mask="_" * type.holes)
    for part, start in zip(parts, starts, strict=False):
        emit.prepared(part, part.sizes)
        with emit.each(part.sizes) as at:
            emit.write(array, _behind(k, start, at), as_element(emit, emit.element(part, at), type.dtype))
    return array


def _several(emit: Any, arrays: Any) -> list[Any]:
    """The arrays of a tuple or list; the slices of an array whose length is known."""
    if isinstance(arrays, ARRAYS):
        whole = as_operand(emit, arrays)
        if not whole.sizes or not whole.sizes[0].isdigit():
            raise uncompiled("the parts of an array whose length is not known before it runs")
        count = int(whole.sizes[0])
        return [as_operand(emit, emit.primitive(TABLE["getitem"], [whole, literal(k)])) for k in range(count)]
    if not isinstance(arrays, Items) or not arrays.items:
        raise uncompiled("arrays that are no tuple or list of some")
    return [as_operand(emit, p) for p in arrays.items]


def stack(emit: Any, arrays: Any, axis: Any) -> Any:
    """np.stack(arrays, axis)"""
    if is_zero(arrays):
        return ZERO_VALUE
    parts = _several(emit, arrays)
    (k,) = axes_of(axis, len(parts[0].sizes) + 1)
    sizes = parts[0].sizes
    for part in parts[1:]:
        sizes = tuple(map(emit.equal, sizes, part.sizes))

    def move(parts: list[Any]) -> Any:
        return concatenate(emit, Items(tuple(expand_dims(emit, p, literal(k)) for p in parts)), literal(k))

    where = [partial(_of_stack, k, str(j)) for j in range(len(parts))]
    return _as_places(parts, (*sizes[:k], str(len(parts)), *sizes[k:]), where, move)  # type: ignore[arg-type]


def _of_stack(k: int, number: str, at: Sizes) -> Sizes:
    """The indices with one more, along axis k."""
    return (*at[:k], number, *at[k:])


def flip(emit: Any, x: Any, axis: Any) -> Any:
    """np.flip(x, axis)"""
    axes, sizes = axes_of(axis, len(x.sizes)), x.sizes

    def source(at: Sizes) -> Sizes:
        return tuple(f"({n} - 1 - {k})" if a in axes else k for a, (k, n) in enumerate(zip(at, sizes, strict=True)))

    return moved(emit, x, sizes, source)


def roll(emit: Any, x: Any, distance: Any, axis: Any) -> Any:
    """np.roll(x, shift, axis): of the elements in row-major order if axis is None."""
    if is_unit(axis):
        return emit.reshaped(roll(emit, flat(emit, x), distance, literal(0)), x.sizes)
    named = axis.items if isinstance(axis, Items) else (axis,)
    distances = distance.items if isinstance(distance, Items) else (distance,) * len(named)
    by: dict[int, str] = {}
    for a, d in zip(named, distances, strict=True):
        (k,) = axes_of(a, len(x.sizes))
        n = x.sizes[k]
        own = emit.integer(f"{d.text} % {n} if {n} > 0 else 0").text
        by[k] = emit.integer(f"({by[k]} + {own}) % {n} if {n} > 0 else 0").text if k in by else own

    def source(at: Sizes) -> Sizes:
        return tuple(f"({k} - {by[a]}) % {x.sizes[a]}" if a in by else k for a, k in enumerate(at))

    def into(at: Sizes) -> Sizes:
        return tuple(f"({k} + {by[a]}) % {x.sizes[a]}" if a in by else k for a, k in enumerate(at))

    return _as_places([x], x.sizes, [into], lambda of: moved(emit, of[0], x.sizes, source))


def shift(emit: Any, x: Any, by: Any, axis: Any, fill: Any) -> Any:
    """Element k is x[k - by] along the axis, and `fill` where there is none."""
    x, a = along(emit, x, axis)
    n, filler = x.sizes[a], as_element(emit, literal(known(fill, "a number to fill with")), x.dtype)

    def element(emit: Any, at: Sizes) -> Any:
        k = emit.integer(f"{at[a]} - {by.text}").text
        inside = Reg(f"(0 <= {k} and {k} < {n})", BOOLEAN)
        k = emit.integer(f"{k} if {inside.text} else 0").text
        found = emit.element(x, (*at[:a], k, *at[a + 1 :]))
        return emit.primitive(TABLE["switch"], [inside, found, filler])

    return emit.formula(x.dtype, x.sizes, element, (x,), along=False, holes=x.type.holes)


def diag(emit: Any, x: Any, k: Any) -> Any:
    """np.diag(x, k): of a vector the matrix, of a matrix the diagonal."""
    if k.value is None:
        emit.trap(f"{k.text} < -{MOST} or {k.text} > {MOST}", SIZES)
    right = emit.integer(f"max({k.text}, 0)" if k.value is None else str(max(k.value, 0))).text
    down = emit.integer(f"max(-{k.text}, 0)" if k.value is None else str(max(-k.value, 0))).text
    if len(x.sizes) == 1:
        n, _ = not_negative(emit, (emit.integer(plus(plus(x.sizes[0], right), down)).text,) * 2)
        array = emit.new(x.dtype, (n, n), as_element(emit, literal(0), x.dtype).text, "True" * x.type.holes)
        emit.prepared(x, x.sizes)
        with emit.each(x.sizes) as (i,):
            emit.write(array, (plus(i, down), plus(i, right)), emit.element(x, (i,)))
        return array
    rows, columns = x.sizes
    n = emit.integer(f"max(0, min({rows} - {down}, {columns} - {right}))").text
    return moved(emit, x, (n,), lambda at: (plus(at[0], down), plus(at[0], right)))


def triangle(order: str) -> Callable[..., Any]:
    """np.tril or np.triu: 0 beyond diagonal k."""

    def cell(emit: Any, x: Any, k: Any) -> Any:
        zero = as_element(emit, literal(0), x.dtype)

        def element(emit: Any, at: Sizes) -> Any:
            inside = Reg(f"({at[-1]} - {at[-2]} {order} {k.text})", BOOLEAN)
            return emit.primitive(TABLE["switch"], [inside, emit.element(x, at), zero])

        return emit.formula(x.dtype, x.sizes, element, (x,), holes=x.type.holes)

    return cell


CELLS: dict[str, Callable[..., Any]] = {
    "concatenate": concatenate,
    "stack": stack,
    "flip": flip,
    "roll": roll,
    "shift": shift,
    "diag": diag,
    "tril": triangle("<="),
    "triu": triangle(">="),
}
