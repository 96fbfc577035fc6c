"""
Reductions: loops in row-major order, so that a sum goes from the left, as its meaning says.

A sum begins with -0.0, to which every first term is added without a change; so there is no first term to treat apart. Where axes
that stay come after axes that go, the result is the array of all sums, each begun anew with every row: its terms come in order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backend.arrays.values import ONE, Sizes, uncompiled
from backend.shape import Items, Nothing, Reg
from semantics.errors import IllTyped
from semantics.primitives.table import TABLE
from semantics.type_language import INTEGER, REAL, UNIT

BEGIN = {"add": "-0.0", "mul": "1.0", "maximum": "-_inf", "minimum": "_inf"}


def axes_of(axis: Any, rank: int) -> tuple[int, ...]:
    """The axes that an argument names, in ascending order."""
    match axis:
        case Nothing(type) if type == UNIT:
            return tuple(range(rank))
        case Reg(_, _, int() as k):
            named = [k]
        case Items(parts) if all(isinstance(p, Reg) and type(p.value) is int for p in parts):
            named = [p.value for p in parts]
        case _:
            raise uncompiled("an axis that is not known before it runs")
    if not all(-rank <= k < rank for k in named):
        raise IllTyped(f"an axis of {named} of an array of {rank} axes", rule="lower")
    return tuple(sorted({k % rank for k in named}))


def flag(keepdims: Any) -> bool:
    """A boolean that is known."""
    if not isinstance(keepdims, Reg) or type(keepdims.value) is not bool:
        raise uncompiled("keepdims that is not known before it runs")
    return keepdims.value


def reduction(combine: str) -> Callable[..., Any]:
    """The cell (x, axis, keepdims) that puts elements together by a row of two numbers."""

    def cell(emit: Any, x: Any, axis: Any, keepdims: Any) -> Any:
        axes = axes_of(axis, len(x.sizes))
        return reduced(emit, combine, x, axes, kept_sizes(x.sizes, axes, flag(keepdims)))

    return cell


def kept_sizes(sizes: Sizes, axes: tuple[int, ...], keepdims: bool) -> Sizes:
    """The sizes of what is left, with 1 for the axes that are gone if they are kept."""
    return tuple(ONE if k in axes else n for k, n in enumerate(sizes) if keepdims or k not in axes)


def reduced(emit: Any, combine: str, x: Any, axes: tuple[int, ...], result: Sizes) -> Any:
    """The reduction over axes, with a result of these sizes: those of the other axes, in order, and ones."""
    if x.dtype != "f64":
        raise uncompiled(f"a reduction of {x.dtype}")
    kept = tuple(k for k in range(len(x.sizes)) if k not in axes)
    gone = tuple(x.sizes[k] for k in axes)
    emit.not_empty(gone)
    emit.prepared(x, x.sizes)
    row, begin = TABLE[combine], BEGIN[combine]
    if all(k < a for k in kept for a in axes):
        return _by_lines(emit, row, begin, x, tuple(x.sizes[k] for k in kept), gone, result)
    array = emit.new("f64", result, begin)
    with emit.over(x.sizes) as indices:
        place = spread_out(tuple(indices[k] for k in kept), tuple(x.sizes[k] for k in kept), result)
        at = f"{array.name}[{', '.join(place)}]"
        found = emit.primitive(row, [Reg(f"float({at})", REAL), emit.element(x, indices)])
        emit.line(f"{at} = {found.text}")
    return array


def spread_out(indices: Sizes, sizes: Sizes, result: Sizes) -> Sizes:
    """The indices into a result whose sizes are `sizes`, in order, and ones."""
    if len(result) == len(sizes):
        return indices
    found, rest = [], list(zip(indices, sizes, strict=True))
    for left, n in zip(range(len(result), 0, -1), result, strict=True):
        if rest and n == rest[0][1] and not (n == ONE and left > len(rest)):
            found.append(rest.pop(0)[0])
        else:
            found.append("0")
    assert not rest, "every index has a place"
    return tuple(found)


def _by_lines(emit: Any, row: Any, begin: str, x: Any, kept: Sizes, gone: Sizes, result: Sizes) -> Any:
    """The reduction where what goes is the last axes: one number for each line."""

    def line(indices: Sizes) -> str:
        total = emit.variable(REAL)
        emit.line(f"{total} = {begin}")
        with emit.over(gone) as own:
            found = emit.primitive(row, [Reg(total, REAL), emit.element(x, indices + own)])
            emit.line(f"{total} = {found.text}")
        return total

    if not result:
        return Reg(line(()), REAL)
    array = emit.new("f64", result)
    with emit.over(kept) as indices:
        total = line(indices)
        emit.line(f"{array.name}[{', '.join(spread_out(indices, kept, result))}] = {total}")
    return array


def mean(emit: Any, x: Any, axis: Any, keepdims: Any) -> Any:
    """The sum, divided by the number of terms."""
    axes = axes_of(axis, len(x.sizes))
    total = reduced(emit, "add", x, axes, kept_sizes(x.sizes, axes, flag(keepdims)))
    count = " * ".join(x.sizes[k] for k in axes) or "1"
    return emit.primitive(TABLE["div"], [total, Reg(f"float({count})", REAL)])


def argmax(emit: Any, x: Any, axis: Any) -> Any:
    """Where the largest element of each line is: the first of several, the first NaN if there is one."""
    return _extreme(emit, x, axis, ">", "-_inf")


def argmin(emit: Any, x: Any, axis: Any) -> Any:
    return _extreme(emit, x, axis, "<", "_inf")


def _extreme(emit: Any, x: Any, axis: Any, better: str, begin: str) -> Any:
    axes = axes_of(axis, len(x.sizes))
    if x.dtype != "f64" or axes != (len(x.sizes) - 1,):
        raise uncompiled("argmax or argmin over other axes than the last")
    kept, (last,) = x.sizes[:-1], x.sizes[-1:]
    emit.not_empty((last,))
    emit.prepared(x, x.sizes)

    def line(indices: Sizes) -> str:
        best, at = emit.variable(REAL), emit.variable(INTEGER)
        emit.line(f"({best}, {at}) = ({begin}, 0)")
        with emit.over((last,)) as (own,):
            found = emit.element(x, (*indices, own)).text
            emit.line(f"if {found} {better} {best} or ({found} != {found} and {best} == {best}):")
            emit.code.append([f"({best}, {at}) = ({found}, {own})"])
        return str(at)

    if not kept:
        return Reg(line(()), INTEGER)
    array = emit.new("i64", kept)
    with emit.over(kept) as indices:
        number = line(indices)
        emit.line(f"{array.name}[{', '.join(indices)}] = {number}")
    return array


