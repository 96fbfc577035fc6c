"""
Elementwise mathematics: `add`, `exp`, `lt` and their kind on arrays, made of what they do to numbers, with broadcasting.

    p(a, b)[i] = p(a[i'], b[i''])        i', i'' the places in a and b that broadcasting repeats at i

`elementwise` wraps the scalar cell of any column. The result has the dtype in which the operands meet (NumPy, NEP 50: a scalar
takes the dtype of the arrays it meets); what is left without axes is a scalar.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from semantics.arrays import FLOATING, Array, broadcast_positions, broadcast_shapes, of_rank_zero, promoted, size_of
from semantics.columns.arrays.elements import Elements, is_number
from semantics.columns.structure import wrong
from semantics.errors import IllTyped, Trap
from semantics.primitives.row import Hole, Primitive
from semantics.tangents import ZERO, SparseArray, dense

Cell = Callable[..., Any]
# where a ZERO among the operands, which has no shape of its own, makes the whole result ZERO
ABSORBING = {"mul": (0, 1), "div": (0,)}
# where a ZERO is neutral, and takes the dtype of what it meets; elsewhere it is read as the real 0
NEUTRAL = frozenset({"add", "sub", "where", "neg"})


def elementwise(primitive: Primitive, scalar: Cell, e: Elements) -> Cell:
    """The cell of `primitive` on numbers and arrays, from its cell on numbers."""

    def on_arrays(arguments: tuple[Any, ...]) -> Any:
        return _broadcast(primitive, scalar, e, arguments)

    if len(primitive.signature) == 1:

        def one(a: Any) -> Any:
            return on_arrays((a,)) if type(a) is Array or type(a) is SparseArray else scalar(a)

        return one
    if primitive.name in ("eq", "ne"):
        equal = primitive.name == "eq"

        def compared(a: Any, b: Any) -> Any:
            if type(a) is Array or type(b) is Array or type(a) is SparseArray or type(b) is SparseArray:
                return on_arrays((a, b))
            return (a == b) is equal if type(a) is str and type(b) is str else scalar(a, b)

        return compared
    if len(primitive.signature) == 2:

        def two(a: Any, b: Any) -> Any:
            if type(a) is Array or type(b) is Array or type(a) is SparseArray or type(b) is SparseArray:
                return on_arrays((a, b))
            return scalar(a, b)

        return two

    def many(*arguments: Any) -> Any:
        return on_arrays(arguments) if any(isinstance(a, (Array, SparseArray)) for a in arguments) else scalar(*arguments)

    return many


def lifted(cells: Mapping[str, Cell | Hole], e: Elements, table: Mapping[str, Primitive], names: frozenset[str]) -> dict[str, Any]:
    """The cells of a column with those in `names` made elementwise; holes stay holes."""
    return {
        name: cell if isinstance(cell, Hole) or name not in names else elementwise(table[name], cell, e)
        for name, cell in cells.items()
    }


def _broadcast(primitive: Primitive, scalar: Cell, e: Elements, arguments: tuple[Any, ...]) -> Any:
    """The scalar cell at every place of the common shape. A ZERO operand stands for a whole one of ZEROs; it absorbs products."""
    name = primitive.name
    if vanishes(name, [a is ZERO for a in arguments]):
        return ZERO
    operands = [dense(a) if isinstance(a, SparseArray) else a for a in arguments]
    arrays = [a for a in operands if type(a) is Array]
    shape = broadcast_shapes((a.shape for a in arrays), name)
    dtype = result_dtype(primitive, operands)
    columns: list[Any] = []
    for index, a in enumerate(operands):
        if type(a) is Array:
            items = a.items if a.shape == shape else [a.items[k] for k in broadcast_positions(a.shape, shape)]
            as_numbers = a.dtype == "bool" and _wants_number(primitive, index) and not (name == "where" and dtype == "bool")
            columns.append([int(x) for x in items] if as_numbers else items)
        else:
            columns.append([a] * size_of(shape))
    results = map(_natural(scalar) if name == "pow" and dtype == "i64" else scalar, *columns)
    if dtype == "bool" and name in ("maximum", "minimum"):
        results = map(bool, results)
    if dtype == "f64" and primitive.result == "real":
        return of_rank_zero(Array(dtype, shape, tuple(results)))
    return of_rank_zero(Array(dtype, shape, tuple(e.coerce(x, dtype, name) for x in results)))


def vanishes(name: str, zero: Sequence[bool]) -> bool:
    """Whether the whole result is ZERO, by which of the operands are; a condition has no say in the shape of a sensitivity."""
    return any(zero[i] for i in ABSORBING.get(name, ())) or (name == "where" and zero[1] and zero[2])


def _natural(power: Cell) -> Cell:
    """The power of integers that are to stay integers; Trap at a negative exponent, as NumPy raises."""

    def cell(a: Any, b: Any) -> Any:
        if type(b) is int and b < 0:
            raise Trap("an integer array to a negative power", rule="pow", remedy="make it real: x.astype(float)")
        return power(a, b)

    return cell


def _wants_number(primitive: Primitive, index: int) -> bool:
    return primitive.signature[index] in ("number", "real")


def result_dtype(primitive: Primitive, operands: list[Any]) -> str:
    """The dtype of an elementwise result."""
    return dtype_of_kinds(primitive, [_kind(primitive, index, a) for index, a in enumerate(operands)])


def dtype_of_kinds(primitive: Primitive, kinds: Sequence[str | None]) -> str:
    """
    The dtype in which operands meet that are arrays of a dtype, or scalars: "real", "integer", "boolean"; None for ZERO.

    IllTyped where NumPy would do something else than arithmetic with booleans.
    """
    kinds = ["real" if k is None and primitive.name not in NEUTRAL else k for k in kinds]
    if "any" in primitive.signature and len({k in ("bool", "boolean") for k in kinds}) > 1:
        raise IllTyped(f"{primitive.name} of booleans and numbers", rule=primitive.name, remedy="convert one: x.astype(int)")
    numbers = [k for k, wanted in zip(kinds, primitive.signature, strict=False) if wanted in ("number", "real") and k]
    if primitive.result == "boolean":
        return "bool"
    if primitive.result == "integer":
        return "i64"
    if primitive.name == "to_real":
        return "f64"
    met = promoted(numbers, primitive.name) if numbers else "f64"
    if primitive.result == "real":
        return met if met in FLOATING else "f64"
    if met == "bool" and primitive.name not in ("where", "maximum", "minimum"):
        raise IllTyped(
            f"{primitive.name} of booleans only",
            rule=primitive.name,
            remedy="convert one: x.astype(int); or use np.logical_and, np.logical_or",
        )
    return met


def _kind(primitive: Primitive, index: int, a: Any) -> str | None:
    """What an operand contributes to the dtype; None for ZERO."""
    wanted = primitive.signature[index]
    if a is ZERO and wanted != "boolean":
        return None
    if type(a) is Array:
        if wanted == "boolean" and a.dtype != "bool":
            raise wrong(primitive.name, "an array of booleans", a, "compare first: x > 0")
        return a.dtype
    if isinstance(a, bool):
        if _wants_number(primitive, index) and primitive.name != "where":
            raise wrong(primitive.name, "numbers or arrays", a, "write a number for it: 1 if b else 0")
        return "boolean"
    if wanted == "boolean":
        raise wrong(primitive.name, "booleans", a, "compare first: x > 0")
    if type(a) is int:
        return "integer"
    if is_number(a):
        return "real"
    raise wrong(primitive.name, "numbers or arrays", a)
