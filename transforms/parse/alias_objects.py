"""
The abstract objects that aliases are judged by, and the state they are in.

    ρ   variable ↦ the objects that it may be       η   object ↦ the objects that may be inside it
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple


class Object(NamedTuple):
    """What one place makes: a list, a new array or number, a tuple, the result of a call, a parameter, a captured variable."""

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
NONE: Things = frozenset()


@dataclass(slots=True)
class Store:
    """The abstract state."""

    env: dict[str, Things] = field(default_factory=dict)
    inside: dict[Thing, Things] = field(default_factory=dict)

    def copy(self) -> Store:
        """A state that goes on by itself."""
        return Store(dict(self.env), dict(self.inside))

    def join(self, other: Store) -> bool:
        """Adds what another way leads to; whether that is anything new."""
        grew = False
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
        fresh, old = Object(kind, site), Object(kind, site, True)
        if fresh in self.inside:

            def aged(thing: Thing) -> Thing:
                if isinstance(thing, Object):
                    return old if thing == fresh else thing
                return thing._replace(of=old) if thing.of == fresh else thing

            self.env = {name: frozenset(map(aged, things)) for name, things in self.env.items()}
            renamed: dict[Thing, Things] = {}
            for key, things in self.inside.items():
                now = aged(key)
                renamed[now] = renamed.get(now, NONE) | frozenset(map(aged, things))
            self.inside = renamed
            inside = map(aged, inside)
        self.inside[fresh] = frozenset(inside)
        return frozenset({fresh})
