"""
The rules of loops. A loop is a graph that calls itself in tail position: its *header*, whose parameters are the variables that
the loop assigns and that are live when a turn begins. The body and what follows the loop are nested in it.

    @f.while(%x):                       @f.for(%k, %x):                 k counts the turns
      %c = lt(%x, 10)                     %c = lt(%k, %n)               n, the number of elements, and e, what makes
      %t = switch(%c, @f.body, @f.else)   …
      %r = %t()                           element k, come from what is gone over: `iterate`
      return %r

`break` jumps to what follows, which then takes parameters too; `continue` jumps to the header.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from semantics.ir import NodeId
from transforms.agenda_system import agenda_rule
from transforms.parse.cursor import Cursor
from transforms.parse.flow import is_forever
from transforms.parse.items import Block, Count, Do, Enter, Eval, Jump, Put, Store, Truth, Turn, Walked, top
from transforms.parse.state import NOWHERE, Frame, ParseState, Stack, Target, Walk


@agenda_rule
def while_statement(state: ParseState) -> ParseState | None:
    """⟨while c: s⟩ κ, σ  →  ⟨c⟩ truth turn κ, σ in @while        g ends with @while(ρ(x)…), x assigned in the loop, live there"""
    match top(state):
        case Do(ast.While(test=test) as at) if not is_forever(at):
            c = Cursor(state)
            header = _open(c, "while", at)
            c.do(Eval(test), Truth(test), Turn(at, header))
            return c.state
    return None


@agenda_rule
def endless_loop(state: ParseState) -> ParseState | None:
    """⟨while True: s⟩ κ, σ  →  ⟨s⟩ (jump @while) in @while, κ in @after        no test: only break and return leave it"""
    match top(state):
        case Do(ast.While() as at) if is_forever(at):
            c = Cursor(state)
            leave, after = _after(c, at)
            header = _open(c, "while", at)
            c.move(loops=Stack((header, leave), c.frame.loops))
            c.do(Block(tuple(at.body)), Jump(header, at), Enter(after))
            return c.state
    return None


@agenda_rule
def turn(state: ParseState) -> ParseState | None:
    """turn κ, c σ  →  ⟨s⟩ (jump @while) in @body, ⟨else part⟩ κ in @else        @while ends with switch(c, @body, @else)()"""
    match top(state):
        case Turn(at, header):
            c = Cursor(state)
            _branch(c, at, header, c.value().node)
            return c.state
    return None


@agenda_rule
def for_statement(state: ParseState) -> ParseState | None:
    """⟨for x in e: …⟩ κ, σ  →  ⟨e⟩ₛ (count) κ, σ"""
    match top(state):
        case Do(ast.For(iter=iterable) as at):
            c = Cursor(state)
            c.do(Walked(iterable), Count(at))
            return c.state
    return None


@agenda_rule
def count(state: ParseState) -> ParseState | None:
    """(count) κ, walk n, λk. e σ  →  (e) (store x) ⟨body⟩ (jump @for) in @body, κ in @else        @for tests k < n"""
    match top(state):
        case Count(at):
            c = Cursor(state)
            walk = c.pop()
            assert isinstance(walk, Walk)
            _count(c, at, walk)
            return c.state
    return None


@agenda_rule
def break_statement(state: ParseState) -> ParseState | None:
    """⟨break⟩ κ  →  κ        g ends with a call of what follows the loop"""
    match top(state):
        case Do(ast.Break() as at):
            c = Cursor(state)
            assert c.frame.loops is not None
            c.jump(c.frame.loops.head[1], at)
            return c.state
    return None


@agenda_rule
def continue_statement(state: ParseState) -> ParseState | None:
    """⟨continue⟩ κ  →  κ        g ends with a call of the header"""
    match top(state):
        case Do(ast.Continue() as at):
            c = Cursor(state)
            assert c.frame.loops is not None
            c.jump(c.frame.loops.head[0], at)
            return c.state
    return None


def _count(c: Cursor, at: ast.For, walk: Walk) -> None:
    """The header of a `for` with its hidden counter, its test, and its two ways."""
    header = _open(c, "for", at, counter=at.target.id if isinstance(at.target, ast.Name) else "k")
    assert header.counter is not None
    _branch(c, at, header, c.apply("lt", header.counter, walk.size, at=at), walk)


def _open(c: Cursor, role: str, at: ast.For | ast.While, counter: str = "") -> Target:
    """Makes the header, ends the current graph with the first call of it, and goes on in it."""
    assigned = c.frame.scope.body_of(at).assigned
    variables = tuple(v for v in assigned if v in c.frame.scope.live_header[at])
    header, inside = c.join(role, variables, assigned, at, counter)
    c.jump(header, at, first=True)
    c.frame = inside
    return header


def _after(c: Cursor, at: ast.For | ast.While) -> tuple[Target | None, Frame]:
    """What follows a loop, as a graph that breaks jump to; no target if no break gets there."""
    scope = c.frame.scope
    if scope.block(at.body).breaks is None:
        return None, replace(c.frame, graph=NOWHERE)
    assigned = scope.flows[at].assigned
    return c.join("after", tuple(v for v in assigned if v in scope.live_after[at]), assigned, at)


def _branch(c: Cursor, at: ast.For | ast.While, header: Target, condition: NodeId, walk: Walk | None = None) -> None:
    """In the header: the switch between the body, which an element of `walk` begins, and what follows."""
    inside = c.frame
    leave, after = _after(c, at)
    body = c.new_graph("body", at.body[0])
    other = c.new_graph("else" if leave is not None or at.orelse else "after", at)
    c.output(c.switch(condition, body, other, at))
    c.frame = replace(inside, graph=body, loops=Stack((header, leave), inside.loops))
    first: tuple[Any, ...] = ()
    if walk is not None and isinstance(at, ast.For):
        assert header.counter is not None
        first = (Put(walk.element(c, header.counter, at.target)), Store(at.target))
    last = (Jump(leave, at), Enter(after)) if leave is not None else ()
    rest = (Enter(replace(inside, graph=other)), Block(tuple(at.orelse)), *last)
    c.do(*first, Block(tuple(at.body)), Jump(header, at), *rest)


RULES = (*(while_statement, endless_loop, turn, for_statement, count, break_statement, continue_statement),)
