"""
Integers that a turn of a loop is given by what no turn changes, and by its number: `i + k + 1` in the turns of k.

    Sum(("i",), True, 1)        the names, whether the number of the turn is added, and what is added besides
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

from backend.arrays.counted import number
from backend.arrays.one_turn import Turn
from backend.arrays.turn_values import Value


@dataclass(frozen=True)
class Sum:
    """A sum of names that turns do not change, of the number of the turn if it `counts`, and of a number."""

    names: tuple[str, ...]
    counts: bool = False
    more: int = 0


def sum_of(value: Value, turn: Turn, counters: Mapping[str, int], fixed: Set[str]) -> Sum | None:
    """A value as such a sum, if it is one that has names, none of them `fixed` to be arguments."""
    found = _sum(value, turn, counters, fixed)
    return found if found is not None and found.names else None


def _sum(value: Value, turn: Turn, counters: Mapping[str, int], fixed: Set[str]) -> Sum | None:
    if (above := number(value, counters)) is not None:
        return Sum((), counts=True, more=above)
    match value:
        case ("name", str(name)) if turn.last(name) == value and name not in fixed:
            return Sum((name,))
        case "above", of, int(n):
            found = _sum(of, turn, counters, fixed)
            return found and Sum(found.names, found.counts, found.more + n)
        case "add", a, b:
            one, other = (_sum(part, turn, counters, fixed) for part in (a, b))
            if one is None or other is None or (one.counts and other.counts):
                return None
            return Sum((*one.names, *other.names), one.counts or other.counts, one.more + other.more)
        case _:
            return None
