"""
Loops over cells from the last to the first: turns that have numbers, one less each time, down to 0.

    c, b, … = (p - 1, p - n, …)
    while True:
        if c >= b:
            …c - b…                 the number of the turn
            c, … = (c - 1, …)
        else: …

So do the loops of an adjoint. What a turn accesses by its number no other turn accesses by its own, and the first has the largest.
"""

from __future__ import annotations

import ast
from collections import Counter
from copy import deepcopy
from dataclasses import dataclass

from backend.arrays.carried import is_guard
from backend.arrays.takes import Linear, Turn, less, linear
from backend.arrays.walking import names_in, walk

Block = list[ast.stmt]
ONCE = "range(1)"


@dataclass(frozen=True)
class Down:
    """
    A loop whose turns have the numbers `counter - base`, one less each time, down to 0.

    choice  whether there is a turn: what it does, and what comes after the last
    rest    the latter, without the jump out of the loop
    """

    counter: str
    base: str
    loop: ast.While
    choice: ast.If
    rest: Block
    turn: Turn
    number: Linear

    def above(self, index: ast.expr) -> int | None:
        """How far an index is above the number of the turn, None if it is not, or may be negative."""
        at = linear(index, self.turn.values)
        more = dict(less(at, self.number))
        return more.get("", 0) if not any(more.keys()) and self.turn.is_own(at) else None

    def place(self, above: int) -> str:
        """The index that is so far above."""
        return f"{self.counter} - {self.base} + {above}"


def going_down(loop: ast.stmt, values: dict[str, ast.expr], times: Counter[str]) -> Down | None:
    """A loop without loops inside whose counter goes down; `values` are those of names that are assigned once."""
    match loop:
        case ast.While(_, [*_, ast.If(_, [*body, ast.Assign() as last, ast.Continue()], [*rest, ast.Break()]) as choice]):
            turn = Turn(loop, body, last, values)
        case ast.While(_, [*_, ast.If(_, [*body, ast.Assign() as last, ast.Continue()], rest) as choice, ast.Break()]):
            turn = Turn(loop, body, last, values)
        case _:
            return None
    if any(isinstance(n, ast.While) or (isinstance(n, ast.For) and not is_once(n)) for s in body for n in walk(s)):
        return None
    for counter, base in filter(None, map(cell_asked, body)):
        steps = times[counter] == 2 and counter in turn.carried and base not in turn.set_here
        step = ast.parse(f"{turn.carried.get(counter)} - {counter}", mode="eval").body
        if steps and linear(step, values) == frozenset({("", -1)}):
            number = linear(ast.parse(f"{counter} - {base}", mode="eval").body, values)
            return Down(counter, base, loop, choice, rest, turn, number)
    return None


def cell_asked(node: ast.AST) -> tuple[str, str] | None:
    """(c, b) of a statement that ends the function where c < b: there is no cell above the base."""
    match node:
        case ast.If(ast.Compare(ast.Name(c), [ast.Lt()], [ast.Name(b)]), [ast.Return()], []):
            return c, b
        case _:
            return None


def is_once(loop: ast.For) -> bool:
    return ast.unparse(loop.iter) == ONCE


def asked_first(down: Down) -> tuple[Block, Block]:
    """Tests before the loop whether indices are inside: those of the first turn, which are the largest; and a turn without them."""
    found: dict[str, ast.stmt] = {}
    left: Block = []
    for statement in down.choice.body:
        match statement:
            case ast.If(
                ast.BoolOp(
                    ast.Or(), [ast.Compare(i, [ast.Lt()], [ast.UnaryOp(ast.USub(), below)]), ast.Compare(j, [ast.GtE()], [size])]
                ),
                [out],
                [],
            ) if (
                is_guard(statement)
                and ast.dump(i) == ast.dump(j)
                and ast.dump(below) == ast.dump(size)
                and (above := down.above(i)) is not None
                and not names_in(size) & down.turn.set_here
            ):
                test = f"{down.counter} >= {down.base} and {down.place(above)} >= {ast.unparse(size)}"
                found[test] = ast.If(ast.parse(test, mode="eval").body, [deepcopy(out)], [])
            case _:
                left.append(statement)
    return [*found.values()], left
