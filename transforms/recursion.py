"""
Which graphs can come to call themselves: what inlining must know before it unfolds a call.

One graph *leads to* another by referring to it, or by using a node that holds it as a value: the owner of a node counts as
referring to all that the node holds. A graph that leads to itself is recursive, as far as one can see without running it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain

from immutables import Map

from semantics.ir import GraphId, GraphRef, NodeId, Program
from semantics.primitives.table import TABLE
from transforms.directed import components
from transforms.surgery import nest

CARRIERS = (
    *(TABLE["make_tuple"], TABLE["getitem"], TABLE["switch"], TABLE["gadd"], TABLE["J"], TABLE["of_length"]),
    *(TABLE["make_record"], TABLE["field"], TABLE["with_field"], TABLE["of_class"], TABLE["append"], TABLE["concat"]),
    *(TABLE["values_of"], TABLE["iterated"]),
)


def reaches(program: Program, target: GraphId, arguments: Iterable[NodeId]) -> bool:
    """Whether the body of `target`, called with `arguments`, can come to call `target` again: through itself, or through them."""
    passed = {g for g in held(program, arguments) if g is not None}
    if passed and (target in passed or _lead(program, passed, target)):
        return True
    return target not in acyclic(program) and _lead(program, _targets(program, target), target)


def _lead(program: Program, sources: Iterable[GraphId], target: GraphId) -> bool:
    """
    Whether one of `sources` is `target`, or leads to it. The search goes down from them and up from it in turn, and the side that
    is exhausted first answers.
    """
    sources = set(sources)
    down, up = _spread(sources, partial(_leads_to, program)), _spread(_led_from(program, target), partial(_led_from, program))
    while True:
        for side in (down, up):
            try:
                graph = next(side)
            except StopIteration:
                return side is up and target in sources
            if graph == target if side is down else graph in sources:
                return True


def acyclic(program: Program) -> Map[GraphId, None]:
    """
    Graphs that do not lead to themselves: all of them for a program that `beta` did not make; of one that it made, those of the
    program before that the step cannot have changed, so that a long run asks once.

    One graph leads to another by referring to it, or by using a node that holds it: the node's owner counts as referring to
    what the node holds.
    """
    known: Map[GraphId, None] | None = program.__dict__.get("_acyclic")
    if known is None:
        known = program.__dict__["_acyclic"] = Map(dict.fromkeys(_alone(program)))
    return known


def _alone(program: Program) -> Iterator[GraphId]:
    """The graphs that do not lead to themselves: alone in their component, and not among their own targets."""
    edges = {graph: _targets(program, graph) for graph in program.graphs}
    component = components(edges)
    members = Counter(component.values())
    return (graph for graph, targets in edges.items() if members[component[graph]] == 1 and graph not in targets)


def _targets(program: Program, graph: GraphId) -> dict[GraphId, None]:
    """The graphs that `graph` leads to in one step."""
    return dict.fromkeys(g for g in _leads_to(program, graph) if g is not None)


def _spread(seeds: Iterable[GraphId | None], near: Callable[[GraphId], Iterable[GraphId | None]]) -> Iterator[GraphId | None]:
    """The graphs that can be reached from `seeds` by `near`, each once; None where a piece of work was done and none was found."""
    seen: set[GraphId] = set()
    todo: list[GraphId] = []
    found: Iterable[GraphId | None] = seeds
    while True:
        for graph in found:
            if graph is None or graph in seen:
                yield None
            else:
                seen.add(graph)
                todo.append(graph)
                yield graph
        if not todo:
            return
        found = near(todo.pop())


def held(program: Program, nodes: Iterable[NodeId], own: GraphId | None = None) -> Iterator[GraphId | None]:
    """
    The graphs that `nodes` can hold as values: by reference, or through tuples, elements and switches; None for other nodes.

    Of `nodes`, those that belong to the graph `own` are left out.
    """
    looked: set[NodeId] = set()
    for root in nodes:
        todo = [root] if own is None or program.owner(root) != own else []
        yield None
        while todo:
            node = todo.pop()
            if node not in looked:
                looked.add(node)
                value = program.constant(node)
                yield value.graph if isinstance(value, GraphRef) else None
                if program.callee(node) in CARRIERS:
                    todo.extend(program.inputs(node)[1:])


def _leads_to(program: Program, graph: GraphId) -> Iterator[GraphId | None]:
    """The graphs that `graph` refers to, or that a captured node of it holds."""
    inputs = (i for n in program.owned.get(graph, ()) for i in program.inputs(n))
    return held(program, chain((program.graphs[graph].output,), inputs), graph)


def _led_from(program: Program, graph: GraphId) -> Iterator[GraphId | None]:
    """The graphs that refer to `graph`, or use a node that holds it."""
    reference = program.reference(graph)
    todo, looked = ([] if reference is None else [reference]), set[NodeId]()
    while todo:
        node = todo.pop()
        yield from program.returns.get(node, ())
        for use in program.users(node):
            yield program.owner(use.user)
            if use.user not in looked and use.index > 0 and program.callee(use.user) in CARRIERS:
                looked.add(use.user)
                todo.append(use.user)


def still_acyclic(program: Program, caller: GraphId, target: GraphId) -> Map[GraphId, None]:
    """
    What is acyclic after the body of `target` has moved to its only call, in `caller`.

    An argument that holds @h for a parameter that a graph nested in `target` uses makes that graph lead to @h. That closes a cycle
    only if @h leads back to the caller, which leads to @h already; and only through graphs nested in `target`. (A copy leaves all
    other graphs as they are, and of its own none is known.)
    """
    known = acyclic(program)
    if caller not in known:
        for graph in nest(program, target):
            known = known.delete(graph) if graph in known else known
    return known
