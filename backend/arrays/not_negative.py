"""
Indices that are not negative, since they count turns or are sums of such: no size is added to them.

    if c < b: return …                          if c < b: return …
    i = c - b + 1                               i = c - b + 1
    j = k + (c - b)                             j = k + (c - b)
    m = j + a.shape[0] if j < 0 else j     →    m = j

What cells of loops in loops keep of indices is told so, of the places of the cells (`backend.arrays.nested`). The sums are those
that were made, and passed, on the way forward.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Set

from backend.arrays.counted import Pushed, Told, with_bases
from backend.arrays.in_place import blocks
from backend.arrays.takes import once


def not_negative(function: ast.FunctionDef) -> None:
    """The function, which does not ask whether such indices are negative."""
    single, known = once(function), set[str]()
    for block in blocks(function):  # outer ones first
        for statement, bases in with_bases(block):
            match statement:
                case ast.Assign([ast.Name(name)], value) if name in single and _is_not(value, bases, known):
                    known.add(name)
    Told(dict.fromkeys(known, Pushed(0, frozenset()))).visit(function)


def _is_not(value: ast.expr, bases: Mapping[str, str], known: Set[str]) -> bool:
    match value:
        case ast.Constant(int(number)):
            return number >= 0
        case ast.Name(name):
            return name in known
        case ast.BinOp(ast.Name(cell), ast.Sub(), ast.Name(base)):
            return bases.get(cell) == base
        case ast.BinOp(a, ast.Add(), b):
            return _is_not(a, bases, known) and _is_not(b, bases, known)
        case _:
            return False
