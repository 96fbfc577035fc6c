"""
Loops in loops over cells, as the adjoint of loops in loops is, where each turn of the outer one goes through the inner one.

    c, b, g = (p - 1, p - n, m)
    while True:
        if c >= b:                                      a turn of the outer loop
            d, e, h = (q - 1, q - k, g)
            while True:
                if d >= e: …; d = d - 1                 a turn of the inner loop
                else: c, g = (c - 1, h); break          and on, to the next outer turn
        else: …                                         the rest
        if _go != …: break                              perhaps: the inner loop goes on here, the rest may leave

A turn of the inner loop may go through further loops in the same way, which are not looked into.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from backend.arrays.fills import DOWN, Fills, asked
from backend.arrays.handed import pairs
from backend.arrays.in_place import Block, blocks
from backend.arrays.takes import Event, Linear, Turn, linear
from backend.arrays.walking import mentions, names_in

Values = dict[str, ast.expr]
Given = Mapping[str, ast.expr]
Past = tuple[ast.While, ast.Assign]  # a loop that a turn goes through, and the assignment in it with which the turn goes on


@dataclass(frozen=True)
class Way:
    """
    What a turn does.

    body     until names are given what they are for another turn          last     that assignment
    past     loops that it goes through meanwhile                          goes     where it says that it goes on
    """

    body: Block
    last: ast.Assign
    past: tuple[Past, ...] = ()
    goes: str | None = None


@dataclass(frozen=True)
class Nesting:
    """
    A loop that has a turn where `counter >= base`.

    given   what its names are before it         body   a turn
    next    what they are for another turn       rest   what comes after the last
    """

    counter: str
    base: ast.expr
    given: Given
    next: Given
    body: Block
    rest: Block

    def number(self, values: Values) -> Linear:
        """The number of the turn, if each takes one from the counter and the base stays."""
        return linear(ast.BinOp(ast.Name(self.counter, ast.Load()), ast.Sub(), self.base), values)

    def goes_down(self, values: Values) -> bool:
        """Whether each turn has the number before, as its counter goes down to a base that stays."""
        step = linear(ast.BinOp(self.next[self.counter], ast.Sub(), ast.Name(self.counter, ast.Load())), values)
        return step == DOWN and not names_in(self.base) & self.next.keys()

    def turns(self, values: Values, steady: Values) -> Linear | None:
        """One less than there are turns, which have numbers down to 0; None if they go otherwise."""
        base = self.given.get(self.base.id, self.base) if isinstance(self.base, ast.Name) else self.base
        if not self.goes_down(values) or self.counter not in self.given:
            return None
        return linear(ast.BinOp(self.given[self.counter], ast.Sub(), base), steady)


@dataclass(frozen=True)
class Nest:
    """An outer loop whose turns go through an inner one, and what a turn of that does, and goes through itself."""

    outer: Nesting
    inner: Nesting
    turn: Turn
    past: tuple[Past, ...]

    def is_at(self, event: Event, values: Values) -> bool:
        """Whether an element is that of the two turns, by their numbers: of each pair of turns, another."""
        if event.node is None or not isinstance(event.node.slice, ast.Tuple):
            return False
        return [linear(index, values) for index in event.node.slice.elts] == [self.outer.number(values), self.inner.number(values)]

    def handed(self, mask: str) -> str | None:
        """What the inner loop calls a name of the outer one that is handed to it alone, and handed back as it leaves it."""
        named = [name for name, value in self.inner.given.items() if isinstance(value, ast.Name) and value.id == mask]
        after = self.outer.next.get(mask)
        alone = len(named) == 1 and mentions(self.outer.body)[mask] == 1
        return named[0] if alone and isinstance(after, ast.Name) and named == [after.id] else None

    def events(self, name: str) -> list[Event]:
        """What a turn of the inner loop does to an array, in order; nothing if that is not all known."""
        known = {one for one, of in self.turn.stands.items() if of == name}
        for loop, last in self.past:
            if any(mentions([loop])[one] != mentions([last])[one] for one in known):
                return []
        if known & mentions(self.inner.rest).keys():
            return []
        return self.turn.events.get(name, [])


def nests(function: ast.FunctionDef, fills: Fills) -> Iterator[Nest]:
    """The loops in loops of a function, each of whose counters is what it is told before the loop and in its turns."""
    values = fills.values
    for block in blocks(function):
        for before, loop in pairwise(block):
            match before, chosen(loop):
                case ast.Assign(), ast.If(around, [*body, ast.Assign() as first, ast.While() as inside], rest) if not _jumps(body):
                    match chosen(inside):
                        case ast.If(within, does, orelse):
                            way, on = way_of(does), way_of(orelse)
                            if way is None or on is None or on.past:
                                continue
                            outer = _down(around, before, on.last, [*body, first], rest, values)
                            inner = _down(within, first, way.last, way.body, on.body, values)
                            if outer and inner and fills.times[outer.counter] == fills.times[inner.counter] == 2:
                                yield Nest(outer, inner, Turn(inside, way.body, _carried(inner), values), way.past)


def _carried(loop: Nesting) -> ast.Assign:
    """What names are for another turn, with those that stay what they were handed."""
    stay = [name for name, value in loop.given.items() if isinstance(value, ast.Name) and name not in loop.next]
    names = [*loop.next, *stay]
    values = [*loop.next.values(), *(ast.Name(name, ast.Load()) for name in stay)]
    return ast.Assign([ast.Tuple([ast.Name(name, ast.Store()) for name in names], ast.Store())], ast.Tuple(values, ast.Load()))


def way_of(block: Block) -> Way | None:
    """What a turn does that goes on, or goes on after a loop; and what is done on the way out of one."""
    goes = [place for s in block if (place := _went(s)) is not None]
    match [s for s in block if _went(s) is None and not isinstance(s, ast.Break | ast.Continue)]:
        case [*body, ast.Assign() as last] if not _jumps(body):
            return Way(body, last, (), goes[-1] if goes else None)
        case [*body, ast.Assign() as first, ast.While() as loop] if not _jumps(body):
            choice = chosen(loop)
            on = way_of(choice.orelse) if choice is not None else None
            if on is not None and not on.past:
                return Way([*body, first, *on.body], on.last, ((loop, on.last),), on.goes)
    return None


def chosen(loop: ast.stmt) -> ast.If | None:
    """Whether a loop takes another turn: the choice which is all that is left to it, where it goes on, or else leaves."""
    if not isinstance(loop, ast.While):
        return None
    out, place = isinstance(loop.body[-1], ast.Break), _leaves(loop)
    match loop.body[: len(loop.body) - (out or place is not None)]:
        case [*before, ast.If(_, [*_, end] as turn, [*_, last]) as choice] if not _jumps(before):
            leaves = out or place is not None or isinstance(last, ast.Break)
            if isinstance(end, ast.Continue):
                return choice if leaves else None
            way = way_of(turn)
            goes_on = way is not None and not out and not isinstance(end, ast.Break) and place in (None, way.goes)
            return choice if leaves and goes_on else None
        case _:
            return None


def _jumps(statements: Block) -> bool:
    """Whether something else may leave the loop that these are in, or begin its next turn; that it returns does no harm."""
    todo: list[ast.stmt] = [*statements]
    while todo:
        match todo.pop():
            case ast.Break() | ast.Continue():
                return True
            case ast.If(_, body, orelse):
                todo += [*body, *orelse]
    return False


def _leaves(loop: ast.stmt) -> str | None:
    """Where a loop goes on itself, if it is left in its end whenever it is said to go on elsewhere."""
    match loop:
        case ast.While(_, [*_, ast.If(ast.Compare(ast.Name("_go"), [ast.NotEq()], [ast.Constant(place)]), [ast.Break()], [])]):
            return str(place)
        case _:
            return None


def _went(statement: ast.stmt) -> str | None:
    """Where a statement says that it goes on."""
    match statement:
        case ast.Assign([ast.Name("_go")], ast.Constant(place)):
            return str(place)
        case _:
            return None


def _down(test: ast.expr, before: ast.Assign, after: ast.Assign, body: Block, rest: Block, values: Values) -> Nesting | None:
    question, next = asked(test, values), _given(after)
    return Nesting(*question, _given(before), next, body, rest) if question is not None and question[0] in next else None


def _given(statement: ast.Assign) -> Given:
    return {to.id: value for to, value in pairs(statement) if isinstance(to, ast.Name)}
