"""
Which graphs of a first-order program are the blocks of one function: contification by dominators (Fluet and Weeks, 2001).

A *region* is what runs until one and the same place is returned to. It begins with a graph that is called, and then becomes a
function of its own; or with a conditional call `switch(c, @t, @e)(…)` that is not at the output, and then becomes the two sides of
a diamond inside the function that makes it. A graph is a block of the region from which alone it can be reached by tail calls: the
region is its outermost dominator in the graph whose edges are the tail calls, below a root with an edge to every region.

`regions` refuses what is not of first order: graphs stand only where they are called or chosen between to be called, and
primitives only where they are called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from semantics.errors import Malformed, wrong_count
from semantics.ir import Apply, GraphId, GraphRef, NodeId, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.scope import evaluation_order, scopes
from semantics.ssa.dominance import dominators_in
from semantics.ssa.form import OUTSIDE

SWITCH = TABLE["switch"]
TOP = -1
RegionId = int  # of a graph that is called, or of the node of a conditional call: identifiers are of one family


class Choice(NamedTuple):
    """What is called by `switch(condition, @then, @otherwise)(…)`."""

    condition: NodeId
    then: GraphId
    otherwise: GraphId


@dataclass(frozen=True, slots=True)
class Regions:
    """
    region     graph to its region
    called     the application of a graph to the graph, or to the two that are chosen between
    choices    the applications of `switch` that choose between graphs
    functions  every graph that becomes a function, in order of discovery, to the graphs whose blocks it has
    """

    region: dict[GraphId, RegionId]
    called: dict[NodeId, GraphId | Choice]
    choices: frozenset[NodeId]
    functions: dict[GraphId, tuple[GraphId, ...]]

    def own(self, program: Program, graph: GraphId) -> tuple[NodeId, ...]:
        """The applications of a graph that become code, in order of evaluation."""
        order = evaluation_order(program, graph)
        return tuple(n for n in order if program.owner(n) == graph and program.apply(n) is not None and n not in self.choices)

    def jumps(self, program: Program, graph: GraphId) -> bool:
        """Whether the output of a graph is control that goes on to a block, and no value."""
        output = program.graphs[graph].output
        target = self.called.get(output) if program.owner(output) == graph else None
        return isinstance(target, Choice) or (target is not None and self.region[target] == self.region[graph])


def regions(program: Program) -> Regions:
    """The regions of all graphs that the entry reaches. Malformed, with the node, if the program is not of first order."""
    called: dict[NodeId, GraphId | Choice] = {}
    choices: set[NodeId] = set()
    edges: dict[int, list[int]] = {TOP: [program.entry]}
    sites: dict[NodeId, GraphId] = {}
    for graph in scopes(program).free:
        output = program.graphs[graph].output
        if _is_function(program, output):
            raise _refused(program, output, f"@{program.graphs[graph].name} returns a function")
        edges.setdefault(graph, [])
        for node in evaluation_order(program, graph):
            application = program.apply(node)
            if application is None:
                continue
            if _is_choice(program, node):
                choices.add(node)
            if application.graph != graph:
                if node in choices or _is_choice(program, node):
                    raise _refused(program, node, f"@{program.graphs[graph].name} captures a function")
                continue
            _check_arguments(program, node, application)
            target = _target(program, node, application)
            if target is None:
                continue
            called[node] = target
            ends = [target.then, target.otherwise] if isinstance(target, Choice) else [target]
            for end in ends:
                _check_arity(program, node, application, end)
            if node == output:
                edges[graph] += ends
            elif isinstance(target, Choice):
                edges[TOP].append(node)
                edges[node], sites[node] = ends, graph
            else:
                edges[TOP] += ends
    region = outermost(edges)
    home = _homes(region, sites)
    functions: dict[GraphId, list[GraphId]] = {}
    for graph in scopes(program).free:
        functions.setdefault(home[region[graph]], []).append(graph)
    return Regions(region, called, frozenset(choices), {f: tuple(g) for f, g in functions.items()})


def outermost(edges: Mapping[int, Sequence[int]]) -> dict[int, int]:
    """The outermost dominator below TOP of everything that TOP leads to."""
    tree = dominators_in({at + 1: tuple(to + 1 for to in targets) for at, targets in edges.items()})  # TOP becomes the root, #0
    found: dict[int, int] = {}
    for label, parent in tree.immediate.items():
        found[label - 1] = label - 1 if parent == OUTSIDE else found[parent - 1]
    return found


def _homes(region: Mapping[int, RegionId], sites: Mapping[NodeId, GraphId]) -> dict[RegionId, GraphId]:
    """The function that every region is a part of. A diamond is a part of what the graph that makes the call is a part of."""
    home: dict[RegionId, GraphId] = {}
    for start in set(region.values()):
        path = [start]
        while path[-1] in sites and path[-1] not in home:
            path.append(region[sites[path[-1]]])
        home.update(dict.fromkeys(path, home.get(path[-1], path[-1])))
    return home


def _is_choice(program: Program, node: NodeId) -> bool:
    """Whether a node is a `switch` that answers with a function."""
    return program.callee(node) is SWITCH and any(_is_known(program, n) for n in program.inputs(node)[2:])


def _is_known(program: Program, node: NodeId) -> bool:
    return isinstance(program.constant(node), (GraphRef, Primitive))


def _is_function(program: Program, node: NodeId) -> bool:
    return _is_known(program, node) or _is_choice(program, node)


def _check_arguments(program: Program, node: NodeId, application: Apply) -> None:
    """No argument is a function, but the two graphs that a `switch` chooses between."""
    chooses = _is_choice(program, node)
    for index, argument in enumerate(application.inputs):
        if chooses and index >= 2:
            if not isinstance(program.constant(argument), GraphRef):
                raise _refused(program, node, "a switch chooses between a graph and something else")
        elif index > 0 and _is_function(program, argument):
            raise _refused(program, node, "a function is passed as a value")


def _target(program: Program, node: NodeId, application: Apply) -> GraphId | Choice | None:
    """The graph that is applied, or the two that are chosen between; None for a primitive."""
    callee = program.constant(application.function)
    if isinstance(callee, Primitive):
        return None
    if isinstance(callee, GraphRef):
        return callee.graph
    if _is_choice(program, application.function) and program.owner(application.function) == application.graph:
        _, condition, then, otherwise = program.inputs(application.function)
        a, b = program.constant(then), program.constant(otherwise)
        if isinstance(a, GraphRef) and isinstance(b, GraphRef):
            return Choice(condition, a.graph, b.graph)
    raise _refused(program, node, "what is called is not known")


def _check_arity(program: Program, node: NodeId, application: Apply, target: GraphId) -> None:
    """As many arguments as parameters."""
    graph, given = program.graphs[target], len(application.arguments)
    wanted = len(graph.parameters)
    if wanted != given:
        error = wrong_count(graph.name, wanted, given, application.location or graph.location)
        error.node = program.describe(node)
        raise error


def _refused(program: Program, node: NodeId, what: str) -> Malformed:
    return Malformed(
        f"{what}: SSA form is for programs of first order",
        rule="first_order",
        node=program.describe(node),
        location=getattr(program.nodes[node], "location", None),
        remedy="inline it first (`first_order`), or differentiate by J",
    )
