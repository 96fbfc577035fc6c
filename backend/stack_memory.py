"""
Memory of stacks, held by the host: one block for all calls, doubled when a stack is full.

A block begins with what every call is given besides: 1.0, the budget and the number of cells, so that one address says it all.
"""

from __future__ import annotations

from typing import Any

from backend.lower import Lowered

CELLS = 1024  # of every stack, at first
LIMIT = 1 << 28  # scalars, 2 GiB
HEADER = 3


class Memory:
    """`given` is what a kernel takes after its arguments, `address` what an entry takes (`backend.entry`)."""

    def __init__(self, code: Lowered, budget: int) -> None:
        self.code, self.budget, self.cells = code, budget, CELLS
        self.make()

    def make(self) -> None:
        import numpy

        self.block = numpy.empty(HEADER + self.cells * self.code.width)
        integers = self.block.view(numpy.int64)
        self.block[0], integers[1], integers[2] = 1.0, self.budget, self.cells
        self.address = self.block.ctypes.data
        stacks = (self.block[HEADER:], integers[HEADER:], self.cells) if self.code.stacks else ()
        self.given: tuple[Any, ...] = (*stacks, self.budget, 1.0)

    def double(self, threads: int = 1) -> bool:
        """Twice as many cells; False, and no change, if that is more than LIMIT."""
        if 2 * self.cells * self.code.width * threads > LIMIT:
            return False
        self.cells *= 2
        self.make()
        return True

    def for_threads(self, count: int) -> tuple[Any, ...]:
        """The same for a launch: a piece for every thread, each as large as one call's."""
        import numpy

        if not self.code.stacks:
            return self.given
        reals = numpy.empty(max(1, count * self.code.width * self.cells))
        return reals, reals.view(numpy.int64), self.cells, self.budget, 1.0
