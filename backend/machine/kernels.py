"""
The loops over the elements of arrays (`element_loops`, `place_loops`) as machine code, and what the host must know to call them.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

from backend import store
from backend.cpu import native
from backend.machine.interpreter import Exported


class Made(NamedTuple):
    """
    by_address   the text of the loops, as functions of addresses
    buffers      in how many forms a loop takes the words: as integers, as doubles, or both
    numbers      the numbers of the elementwise rows with one operand and with two
    """

    by_address: Exported
    buffers: dict[str, int]
    numbers: tuple[dict[str, int], dict[str, int]]


@cache
def made() -> Made:
    """The loops as their source says they are, made in this process or in another."""

    def now() -> Made:
        from backend.machine import element_loops

        return element_loops.made()

    return store.remembered("the loops over elements", now)


def is_row(name: str) -> bool:
    """Whether it is an elementwise row that the loops know."""
    return any(name in known for known in made().numbers)


@cache
def compiled() -> SimpleNamespace:
    """The loops as machine code, compiled or found in the cache."""
    return SimpleNamespace(**native.functions(*made().by_address))


def is_loaded() -> bool:
    """Whether the loops are there without waiting."""
    return compiled.cache_info().currsize > 0


@cache
def is_kept() -> bool:
    """Whether the loops were there without compiling when this was first asked."""
    return native.is_kept(*made().by_address)


class Loops:
    """The loops, on one buffer. Shapes and strides go in as lists."""

    def __init__(self, place: tuple[int, int], loops: SimpleNamespace) -> None:
        self.place, self.loops = place, loops

    def __getattr__(self, name: str) -> Callable[..., Any]:
        loop, words = getattr(self.loops, f"{name}_at"), self.place * made().buffers[name]

        def called(*arguments: Any) -> int:
            held, flat = [], list[int]()
            for a in arguments:
                if isinstance(a, list):
                    held.append(row := array("q", a))  # which lives until the loop has ended
                    flat += row.buffer_info()
                else:
                    flat.append(a)
            return int(loop(*words, *flat))

        return called
