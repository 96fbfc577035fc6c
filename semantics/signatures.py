"""
Signatures, by which inference judges graphs; how each was first reached; and the errors that name them.

    origin    for a signature, the application that first called it, and the signature of its caller
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from immutables import Map

from semantics.errors import AdjudgeError, IllTyped, OutOfFuel, Trap
from semantics.ir import Apply, GraphId, NodeId, Program
from semantics.type_lattice import is_known

ANCESTORS = 200


class Signature(NamedTuple):
    """A graph with the types of what it captured and of its arguments."""

    graph: GraphId
    captured: tuple[Any, ...]
    arguments: tuple[Any, ...]


Origin = Mapping[Signature, tuple[Signature, NodeId]]


def each(change: Callable[[Any], Any], signature: Signature) -> Signature:
    """The signature with every type changed."""
    return Signature(signature.graph, tuple(map(change, signature.captured)), tuple(map(change, signature.arguments)))


def both(join: Callable[[Any, Any], Any], a: Signature, b: Signature) -> Signature:
    """Two signatures of one graph, their types joined one by one."""
    captured = tuple(map(join, a.captured, b.captured))
    return Signature(a.graph, captured, tuple(map(join, a.arguments, b.arguments)))


def ancestors(origin: Origin, signature: Signature) -> Iterator[Signature]:
    """The signature and those from which it was first reached, at most ANCESTORS of them."""
    for _ in range(ANCESTORS):
        yield signature
        found = origin.get(signature)
        if found is None:
            return
        signature = found[0]


class Line(NamedTuple):
    """
    The same by graph: how long the line of calls to a signature is, and for each graph on it the last signature, its place, and
    those before. A line of calls gets one longer for each loop that comes after another, and few are of one graph.
    """

    length: int = 0
    last: Map[GraphId, Any] = Map()

    def longer(self, signature: Signature) -> Line:
        """The line to a signature that the last on this one calls."""
        graph, length = signature.graph, self.length + 1
        return Line(length, self.last.set(graph, (signature, length, self.last.get(graph))))

    def of(self, graph: GraphId) -> Iterator[Signature]:
        """The ancestors that are signatures of a graph, the nearest first."""
        link = self.last.get(graph)
        while link is not None and self.length - link[1] < ANCESTORS:
            yield link[0]
            link = link[2]


def chain(program: Program, origin: Origin, signature: Signature) -> str:
    """The calls from the entry to a signature, with their lines, outermost first; the middle of a long chain is left out."""
    calls: list[str] = []
    while signature in origin:
        signature, node = origin[signature]
        location = getattr(program.nodes[node], "location", None)
        calls.append(program.describe(node) + (f" ({location})" if location else ""))
    calls.reverse()
    return ", then ".join(calls if len(calls) <= 6 else [*calls[:3], "…", *calls[-3:]])


def located(error: AdjudgeError, program: Program, origin: Origin, signature: Signature, node: NodeId) -> AdjudgeError:
    """The error with its node, the calls that lead to it, and its source line: that of the last call if the node has none."""
    if error.node:
        return error
    error.node = program.describe(node)
    places = [(signature, node), *(origin[s] for s in ancestors(origin, signature) if s in origin)]
    lines = (getattr(program.nodes[n], "location", None) for _, n in places)
    error.location = error.location or next((line for line in lines if line is not None), None)
    if calls := chain(program, origin, signature):
        error.what = f"{error.what}; reached by {calls}"
        error.args = (error.what,)
    return error


def certain(trap: Trap, program: Program, types: Mapping[NodeId, Any], node: NodeId) -> IllTyped:
    """The error for what is certain to trap, with the types of the arguments that are not known values."""
    application = program.nodes[node]
    assert isinstance(application, Apply)
    given = [t for n in application.inputs[1:] if not is_known(t := types[n])]
    what = f"{trap.what}; given {', '.join(map(str, given))}" if given else trap.what
    return IllTyped(what, rule=trap.rule, remedy=trap.remedy)


def endless(program: Program, signature: Signature, what: str) -> OutOfFuel:
    """The error for types that grow without end."""
    graph = program.graphs[signature.graph]
    return OutOfFuel(
        f"the types at @{graph.name} do not come to an end: {what}",
        rule="infer",
        location=graph.location,
        remedy="a recursion that hands on closures over closures, as the backpropagator of a loop does, or ever deeper tuples, has "
        "no finite type; run it on the reference machine",
    )
