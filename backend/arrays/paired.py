"""
Which two arrays have the same sizes wherever they are read, as the numbers and the mask of a sensitivity have.

Two names are *paired* if they are always assigned together, in one block and with no way out between: two arrays that are made of
the same sizes, or two names that are paired where they are handed on. That is taken to be so until an assignment is found of which
it is not; then it holds by induction over a run, in loops too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from backend.arrays.effects import assigned
from backend.arrays.handed import MAKERS, pairs
from backend.arrays.walking import names_in, walk

Block = list[ast.stmt]
MEMORY = frozenset({"reals", "integers"})


@dataclass(eq=False)
class Given:
    """What a statement of a block assigns to a name; None if it is not to be seen."""

    block: Block
    at: int
    value: ast.expr | None


class Pairs:
    """Those of a function, which stays as it is while it is asked for them."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self.function = function

    @cached_property
    def given(self) -> dict[str, list[Given]]:
        """The assignments, by name, in the order of the text; parameters are assigned what is not to be seen."""
        function = self.function
        found = {a.arg: [Given(function.body, -1, None)] for a in function.args.args}
        for block in _blocks(function):
            for at, statement in enumerate(block):
                if isinstance(statement, ast.Assign):
                    for target, value in pairs(statement):
                        for name, given in _assigned(target, Given(block, at, value)):
                            found.setdefault(name, []).append(given)
        for name, times in assigned(function).items():
            if times > sum(one.at >= 0 for one in found.get(name, ())):  # by a loop, or else in a way that is not followed
                found.setdefault(name, []).append(Given(function.body, -1, None))
        return found

    def hold(self, a: str, b: str, at: ast.stmt) -> bool:
        """Whether two names are paired, at a statement too; and so the names that they are given, where they are given them."""
        todo: list[Asked] = [(a, b, (at,))]
        seen = set[tuple[str, str, tuple[int, ...]]]()
        while todo:
            a, b, places = todo.pop()
            asked = a, b, tuple(map(id, places))
            if asked not in seen and a != b:
                seen.add(asked)
                if (needed := self.needed(a, b, places)) is None:
                    return False
                todo += needed
        return True

    def needed(self, a: str, b: str, places: tuple[ast.stmt, ...]) -> list[Asked] | None:
        """The names that are to be paired if two are, and where; None if these are not."""
        ours, theirs = self.given.get(a, []), self.given.get(b, [])
        if len(ours) != len(theirs):
            return None
        found: list[Asked] = []
        for one, other in zip(ours, theirs, strict=True):
            if (needed := _together(one, other, places)) is None:
                return None
            found += [(a, b, (one.block[one.at], other.block[other.at])) for a, b in needed]
        return found


def _assigned(target: ast.expr, given: Given) -> Iterator[tuple[str, Given]]:
    """The names to which a target assigns."""
    if isinstance(target, ast.Name):
        yield target.id, given
    elif isinstance(target, ast.Tuple):
        for name in (n.id for n in walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)):
            yield name, Given(given.block, given.at, None)


Asked = tuple[str, str, tuple[ast.stmt, ...]]
"""Two names, and statements where they are to be paired."""


def _together(one: Given, other: Given, places: tuple[ast.stmt, ...]) -> list[tuple[str, str]] | None:
    """The names that are to be paired if what two statements assign has the same sizes; None if it has not at the places."""
    first, last = sorted((one.at, other.at))
    if one.block is not other.block or one.value is None or other.value is None:
        return None
    if first != last:
        between = one.block[first + 1 : last]
        apart = {id(n) for s in (*between, one.block[last]) for n in walk(s)}
        if not all(isinstance(s, ast.Assign | ast.For) for s in between) or any(id(at) in apart for at in places):
            return None
        if stored(one.block[first:last]) & (names_in(one.value) | names_in(other.value)):
            return None
    match one.value, other.value:
        case ast.Name(a), ast.Name(b):
            return [(a, b)]
        case ast.Call(ast.Name(maker), [ast.Tuple(sizes), *_]), ast.Call(ast.Name(another), [ast.Tuple(others), *_]):
            if maker in MAKERS and another in MAKERS and len(sizes) == len(others):
                found = [_same(s, o) for s, o in zip(sizes, others, strict=True)]
                return [pair for some in found if some for pair in some] if None not in found else None
    return None


def stored(statements: Block) -> set[str]:
    """The names that statements assign to, or to whose elements; for the memory of stacks, to which a call may write, both."""
    found = set[str]()
    for node in (n for s in statements for n in walk(s)):
        match node:
            case ast.Name(name, ast.Store()) | ast.Subscript(ast.Name(name), _, ast.Store()):
                found.add(name)
            case ast.Call(_, arguments):
                found |= MEMORY & {a.id for a in arguments if isinstance(a, ast.Name)}
    return found | MEMORY if found & MEMORY else found


def _same(size: ast.expr, other: ast.expr) -> list[tuple[str, str]] | None:
    """The same for two sizes."""
    if ast.unparse(size) == ast.unparse(other):
        return []
    match size, other:
        case (
            ast.Subscript(ast.Attribute(ast.Name(a), "shape"), ast.Constant(k)),
            ast.Subscript(ast.Attribute(ast.Name(b), "shape"), ast.Constant(j)),
        ) if k == j:
            return [(a, b)]
    return None


def _blocks(function: ast.FunctionDef) -> list[Block]:
    """Every block of statements, in the order of the text."""
    found: list[Block] = [function.body]
    for statement in found[0]:
        found += _inside(statement)
    return found


def _inside(statement: ast.stmt) -> list[Block]:
    own = [block for block in (getattr(statement, "body", None), getattr(statement, "orelse", None)) if block]
    return [block for one in own for block in (one, *(b for s in one for b in _inside(s)))]
