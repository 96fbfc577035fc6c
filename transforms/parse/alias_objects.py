"""
The abstract objects that aliases are judged by, and the state they are in.

    ρ   variable ↦ the objects that it may be       η   object ↦ the objects that may be inside it
    #   pairs of variables that are never the same array, though each may be either: buffers that change places in a loop
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Object(NamedTuple):
    """
    What one place makes: a list, a new array or number, what an operation gives, a tuple, the result of a call, what a field holds,
    a parameter, a captured variable.
    """

    kind: str
    site: object
    old: bool = False


class Copy(NamedTuple):
    """What a list was when it was read as a value."""

    of: Object


class Part(NamedTuple):
    """What `x[i]` gave: a number, or a view if x has more axes; `at` is the place."""

    of: Object
    at: ast.AST


Thing = Object | Copy | Part
Things = frozenset[Thing]
Pair = frozenset[str]
NONE: Things = frozenset()
OVER = "over "
"""What the name begins with under which a state has what a loop goes over."""


@dataclass(slots=True)
class Store:
    """The abstract state."""

    env: dict[str, Things] = field(default_factory=dict)
    inside: dict[Thing, Things] = field(default_factory=dict)
    apart: set[Pair] = field(default_factory=set)

    def copy(self) -> Store:
        """A state that goes on by itself."""
        return Store(dict(self.env), dict(self.inside), set(self.apart))

    def bind(self, name: str, things: Things, like: str | None = None) -> None:
        """`name = …`, which is these things; `like` is the variable whose value it is, if it is that of one."""
        moved = self.moved({name: like})
        self.env[name] = things
        self.apart = moved

    def moved(self, sources: Mapping[str, str | None]) -> set[Pair]:
        """Which pairs are apart when each of these variables has been given the value of another, all at once."""
        found = {pair for pair in self.apart if pair.isdisjoint(sources)}
        for pair in self.apart:
            a, b = ([n for n, source in sources.items() if source == of] + [of] * (of not in sources) for of in pair)
            found.update(frozenset((x, y)) for x in a for y in b)
        return found

    def meet(self, other: Store) -> Iterator[Pair]:
        """The pairs of arrays that are apart here and on another way, though taken together they may be the same."""
        changed = [n for n in self.env.keys() & other.env.keys() if self.env[n] != other.env[n] and not n.startswith(OVER)]
        changed = [n for n in changed if self.is_array(n) and other.is_array(n)]
        named: dict[Thing, set[str]] = {}
        for env in (self.env, other.env) if changed else ():
            for name, things in env.items():
                for thing in things if not name.startswith(OVER) else ():
                    named.setdefault(thing, set()).add(name)
        for a in changed:
            for b in set[str]().union(*(named[t] for t in self.env[a] | other.env[a])) - {a}:
                if self.are_apart(a, b) and other.are_apart(a, b):
                    yield frozenset((a, b))

    def is_array(self, name: str) -> bool:
        """Whether a variable is an array made here, or nothing."""
        things = self.env.get(name, NONE)
        return all(isinstance(t, Object) and t.kind == "array" and not self.inside.get(t) for t in things)

    def are_apart(self, a: str, b: str) -> bool:
        """Whether two variables are never the same array."""
        known = self.is_array(a) and self.is_array(b) and self.env.get(a, NONE).isdisjoint(self.env.get(b, NONE))
        return known or frozenset((a, b)) in self.apart

    def join(self, other: Store) -> bool:
        """Adds what another way leads to; whether that is anything new."""
        before, met = self.apart, {*self.meet(other)}
        self.apart = {pair for pair in before if other.are_apart(*pair)} | met
        grew = not before <= self.apart
        for name, things in other.env.items():
            if not things <= self.env.get(name, NONE):
                self.env[name], grew = self.env.get(name, NONE) | things, True
        for thing, things in other.inside.items():
            if thing not in self.inside or not things <= self.inside[thing]:  # that it was made counts, for the next is another
                self.inside[thing], grew = self.inside.get(thing, NONE) | things, True
        return grew

    def contents(self, things: Iterable[Thing]) -> Things:
        """What is inside, one level deep."""
        found: set[Thing] = set()
        for thing in things:
            found |= self.inside.get(thing.of if isinstance(thing, (Copy, Part)) else thing, NONE)
        return frozenset(found)

    def reach(self, things: Iterable[Thing]) -> set[Thing]:
        """These and everything inside them."""
        todo, found = list(things), set(things)
        while todo:
            fresh = self.contents([todo.pop()]) - found
            found |= fresh
            todo.extend(fresh)
        return found

    def make(self, kind: str, site: object, inside: Iterable[Thing] = ()) -> Things:
        """A new object of a place; the one that it made before is an old one from here on."""
        fresh, things = Object(kind, site), frozenset(inside)
        if fresh in self.inside:
            things = self.age(fresh, things)
        self.inside[fresh] = things
        return frozenset({fresh})

    def age(self, made: Object, things: Things) -> Things:
        """This object is an old one from here on, alone, copied and as what a part is of; so it is among the things given."""
        old = made._replace(old=True)
        known = things.union(self.inside, *self.env.values(), *self.inside.values())
        aged = {t: old if isinstance(t, Object) else t._replace(of=old) for t in known if made in (t, t[0])}
        names = frozenset(aged)
        found: tuple[dict[Any, Things], ...] = (self.env, self.inside)
        for held, key in [(d, k) for d in found for k, inside in d.items() if not names.isdisjoint(inside)]:
            held[key] = frozenset(aged.get(t, t) for t in held[key])
        for key in names.intersection(self.inside):
            self.inside[aged[key]] = self.inside.get(aged[key], NONE) | self.inside.pop(key)
        return frozenset(aged.get(t, t) for t in things)
