"""Which names arrays are made for, and to which others they are handed on."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from backend.arrays.walking import walk

TAKEN = "_taken"
"""What stands for an array that was taken off a stack of frames, which nobody else has (`backend.arrays.popped`)."""
MAKERS = frozenset({"_empty", "_full", TAKEN})


def pairs(statement: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What is assigned to what, at once."""
    for target in statement.targets:
        match target, statement.value:
            case ast.Tuple(targets), ast.Tuple(values) if len(targets) == len(values):
                yield from zip(targets, values, strict=True)
            case _:
                yield target, statement.value


def sources_of(value: ast.expr) -> list[str] | None:
    """The names of which a value is one."""
    match value:
        case ast.Name(name):
            return [name]
        case ast.IfExp(_, a, b):
            first, second = sources_of(a), sources_of(b)
            return None if first is None or second is None else first + second
        case _:
            return None


def made(function: ast.FunctionDef, copies: Mapping[int, tuple[str, str]]) -> tuple[dict[str, ast.Call], dict[str, str]]:
    """The names that may stand for an array that the function has made, with a call that makes its kind; and their groups."""
    calls: dict[str, ast.Call] = {}
    takers: dict[str, set[str]] = {}
    for new, old in copies.values():
        takers.setdefault(old, set()).add(new)
        takers.setdefault(new, set()).add(old)
    for node in walk(function):
        if isinstance(node, ast.Assign):
            for target, value in pairs(node):
                match target, value:
                    case ast.Name(name), ast.Call(ast.Name(called)) if called in MAKERS:
                        calls.setdefault(name, value)
                    case ast.Name(name), _:
                        for source in sources_of(value) or ():
                            takers.setdefault(source, set()).add(name)
                            takers.setdefault(name, set()).add(source)
    found: dict[str, ast.Call] = {}
    groups: dict[str, str] = {}
    for first, call in calls.items():
        todo = [first]
        while todo:
            if (name := todo.pop()) not in found:
                found[name], groups[name] = call, first
                todo += takers.get(name, ())
    return found, groups
