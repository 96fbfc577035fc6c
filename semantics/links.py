"""
The sets that links of a program are, by identifier: what an edit adds is put into them when somebody asks for them.

A transform makes thousands of programs, each from the one before, and asks few of them who uses a node. Each addition would
otherwise copy the way to its place in two maps.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Generic, TypeVar

from immutables import Map

K = TypeVar("K")
Additions = list[tuple[int, K]]
"""Pairs of an identifier and an element of its set. Nobody changes them once they have been given away."""

MOST = 256
"""Additions that wait, so that to ask each of many programs costs no more than each of them for so many edits."""

FEW = 8
"""Elements that are put in one by one: to sort them by their sets would take longer."""


class Sets(Generic[K]):
    """A map from identifiers to sets, each a map to None: a value, which looks the same before and after additions are put in."""

    __slots__ = ("_added", "_count", "_map")

    def __init__(self, sets: Map[int, Map[K, None]], added: Any = None, count: int = 0) -> None:
        self._map, self._added, self._count = sets, added, count

    def with_more(self, new: Additions[K]) -> Sets[K]:
        """The sets with more elements."""
        added, count = self._added, self._count
        if count < MOST:
            return Sets(self._map, (new, added), count + 1)
        return Sets(self.now, (new, None), 1)

    @property
    def now(self) -> Map[int, Map[K, None]]:
        """
        The map. Additions are put in once. Another thread that reads meanwhile, what is added before the map, as everywhere here,
        finds them in the map or puts them in again, which changes nothing.
        """
        added = self._added
        sets = self._map
        if added is not None:
            self._map = sets = put_in(sets, _additions(added))
            self._added, self._count = None, 0
        return sets


def _additions(added: Any) -> Additions[Any]:
    """Linked additions, the last of them first, as one."""
    waiting = []
    while added is not None:
        new, added = added
        waiting.append(new)
    return waiting[0] if len(waiting) == 1 else [pair for new in reversed(waiting) for pair in new]


def put_in(sets: Map[int, Map[K, None]], new: Additions[K]) -> Map[int, Map[K, None]]:
    """The map with additions."""
    changed, nothing = sets.mutate(), Map[K, None]()
    if len(new) <= FEW:
        for key, element in new:
            changed[key] = changed.get(key, nothing).set(element, None)
        return changed.finish()
    elements: defaultdict[int, list[K]] = defaultdict(list)
    for key, element in new:
        elements[key].append(element)
    for key, found in elements.items():
        old = changed.get(key, nothing)
        changed[key] = old.set(found[0], None) if len(found) == 1 else old.update(dict.fromkeys(found))
    return changed.finish()
