"""
What the type rules of arrays share: operands and attributes read from types, and the type of what is left.

An attribute that is not known before running may be any of its values, so a rule is joined over all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

from semantics.columns.record_types import wrong
from semantics.errors import Trap
from semantics.shapes import Dims, Size
from semantics.type_language import BOOLEAN, INTEGER, REAL, UNIT, ArrayType, RecordType, Scalar, TupleType
from semantics.type_lattice import ZERO_TYPE, Literal, erase, join, joined

ELEMENT = {"f64": REAL, "f32": REAL, "i64": INTEGER, "bool": BOOLEAN}
DTYPE = {REAL: "f64", INTEGER: "i64", BOOLEAN: "bool"}


def dtype_of(t: Any) -> str | None:
    """The dtype of a scalar type; None for what is no scalar."""
    found = erase(t)
    return DTYPE.get(found) if isinstance(found, Scalar) else None


def operand(name: str, t: Any) -> ArrayType:
    """The array that an operand is; a scalar is one without axes."""
    if isinstance(t, ArrayType):
        return t
    dtype = dtype_of(t)
    if dtype is None:
        raise wrong(name, "an array", t, "make one: np.array(…)")
    return ArrayType(dtype, ())


def element(dtype: str, holes: bool) -> Any:
    """The type of one element."""
    return join(ELEMENT[dtype], ZERO_TYPE) if holes else ELEMENT[dtype]


def result(dtype: str, dims: Dims, holes: bool = False) -> Any:
    """The type of a result: where no axis is left a scalar, but for f32 (`semantics.arrays.of_rank_zero`)."""
    return element(dtype, holes) if dims == () and dtype != "f32" else ArrayType(dtype, dims, holes)


def absorbing(rule: Callable[..., Any]) -> Callable[..., Any]:
    """The rule, with zero for its result where an argument is zero."""

    def cell(*arguments: Any) -> Any:
        return ZERO_TYPE if ZERO_TYPE in arguments else rule(*arguments)

    return cell


# attributes


def axes(name: str, t: Any, rank: int) -> list[Any]:
    """All that an attribute `axis` can be for an array of `rank` axes."""
    match t:
        case TupleType(items):
            return list(product(*(axes(name, i, rank) for i in items)))
        case Literal(Scalar("i64"), value):
            return [value]
        case _ if t == INTEGER:
            return list(range(max(rank, 1)))
        case _ if t == UNIT:
            return [None]
    raise wrong(name, "an axis: an integer, a tuple of integers or None", t, "such as axis=0, axis=(0, 1), or leave axis out")


def one_axis(name: str, t: Any, rank: int) -> list[Any]:
    """All that an attribute `axis` can be which names one axis, or none."""
    if isinstance(t, TupleType):
        raise wrong(name, "one axis: an integer or None", t, "such as axis=0, or leave axis out")
    return axes(name, t, rank)


def flags(name: str, what: str, t: Any) -> list[bool]:
    """All that a boolean attribute can be."""
    if erase(t) != BOOLEAN:
        raise wrong(name, f"a boolean {what}", t, "True or False")
    return [t.value] if isinstance(t, Literal) else [False, True]


def integer(name: str, what: str, t: Any) -> Size:
    """An integer attribute; None if it is not known."""
    if erase(t) != INTEGER:
        raise wrong(name, f"an integer {what}", t, "round explicitly: int(x)")
    return t.value if isinstance(t, Literal) else None


def sizes(name: str, t: Any) -> Dims:
    """A shape given as an integer, a tuple or a list of integers."""
    items = t.items if isinstance(t, (TupleType, RecordType)) else (t,)
    if any(erase(i) != INTEGER for i in items):
        raise wrong(name, "a shape: an integer or a tuple of integers", t, "round explicitly: int(n)")
    return tuple(i.value if isinstance(i, Literal) else None for i in items)


def not_negative(name: str, dims: Dims) -> Dims:
    """The sizes; Trap if one is negative."""
    if any(n is not None and n < 0 for n in dims):
        raise Trap(f"{name}: the shape {dims} has a negative size", rule=name, remedy="sizes are 0 or more")
    return dims


def over(rule: Callable[..., Any], *choices: Iterable[Any]) -> Any:
    """The join of the rule over everything that its attributes can be; Trap if it traps for all."""
    return joined(rule, product(*choices))
