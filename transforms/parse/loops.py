"""
The rules of loops. A loop is a graph that calls itself in tail position: its *header*, whose parameters are the variables that
the loop assigns and that are live when a turn begins. The body and what follows the loop are nested in it.

    @f.while(%x):                       @f.for(%k, %x):                 k counts the turns
      %c = lt(%x, 10)                     %c = lt(%k, %n)               n = range_length(start, stop, step), or length(t)
      %t = switch(%c, @f.body, @f.else)   …
      %r = %t()                           i = start + k * step, or t[k], is the first assignment of the body
      return %r

`break` jumps to what follows, which then takes parameters too; `continue` jumps to the header.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from semantics.ir import NodeId
from transforms.parse.cursor import Cursor
from transforms.parse.flow import is_forever
from transforms.parse.items import Block, Count, Do, Enter, Eval, Jump, Put, Store, Truth, Turn, top
from transforms.parse.library import RANGE
from transforms.parse.state import NOWHERE, Frame, ParseState, Stack, Target
from transforms.system import agenda_rule


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
def for_range(state: ParseState) -> ParseState | None:
    """⟨for i in range(a, b, s): …⟩ κ, σ  →  ⟨a⟩ ⟨b⟩ ⟨s⟩ (count) κ, σ        likewise range(b) and range(a, b)"""
    match top(state):
        case Do(ast.For(iter=iterable) as at) if _is_range(state, iterable):
            assert isinstance(iterable, ast.Call)
            c = Cursor(state)
            if iterable.keywords or not 1 <= len(iterable.args) <= 3:
                raise c.refuse(iterable, "range takes one, two or three arguments by position", "range(start, stop, step)")
            c.do(*map(Eval, iterable.args), Count(at, len(iterable.args)))
            return c.state
    return None


@agenda_rule
def for_tuple(state: ParseState) -> ParseState | None:
    """⟨for x in t: …⟩ κ, σ  →  ⟨t⟩ (count) κ, σ"""
    match top(state):
        case Do(ast.For(iter=iterable) as at) if not _is_range(state, iterable):
            c = Cursor(state)
            c.do(Eval(iterable), Count(at, 0))
            return c.state
    return None


def _is_range(state: ParseState, iterable: ast.expr) -> bool:
    match iterable:
        case ast.Call(func=ast.Name(id=name)) if state.frame.scope.owner(name) is None:
            return state.frame.names.find(name) is RANGE
    return False


@agenda_rule
def count_range(state: ParseState) -> ParseState | None:
    """(count) κ, s b a σ  →  (i) (store i) ⟨body⟩ (jump @for) in @body, κ in @else      n = range_length(a, b, s), i = a + k * s"""
    match top(state):
        case Count(at, arguments) if arguments > 0:
            c = Cursor(state)
            given = c.nodes(arguments)
            zero, one = c.constant(0), c.constant(1)
            start, stop, step = {1: (zero, *given, one), 2: (*given, one), 3: tuple(given)}[arguments]
            size = c.apply("range_length", start, stop, step, at=at.iter)

            def element(k: NodeId) -> NodeId:
                scaled = k if step == one else c.apply("mul", k, step, at=at.target)
                return scaled if start == zero else c.apply("add", start, scaled, at=at.target)

            _count(c, at, size, element)
            return c.state
    return None


@agenda_rule
def count_tuple(state: ParseState) -> ParseState | None:
    """(count) κ, t σ  →  (t[k]) (store x) ⟨body⟩ (jump @for) in @body, κ in @else        n = length(t)"""
    match top(state):
        case Count(at, 0):
            c = Cursor(state)
            whole = c.value().node
            size = c.apply("length", whole, at=at.iter)
            _count(c, at, size, lambda k: c.apply("getitem", whole, k, at=at.target))
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


def _count(c: Cursor, at: ast.For, size: NodeId, element: Callable[[NodeId], NodeId]) -> None:
    """The header of a `for` with its hidden counter, its test, and its two ways."""
    header = _open(c, "for", at, counter=at.target.id if isinstance(at.target, ast.Name) else "k")
    assert header.counter is not None
    _branch(c, at, header, c.apply("lt", header.counter, size, at=at), element)


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


def _branch(
    c: Cursor, at: ast.For | ast.While, header: Target, condition: NodeId, element: Callable[[NodeId], NodeId] | None = None
) -> None:
    """In the header: the switch between the body, which `element` begins, and what follows."""
    inside = c.frame
    leave, after = _after(c, at)
    body = c.new_graph("body", at.body[0])
    other = c.new_graph("else" if leave is not None or at.orelse else "after", at)
    c.output(c.switch(condition, body, other, at))
    c.frame = replace(inside, graph=body, loops=Stack((header, leave), inside.loops))
    first: tuple[Any, ...] = ()
    if element is not None and isinstance(at, ast.For):
        assert header.counter is not None
        first = (Put(element(header.counter)), Store(at.target))
    last = (Jump(leave, at), Enter(after)) if leave is not None else ()
    rest = (Enter(replace(inside, graph=other)), Block(tuple(at.orelse)), *last)
    c.do(*first, Block(tuple(at.body)), Jump(header, at), *rest)


RULES = (
    *(while_statement, endless_loop, turn, for_range, for_tuple, count_range, count_tuple, break_statement, continue_statement),
)
