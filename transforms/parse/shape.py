"""
The shape of a function: its own statements, the names it binds and reads, and the functions defined in it.

One walk over its statements; the bodies of functions defined inside are not entered.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from transforms.parse.nodes import Inner, held_by
from transforms.parse.source import Function, default_expressions, parameters_of

Names = frozenset[str]


@dataclass(frozen=True, slots=True)
class Shape:
    local: Names
    loads: Names
    single: dict[str, Function]
    statements: tuple[ast.stmt, ...]
    blocks_of_functions: dict[Function, int]
    functions_in: dict[ast.stmt, tuple[Function, ...]]
    enclosing: dict[int, int]


def shape_of(node: Function) -> Shape:
    """One walk over the statements of `node`, parents before children, blocks numbered from 0, the body."""
    bindings: dict[str, list[Function | None]] = {a.arg: [None] for a in parameters_of(node)}
    loads: set[str] = set()
    statements: list[ast.stmt] = []
    block_of: dict[Function, int] = {}
    functions_in: dict[ast.stmt, tuple[Function, ...]] = {}
    enclosing: dict[int, int] = {}
    looped: set[int] = set()
    if isinstance(node, ast.Lambda):
        found, functions = reads_of(node.body)
        bindings.update((name, [None]) for name, _ in walruses_of(node.body))
        return Shape(frozenset(bindings), frozenset(found), {}, (), dict.fromkeys(functions, 0), {}, {})
    todo: list[tuple[ast.stmt, int]] = [(s, 0) for s in reversed(node.body)]
    while todo:
        statement, block = todo.pop()
        statements.append(statement)
        made: list[Function] = []
        for expression in heads(statement):
            names, inside = reads_of(expression)
            loads |= names
            made += inside
            for name, _ in walruses_of(expression):
                bindings.setdefault(name, []).append(None)
        if isinstance(statement, ast.FunctionDef):
            made.append(statement)
        functions_in[statement] = tuple(made)
        block_of.update(dict.fromkeys(made, block))
        for name, function in bindings_of(statement):
            bindings.setdefault(name, []).append(function)
        for inner in bodies(statement):
            enclosing[number := len(enclosing) + 1] = block
            if block in looped or (isinstance(statement, (ast.For, ast.While)) and inner is statement.body):
                looped.add(number)
            todo.extend((s, number) for s in reversed(inner))
    single = {n: f[0] for n, f in bindings.items() if len(f) == 1 and f[0] is not None}
    single = {n: f for n, f in single.items() if not (block_of[f] in looped and default_expressions(f))}
    return Shape(frozenset(bindings), frozenset(loads), single, tuple(statements), block_of, functions_in, enclosing)


def own_statements(node: Function) -> Iterator[ast.stmt]:
    """The statements of a function, those of functions defined in it left out."""
    todo: list[ast.stmt] = list(reversed(node.body)) if isinstance(node, ast.FunctionDef) else []
    while todo:
        statement = todo.pop()
        yield statement
        for inner in bodies(statement):
            todo.extend(reversed(inner))


def heads(statement: ast.stmt) -> Iterator[ast.expr]:
    """The expressions that a statement evaluates itself, not in the statements inside it."""
    match statement:
        case ast.Return(value=value) | ast.Assign(value=value) | ast.AnnAssign(value=value) | ast.Expr(value=value):
            yield from [value] if value is not None else []
            yield from places_changed(statement)
        case ast.AugAssign(target=target, value=value):
            yield from (target, value)
        case ast.If(test=test) | ast.While(test=test):
            yield test
        case ast.For(iter=iterable):
            yield iterable
        case ast.FunctionDef():
            yield from default_expressions(statement).values()


def places_changed(statement: ast.stmt) -> Iterator[ast.expr]:
    """The targets x[i] of an assignment, which reads x and i."""
    todo = (
        statement.targets
        if isinstance(statement, ast.Assign)
        else [statement.target]
        if isinstance(statement, ast.AnnAssign)
        else []
    )
    todo = list(todo)
    while todo:
        match todo.pop():
            case ast.Subscript() as place:
                yield place
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                todo.extend(elements)


def bodies(statement: ast.stmt) -> tuple[list[ast.stmt], ...]:
    """The blocks inside a statement."""
    match statement:
        case ast.If(body=body, orelse=orelse) | ast.While(body=body, orelse=orelse) | ast.For(body=body, orelse=orelse):
            return (body, orelse)
        case _:
            return ()


def reads_of(expression: ast.expr) -> tuple[set[str], list[Function]]:
    """The names that an expression reads outside the functions in it, and these functions."""
    names: set[str] = set()
    functions: list[Function] = []
    todo: list[ast.AST] = [expression]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Lambda):
            functions.append(node)
            todo.extend(reversed(list(default_expressions(node).values())))
        elif isinstance(node, Inner):
            functions.append(node.function)
            todo.extend(reversed(node.arguments))
        elif isinstance(node, ast.NamedExpr):
            todo.append(node.value)
        else:
            todo.extend(reversed(held_by(node)))
    return names, functions


def walruses_of(expression: ast.expr) -> list[tuple[str, ast.expr]]:
    """The names that `:=` binds in an expression outside the functions in it, in the order of evaluation, with their values."""
    found: list[tuple[str, ast.expr]] = []
    todo: list[ast.AST] = [expression]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Lambda):
            todo.extend(reversed(list(default_expressions(node).values())))
        elif isinstance(node, Inner):
            todo.extend(reversed(node.arguments))
        elif isinstance(node, ast.NamedExpr) and isinstance(node.target, ast.Name):
            found.append((node.target.id, node.value))
            todo.append(node.value)
        else:
            todo.extend(reversed(held_by(node)))
    return found


def bindings_of(statement: ast.stmt) -> Iterator[tuple[str, Function | None]]:
    """The names that a statement itself binds, with the function if that is what it binds the name to."""
    match statement:
        case ast.FunctionDef(name=name):
            yield name, statement
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as function):
            yield name, function
        case ast.Assign(targets=targets):
            for target in targets:
                yield from ((n, None) for n in targets_of(target))
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target) | ast.For(target=target):
            yield from ((n, None) for n in targets_of(target))


def targets_of(target: ast.expr) -> list[str]:
    """The names in an assignment's target, in order."""
    found: list[str] = []
    todo = [target]
    while todo:
        match todo.pop():
            case ast.Name(id=name):
                found.append(name)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                todo.extend(reversed(elements))
            case ast.Starred(value=value):
                todo.append(value)
    return found
