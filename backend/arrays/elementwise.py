"""
Rows of numbers on arrays: the code of a number, at every element of the shape to which the operands broadcast.

Where an element may be ZERO, it is a choice, and the rules for numbers know what becomes of it.
"""

from __future__ import annotations

from typing import Any

from backend.arrays.attributes import as_operand, dtype_of, is_zero, result_type
from backend.arrays.scatter import scattered
from backend.arrays.values import ARRAYS, ELEMENTS, Formula, Scatter, Sizes
from backend.lowering.shape import ZERO_VALUE, Nothing, Reg, Sum
from semantics.columns.elementwise import vanishes
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.type_language import BOOLEAN, INTEGER, REAL, ArrayType

CHEAP = frozenset(
    {"add", "sub", "mul", "neg", "abs", "min", "max", "minimum", "maximum", "to_real", "where", "lt", "le", "gt", "ge", "gadd"}
)
SMALL = 3  # operations that are computed again rather than kept
ALIKE = frozenset({"min", "max", "minimum", "maximum", "where"})  # whose operands are made of one dtype first


def elementwise(emit: Any, primitive: Primitive, arguments: list[Any]) -> Any:
    """The formula; where no axis is left, the number."""
    name = primitive.name
    zeros = [is_zero(a) for a in arguments]
    if vanishes(name, zeros):
        return ZERO_VALUE
    if any(zeros) and name in ("add", "sub"):
        return arguments[zeros[0]] if name == "add" or zeros[1] else emit.primitive(TABLE["neg"], arguments[1:])
    parts = tuple(as_operand(emit, a) if isinstance(a, ARRAYS) else a for a in arguments)
    type = result_type(name, *parts)
    dtype = dtype_of(type)
    sizes = emit.common(*(a.sizes for a in parts if isinstance(a, ARRAYS)))

    def element(emit: Any, indices: Sizes) -> Any:
        found = [_operand(emit, primitive, k, a, indices, dtype) for k, a in enumerate(parts)]
        if name == "pow" and dtype == "i64":
            return emit.natural_power(*found)
        return as_element(emit, emit.primitive(primitive, found), dtype)

    if not sizes and dtype != "f32":
        return emit.settled(element(emit, ()))
    holes = isinstance(type, ArrayType) and type.holes
    return emit.formula(dtype, sizes, element, parts, cheap=_cheap(name, parts), holes=holes)


def _operand(emit: Any, primitive: Primitive, k: int, a: Any, indices: Sizes, dtype: str) -> Any:
    """An element as the row reads it: of booleans where it wants a number, 0 or 1."""
    found = emit.at(a, indices)
    wants_number = primitive.signature[k] in ("number", "real")
    if primitive.name in ALIKE and wants_number and isinstance(found, Reg):
        return as_element(emit, found, "i64" if dtype == "bool" and primitive.name != "where" else dtype)
    return as_element(emit, found, "i64") if wants_number and isinstance(found, Reg) and found.type == BOOLEAN else found


def as_element(emit: Any, found: Any, dtype: str) -> Any:
    """A number as an element of a dtype: integers and booleans become reals, booleans integers; f32 is rounded. ZERO stays."""
    if not isinstance(found, Reg):
        return emit.primitive(TABLE["single"], [found]) if dtype == "f32" and isinstance(found, Sum) else found
    wanted = ELEMENTS[dtype]
    if found.type != wanted:
        number = f"int({found.text})" if found.type == BOOLEAN else found.text  # Numba's float takes no boolean
        text = {REAL: f"float({number})", INTEGER: f"int({found.text})", BOOLEAN: f"({found.text} != 0)"}[wanted]
        found = Reg(text, wanted)
    return emit.primitive(TABLE["single"], [found]) if dtype == "f32" else found


def _cheap(name: str, parts: tuple[Any, ...]) -> bool:
    """Whether the formula has few operations, none of them slow."""
    return name in CHEAP and sum(weight(p) for p in parts) < SMALL


def weight(part: Any) -> int:
    """How many cheap operations a formula has; as many as make it dear, if there is another."""
    if not isinstance(part, Formula):
        return 0
    if not part.along:
        return 1
    return 1 + sum(weight(p) for p in part.parts) if part.cheap else SMALL


def where(emit: Any, condition: Any, x: Any, y: Any) -> Any:
    """x where the condition holds, else y."""
    return elementwise(emit, TABLE["where"], [condition, x, y])


def gadd(emit: Any, a: Any, b: Any) -> Any:
    """The sum of sensitivities; what a scatter says is added where it is, after the other has been computed."""
    if isinstance(a, Nothing) or isinstance(b, Nothing):
        return b if isinstance(a, Nothing) else a
    if isinstance(a, Scatter):
        a, b = b, a  # a sum of two is the same in either order
    if isinstance(b, Scatter) and not isinstance(a, Scatter) and not a.type.holes:
        whole = emit.common(a.sizes, b.sizes)
        array = emit.held(Formula("f64", whole, lambda e, at: e.at(a, at), (a,)))
        return scattered(emit, array, b, first=False)
    a, b = as_operand(emit, a), as_operand(emit, b)
    if a.sizes and not (a.type.holes or b.type.holes):
        return emit.primitive(TABLE["add"], [a, b])
    dtype, whole = a.dtype, emit.common(a.sizes, b.sizes)

    def element(emit: Any, at: Sizes) -> Any:
        return as_element(emit, emit.primitive(TABLE["gadd"], [emit.at(a, at), emit.at(b, at)]), dtype)

    return emit.formula(dtype, whole, element, (a, b), cheap=_cheap("gadd", (a, b)), holes=a.type.holes and b.type.holes)


def instantiate(emit: Any, d: Any, x: Any) -> Any:
    """The sensitivity as an array of x's shape, 0 where it is ZERO."""
    if x.dtype not in ("f64", "f32"):
        return Nothing(result_type("instantiate", d, x))
    zero = Reg("0.0", REAL)
    if isinstance(d, Nothing):
        return emit.formula(x.dtype, x.sizes, lambda emit, at: zero, cheap=True)
    if isinstance(d, Scatter):
        return scattered(emit, emit.new("f64", d.sizes, "0.0"), d, first=True)
    if not isinstance(d, ARRAYS):  # a number, of an array without axes
        number = emit.primitive(TABLE["instantiate"], [d, zero])
        return emit.formula(x.dtype, x.sizes, lambda emit, at: as_element(emit, number, x.dtype), cheap=True)
    d = as_operand(emit, d)
    if not d.type.holes:
        return d

    def element(emit: Any, at: Sizes) -> Any:
        return emit.primitive(TABLE["instantiate"], [emit.at(d, at), zero])

    return emit.formula(d.dtype, d.sizes, element, (d,), cheap=True)
