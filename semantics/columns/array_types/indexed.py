"""The types of what is read and written at an index, and of the adjoints of both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semantics.arrays import FLOATING, normal_axis, shown
from semantics.columns.array_types.operands import absorbing, element, one_axis, operand, over, result
from semantics.columns.array_types.selection import NO_SLICE, check_element, is_element, selected
from semantics.columns.record_types import wrong
from semantics.errors import Trap
from semantics.shapes import clash, count, fits
from semantics.type_language import BOOLEAN, INTEGER, ArrayType, RecordType, SequenceType, TupleType
from semantics.type_lattice import ZERO_TYPE, Literal, erase, join


def getitem(t: ArrayType, index: Any) -> Any:
    """One element is a scalar, an f32 one an array without axes; a part is an array."""
    if is_element(t.dims, index):
        check_element(t.dims, index)
        if t.dtype != "f32":
            return element(t.dtype, t.holes)
        return join(ArrayType("f32", ()), ZERO_TYPE) if t.holes else ArrayType("f32", ())
    return ArrayType(t.dtype, selected(t.dims, index), t.holes)


def put(t: ArrayType, index: Any, v: Any) -> Any:
    """The array with other elements where the index points; the dtype stays."""
    return ArrayType(t.dtype, t.dims, written(t, index, v) or t.holes)


def written(t: ArrayType, index: Any, v: Any) -> bool:
    """Whether what is written may have zeros; Trap or IllTyped if v cannot be written there."""
    if is_element(t.dims, index):
        check_element(t.dims, index)
        dims: Any = ()
    else:
        dims = selected(t.dims, index)
    if v == ZERO_TYPE:
        return True
    given = operand("put", v)
    if not fits(given.dims, dims):
        raise Trap(
            f"an array of shape {shown(given.dims)} does not fit into one of shape {shown(dims)}", rule="put", remedy="equal shapes"
        )
    if t.dtype != given.dtype and t.dtype not in FLOATING and (t.dtype == "bool" or given.dtype in FLOATING):
        raise wrong("put", f"{t.dtype} values for an array of {t.dtype}", v, "NumPy would cut off: write x.astype(int)")
    return given.holes


def final(t: Any, index: Any) -> Any:
    """Whether a value written stays: one boolean for each place."""
    if t == ZERO_TYPE:
        return ZERO_TYPE
    if not isinstance(t, ArrayType):
        return BOOLEAN
    if is_element(t.dims, index):
        return BOOLEAN
    return ArrayType("bool", selected(t.dims, index))


def scatter_add(x: Any, index: Any, v: Any) -> Any:
    """x with v added where the index points."""
    if x == ZERO_TYPE:
        return ZERO_TYPE
    array = operand("scatter_add", x)
    written(array, index, v)
    return array


def take(x: Any, indices: Any, axis: Any) -> Any:
    """np.take(x, indices, axis)"""
    array = operand("take", x)
    if isinstance(indices, TupleType) or not _is_places(indices):
        raise wrong("take", "an integer, or an array or a list of integers", indices, "convert them: i.astype(int)")

    def along(at: int | None) -> Any:
        if at is None:
            return result(array.dtype, selected((count(array.dims),), indices), array.holes)
        before = normal_axis(at, len(array.dims), "take")
        return result(array.dtype, selected(array.dims, TupleType((*(NO_SLICE,) * before, indices))), array.holes)

    return over(along, one_axis("take", axis, len(array.dims)))


def _is_places(t: Any) -> bool:
    if isinstance(t, RecordType):
        return t.label.kind == "list" and all(erase(i) == INTEGER for i in t.items)
    if isinstance(t, SequenceType):
        return t.label is not None and bool(erase(t.item) == INTEGER)
    return erase(t) == INTEGER or (isinstance(t, ArrayType) and t.dtype == "i64")


def inject(t: ArrayType, index: Any, d: Any) -> Any:
    """A sensitivity of the array: zero but where the index points."""
    if is_element(t.dims, index):
        check_element(t.dims, index)
    else:
        selected(t.dims, index)
    return ArrayType(t.dtype, t.dims, True)


def length(t: ArrayType) -> Any:
    """The size of the first axis."""
    if not t.dims:
        raise Trap("len of an array without axes", rule="length", remedy="np.size(x)")
    return INTEGER if t.dims[0] is None else Literal(INTEGER, t.dims[0])


def of_length(t: ArrayType, n: Any) -> Any:
    """The array itself, whose first axis then has that size."""
    found = length(t)
    if isinstance(n, Literal):
        if isinstance(found, Literal) and found != n:
            raise Trap(f"cannot unpack an array of {found.value} into {n.value} names", rule="of_length", remedy="as many names")
        return ArrayType(t.dtype, (n.value, *t.dims[1:]), t.holes)
    return t


def truth(t: ArrayType) -> Any:
    """Python's truth of an array of one element."""
    if clash((count(t.dims), 1)):
        raise Trap(f"the truth of an array of {count(t.dims)} elements", rule="bool", remedy="np.all(x) or np.any(x)")
    return BOOLEAN


CELLS: dict[str, Callable[..., Any]] = {
    "final": final,
    "scatter_add": scatter_add,
    "take": absorbing(take),
}
