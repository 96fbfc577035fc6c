"""What a family of cells is, for those who type and write them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from semantics.ir import NodeId


@dataclass(frozen=True)
class Family:
    """
    first    the site that gives it its name          sites    all of them, the number of each is the kind of its cells
    sizes    how many fields each kind has            links    the fields that hold cells of the family
    absent   of a field, the kinds that have none     frames   whether it is a stack of frames
    calls    whether it is a queue of calls
    """

    first: NodeId
    sites: tuple[NodeId, ...]
    sizes: tuple[int, ...]
    links: frozenset[int]
    absent: Mapping[int, frozenset[int]]
    frames: bool
    calls: bool

    @property
    def known(self) -> bool:
        """Whether no field is read of a kind that has none, as the code is."""
        return self.frames or self.calls
