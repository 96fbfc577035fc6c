"""
Copying graphs, inside one program or from another: what inlining, specialisation and linking share.

A copy has fresh nodes and fresh graphs; references between copied graphs lead to the copies; all other references, and all
free variables, stay what they were (or what `substitution` says).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from semantics.edit import Edit
from semantics.ir import Apply, Constant, GraphId, GraphRef, NodeId, Parameter, Program
from semantics.scope import Scopes, scopes, scopes_from
from transforms.surgery import needed_in, nest, only_called


@dataclass(frozen=True, slots=True)
class Copied:
    """Where the originals went: graph to graph, node to node."""

    graphs: dict[GraphId, GraphId]
    nodes: dict[NodeId, NodeId]


def copy_graphs(
    edit: Edit,
    source: Program,
    graphs: Iterable[GraphId],
    *,
    found: Scopes | None = None,
    into: Mapping[GraphId, GraphId] | None = None,
    substitution: Mapping[NodeId, NodeId] | None = None,
) -> Copied:
    """
    Copies `graphs` of `source` into the program of `edit`.

    into          graphs whose nodes shall belong to an existing graph instead of a copy; their parameters must be substituted
    substitution  nodes of `source` and the nodes that stand for them

    A node that is neither copied nor substituted is kept as it is, which makes sense when `source` is the program edited.
    Only needed nodes are copied.
    """
    graphs = tuple(graphs)
    into = into or {}
    found = found or scopes_from(source, graphs)
    new_graphs: dict[GraphId, GraphId] = {}
    nodes: dict[NodeId, NodeId] = dict(substitution or {})
    copied: list[tuple[NodeId, Apply]] = []
    for graph in graphs:
        original = source.graphs[graph]
        new_graphs[graph] = into[graph] if graph in into else edit.graph(original.name, original.location)
        if graph not in into:
            olds = [source.nodes[node] for node in original.parameters]
            news = [Parameter(new_graphs[graph], p.name, p.type, p.location) for p in olds if isinstance(p, Parameter)]
            nodes.update(zip(original.parameters, edit.parameters(news), strict=True))
    edit.constant(None)  # every copy brings it along, into an existing graph too: the numbers of what comes next count it
    for graph in graphs:
        for node in sorted(found.needed[graph]):
            application = source.nodes[node]
            if isinstance(application, Apply) and application.graph == graph and node not in nodes:
                nodes[node] = edit.reserve()
                copied.append((node, application))

    def target(node: NodeId) -> NodeId:
        if node in nodes:
            return nodes[node]
        match source.nodes[node]:
            case Constant(GraphRef(graph)):
                return edit.reference(new_graphs.get(graph, graph))
            case Constant(value):
                return edit.constant(value)
            case _:
                return node

    for node, old in copied:
        inputs = tuple(map(target, old.inputs))
        edit.fill(nodes[node], Apply(new_graphs[old.graph], inputs, old.name, old.location))
    for graph in graphs:
        if graph not in into:
            edit.output(new_graphs[graph], target(source.graphs[graph].output))
    outputs = {source.graphs[g].output: target(source.graphs[g].output) for g in graphs}
    return Copied(new_graphs, {**nodes, **outputs})


def apart(program: Program, graph: GraphId, most: int) -> Program:
    """The program in which each call of a graph is of a copy; itself if it is used otherwise, called in itself, or more often."""
    copies, uses = nest(program, graph), only_called(program, graph) or ()
    if not 1 < len(uses) <= most or any(program.owner(use.user) in copies for use in uses):
        return program
    edit = Edit(program)
    for use in uses[1:]:
        copied = copy_graphs(edit, program, copies, found=Scopes({}, needed_in(program, copies), {}))
        edit.set_inputs(use.user, (edit.reference(copied.graphs[graph]), *program.inputs(use.user)[1:]))
    return edit.program


def link(edit: Edit, source: Program) -> GraphId:
    """Copies all that the entry of `source` reaches into the program of `edit`, and answers with the copied entry."""
    found = scopes(source)
    return copy_graphs(edit, source, found.free, found=found).graphs[source.entry]
