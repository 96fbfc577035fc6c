"""
Young objects, which have a place of their own in the buffer of a run (`layout`), and become old ones when it is full.

What most programs compute is not needed for long, so they touch little memory besides: the system may take 3 ms for each MB that it
has not given before, and a processor goes back to what it has near it. Nothing is copied twice.

    begin      before the arguments are written, which are old; `open` behind them
    promoted   whether there is room again, when there was none
    go_on      one instruction without young objects, if it wanted much of their place
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backend.machine import layout
from backend.machine.layout import CHANGED, HEAP, HP, LIMIT, OLD, STEPS

YOUNG = 1 << 18
"""Words for young objects in a run on compiled code: as many as a processor has near it, and few to go through."""

PARTS = 8
"""A buffer has room for so many times its young objects, and they for as many of the objects among them."""


class Young:
    """
    The young objects of one buffer: `size` words, none if 0. `aside` while an instruction has its objects behind the old ones;
    `last` is the step at which some became old for the last time.
    """

    def __init__(self) -> None:
        self.size, self.aside, self.last = 0, False, -1

    def begin(self, I: Any, size: int) -> None:
        """
        A heap without objects. There is no place for young ones in a buffer of which they would take much, nor behind a stack that
        is larger, since it is gone through every time.
        """
        self.size, self.aside, self.last = size if I[HEAP] <= size and PARTS * size <= len(I) - I[HEAP] else 0, False, -1
        I[HP], I[LIMIT], I[OLD], I[CHANGED] = I[HEAP] + self.size, len(I), 0, 0

    def open(self, I: Any) -> None:
        """From now on, what is there is old, and new objects are young."""
        if self.size:
            I[OLD], I[HP], I[LIMIT] = I[HP], I[HEAP], I[HEAP] + self.size

    def close(self, I: Any) -> None:
        """From now on there are no young objects: what is there stays, and new ones go behind the old."""
        I[HP], I[LIMIT], I[OLD], I[CHANGED] = I[OLD], len(I), 0, 0

    def promoted(self, I: Any, wanted: int, promote: Callable[[], Any]) -> bool:
        """
        Whether there is room for so many words in this buffer. Young objects that can be reached become old, if there is room for
        all of them. An instruction that wants much of their place, or all of it, has its objects behind the old ones.
        """
        if not 0 <= wanted <= len(I) - I[OLD] - self.size:
            self.close(I)
            return False
        promote()
        again, self.last = I[STEPS] == self.last, I[STEPS]
        if PARTS * wanted > self.size or again:
            self.close(I)
            self.aside = True
        return True

    def go_on(self, I: Any, pause: int, turn: Callable[[int], int]) -> int:
        """What the machine ends with, which takes a turn to so many steps."""
        if self.aside:
            status = turn(min(pause, I[STEPS] + 1))
            self.aside = False
            if status != layout.FULL and len(I) - I[HP] > self.size:
                self.open(I)
            if status != layout.PAUSED or I[STEPS] >= pause:
                return status
        return turn(pause)
