"""
Memory as a value: what `alloc`, `load`, `store` and `lea` speak of (MimIrADe, section 3.3.1), and its sensitivity.

    Memory(home, next, cells)    the token: a persistent map from addresses to contents. A store makes another token
    Pointer(home, address, path) the address of a cell, and the indices that lead to a part of its content (`lea`)
    Cells(entries)               the sensitivity of a memory: address -> sensitivity of the content, ZERO where there is none

A token is used linearly: at most one operation goes on from it (`semantics.linear` judges that). Memories of two homes are two
memories, whose pointers are told apart. What a pointer points to may have a sensitivity, the pointer has none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from immutables import Map


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """The content of every cell allocated so far; `next` is the first address that is free."""

    home: int
    next: int
    cells: Map[int, Any]

    def __repr__(self) -> str:
        inside = ", ".join(f"{i}: {self.cells[i]!r}" for i in sorted(self.cells))
        return f"memory{{{inside}}}"


@dataclass(frozen=True, slots=True)
class Pointer:
    """A place in a memory."""

    home: int
    address: int
    path: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        return f"&{self.address}" + "".join(f"[{i!r}]" for i in self.path)


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The sensitivity of a memory, ZERO but at the addresses in `entries`."""

    entries: Map[int, Any]

    def __repr__(self) -> str:
        inside = ", ".join(f"{i}: {self.entries[i]!r}" for i in sorted(self.entries))
        return f"Cells({{{inside}}})"


def contents(memory: Memory | Cells) -> Map[int, Any]:
    """What the cells hold, by address."""
    return memory.cells if isinstance(memory, Memory) else memory.entries


def ordered(memory: Memory | Cells) -> Iterator[tuple[int, Any]]:
    """Address and content of every cell, in the order of the addresses."""
    found = contents(memory)
    for address in sorted(found):
        yield address, found[address]
