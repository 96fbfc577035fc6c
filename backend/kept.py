"""
Generated code of numbers that another process has compiled: its entry is there at once, as machine code without Numba.

A call from Python costs more so than by way of Numba, a microsecond, so Numba is loaded after all when there are many; and when
an entry fails, since it is the kernel that says why.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from backend import native, object_code, store, toolchain
from backend.entry import entry_source, is_quick
from backend.lowering import Lowered
from backend.stack_memory import is_addressed
from semantics.type_language import BOOLEAN, INTEGER, REAL

LETTERS = {REAL: "d", INTEGER: "i", BOOLEAN: "b"}
MANY = 100_000
"""Calls after which Numba is loaded: by then they have cost about what loading it does."""


def exports(code: Lowered) -> dict[str, str]:
    """The entry, as `native` wants to know it: the arguments, and the address of the memory if it needs some."""
    takes, gives = ("".join(LETTERS[t] for t in types) for types in (code.arguments, code.results))
    return {"entry": f"{takes}{'d' * is_addressed(code)}:{gives}"}


def is_plain(code: Lowered) -> bool:
    """Whether numbers go in and numbers come out: arrays are made by Numba's runtime, which is not there."""
    return is_quick(code) and not code.arrays


class Kept:
    """A module of generated code that has been compiled elsewhere: `entry`, `caller`, and what Numba makes of it when asked."""

    def __init__(self, code: Lowered) -> None:
        self.source = entry_source(code)
        self.linked = native.functions(self.source, exports(code))["entry"]
        self.caller = store.load(self.source, "kept", {"_device": _same, "_flat": _same}).caller
        self.left = MANY

    def entry(self, *arguments: Any) -> Any:
        """The entry; ArithmeticError where it fails, and once there have been many calls."""
        self.left -= 1
        if self.left < 0:
            raise ArithmeticError
        return self.linked(*arguments)

    def loaded(self) -> Any:
        """The module as Numba has it, with a kernel and an entry."""
        return store.load(self.source, "cpu", toolchain.bindings("cpu", self.source, vectors=()))


def is_there(code: Lowered) -> bool:
    """Whether the code is kept, and Numba not here already."""
    return "numba" not in sys.modules and is_plain(code) and native.is_kept(entry_source(code), exports(code))


def keep(code: Lowered, source: str, entry: Any) -> None:
    """Has Numba compile an entry now, and keeps it for other processes."""
    from numba import types

    of = {"d": types.float64, "i": types.int64, "b": types.boolean}
    (said,) = exports(code).values()
    entry.compile(tuple(of[letter] for letter in said.partition(":")[0]))
    if (made := object_code.made(entry)) is not None:
        native.keep(source, exports(code), {"entry": made})


def _same(function: Callable[..., Any]) -> Callable[..., Any]:
    return function
