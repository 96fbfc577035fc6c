"""
The inner product of two values of one structure, and the multiple of a value: what directional derivatives are made of.

    inner(a, b) = Σ aₖ·bₖ over the reals of a, in order        scale(c, t) = t with every real times c

Each is the other's adjoint. Integers, booleans and unit count for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from semantics.arrays import FLOATING, Array
from semantics.columns.arrays.elements import Elements, is_number
from semantics.columns.structure import wrong
from semantics.errors import Trap
from semantics.structured import Record
from semantics.tangents import ZERO, Sparse, SparseArray, dense


def _parts(value: Any) -> tuple[Any, ...] | None:
    """The parts of a structured value, written out; None for a leaf."""
    value = dense(value) if isinstance(value, (Sparse, SparseArray)) else value
    if isinstance(value, Array):
        return value.items if value.dtype in FLOATING else ()
    return value.items if isinstance(value, Record) else value if isinstance(value, tuple) else None


def _pairs(a: Any, b: Any) -> Iterator[tuple[Any, Any]]:
    """The reals of both, side by side; a ZERO stands for any number of them and is left out."""
    todo = [(a, b)]
    while todo:
        x, y = todo.pop()
        if x is ZERO or y is ZERO:
            continue
        left, right = _parts(x), _parts(y)
        if left is None and right is None:
            if is_number(x) and is_number(y):
                yield x, y
        elif left is None or right is None or len(left) != len(right):
            raise Trap(f"the inner product of {x!r} and {y!r}, which differ in structure", rule="inner", remedy="one structure")
        else:
            todo.extend(zip(reversed(left), reversed(right), strict=True))


def inner(e: Elements, a: Any, b: Any) -> Any:
    """Σ aₖ·bₖ from the left; ZERO if one of them is."""
    if a is ZERO or b is ZERO:
        return ZERO
    total: Any = None
    for x, y in _pairs(a, b):
        product = e.mul(x, y)
        total = product if total is None else e.add(total, product)
    return e.real(0) if total is None else total


def scale(e: Elements, c: Any, t: Any) -> Any:
    """c times every real of t, as a sensitivity of t: a record becomes a tuple. An explicit stack, since tuples nest."""
    if c is ZERO:
        return ZERO
    built: list[Any] = []
    todo: list[tuple[Any, int]] = [(t, -1)]
    while todo:
        top, gather = todo.pop()
        if gather >= 0:
            items = tuple(built[len(built) - gather :])
            del built[len(built) - gather :]
            built.append(items)
        elif isinstance(top, (Array, SparseArray)):
            built.append(_scaled_array(e, c, dense(top)))
        elif (parts := _parts(top)) is not None:
            todo.append((None, len(parts)))
            todo.extend((part, -1) for part in reversed(parts))
        elif top is ZERO:
            built.append(ZERO)
        elif top is None or isinstance(top, (bool, int)):
            built.append(None)
        elif is_number(top):
            built.append(e.mul(c, top))
        else:
            raise wrong("scale", "numbers", top)
    return built[0]


def _scaled_array(e: Elements, c: Any, t: Array) -> Array | None:
    if t.dtype not in FLOATING:
        return None
    return t.with_items(ZERO if x is ZERO else e.rounded(e.mul(c, x), t.dtype) for x in t.items)


CELLS: dict[str, Callable[..., Any]] = {"inner": inner, "scale": scale}
