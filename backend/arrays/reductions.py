"""
Reductions: loops in row-major order, so that a sum goes from the left, as its meaning says.

A sum begins with -0.0, to which every first term is added without a change; so there is no first term to treat apart. Where axes
that stay come after axes that go, the result is the array of all sums, each begun anew with every row: its terms come in order.
In fast code a sum over the last axes goes in any order; where it is not finite, the status is ORDER.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backend.arrays.values import ONE, Sizes, uncompiled
from backend.fast.sums import demand_finite, next_term
from backend.shape import Items, Nothing, Reg
from semantics.errors import IllTyped
from semantics.primitives.table import TABLE
from semantics.type_language import INTEGER, REAL, UNIT

Layout = tuple[int | None, ...]
BEGIN = {"add": "-0.0", "mul": "1.0", "maximum": "-_inf", "minimum": "_inf"}


def axes_of(axis: Any, rank: int) -> tuple[int, ...]:
    """The axes that an argument names, in ascending order."""
    match axis:
        case Nothing(of) if of == UNIT:
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
        return reduced(emit, combine, x, axes, layout_of(len(x.sizes), axes, flag(keepdims)))

    return cell


def layout_of(rank: int, axes: tuple[int, ...], keepdims: bool) -> Layout:
    """The axes that stay; with None, of size 1, in place of those that go, if these are kept."""
    return tuple(None if k in axes else k for k in range(rank) if keepdims or k not in axes)


def reduced(emit: Any, combine: str, x: Any, axes: tuple[int, ...], layout: Layout) -> Any:
    """The reduction over axes: the axes of its result are those of x that `layout` names, and axes of size 1."""
    if x.dtype != "f64":
        raise uncompiled(f"a reduction of {x.dtype}")
    kept = tuple(k for k in range(len(x.sizes)) if k not in axes)
    gone = tuple(x.sizes[k] for k in axes)
    emit.not_empty(gone)
    emit.prepared(x, x.sizes)
    row, begin = TABLE[combine], BEGIN[combine]
    if all(k < a for k in kept for a in axes):
        return _by_lines(emit, row, begin, x, axes, layout)
    array = emit.new("f64", tuple(ONE if k is None else x.sizes[k] for k in layout), begin)
    with emit.over(x.sizes, kept) as indices:
        at = f"{array.name}[{_placed(layout, dict(enumerate(indices)))}]"
        found = emit.primitive(row, [Reg(f"float({at})", REAL), emit.element(x, indices)])
        emit.line(f"{at} = {found.text}")
    return array


def _placed(layout: Layout, indices: dict[int, str]) -> str:
    """The indices into a result."""
    return ", ".join("0" if k is None else indices[k] for k in layout)


def _by_lines(emit: Any, row: Any, begin: str, x: Any, axes: tuple[int, ...], layout: Layout) -> Any:
    """The reduction where what goes is the last axes: one number for each line."""
    kept, gone = x.sizes[: len(x.sizes) - len(axes)], x.sizes[len(x.sizes) - len(axes) :]

    def line(indices: Sizes) -> str:
        total = emit.variable(REAL)
        emit.line(f"{total} = {begin}")
        with emit.over(gone, ()) as own:
            if emit.fast and row is TABLE["add"]:
                next_term(emit, total, emit.element(x, indices + own))
            else:
                found = emit.primitive(row, [Reg(total, REAL), emit.element(x, indices + own)])
                emit.line(f"{total} = {found.text}")
        if emit.fast and row is TABLE["add"]:
            demand_finite(emit, total)
        return total

    if not layout:
        return Reg(line(()), REAL)
    array = emit.new("f64", tuple(ONE if k is None else x.sizes[k] for k in layout))
    with emit.over(kept, range(len(kept))) as indices:
        total = line(indices)
        emit.line(f"{array.name}[{_placed(layout, dict(enumerate(indices)))}] = {total}")
    return array


def mean(emit: Any, x: Any, axis: Any, keepdims: Any) -> Any:
    """The sum, divided by the number of terms."""
    axes = axes_of(axis, len(x.sizes))
    total = reduced(emit, "add", x, axes, layout_of(len(x.sizes), axes, flag(keepdims)))
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
        with emit.over((last,), ()) as (own,):
            found = emit.element(x, (*indices, own)).text
            emit.line(f"if {found} {better} {best} or ({found} != {found} and {best} == {best}):")
            emit.code.append([f"({best}, {at}) = ({found}, {own})"])
        return str(at)

    if not kept:
        return Reg(line(()), INTEGER)
    array = emit.new("i64", kept)
    with emit.over(kept, range(len(kept))) as indices:
        number = line(indices)
        emit.line(f"{array.name}[{', '.join(indices)}] = {number}")
    return array
