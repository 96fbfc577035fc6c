"""
Statements whose values nothing needs, left out.

Needed is what is returned, tested or counted to, and what is needed to compute a name or an array that is needed. So a value from
which only its own next value is computed goes, too, and a loop in which nothing is left.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from backend.arrays.effects import Effects, Reader

Block = list[ast.stmt]


def needed(function: ast.FunctionDef, effects: Reader) -> None:
    """The function without what is not needed."""
    makers: dict[str, list[Effects]] = {}
    todo: list[str] = []
    for part in _parts(function.body):
        its = effects.expression(part) if isinstance(part, ast.expr) else effects(part)
        made = _made(part, its)
        todo += [] if made else _used(its, effects)
        for name in made:
            makers.setdefault(name, []).append(its)
    names: set[str] = set()
    while todo:
        name = todo.pop()
        if name not in names:
            names.add(name)
            todo += [used for its in makers.get(name, ()) for used in _used(its, effects)]
    function.body = _kept(function.body, names, effects)


def _parts(block: Block) -> Iterator[ast.stmt | ast.expr]:
    """The statements without others inside, and what the others test and count to."""
    todo = block[::-1]
    while todo:
        match statement := todo.pop():
            case ast.For(_, iter, body):
                yield iter
                todo += body
            case ast.While(test, body, orelse) | ast.If(test, body, orelse):
                yield test
                todo += [*body, *orelse]
            case _:
                yield statement


def _made(part: ast.stmt | ast.expr, its: Effects) -> set[str]:
    """The names that it assigns, and the roots of the arrays that it writes to; none if it is needed for another reason."""
    return set() if isinstance(part, ast.Return) else its.writes | {root for root, _ in its.stores}


def _used(its: Effects, effects: Reader) -> Iterator[str]:
    yield from its.reads
    yield from map(effects.roots.of, its.reads)


def _kept(block: Block, names: set[str], effects: Reader) -> Block:
    """What is left of a block."""
    kept: Block = []
    for statement in block:
        its = effects(statement)
        match statement:
            case ast.For():
                statement.body = _kept(statement.body, names, effects)
                if statement.body:
                    kept.append(statement)
            case ast.While() | ast.If():
                statement.body = _kept(statement.body, names, effects) or [ast.Pass()]
                statement.orelse = _kept(statement.orelse, names, effects)
                kept.append(statement)
            case _:
                made = _made(statement, its)
                if not made or made & names:
                    kept.append(statement)
    return kept
