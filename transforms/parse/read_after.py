"""
Which variables are read after a statement, where what changes x in place, `x += e` or `x[i] = e`, alone reads no x.

A value that nothing needs is never computed, and what it would have found wrong is not found.
"""

from __future__ import annotations

import ast
from copy import deepcopy

from transforms.parse.flow import analyse
from transforms.parse.nodes import walk
from transforms.parse.source import Function, Source


def read_after(source: Source, function: Function) -> dict[ast.stmt, frozenset[str]]:
    """For each statement of a function, the variables that are read after it: liveness in a copy that has `e` for each change."""
    twin = deepcopy(function)
    pairs = [(s, t) for s, t in zip(walk(function), walk(twin), strict=True) if isinstance(s, ast.stmt)]
    changes = [(t, _without_change(t)) for _, t in pairs if isinstance(t, ast.stmt)]
    instead: dict[ast.AST, ast.stmt] = {t: made for t, made in changes if made is not t}
    for node in walk(twin):
        for block in vars(node).values():
            if isinstance(block, list):
                block[:] = [instead.get(t, t) for t in block]
    live = analyse(source, twin).live_after
    return {s: live[found] for s, t in pairs if (found := instead.get(t, t)) in live}


def _without_change(statement: ast.stmt) -> ast.stmt:
    """The value that a change in place computes; another statement as it is."""
    match statement:
        case ast.AugAssign(target=ast.Name() | ast.Subscript(value=ast.Name()), value=value):
            return ast.copy_location(ast.Expr(value), statement)
        case ast.Assign(targets=[ast.Subscript(value=ast.Name())], value=value):
            return ast.copy_location(ast.Expr(value), statement)
        case _:
            return statement
