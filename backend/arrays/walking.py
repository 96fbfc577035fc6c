"""
The nodes of a syntax tree, as `ast.walk` gives them and in its order, some times faster: which fields of a kind of node hold
others is asked once. Contexts and operators, which have nothing inside and which nobody asks for, are left out.

Every pass over generated code walks over all of it several times, so for a long program this is most of what lowering costs.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import count

LEAVES = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
TEXTS = frozenset({"id", "attr", "arg", "name", "kind", "type_comment", "lineno", "ctx", "op", "ops", "level", "module"})
"""Fields that hold texts, numbers and what is left out, whatever the node."""


def walk(root: ast.AST) -> Iterator[ast.AST]:
    """The node and all that are inside it, outer ones first; what stands inside a node is looked for before the node is given."""
    found = [] if isinstance(root, LEAVES) else [root]
    for node in found:  # grows as it is gone through
        for field in _fields(type(node)):  # type: ignore[arg-type]
            inside = getattr(node, field, None)
            if isinstance(inside, list):
                found += [n for n in inside if isinstance(n, ast.AST)]
            elif isinstance(inside, ast.AST):
                found.append(inside)
        yield node


def names_in(node: ast.AST) -> set[str]:
    """All names that are mentioned."""
    return {n.id for n in walk(node) if isinstance(n, ast.Name)}


def unused_numbers(function: ast.FunctionDef) -> Iterator[int]:
    """Numbers that are part of no name, as names are a letter and a number."""
    return count(1 + max((int(name[1:]) for name in names_in(function) if name[1:].isdecimal()), default=0))


def mentions(statements: Iterable[ast.AST]) -> Counter[str]:
    """How often each name is mentioned."""
    return Counter(n.id for s in statements for n in walk(s) if isinstance(n, ast.Name))


@cache
def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a kind of node that may hold others."""
    return () if kind is ast.Constant else tuple(field for field in kind._fields if field not in TEXTS)
