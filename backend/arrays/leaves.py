"""The arrays and numbers in a value, in the order in which `places` numbers their elements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from backend.arrays.attributes import is_zero
from backend.arrays.values import ARRAYS, plus, product
from backend.lowering.shape import ZERO_VALUE, Items, typed
from semantics.type_language import BOOLEAN, INTEGER, REAL

FLOATING = ("f64", "f32")


def leaves(x: Any) -> Iterator[Any]:
    """The arrays and numbers in a value, in order."""
    if isinstance(x, Items):
        for part in x.items:
            yield from leaves(part)
    elif not is_zero(x):
        yield x


def leaf_dtype(leaf: Any) -> str:
    """The dtype of an array or of a number."""
    if isinstance(leaf, ARRAYS):
        return str(leaf.type.dtype)
    return {REAL: "f64", INTEGER: "i64", BOOLEAN: "bool"}.get(typed(leaf), "f64")


def extent(emit: Any, x: Any, first: str, found: list[tuple[Any, str]]) -> str:
    """The number of elements in a value, after `first`; every leaf with the number of its first element."""
    for leaf in leaves(x):
        found.append((leaf, first))
        sizes = leaf.sizes if isinstance(leaf, ARRAYS) else ()
        first = str(emit.integer(plus(first, product(sizes))).text)
    return first


def rebuilt(x: Any, parts: Iterator[Any], records: bool = False) -> Any:
    """The structure of x with other leaves, in order; a record stays one only if `records`."""
    if isinstance(x, Items):
        return Items(tuple(rebuilt(part, parts, records) for part in x.items), x.label if records else None)
    return ZERO_VALUE if is_zero(x) else next(parts, ZERO_VALUE)
