"""
The rules of names: local variables, global names and what they stand for, attributes of modules.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from immutables import Map

from semantics.ir import NodeId
from transforms.agenda_system import agenda_rule
from transforms.parse.cursor import Cursor
from transforms.parse.functions import understood
from transforms.parse.items import Emit, Enter, Eval, Member, Put, Use, evaluating, top
from transforms.parse.names import (
    Derived,
    Expression,
    Group,
    Known,
    Literal,
    Module,
    Operation,
    Refused,
    Row,
    found_value,
    suggestion,
)
from transforms.parse.state import Name, ParseState


@agenda_rule
def local_variable(state: ParseState) -> ParseState | None:
    """⟨x⟩ κ, σ  →  κ, ρ(x) σ        x local here or in an enclosing function; Unbound(x) where this path has not assigned it"""
    match evaluating(state):
        case ast.Name(id=name) as at if state.frame.scope.owner(name) is not None:
            c = Cursor(state)
            node = c.variable(name)
            _check_defined(c, name, node, at)
            c.push(node)
            return c.state
    return None


def _check_defined(c: Cursor, name: str, node: NodeId, at: ast.AST) -> None:
    """A nested function may be used only when all the functions it needs, further down included, are defined."""
    graph = c.graph_of(node)
    if graph is None or name not in c.frame.scope.local:
        return
    missing = [g for g in c.tables.awaited.get(graph, ()) if g not in c.tables.defined]
    if missing:
        other = c.edit.graphs[missing[0]].name
        raise c.refuse(at, f"{name} is used here, but {other}, which it needs, is defined below", f"define {other} above this line")


@agenda_rule
def global_name(state: ParseState) -> ParseState | None:
    """⟨x⟩ κ, σ  →  ⟨what x stands for⟩ κ, σ        x not local"""
    match evaluating(state):
        case ast.Name(id=name) as at if state.frame.scope.owner(name) is None:
            c = Cursor(state)
            found = c.frame.names.find(name)
            if found is None:
                known = [*c.frame.names.all(), *c.frame.env]
                raise c.refuse(at, f"the name {name} is not defined", suggestion(name, known), rule="name")
            c.do(Use(found, at))
            return c.state
    return None


@agenda_rule
def use_constant(state: ParseState) -> ParseState | None:
    """⟨c⟩ κ, σ  →  κ, c σ        a global number, or a primitive"""
    match top(state):
        case Use(Literal(value) | Row(value)):
            c = Cursor(state)
            c.push(c.constant(value), isinstance(value, bool))
            return c.state
    return None


@agenda_rule
def use_library(state: ParseState) -> ParseState | None:
    """⟨m⟩ κ, σ  →  κ, m σ        a function of math, a builtin, or a module: no node until it is called or passed on"""
    match top(state):
        case Use(Operation() | Module() as found, at):
            c = Cursor(state)
            c.push_name(found, at)
            return c.state
    return None


@agenda_rule
def use_function(state: ParseState) -> ParseState | None:
    """⟨f⟩ κ, σ  →  κ, @f σ        a global function; its body is parsed once, after everything that is on the agenda"""
    match top(state):
        case Use(Known() as known, at):
            c = Cursor(state)
            c.push(c.declare(known, at))
            return c.state
    return None


@agenda_rule
def use_expression(state: ParseState) -> ParseState | None:
    """⟨X⟩ κ, σ  →  ⟨e⟩ κ, σ        where the module says X = e once and for all, e evaluated among the module's names"""
    match top(state):
        case Use(Expression(source, expression, names)):
            c = Cursor(state)
            thunk = ast.Lambda(
                args=ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[]), body=expression
            )
            scope, here = understood(source, thunk, names), c.frame
            assert isinstance(scope.node, ast.Lambda)
            outside = replace(here, scope=scope, names=names, env=Map(), loops=None)
            c.do(Enter(outside), Eval(scope.node.body), Enter(here))
            return c.state
    return None


@agenda_rule
def use_group(state: ParseState) -> ParseState | None:
    """⟨(v…)⟩ κ, σ  →  ⟨v⟩… make_tuple/n κ, σ        a global tuple of a live function; of a list or a record make_record"""
    match top(state):
        case Use(Group(values, label), at):
            c = Cursor(state)
            parts = [Put(c.constant(v)) if isinstance(v, str) else Use(found_value(v), at) for v in values]
            if label is None:
                c.do(*parts, Emit("make_tuple", len(parts), at))
            else:
                c.do(Put(c.constant(label)), *parts, Emit("make_record", len(parts) + 1, at))
            return c.state
    return None


@agenda_rule
def use_derivative(state: ParseState) -> ParseState | None:
    """⟨d⟩ κ, σ  →  ⟨f⟩ (w) grad/2 κ, σ        a live d = grad(f, w), or one of its kind"""
    match top(state):
        case Use(Derived(macro, function, wrt), at):
            c = Cursor(state)
            given = [] if wrt is None else [Use(Group(wrt), at)] if isinstance(wrt, tuple) else [Put(c.constant(wrt))]
            c.do(Use(function, at), *given, Emit(macro, 1 + len(given), at))
            return c.state
    return None


@agenda_rule
def use_refused(state: ParseState) -> ParseState | None:
    """⟨x⟩ κ, σ  →  Malformed        what x stands for has no meaning here; the error says what to write instead"""
    match top(state):
        case Use(Refused(what, remedy), at):
            raise Cursor(state).refuse(at, what, remedy, rule="name")
    return None


@agenda_rule
def attribute(state: ParseState) -> ParseState | None:
    """⟨m.x⟩ κ, σ  →  ⟨m⟩ (.x) κ, σ"""
    match evaluating(state):
        case ast.Attribute(value=value) as at:
            c = Cursor(state)
            c.do(Eval(value), Member(at))
            return c.state
    return None


@agenda_rule
def member(state: ParseState) -> ParseState | None:
    """(.x) κ, m σ  →  ⟨what m.x stands for⟩ κ, σ        m a module"""
    match top(state), state.operands and state.operands.head:
        case Member(ast.Attribute(attr=attr) as at), Name(found=Module()) as base:
            c = Cursor(state)
            c.pop()
            assert isinstance(base.found, Module)
            found = base.found.member(attr)
            if found is None:
                raise c.refuse(at, f"{base.found.name} has no {attr}", suggestion(attr, list(base.found.members)), rule="name")
            c.do(Use(found, at))
            return c.state
    return None


RULES = (
    *(local_variable, global_name, use_constant, use_library, use_function, use_expression, use_group, use_derivative, use_refused),
    *(attribute, member),
)
