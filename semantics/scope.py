"""
Need, free variables and nesting (2018, section 3, "Closure representation").

A graph *needs* its output, the inputs of every application it owns and needs, and, where it refers to a graph h, the free
variables of h: creating a closure needs the values that it captures. The *free variables* of a graph are the nodes of
other graphs that it needs, in order of identifier. That order is part of the meaning: it is the order of a closure's
captured values, and of its sensitivity. A variable captured only through a called closure is thereby a free variable of
the caller, and so is one that a captured value was computed from outside.

A graph is *nested* in the owners of its free variables. All of this is one fixpoint over the graphs that can be reached.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from semantics.ir import Apply, Constant, GraphId, GraphRef, NodeId, Program


@dataclass(frozen=True, slots=True)
class Scopes:
    """
    For every graph reachable from the roots, in order of discovery:

    free        its free variables, ordered
    needed      all nodes that it needs, its own, foreign and constant ones
    references  the graphs that it uses as values
    """

    free: dict[GraphId, tuple[NodeId, ...]]
    needed: dict[GraphId, frozenset[NodeId]]
    references: dict[GraphId, tuple[GraphId, ...]]

    def nested_in(self, program: Program, graph: GraphId) -> tuple[GraphId, ...]:
        """The graphs nested in `graph`, directly or not; `graph` itself is not one of them."""
        inside = {graph}
        ordered: list[GraphId] = []
        grew = True
        while grew:
            grew = False
            for other, free in self.free.items():
                if other not in inside and any(program.owner(n) in inside for n in free):
                    inside.add(other)
                    ordered.append(other)
                    grew = True
        return tuple(ordered)

    def parent(self, program: Program, graph: GraphId) -> GraphId | None:
        """The innermost graph that `graph` is nested in; None if it has no free variable."""
        owners = {o for n in self.free[graph] if (o := program.owner(n)) is not None}
        return max(owners, key=lambda o: (self.depth(program, o), o), default=None)

    def owners(self, program: Program, graph: GraphId) -> set[GraphId]:
        """The graphs whose nodes `graph` captures."""
        return {owner for node in self.free.get(graph, ()) if (owner := program.owner(node)) is not None}

    def levels(self, program: Program) -> dict[GraphId, int] | None:
        """
        One more than the highest level of an owner, for every graph: its depth, where the owners of all free variables lie on
        chains of nesting. None if graphs are nested in each other. Time linear in the captured values.
        """
        known: dict[GraphId, int] = {}
        open_: set[GraphId] = set()
        todo = [(graph, False) for graph in self.free]
        while todo:
            graph, ready = todo.pop()
            if ready:
                known[graph] = max((1 + known[o] for o in self.owners(program, graph)), default=0)
            elif graph not in known:
                if graph in open_:
                    return None
                open_.add(graph)
                todo.append((graph, True))
                todo.extend((owner, False) for owner in self.owners(program, graph))
        return known

    def depth(self, program: Program, graph: GraphId) -> int:
        """How many graphs enclose `graph`."""
        seen: set[GraphId] = set()
        todo = [graph]
        while todo:
            for node in self.free.get(todo.pop(), ()):
                owner = program.owner(node)
                if owner is not None and owner not in seen:
                    seen.add(owner)
                    todo.append(owner)
        return len(seen)


def scopes_from(program: Program, roots: Iterable[GraphId]) -> Scopes:
    """The analysis for all graphs that can be reached from `roots`. Time linear in needed nodes plus captured values."""
    needed: dict[GraphId, set[NodeId]] = {}
    free: dict[GraphId, set[NodeId]] = {}
    refers: dict[GraphId, dict[GraphId, None]] = {}
    referrers: dict[GraphId, list[GraphId]] = {}
    todo: list[int] = []  # nodes of a graph g, where ~g has been taken off last

    def discover(graph: GraphId) -> None:
        if graph not in needed:
            needed[graph], free[graph], refers[graph], referrers[graph] = set(), set(), {}, []
            todo.extend((program.graphs[graph].output, ~graph))

    for root in reversed(tuple(roots)):
        discover(root)
    nodes = program.nodes
    graph, known = -1, set[NodeId]()
    while todo:
        node = todo.pop()
        if node < 0:
            graph, known = ~node, needed[~node]
            continue
        if node in known:
            continue
        known.add(node)
        found = nodes[node]
        if isinstance(found, Constant):
            if isinstance(found.value, GraphRef):
                target = found.value.graph
                if target not in needed:
                    todo.append(~graph)
                    discover(target)
                if target not in refers[graph]:
                    refers[graph][target] = None
                    referrers[target].append(graph)
                    todo += sorted(free[target])
        elif found.graph != graph:
            free[graph].add(node)
            if users := referrers[graph]:
                todo.append(~graph)
                for user in users:
                    todo += node, ~user
        elif isinstance(found, Apply):
            todo += found.inputs[::-1]
    return Scopes(
        {g: tuple(sorted(nodes)) for g, nodes in free.items()},
        {g: frozenset(nodes) for g, nodes in needed.items()},
        {g: tuple(targets) for g, targets in refers.items()},
    )


def scopes(program: Program) -> Scopes:
    """The analysis from the entry, computed once per program."""
    cached = program.__dict__.get("_scopes")
    if cached is None:
        cached = scopes_from(program, [program.entry])
        program.__dict__["_scopes"] = cached
    return cached


def free_variables(program: Program, graph: GraphId) -> tuple[NodeId, ...]:
    """The ordered free variables of one graph."""
    known = scopes(program).free
    return known[graph] if graph in known else scopes_from(program, [graph]).free[graph]


def order_of_need(program: Program, graph: GraphId, free: dict[GraphId, tuple[NodeId, ...]]) -> tuple[NodeId, ...]:
    """
    The nodes that `graph` needs, each after all that it needs itself, left to right: the order of evaluation.

    Foreign nodes and constants are included; foreign nodes are not walked through.
    """
    nodes, ordered = program.nodes, list[NodeId]()
    seen: set[NodeId] = set()
    todo = [program.graphs[graph].output]  # ~n for a node n of which all that it needs comes before
    while todo:
        node = todo.pop()
        if node < 0:
            ordered.append(~node)
        elif node not in seen:
            seen.add(node)
            found = nodes[node]
            if isinstance(found, Apply) and found.graph == graph:
                todo.append(~node)
                todo += found.inputs[::-1]
            elif isinstance(found, Constant) and isinstance(found.value, GraphRef):
                todo.append(~node)
                todo += free[found.value.graph][::-1]
            else:
                ordered.append(node)
    return tuple(ordered)


def evaluation_order(program: Program, graph: GraphId) -> tuple[NodeId, ...]:
    """`order_of_need` of a graph that the entry reaches, computed once per program."""
    orders: dict[GraphId, tuple[NodeId, ...]] = program.__dict__.setdefault("_orders", {})
    if graph not in orders:
        orders[graph] = order_of_need(program, graph, scopes(program).free)
    return orders[graph]
