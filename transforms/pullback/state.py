"""
The state of local pullbacks at work (MimIrADe, section 2.3): what has its pullback already, and what comes next.

Within a graph f, the pullback n* of a node n takes the sensitivity of n to A, the sensitivities of all that f depends on:
((∇v…), ∇x…), its free variables first and then its parameters. It is a value: nearly always the reference to a graph of one
parameter s, made by `opened`. The structure-preserving pullback of a tuple (section 3.2) is kept here and never in the program.

    ▶n  image of n    n*  pullback of n    n_S*  structure-preserving pullback    A  sensitivities of f    s  sensitivity
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from immutables import Map

from semantics.edit import Edit
from semantics.errors import Malformed
from semantics.ir import Apply, Constant, GraphId, GraphRef, NodeId, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.scope import Scopes, order_of_need, scopes_from
from semantics.tangents import ZERO
from transforms.adjoint_primitives import adjoint_primitive, arity_of
from transforms.agenda import in_turn
from transforms.surgery import application

GADD, GETITEM, J, MAKE_TUPLE = TABLE["gadd"], TABLE["getitem"], TABLE["J"], TABLE["make_tuple"]


class Item(NamedTuple):
    """What is done next: a kind, the primal graph, and the primal node if there is one."""

    kind: str
    graph: GraphId
    node: NodeId = -1


class Structure(NamedTuple):
    """What a tuple or record is made of: its elements, and its label if it has one. Their pullbacks are its n_S*."""

    elements: tuple[NodeId, ...]
    label: Any = None


@dataclass(frozen=True)
class PullbackState:
    """
    Local pullbacks at work on the application `place` = J(@target).

    agenda     the items to do, as a linked list (head, rest) or None
    found      scopes of the primal graphs
    forward    g to ▶g                image      n to ▶n
    pullback   (g, n) to n* in g      structure  (g, n) to the elements of n, where they are known
    made       g to the pullbacks made in it, the last first, as a linked list
    adjoints   (primitive, arity) to its ▶p
    cells      what is known of memory (`pointers`), or None where its cells are left to the rule of applications
    """

    program: Program
    agenda: Any
    place: NodeId
    target: GraphId
    found: Scopes
    forward: Map[GraphId, GraphId] = Map()
    image: Map[NodeId, NodeId] = Map()
    pullback: Map[tuple[GraphId, NodeId], NodeId] = Map()
    structure: Map[tuple[GraphId, NodeId], Structure] = Map()
    made: Map[GraphId, Any] = Map()
    adjoints: Map[tuple[str, int], GraphId] = Map()
    cells: Any = None

    @property
    def item(self) -> Item:
        return self.agenda[0]  # type: ignore[no-any-return]

    @property
    def owner(self) -> GraphId:
        """▶f, for the graph f of the current item."""
        return self.forward[self.item.graph]

    def done(self, edit: Edit, **changes: Any) -> PullbackState:
        """The state after the current item."""
        return replace(self, program=edit.program, agenda=self.agenda[1], **changes)

    def at(self, primitive: Primitive) -> Apply | None:
        """The application of the current item, if its graph owns it and it applies `primitive` to what that takes."""
        kind, graph, node = self.item
        found = application(self.program, node, primitive) if kind == "node" else None
        if found is None or found.graph != graph:
            return None
        return found if "*" in primitive.parameters or len(found.arguments) == len(primitive.signature) else None

    def hint(self, mark: str, node: NodeId) -> str:
        """The name of what belongs to `node`: the mark and the name of the node."""
        name = getattr(self.program.nodes[node], "name", "")
        return mark + name if name else ""

    def starred(self, node: NodeId, mark: str = "*") -> str:
        """The name of the pullback of `node`."""
        value = self.program.constant(node)
        name = self.program.graphs[value.graph].name if isinstance(value, GraphRef) else self.hint("", node)
        return (name or str(node)) + mark

    def with_pullback(self, edit: Edit, *bodies: GraphId, **changes: Any) -> PullbackState:
        """The state after the current item, whose node has the last of `bodies` for its pullback; the others are parts of it."""
        made = self.made.get(self.item.graph)
        for body in bodies:
            made = (body, made)
        pullback = self.pullback.set((self.item.graph, self.item.node), edit.reference(bodies[-1]))
        return self.done(edit, pullback=pullback, made=self.made.set(self.item.graph, made), **changes)


def begin(program: Program, place: NodeId) -> PullbackState:
    """The state in which J is about to be applied at `place`, an application J(@f)."""
    application = program.apply(place)
    target = program.constant(application.inputs[1]) if application is not None and program.callee(place) is J else None
    if not isinstance(target, GraphRef):
        raise Malformed("J applies to a graph that is known", rule="pullback", node=program.describe(place))
    found = scopes_from(program, [target.graph])
    return PullbackState(program, _agenda(program, target.graph, found), place, target.graph, found)


def _agenda(program: Program, root: GraphId, found: Scopes) -> Any:
    """Open every graph; then, outermost first, give every node that it needs its pullback, in the order of need; return it."""
    levels = found.levels(program)
    graphs = sorted(found.free, key=lambda g: found.depth(program, g) if levels is None else levels[g])
    items = [Item("open", g) for g in graphs]
    items += [Item("external", root, v) for v in found.free[root]]
    for graph in graphs:
        output = program.graphs[graph].output
        needed = order_of_need(program, graph, found.free)
        items += [Item("node", graph, n) for n in needed if n == output or not is_literal(program, found, n)]
        items.append(Item("return", graph))
    items.append(Item("finish", root))
    return in_turn(items)


def is_literal(program: Program, found: Scopes, node: NodeId) -> bool:
    """Whether nothing flows back to `node`: a constant that is no closure."""
    value = program.constant(node)
    return isinstance(program.nodes[node], Constant) and not (isinstance(value, GraphRef) and found.free[value.graph])


def opened(edit: Edit, name: str) -> tuple[GraphId, NodeId]:
    """A new pullback λs. …, and its s."""
    body = edit.graph(name)
    return body, edit.parameter(body, "s")


def nothing(edit: Edit) -> GraphId:
    """λs. 0, the pullback of what depends on nothing."""
    body, _ = opened(edit, "0*")
    edit.output(body, edit.constant(ZERO))
    return body


def weighted_sum(state: PullbackState, edit: Edit, name: str, elements: Iterable[NodeId], first: int = 0) -> GraphId:
    """t* = λs. Σ eᵢ*(s#i), the pullback of a tuple of these elements (section 3.2); literals contribute nothing."""
    body, s = opened(edit, name)
    total = edit.constant(ZERO)
    for index, element in enumerate(elements, first):
        if (pullback := state.pullback.get((state.item.graph, element))) is not None:
            part = edit.call(body, GETITEM, s, edit.constant(index), name=state.hint("∇", element))
            term = edit.apply(body, pullback, part)
            total = term if edit.nodes[total] == Constant(ZERO) else edit.call(body, GADD, total, term)
    edit.output(body, total)
    return body


def composed(state: PullbackState, edit: Edit, back: NodeId, elements: Iterable[NodeId], first: int = 0) -> tuple[GraphId, GraphId]:
    """e* and e* ∘ ◀y, for the node y of the item: the pullback of its arguments, and its own."""
    node = state.item.node
    arguments = weighted_sum(state, edit, state.starred(node, ".e*"), elements, first)
    body, s = opened(edit, state.starred(node))
    edit.output(body, edit.apply(body, edit.reference(arguments), edit.apply(body, back, s)))
    return arguments, body


Adjoints = Map[tuple[str, int], GraphId]


def image(state: PullbackState, edit: Edit, adjoints: Adjoints, node: NodeId, arity: int | None = None) -> tuple[NodeId, Adjoints]:
    """▶n for an input: of a node its image, of @g the reference to ▶g, of a primitive its ▶p, of data itself."""
    match state.program.nodes[node]:
        case Constant(GraphRef(graph)):
            return edit.reference(state.forward[graph]), adjoints
        case Constant(Primitive() as primitive):
            return adjoint(edit, adjoints, primitive, arity_of(primitive, arity))
        case Constant():
            return node, adjoints
        case _:
            return state.image[node], adjoints


def adjoint(edit: Edit, adjoints: Adjoints, primitive: Primitive, arity: int, whole: int | None = None) -> tuple[NodeId, Adjoints]:
    """▶p, made when it is first met; for every whole exponent of `pow` there is one."""
    key = (f"{primitive.name}#{id(primitive)}#{whole}", arity)
    if key not in adjoints:
        adjoints = adjoints.set(key, adjoint_primitive(edit, primitive, arity, whole))
    return edit.reference(adjoints[key]), adjoints
