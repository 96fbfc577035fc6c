"""
Memory of stacks, held by the host: one block for all calls, made larger when a stack or what its arrays have is full.

A block begins with what every call is given besides: 1.0, the budget, the number of cells and of the words of their arrays, so that
one address says it all.
"""

from __future__ import annotations

from struct import pack_into
from typing import Any

from backend.lowering import Lowered

CELLS = 1024  # of every stack, at first
LIMIT = 1 << 28  # scalars, 2 GiB
KEPT = 1 << 20  # scalars of what is kept for the next batch
WORDS = 1 << 16  # of all arrays in cells, at first
HEADER = 4
CELL, MEMORY_WORD = 16, 8  # bytes, and where in a cell the address of the block is
MEMORY = ("reals", "integers", "capacity")
"""What it is called in generated code that has stacks."""


def is_addressed(code: Lowered) -> bool:
    """Whether an entry needs memory: for stacks, for the budget of loops, or for the 1.0 that hides an exponent."""
    lines = (line.lstrip() for line in code.alone.splitlines())
    counts = any("fuel" in line for line in lines if not line.startswith(("def ", "return ")))
    return code.stacks or counts or "* one" in code.alone


class Memory:
    """
    `given` is what a kernel takes after its arguments, `passed` what an entry takes (`backend.entry`): the address of the block,
    if it needs one. A `cell` of the ways into the code says where the block is, at any time.
    """

    def __init__(self, code: Lowered, budget: int, cell: bytearray | None = None) -> None:
        self.code, self.budget, self.cell = code, budget, cell or bytearray(CELL)
        self.cells, self.words = CELLS, WORDS if code.heap else 0
        self.kept: tuple[Any, ...] = ()
        self.make()

    @property
    def size(self) -> int:
        """The words of cells and their arrays."""
        return self.cells * self.code.width + self.words

    def make(self) -> None:
        import numpy

        self.block = numpy.empty(HEADER + self.size)
        integers = self.block.view(numpy.int64)
        self.block[0], integers[1:HEADER] = 1.0, (self.budget, self.cells, self.words)
        self.passed = (self.block.ctypes.data,) if is_addressed(self.code) else ()
        pack_into("q", self.cell, MEMORY_WORD, *self.passed or (0,))
        stacks = (self.block[HEADER:], integers[HEADER:], self.cells) if self.code.stacks else ()
        self.given: tuple[Any, ...] = (*stacks, self.budget, 1.0)

    def double(self, threads: int = 1, arrays: bool = False) -> bool:
        """Twice as many cells, or twice the memory for their arrays; False, and no change, if that is more than LIMIT."""
        before = self.cells, self.words
        self.cells, self.words = (self.cells, 2 * self.words) if arrays else (2 * self.cells, self.words)
        if self.size * threads > LIMIT:
            self.cells, self.words = before
            return False
        self.make()
        return True

    def for_threads(self, count: int) -> tuple[Any, ...]:
        """The same for a launch: a piece for every thread, each as large as one call's."""
        import numpy

        if not self.code.stacks:
            return self.given
        reals = numpy.empty(max(1, count * self.size))
        return reals, reals.view(numpy.int64), self.cells, self.budget, 1.0

    def for_batch(self, count: int) -> tuple[Any, ...]:
        """
        The same for code beside which no other thread of Python runs: it is kept, since to be given new memory takes longer than a
        short batch.
        """
        if not self.code.stacks or count * self.size > KEPT:
            return self.for_threads(count)
        if not self.kept or self.kept[0].size != count * self.size:
            self.kept = self.for_threads(count)
        return self.kept
