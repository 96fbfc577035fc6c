"""
Along one axis: running sums and products, sorting, where the extremes are; norms and logarithms of sums of exponentials.

Sorting is a merge of runs, so it is stable: of equal elements the first comes first; NaN comes last, as the meaning says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backend.arrays.attributes import along, as_operand, axes_of, flag
from backend.arrays.elementwise import as_element
from backend.arrays.reductions import layout_of, reduced
from backend.arrays.values import ELEMENTS, Sizes, uncompiled
from backend.lowering.conversion import convert
from backend.lowering.shape import ZERO_VALUE, Reg, make
from semantics.columns.arrays.reductions import floating, summed
from semantics.primitives.table import TABLE
from semantics.type_language import BOOLEAN, INTEGER, REAL
from semantics.type_lattice import ZERO_TYPE, join

ZERO = {"i64": "0", "f64": "-0.0", "f32": "-0.0"}  # what a sum begins with: -0.0 leaves every real as it is
UNIT = {"i64": "1", "f64": "1.0", "f32": "1.0"}


def _others(sizes: Sizes, k: int) -> Sizes:
    """The sizes of the other axes."""
    return (*sizes[:k], *sizes[k + 1 :])


def _element_type(dtype: str, holes: bool) -> Any:
    return join(ELEMENTS[dtype], ZERO_TYPE) if holes else ELEMENTS[dtype]


def running(combine: str, begin: dict[str, str]) -> Callable[..., Any]:
    """np.cumsum or np.cumprod: each element put together with what came of those before."""

    def cell(emit: Any, x: Any, axis: Any) -> Any:
        x, k = along(emit, x, axis)
        dtype, holes = summed(x.dtype), x.type.holes
        if holes and combine != "add":
            raise uncompiled("running products of a sensitivity")
        of = _element_type(dtype, holes)
        emit.prepared(x, x.sizes)
        array = emit.new(dtype, x.sizes, mask="_" * holes)
        with emit.each(_others(x.sizes, k)) as outer:
            total = make(of, emit.variable)
            emit.move((total,), (convert(ZERO_VALUE if holes else Reg(begin[dtype], ELEMENTS[dtype]), of),))
            with emit.over((x.sizes[k],), None) as (own,):
                at = (*outer[:k], own, *outer[k:])
                item = as_element(emit, emit.element(x, at), dtype)
                found = as_element(emit, emit.primitive(TABLE[combine], [total, item]), dtype)
                emit.move((total,), (convert(found, of),))
                emit.write(array, at, total)
        return array

    return cell


def recurrence(emit: Any, b: Any, c: Any, axis: Any, reverse: Any) -> Any:
    """y[k] = b[k] + c[k]·y[k-1] along the axis; reverse: y[k] = b[k] + c[k+1]·y[k+1]."""
    backwards = flag(reverse)
    b, k = along(emit, b, axis)
    c = as_operand(emit, c)
    c = emit.reshaped(c, b.sizes) if len(c.sizes) != len(b.sizes) else c
    for n, m in zip(b.sizes, c.sizes, strict=True):
        emit.equal(n, m)
    holes = b.type.holes or c.type.holes
    of, n = _element_type(b.dtype, holes), b.sizes[k]
    emit.prepared(b, b.sizes)
    c = emit.held(c)
    array = emit.new(b.dtype, b.sizes, mask="_" * holes)
    with emit.each(_others(b.sizes, k)) as outer:
        before = make(of, emit.variable)
        emit.move((before,), (convert(ZERO_VALUE if holes else Reg(ZERO[b.dtype], ELEMENTS[b.dtype]), of),))
        with emit.over((n,), None) as (turn,):
            own = emit.integer(f"{n} - 1 - {turn}").text if backwards else turn
            other = emit.integer(f"{own} + 1 if {turn} > 0 else {own}").text if backwards else own
            at = (*outer[:k], own, *outer[k:])
            item, factor = emit.element(b, at), emit.element(c, (*outer[:k], other, *outer[k:]))
            product = as_element(emit, emit.primitive(TABLE["mul"], [factor, before]), b.dtype)
            total = as_element(emit, emit.primitive(TABLE["gadd"], [item, product]), b.dtype)
            total = emit.primitive(TABLE["switch"], [Reg(f"({turn} > 0)", BOOLEAN), total, item])
            emit.move((before,), (convert(total, of),))
            emit.write(array, at, before)
    return array


def _sorted(emit: Any, x: Any, axis: Any, indices: bool) -> Any:
    """Each line in order: its elements, or where they were."""
    x, k = along(emit, x, axis)
    if x.type.holes:
        raise uncompiled("a sensitivity sorted")
    n = x.sizes[k]
    emit.prepared(x, x.sizes)
    emit.helpers.add("_ranked")
    keys = emit.new("i64" if x.dtype in ("i64", "bool") else "f64", (n,))
    order, spare = emit.new("i64", (n,)), emit.new("i64", (n,))
    array = emit.new("i64" if indices else x.dtype, x.sizes)
    with emit.over(_others(x.sizes, k), None) as outer:
        with emit.over((n,), None) as (own,):
            item = emit.element(x, (*outer[:k], own, *outer[k:]))
            emit.write(keys, (own,), as_element(emit, item, keys.dtype))
        emit.line(f"_ranked({keys.name}, {order.name}, {spare.name})")
        with emit.over((n,), None) as (own,):
            place = emit.element(order, (own,))
            found = place if indices else as_element(emit, emit.element(keys, (place.text,)), x.dtype)
            emit.write(array, (*outer[:k], own, *outer[k:]), found)
    return array


def sort(emit: Any, x: Any, axis: Any) -> Any:
    """np.sort(x, axis, kind="stable")"""
    return _sorted(emit, x, axis, indices=False)


def argsort(emit: Any, x: Any, axis: Any) -> Any:
    """np.argsort(x, axis, kind="stable")"""
    return _sorted(emit, x, axis, indices=True)


def extreme(better: str) -> Callable[..., Any]:
    """np.argmax or np.argmin: the first of several, the first NaN if there is one."""
    begin = {(REAL, ">"): "-_inf", (REAL, "<"): "_inf", (INTEGER, ">"): "_MIN", (INTEGER, "<"): "_MAX"}

    def cell(emit: Any, x: Any, axis: Any) -> Any:
        if x.type.holes:
            raise uncompiled("where a sensitivity is largest")
        x, k = along(emit, x, axis)
        kept = _others(x.sizes, k)
        emit.not_empty((x.sizes[k],))
        emit.prepared(x, x.sizes)
        of = INTEGER if x.dtype in ("i64", "bool") else REAL
        array = emit.new("i64", kept) if kept else None
        with emit.each(kept) as outer:
            best, at = emit.variable(of), emit.variable(INTEGER)
            emit.line(f"({best}, {at}) = ({begin[of, better]}, 0)")
            with emit.over((x.sizes[k],), ()) as (own,):
                item = emit.element(x, (*outer[:k], own, *outer[k:]))
                found = as_element(emit, item, "i64").text if of == INTEGER else item.text
                unordered = f" or ({found} != {found} and {best} == {best})" if of == REAL else ""
                emit.line(f"if {found} {better} {best}{unordered}:")
                emit.code.append([f"({best}, {at}) = ({found}, {own})"])
            if array is not None:
                emit.write(array, outer, Reg(at, INTEGER))
        return Reg(at, INTEGER) if array is None else array

    return cell


def _floating(emit: Any, x: Any, name: str) -> Any:
    """The array in the dtype of what is no whole number."""
    if x.type.holes:
        raise uncompiled(f"{name} of a sensitivity")
    dtype = floating(x.dtype)
    if x.dtype == dtype:
        return x
    return emit.formula(dtype, x.sizes, lambda emit, at: as_element(emit, emit.at(x, at), dtype), (x,), cheap=True)


def norm(emit: Any, x: Any, axis: Any, keepdims: Any) -> Any:
    """The square root of the sum of squares."""
    real, axes = _floating(emit, x, "the norm"), axes_of(axis, len(x.sizes))
    squares = as_operand(emit, emit.primitive(TABLE["mul"], [real, real]))
    return emit.primitive(TABLE["sqrt"], [reduced(emit, "add", squares, axes, layout_of(len(x.sizes), axes, flag(keepdims)))])


def logsumexp(emit: Any, x: Any, axis: Any, keepdims: Any) -> Any:
    """m + log Σ exp(x - m), m the largest, or m itself if it is infinite or NaN."""
    axes = axes_of(axis, len(x.sizes))
    real, layout = emit.held(_floating(emit, x, "logsumexp")), layout_of(len(x.sizes), axes, keepdims=True)
    largest = emit.held(as_operand(emit, reduced(emit, "maximum", real, axes, layout)))
    shifted = as_operand(emit, emit.primitive(TABLE["exp"], [emit.primitive(TABLE["sub"], [real, largest])]))
    total = reduced(emit, "add", shifted, axes, layout)
    found = emit.primitive(TABLE["add"], [largest, emit.primitive(TABLE["log"], [total])])
    finite = emit.primitive(TABLE["eq"], [emit.primitive(TABLE["mul"], [largest, Reg("0.0", REAL)]), Reg("0.0", REAL)])
    result = as_operand(emit, emit.primitive(TABLE["where"], [finite, found, largest]))
    return result if flag(keepdims) else emit.without(result, axes)


CELLS: dict[str, Callable[..., Any]] = {
    "cumsum": running("add", ZERO),
    "cumprod": running("mul", UNIT),
    "recurrence": recurrence,
    "sort": sort,
    "argsort": argsort,
    "argmax": extreme(">"),
    "argmin": extreme("<"),
    "norm": norm,
    "logsumexp": logsumexp,
}

SOURCES = {
    "_ranked": """
def _ranked(keys, order, spare):
    n = keys.shape[0]
    for i in range(n):
        order[i] = i
    width = 1
    while width < n:
        for start in range(0, n, 2 * width):
            i = start
            middle = min(start + width, n)
            j = middle
            end = min(start + 2 * width, n)
            for k in range(start, end):
                later = i >= middle
                if i < middle and j < end:
                    x = keys[order[i]]
                    y = keys[order[j]]
                    later = y < x or (x != x and y == y)
                if later:
                    spare[k] = order[j]
                    j = j + 1
                else:
                    spare[k] = order[i]
                    i = i + 1
        for k in range(n):
            order[k] = spare[k]
        width = 2 * width
"""
}
