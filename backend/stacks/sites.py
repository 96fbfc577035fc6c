"""
Stacks in a program: which `make_tuple` pushes, and which tuples may be at a place.

The adjoint of a loop keeps what a turn leaves as (a, …) on top of the rest: a tuple that may hold one made at the same place.
Such a place is a *site*; the tuples made there are the cells of a stack (`backend.stacks.cells`). They are found by following every
function and tuple from where it is made to where it is used, by graph and without types: a constraint graph grown until nothing
changes (Heintze and McAllester, 1997).

What is made in a way that is not followed is a source as well, and a function that gets there may be called with anything; so what
is not said to be at a place is never there. Which places are sites decides only how a value is stored: the types of every cell are
inferred afterwards, and code that they do not fit is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from backend.recursion.calls import AFTER, ANSWER, ANSWERED, CALL, IS, LINK
from backend.recursion.frames import FRAME, RESULT
from semantics.arrays import Array
from semantics.ir import Apply, Constant, GraphRef, NodeId, Parameter, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.structured import Record, Slice
from semantics.tangents import Zero
from transforms.directed import components

MAKE_TUPLE, GETITEM, SWITCH = TABLE["make_tuple"], TABLE["getitem"], TABLE["switch"]
TUPLES = (MAKE_TUPLE, FRAME, CALL, ANSWER)
CARRIED = (RESULT, AFTER, ANSWERED, *(TABLE[name] for name in ("of_length", "apart", "J")))  # give their first argument
WITHOUT_PARTS = frozenset({"length", "seed", "range_length", "is_instance", "to_boolean", IS.name})
WITHOUT_FUNCTIONS = frozenset({"add", "sub", "mul", "div", "lt", "gt", "le", "ge", "eq", "ne"})  # numbers, or arrays of them
STEPS = 400_000
UNKNOWN = -1  # a tuple, function or slice that was made in a way that is not followed
GIVEN = -2  # an array, or an argument of the entry: its parts are no functions, and no tuples that are made
EMPTY, ZEROED = -3, -4  # the empty tuple, which has no elements, and ZERO, of which each is ZERO


class Flows:
    """
    What the values of every node may be.

    reaching   the applications of make_tuple, as nodes, and the references to graphs whose values it may have; UNKNOWN, GIVEN, …
    arguments  of a parameter, the nodes that calls give it; UNKNOWN if its graph may be called where that is not followed
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.reaching: dict[NodeId, set[NodeId]] = {}
        self.onward: dict[NodeId, set[NodeId]] = {}
        self.watching: dict[NodeId, list[NodeId]] = {}
        self.selecting: dict[NodeId, list[NodeId]] = {}
        self.arguments: dict[NodeId, set[NodeId]] = {}
        self.leaving: set[NodeId] = set()
        self.left: set[NodeId] = set()
        self.todo: list[tuple[NodeId, NodeId]] = []
        self.settled = self.run()

    def run(self) -> bool:
        """Whether it came to an end within STEPS."""
        for node, found in self.program.nodes.items():
            self.begin(node, found)
        for _ in range(STEPS):
            if not self.todo:
                return True
            node, source = self.todo.pop()
            for target in self.onward.get(node, ()):
                self.reach(target, source)
            for application in self.watching.get(node, ()):
                self.meet(application, source)
            if source == UNKNOWN:
                for application in self.selecting.get(node, ()):
                    self.reach(application, UNKNOWN)
            if node in self.leaving:
                self.lose(source)
        return False

    def begin(self, node: NodeId, found: Any) -> None:
        """What a node is by itself, and whose value it has."""
        match found:
            case Constant(GraphRef()):
                self.reach(node, node)
            case Constant(Array()):
                self.reach(node, GIVEN)
            case Constant(()):
                self.reach(node, EMPTY)
            case Constant(Zero()):
                self.reach(node, ZEROED)
            case Constant(tuple() | Record() | Slice()):
                self.reach(node, UNKNOWN)
            case Constant(Primitive(name=name)) if name not in WITHOUT_PARTS | WITHOUT_FUNCTIONS:
                self.reach(node, UNKNOWN)
            case Parameter() if self.program.owner(node) == self.program.entry:
                self.reach(node, GIVEN)
            case Apply(_, inputs):
                primitive = self.program.callee(node)
                if primitive in TUPLES:
                    self.reach(node, node)
                elif primitive is GETITEM:
                    self.watch(inputs[1], node)
                    self.selecting.setdefault(inputs[2], []).append(node)
                elif primitive is SWITCH:
                    self.connect(inputs[2], node)
                    self.connect(inputs[3], node)
                elif primitive in CARRIED:
                    self.connect(inputs[1], node)
                    if primitive is AFTER:
                        self.watch(node, node)
                elif not isinstance(primitive, Primitive):
                    self.watch(inputs[0], node)
                elif primitive.name in WITHOUT_FUNCTIONS:
                    self.reach(node, GIVEN)
                elif primitive.name not in WITHOUT_PARTS:
                    self.reach(node, UNKNOWN)
                    self.leave(inputs[1:])

    def reach(self, node: NodeId, source: NodeId) -> None:
        known = self.reaching.setdefault(node, set())
        if source not in known:
            known.add(source)
            self.todo.append((node, source))

    def connect(self, source: NodeId, target: NodeId) -> None:
        """What `source` may be, `target` may be."""
        if target not in self.onward.setdefault(source, set()):
            self.onward[source].add(target)
            for value in tuple(self.reaching.get(source, ())):
                self.reach(target, value)

    def watch(self, node: NodeId, application: NodeId) -> None:
        self.watching.setdefault(node, []).append(application)
        for value in tuple(self.reaching.get(node, ())):
            self.meet(application, value)

    def meet(self, application: NodeId, source: NodeId) -> None:
        """The function that is called, or the tuple that is read, may be `source`."""
        inputs = self.program.inputs(application)
        callee = self.program.callee(application)
        if source == UNKNOWN:
            self.reach(application, UNKNOWN)
            if not isinstance(callee, Primitive):
                self.leave(inputs[1:])
        elif source < 0:
            if callee is GETITEM and source != EMPTY:
                self.reach(application, source)
        elif callee is AFTER:
            self.connect(self.program.inputs(source)[1 + LINK], application)
        elif callee is GETITEM:
            for part in self.parts(source, inputs[2]):
                self.connect(part, application)
        elif isinstance(reference := self.program.constant(source), GraphRef):
            graph = self.program.graphs[reference.graph]
            for parameter, argument in zip(graph.parameters, inputs[1:], strict=False):
                self.arguments.setdefault(parameter, set()).add(argument)
                self.connect(argument, parameter)
            self.connect(graph.output, application)

    def leave(self, nodes: Iterable[NodeId]) -> None:
        """The values of these nodes go where they are not followed."""
        for node in nodes:
            if node not in self.leaving:
                self.leaving.add(node)
                for source in tuple(self.reaching.get(node, ())):
                    self.lose(source)

    def lose(self, source: NodeId) -> None:
        """A function may be called with anything from now on, and what it gives is not followed; so are the parts of a tuple."""
        if source in self.left or source < 0:
            return
        self.left.add(source)
        if isinstance(reference := self.program.constant(source), GraphRef):
            graph = self.program.graphs[reference.graph]
            for parameter in graph.parameters:
                self.arguments.setdefault(parameter, set()).add(UNKNOWN)
                self.reach(parameter, UNKNOWN)
            self.leave((graph.output,))
        elif self.program.callee(source) in TUPLES:
            self.leave(self.program.inputs(source)[1:])

    def parts(self, site: NodeId, index: NodeId) -> tuple[NodeId, ...]:
        """The fields of the tuples made at a site that an index may select."""
        if site < 0 or self.program.callee(site) not in TUPLES:
            return ()
        fields, chosen = self.program.inputs(site)[1:], self.program.constant(index)
        if type(chosen) is not int:
            return fields
        return (fields[chosen],) if -len(fields) <= chosen < len(fields) else ()


def stack_sites(program: Program) -> dict[NodeId, int]:
    """The applications that push, each with the number of its argument that is the stack below; none if that cannot be told."""
    return sites_of(program, Flows(program))


def holders_of(program: Program, flows: Flows, sites: Mapping[NodeId, int]) -> dict[NodeId, NodeId]:
    """For every node whose value is no tuple but a stack of one site, or an empty one, that site."""
    reaching = ((node, flows.reaching.get(node, set()) - {GIVEN, EMPTY, ZEROED}) for node in program.nodes)
    return {node: next(iter(found)) for node, found in reaching if len(found) == 1 and found <= sites.keys()}


def sites_of(program: Program, flows: Flows) -> dict[NodeId, int]:
    """The same, where the flow of tuples is known."""
    if not flows.settled:
        return {}
    fields = {n: program.inputs(n)[1:] for n in program.nodes if program.callee(n) is MAKE_TUPLE}
    held = {n: [[s for s in flows.reaching.get(f, ()) if s in fields] for f in found] for n, found in fields.items()}
    component = components({n: [s for part in parts for s in part] for n, parts in held.items()})
    size: dict[int, int] = {}
    for number in component.values():
        size[number] = size.get(number, 0) + 1
    sites = {}
    for node, found in held.items():
        below = [k for k, part in enumerate(found) if node in part]
        if len(below) == 1 and size[component[node]] == 1 and found[below[0]] == [node]:
            sites[node] = below[0]
    return sites
