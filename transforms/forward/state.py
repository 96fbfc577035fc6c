"""
The state of forward mode at work: which graphs are mirrored, what is mirrored already, and what comes next.

    ▷n  image of n    δn  tangent of n
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from immutables import Map

from semantics.edit import Edit
from semantics.errors import Malformed
from semantics.ir import Apply, Constant, GraphId, GraphRef, NodeId, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.scope import Scopes, order_of_need, scopes_from
from semantics.tangents import ZERO
from transforms.agenda import AtWork, Item, in_turn

JVP = TABLE["jvp"]


class Moved(NamedTuple):
    """▷n and δn: nodes of the mirrored graph."""

    primal: NodeId
    tangent: NodeId


@dataclass(frozen=True, kw_only=True)
class ForwardState(AtWork[Item]):
    """
    Forward mode at work on the application `place` = jvp(@target).

    graphs      g to ▷g
    moved       n to (▷n, δn)
    returned    n = f(a…) to the pair that ▷f returned for it
    linked      pushforwards of several graphs to their copies
    """

    program: Program
    place: NodeId
    target: GraphId
    graphs: Map[GraphId, GraphId] = Map()
    moved: Map[NodeId, Moved] = Map()
    returned: Map[NodeId, NodeId] = Map()
    linked: Map[Program, GraphId] = Map()

    @property
    def owner(self) -> GraphId:
        """▷g, where the current item is mirrored."""
        return self.graphs[self.item.graph]

    @property
    def application(self) -> Apply:
        """The application of the current item."""
        found = self.program.nodes[self.item.node]
        assert isinstance(found, Apply)
        return found

    def is_still(self, node: NodeId) -> bool:
        """Whether the tangent of an input is known to be ZERO: of a constant, of a function, or of what has been found so."""
        if isinstance(self.program.nodes[node], Constant):
            return True
        return self.program.constant(self.moved[node].tangent) is ZERO

    def hint(self, mark: str, node: NodeId) -> str:
        """The name of what mirrors `node`: the mark and the name of the node."""
        name = getattr(self.program.nodes[node], "name", "")
        return mark + name if name else ""

    def image(self, node: NodeId, primal: NodeId, tangent: NodeId) -> Map[NodeId, Moved]:
        """`moved`, with the image of one more node."""
        return self.moved.set(node, Moved(primal, tangent))


def begin(program: Program, place: NodeId) -> ForwardState:
    """The state in which forward mode is about to be applied at `place`, an application jvp(@f)."""
    application = program.apply(place)
    target = program.constant(application.inputs[1]) if application is not None else None
    if program.callee(place) is not JVP or not isinstance(target, GraphRef):
        raise Malformed("forward mode applies to a graph that is known", rule="jvp", node=program.describe(place))
    found = scopes_from(program, [target.graph])
    agenda = _agenda(program, target.graph, found)
    return ForwardState(agenda=agenda, program=program, place=place, target=target.graph)


def _agenda(program: Program, root: GraphId, found: Scopes) -> Any:
    """Open every graph; then, outermost first, mirror the applications of each in the order of need, and fix its value."""
    levels = found.levels(program)
    graphs = sorted(found.free, key=lambda g: found.depth(program, g) if levels is None else levels[g])
    items = [*(Item("open", g) for g in graphs), *(Item("external", root, v) for v in found.free[root])]
    values: set[NodeId] = set()
    for graph in graphs:
        applied = [
            n for n in order_of_need(program, graph, found.free) if program.apply(n) is not None and program.owner(n) == graph
        ]
        arguments = (a for n in applied for a in program.inputs(n)[1:])
        for node in (*arguments, program.graphs[graph].output):
            if isinstance(program.constant(node), Primitive) and node not in values:
                values.add(node)
                items.append(Item("primitive", graph, node))
        items += [*(Item("apply", graph, n) for n in applied), Item("value", graph)]
    return in_turn([*items, Item("finish", root)])


def continued(state: ForwardState, edit: Edit, **changes: Any) -> ForwardState:
    """The state after the current item, with the program as edited."""
    return state.then(program=edit.program, **changes)
