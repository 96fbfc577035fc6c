"""
Editing a program: a cursor that holds the current immutable `Program` and moves it from one to the next.

    edit = Edit(program)
    y = edit.apply(graph, edit.constant(mul), x, x)
    edit.replace(old, y)
    return edit.program

Every method keeps both directions of the links and the interning of constants. A cycle of applications inside one graph
is not checked here but by `wellformed`. The cursor is local to the function that makes it; programs stay values.

New nodes are collected, and put into their map when it is asked for: a map that takes several at once copies the way to each place
once. The links of new applications wait longer, until somebody asks a program for them (`semantics.links`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from immutables import Map, MapMutation

from semantics.array_evidence import holds_arrays, speaks_of_arrays
from semantics.errors import Location
from semantics.ir import NO_USES, Apply, Constant, Graph, GraphId, GraphRef, Node, NodeId, Parameter, Program, Use
from semantics.links import Additions, Sets, put_in
from semantics.primitives.row import Primitive
from semantics.values import atom

THEMSELVES = frozenset((GraphRef, Primitive))
"""Of what is most often looked for, the types whose `atom` is the value itself."""

NEW = tuple.__new__
"""Makes a named tuple of a tuple; its own `__new__` is a function of Python's, which takes three times as long."""


def empty() -> Program:
    """A program with no graph; the first graph added becomes its entry."""
    return Program(Map(), Map(), Map(), Map(), Map(), entry=-1, next_id=0)


class Edit:
    """A moving cursor over immutable programs; `program` is where it stands."""

    __slots__ = (
        "_adding",
        "_asked",
        "_new_uses",
        "_nodes",
        "_owned",
        "_owning",
        "_touched",
        "_uses",
        "_waiting",
        "arrays",
        "entry",
        "graphs",
        "interned",
        "next_id",
        "returns",
    )

    def __init__(self, program: Program) -> None:
        self.graphs, self._nodes = program.graphs, program.nodes
        self.returns, self.interned = program.returns, program.interned
        self._waiting: tuple[Sets[Use], Sets[NodeId]] | None = None
        if "uses" in vars(program):
            self._uses, self._owned = program.uses, program.owned
        else:
            self._waiting = program.links
        self.entry, self.next_id, self.arrays = program.entry, program.next_id, program.arrays
        self._asked, self._touched = False, set[NodeId]()
        self._adding: MapMutation[NodeId, Node] | None = None
        self._new_uses: Additions[Use] = []
        self._owning: Additions[NodeId] = []

    @property
    def nodes(self) -> Map[NodeId, Node]:
        """The nodes so far."""
        if self._adding is not None:
            self._nodes, self._adding = self._adding.finish(), None
        return self._nodes

    @nodes.setter
    def nodes(self, nodes: Map[NodeId, Node]) -> None:
        """Other names and types for nodes, whose links stay as they are."""
        self._nodes, self._adding = nodes, None

    @property
    def uses(self) -> Map[NodeId, Map[Use, None]]:
        """The uses of nodes so far."""
        self._asked = True
        self._settle()
        if self._new_uses:
            self._uses, self._new_uses = put_in(self._uses, self._new_uses), []
        return self._uses

    @property
    def owned(self) -> Map[GraphId, Map[NodeId, None]]:
        """The applications of graphs so far."""
        self._settle()
        if self._owning:
            self._owned, self._owning = put_in(self._owned, self._owning), []
        return self._owned

    def _settle(self) -> None:
        """The maps are there."""
        if self._waiting is not None:
            self._uses, self._owned, self._waiting = self._waiting[0].now, self._waiting[1].now, None

    def _links(self) -> tuple[Sets[Use], Sets[NodeId]]:
        """Both of these, for whoever asks."""
        uses, owned = self._waiting or (Sets(self._uses), Sets(self._owned))
        if self._new_uses:
            uses, self._new_uses = uses.with_more(self._new_uses), []
        if self._owning:
            owned, self._owning = owned.with_more(self._owning), []
        self._waiting = uses, owned
        return uses, owned

    @property
    def program(self) -> Program:
        """The program as edited so far. Its own constructor, which a frozen dataclass has, takes three times as long."""
        program = object.__new__(Program)
        vars(program).update(
            graphs=self.graphs,
            nodes=self.nodes,
            returns=self.returns,
            interned=self.interned,
            entry=self.entry,
            next_id=self.next_id,
            touched=frozenset(self._touched),
            arrays=self.arrays,
        )
        if self._asked:  # whoever replaces nodes asks the next program too
            vars(program).update(uses=self.uses, owned=self.owned)
        else:
            vars(program).update(links=self._links())
        return program

    # graphs

    def graph(self, name: str, location: Location | None = None) -> GraphId:
        """A new graph with no parameters, whose output is the constant None until `output` sets it."""
        key = self._fresh()
        nothing = self.constant(None)
        self.graphs = self.graphs.set(key, Graph(name, (), nothing, location))
        self._add_return(nothing, key)
        if self.entry < 0:
            self.entry = key
        return key

    def parameter(self, graph: GraphId, name: str = "", type: Any = None, location: Location | None = None) -> NodeId:
        """A new last parameter of `graph`."""
        return self.parameters([Parameter(graph, name, type, location)])[0]

    def parameters(self, new: Sequence[Parameter]) -> list[NodeId]:
        """New last parameters of one graph, which each of them names."""
        nodes = [self._add(parameter) for parameter in new]
        self.arrays = self.arrays or any(holds_arrays(parameter.type) for parameter in new)
        if new:
            old = self.graphs[new[0].graph]
            self.graphs = self.graphs.set(new[0].graph, Graph(old.name, (*old.parameters, *nodes), old.output, old.location))
        return nodes

    def output(self, graph: GraphId, node: NodeId) -> None:
        """Makes `node` the output of `graph`."""
        old = self.graphs[graph]
        self._remove_return(old.output, graph)
        self.graphs = self.graphs.set(graph, Graph(old.name, old.parameters, node, old.location))
        self._add_return(node, graph)
        self._touched |= {old.output, node}

    def set_parameters(self, graph: GraphId, parameters: tuple[NodeId, ...]) -> None:
        """Reorders or drops parameters; dropped ones must have no use and are removed."""
        old = self.graphs[graph]
        self.graphs = self.graphs.set(graph, replace(old, parameters=parameters))
        for node in set(old.parameters) - set(parameters):
            self._forget(node)

    def rename(self, graph: GraphId, name: str) -> None:
        """Gives `graph` another name to be printed by."""
        self.graphs = self.graphs.set(graph, replace(self.graphs[graph], name=name))

    def set_entry(self, graph: GraphId) -> None:
        """Makes `graph` the one that runs."""
        self.entry = graph

    def remove_graph(self, graph: GraphId) -> None:
        """Removes a graph and its parameters; its applications and its reference must be removed by the caller."""
        old = self.graphs[graph]
        self._remove_return(old.output, graph)
        self._touched.add(old.output)
        self.graphs = self.graphs.delete(graph)
        for node in old.parameters:
            self._forget(node)

    # nodes

    def constant(self, value: Any) -> NodeId:
        """The node of a constant; one node per value, told apart in BITS and by type."""
        key = value if type(value) in THEMSELVES else atom(value)
        found = self.interned.get(key)
        if found is None:
            found = self._add(Constant(value))
            self.arrays = self.arrays or speaks_of_arrays(value)
            self.interned = self.interned.set(key, found)
        return found

    def reference(self, graph: GraphId) -> NodeId:
        """The constant that refers to `graph`."""
        return self.constant(GraphRef(graph))

    def apply(self, graph: GraphId, *inputs: NodeId, name: str = "", location: Location | None = None) -> NodeId:
        """A new application in `graph`; `inputs[0]` is the function."""
        node = self.reserve()
        self.fill(node, Apply(graph, inputs, name, location))
        return node

    def reserve(self) -> NodeId:
        """The identifier of an application that `fill` adds later, for those that are to refer to one another."""
        return self._fresh()

    def fill(self, node: NodeId, application: Apply) -> None:
        """Adds an application whose identifier has been reserved."""
        self._put(node, application)
        self._own(application.graph, node)
        self._add_uses(node, application.inputs)

    def call(self, graph: GraphId, function: Any, *arguments: NodeId, name: str = "", location: Location | None = None) -> NodeId:
        """`apply` of a constant function: a Primitive or a GraphRef value."""
        return self.apply(graph, self.constant(function), *arguments, name=name, location=location)

    def set_inputs(self, node: NodeId, inputs: tuple[NodeId, ...]) -> None:
        """Gives the application `node` other inputs."""
        old = self.nodes[node]
        assert isinstance(old, Apply), "only an application has inputs"
        self._remove_uses(node, old.inputs)
        self._put(node, Apply(old.graph, inputs, old.name, old.location))
        self._add_uses(node, inputs)
        self._touched.update(old.inputs)

    def replace(self, old: NodeId, new: NodeId) -> None:
        """Every use of `old`, as an input or as an output, becomes a use of `new`. `old` stays, unused."""
        if old == new:
            return
        for use in sorted(self.uses.get(old, NO_USES)):
            user = self.nodes[use.user]
            assert isinstance(user, Apply)
            inputs = (*user.inputs[: use.index], new, *user.inputs[use.index + 1 :])
            self._put(use.user, Apply(user.graph, inputs, user.name, user.location))
            self._new_uses.append((new, use))
        self._forget_uses(old)
        for graph in sorted(self.returns.get(old, Map())):
            self.output(graph, new)
        self._touched |= {old, new}

    def remove(self, node: NodeId) -> None:
        """Removes an application or constant that has no use left."""
        assert not self.uses.get(node), "a used node cannot be removed"
        assert not self.returns.get(node), "an output cannot be removed"
        old = self.nodes[node]
        if isinstance(old, Apply):
            self._remove_uses(node, old.inputs)
            self._touched.update(old.inputs)
            self._disown(old.graph, node)
        elif isinstance(old, Constant):
            self.interned = self.interned.delete(atom(old.value))
        self._forget(node)

    def move(self, node: NodeId, graph: GraphId) -> None:
        """Makes the application `node` belong to `graph`."""
        old = self.nodes[node]
        assert isinstance(old, Apply), "only an application moves"
        self._put(node, replace(old, graph=graph))
        self._disown(old.graph, node)
        self._own(graph, node)

    # links

    def _fresh(self) -> int:
        self.next_id += 1
        return self.next_id - 1

    def _add(self, node: Node) -> NodeId:
        key = self._fresh()
        self._put(key, node)
        return key

    def _put(self, key: NodeId, node: Node) -> None:
        if self._adding is None:
            self._adding = self._nodes.mutate()
        self._adding[key] = node
        self._touched.add(key)

    def _own(self, graph: GraphId, node: NodeId) -> None:
        self._owning.append((graph, node))

    def _disown(self, graph: GraphId, node: NodeId) -> None:
        owned = self.owned
        rest = owned[graph].delete(node)
        self._owned = owned.set(graph, rest) if rest else owned.delete(graph)

    def _forget(self, node: NodeId) -> None:
        self._nodes = self.nodes.delete(node)
        self._forget_uses(node)
        self._touched.discard(node)

    def _forget_uses(self, node: NodeId) -> None:
        if node in (uses := self.uses):
            self._uses = uses.delete(node)

    def _add_uses(self, node: NodeId, inputs: tuple[NodeId, ...]) -> None:
        self._new_uses += [(target, NEW(Use, (node, index))) for index, target in enumerate(inputs)]

    def _remove_uses(self, node: NodeId, inputs: tuple[NodeId, ...]) -> None:
        uses = self.uses
        for index, target in enumerate(inputs):
            rest = uses[target].delete(Use(node, index))
            uses = uses.set(target, rest) if rest else uses.delete(target)
        self._uses = uses

    def _add_return(self, node: NodeId, graph: GraphId) -> None:
        self.returns = self.returns.set(node, self.returns.get(node, Map()).set(graph, None))

    def _remove_return(self, node: NodeId, graph: GraphId) -> None:
        rest = self.returns[node].delete(graph)
        self.returns = self.returns.set(node, rest) if rest else self.returns.delete(node)


def applying(primitive: Primitive) -> Program:
    """The program that applies `primitive` to its parameters; of a variadic one, to a single one."""
    edit = Edit(empty())
    graph = edit.graph(primitive.name, primitive.location)
    names = ("x",) if "*" in primitive.parameters else primitive.parameters
    parameters = [edit.parameter(graph, name) for name in names]
    edit.output(graph, edit.call(graph, primitive, *parameters))
    return edit.program
