"""
The state of J at work: which graphs are mirrored, what is mirrored already, and what comes next. The rules are in `grad`.

    ▶n  image of n    ◀n  backpropagator of n    ∇n  sensitivity of n
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from immutables import Map

from semantics.edit import Edit
from semantics.errors import Malformed
from semantics.ir import GraphId, GraphRef, NodeId, Program
from semantics.primitives.table import TABLE
from semantics.scope import Scopes, order_of_need, scopes_from
from transforms.agenda import Item, changed, in_turn


@dataclass(frozen=True)
class GradState:
    """
    J at work on the application `place` = J(@target).

    agenda         the items to do, as a linked list (head, rest) or None
    found          scopes of the primal graphs
    forward        g to ▶g           backward    g to ◀g
    image          n to ▶n           pullback    n to ◀n
    contributions  (g, n) to the contributions to ∇n made so far in ◀g
    adjoints       (primitive, arity) to its ▶p
    """

    program: Program
    agenda: Any
    place: NodeId
    target: GraphId
    found: Scopes
    forward: Map[GraphId, GraphId] = Map()
    backward: Map[GraphId, GraphId] = Map()
    image: Map[NodeId, NodeId] = Map()
    pullback: Map[NodeId, NodeId] = Map()
    contributions: Map[tuple[GraphId, NodeId], tuple[NodeId, ...]] = Map()
    adjoints: Map[tuple[str, int], GraphId] = Map()

    @property
    def item(self) -> Item:
        return self.agenda[0]  # type: ignore[no-any-return]

    def done(self, edit: Edit, **changes: Any) -> GradState:
        """The state after the current item."""
        return changed(self, program=edit.program, agenda=self.agenda[1], **changes)

    def collected(self, node: NodeId) -> tuple[NodeId, ...]:
        """The contributions to `node` in the graph of the current item."""
        return self.contributions.get((self.item.graph, node), ())

    def hint(self, mark: str, node: NodeId) -> str:
        """The name of what mirrors `node`: the mark and the name of the node."""
        name = getattr(self.program.nodes[node], "name", "")
        return mark + name if name else ""


def begin(program: Program, place: NodeId) -> GradState:
    """The state in which J is about to be applied at `place`, an application J(@f)."""
    application = program.apply(place)
    target = program.constant(application.inputs[1]) if application is not None else None
    if application is None or program.callee(place) is not TABLE["J"] or not isinstance(target, GraphRef):
        raise Malformed("J applies to a graph that is known", rule="J", node=program.describe(place))
    found = scopes_from(program, [target.graph])
    return GradState(program, _agenda(program, target.graph, found), place, target.graph, found)


def _agenda(program: Program, root: GraphId, found: Scopes) -> Any:
    """Open every graph; then, outermost first, do what is to do in each."""
    levels = found.levels(program)
    graphs = sorted(found.free, key=lambda g: found.depth(program, g) if levels is None else levels[g])
    items = [*(Item("open", g) for g in graphs), *(Item("external", root, v) for v in found.free[root])]
    for graph in graphs:
        items += _mirrored(program, graph, found)
    return in_turn([*items, Item("finish", root)])


def _mirrored(program: Program, graph: GraphId, found: Scopes) -> Iterator[Item]:
    """Mirror a graph forward, fix its value, mirror it backward, add up what its parameters get, fix its result."""
    order = order_of_need(program, graph, found.free)
    forward = [n for n in order if program.apply(n) is not None and program.owner(n) == graph]
    mirrored = {*forward, *(n for n in order if isinstance(v := program.constant(n), GraphRef) and found.free[v.graph])}
    yield from (Item("forward", graph, n) for n in forward)
    yield Item("value", graph)
    yield from (Item("backward", graph, n) for n in reversed(order) if n in mirrored)
    yield from (Item("sum", graph, n) for n in (*found.free[graph], *program.graphs[graph].parameters))
    yield Item("result", graph)
