"""
What goes from one turn of a loop to the next, where that is nothing but numbers.

    t = s + x                       if m == 0: t = s + x
    …                               else:      t = x
    s = t                           m, s = (0, t)

A sum that is ZERO at first, as `m` says, may begin with -0.0 instead, which changes no bit (`backend.arrays.neutral`). Any other
number is what it is from the start.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from backend.arrays.handed import pairs
from backend.arrays.walking import walk

Block = list[ast.stmt]
STEPS = 99  # from a name to what it is another name of


@dataclass(frozen=True)
class Added:
    """
    A number that a loop carries: its name, and what the next turn is given. Of a sum that may be ZERO the name of what says whether
    it is, the statement that adds to it, and what adds to it if it is a number.
    """

    name: str
    given: str
    flag: str = ""
    statement: ast.stmt | None = None
    sum: ast.stmt | None = None


class Turns:
    """A turn of a loop, and what it gives to the next; `values` are of names that are assigned once, `times` how often each is."""

    def __init__(self, body: Block, last: ast.stmt, values: dict[str, ast.expr], times: Counter[str]) -> None:
        self.body, self.last, self.values, self.times = body, last, values, times
        self.reads = Counter(n.id for s in body for n in walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))

    def sums(self, counter: str) -> list[Added] | None:
        """The numbers that go from turn to turn, beside a counter and what stays what it is; None where something else goes."""
        found: list[Added] = []
        flags: set[str] = set()
        for to, value in pairs(self.last) if isinstance(self.last, ast.Assign) else ():
            if not isinstance(to, ast.Name) or self.times[to.id] != 2:
                return None
            match value:
                case ast.Constant(0) if isinstance(value.value, int) and not isinstance(value.value, bool):
                    flags.add(to.id)
                case ast.Name(name) if to.id == counter or self.first_name(name) == to.id:
                    pass
                case ast.Name(name) if (added := self._added(to.id, name)) is not None:
                    found.append(added)
                case ast.Name(name) if not name.startswith("a"):
                    found.append(Added(to.id, name))
                case _:
                    return None
        return found if {its.flag for its in found} - {""} == flags else None

    def first_name(self, name: str) -> str:
        """The name that a name is another one of."""
        return self._names(name)[-1]

    def _names(self, name: str) -> list[str]:
        found = [name]
        while isinstance(value := self.values.get(found[-1]), ast.Name) and len(found) < STEPS:
            found.append(value.id)
        return found

    def _added(self, name: str, given: str) -> Added | None:
        """The sum that is carried under a name, if a turn asks for nothing else of it; the next is given the second name."""
        names = self._names(given)
        if self.reads[name] != 1 or any(self.reads[n] != (n != given) for n in names):
            return None
        last = names[-1]
        for statement in self.body:
            match statement:
                case ast.Assign([ast.Name(total)], value) if total == last and self.times[total] == 1:
                    return Added(name, given) if _term(value, name) is not None else None
                case ast.If(ast.Compare(ast.Name(flag), [ast.Eq()], [ast.Constant(0)]), then, otherwise) if (
                    self.reads[flag] == 1 and self.times[last] == 2 and (made := _either(then, otherwise, name, last)) is not None
                ):
                    return Added(name, given, flag, statement, made)
        return None


def _either(then: Block, otherwise: Block, name: str, last: str) -> ast.stmt | None:
    """What adds a term to a name, if one block does so and the other has the term alone, and neither does anything else."""
    given, alone = _given(then), _given(otherwise)
    if given is None or alone is None or given.keys() & alone.keys() != {last}:
        return None
    match _through(last, given), _through(last, alone):
        case ast.BinOp() as total, ast.Name(term) if _term(total, name) == term and term not in given:
            return ast.Assign([ast.Name(last, ast.Store())], total, lineno=0)
    return None


def _given(block: Sequence[ast.stmt]) -> dict[str, ast.expr] | None:
    """What names are given in a block that does nothing else."""
    found: dict[str, ast.expr] = {}
    for statement in block:
        match statement:
            case ast.Assign([ast.Name(name)], value) if name not in found:
                found[name] = value
            case _:
                return None
    return found


def _through(name: str, given: dict[str, ast.expr]) -> ast.expr:
    """What a name is, through names that stand for others."""
    value: ast.expr = ast.Name(name, ast.Load())
    while isinstance(value, ast.Name) and value.id in given:
        value = given[value.id]
    return value


def _term(value: ast.expr, name: str) -> str | None:
    """The name of what is added to a name; None if a value is no such sum."""
    match value:
        case ast.BinOp(ast.Name(s), ast.Add(), ast.Name(term)) if s == name != term:
            return term
        case ast.BinOp(ast.Name(term), ast.Add(), ast.Name(s)) if s == name != term:
            return term
        case _:
            return None
