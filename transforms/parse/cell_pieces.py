"""
The pieces of trees that mutation is rewritten to: reads and changes of the hidden variable `memory'`.
"""

from __future__ import annotations

import ast

from transforms.parse.mutation import TOKEN
from transforms.parse.nodes import Applied, applied
from transforms.parse.shape import walruses_of


def name(text: str) -> ast.Name:
    """The variable, read."""
    return ast.Name(text, ast.Load())


def assign(target: str, value: ast.expr) -> ast.stmt:
    """`target = value`"""
    return ast.Assign([ast.Name(target, ast.Store())], value)


def walrus(target: str, value: ast.expr) -> ast.expr:
    """`(target := value)`"""
    return ast.NamedExpr(ast.Name(target, ast.Store()), value)


def getitem(value: ast.expr, index: int | ast.expr, at: ast.AST) -> ast.expr:
    """Element `index` of a sequence."""
    return applied("getitem", value, ast.Constant(index) if isinstance(index, int) else index, at=at)


def part(value: ast.expr, start: int | None, stop: int | None, at: ast.AST, step: int | None = None) -> ast.expr:
    """A slice with constant bounds."""
    bounds = (ast.Constant(start), ast.Constant(stop), ast.Constant(step))
    return getitem(value, applied("make_slice", *bounds, at=at), at)


def loaded(pointer: ast.expr, at: ast.AST) -> ast.expr:
    """What a pointer points to now."""
    return applied("load", name(TOKEN), pointer, at=at)


def stored(pointer: ast.expr, value: ast.expr, at: ast.AST) -> ast.expr:
    """The memory in which it points to something else."""
    return applied("store", name(TOKEN), pointer, value, at=at)


def store(pointer: ast.expr, value: ast.expr, at: ast.AST) -> ast.stmt:
    """`memory' = store(memory', pointer, value)`"""
    return assign(TOKEN, stored(pointer, value, at))


def allocate(target: str, value: ast.expr, at: ast.AST) -> ast.stmt:
    """`memory', target = alloc(memory', value)`"""
    both = ast.Tuple([ast.Name(TOKEN, ast.Store()), ast.Name(target, ast.Store())], ast.Store())
    return ast.Assign([both], applied("alloc", name(TOKEN), value, at=at))


def element(pointer: ast.expr, index: ast.expr, at: ast.AST) -> ast.expr:
    """The pointer to an element."""
    return applied("lea", pointer, index, at=at)


def looked_at(value: ast.expr | None) -> ast.Name | None:
    """The variable whose list an expression reads as a whole, if that is all it does."""
    match value:
        case Applied(primitive="load", arguments=[ast.Name(id=token), ast.Name() as pointer]) if token == TOKEN:
            return pointer
    return None


def is_effectful(value: ast.expr) -> bool:
    """Whether evaluating an expression changes the memory."""
    return any(assigned == TOKEN for assigned, _ in walruses_of(value))
