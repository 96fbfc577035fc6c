"""
The arguments of array rows that are no arrays: axes, shapes, flags, names of dtypes. Most have to be known before the code runs.
"""

from __future__ import annotations

from math import prod
from typing import Any

from backend.arrays.values import ARRAYS, Formula, Injected, Moved, Places, Scatter, Sizes, numbered, product, uncompiled
from backend.lowering.shape import Cut, Items, Nothing, Reg, typed
from backend.status import SIZES
from semantics.arrays import MOST
from semantics.columns.types import apply_type
from semantics.errors import IllTyped
from semantics.primitives.table import TABLE
from semantics.type_language import BOOLEAN, INTEGER, UNIT, ArrayType, Scalar
from semantics.type_lattice import ZERO_TYPE, Literal, Union, erase

DTYPE = {INTEGER: "i64", BOOLEAN: "bool"}
ALL = Cut((Nothing(UNIT),) * 3)
"""The slice `:`."""


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
        found = next(k for k in named if not -rank <= k < rank)
        remedy = f"name an axis from {-rank} to {rank - 1}" if rank else "axis=None, for an array without axes"
        raise IllTyped(f"axis {found} of an array of {rank} axes", rule="lower", remedy=remedy)
    return tuple(sorted({k % rank for k in named}))


def along(emit: Any, x: Any, axis: Any) -> tuple[Any, int]:
    """The array and its one axis that is named; the elements in row-major order and 0, if none is."""
    if is_unit(axis):
        return flat(emit, x), 0
    (found,) = axes_of(axis, len(x.sizes))
    return x, found


def flat(emit: Any, x: Any) -> Any:
    """The elements in row-major order, as one axis."""
    return x if len(x.sizes) == 1 else emit.reshaped(x, (size_text(emit, x.sizes),))


def size_text(emit: Any, sizes: Sizes) -> str:
    """The number of elements."""
    return str(emit.integer(product(sizes)).text)


def is_unit(value: Any) -> bool:
    """Whether an argument is None."""
    return isinstance(value, Nothing) and bool(value.type == UNIT)


def flag(keepdims: Any) -> bool:
    """A boolean that is known."""
    if not isinstance(keepdims, Reg) or type(keepdims.value) is not bool:
        raise uncompiled("keepdims that is not known before it runs")
    return keepdims.value


def known(n: Any, what: str) -> int:
    """An integer that is known."""
    if not isinstance(n, Reg) or type(n.value) is not int:
        raise uncompiled(f"{what} that is not known before it runs")
    return n.value


def text_of(name: Any) -> str:
    """A text, which is always known."""
    if not isinstance(name, Nothing) or not isinstance(name.type, Literal):
        raise uncompiled("a text that is not known before it runs")
    return str(name.type.value)


def sizes_of(shape: Any) -> Sizes:
    """A shape that is given as an integer or a tuple of them."""
    parts = shape.items if isinstance(shape, Items) else (shape,)
    if not all(isinstance(p, Reg) and p.type == INTEGER for p in parts):
        raise uncompiled("a shape that is not integers")
    return tuple(p.text for p in parts)


def not_negative(emit: Any, sizes: Sizes) -> Sizes:
    """
    The sizes, in variables, after a test that none is negative, and that an array may have as many elements: the machine says what
    is wrong if not. So no product of theirs overflows, and no loop goes over what there cannot be.
    """
    found = tuple(emit.integer(n).text for n in sizes)
    most = MOST // max(prod(int(n) for n in found if n.isdigit()), 1)
    before = ""
    for n in found:
        if not n.isdigit():
            emit.trap(f"{n} < 0 or {n} > {most}", SIZES)
            if before:
                emit.trap(f"{before} * {n} > {most}", SIZES)
            before = f"{before} * {n}" if before else n
    return found


def result_type(name: str, *arguments: Any) -> Any:
    """The type of the result of a row."""
    return erase(apply_type(TABLE[name], [typed(a) for a in arguments]))


def dtype_of(type: Any) -> str:
    """The dtype of a scalar or of an array; f64 of ZERO."""
    if isinstance(type, Union):
        type = next(t for t in type.members if t != ZERO_TYPE)
    return type.dtype if isinstance(type, ArrayType) else DTYPE.get(erase(type), "f64")


def is_zero(value: Any) -> bool:
    return isinstance(value, Nothing) and bool(value.type == ZERO_TYPE)


def as_operand(emit: Any, x: Any) -> Any:
    """The array that an argument is: numbers of places as integers, a sensitivity of some elements written out."""
    match x:
        case Places(sizes, None):
            return numbered(sizes, "1")
        case Moved():
            return x.made()
        case Scatter() | Injected():
            return emit.held(x)
        case Reg():
            return Formula(dtype_of(x.type), (), lambda emit, at: x, cheap=True)
        case _ if isinstance(x, ARRAYS):
            return x
        case _:
            raise uncompiled(f"an array that is {typed(x)}")


def is_integer(type: Scalar) -> bool:
    return type == INTEGER
