"""
What cells of an inner loop keep that is the same in all of its turns: kept by the cell of the turn around it.

    while True:                                         while True:
        p, q, j = (s - 1, s, 0)                             p, q, j = (s - 1, s, 0)
        while True:                                         while True:
            …                                                   …
            integers[_cell(7, s, '0')] = i                      …
            s = s + 1; …                            →           s = s + 1; …
        …                                                   …
        integers[_cell(9, r, '0')] = p                      integers[_cell(9, r, '0')] = p
        integers[_cell(9, r, '1')] = q                      integers[_cell(9, r, '1')] = q
        r = r + 1                                           r = r + 1
    …                                                   …
    t = int(integers[_cell(9, d, '0')])                 t = int(integers[_cell(9, d, '0')])
    b = int(integers[_cell(9, d, '1')])                 b = int(integers[_cell(9, d, '1')]); h = d - e + 0
    c = t                                               c = t
    while True:                                         while True:
        if c < b: return …                                  if c < b: return …
        k = int(integers[_cell(7, c, '0')])                 k = h

The cells that an inner loop has pushed in one turn of the outer one lie between the base and the top that the cell of that turn
keeps. So a loop that goes down from the one to the other reads cells of that turn alone. An integer that counts the outer turns is
told from the place of the outer cell; anything else gets a place there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from backend.arrays.counted import Pushed, Told, number, passed, place_read, with_bases
from backend.arrays.effects import assigned, unassigned
from backend.arrays.in_place import blocks
from backend.arrays.one_turn import Turn
from backend.arrays.sums_of_turns import Sum, sum_of
from backend.arrays.turn_values import Value, above
from backend.arrays.walking import unused_numbers


@dataclass(frozen=True)
class Strip:
    """
    The cells that an inner loop pushes in a turn of an outer one, whose cell has their ends.

    inner, outer   the sites                same     the places of inner cells that turns do not change, but for their number
    top, base      places of outer cells    turn, around   of the inner loop, and of the outer one
    """

    inner: str
    outer: str
    top: str
    base: str
    same: dict[str, Sum]
    turn: Turn
    around: Turn

    def of(self, name: str) -> Value:
        """What a name is in the inner loop, in terms of when the outer turn began."""
        return self.around.entered[id(self.turn.loop)].get(name, ("name", name))


def strips(function: ast.FunctionDef, turns: Sequence[Turn], shared: set[str]) -> Iterator[Strip]:
    """All strips with such places; none of the sites in `shared`, which are others' too."""
    times, fixed = assigned(function), unassigned(function)
    loops = {id(turn.loop): turn for turn in turns}
    for around in turns:
        for outer in around.pushes:
            if outer in shared or around.stack(outer, times) is None:
                continue
            for turn in (loops[loop] for loop in around.entered if loop in loops):
                for inner in turn.pushes:
                    in_order = inner not in shared and all(push.on_top for push in (*turn.pushes[inner], *around.pushes[outer]))
                    if in_order and (ends := turn.stack(inner, times)) is not None:
                        entered = around.entered[id(turn.loop)]
                        top, base = (_holding(around, outer, entered.get(name, ("name", name))) for name in ends)
                        if top and base and (same := _same(turn, inner, fixed)):
                            yield Strip(inner, outer, top, base, same, turn, around)


def _holding(turn: Turn, site: str, value: Value) -> str:
    """The place in which all pushes of a site leave a value; "" if there is none."""
    places = [{place for place, left in push.places.items() if left.value == value} for push in turn.pushes[site]]
    return min(set.intersection(*places), default="")


def _same(turn: Turn, site: str, fixed: frozenset[str]) -> dict[str, Sum]:
    """The places to which a loop gives what its turns do not change, and what is no argument; of integers, also sums of such."""
    found: dict[str, Sum] = {}
    pushes, counters = turn.pushes[site], turn.counters()
    for place in frozenset.intersection(*(frozenset(push.places) for push in pushes)):
        sums = {sum_of(push.places[place].value, turn, counters, fixed) for push in pushes}
        its = sums.pop() if len(sums) == 1 else None
        if its is not None and (its == Sum(its.names[:1]) or all(push.places[place].memory == "integers" for push in pushes)):
            found[place] = its
    return found


def hoisted_out(function: ast.FunctionDef, turns: Sequence[Turn], found: Sequence[Strip]) -> bool:
    """Has inner loops read from outer cells what is the same in all of their turns; whether there are such."""
    if not found:
        return False
    hoisting = _Hoisting(function, turns)
    for strip in found:
        hoisting.strip(strip)
    Told(hoisting.read).visit(function)
    return bool(hoisting.read)


class _Hoisting:
    def __init__(self, function: ast.FunctionDef, turns: Sequence[Turn]) -> None:
        self.function, self.turns = function, turns
        self.times, self.fixed, self.fresh = assigned(function), unassigned(function), unused_numbers(function)
        self.read: dict[str, Pushed] = {}  # integers that are read in inner loops

    def strip(self, strip: Strip) -> None:
        """The same of one strip, wherever a loop goes through it."""
        for block in blocks(self.function):
            ends: dict[str, dict[str, str]] = {}  # by outer cells, the names of what has been read of them
            for statement, bases in with_bases([*block]):
                for place in (strip.top, strip.base):
                    if (cell := _read(statement, strip.outer, place)) is not None:
                        ends.setdefault(cell, {})[place] = ast.unparse(statement.targets[0])  # type: ignore[attr-defined]
                        if len(ends[cell]) == 2:
                            lines = self.lines(strip, cell, bases.get(cell, ""), ends[cell][strip.top], ends[cell][strip.base])
                            at = block.index(statement) + 1
                            block[at:at] = ast.parse("\n".join(lines)).body
                if ends:
                    names = assigned(statement)
                    ends = {cell: named for cell, named in ends.items() if cell not in names}

    def lines(self, strip: Strip, cell: str, floor: str, top: str, base: str) -> list[str]:
        """What is read from the outer cell, for the loops that go down from the top to the base of its strip."""
        found: dict[str, tuple[str, str]] = {}  # by names of the inner loop, a name, and the text of what it is
        for statement, place, number_of_turn in self.through(strip, top, base):
            its = strip.same[place]
            texts = {name: self.told(strip, place, name, cell, floor) for name in its.names if name not in found}
            if all(texts.values()):
                found |= {x: (f"{'x' if text.startswith('float') else 'i'}{next(self.fresh)}", text) for x, text in texts.items()}
                parts = [*(found[name][0] for name in its.names), *([number_of_turn] if its.counts else [])]
                self.is_now(statement, " + ".join([*parts, *([str(its.more)] if its.more else [])]), strip, place)
        return [f"{name} = {text}" for name, text in found.values()]

    def through(self, strip: Strip, top: str, base: str) -> Iterator[tuple[ast.Assign, str, str]]:
        """
        What loops that go down from the top to the base read of inner cells, in which places, that turns do not change but for
        their number, and the text of that.
        """
        for turn in self.turns if self.times[top] == self.times[base] == 1 else ():
            counters = [c for c, first in turn.first.items() if first == top and turn.last(c) == above(("name", c), -1)]
            floors = [b for b, first in turn.first.items() if first == base and turn.last(b) == ("name", b)]
            if len(counters) == len(floors) == 1:
                for statement, bases in (pair for block in blocks(turn.loop) for pair in with_bases(block)):  # type: ignore[arg-type]
                    match place_read(statement):
                        case ((site, place), cell) if (site, cell, bases.get(cell)) == (strip.inner, counters[0], floors[0]):
                            if place in strip.same:
                                assert isinstance(statement, ast.Assign)
                                yield statement, place, f"({cell} - {floors[0]})"

    def is_now(self, statement: ast.Assign, text: str, strip: Strip, place: str) -> None:
        """What was read from an inner cell is read no more; an integer has passed the tests that were made before it was pushed."""
        statement.value = ast.parse(text, mode="eval").body
        to, its = ast.unparse(statement.targets[0]), strip.same[place]
        if self.times[to] == 1:
            least = [number(strip.of(name), strip.around.counters()) for name in its.names]
            known = [n for n in least if n is not None]
            above_turn = sum(known) + its.more if len(known) == len(least) else None
            self.read[to] = Pushed(above_turn, passed(strip.turn.pushes[strip.inner], place, self.fixed))

    def told(self, strip: Strip, place: str, name: str, cell: str, floor: str) -> str:
        """The text of a name of the inner loop, given the outer cell; "" if it is another at the end of the turn."""
        above_turn = number(strip.of(name), strip.around.counters())
        if floor and above_turn is not None:
            return f"{cell} - {floor} + {above_turn}"
        pushes = strip.around.pushes[strip.outer]
        memory = strip.turn.pushes[strip.inner][0].places[place].memory
        if any(push.names.get(name, ("name", name)) != strip.of(name) for push in pushes):
            return ""
        kept, top = f"{strip.inner}_{place}_{strip.same[place].names.index(name)}", f"s{strip.outer}"
        if kept not in pushes[0].places:
            for block in blocks(strip.around.loop):  # type: ignore[arg-type]
                for at, statement in reversed([*enumerate(block)]):
                    if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == top:
                        block[at:at] = ast.parse(f"{memory}[_cell({strip.outer}, {top}, {kept!r})] = {name}").body
            for push in pushes:
                push.places[kept] = push.places[strip.top]._replace(memory=memory)
        return f"{'float' if memory == 'reals' else 'int'}({memory}[_cell({strip.outer}, {cell}, {kept!r})])"


def _read(statement: ast.stmt, site: str, place: str) -> str | None:
    """The cell, if a statement reads this place of it."""
    found = place_read(statement)
    return found[1] if found is not None and found[0] == (site, place) else None
