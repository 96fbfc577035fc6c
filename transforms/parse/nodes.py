"""
Expressions that Python's grammar lacks and desugaring needs. They stand where the text that they come from stood.

    Inner(f, a…)      the function f, defined and called on the spot: what CPython makes of a comprehension
    Applied(p, a…)    the primitive p of the table, applied
    Then(e…, v)       v, after the expressions e have been evaluated for what they assign
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from typing import Any, TypeVar

N = TypeVar("N", bound=ast.AST)
LEAVES = (ast.expr_context, ast.operator, ast.cmpop, ast.boolop, ast.unaryop)
TYPES = ("annotation", "returns", "type_comment")
NO_PARTS = frozenset(("arg", "attr", "ctx", "id", "kind", "op", "ops", "primitive", "type_comment"))
"""Fields that hold a text, a number or leaves, whatever the node."""


class Immediate(ast.FunctionDef):
    """A function that is called where it is defined, once. Its free variables are read then, whatever is assigned later."""


class Inner(ast.expr):
    """The call of such a function."""

    function: Immediate
    arguments: list[ast.expr]
    _fields = ("function", "arguments")


class Made(ast.Call):
    """The call of a class of records, which makes a new one."""


class Updated(ast.Subscript):
    """`x[i]` as a target, of which `np.add.at` adds to the elements, and which `np.put` counts along the flattened array."""

    function: str = ""


class Applied(ast.expr):
    """A primitive by name, and its arguments."""

    primitive: str
    arguments: list[ast.expr]
    _fields = ("primitive", "arguments")


class Then(ast.expr):
    """Expressions that are evaluated for what they assign, and then one for its value."""

    first: list[ast.expr]
    value: ast.expr
    _fields = ("first", "value")


def then(first: list[ast.expr], value: ast.expr, at: ast.AST) -> ast.expr:
    """The value after the others; the value alone if there are none."""
    if not first:
        return placed(value, at)
    found = Then()
    found.first, found.value = first, value
    return placed(found, at)


def inner(function: Immediate, arguments: list[ast.expr], at: ast.AST) -> Inner:
    """The call of `function` where it is defined."""
    found = Inner()
    found.function, found.arguments = function, arguments
    return placed(found, at)


def applied(primitive: str, *arguments: ast.expr, at: ast.AST) -> Applied:
    """The primitive on these arguments."""
    found = Applied()
    found.primitive, found.arguments = primitive, list(arguments)
    return placed(found, at)


def placed(node: N, at: ast.AST) -> N:
    """The node, with every part of it that has no place at the place of `at`."""
    place: dict[str, Any] = {
        "lineno": getattr(at, "lineno", 1),
        "col_offset": getattr(at, "col_offset", 0),
        "end_lineno": getattr(at, "end_lineno", None),
        "end_col_offset": getattr(at, "end_col_offset", None),
    }
    todo: list[ast.AST] = [node]
    while todo:
        part = todo.pop()
        if isinstance(part, (ast.expr, ast.stmt, ast.arg, ast.keyword)):
            if hasattr(part, "lineno"):
                continue
            for name, value in place.items():
                setattr(part, name, value)
        todo.extend(ast.iter_child_nodes(part))
    return node


@cache
def _with_parts(fields: tuple[str, ...]) -> tuple[str, ...]:
    """Those of a node's fields that may hold other nodes than leaves."""
    return tuple(field for field in fields if field not in NO_PARTS)


def held_by(node: ast.AST) -> list[ast.AST]:
    """What `ast.iter_child_nodes` gives, but no leaves, which have no text of their own: every name has one."""
    found: list[ast.AST] = []
    for field in _with_parts(node._fields):
        value = getattr(node, field, None)
        if isinstance(value, ast.AST):
            found.append(value)
        elif isinstance(value, list):
            found += [part for part in value if isinstance(part, ast.AST)]
    return found


def walk(root: ast.AST) -> Iterator[ast.AST]:
    """What `ast.walk` gives, in its order, but leaves."""
    todo = [root]
    for node in todo:  # which grows meanwhile
        yield node
        todo += held_by(node)


def places(node: ast.AST) -> list[tuple[Any, Any, ast.AST]]:
    """
    Where the parts of a copied node are held, (holder, key, part); its lists are copied too.

    Types of annotations are left alone, and so is what has no text of its own.
    """
    found: list[tuple[Any, Any, ast.AST]] = []
    for field, value in ast.iter_fields(node):
        if field in TYPES:
            continue
        if isinstance(value, list):
            parts = list(value)
            setattr(node, field, parts)
            found += [(parts, i, p) for i, p in enumerate(parts) if isinstance(p, ast.AST) and not isinstance(p, LEAVES)]
        elif isinstance(value, ast.AST) and not isinstance(value, LEAVES):
            found.append((node.__dict__, field, value))
    return found
