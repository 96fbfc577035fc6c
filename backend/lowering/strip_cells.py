"""
Which cells of a block are a known number of cells apart: what is n + 1 and then n again, or is read from the one after it.

A name that is assigned a name and a constant is that much from the *root* of this name. A root is a name before the block, or what
one has been since it was assigned something else.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from backend.arrays.effects import assigned

Cell = tuple[str, int]
"""A root, and how many cells after it."""


def followed(block: Iterable[ast.stmt]) -> Iterator[tuple[ast.stmt, Callable[[str], Cell | None]]]:
    """Each statement, with what says before it which cell a text is; None where that is no sum of a name and a constant."""
    known: dict[str, Cell] = {}

    def at(text: str) -> Cell | None:
        return _cell(ast.parse(text, mode="eval").body, known)

    for k, statement in enumerate(block):
        yield statement, at
        match statement:
            case ast.Assign([ast.Name(x)], value):
                known[x] = _cell(value, known) or (f"{x} since {k}", 0)
            case _:
                known |= {x: (f"{x} since {k}", 0) for x in assigned(statement)}


def _cell(node: ast.expr, known: dict[str, Cell]) -> Cell | None:
    match node:
        case ast.Name(x):
            return known.get(x, (x, 0))
        case ast.BinOp(ast.Name(x), ast.Add(), ast.Constant(int(n))):
            root, before = known.get(x, (x, 0))
            return root, before + n
        case ast.BinOp(ast.Name(x), ast.Sub(), ast.Constant(int(n))):
            root, before = known.get(x, (x, 0))
            return root, before - n
        case _:
            return None
