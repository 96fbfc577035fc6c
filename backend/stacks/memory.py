"""
Memory of stacks, held by the host: one block for all calls, made larger when a stack or what its arrays have is full.

A block begins with what every call is given besides: 1.0, the budget, the words of arrays, and for each stack of how many cells
there is room and where that ends; so one address says it all. What is full gets more, and the other stacks keep what they have: a
loop in a loop may so push a million cells where the outer one has ten.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate
from struct import pack_into
from typing import Any

from backend.lowering.first_order import Lowered
from backend.status import FULL, FULL_ARRAYS, full_of

CELLS = 1064  # of every stack, at first: no multiple of a page, or what lies apart would be in one set of lines of a cache
LIMIT = 1 << 28  # scalars, 2 GiB
KEPT = 1 << 20  # scalars of what is kept for the next batch
WORDS = 1 << 16  # of all arrays in cells, at first
HEADER, ARRAYS = 3, 2  # words before those of stacks, and which of them is how many words arrays have
GROWTH = (4, 2, 1.5, 1.25)  # what is full is made so many times as large: the first that fits
SOON = 1 << 16  # cells up to which the first of these is tried
CELL, MEMORY_WORD = 16, 8  # bytes, and where in a cell the address of the block is
MEMORY = ("reals", "integers", "capacity")
"""What it is called in generated code that has stacks."""


def rooms(widths: Sequence[int], cells: Sequence[int] = ()) -> tuple[int, ...]:
    """For each stack, of how many cells of this width there is room, and where that ends; where no cell has a scalar, 0."""
    cells = cells or [0] * len(widths)
    ends = accumulate(width * count for width, count in zip(widths, cells, strict=True))
    return tuple(n for pair in zip(cells, ends, strict=True) for n in pair) or (0,)


def is_addressed(code: Lowered) -> bool:
    """Whether an entry needs memory: for stacks, for the budget of loops, or for the 1.0 that hides an exponent."""
    lines = (line.lstrip() for line in code.alone.splitlines())
    counts = any("fuel" in line for line in lines if not line.startswith(("def ", "return ")))
    return code.stacks or counts or "* one" in code.alone


class Memory:
    """
    `given` is what a kernel takes after its arguments, `passed` what an entry takes (`backend.ways_in.entry`): the address of the
    block, if it needs one. A `cell` of the ways into the code says where the block is, at any time.
    """

    def __init__(self, code: Lowered, budget: int, cell: bytearray | None = None) -> None:
        self.code, self.budget, self.cell = code, budget, cell or bytearray(CELL)
        self.cells, self.words = (CELLS,) * len(code.widths), WORDS if code.heap else 0
        self.kept: tuple[Any, ...] = ()
        self.make()

    @property
    def size(self) -> int:
        """The words of cells and their arrays."""
        return rooms(self.code.widths, self.cells)[-1] + self.words

    def make(self) -> None:
        import numpy

        self.capacity = rooms(self.code.widths, self.cells)
        first = HEADER + len(self.capacity)
        self.block = numpy.empty(first + self.size)
        integers = self.block.view(numpy.int64)
        self.block[0], integers[1:first] = 1.0, (self.budget, self.words, *self.capacity)
        self.passed = (self.block.ctypes.data,) if is_addressed(self.code) else ()
        pack_into("q", self.cell, MEMORY_WORD, *self.passed or (0,))
        stacks = (self.block[first:], integers[first:], self.capacity) if self.code.stacks else ()
        self.given: tuple[Any, ...] = (*stacks, self.budget, 1.0)

    def grow(self, statuses: Collection[int], threads: int = 1) -> bool:
        """More room for the stacks, or the arrays, that statuses say are full; False, and no change, if LIMIT leaves none."""
        before = self.cells, self.words
        full = [FULL in statuses or full_of(k) in statuses for k in range(len(self.cells))]
        for by in GROWTH[any(n >= SOON for n, is_full in zip(self.cells, full, strict=True) if is_full) :]:
            self.cells = tuple(int(n * by) if is_full else n for n, is_full in zip(before[0], full, strict=True))
            self.words = int(before[1] * by) if FULL_ARRAYS in statuses else before[1]
            if self.size * threads <= LIMIT:
                self.make()
                return True
        self.cells, self.words = before
        return False

    def for_threads(self, count: int) -> tuple[Any, ...]:
        """The same for a launch: a piece for every thread, each as large as one call's."""
        import numpy

        if not self.code.stacks:
            return self.given
        reals = numpy.empty(max(1, count * self.size))
        return reals, reals.view(numpy.int64), self.capacity, self.budget, 1.0

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
