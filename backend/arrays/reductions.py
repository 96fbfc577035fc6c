"""
Reductions: loops in row-major order, so that a sum goes from the left, as its meaning says.

A sum begins with -0.0, to which every first term is added without a change; so there is no first term to treat apart. A sum of
nothing is 0.0: a slice may be empty in some turns; where another size is 0, the machine runs the sample. Where axes
that stay come after axes that go, the result is the array of all sums, each begun anew with every row: its terms come in order.
Of a sensitivity, what is ZERO is left out, and what has no other terms is ZERO. A maximum, or minimum, keeps the last NaN apart.
In fast code a sum over the last axes goes in any order; where it is not finite, the status is ORDER. Many are tested at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backend.arrays.attributes import as_operand, axes_of, flag
from backend.arrays.elementwise import as_element
from backend.arrays.values import ELEMENTS, ONE, Sizes, product, uncompiled
from backend.fast.sums import demand_all_finite, demand_finite, next_term, next_total
from backend.lowering.conversion import convert, select
from backend.lowering.shape import ZERO_VALUE, Reg, make
from semantics.columns.arrays.reductions import floating, summed
from semantics.primitives.table import TABLE
from semantics.type_language import REAL
from semantics.type_lattice import ZERO_TYPE, join

Layout = tuple[int | None, ...]
BEGIN = {
    "add": ("-0.0", "0"),
    "mul": ("1.0", "1"),
    "maximum": ("-_inf", "_MIN"),
    "minimum": ("_inf", "_MAX"),
    "and_": ("True", "True"),
    "or_": ("False", "False"),
}
"""What a reduction begins with, of reals and of integers."""
EXTREMES = {"maximum": ">", "minimum": "<"}
"""How a term compares with the one that it takes the place of."""


def reduction(combine: str) -> Callable[..., Any]:
    """The cell (x, axis, keepdims) that puts elements together by a row of two numbers."""

    def cell(emit: Any, x: Any, axis: Any, keepdims: Any) -> Any:
        axes = axes_of(axis, len(x.sizes))
        return reduced(emit, combine, x, axes, layout_of(len(x.sizes), axes, flag(keepdims)))

    return cell


def layout_of(rank: int, axes: tuple[int, ...], keepdims: bool) -> Layout:
    """The axes that stay; with None, of size 1, in place of those that go, if these are kept."""
    return tuple(None if k in axes else k for k in range(rank) if keepdims or k not in axes)


def dtype_of_reduction(combine: str, dtype: str) -> tuple[str, str]:
    """The dtype of the result, and that in which it is computed: booleans are counted, or compared as 0 and 1."""
    if combine in ("and_", "or_"):
        return "bool", "bool"
    if combine in ("add", "mul"):
        return summed(dtype), summed(dtype)
    return dtype, summed(dtype)


def reduced(emit: Any, combine: str, x: Any, axes: tuple[int, ...], layout: Layout) -> Any:
    """The reduction over axes: the axes of its result are those of x that `layout` names, and axes of size 1."""
    x = as_operand(emit, x)
    dtype, inside = dtype_of_reduction(combine, x.dtype)
    holes = x.type.holes
    if holes and combine != "add":
        raise uncompiled(f"{combine} of the elements of a sensitivity")
    kept = tuple(k for k in range(len(x.sizes)) if k not in axes)
    gone = tuple(x.sizes[k] for k in axes)
    empty = emit.not_empty(gone) if combine in EXTREMES else emit.perhaps_empty(gone)
    emit.prepared(x, x.sizes)
    begin = BEGIN[combine][inside == "i64"]
    sizes = tuple(ONE if k is None else x.sizes[k] for k in layout)

    def step(emit: Any, total: Any, indices: Sizes) -> Any:
        item = emit.element(x, indices)
        if combine in ("and_", "or_"):
            item = emit.primitive(TABLE["to_boolean"], [item])
        row = TABLE["gadd"] if holes else TABLE[combine]
        return as_element(emit, emit.primitive(row, [total, as_element(emit, item, inside)]), inside)

    if all(k < a for k in kept for a in axes) or dtype != inside:
        return _by_lines(emit, combine, step, begun(begin, empty, inside, holes), x, axes, layout)
    if empty and begin == "-0.0":
        begin = f"0.0 if {empty} else -0.0"
    array = emit.new(dtype, sizes, begin, (f"({empty})" if empty else "False") * holes)
    with emit.over(x.sizes, kept) as indices:
        at = _placed(layout, dict(enumerate(indices)))
        emit.write(array, at, step(emit, emit.element(array, at), indices))
    return array


def _placed(layout: Layout, indices: dict[int, str]) -> Sizes:
    """The indices into a result."""
    return tuple("0" if k is None else indices[k] for k in layout)


def begun(begin: str, empty: str, dtype: str, holes: bool) -> Any:
    """What a line begins with: a sum of sensitivities with ZERO, unless it is `empty`; such a sum is 0, as any other of nothing."""
    nothing = Reg("0.0" if begin == "-0.0" else begin, ELEMENTS[dtype])
    first = ZERO_VALUE if holes else Reg(begin, ELEMENTS[dtype])
    return select(f"({empty})", nothing, first) if empty and first != nothing else first


def _by_lines(emit: Any, combine: str, step: Any, begin: Any, x: Any, axes: tuple[int, ...], layout: Layout) -> Any:
    """The reduction as one number for each line of what goes."""
    dtype, inside = dtype_of_reduction(combine, x.dtype)
    holes, sizes = x.type.holes, x.sizes
    order = EXTREMES.get(combine) if inside == "f64" else None
    in_any_order = emit.fast and combine == "add" and inside == "f64" and not holes
    of = join(ELEMENTS[inside], ZERO_TYPE) if holes else ELEMENTS[inside]
    kept = tuple(k for k in range(len(sizes)) if k not in axes)

    alone = not layout and dtype != "f32"
    many = emit.variable(REAL) if in_any_order and not alone else ""

    def line(indices: Sizes) -> Any:
        total = make(of, emit.variable)
        emit.move((total,), (convert(begin, of),))
        if order:
            wild = emit.variable(REAL)
            emit.line(f"{wild} = 0.0")
        with emit.over(tuple(sizes[k] for k in axes), ()) as own:
            where = dict(zip((*kept, *axes), (*indices, *own), strict=True))
            at = tuple(where[k] for k in range(len(sizes)))
            if in_any_order:
                next_term(emit, total.text, emit.element(x, at))
            elif order:
                _next_extreme(emit, order, total.text, wild, as_element(emit, emit.element(x, at), inside).text)
            else:
                emit.move((total,), (convert(step(emit, total, at), of),))
        if many:
            next_total(emit, many, total.text)
        elif in_any_order:
            demand_finite(emit, total.text)
        if order:
            emit.line(f"{total.text} = {wild} if {wild} != {wild} else {total.text}")
        return as_element(emit, total, dtype)

    if alone:
        return line(())
    if many:
        emit.line(f"{many} = 0.0")
    array = emit.new(dtype, tuple(ONE if k is None else sizes[k] for k in layout), mask="_" * holes)
    with emit.over(tuple(sizes[k] for k in kept), range(len(kept))) as indices:
        emit.write(array, _placed(layout, dict(zip(kept, indices, strict=True))), line(indices))
    if many:
        demand_all_finite(emit, many)
    return array


def _next_extreme(emit: Any, order: str, total: str, wild: str, term: str) -> None:
    """One term more: the extreme of the numbers so far, and the last NaN, neither of which waits for the other."""
    emit.line(f"{total} = {term} if {term} {order} {total} else {total}")
    emit.line(f"{wild} = {term} if {term} != {term} else {wild}")


def mean(emit: Any, x: Any, axis: Any, keepdims: Any) -> Any:
    """The sum, divided by the number of terms."""
    axes = axes_of(axis, len(x.sizes))
    dtype = floating(x.dtype)
    real = x
    if x.dtype != dtype:
        real = emit.formula(dtype, x.sizes, lambda emit, at: as_element(emit, emit.at(x, at), dtype), (x,), cheap=True)
    total = reduced(emit, "add", real, axes, layout_of(len(x.sizes), axes, flag(keepdims)))
    count = product(x.sizes[k] for k in axes)
    return emit.primitive(TABLE["div"], [total, Reg(f"float({count})", REAL)])


def trace(emit: Any, x: Any) -> Any:
    """np.trace(x): the sum of the diagonal of the first two axes."""
    n = emit.integer(f"min({x.sizes[0]}, {x.sizes[1]})").text
    diagonal = emit.formula(
        x.dtype, (*x.sizes[2:], n), lambda emit, at: emit.element(x, (at[-1], at[-1], *at[:-1])), (x,), along=False,
        cheap=True, holes=x.type.holes,
    )  # fmt: skip
    rank = len(diagonal.sizes)
    return reduced(emit, "add", diagonal, (rank - 1,), tuple(range(rank - 1)))


CELLS: dict[str, Callable[..., Any]] = {
    "reduce_sum": reduction("add"),
    "reduce_prod": reduction("mul"),
    "reduce_max": reduction("maximum"),
    "reduce_min": reduction("minimum"),
    "reduce_all": reduction("and_"),
    "reduce_any": reduction("or_"),
    "mean": mean,
    "trace": trace,
}
