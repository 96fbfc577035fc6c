"""
Large old objects of a run, and the room that they leave: an array that no frame can reach any more gives its place to the next.

Old objects do not move. So a program that makes one large array after another touches as much memory as it needs at a time, and
not as much as it makes: the system takes a millisecond to give what a processor fills in a tenth of that.

    taken      an address for a large object, or for several: in the room that fits best, else behind the old objects
    given      what of it was not needed
    is_due     whether so much has been made that it is worth looking for what is not needed any more (`collecting.sweep`)
"""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import Any

from backend.machine.layout import HEAP, HOLES, LIMIT, OLD, SIZE, STEPS, VALUES

LARGE = 1 << 13
"""Words of an array that is not moved when it is young."""

OFTEN = 1 << 18
"""Words of large objects, which may lie where there was room, after which what is not needed is looked for again."""

PAINS = 4
"""Words of large objects that take as long to fill as it takes to look at a value or an object, and more."""


class Holes:
    """The room between the old objects of one buffer, that of more than LARGE words, by its size; `swept` at the step `last`."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Of a buffer without holes."""
        self.found: list[tuple[int, int]] = []
        self.made, self.patience, self.last = 0, OFTEN, -1

    def is_due(self, I: Any) -> bool:
        """
        Whether it is worth looking for room; not twice in one step, whose objects no frame has yet. Behind the old objects there
        must be room for all young ones, and for a word for each old one that has values.
        """
        if self.made <= self.patience or I[STEPS] == self.last:
            return False
        return len(I) - I[OLD] >= I[LIMIT] - I[HEAP] + (I[OLD] - I[LIMIT]) // 4

    def swept(self, I: Any, seen: int) -> None:
        """The holes are those that the sweep has found, which has looked at so many values and objects."""
        self.found = []
        hole = I[HOLES]
        while hole:
            self.found.append((I[hole + SIZE], hole))
            hole = I[hole + VALUES]
        self.found.sort()
        self.made, self.patience, self.last = 0, max(OFTEN, PAINS * seen), I[STEPS]

    def large(self, I: Any, words: int) -> int:
        """The address of a large object that is old at once; 0 if there is no room, or it is time to look for some."""
        if self.is_due(I):
            return 0
        if not (p := self.taken(I, words)):
            p = I[OLD]
            if p + words > len(I):
                return 0
            I[OLD] = p + words
        self.made += words
        return int(p)

    def taken(self, I: Any, words: int) -> int:
        """The address of a hole, at least so many words of which are no hole any more; 0 if there is none."""
        k = bisect_left(self.found, (words, 0))
        if k == len(self.found):
            return 0
        size, p = self.found.pop(k)
        self.given(I, p + words, p + size)
        return p

    def given(self, I: Any, start: int, end: int) -> None:
        """The words between are a hole."""
        if start < end:
            I[start + SIZE] = end - start
        if end - start > LARGE:
            insort(self.found, (end - start, start))
