"""
Code of a large program, which another process makes while the machine answers (`backend.beside`).

The second call begins it. Code of most programs is there in less time than a caller would call long, so that call waits for it; but
not longer than PATIENCE, where it may take half a minute. That there is no code is kept too.
"""

from __future__ import annotations

import os
import pickle
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from backend import beside, store
from backend.lowering import first_order as lowering
from backend.machine import interpreter
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.structured import Label

LARGE = 900
"""Nodes of a program, its derivatives expanded, from which on code may take more than some seconds."""
PATIENCE = 10.0
"""Seconds that calls wait for code, all together."""
TURNS = 1_000_000
"""Of loops, in the call that the process makes: some tenths of a second, if it has so many."""


class Awaited:
    """
    The making of the code of one program for types, with the options of `backend.run.compile`. It is called with these arguments
    once, which may show that other code is needed.
    """

    def __init__(self, program: Program, types: Sequence[Any] | None, options: dict[str, Any], arguments: Sequence[Any]) -> None:
        self.name, self.until = _name(program, types, options), time.monotonic() + PATIENCE
        if self.name is None or not interpreter.is_kept() or lowering.is_lowered(program, types, options.get("mode", "J")):
            return
        if not beside.is_going_on(self.name) and not _refusal_at(self.name).exists():
            _begin(self.name, (program, types, options, arguments))

    def is_over(self) -> bool:
        """Whether nobody is at it: the code is there, or there is none, or who called has to make it."""
        return self.name is None or beside.wait(self.name, self.until - time.monotonic())

    @property
    def refusal(self) -> AdjudgeError | None:
        """Why there is no code, if that has been found."""
        if self.name is None:
            return None
        try:
            found = pickle.loads(store.kept(_refusal_at(self.name)))
        except (OSError, pickle.UnpicklingError, EOFError, AttributeError, ImportError):
            return None
        return found if isinstance(found, AdjudgeError) else None


def _begin(name: str, given: tuple[Any, ...]) -> None:
    """Has a process begun; it reads what it is given from a file, which it removes."""
    path = ""
    with suppress(OSError, pickle.PicklingError, AttributeError, TypeError):  # what is local to a function has no pickle
        handle, path = tempfile.mkstemp(dir=store.folder(), suffix=".work")
        with os.fdopen(handle, "wb") as file:
            Classless(file).dump(given)
        if beside.begin(name, "backend.awaited:make", name, path):
            return
    if path:
        Path(path).unlink(missing_ok=True)


class Classless(pickle.Pickler):
    """Leaves out the classes of records, which another process may not find, and code does not need (`backend.classes`)."""

    def reducer_override(self, value: Any) -> Any:
        return (Label, (value.kind, value.name, value.fields)) if isinstance(value, Label) else NotImplemented


def make(name: str, path: str) -> None:
    """What the process does: the code is kept, or why there is none."""
    from backend import run

    content = Path(path).read_bytes()
    Path(path).unlink(missing_ok=True)
    program, types, options, arguments = pickle.loads(content)
    try:
        code = run.compile(program, types, "cpu", **{**options, "budget": TURNS})
    except AdjudgeError as refusal:
        store.keep(_refusal_at(name), pickle.dumps(refusal))
    else:
        code.map([arguments])


def _name(program: Program, types: Sequence[Any] | None, options: dict[str, Any]) -> str | None:
    """
    What the work is called; None where its result could not be found again. Programs of the same text are apart if they stand in
    different places, as a refusal speaks of these.
    """
    key = lowering.key_of(program, types, options.get("mode", "J"), options.get("optimize", True), False)
    return None if key is None else store.digest(f"{key} {program.graphs[program.entry].location} {store.sources()}")


def _refusal_at(name: str) -> Path:
    return store.folder() / f"r_{name}.pickle"
