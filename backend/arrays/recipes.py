"""
How numbers in cells of stacks are computed from arguments, the number of the turn, and other places of the cell.

A recipe is a value of `backend.arrays.turn_values`, of arguments and sizes, and of

    ("count", n)                   the number of the turn, and n
    ("place", place, memory)       what another place holds
    ("arm", place, one, other)     one where another place is True, the other where it is False; these may be such, too

An element of an argument is read where its index counts turns, is the same in all turns of the loop, or is a sum of such: elements
that are far apart in memory cost more than places of cells, which lie in order.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass

from backend.arrays.counted import Known
from backend.arrays.one_turn import Push, Turn
from backend.arrays.sums_of_turns import sum_of
from backend.arrays.turn_values import Value, above

STEPS = 4
"""Operations on numbers, of which each takes less than to write a number and to read it."""

Place = tuple[str, str]  # of which site, and which


class _Impossible(Exception):
    """Caught here: a value cannot be computed again."""


@dataclass
class Recipe:
    """How what a push of a turn leaves in a place is computed; `known` are places that count, and `read` those that are read."""

    site: str
    place: str
    push: Push
    turn: Turn
    known: Known
    read: Set[Place]
    fixed: frozenset[str]
    steps: int = 0

    def found(self) -> Value | None:
        try:
            found = self.of(self.push.places[self.place].value, whole=True)
        except _Impossible:
            return None
        return found if self.steps <= STEPS else None

    def of(self, value: Value, *, whole: bool = False) -> Value:
        match value:
            case ("number", _) | ("size", _):
                return value
            case ("name", str(name)) if name in self.fixed:
                return value
            case "neg", a:
                return self.step("neg", a)
            case ("add" | "sub" | "mul") as operation, a, b:
                return self.step(operation, a, b)
            case ("element", array, *at):
                return ("element", array, *map(self.index, at))
            case ("arms", *_) if whole:
                return self.arm(value, [])
            case _ if not whole:
                return self.kept(value, lambda place: place != self.place and (self.site, place) in self.read)
            case _:
                raise _Impossible

    def arm(self, value: Value, path: list[tuple[int, int]]) -> Value:
        """What goes with truth values in other places, which the same choices decide; `path` are those that have been asked."""
        if value[0] != "arms":
            self.steps, found = 0, self.of(value)
            if self.steps > STEPS:
                raise _Impossible
            self.steps = 0  # one of the arms is taken
            return found
        _, choice, one, other = value
        for place, left in sorted(self.push.places.items()):
            match _along(left.value, path):
                case "arms", of, ("number", "True" | "False" as first), ("number", "True" | "False" as second) if of == choice:
                    if first != second and place != self.place:
                        arms = self.arm(one, [*path, (choice, 2)]), self.arm(other, [*path, (choice, 3)])
                        return ("arm", place, *(arms if first == "True" else reversed(arms)))
        raise _Impossible

    def step(self, operation: str, *parts: Value) -> Value:
        self.steps += 1
        return (operation, *map(self.of, parts))

    def index(self, value: Value) -> Value:
        """An index that counts turns, or is the same in all of them."""
        match value:
            case ("number", _) | ("size", _):
                return value
            case ("name", str(name)) if name in self.fixed:
                return value
            case "wrapped", i, size:
                found = self.index(i)
                return found if found[0] == "count" and found[1] >= 0 else ("wrapped", found, self.index(size))
            case _ if (number := self.number(value)) is not None:
                return "count", number
            case ("name", str(name)) if self.turn.last(name) == value:
                return self.kept(value, lambda place: (self.site, place) in self.read)
            case ("add", *_) | ("above", ("add", *_), _) if sum_of(value, self.turn, self.turn.counters(), self.fixed) is not None:
                return self.kept(value, lambda place: (self.site, place) in self.read)
            case "above", of, int(n):
                return above(self.index(of), n)
            case _:
                raise _Impossible

    def number(self, value: Value) -> int | None:
        """By how much an integer is more than the number of the turn, as other places of the cell show."""
        of, n = (value[1], value[2]) if value[0] == "above" else (value, 0)
        for place, left in self.push.places.items():
            other = left.value
            pushed = self.known.get((self.site, place))
            if pushed is not None and pushed.above is not None:
                root, m = (other[1], other[2]) if other[0] == "above" else (other, 0)
                if root == of:
                    return pushed.above + n - m
        return None

    def kept(self, value: Value, may: Callable[[str], bool]) -> Value:
        """What a place holds that is there anyway."""
        for place, left in sorted(self.push.places.items()):
            if left.value == value and may(place):
                return "place", place, left.memory
        raise _Impossible


def _along(value: Value, path: list[tuple[int, int]]) -> Value:
    """What a value is where choices have been made."""
    for choice, arm in path:
        if value[0] == "arms" and value[1] == choice:
            value = value[arm]
    return value
