"""
What a turn of a loop does to the elements of arrays that it carries, and at which index: the ground of `backend.arrays.whole`.

An index is a sum of names with factors, and of a number. One that is what a counter of turns is above a base, `c - b + 2`, where a
turn begins with `if c < b: return`, is another in every turn, and is not negative.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from backend.arrays.effects import assigned
from backend.arrays.handed import pairs
from backend.arrays.walking import walk

Block = list[ast.stmt]
Linear = frozenset[tuple[str, int]]
"""A sum of names with their factors, none of which is 0; the name of the number is ""."""
SIZE = re.compile(r"\w+\.shape\[\d+\]")


@dataclass(frozen=True)
class Event:
    """
    A turn reads an element of an array ("read"), stores True, False or something else there, or does what is not known ("other").
    `always` says that every turn does so.
    """

    kind: str
    node: ast.Subscript | None = None
    at: Linear = frozenset()
    always: bool = False


def once(function: ast.FunctionDef) -> dict[str, ast.expr]:
    """The names that are assigned once, with what they are assigned; no arguments, which have been given something else before."""
    times = assigned(function)
    times.update(argument.arg for argument in function.args.args)
    given = (pair for n in walk(function) if isinstance(n, ast.Assign) for pair in pairs(n))
    return {to.id: value for to, value in given if isinstance(to, ast.Name) and times[to.id] == 1}


def linear(node: ast.expr, values: dict[str, ast.expr], sign: int = 1) -> Linear:
    """An integer as a sum, through the names in `values`; anything else counts as a name, by its text."""
    found: Counter[str] = Counter()
    todo = [(node, sign)]
    while todo:
        match todo.pop():
            case ast.Constant(int(value)), factor:
                found[""] += factor * value
            case ast.BinOp(a, ast.Add() | ast.Sub() as op, b), factor:
                todo += [(a, factor), (b, factor if isinstance(op, ast.Add) else -factor)]
            case ast.Name(name), factor if isinstance(values.get(name), ast.Name | ast.BinOp):
                todo.append((values[name], factor))
            case other, factor:
                found[ast.unparse(other)] += factor
    return frozenset((name, factor) for name, factor in found.items() if factor)


def less(one: Linear, other: Linear) -> Linear:
    """The difference of two sums."""
    found = Counter(dict(one))
    found.subtract(dict(other))
    return frozenset((name, factor) for name, factor in found.items() if factor)


class Turn:
    """
    A turn of a loop.

    carried    for every name that the next turn is given by a name, that
    stands     for names of this turn, which of the carried ones had that memory when the turn began
    events     for each of the carried, what the turn does to its elements, in order
    """

    def __init__(self, loop: ast.While, body: Block, last: ast.Assign, values: dict[str, ast.expr]) -> None:
        self.values = values
        self.carried = {to.id: v.id for to, v in pairs(last) if isinstance(to, ast.Name) and isinstance(v, ast.Name)}
        self.stands = {name: name for name in self.carried}
        self.events: dict[str, list[Event]] = {name: [] for name in self.carried}
        self.set_here = {n.id for n in walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self.others: set[str] = set()  # names that were given another memory, too
        self.bases: set[Linear] = set()
        self._run(body, always=True)
        counts = Counter(self.stands.get(new, "") for new in self.carried.values())
        for name, new in self.carried.items():
            if self.stands.get(new) != name or counts[name] > 1:
                self.events[name].append(Event("other"))

    def is_own(self, at: Linear) -> bool:
        """Whether an index is another in every turn, and not negative."""
        names = {name: factor for name, factor in at if name}
        counters = [n for n, factor in names.items() if factor == 1 and self._steps(n)]
        return (
            len(counters) == 1
            and self._is_above(at)
            and not {n.partition(".")[0] for n in names if n not in counters} & self.set_here
            and all(n.isidentifier() or SIZE.fullmatch(n) for n in names)
        )

    def comes_later(self, other: Linear, at: Linear) -> bool:
        """Whether an index is none that `at`, another in every turn, is in this turn or was in one before; and not negative."""
        steps = [step for name, _ in at if (step := self._steps(name))]
        ahead = dict(less(other, at))
        return len(steps) == 1 and ahead.keys() == {""} and ahead[""] * steps[0] > 0 and self._is_above(other)

    def _is_above(self, at: Linear) -> bool:
        """Whether an index is not negative, as a turn is left where it would be."""
        return any(all(not name and more > 0 for name, more in less(at, base)) for base in self.bases)

    def _steps(self, counter: str) -> int:
        """The number that each turn adds to a name; 0 for none, or more than one."""
        if counter not in self.carried:
            return 0
        step = dict(linear(ast.parse(f"{self.carried[counter]} - {counter}", mode="eval").body, self.values))
        return step[""] if step.keys() == {""} else 0

    def _run(self, block: Block, always: bool) -> None:
        for statement in block:
            match statement:
                case ast.If(
                    ast.UnaryOp(ast.Not(), ast.Subscript() as asked),
                    [ast.Assign([ast.Subscript() as stored], ast.Constant(True))],
                    [],
                ):
                    self._read(asked)
                    self._store(stored, "True", always and ast.unparse(asked) == ast.unparse(stored))
                case ast.If(test, body, orelse):
                    self._read(test)
                    match statement:
                        case ast.If(ast.Compare(a, [ast.Lt()], [b]), [ast.Return()], []) if always:
                            self.bases.add(linear(ast.BinOp(a, ast.Sub(), b), self.values))
                    self._run(body, False)
                    self._run(orelse, False)
                case ast.For(_, ast.Call(ast.Name("range"), [ast.Constant(1)]), body):
                    self._run(body, always)
                case ast.Assign():
                    self._assign(statement, always)
                case _:
                    self._read(statement, inner=True)

    def _assign(self, statement: ast.Assign, always: bool) -> None:
        given = [*pairs(statement)]
        for _, value in given:
            if not isinstance(value, ast.Name):
                self._read(value)
        memory = [self.stands.get(value.id) if isinstance(value, ast.Name) else None for _, value in given]
        for (target, value), array in zip(given, memory, strict=True):
            match target:
                case ast.Name(name):
                    self._name(name, array)
                case ast.Subscript():
                    kind = str(value.value) if isinstance(value, ast.Constant) and isinstance(value.value, bool) else "store"
                    self._store(target, kind, always)
                    self._read(target.slice)
                case _:
                    self._read(target, inner=True)

    def _name(self, name: str, array: str | None) -> None:
        """A name is given the memory of an array that is carried, or another."""
        known = self.stands.get(name)
        if (known is not None or name in self.others) and (known != array or name in self.others):
            for one in {known, array} - {None}:
                self.events[str(one)].append(Event("other"))
        if array is None:
            self.others.add(name)
        else:
            self.stands[name] = array

    def _store(self, node: ast.Subscript, kind: str, always: bool) -> None:
        if isinstance(node.value, ast.Name) and (array := self.stands.get(node.value.id)) is not None:
            self.events[array].append(Event(kind, node, linear(node.slice, self.values), always))

    def _read(self, node: ast.AST, *, inner: bool = False) -> None:
        """Notes the elements that are read; `inner` says that it may be done many times, and that it may store."""
        for array, found in self._mentions(node):
            known = found is not None and not inner and isinstance(found.ctx, ast.Load)
            self.events[array].append(Event("read", found, linear(found.slice, self.values)) if known and found else Event("other"))

    def _mentions(self, node: ast.AST) -> Iterator[tuple[str, ast.Subscript | None]]:
        """Where something mentions an array that is carried; but for its sizes."""
        match node:
            case ast.Attribute(ast.Name(), "shape"):
                pass
            case ast.Subscript(ast.Name(name), index) if name in self.stands:
                yield self.stands[name], node
                yield from self._mentions(index)
            case ast.Name(name) if name in self.stands and isinstance(node.ctx, ast.Load):
                yield self.stands[name], None
            case _:
                for part in ast.iter_child_nodes(node):
                    yield from self._mentions(part)
