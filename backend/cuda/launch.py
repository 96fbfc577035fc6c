"""
Launches of generated code with arrays: a block of threads for each sample, whose arrays are in a piece of memory of its own.

Arguments and results of all samples are rows of words in two tables; the word of an array is its address. A block that finds no
room for an array leaves, and the host launches again with more for every block; what wants more than LIMIT is left to the machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from backend.cuda import numba_cuda
from backend.cuda.block import LEFT, SHARED, block_source, width
from backend.lowering.first_order import Lowered
from backend.run import Compiled
from backend.stacks.memory import LIMIT
from backend.status import OK, SIZES
from semantics.type_language import REAL, ArrayType
from transforms.array_rows import NUMPY_DTYPE

WORDS, EACH = 1 << 12, 16
"""For the arrays of a block at first: so many words, or so many for each word of its arguments."""
THREADS = {"cuda": 256, "cuda-simulator": 6, "cuda-sequential": 6}


class Blocks(Compiled):
    """A program with arrays on a target of CUDA."""

    def __init__(self, code: Lowered, target: str, budget: int, general: Callable[[], Compiled]) -> None:
        super().__init__(code, target, budget, numba_cuda.kernel(block_source(code), target), general)
        self.words = WORDS

    def launch(self, rows: list[list[Any]]) -> list[tuple[Any, ...]]:
        """A block for each row; again, with more memory, where there was no room."""
        if not rows:
            return []
        data = numba_cuda.words(self.target, joined(rows))
        table = numba_cuda.words(self.target, arguments(rows, data.address))
        most = LIMIT // len(rows)
        self.words = min(most, max(self.words, EACH * (data.array.size // len(rows))))
        while True:
            found, status, arena = self.blocks(table, len(rows))
            if LEFT not in status or 2 * self.words > most:
                break
            self.words *= 2
        nothing = [0] * len(self.code.results)
        values = [self.values(row, arena) if s == OK else nothing for row, s in zip(found, status, strict=True)]
        return [(*row, 0, SIZES if s == LEFT else s) for row, s in zip(values, status, strict=True)]

    def blocks(self, table: numba_cuda.Words, count: int) -> tuple[Any, list[int], numba_cuda.Words]:
        """One launch: the rows of results, the statuses, and the memory where the arrays are."""
        arena = numba_cuda.words(self.target, count * self.words)
        wide = sum(map(width, self.code.results))
        found = numba_cuda.words(self.target, numpy.zeros(max(1, count * wide), numpy.int64))
        status = numba_cuda.words(self.target, numpy.full(count, LEFT, numpy.int64))
        tables = (table.integers, table.reals, found.integers, found.reals, status.integers)
        shape = count, THREADS[self.target], 0, SHARED
        self.kernel[shape](*tables, arena.address, 8 * self.words, *self.memory.for_threads(count))
        rows = found.back(0, count * wide).reshape(count, wide)
        return rows, [int(s) for s in status.back(0, count)], arena

    def values(self, row: Any, arena: numba_cuda.Words) -> list[Any]:
        """The results in a row of words."""
        values: list[Any] = []
        at = 0
        for type in self.code.results:
            if isinstance(type, ArrayType):
                shape = tuple(int(n) for n in row[at + 1 : at + width(type)])
                values.append(elements(type.dtype, shape, arena, int(row[at])))
            else:
                values.append(row[at : at + 1].view(numpy.float64 if type == REAL else numpy.int64)[0])
            at += width(type)
        return values


def joined(rows: list[list[Any]]) -> Any:
    """The elements of all arrays, one array after another, each from a whole word on."""
    parts = [numpy.ravel(value) for row in rows for value in row if isinstance(value, numpy.ndarray)]
    data = numpy.zeros(max(1, sum(map(_words, parts))), numpy.int64)
    octets, at = data.view(numpy.uint8), 0
    for part in parts:
        octets[8 * at : 8 * at + part.nbytes] = part.view(numpy.uint8)
        at += _words(part)
    return data


def arguments(rows: list[list[Any]], address: int) -> Any:
    """The rows of arguments in words, the arrays being where `joined` has put them, from an address on."""
    table: list[int] = []
    for value in (value for row in rows for value in row):
        if isinstance(value, numpy.ndarray):
            table += [address, *value.shape]
            address += 8 * _words(value)
        else:
            table.append(int(numpy.float64(value).view(numpy.int64)) if type(value) is float else int(value))
    return numpy.array(table or [0], numpy.int64)


def _words(array: Any) -> int:
    """How many words an array takes."""
    return -(-int(array.nbytes) // 8)


def elements(dtype: str, shape: tuple[int, ...], arena: numba_cuda.Words, address: int) -> Any:
    """An array that the kernel has left in the arena."""
    item = numpy.dtype(NUMPY_DTYPE[dtype])
    count, start = math.prod(shape), (address - arena.address) // 8
    whole = arena.back(start, start - (-count * item.itemsize // 8))
    return whole.view(item)[:count].reshape(shape)
