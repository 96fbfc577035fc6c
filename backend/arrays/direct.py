"""
An element that goes from one array to another, written without a name of its own.

    for k in range(n):                           for k in range(n):
        x = float(s[k])                  →           t[k] = float(s[k])
        t[k] = x

So it comes out of a choice whether the element is there, once that is known. A loop that does no more than this is a copy, which
may not be needed (`backend.arrays.in_place`).
"""

from __future__ import annotations

import ast
from collections import Counter
from itertools import pairwise

from backend.arrays.in_place import blocks
from backend.arrays.walking import walk


def direct(function: ast.FunctionDef) -> None:
    """The function in which a number that is mentioned only where it goes into an array has no name."""
    mentions = Counter(n.id for n in walk(function) if isinstance(n, ast.Name))
    for block in blocks(function):
        gone: set[int] = set()
        for one, other in pairwise(block):
            match one, other:
                case ast.Assign([ast.Name(x)], ast.Call() as value), ast.Assign([ast.Subscript()], ast.Name(y)) if x == y:
                    if mentions[x] == 2 and _is_element(value):
                        assert isinstance(other, ast.Assign)
                        other.value = value
                        gone.add(id(one))
        block[:] = [s for s in block if id(s) not in gone]


def _is_element(value: ast.Call) -> bool:
    """Whether this is an element, as it is in its array."""
    match value:
        case ast.Call(ast.Name("float" | "int" | "bool"), [ast.Subscript(ast.Name())]):
            return True
        case _:
            return False
