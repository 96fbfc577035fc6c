"""
Well-formedness: the judgments that every program must satisfy before it has a meaning (2018, section 3.1).

    links      uses, returns and owned are the exact inverse of inputs, outputs and owners; constants are interned
    ownership  every application and parameter belongs to a graph of the program, and a graph owns its parameters
    acyclic    inside one graph no application needs its own value
    scope      the entry has no free variable, and the owners of a graph's free variables lie on one chain of nesting

`check` raises Malformed with the judgment as its rule; `problems` lists every violation.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from semantics.errors import Malformed
from semantics.ir import Apply, Constant, GraphId, GraphRef, NodeId, Parameter, Program, Use
from semantics.scope import Scopes, scopes
from semantics.values import atom


def check(program: Program) -> None:
    """Malformed with the first violation, if there is one."""
    for judgment, what, node in problems(program):
        at = program.describe(node) if node is not None and node in program.nodes and judgment in ("acyclic", "scope") else ""
        raise Malformed(what, rule=judgment, node=at)


def problems(program: Program) -> Iterator[tuple[str, str, NodeId | None]]:
    """Every violation: the judgment, what is wrong, the node. Later judgments presuppose earlier ones."""
    found = False
    for judgment in (_ownership, _links):
        for problem in judgment(program):
            found = True
            yield problem
    if found:
        return
    for problem in _acyclic(program):
        found = True
        yield problem
    if not found:
        yield from _scope(program)


def _ownership(program: Program) -> Iterator[tuple[str, str, NodeId | None]]:
    if program.entry not in program.graphs:
        yield "ownership", "the program has no entry graph", None
    for key, graph in program.graphs.items():
        for node in (*graph.parameters, graph.output):
            if node not in program.nodes:
                yield "ownership", f"@{graph.name} mentions node {node}, which does not exist", None
        for node in graph.parameters:
            found = program.nodes.get(node)
            if found is not None and not (isinstance(found, Parameter) and found.graph == key):
                yield "ownership", f"@{graph.name} lists a parameter that it does not own", node
        if len(set(graph.parameters)) != len(graph.parameters):
            yield "ownership", f"@{graph.name} lists a parameter twice", None
    for node, found in program.nodes.items():
        if isinstance(found, (Apply, Parameter)) and found.graph not in program.graphs:
            yield "ownership", f"node {node} belongs to no graph of the program", node
        elif isinstance(found, Parameter) and node not in program.graphs[found.graph].parameters:
            yield "ownership", f"parameter {node} is not listed by its graph", node
        elif isinstance(found, Constant) and isinstance(found.value, GraphRef) and found.value.graph not in program.graphs:
            yield "ownership", f"node {node} refers to a graph that does not exist", node
        elif isinstance(found, Apply):
            if not found.inputs:
                yield "ownership", f"application {node} applies nothing", node
            for target in found.inputs:
                if target not in program.nodes:
                    yield "ownership", f"application {node} uses node {target}, which does not exist", node


def _links(program: Program) -> Iterator[tuple[str, str, NodeId | None]]:
    uses = {(target, Use(n, i)) for n, a in program.nodes.items() if isinstance(a, Apply) for i, target in enumerate(a.inputs)}
    recorded = {(target, use) for target, of in program.uses.items() for use in of}
    for target, use in uses ^ recorded:
        yield "links", f"the use of node {target} by node {use.user} is recorded in one direction only", None
    returns = {(graph.output, key) for key, graph in program.graphs.items()}
    for node, key in returns ^ {(n, g) for n, of in program.returns.items() for g in of}:
        yield "links", f"that node {node} is the output of graph {key} is recorded in one direction only", None
    owned = {(found.graph, n) for n, found in program.nodes.items() if isinstance(found, Apply)}
    for graph, node in owned ^ {(g, n) for g, of in program.owned.items() for n in of}:
        yield "links", f"that node {node} belongs to graph {graph} is recorded in one direction only", None
    constants = {atom(c.value): n for n, c in program.nodes.items() if isinstance(c, Constant)}
    if constants != dict(program.interned):
        yield "links", "a constant has two nodes, or is not interned", None


def _acyclic(program: Program) -> Iterator[tuple[str, str, NodeId | None]]:
    """Depth-first over applications of one graph, with an explicit stack; grey nodes are on the path."""
    grey, black = set(), set()
    for root in sorted(program.nodes):
        todo: list[tuple[NodeId, bool]] = [(root, False)]
        while todo:
            node, leaving = todo.pop()
            if leaving:
                grey.discard(node)
                black.add(node)
                continue
            if node in black:
                continue
            if node in grey:
                yield "acyclic", "an application needs its own value", node
                return
            found = program.nodes[node]
            if isinstance(found, Apply):
                grey.add(node)
                todo.append((node, True))
                todo += [(n, False) for n in found.inputs if n not in black and program.owner(n) == found.graph]


def _scope(program: Program) -> Iterator[tuple[str, str, NodeId | None]]:
    found = scopes(program)
    for node in found.free[program.entry]:
        owner = program.owner(node)
        name = program.graphs[owner].name if owner is not None else "?"
        yield "scope", f"the entry needs a node of @{name}, which is not running", node
    chained = _chained(program, found)
    for graph in found.free:
        if not chained:
            yield from _chain(program, found, graph)
        yield from _closes_over_itself(program, found, graph)


def _chained(program: Program, found: Scopes) -> bool:
    """
    Whether the owners of every graph's free variables lie on one chain; for all graphs at once, in time linear in the captures.

    Then nesting is a forest, in which the parent is the owner of the highest level, and a graph is nested in another if the
    interval in which a walk of the forest is below the one lies in that of the other.
    """
    levels = found.levels(program)
    if levels is None:
        return False
    chains = {graph: sorted(found.owners(program, graph), key=levels.__getitem__) for graph in levels}
    children: dict[GraphId | None, list[GraphId]] = {}
    for graph, chain in chains.items():
        children.setdefault(chain[-1] if chain else None, []).append(graph)
    entered: dict[GraphId, int] = {}
    left: dict[GraphId, int] = {}
    todo = [(graph, False) for graph in children.get(None, ())]
    while todo:
        graph, leaving = todo.pop()
        if leaving:
            left[graph] = len(entered)
        else:
            entered[graph] = len(entered)
            todo.append((graph, True))
            todo.extend((child, False) for child in children.get(graph, ()))
    return all(entered[a] < entered[b] <= left[b] <= left[a] for chain in chains.values() for a, b in pairwise(chain))


def _chain(program: Program, found: Scopes, graph: GraphId) -> Iterator[tuple[str, str, NodeId | None]]:
    """The owners of free variables, innermost first: each must enclose, or be enclosed by, the next."""
    owners = {o for n in found.free[graph] if (o := program.owner(n)) is not None}
    chain = sorted(owners, key=lambda o: (found.depth(program, o), o))
    for outer, inner in pairwise(chain):
        if outer not in _enclosing(program, found, inner):
            node = next(n for n in found.free[graph] if program.owner(n) == inner)
            names = f"@{program.graphs[outer].name} and @{program.graphs[inner].name}"
            yield "scope", f"@{program.graphs[graph].name} needs nodes of {names}, neither of which is nested in the other", node


def _closes_over_itself(program: Program, found: Scopes, graph: GraphId) -> Iterator[tuple[str, str, NodeId | None]]:
    """A node whose value is needed to build a closure that the node itself is computed from."""
    state: dict[NodeId, bool] = {}
    todo: list[tuple[NodeId, bool]] = [(program.graphs[graph].output, False)]
    while todo:
        node, leaving = todo.pop()
        if leaving:
            state[node] = True
        elif node not in state:
            state[node] = False
            todo.append((node, True))
            for target in _needs(program, found, graph, node):
                if state.get(target) is False:
                    yield (
                        "scope",
                        f"in @{program.graphs[graph].name}, a value is captured by a closure that it is computed from",
                        target,
                    )
                    return
                if target not in state:
                    todo.append((target, False))


def _needs(program: Program, found: Scopes, graph: GraphId, node: NodeId) -> tuple[NodeId, ...]:
    match program.nodes[node]:
        case Constant(GraphRef(target)):
            return found.free[target]
        case Apply(owner, inputs) if owner == graph:
            return inputs
        case _:
            return ()


def _enclosing(program: Program, found: Scopes, graph: GraphId) -> set[GraphId]:
    """The graphs that `graph` is nested in."""
    seen: set[GraphId] = set()
    todo = [graph]
    while todo:
        for node in found.free.get(todo.pop(), ()):
            owner = program.owner(node)
            if owner is not None and owner not in seen:
                seen.add(owner)
                todo.append(owner)
    return seen
