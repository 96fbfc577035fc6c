"""The types of the rows by which sensitivities find the way back: `semantics.columns.arrays.places`; and of adjoints of sums."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from semantics.arrays import FLOATING, Array, normal_axis, shown
from semantics.columns.array_types.algebra import tensordot
from semantics.columns.array_types.operands import absorbing, axes, dtype_of, flags, integer, one_axis, operand, over
from semantics.columns.arrays.algebra import paired
from semantics.columns.arrays.einstein import einsum_adjoint as adjoint_of_einsum
from semantics.columns.record_types import wrong
from semantics.errors import Trap
from semantics.shapes import Size, clash, count
from semantics.shapes import grouped as grouped_shape
from semantics.type_language import BOOLEAN, INTEGER, REAL, ArrayType, RecordType, SequenceType, TupleType
from semantics.type_lattice import TEXT, ZERO_TYPE, Literal, Union, distribute, erase, join


def places(x: Any) -> Any:
    """The structure of x with integers for its elements. Recursion is bounded by the nesting of the type."""
    match x:
        case TupleType(items):
            return TupleType(tuple(distribute(places, [i]) for i in items))
        case RecordType(label, items):
            return RecordType(label, tuple(distribute(places, [i]) for i in items))
        case SequenceType(label, item):
            return SequenceType(label, distribute(places, [item]))
        case ArrayType(_, dims):
            return ArrayType("i64", dims)
    if x == ZERO_TYPE:
        return ZERO_TYPE
    if dtype_of(x) is None:
        raise wrong("places", "arrays and numbers", x)
    return INTEGER


def _leaves(t: Any) -> Iterator[Any]:
    todo = [t]
    while todo:
        match todo.pop():
            case TupleType(items) | RecordType(_, items) | Union(items):
                todo.extend(items)
            case SequenceType(_, item):
                todo.append(item)
            case leaf:
                yield leaf


def _numbers(name: str, p: Any) -> ArrayType:
    """The array of places: integers, if there are any."""
    found = operand(name, p)
    if found.dtype != "i64" and None not in found.dims and 0 not in found.dims:
        raise wrong(name, "an array of places", p)
    return found


def gathered(v: Any, p: Any, x: Any) -> Any:
    """The elements of v at the places p, some of them zeros"""
    if ZERO_TYPE in (v, p, x):
        return ZERO_TYPE
    found = {leaf.dtype if isinstance(leaf, ArrayType) else dtype_of(leaf) for leaf in _leaves(x)} & set(FLOATING)
    return ArrayType("f32" if found == {"f32"} else "f64", _numbers("gathered", p).dims, True)


def returned(d: Any, p: Any, x: Any) -> Any:
    """The sensitivity of x, some elements zeros; records have become tuples"""
    if ZERO_TYPE in (d, p, x):
        return ZERO_TYPE
    operand("returned", d), _numbers("returned", p)
    return _returned(x)


def _returned(x: Any) -> Any:
    match x:
        case TupleType(items) | RecordType(_, items):
            return TupleType(tuple(distribute(_returned, [i]) for i in items))
        case SequenceType(_, item):
            return SequenceType(None, distribute(_returned, [item]))
        case ArrayType(dtype, dims) if dtype in FLOATING:
            return ArrayType(dtype, dims, True)
    return join(REAL, ZERO_TYPE) if x == REAL else ZERO_TYPE


def keep(d: Any, c: Any) -> Any:
    """d or zero, element by element where c is an array"""
    if ZERO_TYPE in (d, c):
        return ZERO_TYPE
    if erase(c) == BOOLEAN:
        return join(d, ZERO_TYPE) if not isinstance(c, Literal) else d if c.value else ZERO_TYPE
    if not isinstance(c, ArrayType) or c.dtype != "bool":
        raise wrong("keep", "booleans", c)
    array = operand("keep", d)
    if clash((count(array.dims), count(c.dims))):
        raise wrong("keep", f"as many elements as {c} has", d)
    return ArrayType(array.dtype, array.dims, True)


def grouped(x: Any, axis: Any) -> Any:
    """The axes that are kept, and one for all that are reduced"""
    array = operand("grouped", x)

    def rule(named: Any) -> Any:
        return ArrayType(array.dtype, grouped_shape(array.dims, named), array.holes)

    return over(rule, axes("grouped", axis, len(array.dims)))


def take_along(x: Any, indices: Any, axis: Any) -> Any:
    """np.take_along_axis(x, indices, axis)"""
    array, index = operand("take_along", x), operand("take_along", indices)
    if index.dtype != "i64":
        raise wrong("take_along", "an array of integers", indices)

    def rule(named: Any) -> Any:
        dims = (count(array.dims),) if named is None else array.dims
        along = normal_axis(0 if named is None else named, len(dims), "take_along")
        off = [(a, b) for k, (a, b) in enumerate(zip(dims, index.dims, strict=False)) if k != along]
        if len(index.dims) != len(dims) or any(map(clash, off)):
            found = f"{shown(dims)} and {shown(index.dims)}"
            raise Trap(f"take_along: the shapes {found} differ off axis {along}", rule="take_along", remedy="equal sizes")
        return ArrayType(array.dtype, index.dims, array.holes)

    return over(rule, one_axis("take_along", axis, len(array.dims)))


def shift(x: Any, by: Any, axis: Any, fill: Any) -> Any:
    """Elements moved along an axis, `fill` where there is none"""
    array = operand("shift", x)
    integer("shift", "distance", by)
    integer("shift", "to fill with", fill)

    def rule(named: Any) -> Any:
        if named is not None:
            normal_axis(named, len(array.dims), "shift")
        return ArrayType(array.dtype, (count(array.dims),) if named is None else array.dims, array.holes)

    return over(rule, one_axis("shift", axis, len(array.dims)))


def recurrence(b: Any, c: Any, axis: Any, reverse: Any) -> Any:
    """The shape of b"""
    array, factors = operand("recurrence", b), operand("recurrence", c)
    if "bool" in (array.dtype, factors.dtype):
        raise wrong("recurrence", "numbers", TupleType((b, c)))
    flags("recurrence", "reverse", reverse)

    def rule(named: Any) -> Any:
        if named is not None:
            normal_axis(named, len(array.dims), "recurrence")
        if clash((count(array.dims), count(factors.dims))):
            found = f"{shown(array.dims)} and {shown(factors.dims)}"
            raise Trap(f"recurrence of shapes {found}", rule="recurrence", remedy="equal shapes")
        return ArrayType(array.dtype, (count(array.dims),) if named is None else array.dims, array.holes or factors.holes)

    return over(rule, one_axis("recurrence", axis, len(array.dims)))


def einsum_adjoint(subscripts: Any, k: Any, operands: Any) -> Any:
    """Two strings, known because the subscripts and the ranks are."""
    if not isinstance(subscripts, Literal) or not isinstance(k, Literal) or not isinstance(operands, TupleType):
        raise wrong("einsum_adjoint", "subscripts and a position that are known before running", subscripts)
    if ZERO_TYPE in operands.items:
        return ZERO_TYPE
    ranks = [Array("f64", (1,) * len(operand("einsum", t).dims), ()) for t in operands.items]
    return TupleType(tuple(Literal(TEXT, text) for text in adjoint_of_einsum(None, subscripts.value, k.value, tuple(ranks))))  # type: ignore[arg-type]


def tensordot_subscripts(a: Any, b: Any, pairs: Any) -> Any:
    """A string, known because the axes and the ranks are."""
    dims = [operand("tensordot", t).dims for t in (a, b)]
    tensordot(ArrayType("f64", dims[0]), ArrayType("f64", dims[1]), pairs)
    ranks = [Array("f64", (1,) * len(d), ()) for d in dims]
    return Literal(TEXT, str(paired(ranks[0], ranks[1], _known(pairs))))


def _known(t: Any) -> Any:
    match t:
        case TupleType(items):
            return tuple(map(_known, items))
        case Literal(_, value):
            return value
    raise wrong("tensordot", "axes that are known before running", t)


def unsum(subscripts: Any, d: Any, x: Any) -> Any:
    """The shape of x, its axes of size 1 repeated as d is; zeros off the diagonals"""
    if not isinstance(subscripts, Literal):
        raise wrong("unsum", "subscripts that are known before running", subscripts)
    given, target = operand("unsum", d), operand("unsum", x)
    own, _, letters = subscripts.value.partition("->")
    sizes: dict[str, Size] = {}
    for letter, n in (*zip(own, target.dims, strict=True), *zip(letters, given.dims, strict=True)):
        sizes[letter] = n if sizes.get(letter, 1) in (1, None) else sizes[letter]
    return ArrayType(given.dtype, tuple(sizes[c] for c in own), True)


CELLS: dict[str, Callable[..., Any]] = {
    "places": places,
    "gathered": gathered,
    "returned": returned,
    "keep": keep,
    **{
        rule.__name__: absorbing(rule)
        for rule in (grouped, take_along, shift, recurrence, einsum_adjoint, tensordot_subscripts, unsum)
    },
}
