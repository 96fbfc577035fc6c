"""Rows of numbers on arrays: the code of a number, at every element of the shape to which the operands broadcast."""

from __future__ import annotations

from typing import Any

from backend.arrays.scatter import scattered
from backend.arrays.values import ARRAYS, ELEMENTS, Formula, Scatter, Sizes, uncompiled
from backend.shape import Nothing, Reg, typed
from semantics.columns.types import apply_type
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.type_language import REAL, ArrayType
from semantics.type_lattice import ZERO_TYPE, erase

CHEAP = frozenset(
    {"add", "sub", "mul", "neg", "abs", "min", "max", "minimum", "maximum", "to_real", "where", "lt", "le", "gt", "ge"}
)
SMALL = 3  # operations that are computed again rather than kept


def elementwise(emit: Any, primitive: Primitive, arguments: list[Any]) -> Any:
    """The formula. A ZERO operand is left to the rules for numbers, which know what it makes of the others."""
    if any(isinstance(a, Nothing) and a.type == ZERO_TYPE for a in arguments):
        return _with_zero(emit, primitive, arguments)
    type = erase(apply_type(primitive, [typed(a) for a in arguments]))
    if not isinstance(type, ArrayType) or type.dtype not in ELEMENTS or any(isinstance(a, Scatter) for a in arguments):
        raise uncompiled(f"{primitive.name} with the result {type}")
    for a in arguments:
        if isinstance(a, ARRAYS) and a.type.dtype == "bool" and primitive.name not in ("where", "not_", "and_", "or_"):
            raise uncompiled(f"{primitive.name} of booleans")
    sizes = emit.common(*(a.sizes for a in arguments if isinstance(a, ARRAYS)))
    parts = tuple(arguments)

    def element(emit: Any, indices: Sizes) -> Reg:
        return _as(emit.primitive(primitive, [emit.at(a, indices) for a in parts]), type.dtype, primitive)

    return emit.formula(type.dtype, sizes, element, parts, cheap=_cheap(primitive, parts))


def _as(found: Any, dtype: str, primitive: Primitive) -> Reg:
    """The element, if it is of the dtype that the array has."""
    if isinstance(found, Reg) and found.type == ELEMENTS[dtype]:
        return found
    if isinstance(found, Reg) and dtype == "f64" and found.type == ELEMENTS["i64"]:
        return Reg(f"float({found.text})", REAL)
    raise uncompiled(f"{primitive.name} with elements of another type than {dtype}")


def _cheap(primitive: Primitive, parts: tuple[Any, ...]) -> bool:
    """Whether the formula has few operations, none of them slow."""
    return primitive.name in CHEAP and sum(weight(p) for p in parts) < SMALL


def weight(part: Any) -> int:
    """How many cheap operations a formula has; as many as make it dear, if there is another."""
    if not isinstance(part, Formula):
        return 0
    if not part.along:
        return 1
    return 1 + sum(weight(p) for p in part.parts) if part.cheap else SMALL


def _with_zero(emit: Any, primitive: Primitive, arguments: list[Any]) -> Any:
    """Arithmetic with ZERO, which has no shape of its own."""
    others = [a for a in arguments if not isinstance(a, Nothing)]
    match primitive.name, isinstance(arguments[0], Nothing):
        case ("mul", _) | ("div", True):
            return Nothing(ZERO_TYPE)
        case ("add", _) | ("sub", False):
            return others[0]
        case "sub", True:
            return emit.primitive(TABLE["neg"], others)
        case _:
            raise uncompiled(f"{primitive.name} of an array and ZERO")


def where(emit: Any, condition: Any, x: Any, y: Any) -> Any:
    """x where the condition holds, else y."""
    if isinstance(condition, Nothing) or isinstance(x, Nothing) or isinstance(y, Nothing):
        raise uncompiled("where with ZERO")
    primitive = TABLE["where"]
    type = erase(apply_type(primitive, [typed(a) for a in (condition, x, y)]))
    if not isinstance(type, ArrayType) or type.dtype not in ELEMENTS:
        raise uncompiled(f"where with the result {type}")
    sizes = emit.common(*(a.sizes for a in (condition, x, y) if isinstance(a, ARRAYS)))

    def element(emit: Any, indices: Sizes) -> Reg:
        test, a, b = (emit.at(v, indices) for v in (condition, x, y))
        a, b = _as(a, type.dtype, primitive), _as(b, type.dtype, primitive)
        name = emit.variable(ELEMENTS[type.dtype])
        emit.line(f"{name} = ({a.text} if {test.text} else {b.text})")
        return Reg(name, ELEMENTS[type.dtype])

    return emit.formula(type.dtype, sizes, element, (condition, x, y), cheap=_cheap(primitive, (condition, x, y)))


def gadd(emit: Any, a: Any, b: Any) -> Any:
    """The sum of sensitivities; what a scatter says is added where it is, after the other has been computed."""
    if isinstance(a, Nothing) or isinstance(b, Nothing):
        return b if isinstance(a, Nothing) else a
    if isinstance(a, Scatter) and not isinstance(b, Scatter):
        a, b = b, a  # a sum of two is the same in either order
    if not isinstance(b, Scatter):
        return emit.primitive(TABLE["add"], [a, b])
    if isinstance(a, Scatter):
        raise uncompiled("the sum of two sensitivities with ZERO in them")
    whole = emit.common(a.sizes, b.sizes)
    array = emit.held(Formula("f64", whole, lambda e, at: e.at(a, at), (a,)))
    return scattered(emit, array, b, first=False)


def instantiate(emit: Any, d: Any, x: Any) -> Any:
    """The sensitivity as an array of x's shape."""
    if x.dtype != "f64":
        raise uncompiled(f"the sensitivity of an array of {x.dtype}")
    if isinstance(d, Nothing):
        return emit.formula("f64", x.sizes, lambda emit, at: Reg("0.0", REAL), cheap=True)
    return emit.held(d) if isinstance(d, Scatter) else d
