"""
Small questions and edits that several passes share: what stands at a place, which graphs are nested in one, what to put
where an application stood. Nothing here looks further than it must: the cost is that of the part that is touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from semantics.edit import Edit
from semantics.ir import Apply, Constant, GraphId, GraphRef, NodeId, Program, Use
from semantics.primitives.row import Primitive


def application(program: Program, place: int, primitive: Primitive | None = None) -> Apply | None:
    """The application at `place`, if there is one (and if it applies `primitive`, when that is given)."""
    found = program.nodes.get(place)
    if not isinstance(found, Apply) or (primitive is not None and program.constant(found.inputs[0]) is not primitive):
        return None
    return found


def arguments_of(program: Program, node: NodeId, primitive: Primitive) -> tuple[NodeId, ...] | None:
    """The arguments of `node` if it applies `primitive` to as many as it takes; else None."""
    found = application(program, node, primitive)
    if found is None or not primitive.takes(len(found.arguments)):
        return None
    return found.arguments


def called_graph(program: Program, node: NodeId) -> GraphId | None:
    """The graph that the application at `node` calls by its reference; else None."""
    callee = program.callee(node) if node in program.nodes else None
    return callee.graph if isinstance(callee, GraphRef) else None


def become(edit: Edit, old: NodeId, new: NodeId) -> Program:
    """The program in which `new` stands where the application `old` stood; `old` is gone."""
    edit.replace(old, new)
    edit.remove(old)
    return edit.program


def index_of(program: Program, node: NodeId) -> int | None:
    """The integer constant at `node`, if it is one."""
    value = program.constant(node)
    return value if type(value) is int else None


def applications(program: Program, graph: GraphId) -> Iterable[NodeId]:
    """The applications that `graph` owns, needed or not, in order."""
    return sorted(program.owned.get(graph, ()))


def referrers(program: Program, graph: GraphId) -> Iterator[GraphId]:
    """The graphs that use the reference of `graph`, in an application or as their output."""
    reference = program.reference(graph)
    if reference is not None:
        for use in program.users(reference):
            owner = program.owner(use.user)
            assert owner is not None
            yield owner
        yield from program.returns.get(reference, ())


def referred(program: Program, graph: GraphId) -> Iterator[GraphId]:
    """The graphs that `graph` refers to, in its applications or as its output."""
    for node in _used_by(program, graph):
        value = program.constant(node)
        if isinstance(value, GraphRef):
            yield value.graph


def lenders(program: Program, graph: GraphId) -> Iterator[GraphId]:
    """The other graphs of which `graph` uses a node, or returns one."""
    for node in _used_by(program, graph):
        owner = program.owner(node)
        if owner is not None and owner != graph:
            yield owner


def _used_by(program: Program, graph: GraphId) -> Iterator[NodeId]:
    """The output of `graph`, and the inputs of its applications."""
    yield program.graphs[graph].output
    for node in program.owned.get(graph, ()):
        yield from program.inputs(node)


def borrowers(program: Program, graph: GraphId) -> Iterator[GraphId]:
    """The other graphs that use a node of `graph`, or return one."""
    for node in chain(program.graphs[graph].parameters, program.owned.get(graph, ())):
        for use in program.users(node):
            owner = program.owner(use.user)
            if owner is not None and owner != graph:
                yield owner
        for other in program.returns.get(node, ()):
            if other != graph:
                yield other


def nest(program: Program, graph: GraphId) -> tuple[GraphId, ...]:
    """`graph` first, then all that is nested in it: what must be copied when it is copied."""
    found = nest_within(program, graph, None)
    assert found is not None
    return found


def nest_within(program: Program, graph: GraphId, limit: int | None) -> tuple[GraphId, ...] | None:
    """`nest`, or None as soon as its graphs are seen to own more than `limit` applications."""
    inside = {graph: None}
    size = len(program.owned.get(graph, ()))
    todo = [graph]
    while todo:
        current = todo.pop()
        near: set[GraphId] = set()
        for other in chain(borrowers(program, current), referrers(program, current) if current != graph else ()):
            if other not in inside and other not in near:
                near.add(other)
                size += len(program.owned.get(other, ()))
                if limit is not None and size > limit:
                    return None
        for other in sorted(near):
            inside[other] = None
            todo.append(other)
    return tuple(inside)


def needed_in(program: Program, graphs: Iterable[GraphId]) -> dict[GraphId, frozenset[NodeId]]:
    """For each of `graphs`, its own applications that the outputs of `graphs` need."""
    found: dict[GraphId, set[NodeId]] = {g: set() for g in graphs}
    todo = [program.graphs[g].output for g in found]
    while todo:
        node = todo.pop()
        application = program.nodes[node]
        if isinstance(application, Apply) and application.graph in found and node not in found[application.graph]:
            found[application.graph].add(node)
            todo.extend(application.inputs)
    return {g: frozenset(nodes) for g, nodes in found.items()}


def only_called(program: Program, graph: GraphId) -> tuple[Use, ...] | None:
    """The uses of the reference of `graph`, if every one calls it with as many arguments as it takes; else None."""
    reference = program.reference(graph)
    if reference is None:
        return ()
    uses = tuple(sorted(program.users(reference)))
    arity = len(program.graphs[graph].parameters)
    if program.returns.get(reference) or any(u.index != 0 or len(program.inputs(u.user)) != arity + 1 for u in uses):
        return None
    return uses


def scalar(value: object) -> bool:
    """Whether a constant of this value may stand for a computed one: numbers, booleans, unit and ZERO."""
    from semantics.tangents import Zero

    return type(value) in (int, float, bool) or value is None or isinstance(value, Zero)


def plain(program: Program, node: NodeId) -> bool:
    """Whether `node` is a constant that is no function."""
    found = program.nodes[node]
    return isinstance(found, Constant) and not isinstance(found.value, (GraphRef, Primitive))


def discard(edit: Edit, program: Program, nodes: Iterable[NodeId], graphs: Iterable[GraphId]) -> None:
    """Removes applications and whole graphs that only one another still use."""
    graphs = tuple(graphs)
    owned = [*nodes, *(node for graph in graphs for node in applications(program, graph))]
    for node in owned:
        edit.set_inputs(node, ())
    nothing = edit.constant(None)
    for graph in graphs:
        edit.output(graph, nothing)
    for node in owned:
        edit.remove(node)
    for graph in graphs:
        reference = program.reference(graph)
        if reference is not None:
            edit.remove(reference)
        edit.remove_graph(graph)
