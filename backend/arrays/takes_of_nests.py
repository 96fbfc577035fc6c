"""
Loops in loops over cells which take each element of a mask of two axes once.

    c, b, g = (p - 1, p - n, w)
    while True:
        if c >= b:
            d, e, h = (q - 1, q - m, g)
            while True:
                if d >= e:
                    i, j = (c - b, d - e)
                    if h[i, j]: x = a[i, j] * 2.0        if w is whole, this is True
                    h[i, j] = False
                    d = d - 1
                else: c, g = (c - 1, h); break

So it is with the adjoint of a matrix whose elements loops in loops make, one after another: a product of two matrices by index.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from backend.arrays.fills import Fills
from backend.arrays.turns_of_nests import Nest, Values, nests


def taken_by_nests(function: ast.FunctionDef, fills: Fills) -> Iterator[tuple[str, ast.expr, tuple[ast.Subscript, ...]]]:
    """The masks of which each turn of an inner loop takes an element, with what they are before; and where that is read."""
    for nest in nests(function, fills):
        if nest.outer.goes_down(fills.values) and nest.inner.goes_down(fills.values):
            for mask, given in nest.outer.given.items():
                if fills.times[mask] == 2 and (reads := _reads(mask, nest, fills.values)) is not None:
                    yield mask, given, reads


def _reads(mask: str, nest: Nest, values: Values) -> tuple[ast.Subscript, ...] | None:
    """Where a turn reads the element of a mask that it makes False, before it does; None if it makes others False, or none."""
    events = nest.events(named) if (named := nest.handed(mask)) is not None else []
    kinds = [e.kind for e in events]
    taken = [nest.is_at(e, values) for e in events if e.kind == "False"]
    if not taken or not all(taken) or not set(kinds) <= {"read", "True", "False"}:
        return None
    early = (e for e in events[: kinds.index("False")] if e.kind == "read" and nest.is_at(e, values))
    return tuple(e.node for e in early if e.node is not None)
