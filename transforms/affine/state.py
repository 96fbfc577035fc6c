"""
The state of `cached`: which loops are mirrored, what a row of each cache holds, and what comes next.

    h  header of a loop    n  node of its body    n̄  sensitivity of n    cache  list of rows, that of the last turn first
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from immutables import Map

from semantics.edit import Edit
from semantics.errors import Malformed
from semantics.ir import Apply, Constant, GraphId, GraphRef, NodeId, Program
from semantics.primitives.table import TABLE
from semantics.scope import Scopes, order_of_need, scopes_from
from transforms.affine.loop import For
from transforms.affine.normal import is_normal, loop_at
from transforms.agenda import in_turn

GETITEM, MAKE_TUPLE, SWITCH, LT, J = (TABLE[n] for n in ("getitem", "make_tuple", "switch", "lt", "J"))


class Item(NamedTuple):
    """What is done next: a kind, the header of the loop, and the node of its body if there is one."""

    kind: str
    header: GraphId = -1
    node: NodeId = -1


class Blocks(NamedTuple):
    """A loop that closes over nothing: three graphs with the same parameters."""

    header: GraphId
    body: GraphId
    after: GraphId


class Kept(NamedTuple):
    """What a row keeps: the value of a node, or the cache of the loop that is called there."""

    node: NodeId
    cache: bool = False


@dataclass(frozen=True)
class CachedState:
    """
    At work on the loops that J(@f) at `place` meets.

    agenda   the items to do, as a linked list (head, rest) or None
    loops    h to the affine `for`                      images   h to ▶h
    writes   h to the forward loop, which writes        reads    h to the backward loop, which reads
    rows     h to what a row of its cache keeps         parts    n to the contributions to n̄ so far
    image    n to its copy in the forward loop          caches   n, a call of a loop, to its cache there
    value    n, or the cache made there, to what a turn back has for it
    """

    program: Program
    agenda: Any
    place: NodeId
    loops: Map[GraphId, For]
    images: Map[GraphId, GraphId] = Map()
    writes: Map[GraphId, Blocks] = Map()
    reads: Map[GraphId, Blocks] = Map()
    rows: Map[GraphId, tuple[Kept, ...]] = Map()
    parts: Map[NodeId, tuple[NodeId, ...]] = Map()
    value: Map[Kept, NodeId] = Map()
    image: Map[NodeId, NodeId] = Map()
    caches: Map[NodeId, NodeId] = Map()

    @property
    def item(self) -> Item:
        return self.agenda[0]  # type: ignore[no-any-return]

    @property
    def loop(self) -> For:
        """The loop of the current item."""
        return self.loops[self.item.header]

    @property
    def parameters(self) -> tuple[NodeId, ...]:
        """The parameters of its header."""
        return self.program.graphs[self.item.header].parameters

    @property
    def varying(self) -> tuple[int, ...]:
        """The positions of those that have a sensitivity: all but the counter."""
        return self.varying_of(self.loop)

    def varying_of(self, loop: For) -> tuple[int, ...]:
        """The positions of the parameters of a loop that have a sensitivity: all but the counter."""
        return tuple(k for k in range(len(self.program.graphs[loop.header].parameters)) if k != loop.counter)

    @property
    def fixed(self) -> tuple[int, ...]:
        """The positions of those that every turn passes on as they are."""
        return tuple(sorted(self.loop.invariant))

    def at(self, kind: str) -> Apply | None:
        """The application of the current item, if it is of that kind."""
        found = self.program.nodes.get(self.item.node) if self.item.kind == kind else None
        return found if isinstance(found, Apply) else None

    def inner(self, node: NodeId) -> For | None:
        """The loop that is called at `node`, if one is."""
        callee = self.program.callee(node)
        return self.loops.get(callee.graph) if isinstance(callee, GraphRef) else None

    def done(self, edit: Edit, **changes: Any) -> CachedState:
        """The state after the current item."""
        return replace(self, program=edit.program, agenda=self.agenda[1], **changes)

    def varies(self, node: NodeId) -> bool:
        """Whether `node` can have a sensitivity: a constant has none, nor has the counter."""
        return not isinstance(self.program.nodes[node], Constant) and node != self.parameters[self.loop.counter]

    def run_back(self, edit: Edit, graph: GraphId, loop: For, values: Sequence[NodeId], seed: NodeId) -> NodeId:
        """The call of the backward loop of `loop`, for this sensitivity of its result; its start, cache and constants are given."""
        bars = [edit.call(graph, GETITEM, seed, edit.constant(k)) for k in self.varying_of(loop)]
        return edit.call(graph, GraphRef(self.reads[loop.header].header), *values, *bars)

    def known(self, edit: Edit, kept: Kept) -> tuple[NodeId, CachedState]:
        """The value of a node, or the cache made at it, in a turn back. What was not asked for before gets a place in the rows."""
        if isinstance(self.program.nodes[kept.node], Constant):
            return kept.node, self
        if kept in self.value:
            return self.value[kept], self
        header, body = self.item.header, self.reads[self.item.header].body
        row = edit.call(body, GETITEM, edit.graphs[body].parameters[1], edit.constant(0))
        found = edit.call(body, GETITEM, row, edit.constant(len(self.rows[header])))
        after = replace(self, rows=self.rows.set(header, (*self.rows[header], kept)), value=self.value.set(kept, found))
        return found, after


def begin(program: Program, place: NodeId) -> CachedState:
    """The state in which J is about to be applied at `place`, an application J(@f), to a program whose loops are in normal form."""
    application = program.apply(place)
    target = program.constant(application.inputs[1]) if application is not None and program.callee(place) is J else None
    if not isinstance(target, GraphRef):
        raise Malformed("J applies to a graph that is known", rule="cached_for", node=program.describe(place))
    found = scopes_from(program, [target.graph])
    headers = [g for g in found.free if g != target.graph and is_normal(program, g)]
    loops = {g: loop for g in headers if (loop := loop_at(program, g)) is not None}
    return CachedState(program, _agenda(program, _innermost_first(program, loops), found), place, Map(loops))


def _innermost_first(program: Program, loops: dict[GraphId, For]) -> list[For]:
    """The loops, each after those that its body calls."""
    ordered: dict[GraphId, For] = {}
    todo = [(loop, False) for loop in reversed(loops.values())]
    while todo:
        loop, ready = todo.pop()
        if ready:
            ordered[loop.header] = loop
        elif loop.header not in ordered:
            todo.append((loop, True))
            callees = (program.callee(n) for n in program.owned[loop.body])
            todo += [
                (loops[c.graph], False) for c in callees if isinstance(c, GraphRef) and c.graph in loops and c.graph != loop.header
            ]
    return list(ordered.values())


def _agenda(program: Program, loops: list[For], found: Scopes) -> Any:
    """Of each loop: open it; mirror its body backward, then, with what that keeps, forward; and all that is left by J."""
    items: list[Item] = []
    bodies = {loop.body for loop in loops}
    for loop in loops:
        h = loop.header
        order = [n for n in order_of_need(program, loop.body, found.free) if program.owner(n) == loop.body and n != loop.again]
        items.append(Item("open", h))
        items += [Item("backward", h, n) for n in reversed(order)]
        items += [Item("sum", h, x) for x in program.graphs[h].parameters]
        items.append(Item("turn_back", h))
        items += [Item("forward", h, n) for n in order]
        items.append(Item("turn", h))
        items += [Item("image", h)] if any(program.owner(call) not in bodies for call in loop.calls) else []
    items.append(Item("finish"))
    return in_turn(items)
