"""
What an expression may be, in abstract objects: the rules of expressions for `aliases`.
"""

from __future__ import annotations

import ast
from typing import Protocol

from transforms.parse.alias_objects import NONE, Copy, Object, Part, Store, Thing, Things
from transforms.parse.flow import Scope
from transforms.parse.mutation import CREATORS, Mutations, changed_name
from transforms.parse.nodes import Applied, Inner, Made, held_by, walk
from transforms.parse.source import Function

NUMBERS = frozenset({"len", "abs", "float", "int", "bool", "pow", "any", "all", "contains", "isinstance", "range"})
VIEWS = frozenset({"asarray", "reshape", "ravel", "transpose", "squeeze", "expand_dims", "broadcast_to", "flip", "diag", "T"})
SIZES = frozenset({"shape", "ndim", "size", "dtype"})
UNKNOWN = frozenset({"parameter", "captured", "held", "operation"})
"""Kinds of objects that hold what was not seen to be put there."""
CONSUMERS = frozenset({"sum", "min", "max"})
SEQUENCES = ("list", "tuple")


class Run(Protocol):
    """What the rules of expressions ask of the run of a function."""

    known: Mutations
    scope: Scope
    function: Function

    def change(self, store: Store, place: ast.expr, statement: ast.stmt | None) -> None: ...

    def effects(self, store: Store, node: ast.Call, name: str, statement: ast.stmt | None) -> None: ...

    def comprehension(self, store: Store, node: Inner, given: Things) -> Things: ...


def is_sequence(thing: Thing) -> bool:
    """Whether a thing is surely a tuple or a list, whose elements are no part of it."""
    return isinstance(thing, Copy) or (isinstance(thing, Object) and thing.kind in SEQUENCES)


def is_arithmetic(expression: ast.AST) -> bool:
    """Whether an expression surely gives a number or an array: what else `+` and `*` take has no difference and no half."""
    match expression:
        case ast.Constant(float() | int()) | ast.UnaryOp():
            return True
        case ast.BinOp(left, ast.Add(), right):
            return is_arithmetic(left) or is_arithmetic(right)
        case ast.BinOp(left, ast.Mult(), right):
            return any(isinstance(e, ast.Constant) and isinstance(e.value, float) for e in (left, right))
        case _:
            return isinstance(expression, ast.BinOp)


def elements(store: Store, things: Things, at: ast.AST) -> Things:
    """What indexing gives: what is inside of sequences, a part of anything that may be an array."""
    found: set[Thing] = set(store.contents(things))
    found |= {Part(t, at) for t in things if isinstance(t, Object) and not is_sequence(t) and t.kind != "closure"}
    return frozenset(found)


def fields(store: Store, things: Things, attr: str, at: ast.AST) -> Things:
    """
    What an attribute gives: what is inside of a thing that was made here; of another, something that this holds. An operation on a
    record may give one that holds what the first holds.
    """
    unknown = any(isinstance(t, Part) or (isinstance(t, Object) and t.kind in UNKNOWN) for t in things)
    held = {Object("held", at)} if unknown and attr not in SIZES else NONE
    return store.contents(things) | held


def captured(run: Run, store: Store, function: Function) -> Things:
    """What a function captures as a value: lists that change are captured by their pointers."""
    free = [n for n in sorted(run.scope.children[function].free) if not run.known.is_list(run.function, n)]
    return frozenset(t for n in free for t in store.env.get(n, NONE))


def value_of(run: Run, store: Store, expression: ast.expr, statement: ast.stmt | None) -> Things:
    """What an expression may be: every part of it after those inside it, from the left."""
    order: list[ast.AST] = []
    todo: list[ast.AST] = [expression]
    while todo:
        node = todo.pop()
        order.append(node)
        if isinstance(node, Inner):
            todo += node.arguments
        elif not isinstance(node, ast.Lambda):
            todo += held_by(node)
    found: dict[ast.AST, Things] = {}
    for node in reversed(order):
        found[node] = _part(run, store, node, found, statement)
    return found[expression]


def _part(run: Run, store: Store, node: ast.AST, found: dict[ast.AST, Things], statement: ast.stmt | None) -> Things:
    """What one expression may be, given what the expressions in it may be."""

    def of(*expressions: ast.AST) -> Things:
        return frozenset(t for e in expressions for t in found[e])

    match node:
        case ast.Name(id=name):
            things = store.env.get(name, NONE)
            if run.known.is_list(run.function, name):
                return frozenset(Copy(t) if isinstance(t, Object) else t for t in things)
            return things
        case ast.Tuple(elts=parts, ctx=ast.Load()) | ast.List(elts=parts, ctx=ast.Load()) | ast.Dict(values=parts):
            kind = "list" if isinstance(node, ast.List) else "tuple" if isinstance(node, ast.Tuple) else "new"
            return store.make(
                kind, node, (t for e in parts for t in (store.contents(found[e]) if isinstance(e, ast.Starred) else found[e]))
            )
        case ast.Subscript(value=base, slice=index, ctx=ast.Load()):
            if not any(isinstance(n, ast.Slice) for n in walk(index)):
                return elements(store, found[base], node)
            lists = frozenset(filter(is_sequence, found[base]))
            made = store.make("list", node, store.contents(lists)) if lists else NONE
            return made | (found[base] - lists)
        case ast.Attribute(value=base, attr=attr):
            return found[base] if attr in VIEWS else fields(store, found[base], attr, node)
        case ast.NamedExpr(target=ast.Name(id=name), value=value):
            store.bind(name, store.env.get(name, NONE) | found[value])
            return found[value]
        case ast.IfExp(body=body, orelse=orelse):
            return of(body, orelse)
        case ast.BoolOp(values=values):
            return of(*values)
        case ast.BinOp(op=ast.Add() | ast.Mult(), left=left, right=right) if not is_arithmetic(node):
            kind = "list" if any(map(is_sequence, of(left, right))) else "operation"
            return store.make(kind, node, store.contents(of(left, right)))
        case ast.BinOp() | ast.UnaryOp():
            return store.make("operation", node)
        case ast.Starred(value=value):
            return found[value]
        case ast.Lambda():
            return store.make("closure", node, captured(run, store, node))
        case Applied(primitive="append", arguments=[s, x]):
            return store.make("list", node, store.contents(found[s]) | found[x])
        case Applied(primitive="concat", arguments=[s, t]):
            return store.make("list", node, store.contents(of(s, t)))
        case Applied(primitive=primitive, arguments=arguments):
            return of(*arguments) if primitive in CONSUMERS else NONE
        case Inner(function=function, arguments=arguments):
            if function.name in NUMBERS:
                return NONE
            results = run.comprehension(store, node, of(*arguments))
            if function.name in CONSUMERS:
                return results
            return store.make("list" if function.name == "list" else "tuple", node, store.contents(results))
        case Made(args=arguments, keywords=keywords):
            return store.make("new", node, of(*arguments, *(k.value for k in keywords)))
        case ast.Call():
            return _call(run, store, node, found, statement)
    return NONE


def _call(run: Run, store: Store, node: ast.Call, found: dict[ast.AST, Things], statement: ast.stmt | None) -> Things:
    """What a call gives: of a function that is not known here, something that may hold any argument."""
    given = frozenset(t for e in (*node.args, *(k.value for k in node.keywords)) for t in found[e])
    match node.func:
        case ast.Attribute(value=ast.Name(id=name), attr=attr) if changed_name(node) and run.known.is_list(run.function, name):
            run.change(store, node, statement)
            things = store.env.get(name, NONE)
            for thing in things:
                more = store.contents(given) if attr == "extend" else given
                store.inside[thing] = store.inside.get(thing, NONE) | more
            return elements(store, things, node)
        case ast.Attribute(value=base, attr="copy"):
            return store.make("array", node, store.contents(found[base]))
        case ast.Attribute(value=base, attr=attr):
            if attr in VIEWS:
                return given | found[base]
            if isinstance(base, ast.Name) and run.scope.owner(base.id) is None:
                return store.make("array" if attr in CREATORS else "new", node)
            return store.make("call", node, given | found[base])
        case ast.Name(id=name) if run.scope.owner(name) is None and name in NUMBERS:
            return NONE
        case ast.Name(id=name):
            run.effects(store, node, name, statement)
            return store.make("call", node, given | store.contents(store.env.get(name, NONE)))
    return store.make("call", node, given | found[node.func])
