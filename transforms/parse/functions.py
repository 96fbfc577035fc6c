"""
The rules of functions: def, lambda, and global functions parsed on demand.

A nested function is a graph that points at the nodes its free variables stand for. Python captures variables, this language
values; the two agree because a captured variable must not be assigned after the function is created, which is checked.
Names bound once, by a def or `name = lambda …`, stand for their graph, so functions may call each other in any order.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from immutables import Map

from semantics.ir import GraphId, NodeId
from semantics.type_language import BOOLEAN, INTEGER, REAL, Scalar
from transforms.agenda_system import agenda_rule
from transforms.parse.cells import with_cells
from transforms.parse.classes import classes_of
from transforms.parse.cursor import Cursor
from transforms.parse.desugar import desugared
from transforms.parse.fields import with_fields
from transforms.parse.flow import Scope, analyse
from transforms.parse.items import Block, Build, Close, Do, Enter, Eval, FallOff, evaluating, top
from transforms.parse.lifetime import outlives_turn
from transforms.parse.mutation import TOKEN
from transforms.parse.names import NameTable, Refused
from transforms.parse.source import Function, Source, default_expressions, name_of, parameters_of
from transforms.parse.state import Frame, ParseState, Signature
from transforms.parse.subset import check_subset

ANNOTATIONS: dict[str, Scalar] = {"float": REAL, "int": INTEGER, "bool": BOOLEAN}


def signature_of(node: Function, name: str, defaults: Mapping[int, NodeId | Refused | None]) -> Signature:
    """How a function is called, from its text and the nodes of its defaults."""
    arguments = node.args
    parameters = tuple(a.arg for a in parameters_of(node))
    positional_only = len(arguments.posonlyargs)
    positional = positional_only + len(arguments.args)
    return Signature(name, parameters, positional_only, positional, defaults, arguments.vararg is not None)


@agenda_rule
def define(state: ParseState) -> ParseState | None:
    """⟨def f(x=d): s⟩ κ, σ  →  ⟨d⟩ (build f) κ, σ        defaults are evaluated once, where f is defined"""
    match top(state):
        case Do(ast.FunctionDef(name=name) as node):
            c = Cursor(state)
            c.do(*map(Eval, default_expressions(node).values()), Build(node, name))
            return c.state
    return None


@agenda_rule
def define_lambda(state: ParseState) -> ParseState | None:
    """⟨x = lambda …⟩ κ, σ  →  ⟨d⟩ (build x) κ, σ        where that is the only binding of x; then it is as good as a def"""
    match top(state):
        case Do(ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as node)) if state.frame.scope.single.get(name) is node:
            c = Cursor(state)
            c.do(*map(Eval, default_expressions(node).values()), Build(node, name))
            return c.state
    return None


@agenda_rule
def lambda_value(state: ParseState) -> ParseState | None:
    """⟨lambda x=d: e⟩ κ, σ  →  ⟨d⟩ (build the lambda) κ, σ"""
    match evaluating(state):
        case ast.Lambda() as node:
            c = Cursor(state)
            c.do(*map(Eval, default_expressions(node).values()), Build(node, None))
            return c.state
    return None


@agenda_rule
def build(state: ParseState) -> ParseState | None:
    """(build f) κ, d σ  →  ⟨body of f⟩ in @f, κ, σ        @f has f's parameters; f, or the operand, stands for @f from here on"""
    match top(state):
        case Build(node, name):
            c = Cursor(state)
            positions = default_expressions(node)
            defaults = dict(zip(positions, c.nodes(len(positions)), strict=True))
            scope = state.frame.scope.children[node]
            if name is not None:
                scope = replace_name(scope, name)
            graph = reserve(c, node, name or scope.name)
            c.sign(graph, signature_of(node, name or "the lambda", defaults))
            inner = inside(c, scope, node, graph)
            c.change(defined=c.tables.defined.set(graph, None))
            if name is not None:
                c.bind(name, c.edit.reference(graph))
            else:
                c.push(c.edit.reference(graph))
            c.do(*body_of(node, inner), Enter(c.frame))
            return c.state
    return None


@lru_cache(maxsize=1024)
def understood(source: Source, node: Function, names: NameTable) -> Scope:
    """What is known of a function, desugared, from its text; Malformed if any piece of it is not in the language."""
    check_subset(source, node)
    return analyse(source, with_cells(source, desugared(with_fields(source, node, names), names), names))


def replace_name(scope: Scope, name: str) -> Scope:
    """The scope of a lambda that is bound to a name goes by that name."""
    return replace(scope, name=name) if scope.name != name else scope


def reserve(c: Cursor, node: Function, name: str) -> GraphId:
    """The graph of a nested function: made when it is defined, or before, when a function above refers to it."""
    key = (c.frame.function, node)
    if key not in c.tables.reserved:
        graph = c.edit.graph(name, c.frame.scope.source.location(node))
        c.change(reserved=c.tables.reserved.set(key, graph))
        c.sign(graph, signature_of(node, name, dict.fromkeys(default_expressions(node))))
    return c.tables.reserved[key]


def body_of(node: Function, frame: Frame) -> tuple[object, ...]:
    """The items that parse the body of a function in its frame."""
    if isinstance(node, ast.Lambda):
        return (Enter(frame), Eval(node.body), Close())
    return (Enter(frame), Block(tuple(node.body)), FallOff())


def read_later(scope: Scope, name: str) -> bool:
    """Whether a function may read its free variable after the place where it is made: not so one that is called there, once."""
    todo = [scope]
    while todo:
        found = todo.pop()
        if not found.immediate:
            return True
        todo += [child for child in found.children.values() if name in child.free]
    return False


def inside(c: Cursor, scope: Scope, node: Function, graph: GraphId) -> Frame:
    """The frame in which the body of a nested function is parsed: its parameters, and what its free variables stand for here."""
    outer = c.frame.scope
    env = c.frame.env
    awaited: list[GraphId] = []
    for name in sorted(scope.free):
        if name not in outer.local:
            continue
        if name in outer.constant[node]:
            other = reserve(c, outer.single[name], name)
            env = env.set(name, c.edit.reference(other))
            awaited += [g for g in (other, *c.tables.awaited.get(other, ())) if g not in c.tables.defined and g != graph]
        elif read_later(scope, name) and (
            name in outer.straight[node] or (name in outer.later[node] and outlives_turn(outer, node, name))
        ):
            who = "the comprehension" if scope.immediate else name_of(node)
            what = f"{who} captures {name}, which is assigned again after this point"
            remedy = f"capture its value by a default argument: `{name}={name}`, or use another name for the new value"
            if name == TOKEN:
                what = f"{name_of(node)} reads a list, and a list is changed after this point"
                remedy = "write a def, which reads the list when it is called, or capture a copy by a default: `ys=list(xs)`"
            raise c.refuse(node, what, remedy, rule="capture")
    c.change(awaited=c.tables.awaited.set(graph, tuple(dict.fromkeys(awaited))))
    for name in scope.local:
        env = env.delete(name) if name in env else env
    for argument in parameters_of(node):
        env = env.set(argument.arg, c.edit.parameter(graph, argument.arg, None, scope.source.location(argument)))
    return Frame(scope, c.frame.names, graph, graph, env)


@agenda_rule
def fall_off(state: ParseState) -> ParseState | None:
    """(end of the body) κ, σ  →  κ, σ        None is the output of g, if control gets here"""
    match top(state):
        case FallOff():
            c = Cursor(state)
            c.output(c.constant(None))
            return c.state
    return None


@agenda_rule
def next_function(state: ParseState) -> ParseState | None:
    """·, with f pending  →  ⟨body of f⟩ in @f        a global function; at the entry, annotations give types"""
    if state.agenda is not None or not state.pending:
        return None
    (known, graph, entry), *rest = state.pending
    source, node = known.open()
    c = Cursor(replace(state, pending=tuple(rest)))
    c.move(scope=replace_name(understood(source, node, known.names), known.name))
    node = c.frame.scope.node
    env: Map[str, NodeId] = Map()
    parameters = parameters_of(node)
    if (itself := own_class(c, graph, known.name)) is not None:
        env, parameters = env.set(parameters[0].arg, itself), parameters[1:]
    for argument in parameters:
        declared = annotation(argument) if entry else None
        env = env.set(argument.arg, c.edit.parameter(graph, argument.arg, declared, source.location(argument)))
    meet(c, known.names)
    c.do(*body_of(node, Frame(c.frame.scope, known.names, graph, graph, env)))
    return c.state


def own_class(c: Cursor, graph: GraphId, name: str) -> NodeId | None:
    """What the first parameter of a class method stands for: the graph that makes records of the class."""
    cls = c.tables.owners.get(graph)
    if cls is None or cls.kinds.get(name.rpartition(".")[2]) != "classmethod":
        return None
    return c.edit.reference(c.tables.functions[cls.key])


def meet(c: Cursor, names: NameTable) -> None:
    """The classes that these names can name belong to the world from here on."""
    known = {cls.key for cls in c.tables.world}
    found = tuple(cls for cls in classes_of(names) if cls.key not in known)
    if found:
        c.change(world=(*c.tables.world, *found))


def annotation(argument: ast.arg) -> Scalar | None:
    """The type that an annotation of the entry declares: float, int or bool, also as strings; others say nothing."""
    match argument.annotation:
        case ast.Name(id=name) | ast.Constant(value=str() as name):
            return ANNOTATIONS.get(name)
    return None


RULES = (define, define_lambda, lambda_value, build, fall_off, next_function)
