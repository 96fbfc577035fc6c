"""
What numbers and sizes of arrays are assumed to be: what they are given first in the text, in terms of the arguments.

A key is a name, an axis of what a name stands for, or a scalar of cells. What an assignment gives it is found once: a size of
arguments, or another key. What is then assumed follows along these, each looked at when what it is given becomes known, so that it
costs what there is to tell, however long the text is and however often it is told again without some of the keys.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from backend.arrays.effects import assigned
from backend.arrays.walking import walk

Key = tuple[str, ...]  # (name,): a number or what a name stands for; (name, axis): a size; (memory, site, place): a scalar of cells


class Source(NamedTuple):
    """
    What is assigned: a size of arguments, a key that has it, or "" where nothing tells; `size` if it is asked for as a size, and
    how much `more` it is than that.
    """

    found: str | Key
    size: bool = False
    more: int = 0

    def plus(self, more: int) -> Source:
        """So much more."""
        if isinstance(self.found, str):
            return self._replace(found=plus(self.found, more))
        return self._replace(more=self.more + more)


NUMBER = re.compile(r"i\d+")
"""The name of an integer."""
SHIFTED = re.compile(r"\((\S+) ([+-]) (\d+)\)")
"""A size and a number that is added to it, or taken from it."""


def shift(size: str) -> tuple[str, int]:
    """A size as another and what is added to that."""
    found = SHIFTED.fullmatch(size)
    return (size, 0) if found is None else (found[1], int(found[2] + found[3]))


def plus(size: str, more: int) -> str:
    """A size and a number; "" where that is no size to speak of."""
    if size.isdigit():
        return str(int(size) + more) if int(size) + more >= 0 else ""
    base, before = shift(size)
    if not size or before + more == 0 or " " in base:
        return "" if " " in base else base
    return f"({base} {'-' if before + more < 0 else '+'} {abs(before + more)})"


class Assigned(NamedTuple):
    """An assignment to a key."""

    key: Key
    source: Source


@dataclass
class Sizes:
    """
    The arguments, or their sizes, that keys stand for, among them the numbers that are `computed` once by the function itself;
    which sizes are the same, and the tests that say so.
    """

    arguments: frozenset[str]
    known: dict[Key, str] = field(default_factory=dict)
    one: dict[str, str] = field(default_factory=dict)
    tests: dict[str, ast.If] = field(default_factory=dict)
    computed: frozenset[str] = frozenset()

    def same(self, size: str) -> str:
        """
        The one name of a size. What a number is added to has its own one name; the sum stands for no sum, and for itself where it
        would be less than nothing.
        """
        if (found := self._root(size)) != size:
            return found
        base, more = shift(size)
        return self._root(plus(self._root(base), more) or size) if more else size

    def _root(self, size: str) -> str:
        while size in self.one:
            size = self.one[size]
        return size

    def agree(self, one: Assigned) -> bool:
        """Whether what is assigned to a key is what it stands for."""
        return self.same(self.value(one.source)) == self.same(self.known[one.key])

    def join(self, a: str, b: str) -> None:
        """Two sizes are one; of two sums, what the same is taken from."""
        (base, more), (_, its) = shift(self.same(a)), shift(self.same(b))
        if more and its:
            return self.join(base, plus(self.same(b), -more))
        a, b = self.same(a), self.same(b)
        if a != b:
            a, b = (b, a) if more or (b.isdigit() and not its) else (a, b)
            self.one[b] = a

    def of(self, node: ast.expr, axis: str = "") -> str:
        """What a number is, or an array along an axis; "" if that is not known."""
        return self.value(source(node, axis, self.arguments))

    def value(self, source: Source) -> str:
        """The same, of what is assigned."""
        found = source.found if isinstance(source.found, str) else self.known.get(source.found, "")
        found = plus(self.same(found), source.more) if source.more else found
        return self.same(found) if source.size else found


def source(node: ast.expr, axis: str, arguments: Collection[str]) -> Source:
    """What a number is, or an array along an axis."""
    match node:
        case ast.Constant(int(value)) if not axis and not isinstance(value, bool):
            return Source(str(value))
        case ast.UnaryOp(ast.USub(), ast.Constant(int(value))) if not axis:
            return Source(f"-{value}")
        case ast.Name(name) if name in arguments:
            return Source(f"{name}.shape[{axis}]" if axis else name)
        case ast.Name(name):
            return Source((name, axis) if axis else (name,))
        case ast.Subscript(ast.Attribute(array, "shape"), ast.Constant(k)):
            return source(array, str(k), arguments)._replace(size=True)
        case ast.BinOp(value, ast.Add(), ast.Constant(int(more))) if not axis:
            return source(value, "", arguments).plus(more)
        case ast.BinOp(ast.Constant(int(more)), ast.Add(), value) if not axis:
            return source(value, "", arguments).plus(more)
        case ast.BinOp(value, ast.Sub(), ast.Constant(int(more))) if not axis:
            return source(value, "", arguments).plus(-more)
        case ast.Call(ast.Name("int"), [value]) if not axis:
            return source(value, "", arguments)
        case ast.Subscript(ast.Name(memory), ast.Call(ast.Name("_cell"), [site, _, place])) if not axis:
            return Source((memory, ast.unparse(site), ast.unparse(place)))
        case ast.Call(ast.Name("_empty" | "_full"), [ast.Tuple(sizes), *_]) if axis and int(axis) < len(sizes):
            return source(sizes[int(axis)], "", arguments)._replace(size=True)
        case ast.Call(ast.Name("_reshape"), [_, ast.Tuple(sizes)]) if axis and int(axis) < len(sizes):
            return source(sizes[int(axis)], "", arguments)._replace(size=True)
        case ast.Subscript(ast.Name(), ast.Slice(begin, ast.BinOp(first, ast.Add(), count))) if axis and begin is not None:
            found = source(count, "", arguments)._replace(size=True)
            return found if ast.dump(first) == ast.dump(begin) else Source("")
        case _:
            return Source("")


@dataclass(frozen=True)
class Assignments:
    """All assignments to keys, in the order of the text."""

    all: list[Assigned]

    @cached_property
    def _first(self) -> list[int]:
        """Where a key is given a size of arguments."""
        return [at for at, one in enumerate(self.all) if one.source.found and isinstance(one.source.found, str)]

    @cached_property
    def _given(self) -> dict[Key, list[int]]:
        """For every key, where others are given it."""
        return _places((one.source.found, at) for at, one in enumerate(self.all) if not isinstance(one.source.found, str))

    @cached_property
    def _to(self) -> dict[Key, list[int]]:
        """For every key, where it is assigned."""
        return _places((one.key, at) for at, one in enumerate(self.all))

    def assumed(self, wrong: Collection[Key]) -> dict[Key, str]:
        """
        Every key but those in `wrong` with what it is given first, as far as that is known: in rounds through the text, so that
        what becomes known helps what comes later in this round, and what came before in the next.
        """
        known: dict[Key, str] = {}
        todo = [(0, at) for at in self._first]
        heapify(todo)
        while todo:
            turn, at = heappop(todo)
            key, (found, _, more) = self.all[at]
            value = found if isinstance(found, str) else plus(known[found], more) if more else known[found]
            if value and key not in wrong and key not in known:
                known[key] = value
                for other in self._given.get(key, ()):
                    heappush(todo, (turn + (other <= at), other))
        return known

    def of(self, keys: Mapping[Key, str]) -> list[Assigned]:
        """The assignments to some keys, in order."""
        return [self.all[at] for at in sorted(at for key in keys for at in self._to[key])]


class Settled(NamedTuple):
    """What sizes are made of that arrays may have before any loop: those of arguments that stay what they are, and numbers."""

    arguments: frozenset[str]
    numbers: frozenset[str]


def settled(function: ast.FunctionDef) -> Settled:
    """The arguments that stay, and the numbers, given or computed once, that are tested to be sizes before anything goes round."""
    times = assigned(function)
    arguments = frozenset(a.arg for a in function.args.args if not times[a.arg])
    computed = computed_once(function, arguments, times)
    found, pending = set[str](), {*arguments}
    for statement in function.body:
        match statement:
            case ast.If(test, [ast.Return()], []):
                found |= pending & _bounded(test)
            case ast.Assign():
                pending |= computed & {n.id for n in walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            case _ if any(isinstance(n, ast.While) for n in walk(statement)):
                pending.clear()
    return Settled(arguments, frozenset(found))


def _bounded(test: ast.expr) -> set[str]:
    """The numbers that are sizes, and not too large, where a test does not return."""
    below, above = set[str](), set[str]()
    for part in test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) else ():
        match part:
            case ast.Compare(ast.Name(name), [ast.Lt()], [ast.Constant(0)]):
                below.add(name)
            case ast.Compare(ast.Name(name), [ast.Gt()], [ast.Constant(int())]):
                above.add(name)
    return below & above


def computed_once(function: ast.FunctionDef, arguments: Collection[str], times: Mapping[str, int]) -> frozenset[str]:
    """
    The numbers that a function computes once, outside of all loops and branches, from something else than sizes: whatever has their
    value has it after that, so they stand for themselves as arguments do.
    """
    known = {*arguments}
    for target, value in _pairs([s for s in function.body if isinstance(s, ast.Assign)]):
        name = target.id if isinstance(target, ast.Name) else ""
        if NUMBER.fullmatch(name) and times[name] == 1 and source(value, "", known).found == "":
            known.add(name)
    return frozenset(known - {*arguments})


def _places(found: Iterator[tuple[Key, int]]) -> dict[Key, list[int]]:
    places: dict[Key, list[int]] = {}
    for key, at in found:
        places.setdefault(key, []).append(at)
    return places


def assignments(function: ast.FunctionDef, arguments: Collection[str]) -> Iterator[Assigned]:
    """What every key is assigned, in the order of the text."""
    axes = ("", *(str(axis) for axis in range(1 + max(map(_last_axis, walk(function)), default=-1))))
    for target, value in _pairs(function.body):
        match target:
            case ast.Name(name):
                for axis in axes:
                    yield Assigned((name, axis) if axis else (name,), source(value, axis, arguments))
            case ast.Subscript(ast.Name(memory), ast.Call(ast.Name("_cell"), [site, _, place])):
                yield Assigned((memory, ast.unparse(site), ast.unparse(place)), source(value, "", arguments))


def _last_axis(node: ast.AST) -> int:
    """The last axis that is spoken of; -1 if none is."""
    match node:
        case ast.Subscript(_, ast.Constant(int(axis))):
            return axis
        case ast.Call(ast.Name("_empty" | "_full"), [ast.Tuple(sizes), *_]):
            return len(sizes) - 1
        case _:
            return -1


def _pairs(block: list[ast.stmt]) -> Iterator[tuple[ast.expr, ast.expr]]:
    """All targets with what is assigned to them; to several, what none of them is by itself."""
    for statement in block:
        match statement:
            case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)) if len(targets) == len(values):
                yield from zip(targets, values, strict=True)
            case ast.Assign([target], value):
                yield from ((t, value) for t in (target.elts if isinstance(target, ast.Tuple) else [target]))
        for name in ("body", "orelse"):
            yield from _pairs(getattr(statement, name, []))
