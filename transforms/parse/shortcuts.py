"""
The rules of short circuits: conditional expressions, `and`, `or` and chained comparisons.

What may not be evaluated goes into a thunk; `switch` yields one of two thunks, which is then called:

    %t = switch(%c, @then, @else)
    %v = %t()
"""

from __future__ import annotations

import ast
from dataclasses import replace

from semantics.ir import NodeId
from transforms.agenda_system import agenda_rule
from transforms.operators import COMPARISON
from transforms.parse.cursor import Cursor
from transforms.parse.items import Chain, Choose, Close, Enter, Eval, Pick, Put, Shortcut, Truth, evaluating, top
from transforms.parse.shape import walruses_of
from transforms.parse.state import ParseState


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
            condition, names = c.value().node, assigned_in(at.body, at.orelse)
            then, other, here = c.new_graph("if", at), c.new_graph("else", at), c.frame
            c.do(
                *(Enter(replace(here, graph=then)), Eval(at.body), Close(names)),
                *(Enter(replace(here, graph=other)), Eval(at.orelse), Close(names)),
                *(Enter(here), Pick(condition, then, other, at, names)),
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
            value, here, names = c.value(), c.frame, assigned_in(*at.values[index:])
            is_and = isinstance(at.op, ast.And)
            test = value.node if value.boolean else c.apply("to_boolean", value.node, at=at)
            more, done = c.new_graph("and" if is_and else "or", at), c.new_graph("else" if is_and else "if", at)
            c.edit.output(done, c.in_graph(done, lambda: carried(c, value.node, names, at)))
            rest = [Shortcut(at, index + 1)] if index + 1 < len(at.values) else []
            then, other = (more, done) if is_and else (done, more)
            inside = (Enter(replace(here, graph=more)), Eval(at.values[index]), *rest, Close(names))
            c.do(*inside, Enter(here), Pick(test, then, other, at, names))
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
            names = assigned_in(*at.comparators[index + 1 :])
            c.edit.output(other, c.in_graph(other, lambda: carried(c, c.constant(False), names, at)))
            following = (Put(right), Eval(at.comparators[index + 1]), Chain(at, index + 1))
            c.do(Enter(replace(here, graph=then)), *following, Close(names), Enter(here), Pick(compared, then, other, at, names))
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
    """close κ, v σ  →  κ, σ        with v the output of g; or (v, ρ(x), …), x what a `:=` in g may assign"""
    match top(state):
        case Close(names):
            c = Cursor(state)
            c.output(carried(c, c.value().node, names))
            return c.state
    return None


@agenda_rule
def pick(state: ParseState) -> ParseState | None:
    """pick κ, σ  →  κ, switch(c, @then, @else)() σ        its first element, and ρ(x) the others, where a `:=` assigns x"""
    match top(state):
        case Pick(condition, then, other, at, names):
            c = Cursor(state)
            found = c.switch(condition, then, other, at)
            for i, name in enumerate(names):
                c.bind(name, c.apply("getitem", found, c.constant(i + 1), at=at))
            c.push(c.apply("getitem", found, c.constant(0), at=at) if names else found, is_boolean(at))
            return c.state
    return None


def assigned_in(*expressions: ast.expr) -> tuple[str, ...]:
    """The variables that a `:=` in these expressions may assign."""
    return tuple(dict.fromkeys(name for e in expressions for name, _ in walruses_of(e)))


def carried(c: Cursor, value: NodeId, names: tuple[str, ...], at: ast.AST | None = None) -> NodeId:
    """The value, or the tuple of it and of what the variables stand for."""
    return c.apply("make_tuple", value, *map(c.variable, names), at=at) if names else c.as_value(value)


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
