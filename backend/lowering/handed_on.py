"""
What loops only hand on, under its first name: that of a parameter which is never assigned, or of what is assigned once, in no loop.

    p, x = (a1, 0.0)                   x = 0.0
    while True:                        while True:
        x = _mul(p, x)          →          x = _mul(a1, x)
        q, y = (p, x)                      y = x
        p, x = (q, y)                      x = y

A name is such a one if each assignment gives it that, where it is assumed of names not seen yet that they are. So what a turn reads
is seen to be the same in all turns (`backend.lowering.strip_groups`), and an array that turns change in place is no variable of
the loop, which Numba would count references to, and LLVM read the size of, in every turn.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from backend.arrays.effects import assigned
from backend.arrays.walking import walk

Sources = dict[str, list[ast.expr] | None]
"""By name, what it is assigned; None where that is not a value of its own."""


def handed_on(function: ast.FunctionDef) -> None:
    """Has each such name be the first."""
    known = first_names(function)
    if known:
        function.body = _Replaced(known).block(function.body)


def first_names(function: ast.FunctionDef) -> dict[str, str]:
    """By name, the first name of what it always is."""
    parameters, times = {a.arg for a in function.args.args}, assigned(function)
    in_loops = {name for loop in walk(function) if isinstance(loop, ast.While | ast.For) for name in assigned(loop)}
    fixed = {name for name in parameters if not times[name]}
    fixed |= {name for name in times.keys() - in_loops - parameters if times[name] == 1}
    sources = {name: found for name, found in _sources(function, times).items() if name not in parameters}
    known = dict.fromkeys(parameters - fixed, "")  # "" for what is no one of them
    before = None
    while before != known:
        before = dict(known)
        for name, values in sources.items():
            given = {_named(value, known, fixed) for value in values} if values is not None else {""}
            given -= {None}
            if given:
                known[name] = given.pop() or "" if len(given) == 1 else ""
    return {name: first for name, first in known.items() if first}


def _named(value: ast.expr, known: dict[str, str], fixed: set[str]) -> str | None:
    """The first name of a value; "" if it has none, None if that is not seen yet."""
    if not isinstance(value, ast.Name):
        return ""
    return known.get(value.id) or value.id if value.id in fixed else known.get(value.id)


def _sources(function: ast.FunctionDef, times: dict[str, int]) -> Sources:
    found: dict[str, list[ast.expr]] = {}
    for node in walk(function):
        if isinstance(node, ast.Assign):
            for target, value in _pairs(node):
                found.setdefault(target, []).append(value)
    return {name: found[name] if len(found.get(name, ())) == count else None for name, count in times.items()}


def _pairs(statement: ast.Assign) -> Iterator[tuple[str, ast.expr]]:
    """The names that are assigned a value each."""
    match statement:
        case ast.Assign([ast.Name(name)], value):
            yield name, value
        case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)) if len(targets) == len(values):
            yield from ((t.id, v) for t, v in zip(targets, values, strict=True) if isinstance(t, ast.Name))


class _Replaced(ast.NodeTransformer):
    """First names for others, which are assigned no more."""

    def __init__(self, known: dict[str, str]) -> None:
        self.known = known

    def block(self, block: list[ast.stmt]) -> list[ast.stmt]:
        found = [new for statement in block if (new := self.statement(statement)) is not None]
        return found or [ast.Pass()]

    def statement(self, statement: ast.stmt) -> ast.stmt | None:
        """What is left of a statement."""
        match statement:
            case ast.Assign() if any(name in self.known for name, _ in _pairs(statement)):
                left = [(t, self.visit(v)) for t, v in _pairs(statement) if t not in self.known]
                targets, values = [ast.Name(t, ast.Store()) for t, _ in left], [v for _, v in left]
                if len(left) > 1:
                    return ast.Assign([ast.Tuple([*targets], ast.Store())], ast.Tuple(values, ast.Load()))
                return ast.Assign([*targets], values[0]) if left else None
            case ast.If(test, body, otherwise):
                return ast.If(self.visit(test), self.block(body), self.block(otherwise) if otherwise else [])
            case ast.While(test, body, otherwise):
                return ast.While(self.visit(test), self.block(body), otherwise)
            case ast.For(target, iter, body, otherwise):
                return ast.For(target, self.visit(iter), self.block(body), otherwise)
            case _:
                found: ast.stmt = self.visit(statement)
                return found

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.known.get(node.id, node.id), node.ctx)
