"""
What is mentioned where in a function, as copies of arrays are left out of it and old arrays are given the new ones' names: found by
one walk over the function, and kept as it is then.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from backend.arrays.effects import Roots, roots
from backend.arrays.walking import walk

Block = list[ast.stmt]


@dataclass(eq=False)
class Copy:
    """In a block, `new` is made, and then filled with the elements of `old` by a loop."""

    block: Block
    made: ast.Assign
    loop: ast.For
    new: str
    old: str


class Seen:
    """
    What is to be seen of a function, as names are given: the mentions of each name, the calls that make arrays, by the names to
    which nothing else is assigned, and which names share memory.
    """

    def __init__(self, function: ast.FunctionDef) -> None:
        self.function = function
        self.nodes: dict[str, list[ast.Name]] = {}
        stores, makers = Counter[str](), dict[str, ast.Call]()
        for node in walk(function):
            match node:
                case ast.Name(name, context):
                    self.nodes.setdefault(name, []).append(node)
                    stores[name] += isinstance(context, ast.Store)
                case ast.Assign([ast.Name(name)], ast.Call(ast.Name("_empty" | "_full")) as call):
                    makers[name] = call
        self.mentions = Counter({name: len(nodes) for name, nodes in self.nodes.items()})
        self.within: dict[int, Counter[str]] = {}  # the mentions in a statement, once they were asked for
        self.made_once = {name: call for name, call in makers.items() if stores[name] == 1}

    @cached_property
    def roots(self) -> Roots:
        """Of the function as it was when they were first asked for: a name that is given leaves what other names share as it is."""
        return roots(self.function)

    @cached_property
    def sharing(self) -> Counter[str]:
        """How many names the memory of a root has."""
        return Counter(self.roots.of(name) for name, count in self.mentions.items() if count)

    def is_last_read(self, copy: Copy) -> bool:
        """
        Whether nothing mentions the old array after a copy, by whatever name; and nothing what the new name stood for before, once
        the old array is there.
        """
        filled = copy.block.index(copy.loop)
        if copy.old not in self.made_once or self.sharing[self.roots.of(copy.old)] > 1:
            return False
        assigned = next((at for at, s in enumerate(copy.block[:filled]) if _assigns(s, copy.old)), None)
        if assigned is None:
            return False
        beside = copy.block[assigned : copy.block.index(copy.made)]
        if any(self.names(s)[copy.new] or any(isinstance(n, ast.Break | ast.Continue) for n in walk(s)) for s in beside):
            return False
        return sum(self.names(s)[copy.old] for s in copy.block[: filled + 1]) == self.mentions[copy.old]

    def names(self, statement: ast.stmt) -> Counter[str]:
        """How often a statement mentions each name."""
        if id(statement) not in self.within:
            self.within[id(statement)] = Counter(n.id for n in walk(statement) if isinstance(n, ast.Name))
        return self.within[id(statement)]

    def give_the_name(self, copy: Copy) -> None:
        """The copy left out, the old array with the name of the new one."""
        for gone in (copy.loop, copy.made):
            copy.block.remove(gone)
            self.mentions.subtract(self.names(gone))
            del self.within[id(gone)]
        new, old = copy.new, copy.old
        for node in (nodes := self.nodes.pop(old)):
            node.id = new
        self.nodes[new] += nodes
        self.mentions[new] += self.mentions.pop(old)
        for within in self.within.values():
            if count := within.pop(old, 0):
                within[new] += count
        call = self.made_once.pop(old)
        if new in self.made_once:
            self.made_once[new] = call


def _assigns(statement: ast.stmt, name: str) -> bool:
    """Whether a statement assigns to a name alone."""
    return isinstance(statement, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in statement.targets)
