"""Arrays from values, and what can be asked of an array: shape, dtype, size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semantics.arrays import DTYPES, FLOATING, Array, checked_integer, promoted, size_of, within_budget
from semantics.columns.arrays.elements import Elements, absorbs, integer, looked_at, not_negative, scalar_dtype, sizes
from semantics.columns.kinds import wrong
from semantics.columns.sequences import range_length
from semantics.errors import IllTyped, Trap
from semantics.structured import Record
from semantics.tangents import ZERO


def named_dtype(name: str, dtype: Any) -> str:
    """A dtype given by name; IllTyped if there is none of that name."""
    if dtype not in DTYPES:
        raise IllTyped(f"{name}: {dtype!r} is not a dtype", rule=name, remedy=f"one of {', '.join(DTYPES)}")
    return str(dtype)


def from_value(e: Elements, value: Any, dtype: Any) -> Any:
    """np.array(value, dtype): nested tuples and lists, level by level; the dtype in which the elements meet, if none is given."""
    shape: list[int] = []
    level: list[Any] = [value]
    rows: list[Any] = []
    while level and all(isinstance(v, (tuple, Record, Array)) and not _is_leaf(v) for v in level):
        rows, parts = level, [_parts(v) for v in level]
        if len({len(p) for p in parts}) > 1:
            raise Trap("array: the rows have different lengths", rule="as_array", remedy="rows of one length")
        shape.append(len(parts[0]))
        level = [x for p in parts for x in p]
    kinds = [_leaf_dtype(x) for x in level]
    if None in kinds:
        raise wrong("array", "numbers in equally long rows", level[kinds.index(None)])
    if not level:
        shape.extend(_inner_shape(rows))
        kinds = [v.dtype if type(v) is Array else "f64" for v in rows]
    items = [x.items[0] if type(x) is Array else x for x in level]
    target = promoted([str(k) for k in kinds], "as_array") if dtype is None else named_dtype("array", dtype)
    return Array(target, tuple(shape), tuple(_cast(e, x, target) for x in items))


def _leaf_dtype(x: Any) -> str | None:
    """The dtype of a scalar or of an array without axes; None for anything else."""
    if type(x) is Array:
        return x.dtype if x.shape == () else None
    return "f64" if x is ZERO else scalar_dtype(x)


def _inner_shape(rows: list[Any]) -> tuple[int, ...]:
    """What axes rows without elements have beside the first; Trap if they differ."""
    found = {v.shape[1:] if type(v) is Array else () for v in rows}
    if len(found) > 1:
        raise Trap("array: the rows have different lengths", rule="as_array", remedy="rows of one length")
    return found.pop()


def _is_leaf(v: Any) -> bool:
    return type(v) is Array and v.shape == ()


def _parts(v: Any) -> tuple[Any, ...]:
    """The parts of a row: of a tuple or list its items, of an array its slices along the first axis."""
    if type(v) is not Array:
        return v if isinstance(v, tuple) else v.items
    inner = v.shape[1:]
    n = size_of(inner)
    return tuple(Array(v.dtype, inner, v.items[k * n : (k + 1) * n]) for k in range(v.shape[0]))


def _cast(e: Elements, x: Any, dtype: str) -> Any:
    """One element as another dtype: reals are truncated to integers, anything but 0 is True."""
    if x is ZERO:
        return ZERO if dtype in FLOATING else e.number(0, dtype)
    if dtype == "bool":
        return x if type(x) is bool else e.truth(e.ne(x, 0 if type(x) is int else e.real(0)))
    if dtype == "i64":
        return e.coerce(int(x) if isinstance(x, (bool, int)) else e.to_integer(x), dtype, "astype")
    return e.coerce(x, dtype, "astype")


def astype(e: Elements, x: Any, dtype: Any) -> Array:
    """x.astype(dtype)"""
    array = looked_at("astype", x)
    target = named_dtype("astype", dtype)
    return Array(target, array.shape, tuple(_cast(e, item, target) for item in array.items))


def full(e: Elements, shape: Any, value: Any, dtype: Any) -> Array:
    """np.full(shape, value, dtype)"""
    found = not_negative("full", sizes("full", shape))
    item = value.items[0] if type(value) is Array and value.shape == () else value
    kind = value.dtype if type(value) is Array else scalar_dtype(item)
    if kind is None or type(item) is Array:
        raise wrong("full", "a number to fill with", value)
    target = kind if dtype is None else named_dtype("full", dtype)
    return Array(target, found, (_cast(e, item, target),) * size_of(found))


def arange(e: Elements, start: Any, stop: Any, step: Any) -> Array:
    """np.arange(start, stop, step) of integers; reals are refused, since their number would hang on rounding."""
    for x in (start, stop, step):
        integer("arange", "bound", x)
    if step == 0:
        raise Trap("arange with step 0", rule="arange", remedy="a step that is not 0")
    shape = within_budget("arange", (range_length(start, stop, step),))
    items = tuple(range(start, stop, step))
    for n in items[:1] + items[-1:]:
        checked_integer(n, "arange")
    return Array("i64", shape, items)


def linspace(e: Elements, start: Any, stop: Any, num: Any) -> Array:
    """np.linspace(start, stop, num): start + k * ((stop - start) / (num - 1)), and stop itself at the end."""
    n = integer("linspace", "number of points", num)
    if n < 0:
        raise Trap(f"linspace of {n} points", rule="linspace", remedy="0 points or more")
    within_budget("linspace", (n,))
    first, last = e.to_real(start), e.to_real(stop)
    step = e.div(e.sub(last, first), e.real(max(n - 1, 1)))
    items = [e.add(first, e.mul(e.real(k), step)) for k in range(n)]
    return Array("f64", (n,), tuple(items if n < 2 else [*items[:-1], last]))


def eye(e: Elements, n: Any, m: Any, k: Any) -> Array:
    """np.eye(n, m, k): 1.0 on diagonal k."""
    rows, columns, diagonal = (integer("eye", what, x) for what, x in (("number", n), ("number", m), ("diagonal", k)))
    shape = not_negative("eye", (rows, columns))
    return Array("f64", shape, tuple(e.real(int(j - i == diagonal)) for i in range(rows) for j in range(columns)))


def shape(e: Elements, x: Any) -> tuple[int, ...]:
    """np.shape(x); () for a scalar."""
    return looked_at("shape", x).shape


def dtype(e: Elements, x: Any) -> str:
    """The name of the dtype."""
    return looked_at("dtype", x).dtype


def array_size(e: Elements, x: Any) -> int:
    """np.size(x): the number of elements."""
    return len(looked_at("size", x).items)


CELLS: dict[str, Callable[..., Any]] = {
    "as_array": from_value,
    "astype": absorbs(astype),
    "full": absorbs(full),
    "arange": absorbs(arange),
    "linspace": linspace,
    "eye": eye,
    "shape": absorbs(shape),
    "dtype": absorbs(dtype),
    "array_size": absorbs(array_size),
}
