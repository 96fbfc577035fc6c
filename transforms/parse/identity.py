"""
The rules of tests on what a value is: `x is None`, `"a" in d`. (`isinstance` is a primitive, `x in t` a loop: see `desugar`.)
"""

from __future__ import annotations

import ast

from transforms.agenda_system import agenda_rule
from transforms.parse.cursor import Cursor
from transforms.parse.items import Emit, Eval, HasKey, Put, evaluating, top
from transforms.parse.known import keys_of
from transforms.parse.state import ParseState


def is_none(node: ast.expr) -> bool:
    """The literal None."""
    return isinstance(node, ast.Constant) and node.value is None


@agenda_rule
def none_test(state: ParseState) -> ParseState | None:
    """⟨a is None⟩ κ, σ  →  ⟨a⟩ ("NoneType") is_instance/2 κ, σ        `is not` adds not_/1"""
    match evaluating(state):
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot() as op], comparators=[right]) as at:
            c = Cursor(state)
            tested = right if is_none(left) else left
            negated = [Emit("not_", 1, at, True)] if isinstance(op, ast.IsNot) else []
            c.do(Eval(tested), Put(c.constant("NoneType")), Emit("is_instance", 2, at, True), *negated)
            return c.state
    return None


@agenda_rule
def key_test(state: ParseState) -> ParseState | None:
    """⟨"a" in d⟩ κ, σ  →  ⟨d⟩ (has "a") κ, σ        likewise `not in`"""
    match evaluating(state):
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[over]) as at:
            c = Cursor(state)
            c.do(Eval(over), HasKey(at))
            return c.state
    return None


@agenda_rule
def has_key(state: ParseState) -> ParseState | None:
    """(has "a") κ, d σ  →  κ, has_field(d, "a") σ        True or False where the keys of d are known"""
    match top(state):
        case HasKey(ast.Compare(left=ast.Constant(value=key), ops=[op]) as at):
            c = Cursor(state)
            found, is_in = c.value().node, isinstance(op, ast.In)
            if (keys := keys_of(c, found)) is not None:
                c.push(c.constant((key in keys) == is_in), True)
            else:
                has = c.apply("has_field", found, c.constant(key), at=at)
                c.push(has if is_in else c.apply("not_", has, at=at), True)
            return c.state
    return None


RULES = (none_test, key_test, has_key)
