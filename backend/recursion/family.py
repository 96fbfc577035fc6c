"""What a family of cells is, for those who type and write them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from semantics.ir import NodeId


@dataclass(frozen=True)
class Family:
    """
    first    the site that gives it its name          sites    all of them, the number of each is the kind of its cells
    sizes    how many fields each kind has            links    the fields that hold cells of the family
    absent   of a field, the kinds that have none     frames   whether it is a stack of frames
    calls    whether it is a queue of calls
    places   by site, the node of the call whose number its cells have; none where they are numbered by themselves
    said     of a field that is True or False in all cells of a kind, the kinds in which it is True
    given    the fields that are arguments of that call: the place of each there
    queue    the first site of the queue of these calls
    placed   of a queue, the field of results that is such a cell: it has the number of the call
    """

    first: NodeId
    sites: tuple[NodeId, ...]
    sizes: tuple[int, ...]
    links: frozenset[int]
    absent: Mapping[int, frozenset[int]]
    frames: bool
    calls: bool
    said: Mapping[int, frozenset[int]] = field(default_factory=dict)
    places: Mapping[NodeId, NodeId] = field(default_factory=dict)
    given: Mapping[int, int] = field(default_factory=dict)
    queue: NodeId | None = None
    placed: int | None = None

    @property
    def known(self) -> bool:
        """Whether no field is read of a kind that has none, as the code is."""
        return self.frames or self.calls

    @property
    def tells_kinds(self) -> bool:
        """Whether a cell has its kind."""
        return bool(self.absent or self.said) and not self.known
