"""
Linearity of memory (MimIrADe, section 3.3.1): on every path, at most one operation goes on from a token.

    token       what `memory` gives, what `store` gives, the first part of what `alloc` gives, and the parameters they are passed to
    consumes    alloc and store at their first argument; returning a token, or passing it to anything that may consume it
    looks       load, and a known graph that only looks at its parameter: the token is as it was

A token captured by the two branches of a `switch` counts once, for one branch is run. A function that consumes a token it captured
may not call itself after that or be passed on, for it might run twice; one that calls itself or consumes it, as a loop does at its
end, may. Programs from the parser are linear; images of J and of the optimizer
mean what they mean without it, since memory is a value. Nothing here is run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from semantics.errors import Malformed
from semantics.ir import Apply, GraphId, GraphRef, NodeId, Parameter, Program
from semantics.primitives.table import TABLE
from semantics.scope import Scopes, scopes

MEMORY, ALLOC, LOAD, STORE = (TABLE[n] for n in ("memory", "alloc", "load", "store"))
GETITEM, OF_LENGTH, SWITCH = TABLE["getitem"], TABLE["of_length"], TABLE["switch"]
MANY = 2


class Problem(NamedTuple):
    """A token that more than one operation may go on from, and the last of these."""

    token: NodeId
    use: NodeId


def check_linear(program: Program) -> None:
    """Malformed at the first token that is used twice."""
    for token, use in problems(program):
        location = getattr(program.nodes[use], "location", None) or getattr(program.nodes[token], "location", None)
        raise Malformed(
            f"the memory {program.describe_name(token)} is used twice",
            rule="linear",
            node=program.describe(use),
            location=location,
            remedy="go on from the memory that the first alloc or store gives; load may look as often as it likes",
        )


def problems(program: Program) -> Iterator[Problem]:
    """Every token of which more than one use is possible."""
    found = scopes(program)
    needed = frozenset(n for nodes in found.needed.values() for n in nodes)
    same: dict[Any, set[NodeId]] = {}
    ours = tokens(program)
    consumed = _consumed(program, ours, found)
    for token in ours:
        if token in needed:
            same.setdefault(_key(program, token), set()).add(token)
    for nodes in sorted(same.values(), key=min):
        token = min(nodes)
        sites = [s for n in sorted(nodes) for s in _consumers(program, n, found, consumed)]
        if len(sites) > 1 or any(graph != program.owner(token) for graph, _ in sites):
            owner = program.owner(token)
            assert owner is not None
            if _uses(program, found, owner, token, sites) > 1:
                yield Problem(token, sites[-1][1])


def tokens(program: Program) -> frozenset[NodeId]:
    """The nodes that are tokens: those that memory operations take and give, and what becomes of them in calls of known graphs."""
    found: set[NodeId] = set()
    todo: list[NodeId] = []
    for node, value in program.nodes.items():
        if isinstance(value, Apply):
            callee = program.constant(value.inputs[0])
            if callee in (MEMORY, STORE) or _is_part_of_alloc(program, value):
                todo.append(node)
            if callee in (ALLOC, LOAD, STORE) and len(value.inputs) > 1:
                todo.append(value.inputs[1])
    while todo:
        node = todo.pop()
        if node in found or program.owner(node) is None:
            continue
        found.add(node)
        for user, index in program.users(node):
            callee = program.constant(program.inputs(user)[0])
            if isinstance(callee, GraphRef) and index > 0:
                todo += program.graphs[callee.graph].parameters[index - 1 : index]
        parameter = program.nodes[node]
        if isinstance(parameter, Parameter) and (reference := program.reference(parameter.graph)) is not None:
            position = program.graphs[parameter.graph].parameters.index(node) + 1
            todo += [i[position] for u, at in program.users(reference) if at == 0 and len(i := program.inputs(u)) > position]
    return frozenset(found)


def _is_part_of_alloc(program: Program, value: Apply) -> bool:
    inputs = value.inputs
    whole = len(inputs) == 3 and program.constant(inputs[0]) is GETITEM and program.callee(unpacked(program, inputs[1])) is ALLOC
    return whole and program.constant(inputs[2]) == 0


def unpacked(program: Program, node: NodeId) -> NodeId:
    """The tuple that `m, p = t` takes apart: t itself, below the check of its length."""
    while program.callee(node) is OF_LENGTH and len(program.inputs(node)) == 3:
        node = program.inputs(node)[1]
    return node


def _key(program: Program, token: NodeId) -> Any:
    """Two projections of one tuple at one index are one token."""
    inputs = program.inputs(token)
    if len(inputs) == 3 and program.constant(inputs[0]) is GETITEM:
        return ("part", unpacked(program, inputs[1]), program.constant(inputs[2]))
    return token


def _consumed(program: Program, ours: frozenset[NodeId], found: Scopes) -> frozenset[NodeId]:
    """The parameters that are consumed somewhere: the least such set, for a call consumes what the parameter it goes to does."""
    consumed: frozenset[NodeId] = frozenset()
    while True:
        parameters = (n for n in ours - consumed if isinstance(program.nodes[n], Parameter))
        more = {n for n in parameters if _consumers(program, n, found, consumed)}
        if not more:
            return consumed
        consumed |= more


def _looks(program: Program, user: NodeId, index: int, consumed: frozenset[NodeId]) -> bool:
    """Whether a use leaves the token as it was."""
    callee = program.callee(user)
    if isinstance(callee, GraphRef) and index > 0:
        parameters = program.graphs[callee.graph].parameters
        return index <= len(parameters) and parameters[index - 1] not in consumed
    return callee is LOAD and index == 1


def _consumers(program: Program, token: NodeId, found: Scopes, consumed: frozenset[NodeId]) -> list[tuple[GraphId, NodeId]]:
    """The graph and the node of every use that goes on from the token; returning it counts as one."""
    sites: list[tuple[GraphId, NodeId]] = []
    for user, index in sorted(program.users(token)):
        owner = program.owner(user)
        if owner is not None and user in found.needed.get(owner, ()) and not _looks(program, user, index, consumed):
            sites.append((owner, user))
    return sites + [(g, token) for g in found.needed if program.graphs[g].output == token]


class Uses(NamedTuple):
    """
    How often a token may be consumed while a graph runs once: `most` times, and at most `again[g]` times on a path that calls g, a
    graph that is running already.
    """

    most: int = 0
    again: Mapping[GraphId, int] = MappingProxyType({})

    def then(self, other: Uses) -> Uses:
        """Both happen."""
        back = {g: n + other.most for g, n in self.again.items()}
        for g, n in other.again.items():
            back[g] = max(back.get(g, 0), n + self.most)
        return Uses(self.most + other.most, back)

    def either(self, other: Uses) -> Uses:
        """One of the two happens."""
        back = {g: max(self.again.get(g, 0), other.again.get(g, 0)) for g in (*self.again, *other.again)}
        return Uses(max(self.most, other.most), back)

    def times(self, count: int) -> Uses:
        """It happens `count` times, at least once."""
        return Uses(count * self.most, {g: count * n for g, n in self.again.items()})

    def closed(self, graph: GraphId) -> Uses:
        """Of a graph that may call itself: what is consumed on the way to such a call is consumed many times."""
        back = {g: n for g, n in self.again.items() if g != graph}
        return Uses(self.most, back).times(MANY if self.again.get(graph) else 1)


def _uses(program: Program, found: Scopes, owner: GraphId, token: NodeId, sites: list[tuple[GraphId, NodeId]]) -> int:
    """How often the token may be consumed while its graph runs once: its own uses, and those of the graphs that capture it."""
    known: dict[GraphId, Uses] = {}
    running: set[GraphId] = set()
    todo: list[tuple[GraphId, bool]] = [(owner, False)]
    while todo:
        graph, done = todo.pop()
        inner = [g for g in found.references.get(graph, ()) if g != owner and token in found.free.get(g, ())]
        if done:
            total = Uses(sum(g == graph for g, _ in sites))
            for other in inner:
                total = total.then(_through(program, graph, other, known))
            running.remove(graph)
            known[graph] = total.closed(graph)
        elif graph not in known and graph not in running:
            running.add(graph)
            todo.append((graph, True))
            todo += [(g, False) for g in inner]
    return known[owner].most


def _through(program: Program, graph: GraphId, other: GraphId, known: Mapping[GraphId, Uses]) -> Uses:
    """What references to `other` in `graph` add: a call once, of two branches the greater, what is passed on many times."""
    here, reference = known.get(other, Uses(0, {other: 0})), program.reference(other)
    total = Uses()
    if reference is None:
        return total
    for user, index in program.users(reference):
        if program.owner(user) != graph:
            continue
        if index == 0:
            total = total.then(here)
        elif program.callee(user) is SWITCH:
            rival = program.constant(program.inputs(user)[5 - index])
            against = known.get(rival.graph) if isinstance(rival, GraphRef) else None
            if against is None or index == 2:  # a pair of branches counts once
                total = total.then(here.either(against or Uses()).times(max(1, len(program.users(user)))))
        else:
            total = total.then(here.times(MANY))
    return total.then(here.times(MANY)) if program.graphs[graph].output == reference else total
