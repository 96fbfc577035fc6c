"""
Where the machine code of an entry is: as another process has kept it, which needs no Numba, or as Numba compiles it now.

Code of arrays needs Numba's runtime, which can be had alone (`backend.cpu.runtime`).
"""

from __future__ import annotations

import sys
from typing import Any

from backend import store, toolchain
from backend.cpu import native, object_code
from backend.lowering.first_order import Lowered
from backend.stacks.memory import is_addressed
from backend.ways_in.entry import entry_source
from semantics.type_language import BOOLEAN, INTEGER, REAL, ArrayType

LETTERS = {REAL: "d", INTEGER: "i", BOOLEAN: "b"}


def exports(code: Lowered) -> dict[str, str]:
    """The entry, as `native` wants to know it: the arguments, and the address of the memory if it needs some."""
    takes, gives = ("".join(map(_spelled, types)) for types in (code.arguments, code.results))
    return {"entry": f"{takes}{'i' * is_addressed(code)}:{gives}i"}


def _spelled(type: Any) -> str:
    """A letter for a number; an array by what Numba compiles for, its dtype and how many axes it has."""
    return f"({type.dtype} {len(type.dims)})" if isinstance(type, ArrayType) else LETTERS[type]


def is_plain(code: Lowered) -> bool:
    """Whether something comes out, and sums are in their order: else the code is compiled for this process alone."""
    return bool(code.results) and not code.fast


def address(code: Lowered) -> int:
    """Where the entry is, kept for other processes if it was compiled for this."""
    if is_there(code) and (there := native.kept_addresses(entry_source(code), exports(code), code.arrays)) is not None:
        return there["entry"]
    entry, wanted = dispatcher(code), (code.arguments, code.given, is_addressed(code))
    found = object_code.address(entry, *wanted)
    if is_plain(code) and (made := object_code.made(entry)) is not None:
        native.keep(entry_source(code), exports(code), {"entry": made})
    return found


def dispatcher(code: Lowered) -> Any:
    """The entry as Numba has it."""
    text = entry_source(code)
    if code.fast:  # the same text may be bound to other functions
        return store.load(text, "cpu, fast", toolchain.bindings("cpu", text) | toolchain.fast_bindings()).entry
    return store.load(text, "cpu", toolchain.bindings("cpu", text, vectors=toolchain.in_loops(text))).entry


def is_there(code: Lowered) -> bool:
    """Whether the code is kept, and Numba not here already."""
    return "numba" not in sys.modules and is_plain(code) and native.is_kept(entry_source(code), exports(code))
