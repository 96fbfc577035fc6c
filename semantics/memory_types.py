"""
The types of memories, of pointers and of the sensitivities of memories (`semantics.memory`).

    memory[home; f64, i64]       a memory of known cells: what each holds, by address
    memory[home; f64, i64, ...]  one of unknown size: what the first cells hold, and what any other may
    &home[k]    &home[k..]       the pointer to cell k, or to some cell from k on; then the indices that `lea` added
    cells[f64, zero, ...]        a sensitivity: that of the first cells, and that of any other

A token is a value, so its type is that of one moment: a store at a known address gives a token with another type there, and
forgets what was there before. The type of a memory whose cells are allocated in a loop does not grow without end, since two
memories of different sizes meet in one of unknown size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from semantics.type_memo import Composite, Spelling


@dataclass(frozen=True, slots=True, eq=False)
class MemoryType(Composite):
    """The types of the cells; `rest` is that of all cells behind `items`, None if there are none."""

    home: int
    items: tuple[Any, ...]
    rest: Any = None

    def spelled(self, part: Spelling) -> str:
        return f"memory[{self.home}{'; ' * (self.items != () or self.rest is not None)}{_listed(self.items, self.rest, part)}]"


@dataclass(frozen=True, slots=True, eq=False)
class PointerType(Composite):
    """A pointer to the cell `low` if `exact`, else to that one or one behind it; `path` are the types of the indices."""

    home: int
    low: int
    exact: bool = True
    path: tuple[Any, ...] = ()

    def spelled(self, part: Spelling) -> str:
        return f"&{self.home}[{self.low}{'' if self.exact else '..'}]" + "".join(f"[{part(i)}]" for i in self.path)


@dataclass(frozen=True, slots=True, eq=False)
class CellsType(Composite):
    """
    The sensitivities of the cells; `rest` is that of those behind `items` that have one, None if none has.

    Made by `cells_type`, so that there is one for each meaning.
    """

    items: tuple[Any, ...]
    rest: Any = None

    def spelled(self, part: Spelling) -> str:
        return f"cells[{_listed(self.items, self.rest, part)}]"


def _listed(items: tuple[Any, ...], rest: Any, part: Spelling) -> str:
    return ", ".join([*map(part, items), *([] if rest is None else [part(rest), "..."])])
