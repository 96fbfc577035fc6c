"""
Loops whose turns are apart, marked as such.

    for k in range(n):                 for k in _apart(n):
        y[k] = _exp(x[k]) + t[i]   →       y[k] = _exp(x[k]) + t[i]

Of every array that such a loop writes to, a turn accesses the part with its own number alone, by whatever name, or that so far
behind it: one in all accesses. What it writes no other turn reads or writes, so a compiler need not ask when it runs whether arrays
overlap (`backend.cpu.vectors`). Sums of numbers keep their order. Memory that an array is given afterwards (`keeping`, `reuse`) is
new to all else in the loop, or that of an array of which a turn needs its own element alone.
"""

from __future__ import annotations

import ast

from backend.arrays.effects import Access, Reader
from backend.arrays.walking import walk

MARK = "_apart"


def marked(function: ast.FunctionDef, effects: Reader) -> None:
    """The function with a mark on each innermost loop whose turns are apart."""
    for node in walk(function):
        match node:
            case ast.For(ast.Name(turn), ast.Call(ast.Name("range") as through, [_]), body) if not any(map(_loops, body)):
                if is_apart(node, turn, effects):
                    through.id = MARK


def is_apart(loop: ast.For, turn: str, effects: Reader) -> bool:
    """Whether it writes to arrays, and every turn of it accesses its own part of these alone."""
    its = effects(loop)
    accesses = its.loads | its.stores
    written = {root for root, _ in its.stores}
    return bool(written) and not its.jumps and not its.returns and all(_has_own(root, accesses, turn) for root in written)


def _has_own(root: str, accesses: frozenset[Access], turn: str) -> bool:
    """Whether an axis of the array has one index in every access, which is another in every turn."""
    mine = [indices for name, indices in accesses if name == root]
    return any(len({*found}) == 1 and turn in found[0].split(" + ") for found in zip(*mine, strict=False))


def _loops(statement: ast.stmt) -> bool:
    """Whether there is a loop in a statement."""
    return any(isinstance(n, ast.For | ast.While) for n in walk(statement))
