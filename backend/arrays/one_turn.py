"""
A turn of a loop, followed: what names are at its end, and what it leaves in cells, in terms of what names were when it began.

    i, p, q = (0, s - 1, s)
    while True:                                           at the end of the turn   i is i + 1, s is s + 1, p is s, q is q
        …                                                 left in the cell         x is a1[i], y is x + h, both by any path
        x = float(a1[i]); y = x + h
        if x > 0.0: integers[…] = 0; s = s + 1; …
        else: integers[…] = 1; s = s + 1; …
        i, p, q = (i + 1, s - 1, q)

What paths that meet have different values for is one of two (`backend.arrays.turn_values`), or is not known.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

from backend.arrays.effects import assigned
from backend.arrays.handed import pairs
from backend.arrays.in_place import blocks
from backend.arrays.turn_values import WIDE, State, Value, above, parts, value_of
from backend.arrays.walking import names_in
from backend.status import LINKED

NOTE = "_go"
SHARED = ("_all", "_alone")


class Left(NamedTuple):
    """What a place of a cell is given, as a value and as it is written, and in which memory."""

    value: Value
    written: ast.expr
    memory: str


@dataclass(frozen=True)
class Push:
    """
    A cell that is put on top: what its places are given, which tests have been passed, and what names are; `on_top` if it has been
    tested where it goes.
    """

    places: dict[str, Left]
    passed: frozenset[str]
    names: State
    on_top: bool


@dataclass
class Turn:
    """
    loop, first   a loop, and what names are given before it
    end, pushes   what names are at the end of a turn, and the cells that a turn puts on stacks
    entered       what names are when a loop inside begins, and all that its turns assign when any of them does
    """

    loop: ast.While
    first: dict[str, str]
    end: State
    pushes: dict[str, list[Push]]
    entered: dict[int, State]

    def last(self, name: str) -> Value:
        """What a name is at the end of a turn."""
        return self.end.get(name, ("name", name))

    def counters(self) -> dict[str, int]:
        """The integers that each turn makes one more, and what they begin with."""
        return {n: int(first) for n, first in self.first.items() if first.isdecimal() and self.last(n) == above(("name", n), 1)}

    def stack(self, site: str, times: Mapping[str, int]) -> tuple[str, str] | None:
        """
        The names of the top and the base of a stack on which every turn puts one cell, over one base, if nothing else does; `times`
        says how often names are assigned.
        """
        top, pushes = f"s{site}", self.pushes.get(site, ())
        if self.last(top) != above(("name", top), 1) or times[top] != len(pushes) + 1:
            return None
        stacked = [p for p, first in self.first.items() if first == f"{top} - 1" and self.last(p) == ("name", top)]
        bases = [q for q, first in self.first.items() if first == top and self.last(q) == ("name", q)]
        return (stacked[0], bases[0]) if len(stacked) == len(bases) == 1 else None


def turns(function: ast.FunctionDef, arrays: frozenset[str]) -> list[Turn]:
    """All loops, with what they begin with if it is assigned in front of them; `arrays` are arguments whose elements stay."""
    found: list[Turn] = []
    ends: dict[int, State] = {}
    for block in reversed(blocks(function)):  # inner loops first
        for before, loop in zip([None, *block], block, strict=False):
            if isinstance(loop, ast.While):
                found.append(_Following(arrays, ends).turn(before, loop))
                ends[id(loop)] = found[-1].end
    return found


class _Following:
    """`inner` says of loops inside what names are at the end of a turn."""

    def __init__(self, arrays: frozenset[str], inner: Mapping[int, State]) -> None:
        self.arrays, self.inner, self.fresh = arrays, inner, count()
        self.ends: list[State] = []
        self.left: list[State] = []
        self.entered: dict[int, State] = {}
        self.tested: dict[str, set[str]] = {}
        self.open: dict[str, dict[str, Left]] = {}
        self.pushes: dict[str, list[Push]] = {}

    def turn(self, before: ast.stmt | None, loop: ast.While) -> Turn:
        self.ends += self.block(loop.body, {}, set())
        given = pairs(before) if isinstance(before, ast.Assign) else ()
        first = {to.id: ast.unparse(value) for to, value in given if isinstance(to, ast.Name)}
        return Turn(loop, first, self.met(self.ends), self.pushes, self.entered)

    def block(self, statements: Sequence[ast.stmt], state: State, passed: set[str]) -> list[State]:
        """The states behind the statements: one for each note of where a path leads, until that is asked; none if no path does."""
        paths = [state]
        for statement in statements:
            if (asked := _asks_note(statement)) is not None:
                paths = [then for path in paths for then in self.noted(*asked, path, passed)]
            else:
                paths = self.after(statement, self.met(paths), passed)
            if not paths:
                break
        return paths

    def noted(self, choice: ast.If, number: str, path: State, passed: set[str]) -> list[State]:
        """The states behind a choice that asks for a note, where a path has left one."""
        note = path.get(NOTE, ("name", NOTE))
        if note[0] != "number":
            return self.by_notes([s for arm in (choice.body, choice.orelse) for s in self.block(arm, dict(path), set(passed))])
        same = isinstance(choice.test, ast.Compare) and isinstance(choice.test.ops[0], ast.Eq)
        return self.block(choice.body if (note[1] == number) == same else choice.orelse, path, set(passed))

    def after(self, statement: ast.stmt, state: State, passed: set[str]) -> list[State]:
        """The states behind a statement."""
        match statement:
            case ast.If(test, [ast.Return()], []):
                self.test(test, statement, passed)
            case ast.If():
                arms = (statement.body, statement.orelse)
                return self.by_notes([s for arm in arms for s in self.block(arm, dict(state), set(passed))])
            case ast.Continue():
                self.ends.append(state)
                return []
            case ast.Break():
                self.left.append(state)
                return []
            case ast.Return():
                return []
            case ast.For(_, ast.Call(ast.Name(way), [ast.Constant(1)]), body) if way in SHARED:
                return self.block(body, state, passed)
            case ast.Assign():
                self.assign(statement, state, passed)
            case ast.While():
                return self.inside(statement, state, passed)
            case _:
                self.forget({*assigned(statement)}, state, passed)
        return [state]

    def inside(self, loop: ast.While, state: State, passed: set[str]) -> list[State]:
        """The states behind a loop in the turn: of what its turns assign, all that is known is what it does as it is left."""
        end = self.inner[id(loop)]
        carried = {name for name in _carried(loop.body)[0] if end.get(name) != ("name", name)}
        self.forget(carried, state, passed)
        self.entered[id(loop)] = dict(state)
        ends, left, pushes = self.ends, self.left, {site: len(found) for site, found in self.pushes.items()}
        self.ends, self.left = [], []
        self.block(loop.body, dict(state), set(passed))
        found, self.ends, self.left = self.left, ends, left
        for site in self.pushes:
            if f"s{site}" in carried:  # cells of other turns than that which is followed
                del self.pushes[site][pushes.get(site, 0) :]
        return self.by_notes(found)

    def by_notes(self, paths: list[State]) -> list[State]:
        """One state for all paths with the same note."""
        notes: dict[Value, list[State]] = {}
        for path in paths:
            notes.setdefault(path.get(NOTE, ("name", NOTE)), []).append(path)
        return [self.met(ways) for ways in notes.values()]

    def forget(self, names: set[str], state: State, passed: set[str]) -> None:
        for name in names:
            state[name] = self.unknown()
            passed -= self.tested.get(name, set())

    def test(self, test: ast.expr, guard: ast.If, passed: set[str]) -> None:
        """A test that has been passed holds until one of its names is assigned; that a stack is the top one, until it grows."""
        match test:
            case ast.Compare(_, [ast.NotEq()], [ast.BinOp(ast.Name(top), ast.Sub(), ast.Constant(1))]) if _status(guard) == LINKED:
                passed.add(f"top({top})")
                self.tested.setdefault(top, set()).add(f"top({top})")
            case _:
                passed.add(text := ast.unparse(test))
                for name in names_in(test):
                    self.tested.setdefault(name, set()).add(text)

    def met(self, states: Sequence[State]) -> State:
        """What is so on all paths, and of two, which value each gives."""
        if len(states) < 2:
            return states[0] if states else {}
        found: State = {}
        choice = next(self.fresh)
        for name in {name for state in states for name in state}:
            values = [state.get(name, ("name", name)) for state in states]
            if len({*values}) == 1:
                found[name] = values[0]
            elif len(values) == 2 and "unknown" not in (values[0][0], values[1][0]) and sum(map(parts, values)) < WIDE:
                found[name] = ("arms", choice, *values)
            else:
                found[name] = self.unknown()
        return found

    def unknown(self) -> Value:
        return "unknown", next(self.fresh)

    def of(self, node: ast.expr, state: State) -> Value:
        return value_of(node, state, self.arrays) or self.unknown()

    def assign(self, statement: ast.Assign, state: State, passed: set[str]) -> None:
        given = [(to, self.of(value, state), value) for to, value in pairs(statement)]
        for to, value, written in given:
            match to:
                case ast.Name(name):
                    if name[:1] == "s" and name[1:].isdecimal():
                        self.push(name, state, passed)
                    state[name] = value
                    passed -= self.tested.get(name, set())
                case ast.Subscript(ast.Name(memory), ast.Call(ast.Name("_cell"), [ast.Constant(site), _, ast.Constant(place)])):
                    self.open.setdefault(str(site), {})[str(place)] = Left(value, written, memory)

    def push(self, top: str, state: State, passed: set[str]) -> None:
        push = Push(self.open.pop(top[1:], {}), frozenset(passed), dict(state), f"top({top})" in passed)
        self.pushes.setdefault(top[1:], []).append(push)


def _asks_note(statement: ast.stmt) -> tuple[ast.If, str] | None:
    """A statement that asks for a note of where a path leads, and the number that it asks for."""
    match statement:
        case ast.If(ast.Compare(ast.Name(name), [ast.Eq() | ast.NotEq()], [ast.Constant(int(number))])) if name == NOTE:
            return statement, str(number)
        case _:
            return None


def _carried(block: Sequence[ast.stmt], again: bool = True) -> tuple[set[str], bool]:
    """The names that are assigned on ways to another turn, and whether there is one; `again` if there is one from the end."""
    found: set[str] = set()
    for statement in reversed(block):
        match statement:
            case ast.Break() | ast.Return():
                again = False
            case ast.Continue():
                again = True
            case ast.If(_, body, orelse):
                arms = [_carried(arm, again) for arm in (body, orelse)]
                found |= arms[0][0] | arms[1][0]
                again = arms[0][1] or arms[1][1]
            case _ if again:
                found |= assigned(statement).keys()
    return found, again


def _status(guard: ast.If) -> int | None:
    """The status that a guard gives."""
    match guard.body:
        case [ast.Return(ast.Tuple([*_, ast.Constant(int(found))]))]:
            return found
        case _:
            return None
