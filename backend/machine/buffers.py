"""
The memory that a run has: a buffer of words, which the system gives as they are touched, or not at all.
"""

from __future__ import annotations

import ctypes
import mmap
from functools import cached_property
from typing import Any

SMALL_PAGES = 1 << 19
"""Words at the beginning of a buffer that come in small pages, since a short run needs few: the young and the first old objects."""


def memory_of(words: int) -> mmap.mmap:
    """
    Memory that is zero, private, and in large pages where there are such. The system gives each page as it is first touched, which
    for one of 512 words takes longer than filling it: 2.8 µs if shared, 1.3 µs if private, 0.2 µs for as much of a large one.
    """
    size = 8 * max(words, 1)
    if not hasattr(mmap, "MADV_HUGEPAGE"):
        return mmap.mmap(-1, size)
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if words > SMALL_PAGES:
        memory.madvise(mmap.MADV_HUGEPAGE, 8 * SMALL_PAGES, size - 8 * SMALL_PAGES)
    return memory


class Words:
    """
    A buffer of 64-bit words, seen by the host and CPython as memoryviews, by compiled code as an address. Memory is given as it is
    first touched, so a large buffer of which little is used costs little.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.memory = memory_of(count)
        self.integers, self.doubles = memoryview(self.memory).cast("q"), memoryview(self.memory).cast("d")
        self.place = ctypes.addressof(ctypes.c_char.from_buffer(self.memory)), count

    @cached_property
    def array(self) -> Any:
        """The integers for NumPy."""
        import numpy

        return numpy.frombuffer(self.memory, numpy.int64)
