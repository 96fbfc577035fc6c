"""
What a function mutates: which of its variables hold lists that change, and which of the functions inside it change them.

A list that changes lives in memory: the variable holds a pointer to a cell, the cell an immutable list, and a hidden variable,
`memory'`, the token. `ys = xs` copies the pointer, as in CPython, so what is appended to one is in the other. A list that nothing
changes stays a value, and so does everything else: `x[i] = v` on an array makes a new array (`put`), which shadows the name.

    component   the variables that `y = x` may make one list; if one of them is changed as a list, all hold pointers
    reader      a nested function that looks at such a list of an enclosing function: it takes the token first
    writer      one that changes it, or has such lists itself besides: it takes the token and returns (token, result)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from transforms.parse.flow import Scope
from transforms.parse.joining import is_sequence
from transforms.parse.nodes import Applied, Immediate, Inner, held_by, walk
from transforms.parse.shape import heads, own_statements, targets_of
from transforms.parse.source import Function, default_expressions

TOKEN = "memory'"
CREATORS = frozenset(
    {"array", "zeros", "ones", "empty", "full", "arange", "linspace", "eye", "zeros_like", "ones_like", "full_like"}
)
METHODS = frozenset({"append", "extend", "insert", "pop", "clear", "reverse", "remove", "sort"})


class Variable(NamedTuple):
    """A local variable of one function."""

    owner: Function
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Mutations:
    """
    scopes    every function of the tree, with what is known of it
    lists     the variables that hold pointers
    changed   for each reader and writer, the variables of enclosing functions whose lists it may change
    writers, readers, owners    functions that return the token, that only take it, that begin with a memory of their own
    """

    scopes: Mapping[Function, Scope]
    lists: frozenset[Variable]
    changed: Mapping[Function, frozenset[Variable]]
    writers: frozenset[Function]
    readers: frozenset[Function]
    owners: frozenset[Function]

    def variable(self, function: Function, name: str) -> Variable | None:
        """The variable that a name means in a function; None for a global one."""
        owner = self.scopes[function].owner(name)
        return Variable(owner.node, name) if owner is not None else None

    def is_list(self, function: Function, name: str) -> bool:
        """Whether a name means a variable that holds a pointer."""
        return self.variable(function, name) in self.lists

    def called(self, function: Function, name: str) -> Function | None:
        """The reader or writer that a name stands for."""
        owner = self.scopes[function].owner(name)
        found = owner.single.get(name) if owner is not None else None
        return found if found in self.writers or found in self.readers else None


def mutates(root: Function) -> bool:
    """
    Whether anything in the tree may be a mutation; `x += e` only where x has a second name or may be part of something, or an array
    is made or copied.
    """
    augmented: set[str] = set()
    aliased: set[str] = set()
    made = False
    for node in walk(root):
        match node:
            case ast.Subscript(ctx=ast.Store()):
                return True
            case ast.Call(func=ast.Attribute(attr=attr)):
                if attr in METHODS:
                    return True
                made = made or attr in CREATORS or attr == "copy"
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                if is_sequence(value):
                    return True
                augmented.add(name)
            case _:
                aliased |= {name for target in _taken_apart(node) for name in targets_of(target)}
                for name, value in bound_by(node):
                    others = aliases_of(value) or ()
                    aliased |= {name, *others} if others or _is_part(value) else set()
    return bool(augmented) and (made or bool(augmented & aliased) or not augmented.isdisjoint(like_arrays(root)))


def own_nodes(function: Function) -> Iterator[tuple[ast.stmt | None, ast.AST]]:
    """The nodes of a function, with their statements; those of functions inside it are theirs."""
    todo: list[tuple[ast.stmt | None, ast.AST]] = []
    if isinstance(function, ast.Lambda):
        todo.append((None, function.body))
    for own in own_statements(function):
        yield own, own
        todo += [(own, e) for e in (*heads(own), *_targets(own))]
    while todo:
        statement, node = todo.pop()
        yield statement, node
        if isinstance(node, ast.Lambda):
            todo += [(statement, e) for e in default_expressions(node).values()]
        elif isinstance(node, Inner):
            todo += [(statement, e) for e in node.arguments]
        else:
            todo += [(statement, child) for child in held_by(node)]


def _targets(statement: ast.stmt) -> list[ast.expr]:
    match statement:
        case ast.Assign(targets=targets):
            return targets
        case ast.AnnAssign(target=target) | ast.For(target=target):
            return [target]
    return []


def changed_name(node: ast.AST) -> str | None:
    """The name of the variable whose list, array or dictionary a node changes itself."""
    match node:
        case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
            return name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)) if attr in METHODS:
            return name
    return None


def makes_list(value: ast.expr) -> bool:
    """Whether the text alone shows that the value is a new list."""
    match value:
        case ast.List() | Applied(primitive="concat" | "append", arguments=[ast.List(), *_]):
            return True
        case Inner(function=Immediate(name="list")):
            return True
        case ast.BinOp(op=ast.Add() | ast.Mult(), left=left, right=right):
            return isinstance(left, ast.List) or isinstance(right, ast.List)
    return False


def aliases_of(value: ast.expr) -> list[str] | None:
    """The names of which the value is one, if that is all it can be: `x`, `x if c else y`."""
    todo, found = [value], []
    while todo:
        match todo.pop():
            case ast.Name(id=name):
                found.append(name)
            case ast.IfExp(body=body, orelse=orelse):
                todo += [body, orelse]
            case _:
                return None
    return found


def like_arrays(root: Function) -> Iterator[str]:
    """The names that are taken for arrays: indexed, asked for an attribute, multiplied by `@`, or given to a function of NumPy."""
    for node in walk(root):
        match node:
            case ast.Subscript(value=ast.Name(id=name)) | ast.Attribute(value=ast.Name(id=name)):
                yield name
            case ast.BinOp(op=ast.MatMult(), left=left, right=right):
                yield from (e.id for e in (left, right) if isinstance(e, ast.Name))
            case ast.Call(func=ast.Attribute(value=ast.Name(id=module)), args=arguments) if module != "math":
                yield from (e.id for e in arguments if isinstance(e, ast.Name))


def _taken_apart(node: ast.AST) -> list[ast.expr]:
    """The targets to which a node assigns elements of what it unpacks or goes over."""
    match node:
        case ast.For(target=target):
            return [target]
        case ast.Assign(targets=targets, value=value) if not is_sequence(value):
            return [target for target in targets if not isinstance(target, ast.Name)]
        case _:
            return []


def _is_part(value: ast.expr) -> bool:
    """Whether a value, or one of those that are chosen among, is an element or a field."""
    match value:
        case ast.IfExp(body=body, orelse=orelse):
            return _is_part(body) or _is_part(orelse)
        case ast.BoolOp(values=values):
            return any(map(_is_part, values))
        case _:
            return isinstance(value, ast.Subscript | ast.Attribute)


def changes_lists(known: Mutations, function: Function, statements: list[ast.stmt]) -> bool:
    """Whether statements of a function may change any list that is in memory."""
    for node in (n for statement in statements for n in walk(statement)):
        name = changed_name(node)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            name = node.target.id
        if name is not None and known.is_list(function, name):
            return True
        if isinstance(node, ast.Name) and known.called(function, node.id) in known.writers:
            return True
    return False


def mutations_of(scope: Scope, methods: frozenset[str] = METHODS) -> Mutations:
    """What the tree below a function mutates; `methods` are those that only lists have."""
    scopes: dict[Function, Scope] = {}
    todo = [scope]
    while todo:
        found = todo.pop()
        scopes[found.node] = found
        todo.extend(found.children.values())
    empty = Mutations(scopes, frozenset(), {}, frozenset(), frozenset(), frozenset())
    return _effects(empty, _lists(empty, methods))


def _lists(known: Mutations, methods: frozenset[str]) -> frozenset[Variable]:
    """The variables of every component that is changed as a list."""
    neighbours: dict[Variable, set[Variable]] = {}
    made: set[Variable] = set()
    changed: dict[Variable, bool] = {}
    for function in known.scopes:
        for _, node in own_nodes(function):
            for name, value in bound_by(node):
                variable = known.variable(function, name)
                if variable is None:
                    continue
                if makes_list(value):
                    made.add(variable)
                for other in aliases_of(value) or ():
                    if (source := known.variable(function, other)) is not None:
                        neighbours.setdefault(variable, set()).add(source)
                        neighbours.setdefault(source, set()).add(variable)
            name_changed = changed_name(node)
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and is_sequence(node.value):
                name_changed = node.target.id
            if name_changed is not None and (variable := known.variable(function, name_changed)) is not None:
                changed[variable] = changed.get(variable, False) or isinstance(node, ast.AugAssign) or _calls(node, methods)
    found: set[Variable] = set()
    for start in changed:
        component, todo = {start}, [start]
        while todo:
            fresh = neighbours.get(todo.pop(), set()) - component
            component |= fresh
            todo.extend(fresh)
        if component & made or any(changed.get(v, False) for v in component):
            found |= component
    return frozenset(found)


def _calls(node: ast.AST, methods: frozenset[str]) -> bool:
    """Whether a node calls one of these methods."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in methods


def bound_by(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names that a node binds, each with the expression it is bound to where that is one of its own."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from paired(target, value)
            plain = [t for t in targets if isinstance(t, ast.Name)]
            yield from ((b.id, a) for a, b in pairwise(plain))
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield from paired(target, value)
        case ast.NamedExpr(target=ast.Name(id=name), value=value):
            yield name, value


def paired(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The names of a target with their values, `a, b = x, y` element by element."""
    match target, value:
        case ast.Name(id=name), _:
            yield name, value
        case ((ast.Tuple(elts=targets) | ast.List(elts=targets)), (ast.Tuple(elts=values) | ast.List(elts=values))):
            if len(targets) == len(values) and not any(isinstance(e, ast.Starred) for e in (*targets, *values)):
                for t, v in zip(targets, values, strict=True):
                    yield from ((t.id, v),) if isinstance(t, ast.Name) else ()


def _effects(known: Mutations, lists: frozenset[Variable]) -> Mutations:
    """Which functions read and write the memory of an enclosing one: a fixpoint over calls and nesting."""
    touched: dict[Function, set[Variable]] = {f: set() for f in known.scopes}
    changed: dict[Function, set[Variable]] = {f: set() for f in known.scopes}
    calls: list[tuple[Function, Function]] = []
    for function, scope in known.scopes.items():
        for _, node in own_nodes(function):
            if isinstance(node, ast.Name) and (variable := known.variable(function, node.id)) in lists:
                touched[function].add(variable)
            name = changed_name(node)
            if name is not None and (variable := known.variable(function, name)) in lists:
                changed[function].add(variable)
            augmented = node.target.id if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) else ""
            if augmented and (variable := known.variable(function, augmented)) in lists:
                changed[function].add(variable)
            if isinstance(node, ast.Name) and (owner := scope.owner(node.id)) is not None and node.id in owner.single:
                calls.append((function, owner.single[node.id]))
        calls += [(function, child) for child in scope.children]
    grew = True
    while grew:
        grew = False
        for function, other in calls:
            for table in (touched, changed):
                more = {v for v in table[other] if v.owner is not other} - table[function]
                grew = grew or bool(more)
                table[function] |= more
    outer = {f: frozenset(v for v in touched[f] if v.owner is not f) for f in known.scopes}
    own = {v.owner for v in lists}
    effectful = {f for f in known.scopes if outer[f] and type(f) is ast.FunctionDef}
    written = {f: frozenset(v for v in changed[f] if v.owner is not f) for f in known.scopes}
    writers = frozenset(f for f in effectful if written[f] or f in own)
    return Mutations(known.scopes, lists, written, writers, frozenset(effectful) - writers, frozenset(own) - effectful)
