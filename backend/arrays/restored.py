"""
Elements of masks that a turn of a loop makes False and then True again, with nobody asking in between: left as they are.

    m[i] = False                       …
    …                           →      …
    if not m[i]: m[i] = True           m[i] = True

So does the adjoint of `y[i] = y[i] + p * y[i]`: what is sensitive to the new element is taken, and given to the old one.
"""

from __future__ import annotations

import ast
from itertools import pairwise

from backend.arrays.fills import goings
from backend.arrays.takes import Event
from backend.arrays.walking import walk


def restored(function: ast.FunctionDef) -> None:
    """The function, whose loops make no element of a mask False that the same turn makes True."""
    asked = {id(found[1]): id(found[0]) for n in walk(function) if (found := _made_true(n)) is not None}
    gone: set[int] = set()
    for loop in goings(function):
        for events in loop.turn.events.values():
            gone |= _gone(events, asked)
    if gone:
        _Without(gone).visit(function)


def _made_true(node: ast.AST) -> tuple[ast.Subscript, ast.Subscript] | None:
    """Where an element is asked for, and where it is made True if it is not."""
    match node:
        case ast.If(
            ast.UnaryOp(ast.Not(), ast.Subscript() as asked), [ast.Assign([ast.Subscript() as made], ast.Constant(True))], []
        ):
            return asked, made
        case _:
            return None


def _gone(events: list[Event], asked: dict[int, int]) -> set[int]:
    """Of what a turn does to a mask, in order, the elements that it makes False in vain, and those that it need not ask for."""
    found: set[int] = set()
    for (taken, question), given in zip(pairwise(events), events[2:], strict=False):
        kinds, is_one = (taken.kind, question.kind, given.kind), taken.at == question.at == given.at
        is_asked = question.node is not None and asked.get(id(given.node)) == id(question.node)
        if kinds == ("False", "read", "True") and is_one and is_asked and taken.always and given.always:
            found |= {id(taken.node), id(question.node)}
    return found


class _Without(ast.NodeTransformer):
    """A function without some assignments to elements, and without asking some elements whether they are True."""

    def __init__(self, gone: set[int]) -> None:
        self.gone = gone

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        return ast.Pass() if id(node.targets[0]) in self.gone else node

    def visit_If(self, node: ast.If) -> ast.stmt:
        match node.test:
            case ast.UnaryOp(ast.Not(), asked) if id(asked) in self.gone:
                return node.body[0]
        self.generic_visit(node)
        return node
