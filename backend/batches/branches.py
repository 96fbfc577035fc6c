"""
Whether a kernel asks what differs from sample to sample: a branch of it, a loop, a place in memory, or a function of its text.

If it does not, any number of samples go through it together. If it does, they may part, and the fewer the less often. What differs
is followed through assignments, in whatever order they stand, and through memory as a whole; so what is said not to ask does not.
"""

from __future__ import annotations

import ast
from collections.abc import Collection

KERNEL = "kernel"


def asks(text: str, differing: Collection[str]) -> bool:
    """Whether the function `kernel` of a text asks about something that depends on these of its parameters."""
    functions = {found.name: found for found in ast.parse(text).body if isinstance(found, ast.FunctionDef)}
    nodes, names = list(ast.walk(functions[KERNEL])), {*differing}
    while len(names) < len(names := names | _assigned(nodes, names)):
        pass
    return any(_mentions(asked, names) for node in nodes for asked in _asked(node, functions))


def _assigned(nodes: list[ast.AST], names: set[str]) -> set[str]:
    """The variables, and the memory, to which something with one of the names is assigned."""
    pairs = (pair for node in nodes if isinstance(node, ast.Assign) for pair in _pairs(node.targets[0], node.value))
    return {found for target, value in pairs if _mentions(value, names) for found in _written(target)}


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """What is assigned to what: of a tuple, part by part."""
    match target, value:
        case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
            return [*zip(targets, values, strict=True)]
        case _:
            return [(target, value)]


def _written(target: ast.expr) -> set[str]:
    """What an assignment writes to; an index is only read."""
    match target:
        case ast.Subscript(value=of):
            return _written(of)
        case ast.Tuple(elts=parts):
            return {name for part in parts for name in _written(part)}
        case _:
            return {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}


def _asked(node: ast.AST, functions: Collection[str]) -> list[ast.expr]:
    """The expressions of which a node needs one answer for all samples."""
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            return [test]
        case ast.BoolOp(values=values):
            return values
        case ast.For(iter=turns):
            return [turns]
        case ast.Subscript(slice=at):
            return [at]
        case ast.Call(func=ast.Name(id=name), args=given) if name in functions or name == "bool":
            return given
        case _:
            return []


def _mentions(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(found, ast.Name) and found.id in names for found in ast.walk(node))
