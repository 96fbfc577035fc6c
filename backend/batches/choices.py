"""
Choices among numbers that are there already, as samples side by side make them: each lane its own, and no branch.

    x if c else y  ⟹  _chosen(c, x, y)       a or b  ⟹  a | b       a and b  ⟹  a & b

where x and y are names or numbers, and c, a and b compare such. To read them computes nothing, and cannot fail; so it does not
matter which of them is read, and `backend.batches.branches` finds nothing that is asked.
"""

from __future__ import annotations

import ast
from functools import reduce
from typing import Any

CHOSEN = "_chosen"


def choosing(text: str) -> str:
    """The function `kernel` of a text, in which such choices are no branches; nothing where it has none."""
    changes = Choices()
    (kernel,) = (found for found in ast.parse(text).body if isinstance(found, ast.FunctionDef) and found.name == "kernel")
    after = changes.visit(kernel)
    return ast.unparse(ast.fix_missing_locations(after)) + "\n" if changes.count else ""


class Choices(ast.NodeTransformer):
    """The rewriting, which counts what it rewrites."""

    count = 0

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        """x if c else y  ⟹  _chosen(c, x, y)"""
        self.generic_visit(node)
        if isinstance(node.test, ast.Constant) or not (_compares(node.test) and _is_there(node.body) and _is_there(node.orelse)):
            return node
        self.count += 1
        return ast.Call(ast.Name(CHOSEN), [_joined(node.test), node.body, node.orelse], [])


def _is_there(node: ast.expr) -> bool:
    """Whether a value is a name, a number, or a choice among such."""
    match node:
        case ast.Name() | ast.Constant() | ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name == CHOSEN
        case _:
            return False


def _compares(node: ast.expr) -> bool:
    """Whether a condition compares what is there, or is a boolean that is. Recursion is bounded by what is written in one place."""
    match node:
        case ast.BoolOp(values=values):
            return all(map(_compares, values))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _compares(operand)
        case ast.Compare(left=left, comparators=[right]):
            return _is_there(left) and _is_there(right)
        case _:
            return isinstance(node, ast.Name)


def _joined(node: ast.expr) -> ast.expr:
    """The condition with `|` and `&`, which compute both sides."""
    match node:
        case ast.BoolOp(op=op, values=values):
            by = ast.BitOr() if isinstance(op, ast.Or) else ast.BitAnd()
            return reduce(lambda a, b: ast.BinOp(a, by, b), map(_joined, values))
        case ast.UnaryOp(op=op, operand=operand):
            return ast.UnaryOp(op, _joined(operand))
        case _:
            return node
