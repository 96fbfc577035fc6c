"""
A region under construction, and where the paths of a piece of its code end (`backend.lowering.regions`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from backend.lowering.flow import Block, Flow


@dataclass(eq=False)
class Region:
    """A region under construction. It leaves its value in `result`, or returns it if that is None."""

    flow: Flow
    result: Any
    key: int
    home: int
    code: Any = None
    storage: dict[Block, tuple[Any, ...]] = field(default_factory=dict)
    number: dict[Block, int] = field(default_factory=dict)
    landing: dict[Block, int] = field(default_factory=dict)
    active: set[Block] = field(default_factory=set)


@dataclass(frozen=True)
class Ends:
    """Where the paths of some code go: `falls` reach its end with a note in `_go`, `breaks` leave the innermost loop with one."""

    falls: frozenset[int] = frozenset()
    breaks: frozenset[int] = frozenset()

    def __or__(self, other: Ends) -> Ends:
        return Ends(self.falls | other.falls, self.breaks | other.breaks)
