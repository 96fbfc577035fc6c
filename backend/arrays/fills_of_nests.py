"""
Loops in loops over cells which make every element of a mask of two axes True: the inner one a row, the outer one all rows.

    c, b, g = (p - 1, p - n, _full((n, m), False, _bool))
    while True:
        if c >= b:
            d, e, h = (q - 1, q - m, g)
            while True:
                if d >= e: …h[c - b, d - e] = True; d = d - 1…
                else: c, g = (c - 1, h); break
        else: …                                          here g is True everywhere

So it is with the adjoint of a matrix that loops in loops read by index.
"""

from __future__ import annotations

import ast

from backend.arrays.fills import ONE, Fills
from backend.arrays.takes import Linear, less, linear
from backend.arrays.turns_of_nests import Nest, Values, nests
from backend.arrays.walking import walk


def filled_by_nests(function: ast.FunctionDef, fills: Fills) -> set[int]:
    """The mentions of masks where a loop in a loop has made all their elements True."""
    values, steady, times = fills.values, fills.steady, fills.times
    found: set[int] = set()
    for nest in nests(function, fills):
        sizes = [nest.outer.turns(values, steady), nest.inner.turns(values, steady)]
        for mask, made in nest.outer.given.items():
            if times[mask] == 2 and _shape(made, steady) == sizes and _is_filled(mask, nest, values):
                found |= {id(n) for s in nest.outer.rest for n in walk(s) if isinstance(n, ast.Name) and n.id == mask}
    return found


def _shape(made: ast.expr, steady: Values) -> list[Linear | None]:
    """One less than the sizes of a mask that is made; nothing of anything else."""
    match made:
        case ast.Call(ast.Name("_full"), [ast.Tuple([rows, columns]), _, ast.Name("_bool")]):
            return [less(linear(size, steady), ONE) for size in (rows, columns)]
        case _:
            return []


def _is_filled(mask: str, nest: Nest, values: Values) -> bool:
    """Whether each turn of the inner loop makes an element of a mask True, which is of the row of the outer turn."""
    if (named := nest.handed(mask)) is None:
        return False
    events = nest.events(named)
    return {e.kind for e in events} <= {"True", "read"} and any(
        e.kind == "True" and e.always and nest.is_at(e, values) for e in events
    )
