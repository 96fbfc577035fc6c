"""
The rules of short circuits: conditional expressions, `and`, `or` and chained comparisons.

What may not be evaluated goes into a thunk; `switch` yields one of two thunks, which is then called:

    %t = switch(%c, @then, @else)
    %v = %t()
"""

from __future__ import annotations

import ast
from dataclasses import replace

from transforms.operators import COMPARISON
from transforms.parse.cursor import Cursor
from transforms.parse.items import Chain, Choose, Close, Enter, Eval, Pick, Put, Shortcut, Truth, evaluating, top
from transforms.parse.state import ParseState
from transforms.system import agenda_rule


@agenda_rule
def conditional(state: ParseState) -> ParseState | None:
    """⟨a if c else b⟩ κ, σ  →  ⟨c⟩ truth choose κ, σ"""
    match evaluating(state):
        case ast.IfExp(test=test) as at:
            c = Cursor(state)
            c.do(Eval(test), Truth(test), Choose(at))
            return c.state
    return None


@agenda_rule
def choose(state: ParseState) -> ParseState | None:
    """choose κ, c σ  →  ⟨a⟩ in @if, ⟨b⟩ in @else, pick κ, σ"""
    match top(state):
        case Choose(at):
            c = Cursor(state)
            condition = c.value().node
            then, other, here = c.new_graph("if", at), c.new_graph("else", at), c.frame
            c.do(
                *(Enter(replace(here, graph=then)), Eval(at.body), Close()),
                *(Enter(replace(here, graph=other)), Eval(at.orelse), Close()),
                *(Enter(here), Pick(condition, then, other, at)),
            )
            return c.state
    return None


@agenda_rule
def boolean_operation(state: ParseState) -> ParseState | None:
    """⟨a and b …⟩ κ, σ  →  ⟨a⟩ shortcut κ, σ        likewise or"""
    match evaluating(state):
        case ast.BoolOp(values=[first, *_]) as at:
            c = Cursor(state)
            c.do(Eval(first), Shortcut(at, 1))
            return c.state
    return None


@agenda_rule
def shortcut(state: ParseState) -> ParseState | None:
    """shortcut κ, a σ  →  ⟨b …⟩ in @and, pick κ, σ        switch(truth(a), @and, @else)() where @else is a; or swaps the two"""
    match top(state):
        case Shortcut(at, index):
            c = Cursor(state)
            value, here = c.value(), c.frame
            is_and = isinstance(at.op, ast.And)
            test = value.node if value.boolean else c.apply("to_boolean", value.node, at=at)
            more, done = c.new_graph("and" if is_and else "or", at), c.new_graph("else" if is_and else "if", at)
            c.edit.output(done, c.as_value(value.node))
            rest = [Shortcut(at, index + 1)] if index + 1 < len(at.values) else []
            then, other = (more, done) if is_and else (done, more)
            c.do(Enter(replace(here, graph=more)), Eval(at.values[index]), *rest, Close(), Enter(here), Pick(test, then, other, at))
            return c.state
    return None


@agenda_rule
def chained_comparison(state: ParseState) -> ParseState | None:
    """⟨a < b < c …⟩ κ, σ  →  ⟨a⟩ ⟨b⟩ chain κ, σ"""
    match evaluating(state):
        case ast.Compare(left=left, ops=[_, _, *_], comparators=[right, *_]) as at:
            c = Cursor(state)
            c.do(Eval(left), Eval(right), Chain(at, 0))
            return c.state
    return None


@agenda_rule
def chain_link(state: ParseState) -> ParseState | None:
    """chain κ, b a σ  →  ⟨c⟩ chain in @and, pick κ, σ        switch(a < b, @and, @else)(), @else is False"""
    match top(state):
        case Chain(at, index) if index < len(at.ops) - 1:
            c = Cursor(state)
            left, right = c.nodes(2)
            compared, here = c.apply(COMPARISON[type(at.ops[index])], left, right, at=at), c.frame
            then, other = c.new_graph("and", at), c.new_graph("else", at)
            c.edit.output(other, c.constant(False))
            following = (Put(right), Eval(at.comparators[index + 1]), Chain(at, index + 1))
            c.do(Enter(replace(here, graph=then)), *following, Close(), Enter(here), Pick(compared, then, other, at))
            return c.state
    return None


@agenda_rule
def chain_end(state: ParseState) -> ParseState | None:
    """chain κ, b a σ  →  κ, a < b σ        at the last comparison"""
    match top(state):
        case Chain(at, index) if index == len(at.ops) - 1:
            c = Cursor(state)
            left, right = c.nodes(2)
            c.push(c.apply(COMPARISON[type(at.ops[index])], left, right, at=at), True)
            return c.state
    return None


@agenda_rule
def put(state: ParseState) -> ParseState | None:
    """(n) κ, σ  →  κ, n σ"""
    match top(state):
        case Put(node, boolean):
            c = Cursor(state)
            c.push(node, boolean)
            return c.state
    return None


@agenda_rule
def close(state: ParseState) -> ParseState | None:
    """close κ, v σ  →  κ, σ        with v the output of g"""
    match top(state):
        case Close():
            c = Cursor(state)
            c.output(c.value().node)
            return c.state
    return None


@agenda_rule
def pick(state: ParseState) -> ParseState | None:
    """pick κ, σ  →  κ, switch(c, @then, @else)() σ"""
    match top(state):
        case Pick(condition, then, other, at):
            c = Cursor(state)
            c.push(c.switch(condition, then, other, at), is_boolean(at))
            return c.state
    return None


def is_boolean(expression: ast.AST) -> bool:
    """Whether the text alone shows that the value is a boolean: a comparison, `not`, a literal, or a choice between such."""
    todo = [expression]
    while todo:
        match todo.pop():
            case ast.Compare() | ast.UnaryOp(op=ast.Not()) | ast.Constant(value=bool()):
                pass
            case ast.BoolOp(values=values):
                todo.extend(values)
            case ast.IfExp(body=body, orelse=orelse):
                todo.extend((body, orelse))
            case _:
                return False
    return True


RULES = (*(conditional, choose, boolean_operation, shortcut, chained_comparison, chain_link, chain_end, put, close, pick),)
