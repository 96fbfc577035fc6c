"""
Loops in loops over cells which make every element of a mask of two axes True: the inner one a row, the outer one all rows.

    c, b, g = (p - 1, p - n, _full((n, m), False, _bool))
    while True:
        if c >= b:
            d, e, h = (q - 1, q - m, g)
            while True:
                if d >= e: …h[c - b, d - e] = True; d = d - 1…
                else: c, g = (c - 1, h); break
        else: …                                          here g is True everywhere

So it is with the adjoint of a matrix that loops in loops read by index.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from backend.arrays.fills import DOWN, ONE, Fills, asked
from backend.arrays.handed import pairs
from backend.arrays.in_place import Block, blocks
from backend.arrays.takes import Linear, Turn, less, linear
from backend.arrays.walking import mentions, names_in, walk

Values = dict[str, ast.expr]
Given = Mapping[str, ast.expr]


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

    def turns(self, values: Values, steady: Values) -> Linear | None:
        """One less than there are turns, which have numbers down to 0; None if they go otherwise."""
        step = linear(ast.BinOp(self.next[self.counter], ast.Sub(), ast.Name(self.counter, ast.Load())), values)
        base = self.given.get(self.base.id, self.base) if isinstance(self.base, ast.Name) else self.base
        if step != DOWN or names_in(self.base) & self.next.keys() or self.counter not in self.given:
            return None
        return linear(ast.BinOp(self.given[self.counter], ast.Sub(), base), steady)


def filled_by_nests(function: ast.FunctionDef, fills: Fills) -> set[int]:
    """The mentions of masks where a loop in a loop has made all their elements True."""
    values, steady, times = fills.values, fills.steady, fills.times
    found: set[int] = set()
    for outer, inner, turn in _nests(function, values):
        if times[outer.counter] == times[inner.counter] == 2:
            sizes = [outer.turns(values, steady), inner.turns(values, steady)]
            for mask, made in outer.given.items():
                if times[mask] == 2 and _shape(made, steady) == sizes and _is_filled(mask, outer, inner, turn, values):
                    found |= {id(n) for s in outer.rest for n in walk(s) if isinstance(n, ast.Name) and n.id == mask}
    return found


def _shape(made: ast.expr, steady: Values) -> list[Linear | None]:
    """One less than the sizes of a mask that is made; nothing of anything else."""
    match made:
        case ast.Call(ast.Name("_full"), [ast.Tuple([rows, columns]), _, ast.Name("_bool")]):
            return [less(linear(size, steady), ONE) for size in (rows, columns)]
        case _:
            return []


def _nests(function: ast.FunctionDef, values: Values) -> Iterator[tuple[Nesting, Nesting, Turn]]:
    """The loops whose turns end with a loop, with that, and what a turn of that does."""
    for block in blocks(function):
        for before, loop in pairwise(block):
            match before, _choice(loop):
                case ast.Assign(), ast.If(around, [*body, ast.Assign() as first, ast.While() as inside], rest):
                    match _choice(inside):
                        case ast.If(within, [*does, ast.Assign() as last, ast.Continue()], orelse):
                            match [s for s in orelse if not isinstance(s, ast.Break)]:
                                case [*_, ast.Assign() as after]:
                                    outer = _down(around, before, after, [*body, first], rest, values)
                                    inner = _down(within, first, last, does, [], values)
                                    if outer is not None and inner is not None:
                                        yield outer, inner, Turn(inside, does, last, values)


def _choice(loop: ast.stmt) -> ast.stmt | None:
    """The last statement of a loop, but for the jump out."""
    left = [s for s in loop.body if not isinstance(s, ast.Break)] if isinstance(loop, ast.While) else []
    return left[-1] if left else None


def _down(test: ast.expr, before: ast.Assign, after: ast.Assign, body: Block, rest: Block, values: Values) -> Nesting | None:
    question, next = asked(test, values), _given(after)
    return Nesting(*question, _given(before), next, body, rest) if question is not None and question[0] in next else None


def _given(statement: ast.Assign) -> Given:
    return {to.id: value for to, value in pairs(statement) if isinstance(to, ast.Name)}


def _is_filled(mask: str, outer: Nesting, inner: Nesting, turn: Turn, values: Values) -> bool:
    """Whether an outer turn hands a mask to the inner loop alone, which makes the elements of a row True, one in each turn."""
    named = [name for name, value in inner.given.items() if isinstance(value, ast.Name) and value.id == mask]
    after = outer.next.get(mask)
    if len(named) != 1 or mentions(outer.body)[mask] != 1 or not isinstance(after, ast.Name) or named != [after.id]:
        return False
    events = turn.events.get(named[0], [])
    if not events or not {e.kind for e in events} <= {"True", "read"}:
        return False
    numbers = [outer.number(values), inner.number(values)]
    return any(
        e.kind == "True"
        and e.always
        and e.node is not None
        and isinstance(e.node.slice, ast.Tuple)
        and [linear(index, values) for index in e.node.slice.elts] == numbers
        for e in events
    )
