"""
Masks that are joined, read without asking which of them is True first.

    b = m[k] or s[k]        →        b = m[k] | s[k]

Beside the masks the numbers are read, so both may be. A branch in the loop would keep it from being vectorised.
"""

from __future__ import annotations

import ast
from functools import reduce

from backend.arrays.walking import walk


def eager(function: ast.FunctionDef) -> None:
    """The function in which a number of elements and of names is a boolean without branches."""
    for node in walk(function):
        match node:
            case ast.For(_, _, body):
                for statement in body:
                    match statement:
                        case ast.Assign([ast.Name(name)], ast.BoolOp(op, values)) if name[0] == "b" and all(map(_is_read, values)):
                            bits = ast.BitOr() if isinstance(op, ast.Or) else ast.BitAnd()
                            statement.value = reduce(lambda a, b, by=bits: ast.BinOp(a, by, b), values)  # type: ignore[misc]


def _is_read(node: ast.expr) -> bool:
    """Whether it is a boolean in a name, or an element of a mask."""
    match node:
        case ast.Name(name) | ast.Subscript(ast.Name(name)):
            return name[0] in "ab"
        case _:
            return False
