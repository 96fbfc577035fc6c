"""
The column of backpropagators: for each primitive p, a program (x…, out, dout) -> (dx, …).

`out` is p(x…) and `dout` its sensitivity; the result is one sensitivity per argument. The programs are in the language
itself, so J applies to them again (2018, section 3.2: "the backpropagators of primitives are known"). Smooth and
piecewise ones are written as Python (`arithmetic.py`, `elementary.py`, read by our own parser, never executed), structural
ones, which speak of ZERO, as text (`structure.py`, `memory.py`).
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from semantics.errors import IllTyped
from semantics.ir import Program
from semantics.primitives.row import Hole, Primitive
from semantics.primitives.table import MACROS, TABLE
from semantics.tangents import ZERO
from semantics.text import read
from transforms.backpropagators.memory import MEMORY
from transforms.backpropagators.structure import STRUCTURAL
from transforms.remembering import remembered

HERE = Path(__file__).parent
SCALARS = ("arithmetic.py", "elementary.py")
ARRAYS = ("contraction.py", "movement.py", "reductions.py", "algebra.py", "linear.py", "sorting.py", "indexed.py")
SOURCES = (*SCALARS, *ARRAYS)
# what the sources may name besides Python's own: every row, and the symbolic zero
NAMES: dict[str, Any] = {**TABLE, "ZERO": ZERO}
SUFFIX = "_pullback"
RULE = re.compile(rf"^def (\w+){SUFFIX}\(", re.MULTILINE)

__all__ = ["backpropagator", "find", "written_in"]


@cache
def written_in() -> dict[str, str]:
    """The file that holds the backpropagator of each primitive that has one."""
    found = {name: file for file in SOURCES for name in RULE.findall((HERE / file).read_text(encoding="utf-8"))}
    return found | dict.fromkeys(STRUCTURAL, "structure.py") | dict.fromkeys(MEMORY, "memory.py")


@cache
def _of_table(name: str) -> Program | Hole:
    if name in STRUCTURAL or name in MEMORY:
        text = STRUCTURAL[name] if name in STRUCTURAL else MEMORY[name]
        return remembered(f"the backpropagator of {name}", lambda: read(text))
    if name in {m.name for m in MACROS}:
        return Hole("it is expanded before anything is differentiated")
    if name not in written_in():
        return Hole(f"{name} has no backpropagator")

    def parsed() -> Program:
        from transforms.parse import parse_file

        return parse_file(HERE / written_in()[name], name + SUFFIX, NAMES)

    return remembered(f"the backpropagator of {name}", parsed)


def find(primitive: Primitive) -> Program | Hole:
    """The cell of `primitive`: its own if it has one, else the table's."""
    own = primitive.columns.get("backpropagator")
    if own is not None:
        return own  # type: ignore[no-any-return]
    if TABLE.get(primitive.name) is primitive:
        return _of_table(primitive.name)
    return Hole(f"{primitive.name} was given no backpropagator")


def backpropagator(primitive: Primitive) -> Program:
    """The backpropagator of `primitive`; IllTyped with the reason if it has none."""
    cell = find(primitive)
    if isinstance(cell, Hole):
        raise IllTyped(
            f"{primitive.name} cannot be differentiated: {cell.reason}",
            rule="J",
            node=primitive.name,
            location=primitive.location,
            remedy=f"give it one: @{primitive.name}.backpropagator",
        )
    return cell
