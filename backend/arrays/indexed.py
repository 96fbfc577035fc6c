"""What is read and written at an index, and the adjoints of both: loops over a selection (`backend.arrays.indices`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backend.arrays.attributes import ALL, along, as_operand, flat, is_zero, result_type, size_text
from backend.arrays.indices import Selection, selection
from backend.arrays.injected import each_selected
from backend.arrays.neutral import NEUTRAL
from backend.arrays.values import ARRAYS, ONE, Formula, Injected, Sizes, row_major, uncompiled
from backend.lowering.shape import ZERO_VALUE, Items, Reg, literal
from backend.status import SIZES
from semantics.primitives.table import TABLE
from semantics.type_language import BOOLEAN


def getitem(emit: Any, x: Any, i: Any) -> Any:
    """x[i]: a number, or a part."""
    x = as_operand(emit, x)
    chosen = selection(emit, x.sizes, i)
    if chosen.element and x.dtype != "f32":
        return _number(emit, x, chosen)
    return part_of(emit, x, chosen)


def _number(emit: Any, x: Any, chosen: Selection) -> Any:
    """One element, in a variable; of a formula that others read too, all are computed first."""
    source = x if isinstance(x, Formula) and (x.cheap or x.uses == 1) else emit.held(x)
    return emit.settled(emit.number_at(source, chosen.source(emit, ())))


def part_of(emit: Any, x: Any, chosen: Selection) -> Any:
    """The array that is selected."""

    def element(emit: Any, at: Sizes) -> Any:
        return emit.element(x, chosen.source(emit, at))

    return emit.formula(x.dtype, chosen.sizes, element, (x,), cheap=True, along=False, holes=x.type.holes)


def put(emit: Any, t: Any, i: Any, v: Any) -> Any:
    """t with t[i] = v done to a copy."""
    if is_zero(t):
        if is_zero(v):
            return ZERO_VALUE
        raise uncompiled("what is written into ZERO")
    type = result_type("put", t, i, v)
    chosen = selection(emit, t.sizes, i)
    v = v if is_zero(v) else fitting(emit, as_operand(emit, v), chosen.sizes)
    array = emit.fresh(as_operand(emit, t), holes=type.holes)
    each_selected(emit, array, chosen, v, emit.write)
    return array


def fitting(emit: Any, v: Any, sizes: Sizes) -> Any:
    """v, after a test that it fits into a part of these sizes: leading axes of size 1 fall away."""
    extra = max(0, len(v.sizes) - len(sizes))
    for n in v.sizes[:extra]:
        emit.equal(n, ONE)
    if extra:
        v = emit.reshaped(v, v.sizes[extra:])
    for a, b in zip(reversed(v.sizes), reversed(sizes), strict=False):
        if a != ONE:
            emit.equal(b, a)
    return v


def scatter_add(emit: Any, x: Any, i: Any, v: Any) -> Any:
    """np.add.at on a copy."""
    if is_zero(x) or is_zero(v):
        return x
    x = as_operand(emit, x)
    if x.type.holes:
        raise uncompiled("scatter_add to a sensitivity")
    chosen = selection(emit, x.sizes, i)
    v = fitting(emit, as_operand(emit, v), chosen.sizes)
    array = emit.fresh(x)
    each_selected(emit, array, chosen, v, emit.add_into)
    return array


def inject(emit: Any, t: Any, i: Any, d: Any) -> Any:
    """A sensitivity of t, ZERO but where the index points; what points to one place is added."""
    if is_zero(t) or is_zero(d):
        return ZERO_VALUE
    chosen = selection(emit, t.sizes, i)
    d = fitting(emit, as_operand(emit, d), chosen.sizes)
    if chosen.distinct:
        return Injected(t.dtype, t.sizes, ((chosen, d),))
    array = emit.new(t.dtype, t.sizes, NEUTRAL, "False")
    each_selected(emit, array, chosen, d, emit.add_into)
    return array


def final(emit: Any, t: Any, i: Any) -> Any:
    """Whether a value that is written there stays."""
    if is_zero(t):
        return ZERO_VALUE
    if not isinstance(t, ARRAYS):
        return literal(True)
    chosen = selection(emit, t.sizes, i)
    if chosen.element:
        return literal(True)
    if chosen.distinct:
        return emit.formula("bool", chosen.sizes, lambda emit, at: Reg("True", BOOLEAN), cheap=True)
    last = emit.new("i64", t.sizes)
    for found in (0, 1):
        result = emit.new("bool", chosen.sizes) if found else None
        with emit.over(chosen.sizes, range(len(chosen.sizes)) if found else None) as at:
            place = f"{last.name}[{', '.join(chosen.source(emit, at))}]"
            number = row_major(at, chosen.sizes)
            if result is None:
                emit.line(f"{place} = {number}")
            else:
                emit.write(result, at, Reg(f"({place} == {number})", BOOLEAN))
    return result


def take(emit: Any, x: Any, indices: Any, axis: Any) -> Any:
    """np.take(x, indices, axis)"""
    if is_zero(x) or is_zero(indices):
        return ZERO_VALUE
    x, before = along(emit, as_operand(emit, x), axis)
    chosen = selection(emit, x.sizes, Items((*(ALL,) * before, indices)))
    if chosen.sizes or x.dtype == "f32":
        return part_of(emit, x, chosen)
    return _number(emit, x, chosen)


def take_along(emit: Any, x: Any, indices: Any, axis: Any) -> Any:
    """np.take_along_axis(x, indices, axis)"""
    x, k = along(emit, as_operand(emit, x), axis)
    index = as_operand(emit, indices)
    if len(index.sizes) != len(x.sizes):
        raise uncompiled("take_along with other axes")
    for a, (n, m) in enumerate(zip(x.sizes, index.sizes, strict=True)):
        if a != k:
            emit.equal(n, m)
    own = selection(emit, (x.sizes[k],), index)

    def element(emit: Any, at: Sizes) -> Any:
        return emit.element(x, (*at[:k], *own.source(emit, at), *at[k + 1 :]))

    return emit.formula(x.dtype, index.sizes, element, (x,), along=False, holes=x.type.holes)


def length(emit: Any, x: Any) -> Any:
    """The size of the first axis."""
    if not x.sizes:
        emit.trap("True", SIZES)
        return None
    return emit.integer(x.sizes[0])


def of_length(emit: Any, x: Any, n: Any) -> Any:
    """x itself, after a test of its length."""
    emit.equal(x.sizes[0], n.text)
    return x


def iterated(emit: Any, x: Any) -> Any:
    """x itself."""
    return x


def to_boolean(emit: Any, x: Any) -> Any:
    """The truth of an array of one element."""
    x = as_operand(emit, x)
    emit.equal(size_text(emit, x.sizes), ONE)
    return emit.primitive(TABLE["to_boolean"], [emit.settled(emit.number_at(emit.held(x), ("0",) * len(x.sizes)))])


def keep(emit: Any, d: Any, c: Any) -> Any:
    """d where c is True, ZERO elsewhere."""
    if is_zero(d) or is_zero(c):
        return ZERO_VALUE
    if isinstance(c, Reg):
        return emit.primitive(TABLE["switch"], [c, d, ZERO_VALUE])
    d, c = as_operand(emit, d), as_operand(emit, c)
    if len(d.sizes) != len(c.sizes):
        d, c = flat(emit, d), flat(emit, c)
    sizes = tuple(map(emit.equal, d.sizes, c.sizes))

    def element(emit: Any, at: Sizes) -> Any:
        return emit.primitive(TABLE["switch"], [emit.at(c, at), emit.at(d, at), ZERO_VALUE])

    return emit.formula(d.dtype, sizes, element, (d, c), holes=True)


CELLS: dict[str, Callable[..., Any]] = {
    "scatter_add": scatter_add,
    "final": final,
    "take": take,
}
"""Rows that only arrays have."""

OVER: dict[str, Callable[..., Any]] = {
    "getitem": getitem,
    "inject": inject,
    "length": length,
    "of_length": of_length,
    "iterated": iterated,
    "to_boolean": to_boolean,
    "put": put,
}
"""Rows of anything, where the first argument is an array."""
