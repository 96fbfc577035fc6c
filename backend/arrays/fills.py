"""
Loops over cells: which make every element of a mask True, and of which the first turn has been taken before.

    g = _full((n,), False, _bool)
    g[n - 1] = True
    c, b, m = (p - 1, p - (n - 1), g)
    while True:
        if c >= b: …m[c - b] = True; c = c - 1…
        else: …                                       here m is True everywhere

An adjoint takes its first turn before the loop. So what goes over the mask afterwards may begin with one that has an element less.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from backend.arrays.effects import assigned
from backend.arrays.handed import pairs
from backend.arrays.in_place import blocks
from backend.arrays.takes import Linear, Turn, less, linear, once
from backend.arrays.walking import names_in, walk

Block = list[ast.stmt]
ONE, TWO, DOWN = frozenset({("", 1)}), frozenset({("", 2)}), frozenset({("", -1)})


@dataclass(frozen=True)
class Going:
    """
    A loop that goes on in one place.

    block  what comes before it          given  what its names are before it
    body   what a turn consists of       turn   what that does
    asks   (c, b) if it goes on where c >= b
    rest   what comes after the last turn
    """

    block: Block
    given: dict[str, ast.expr]
    body: Block
    turn: Turn
    asks: tuple[str, ast.expr] | None
    rest: Block

    def above(self, at: Linear) -> int | None:
        """What an index is in the last turn, if each turn takes one from it; None if not."""
        if self.asks is None or self.asks[0] not in self.turn.carried:
            return None
        c, b = self.asks
        step = linear(ast.parse(f"{self.turn.carried[c]} - {c}", mode="eval").body, self.turn.values)
        left = less(at, linear(ast.BinOp(ast.Name(c, ast.Load()), ast.Sub(), b), self.turn.values))
        return dict(left).get("", 0) if step == DOWN and all(not name for name, _ in left) else None

    def first(self, at: Linear, values: dict[str, ast.expr]) -> Linear | None:
        """The same in the first turn."""
        more = self.above(at)
        if more is None or self.asks is None or self.asks[0] not in self.given:
            return None
        c, b = self.asks
        base = self.given.get(b.id, b) if isinstance(b, ast.Name) else b
        return linear(ast.BinOp(ast.BinOp(self.given[c], ast.Sub(), base), ast.Add(), ast.Constant(more)), values)


def goings(function: ast.FunctionDef) -> Iterator[Going]:
    """Every such loop."""
    values = once(function)
    for block in blocks(function):
        for at, (before, loop) in enumerate(pairwise(block)):
            match before, loop:
                case ast.Assign([ast.Tuple()]), ast.While(_, [*_, ast.If() as turn] | [*_, ast.If() as turn, ast.Break()]):
                    match turn:
                        case ast.If(test, [*body, ast.Assign() as last, ast.Continue()], rest):
                            given = {to.id: value for to, value in pairs(before) if isinstance(to, ast.Name)}
                            made = Turn(loop, body, last, values)
                            asks = asked(test, values) if names_in(test) <= made.set_here else None
                            yield Going(block[: at + 1], given, body, made, asks, rest)


def asked(test: ast.expr, values: dict[str, ast.expr]) -> tuple[str, ast.expr] | None:
    """(c, b) where a test asks whether c >= b."""
    match test:
        case ast.Name(name) if name in values:
            return asked(values[name], values)
        case ast.Compare(ast.Name(name), [ast.Gt()], [ast.Constant(0)]):
            match values.get(name):
                case ast.IfExp(ast.Compare(ast.Name(c), [ast.GtE()], [base]), ast.Constant(2), ast.Constant(0)):
                    return (c, base) if isinstance(base, ast.Name | ast.Constant) else None
    return None


class Fills:
    """What is known of a function's masks by how loops over cells go."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self.times, values = assigned(function), once(function)
        self.values = values
        self.steady = {name: value for name, value in values.items() if all(self.times[n] < 2 for n in names_in(value))}
        self.stored: dict[str, list[tuple[ast.expr, ast.expr]]] = {}
        for node in walk(function):
            for target, value in pairs(node) if isinstance(node, ast.Assign) else ():
                match target:
                    case ast.Subscript(ast.Name(name), at):
                        self.stored.setdefault(name, []).append((at, value))

    def exits(self, loops: list[Going]) -> set[int]:
        """The mentions of masks where a loop has made all their elements True."""
        found: set[int] = set()
        for loop in loops:
            filled = {
                mask for mask in loop.turn.carried.keys() & loop.given.keys() if self.times[mask] == 2 and self._fills(loop, mask)
            }
            if filled:
                found |= {id(n) for s in loop.rest for n in walk(s) if isinstance(n, ast.Name) and n.id in filled}
        return found

    def _fills(self, loop: Going, mask: str) -> bool:
        """Whether turns make every element True that was not so before."""
        events, size = loop.turn.events[mask], self._size(loop.given[mask])
        if size is None or not {e.kind for e in events} <= {"True", "read"}:
            return False
        for at in {e.at for e in events if e.kind == "True" and e.always}:
            first = loop.first(at, self.steady) if loop.turn.is_own(at) and loop.above(at) == 0 else None
            left = None if first is None else less(size, first)
            if left == ONE or (left == TWO and self._is_there(loop, loop.given[mask], less(size, ONE))):
                return True
        return False

    def _size(self, mask: ast.expr) -> Linear | None:
        """The size of a mask that is made in one place, whose elements are only made True before a loop has it."""
        names = self._names(mask)
        match self.values.get(names[-1]) if names else mask:
            case ast.Call(ast.Name("_full"), [ast.Tuple([size]), _, ast.Name("_bool")]):
                stored = [value for name in names for _, value in self.stored.get(name, ())]
                return linear(size, self.steady) if all(isinstance(v, ast.Constant) and v.value is True for v in stored) else None
        return None

    def _names(self, mask: ast.expr) -> list[str]:
        """The names that an array has had, the last one first."""
        found: list[str] = []
        while isinstance(mask, ast.Name) and mask.id in self.values and mask.id not in found:
            found.append(mask.id)
            mask = self.values[mask.id]
        return found

    def _is_there(self, loop: Going, mask: ast.expr, at: Linear) -> bool:
        """Whether an element has been made True before the loop."""
        names = self._names(mask)
        return any(one == at and value is True for name, one, value, _ in self._stores(loop) if name in names)

    def _stores(self, loop: Going) -> Iterator[tuple[str, Linear, object, ast.Subscript]]:
        """What is stored in elements in the block of a loop, whatever comes."""
        todo = [*loop.block]
        for statement in todo:
            match statement:
                case ast.Assign([ast.Subscript(ast.Name(name), at) as to], value):
                    yield name, linear(at, self.steady), getattr(value, "value", None), to
                case ast.For(_, ast.Call(ast.Name("range"), [ast.Constant(1)]), body):
                    todo += body

    def before(self, loop: Going, mask: str, at: Linear) -> tuple[ast.Name, tuple[ast.Subscript, ...]] | None:
        """
        The mask from which the first turn has taken one element, and where it was read, if a loop takes others of the rest: the
        index of that is above all of the loop's. More may have been made True.
        """
        first, names = loop.first(at, self.steady), self._names(loop.given[mask])
        whole = self.values[names[-1]] if names else None
        if first is None or not isinstance(whole, ast.Name):
            return None
        stored = [getattr(value, "value", None) for name in names for _, value in self.stored.get(name, ())]
        taken = [one for name, one, value, _ in self._stores(loop) if name in names and value is False]
        if len(taken) != 1 or stored.count(False) != 1 or not all(value is True or value is False for value in stored):
            return None
        above = less(taken[0], first)
        if len(above) != 1 or not all(not name and more > 0 for name, more in above):
            return None
        reads = (n for s in loop.block for n in walk(s) if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Load))
        return whole, tuple(n for n in reads if isinstance(n.value, ast.Name) and n.value.id == whole.id)
