"""
The machine, on CPython and as machine code.

`interpreted()` is the machine on CPython. `compiled()` is machine code (`backend.cpu.native`), made once and kept, whose functions
take the address and the length of a buffer in its place. Its text (`backend.machine.source`) says the same to every process, and
takes some 20 ms to make, so that it is remembered.

`run(I, F, C, limit)` goes on from the state in I until the program ends (DONE), `limit` steps have been taken in all (PAUSED), the
host must act (SERVICE) or the buffer is full (FULL). It can be called again after each of these.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType, SimpleNamespace
from typing import NamedTuple

from backend import beside, store, toolchain
from backend.cpu import native

Exported = tuple[str, dict[str, str]]
"""A text, and what `native.functions` must know of the functions in it."""


class Made(NamedTuple):
    """
    text     the source of the machine                     by_address    the same with functions of addresses besides
    number   the opcodes of the primitives, by their names  end           the first number that no opcode has: here the host serves
    """

    text: str
    by_address: Exported
    number: dict[str, int]
    end: int


@cache
def made() -> Made:
    """The machine as its source says it is, made in this process or in another."""

    def now() -> Made:
        from backend.machine import source

        return source.made()

    return store.remembered("the machine", now)


@cache
def interpreted() -> ModuleType:
    """The machine on CPython: `run` and `collect`."""
    return store.load(made().text, "python", toolchain.bindings("python", made().text))


@cache
def compiled() -> SimpleNamespace:
    """
    The machine as machine code, compiled or found in the cache: the same functions, of addresses. When it is compiled, the
    backpropagators are made too, which is little in comparison. Where another process is at it, its work is waited for.
    """
    if not native.is_kept(*made().by_address) and beside.wait(work()) and not native.is_kept(*made().by_address):
        from backend.machine import rules  # it differentiates; the machine does not

        rules.keep()
    return SimpleNamespace(**native.functions(*made().by_address))


def work() -> str:
    """What the work of compiling it is called: other text, or another processor, makes it another."""
    return native.key(*made().by_address)


def is_loaded() -> bool:
    """Whether the compiled machine is there without waiting."""
    return compiled.cache_info().currsize > 0


def is_kept() -> bool:
    """Whether the machine is there without compiling."""
    return is_loaded() or native.is_kept(*made().by_address)
