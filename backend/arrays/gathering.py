"""
The elements of a sensitivity at places of what it is a sensitivity of: how forward mode, and the adjoint of `returned`, move what
moved.

    gathered(v, move(places(x)), x)  =  move(v)

Where the move is known it is made again, of v. Else the elements of v are laid in one line, and read by their numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from backend.arrays.attributes import as_operand, flat, is_zero
from backend.arrays.elementwise import as_element
from backend.arrays.leaves import FLOATING, extent, leaf_dtype
from backend.arrays.values import ARRAYS, ONE, Formula, Moved, Numbered, Sizes, plus, row_major, uncompiled
from backend.lowering.conversion import select
from backend.lowering.shape import ZERO_VALUE, Items, Reg, Sum
from backend.status import SIZES
from semantics.primitives.table import TABLE
from semantics.type_language import BOOLEAN


def gathered(emit: Any, v: Any, p: Any, x: Any, numbers: Callable[[Any, Any], Any]) -> Any:
    """The elements of v, a sensitivity of x, at the places p; ZERO where the place is 0. `numbers` gives places as an array."""
    if any(is_zero(a) for a in (v, p, x)):
        return ZERO_VALUE
    pairs = _beside(v, x)
    parts = _arrays(emit, pairs)
    if isinstance(p, Moved) and p.where.keys() == {*range(len(parts))} and all(isinstance(leaf, ARRAYS) for _, leaf in pairs):
        return p.move([parts[k] for k in p.where])
    line = flat(emit, parts[0]) if len(parts) == 1 else _line(emit, parts, x)
    if isinstance(p, Numbered) and p.first == ONE and _as_many(p.sizes, line.sizes):
        return emit.reshaped(line, p.sizes)
    return _by_number(emit, line, numbers(emit, p))


def _as_many(sizes: Sizes, others: Sizes) -> bool:
    """Whether arrays of these sizes are known to have as many elements."""
    return all(n.isdigit() for n in (*sizes, *others)) and prod(map(int, sizes)) == prod(map(int, others))


def _beside(v: Any, x: Any) -> list[tuple[Any, Any]]:
    """Each array and number in x, in order, with the part of v that is sensitive to it: ZERO where v has none, or x no reals."""
    if isinstance(x, Items):
        if not (is_zero(v) or (isinstance(v, Items) and len(v.items) == len(x.items))):
            raise uncompiled("the elements of sensitivities of which only the run knows whether they are there")
        inner = v.items if isinstance(v, Items) else (v,) * len(x.items)
        return [pair for a, b in zip(inner, x.items, strict=True) for pair in _beside(a, b)]
    if not isinstance(x, (Reg, *ARRAYS)):
        raise uncompiled("the elements of a sensitivity of something else than arrays and numbers")
    return [(v if leaf_dtype(x) in FLOATING else ZERO_VALUE, x)]


def _arrays(emit: Any, pairs: list[tuple[Any, Any]]) -> list[Any]:
    """The sensitivities as arrays of one dtype, of ZEROs for those that are not there."""
    dtypes = {leaf_dtype(leaf) for _, leaf in pairs} & {*FLOATING}
    dtype = "f32" if dtypes == {"f32"} else "f64"

    def array(v: Any, sizes: Sizes) -> Any:
        if is_zero(v):
            return Formula(dtype, sizes, lambda emit, at: ZERO_VALUE, cheap=True, holes=True)
        if isinstance(v, Sum):
            return _one_of(emit, v, dtype, sizes)
        return _sized(emit, as_operand(emit, v), sizes)

    return [array(v, leaf.sizes if isinstance(leaf, ARRAYS) else ()) for v, leaf in pairs]


def _sized(emit: Any, found: Any, sizes: Sizes, test: str = "True") -> Any:
    """The array, which has these sizes where the test holds."""
    if len(found.sizes) != len(sizes):
        raise uncompiled("the elements of a sensitivity of other axes")
    for m, n in zip(found.sizes, sizes, strict=True):
        if test == "True":
            emit.equal(m, n)
        elif m != n:
            emit.trap(f"{test} and {m} != {n}", SIZES)
    return found


def _one_of(emit: Any, v: Sum, dtype: str, sizes: Sizes) -> Formula:
    """A sensitivity of which the run knows whether it is there, as an array."""
    chosen = [(test, option) for test, option in zip(v.tests, v.options, strict=True) if test != "False" and not is_zero(option)]
    held = [(test, _sized(emit, emit.held(as_operand(emit, option)), sizes, test)) for test, option in chosen]

    def element(emit: Any, at: Sizes) -> Any:
        found: Any = ZERO_VALUE
        for test, option in reversed(held):
            found = select(test, emit.element(option, at), found)
        return found

    return Formula(dtype, sizes, element, tuple(option for _, option in held), holes=True)


def _line(emit: Any, parts: list[Any], x: Any) -> Any:
    """The elements of several arrays, one array behind the other."""
    starts = list[tuple[Any, str]]()
    total = extent(emit, x, "0", starts)
    dtype = "f64" if any(part.dtype == "f64" for part in parts) else "f32"
    array = emit.new(dtype, (total,), mask="_" * any(part.type.holes for part in parts))
    for part, (_, start) in zip(parts, starts, strict=True):
        emit.prepared(part, part.sizes)
        with emit.over(part.sizes, range(len(part.sizes)) or None) as at:
            emit.write(array, (plus(start, row_major(at, part.sizes)),), as_element(emit, emit.element(part, at), dtype))
    return array


def _by_number(emit: Any, line: Any, numbers: Any) -> Any:
    """The elements of a line whose numbers, from 1, are in an array; ZERO where that is 0."""

    def element(emit: Any, at: Sizes) -> Any:
        k = emit.integer(emit.element(numbers, at).text).text
        found = emit.element(line, (emit.integer(f"{k} - 1 if {k} > 0 else 0").text,))
        return emit.primitive(TABLE["switch"], [Reg(f"({k} > 0)", BOOLEAN), found, ZERO_VALUE])

    return emit.formula(line.dtype, numbers.sizes, element, (line, numbers), along=False, holes=True)
