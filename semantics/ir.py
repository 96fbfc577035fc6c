"""
The graph IR: a purely functional, higher-order, graph-based direct intermediate representation (2018, section 3.1).

A *graph* is a list of parameters and one output node. A *node* is a parameter, a constant, or an application, whose first
input is the function applied. Inputs are identifiers, so recursion is no cycle of objects and a rewrite shares all that it
does not touch. A graph is used as a value through a constant `GraphRef`; it is a *closure* when it points to nodes of
other graphs, and there is no other notion of closure (section 3, "Closure representation").

Parameters and applications belong to one graph; constants belong to none and are interned: one node per value. Links can
be walked both ways: `node.inputs` and `program.uses[node]`, each in O(1).

    g  graph    n  node    x  parameter    c  constant
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from immutables import Map

from semantics.errors import Location, Malformed
from semantics.links import Sets

GraphId = int
NodeId = int


@dataclass(frozen=True, slots=True)
class GraphRef:
    """The constant that stands for a graph used as a value; printed `@name`."""

    graph: GraphId


@dataclass(frozen=True, slots=True)
class Parameter:
    """
    A parameter of `graph`. `type` is checked when a program is entered, and may be None (unknown). `image` says of one whose
    argument is in every call that of another parameter, lifted, what lifts it and which it is (`transforms.nested_grad`).
    """

    graph: GraphId
    name: str = ""
    type: Any = None
    location: Location | None = field(default=None, compare=False)
    image: tuple[str, NodeId] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Constant:
    """A value known when the program is written: a number, a boolean, a primitive, or a graph."""

    value: Any


@dataclass(frozen=True, slots=True)
class Apply:
    """The application of `inputs[0]` to `inputs[1:]`, evaluated in `graph`."""

    graph: GraphId
    inputs: tuple[NodeId, ...]
    name: str = ""
    location: Location | None = field(default=None, compare=False)

    @property
    def function(self) -> NodeId:
        return self.inputs[0]

    @property
    def arguments(self) -> tuple[NodeId, ...]:
        return self.inputs[1:]


Node = Parameter | Constant | Apply


@dataclass(frozen=True, slots=True)
class Graph:
    """A function: parameters and one output node (several results are a tuple)."""

    name: str
    parameters: tuple[NodeId, ...]
    output: NodeId
    location: Location | None = field(default=None, compare=False)


class Use(NamedTuple):
    """`user` has the node as its input number `index`."""

    user: NodeId
    index: int  # type: ignore[assignment]


NO_USES: Map[Use, None] = Map()


@dataclass(frozen=True, eq=False)
class Program:
    """
    A set of graphs with one entry. A value: frozen, compared up to renaming, printed by `str`, read by `semantics.text.read`.

    `uses` maps a node to the set (a Map to None) of its uses; `returns` maps a node to the set of graphs whose output
    it is; `interned` finds the node of a constant; `owned` maps a graph to the set of its applications. `next_id` is the
    first free identifier; `touched` are the nodes that the edit which made this program added, changed, or took an input
    or a use from (for the worklist engine); `arrays` says whether arrays have been spoken of: a constant, a declared type or a
    primitive of arrays has entered. Where none has, every operand of arithmetic is a scalar. All are maintained by
    `semantics.edit.Edit`.
    """

    graphs: Map[GraphId, Graph]
    nodes: Map[NodeId, Node]
    uses: Map[NodeId, Map[Use, None]]
    returns: Map[NodeId, Map[GraphId, None]]
    interned: Map[Any, NodeId]
    entry: GraphId
    next_id: int
    touched: frozenset[NodeId] = frozenset()
    owned: Map[GraphId, Map[NodeId, None]] = field(default_factory=Map)
    arrays: bool = False

    @cached_property
    def links(self) -> tuple[Sets[Use], Sets[NodeId]]:
        """`uses` and `owned`, which an edit has put here alone; of a program that comes from another process, found anew."""
        if "uses" in vars(self):
            return Sets(self.uses), Sets(self.owned)
        applications = [(node, found) for node, found in self.nodes.items() if isinstance(found, Apply)]
        uses = [(target, Use(node, k)) for node, found in applications for k, target in enumerate(found.inputs)]
        return Sets(Map(), (uses, None)), Sets(Map(), ([(found.graph, node) for node, found in applications], None))

    def __getstate__(self) -> dict[str, Any]:
        """All but the links, which few ask of a program that comes from another process."""
        return {name: value for name, value in vars(self).items() if name not in ("uses", "owned", "links")}

    def users(self, node: NodeId) -> Map[Use, None]:
        """The uses of `node` as an input."""
        return self.uses.get(node, NO_USES)

    def apply(self, node: NodeId) -> Apply | None:
        """The application at `node`, or None if it is something else."""
        found = self.nodes[node]
        return found if isinstance(found, Apply) else None

    def constant(self, node: NodeId) -> Any:
        """The value of the constant at `node`, or `NOT_CONSTANT`."""
        found = self.nodes[node]
        return found.value if isinstance(found, Constant) else NOT_CONSTANT

    def callee(self, node: NodeId) -> Any:
        """What the application at `node` applies, if it is a constant (a Primitive or GraphRef); else NOT_CONSTANT."""
        found = self.nodes[node]
        return self.constant(found.inputs[0]) if isinstance(found, Apply) else NOT_CONSTANT

    def reference(self, graph: GraphId) -> NodeId | None:
        """The constant node that refers to `graph`, if the program has one."""
        return self.interned.get(GraphRef(graph))

    def inputs(self, node: NodeId) -> tuple[NodeId, ...]:
        """The inputs of an application; nothing for other nodes."""
        found = self.nodes[node]
        return found.inputs if isinstance(found, Apply) else ()

    def owner(self, node: NodeId) -> GraphId | None:
        """The graph that `node` belongs to; None for a constant."""
        found = self.nodes[node]
        return None if isinstance(found, Constant) else found.graph

    def describe(self, node: NodeId) -> str:
        """`node` as the printer would show it; for messages."""
        from semantics.text import describe

        return describe(self, node)

    def describe_name(self, node: NodeId) -> str:
        """`node` as an operand: its name, or its value if it is a constant."""
        from semantics.text import graph_names, names, operand

        return operand(self, node, names(self), graph_names(self))

    @cached_property
    def canonical(self) -> str:
        """The text with every name replaced by its position: equal for two programs that differ in names only."""
        from semantics.text import canonical

        return canonical(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Program) and (self is other or self.canonical == other.canonical)

    def __hash__(self) -> int:
        return hash(self.canonical)

    def __str__(self) -> str:
        from semantics.text import show

        return show(self)

    def __repr__(self) -> str:
        return f"<Program @{self.graphs[self.entry].name}: {len(self.graphs)} graphs, {len(self.nodes)} nodes>"


# A program that has links in place of these two finds them when somebody asks. `__getattr__` would slow every attribute down.
for _name, _number in (("uses", 0), ("owned", 1)):
    _found: cached_property[Any] = cached_property(lambda program, number=_number: program.links[number].now)  # type: ignore[misc]
    _found.__set_name__(Program, _name)
    setattr(Program, _name, _found)


class NotConstant:
    """The answer of `Program.constant` for a node that is none; distinct from every value a program can hold."""

    def __repr__(self) -> str:
        return "NOT_CONSTANT"


NOT_CONSTANT = NotConstant()


def graph_of(program: Program, name: str) -> GraphId:
    """The identifier of the graph called `name`; Malformed with the known names if there is none."""
    for key in sorted(program.graphs):
        if program.graphs[key].name == name:
            return key
    known = ", ".join(f"@{program.graphs[k].name}" for k in sorted(program.graphs))
    raise Malformed(f"no graph is called @{name}", remedy=f"one of {known}")
