"""
The rules of statements that do not loop. A statement on the agenda leaves no operand; it changes what variables stand for.

    κ  agenda    σ  operands    ρ  environment    g  the current graph, none after a return: then statements are passed over

Both branches of an `if` that fall through meet in a graph of its own, whose parameters are the variables that a branch
assigns and that are still needed. Where only one branch falls through, what follows simply continues it.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from transforms.agenda_system import agenda_rule
from transforms.operators import BINARY
from transforms.parse.cursor import Cursor
from transforms.parse.items import Block, Close, Do, Drop, Emit, Enter, Eval, Fork, Jump, Put, Share, Store, Truth, top
from transforms.parse.state import ParseState


@agenda_rule
def next_statement(state: ParseState) -> ParseState | None:
    """⟨s; …⟩ κ  →  ⟨s⟩ ⟨…⟩ κ"""
    match top(state):
        case Block(statements, index) if index < len(statements) and state.frame.graph >= 0:
            c = Cursor(state)
            c.do(Do(statements[index]), Block(statements, index + 1))
            return c.state
    return None


@agenda_rule
def end_of_block(state: ParseState) -> ParseState | None:
    """⟨⟩ κ  →  κ"""
    match top(state):
        case Block(statements, index) if index == len(statements):
            return Cursor(state).state
    return None


@agenda_rule
def not_reached(state: ParseState) -> ParseState | None:
    """⟨s; …⟩ κ  →  κ        after a return, break or continue"""
    match top(state):
        case Block(statements, index) if index < len(statements) and state.frame.graph < 0:
            return Cursor(state).state
    return None


@agenda_rule
def nothing(state: ParseState) -> ParseState | None:
    """⟨pass⟩ κ  →  κ        likewise a docstring, `...`, and a declaration `x: T` without a value"""
    match top(state):
        case Do(ast.Pass() | ast.AnnAssign(value=None)):
            return Cursor(state).state
        case Do(ast.Expr(value=ast.Constant())):
            return Cursor(state).state
    return None


@agenda_rule
def expression_statement(state: ParseState) -> ParseState | None:
    """⟨e⟩ κ, σ  →  ⟨e⟩ drop κ, σ        e cannot have an effect, and nothing needs its value"""
    match top(state):
        case Do(ast.Expr(value=value)) if not isinstance(value, ast.Constant):
            c = Cursor(state)
            c.do(Eval(value), Drop())
            return c.state
    return None


@agenda_rule
def drop(state: ParseState) -> ParseState | None:
    """drop κ, v σ  →  κ, σ"""
    match top(state):
        case Drop():
            c = Cursor(state)
            c.value()
            return c.state
    return None


@agenda_rule
def assignment(state: ParseState) -> ParseState | None:
    """⟨x = y = e⟩ κ, σ  →  ⟨e⟩ (store x, then y) κ, σ"""
    match top(state):
        case Do(ast.Assign(targets=targets, value=value)) if not _is_definition(state, targets, value):
            c = Cursor(state)
            c.do(Eval(value), Store(targets[0]) if len(targets) == 1 else Share(tuple(targets)))
            return c.state
        case Do(ast.AnnAssign(target=target, value=ast.expr() as value)):
            c = Cursor(state)
            c.do(Eval(value), Store(target))
            return c.state
    return None


def _is_definition(state: ParseState, targets: list[ast.expr], value: ast.expr) -> bool:
    """Whether this is the only binding of a name, to a lambda."""
    match targets:
        case [ast.Name(id=name)]:
            return isinstance(value, ast.Lambda) and state.frame.scope.single.get(name) is value
    return False


@agenda_rule
def store_each(state: ParseState) -> ParseState | None:
    """(store x, then y) κ, v σ  →  (v) (store x) (v) (store y) κ, σ"""
    match top(state):
        case Share(targets):
            c = Cursor(state)
            node = c.value().node
            c.do(*(item for t in targets for item in (Put(node), Store(t))))
            return c.state
    return None


@agenda_rule
def store(state: ParseState) -> ParseState | None:
    """(store x) κ, v σ  →  κ, σ        with ρ(x) = v from here on"""
    match top(state):
        case Store(ast.Name(id=name)):
            c = Cursor(state)
            c.bind(name, c.value().node)
            return c.state
    return None


@agenda_rule
def augmented_assignment(state: ParseState) -> ParseState | None:
    """⟨x ⊕= e⟩ κ, σ  →  ⟨x⟩ ⟨e⟩ ⊕/2 (store x) κ, σ        values never change, so this is x = x ⊕ e"""
    match top(state):
        case Do(ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value) as at):
            c = Cursor(state)
            c.push(c.variable(name))
            c.do(Eval(value), Emit(BINARY[type(op)], 2, at), Store(target))
            return c.state
    return None


@agenda_rule
def return_statement(state: ParseState) -> ParseState | None:
    """⟨return e⟩ κ, σ  →  ⟨e⟩ close κ, σ        `return` alone returns None"""
    match top(state):
        case Do(ast.Return(value=value)):
            c = Cursor(state)
            if value is None:
                c.output(c.constant(None))
            else:
                c.do(Eval(value), Close())
            return c.state
    return None


@agenda_rule
def if_statement(state: ParseState) -> ParseState | None:
    """⟨if c: s else: s'⟩ κ, σ  →  ⟨c⟩ truth fork κ, σ"""
    match top(state):
        case Do(ast.If(test=test) as at):
            c = Cursor(state)
            c.do(Eval(test), Truth(test), Fork(at))
            return c.state
    return None


@agenda_rule
def fork(state: ParseState) -> ParseState | None:
    """
    fork κ, c σ  →  ⟨s⟩ in @if, ⟨s'⟩ in @else, κ in @after        g ends with switch(c, @if, @else)()

    A branch that falls through ends with @after(x…), x the variables assigned in a branch and live after it. If only one
    falls through, it comes last and κ continues it.
    """
    match top(state):
        case Fork(at):
            c = Cursor(state)
            condition, here, scope = c.value().node, c.frame, c.frame.scope
            then, other = c.new_graph("if", at), c.new_graph("else", at.orelse[0] if at.orelse else at)
            c.output(c.switch(condition, then, other, at))
            branches = [
                (Enter(replace(here, graph=then)), Block(tuple(at.body))),
                (Enter(replace(here, graph=other)), Block(tuple(at.orelse))),
            ]
            falls = [scope.block(b).falls is not None for b in (at.body, at.orelse)]
            if all(falls):
                assigned, live = scope.flows[at].assigned, scope.live_after[at]
                c.frame = here
                target, after = c.join("after", tuple(v for v in assigned if v in live), assigned, at)
                c.do(*branches[0], Jump(target, at), *branches[1], Jump(target, at), Enter(after))
            else:
                last = 0 if falls[0] else 1
                c.do(*branches[1 - last], *branches[last])
            return c.state
    return None


@agenda_rule
def jump(state: ParseState) -> ParseState | None:
    """(jump h) κ  →  κ        g ends with @h(ρ(x)…), x the variables that h takes; where control does not get here, nothing"""
    match top(state):
        case Jump(target, at):
            c = Cursor(state)
            c.jump(target, at)
            return c.state
    return None


RULES = (
    *(next_statement, end_of_block, not_reached, nothing, expression_statement, drop, assignment, store_each, store),
    *(augmented_assignment, return_statement, if_statement, fork, jump),
)
