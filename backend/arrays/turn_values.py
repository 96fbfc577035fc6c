"""
What names are in a turn of a loop, in terms of what they were when it began.

    ("name", n)                    what n was when the turn began
    ("above", v, n)                an integer that is n more than another
    ("element", array, i, ...)     an element of an argument
    ("wrapped", i, size)           an index, or so much more if that is negative
    ("arms", k, one, other)        one of two, as choice k was made; these may be such, too
    ("unknown", k)                 anything else, equal to itself alone

So are numbers, sizes of arguments, sums, differences, products and negatives. What has more parts than PARTS is not known.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import Any

from backend.arrays.contraction import indices

Value = tuple[Any, ...]
State = dict[str, Value]  # a name that is not there is what it was when the turn began

PARTS = 16
"""Of a value that is followed; what is larger costs more to compute again than to read."""
WIDE = 64
"""Parts of what several paths give, of which one is computed."""


def above(value: Value, n: int) -> Value:
    """An integer that is n more."""
    match value:
        case "above", of, int(m):
            return above(of, n + m)
        case _:
            return ("above", value, n) if n else value


def parts(value: Value) -> int:
    """How many operations, names and numbers a value is made of."""
    return 1 + sum(parts(part) for part in value[1:] if isinstance(part, tuple))


def value_of(node: ast.expr, state: State, arrays: Collection[str]) -> Value | None:
    """What an expression is; None where a part is not followed, or there are too many. Elements of `arrays` stay what they are."""
    found = _Of(state, arrays).of(node)
    return found if found is not None and parts(found) <= PARTS else None


class _Of:
    def __init__(self, state: State, arrays: Collection[str]) -> None:
        self.state, self.arrays = state, arrays

    def of(self, node: ast.expr) -> Value | None:
        match node:
            case ast.Name(name):
                return self.state.get(name, ("name", name))
            case ast.Constant(bool() | int() | float()):
                return "number", ast.unparse(node)
            case ast.IfExp(ast.Constant(bool(test)), a, b):
                return self.of(a if test else b)
            case ast.Call(ast.Name("int"), [ast.Name() as truth]):  # a truth value as a cell has it
                return found if (found := self.of(truth)) is not None and found[0] == "arms" else None
            case ast.UnaryOp(ast.USub(), a):
                return self.all("neg", a)
            case ast.BinOp(a, ast.Add() | ast.Sub() as op, ast.Constant(int(n))) if not isinstance(n, bool):
                return self.more(a, n if isinstance(op, ast.Add) else -n)
            case ast.BinOp(ast.Constant(int(n)), ast.Add(), b) if not isinstance(n, bool):
                return self.more(b, n)
            case ast.BinOp(a, ast.Add() | ast.Sub() as op, b):
                return self.all("add" if isinstance(op, ast.Add) else "sub", a, b)
            case ast.Call(ast.Name("_mul"), [a, b]):
                return self.all("mul", a, b)
            case ast.Call(ast.Name("float"), [ast.Subscript(ast.Name(name)) as element]) if name in self.arrays:
                return self.all("element", ast.Constant(name), *indices(element))
            case ast.IfExp(ast.Compare(i, [ast.Lt()], [ast.Constant(0)]), ast.BinOp(j, ast.Add(), n), ast.Name() as k):
                return self.all("wrapped", k, n) if ast.dump(i) == ast.dump(j) == ast.dump(k) else None
            case ast.Subscript(ast.Attribute(ast.Name(name), "shape"), ast.Constant()) if name in self.arrays:
                return "size", ast.unparse(node)
            case _:
                return None

    def more(self, node: ast.expr, n: int) -> Value | None:
        of = self.of(node)
        return None if of is None else above(of, n)

    def all(self, operation: str, *parts: ast.expr) -> Value | None:
        """An operation on expressions; or of the name of an array, which is a text, and of expressions."""
        texts = (part.value if isinstance(part, ast.Constant) else None for part in parts)
        of = [text if isinstance(text, str) else self.of(part) for text, part in zip(texts, parts, strict=True)]
        return None if None in of else (operation, *of)
