"""
The types of elementwise mathematics on arrays, made of what the scalar rules say of their elements.

    dims     what all operands broadcast to              dtype   what operands of their dtypes meet in (NEP 50)
    zeros    where the scalar rule gives a zero for elements that may be zeros
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semantics.arrays import broadcast_shapes
from semantics.columns.array_types.operands import dtype_of, element, result
from semantics.columns.elementwise import dtype_of_kinds, vanishes
from semantics.columns.record_types import wrong
from semantics.primitives.row import Primitive
from semantics.type_language import BOOLEAN, INTEGER, REAL, ArrayType
from semantics.type_lattice import ZERO_TYPE, distribute, erase, members

KIND = {REAL: "real", INTEGER: "integer", BOOLEAN: "boolean"}


def elementwise(primitive: Primitive, scalar: Callable[..., Any]) -> Callable[..., Any]:
    """The rule of `primitive` on numbers and arrays, from its rule on numbers."""

    def rule(*arguments: Any) -> Any:
        if not any(isinstance(t, ArrayType) for t in arguments):
            return scalar(*arguments)
        if vanishes(primitive.name, [t == ZERO_TYPE for t in arguments]):
            return ZERO_TYPE
        dims = broadcast_shapes((t.dims for t in arguments if isinstance(t, ArrayType)), primitive.name)
        dtype = dtype_of_kinds(primitive, [_kind(primitive, index, t) for index, t in enumerate(arguments)])
        of_one = distribute(scalar, [_element(primitive, index, t) for index, t in enumerate(arguments)])
        return result(dtype, dims, ZERO_TYPE in members(of_one))

    return rule


def _kind(primitive: Primitive, index: int, t: Any) -> str | None:
    """What an operand contributes to the dtype; None for zero."""
    if t == ZERO_TYPE:
        return None
    if isinstance(t, ArrayType):
        if primitive.signature[index] == "boolean" and t.dtype != "bool":
            raise wrong(primitive.name, "an array of booleans", t, "compare first: x > 0")
        return t.dtype
    if (kind := KIND.get(erase(t)) if dtype_of(t) else None) is None:
        raise wrong(primitive.name, "numbers or arrays", t, "np.array(t) makes an array of a tuple or a list of numbers")
    if primitive.signature[index] == "boolean" and kind != "boolean":
        raise wrong(primitive.name, "booleans", t, "compare first: x > 0")
    return kind


def _element(primitive: Primitive, index: int, t: Any) -> Any:
    """The type of one element; a boolean of an array counts as an integer where a number is wanted."""
    if not isinstance(t, ArrayType):
        return t
    if t.dtype == "bool" and primitive.signature[index] in ("number", "real"):
        return element("i64", t.holes)
    return element(t.dtype, t.holes)
