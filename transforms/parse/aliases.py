"""
Who else holds what is changed: where a functional update would differ from Python's mutation, a located error says so.

Every function is run on abstract objects, one for each place that makes one, in two generations: the latest made there, and all
those before it (a list made anew in each turn of a loop is another list than those that earlier turns put away).

A change of x in place is what it is in Python if each object that x may be was made in this function, and nothing that is live
after the change may hold it: of an array no other name; of a list, whose variables hold pointers, no copy (`Copy`) of what it was.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property

from semantics.errors import Malformed
from transforms.parse.alias_objects import NONE, OVER, Copy, Object, Part, Store, Things
from transforms.parse.alias_values import captured, elements, value_of
from transforms.parse.flow import Scope
from transforms.parse.mutation import Mutations, aliases_of, bound_by, changed_name, like_arrays
from transforms.parse.nodes import Immediate, Inner, walk
from transforms.parse.read_after import read_after
from transforms.parse.shape import heads, targets_of
from transforms.parse.source import Function, parameters_of


class Aliasing:
    """
    The run of one function. `apart` collects the places whose value must turn out to share nothing with an array: indexings and
    statements, whose values what follows needs, and targets of statements that are made for nothing but such an array.
    """

    def __init__(self, known: Mutations, scope: Scope, apart: set[ast.AST]) -> None:
        self.known, self.scope, self.apart = known, scope, apart
        self.function: Function = scope.node
        children = [c for c in scope.children.values() if not c.immediate]
        self.captured = frozenset().union(*(c.free for c in children)) & scope.local
        self.jumps: list[Store] = []

    def run(self) -> None:
        """Malformed at the first change that Python would show elsewhere."""
        store = Store()
        for argument in parameters_of(self.function):
            store.env[argument.arg] = store.make("parameter", argument.arg)
        for name in sorted(self.scope.free):
            if self.scope.owner(name) is not None:
                store.env[name] = store.make("captured", name)
        if isinstance(self.function, ast.Lambda):
            value_of(self, store, self.function.body, None)
        else:
            self.block(store, self.function.body)

    # statements

    def block(self, store: Store, statements: list[ast.stmt]) -> None:
        """Runs statements one after the other; nesting is bounded by Python's own limits."""
        for statement in statements:
            self.statement(store, statement)

    def statement(self, store: Store, statement: ast.stmt) -> None:
        """Runs one statement."""
        if isinstance(statement, ast.If):
            self.branches(store, statement)
            return
        values = [value_of(self, store, e, statement) for e in heads(statement)]
        match statement:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self.assign(store, target, value, values[0], statement)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.assign(store, target, value, values[0], statement)
            case ast.AugAssign(target=target, value=value):
                self.augment(store, target, statement)
            case ast.For() | ast.While():
                self.loop(store, statement, values[0] if values else NONE)
            case ast.FunctionDef(name=name):
                store.bind(name, store.make("closure", statement, captured(self, store, statement)))
            case ast.Break() | ast.Continue():
                self.jumps.append(store.copy())
            case _:
                pass

    def branches(self, store: Store, statement: ast.If) -> None:
        """`if`, `elif`, …, `else`: the ways meet."""
        ways: list[Store] = []
        rest: list[ast.stmt] = [statement]
        while len(rest) == 1 and isinstance(rest[0], ast.If):
            here = rest[0]
            value_of(self, store, here.test, here)
            ways.append(way := store.copy())
            self.block(way, here.body)
            rest = here.orelse
        self.block(store, rest)
        for way in ways:
            store.join(way)

    def loop(self, store: Store, statement: ast.For | ast.While, over: Things) -> None:
        """Turn by turn until nothing new comes."""
        held = f"{OVER}{statement.lineno}.{statement.col_offset}"
        outside, self.jumps = self.jumps, []
        grew = True
        while grew:
            turn = store.copy()
            if isinstance(statement, ast.For):
                direct = isinstance(statement.iter, ast.Name) and self.known.is_list(self.function, statement.iter.id)
                turn.env[held] = NONE if direct else frozenset(t for t in over if not isinstance(t, Part))
                parts = elements(turn, over, statement)
                for name in targets_of(statement.target):
                    turn.bind(name, parts)
            else:
                value_of(self, turn, statement.test, statement)
            self.block(turn, statement.body)
            turn.env.pop(held, None)
            grew = store.join(turn)
            for jump in self.jumps:
                jump.env.pop(held, None)
                grew = store.join(jump) or grew
        self.jumps = outside
        self.block(store, statement.orelse)

    def assign(self, store: Store, target: ast.expr, value: ast.expr, things: Things, statement: ast.stmt) -> None:
        """`target = value`"""
        match target, value:
            case ast.Name(id=name), _:
                names = aliases_of(value) if self.known.is_list(self.function, name) else None
                if names is not None and all(self.known.is_list(self.function, n) for n in names):
                    things = frozenset(t for n in names for t in store.env.get(n, NONE))
                store.bind(name, things, value.id if isinstance(value, ast.Name) else None)
            case ast.Subscript(value=ast.Name(id=name)), _:
                self.change(store, target, statement)
                for thing in store.env.get(name, NONE):
                    if isinstance(thing, Object) and thing.kind == "array":
                        continue  # what is written into it is copied
                    store.inside[thing] = store.inside.get(thing, NONE) | things
            case ((ast.Tuple(elts=ts) | ast.List(elts=ts)), (ast.Tuple(elts=vs) | ast.List(elts=vs))) if len(ts) == len(vs):
                found = [value_of(self, store, v, statement) for v in vs]
                likes: dict[str, str | None] = {name: None for t in ts for name in targets_of(t)}
                likes |= {t.id: v.id for t, v in zip(ts, vs, strict=True) if isinstance(t, ast.Name) and isinstance(v, ast.Name)}
                moved = store.moved(likes)
                for t, v, each in zip(ts, vs, found, strict=True):
                    self.assign(store, t, v, each, statement)
                store.apart = moved
            case ((ast.Tuple(elts=ts) | ast.List(elts=ts)), _):
                parts = elements(store, things, statement)
                for t in ts:
                    self.assign(store, t, ast.Constant(None), parts, statement)
            case ast.Starred(value=inner), _:
                self.assign(store, inner, value, things, statement)
            case _:
                pass

    def augment(self, store: Store, target: ast.expr, statement: ast.AugAssign) -> None:
        """`x ⊕= e` changes a list, and an array made here, in place; what is held elsewhere must turn out to be a number."""
        match target:
            case ast.Subscript(value=ast.Name()):
                self.change(store, target, statement)
            case ast.Name(id=name) if self.known.is_list(self.function, name):
                self.change(store, target, statement)
            case ast.Name(id=name):
                things = store.env.get(name, NONE)
                arrays = {t for t in things if isinstance(t, Object) and t.kind == "array"}
                part = any(isinstance(t, Part) or (isinstance(t, Object) and t.kind == "held") for t in things)
                part = part or self.is_given(name, things)
                what = self.check(store, name, things, False, statement, caller=bool(arrays))
                if what is not None and arrays and arrays >= things:
                    raise self.refusal(target, *what)
                if what is not None or part:
                    self.numbers(things, target, statement)
                if what is not None or part or not arrays:
                    store.bind(name, store.make("new", statement, store.contents(things)))

    def numbers(self, things: Things, target: ast.Name, statement: ast.AugAssign) -> None:
        """
        What is changed by `+=` must be no array that is part of something else. That is tested where it is taken from there, or
        else where it is changed; and by a test of its own if nothing reads the name afterwards, so that no value depends on it.
        """
        name = target.id
        is_read = name in self.captured or name in self.read_after.get(statement, NONE)
        is_read = is_read and not self.is_given(name, things)  # what its callers see depends on no value
        taken = {t.at for t in things if isinstance(t, Part)}
        fresh = all(isinstance(t, Part) or (isinstance(t, Object) and t.kind in ("new", "operation")) for t in things)
        if is_read and fresh and taken and taken <= self.bound[name]:
            self.apart |= taken
        else:
            self.apart.add(statement if is_read else target)

    def is_given(self, name: str, things: Things) -> bool:
        """Whether a name that the function takes for an array may be an argument, which its callers hold as well."""
        return name in self.arrays and any(isinstance(t, Object) and t.kind == "parameter" for t in things)

    @cached_property
    def bound(self) -> defaultdict[str, set[ast.AST]]:
        """The expressions that each name is bound to."""
        found: defaultdict[str, set[ast.AST]] = defaultdict(set)
        for node in walk(self.function):
            for name, value in bound_by(node):
                found[name].add(value)
        return found

    @cached_property
    def arrays(self) -> frozenset[str]:
        """The names that the function takes for arrays."""
        return frozenset(like_arrays(self.function))

    @cached_property
    def read_after(self) -> dict[ast.stmt, frozenset[str]]:
        """The variables that are read after each statement of the function."""
        return read_after(self.scope.source, self.function)

    # changes

    def change(self, store: Store, place: ast.expr, statement: ast.stmt | None) -> None:
        """Malformed if changing what a name holds, in place, would be seen elsewhere or change what is not this function's own."""
        name = changed_name(place) or (place.id if isinstance(place, ast.Name) else "")
        listed = self.known.is_list(self.function, name)
        if not listed and self.scope.owner(name) is None:
            everybody = f"{name} belongs to the module, which would be changed for everybody"
            raise self.refusal(place, everybody, f"pass it as an argument, and return the new one: {name} = {name}.copy() first")
        what = self.check(store, name, store.env.get(name, NONE), listed, statement)
        if what is not None:
            raise self.refusal(place, *what)

    def check(
        self, store: Store, name: str, things: Things, listed: bool, statement: ast.stmt | None, caller: bool = True
    ) -> tuple[str, str] | None:
        """Why the things may not be changed by the name, and what to write instead; `caller` counts what callers would see."""
        copy = f"list({name})" if listed else f"{name}.copy()"
        first = f"make it its own before: {name} = {copy}"
        mine = {t for t in things if isinstance(t, Object)}
        watched = mine | store.reach(t for t in mine if t.kind == "call")
        if caller and any(isinstance(t, Object) and t.kind == "parameter" for t in watched):
            return f"{name} may be an argument, which a change in place would change for the caller", first
        if (caller and not mine >= things) or any(
            t.kind in ("tuple", "closure", "held") or (t.kind == "captured" and not listed) for t in mine
        ):
            return f"{name} may be part of something else, which a change in place would change too", first
        self.apart |= {t.at for t in watched if isinstance(t, Part)}
        for other in sorted(self.live(store, statement)):
            if frozenset((name, other)) in store.apart and not listed:
                continue
            pointer = listed and self.known.is_list(self.function, other)
            for thing in store.reach(store.env.get(other, NONE)):
                alias = thing in watched and not (pointer and thing in mine) and (listed or other != name)
                if alias or (isinstance(thing, Copy) and thing.of in watched):
                    who = "the sequence that the loop goes over" if other.startswith(OVER) else other
                    return f"{who} may hold {name} as it is before this change, and would change with it", f"give it a copy: {copy}"
                if isinstance(thing, Part) and thing.of in watched and other != name:
                    self.apart.add(thing.at)
        return None

    def live(self, store: Store, statement: ast.stmt | None) -> Iterable[str]:
        """The variables that may be read after a statement; all of them, for an expression whose place is not simple."""
        after = self.scope.live_after.get(statement) if statement is not None else None
        if after is None or isinstance(statement, (ast.If, ast.For, ast.While)):
            return store.env
        return [n for n in store.env if n in after or n in self.captured or n.startswith(OVER)]

    def refusal(self, at: ast.AST, what: str, remedy: str) -> Malformed:
        """The error, at its place."""
        return self.scope.source.refuse(at, what, remedy, rule="alias")

    def effects(self, store: Store, node: ast.Call, name: str, statement: ast.stmt | None) -> None:
        """The call of a function that changes lists changes them here."""
        called = self.known.called(self.function, name)
        for variable in sorted(self.known.changed.get(called, ()) if called is not None else (), key=lambda v: v.name):
            if self.known.variable(self.function, variable.name) == variable:
                what = self.check(store, variable.name, store.env.get(variable.name, NONE), True, statement)
                if what is not None:
                    raise self.refusal(node, f"{name} changes {variable.name}: {what[0]}", what[1])

    def comprehension(self, store: Store, node: Inner, given: Things) -> Things:
        """What the body of a comprehension gives, run in its place."""
        inner = Aliasing(self.known, self.scope.children[node.function], self.apart)
        way = store.copy()
        for argument in parameters_of(node.function):
            way.bind(argument.arg, given)
        inner.block(way, node.function.body)
        returned = [n.value for n in walk(node.function) if isinstance(n, ast.Return) and n.value is not None]
        results = frozenset(t for value in returned for t in value_of(inner, way, value, None))
        store.env = {name: way.env[name] for name in store.env}
        store.inside, store.apart = way.inside, {pair for pair in way.apart if pair <= store.env.keys()}
        return results


def check_aliases(known: Mutations) -> set[ast.AST]:
    """Malformed where a mutation would be seen elsewhere; else the indexings and loops that must give numbers, not views."""
    apart: set[ast.AST] = set()
    for function, scope in known.scopes.items():
        if not isinstance(function, Immediate):
            Aliasing(known, scope, apart).run()
    return apart
