"""
The way back of rows that move elements, by the numbers of their places.

    returned(d, move(places(x)), x)

moves the numbers as the row moves elements, and sends every sensitivity back to the number it belongs to. Where one element of each
line is picked,

    returned(d, take_along(grouped(places(x), axis), expand_dims(k, -1), -1), x)

the result is a `Scatter`, and no number of a place is ever computed.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from backend.arrays.attributes import as_operand, axes_of, flat, is_zero
from backend.arrays.elementwise import as_element
from backend.arrays.gathering import gathered as from_sensitivity
from backend.arrays.indexed import take_along as taken
from backend.arrays.leaves import FLOATING, extent, leaf_dtype, leaves, rebuilt
from backend.arrays.neutral import NEUTRAL
from backend.arrays.scatter import in_line
from backend.arrays.values import (
    ARRAYS,
    ONE,
    Chosen,
    Formula,
    Held,
    Moved,
    Numbered,
    Places,
    Scatter,
    Sizes,
    numbered,
    plus,
    product,
    row_major,
    uncompiled,
)
from backend.lowering.shape import ZERO_VALUE, Items, Reg, Sum
from semantics.type_language import INTEGER


def grouped(emit: Any, x: Any, axis: Any) -> Any:
    """x with the named axes made one and put last."""
    if is_zero(x):
        return x
    x = x if isinstance(x, Places) else as_operand(emit, x)
    axes = axes_of(axis, len(x.sizes))
    if isinstance(x, Places):
        return Places(x.sizes, axes)
    kept = tuple(k for k in range(len(x.sizes)) if k not in axes)
    if not axes:
        return emit.reshaped(x, (*x.sizes, ONE))
    size = x.sizes[axes[0]]
    if len(axes) > 1:
        size = emit.integer(product(x.sizes[k] for k in axes)).text
    if kept + axes == tuple(range(len(x.sizes))) and len(axes) == 1:
        return x
    sizes = (*(x.sizes[k] for k in kept), size)
    if kept + axes == tuple(range(len(x.sizes))):
        return emit.reshaped(emit.contiguous(x), sizes)

    def element(emit: Any, at: Sizes) -> Any:
        where = dict(zip(kept, at, strict=False))
        where |= in_line(x.sizes, axes, at[-1])
        return emit.element(x, tuple(where[k] for k in range(len(x.sizes))))

    return emit.formula(x.dtype, sizes, element, (x,), along=False, holes=x.type.holes)


def take_along(emit: Any, x: Any, indices: Any, axis: Any) -> Any:
    """The elements of each line at indices; of the numbers of a whole array, if there is one for each line, which it is."""
    if is_zero(x) or is_zero(indices):
        return ZERO_VALUE
    if not isinstance(x, Places) or x.axes is None:
        return taken(emit, as_operand(emit, x), indices, axis)
    index = as_operand(emit, indices)
    if index.sizes[-1] == ONE and axes_of(axis, len(index.sizes)) == (len(index.sizes) - 1,):
        return Chosen(x.sizes, x.axes, index)
    return taken(emit, _numbers(emit, x), index, axis)


def _numbers(emit: Any, p: Any) -> Any:
    """The numbers of places, as an array."""
    match p:
        case Places(sizes, axes) if axes is not None:
            return grouped(emit, numbered(sizes, "1"), Items(tuple(Reg(str(k), INTEGER, k) for k in axes)))
        case Chosen(sizes, axes, numbers):
            kept = [k for k in range(len(sizes)) if k not in axes]

            def element(emit: Any, at: Sizes) -> Reg:
                where = dict(zip(kept, at, strict=False))
                where |= in_line(sizes, axes, emit.noted(emit.element(numbers, at)).text)
                return Reg(f"({plus(row_major(tuple(where[k] for k in range(len(sizes))), sizes), ONE)})", INTEGER)

            return emit.formula("i64", (*(sizes[k] for k in kept), ONE), element, (numbers,), along=False)
        case _:
            found = as_operand(emit, p)
            if found.dtype != "i64":
                raise uncompiled("places that are no integers")
            return found


def returned(emit: Any, d: Any, p: Any, x: Any) -> Any:
    """d gone back to the places p of x."""
    if any(is_zero(v) for v in (d, p, x)):
        return ZERO_VALUE
    whole = not isinstance(d, Sum) and not (isinstance(d, ARRAYS) and d.type.holes)
    if isinstance(p, Chosen) and whole and isinstance(x, ARRAYS) and x.type.dtype == "f64":
        return _scattered(emit, d, p)
    if _stays(d, p, x):
        for m, n in zip(d.sizes, x.sizes, strict=True):
            emit.equal(m, n)
        return as_operand(emit, d)
    if isinstance(p, Moved) and (found := _moved_back(emit, d, p, x)) is not None:
        return found
    counted = p.sizes if isinstance(p, Numbered) and p.first == ONE else None
    d, p = flat(emit, as_operand(emit, d)), flat(emit, _numbers(emit, p))
    emit.equal(d.sizes[0], p.sizes[0])
    inside: list[tuple[Any, str]] = []
    total = extent(emit, x, "0", inside)
    if not inside:
        return rebuilt(x, iter(()))
    if counted and not any(isinstance(leaf, ARRAYS) for leaf, _ in inside) and prod(map(int, counted)) == len(inside):
        emit.prepared(d, d.sizes)
        return rebuilt(x, (_number(emit, d, leaf, at) for leaf, at in inside))
    dtypes = {leaf_dtype(leaf) for leaf, _ in inside if leaf_dtype(leaf) in FLOATING}
    if len(dtypes) > 1:
        raise uncompiled("sensitivities of f32 and f64 that go back together")
    dtype = dtypes.pop() if dtypes else "f64"
    array = emit.new(dtype, (total,), NEUTRAL, "False")
    emit.prepared(d, d.sizes)
    emit.prepared(p, d.sizes)
    with emit.over(d.sizes, None) as at:
        k = emit.integer(emit.element(p, at).text).text
        item = as_element(emit, emit.element(d, at), dtype)
        outer, emit.code = emit.code, []
        emit.add_into(array, (f"{k} - 1",), item)
        body, emit.code = emit.code, outer
        emit.code += [f"if {k} > 0:", body]
    return rebuilt(x, (_part(emit, array, leaf, start) for leaf, start in inside))


def _moved_back(emit: Any, d: Any, p: Moved, x: Any) -> Any:
    """Each array reads its own part of d; None where x has something else than these arrays, or d other axes."""
    found, d = [*leaves(x)], as_operand(emit, d)
    if p.where.keys() != {*range(len(found))} or not all(isinstance(leaf, ARRAYS) for leaf in found):
        return None
    if len(d.sizes) != len(p.sizes):
        return None
    for m, n in zip(d.sizes, p.sizes, strict=True):
        emit.equal(m, n)
    alone = isinstance(d, Formula) and d.uses == 1 and not d.cheap and emit.kept(d) is None
    if alone:
        _shared_held(emit, d)
    return rebuilt(x, iter([_read(emit, d, leaf, p.where[k], alone) for k, leaf in enumerate(found)]))


def _shared_held(emit: Any, formula: Formula) -> None:
    """The formulas in one that others read too are computed, so that what reads its elements in several loops does so once."""
    for part in formula.parts:
        if isinstance(part, Formula) and emit.kept(part) is None:
            if part.uses > 1 and not part.cheap:
                emit.held(part)
            else:
                _shared_held(emit, part)


def _read(emit: Any, d: Any, leaf: Any, where: Callable[[Sizes], Sizes], alone: bool) -> Any:
    """
    The elements of d that an array reads at indices of its own, each where it is read if it is read `alone`; ZERO for what has no
    reals.
    """
    dtype = leaf_dtype(leaf)
    if dtype not in FLOATING:
        return ZERO_VALUE

    def element(emit: Any, at: Sizes) -> Any:
        return as_element(emit, emit.element(d, where(at)), dtype)

    return emit.formula(dtype, leaf.sizes, element, (d,), cheap=not alone, along=False, holes=d.type.holes, once=alone)


def _stays(d: Any, p: Any, x: Any) -> bool:
    """Whether the places are those of one array, in their order, as after a copy: each element goes back to where it is."""
    if not (isinstance(p, Numbered) and p.first == ONE and isinstance(x, ARRAYS) and isinstance(d, (Held, Formula))):
        return False
    return p.sizes == x.sizes and len(d.sizes) == len(x.sizes) and d.dtype == x.type.dtype and d.dtype in FLOATING


def _part(emit: Any, array: Held, leaf: Any, start: str) -> Any:
    """What has come back to a leaf; ZERO to what is no real."""
    if leaf_dtype(leaf) not in FLOATING:
        return ZERO_VALUE
    if not isinstance(leaf, ARRAYS):
        return emit.settled(emit.number_at(array, (start,)))
    sizes = leaf.sizes
    if len(sizes) == 1 and start == "0" and array.sizes == sizes:
        return array

    def element(emit: Any, at: Sizes) -> Any:
        return emit.element(array, (plus(start, row_major(at, sizes)),))

    return emit.formula(array.dtype, sizes, element, (array,), cheap=True, along=False, holes=True)


def _number(emit: Any, d: Any, leaf: Any, at: str) -> Any:
    """What comes back to a number from one element alone; ZERO to what is no real."""
    if leaf_dtype(leaf) not in FLOATING:
        return ZERO_VALUE
    with emit.over((), ()):
        found = emit.noted(as_element(emit, emit.element(d, (at,)), leaf_dtype(leaf)))
    return emit.settled(found)


def _scattered(emit: Any, d: Any, p: Chosen) -> Scatter:
    """One sensitivity for each line."""
    lines = tuple(n for k, n in enumerate(p.sizes) if k not in p.axes)
    numbers = emit.reshaped(p.numbers, lines) if lines else emit.without(p.numbers, range(len(p.numbers.sizes)))
    sources = emit.reshaped(as_operand(emit, d), lines) if lines else d
    if not lines and isinstance(d, ARRAYS):
        sources = emit.without(as_operand(emit, d), range(len(d.sizes)))
    return Scatter(p.sizes, p.axes, sources, numbers)


def gathered(emit: Any, v: Any, p: Any, x: Any) -> Any:
    """The elements of v, a sensitivity of x, at the places p; ZERO where the place is 0."""
    return from_sensitivity(emit, v, p, x, _numbers)


def places(emit: Any, x: Any) -> Any:
    """The elements of all arrays and numbers in x, numbered from 1; of one array, in a form that shows what is done with them."""
    if isinstance(x, ARRAYS):
        return Places(x.sizes)
    found: list[tuple[Any, str]] = []
    extent(emit, x, "1", found)
    return rebuilt(x, iter([_numbered(emit, leaf, start, k) for k, (leaf, start) in enumerate(found)]), records=True)


def _numbered(emit: Any, leaf: Any, start: str, number: int) -> Any:
    return numbered(leaf.sizes, start, number) if isinstance(leaf, ARRAYS) else emit.integer(start)


CELLS: dict[str, Callable[..., Any]] = {
    "places": places,
    "grouped": grouped,
    "take_along": take_along,
    "returned": returned,
    "gathered": gathered,
}
