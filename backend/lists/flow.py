"""
Where a list goes, and whether an array in its place answers all that it is asked there (`backend.lists.gathering`).

What is followed is the list, at depth 0, and lists that hold it, or hold lists that do: at depth 1 the elements are such lists. It
goes through calls of known graphs, what these give, and choices of a branch. Wherever it may come nothing else may, but, where a
list that holds it may be, an empty one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from backend.lists.loops import APPEND, SWITCH, Loop, called, is_empty
from semantics.ir import GraphId, GraphRef, NodeId, Parameter, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from transforms.surgery import index_of, only_called

AS_ARRAY, GETITEM, ITERATED, LENGTH, PUT, STACK = (
    TABLE[name] for name in ("as_array", "getitem", "iterated", "length", "put", "stack")
)


class Flow(NamedTuple):
    """Applications: that take an element of the list, that change one, that make an array of it, and that stack its elements."""

    elements: tuple[NodeId, ...]
    changes: tuple[NodeId, ...]
    arrays: tuple[NodeId, ...]
    stacks: tuple[NodeId, ...]


def flow(program: Program, loop: Loop) -> Flow | None:
    """Where the list of a loop goes; None if an array would not answer as it does."""
    depth = {loop.place: 0, loop.grown: 0}
    todo, uses = list(depth), set[NodeId]()
    while todo:
        node = todo.pop()
        found: Iterable[tuple[NodeId, int]] | None
        for use in program.users(node):
            found = _passed(program, loop, use.user, use.index, depth[node])
            if found is None or not _agree(depth, found, todo):
                return None
            uses.add(use.user)
        for graph in program.returns.get(node, ()):
            results = _results(program, graph)
            if results is None or not _agree(depth, [(n, depth[node]) for n in results], todo):
                return None
    if not all(_alone(program, loop, depth, node) for node in depth):
        return None
    return Flow(*(tuple(sorted(n for n in uses if program.callee(n) is row)) for row in (GETITEM, PUT, AS_ARRAY, STACK)))


def _agree(depth: dict[NodeId, int], found: Iterable[tuple[NodeId, int]], todo: list[NodeId]) -> bool:
    """Notes how deep the list is in these; false if it has been otherwise."""
    for node, deep in found:
        if node not in depth:
            depth[node] = deep
            todo.append(node)
        elif depth[node] != deep:
            return False
    return True


def _passed(program: Program, loop: Loop, user: NodeId, index: int, deep: int) -> list[tuple[NodeId, int]] | None:
    """Where the list is after this use of it as input number `index`; None if an array is no list there."""
    callee, arguments = program.callee(user), program.inputs(user)[1:]
    if isinstance(callee, GraphRef) and index > 0 and only_called(program, callee.graph) is not None:
        return [(program.graphs[callee.graph].parameters[index - 1], deep)]
    if callee is APPEND:
        return [(user, deep + index - 1)] if index == 2 or deep > 0 or user == loop.place else None
    if index != 1:
        return None
    if callee in (LENGTH, AS_ARRAY):
        return []
    if callee is ITERATED or (callee is PUT and deep == 0):
        return [(user, deep)]
    if callee is GETITEM:
        return [(user, deep - 1)] if deep > 0 else []
    return [] if callee is STACK and deep == 0 and index_of(program, arguments[1]) == 0 else None


def _results(program: Program, graph: GraphId) -> list[NodeId] | None:
    """The applications that may have the value of a graph: calls of it, and of what chooses it; None if it goes elsewhere."""
    reference, found = program.reference(graph), list[NodeId]()
    if graph == program.entry or reference is None or program.returns.get(reference):
        return None
    for use in program.users(reference):
        if use.index == 0:
            found.append(use.user)
        elif program.callee(use.user) is SWITCH and not program.returns.get(use.user):
            if any(u.index != 0 for u in program.users(use.user)):
                return None
            found += [u.user for u in program.users(use.user)]
        else:
            return None
    return found


def _alone(program: Program, loop: Loop, depth: dict[NodeId, int], node: NodeId) -> bool:
    """Whether nothing comes to a node but the list, or an empty one in the place of a list that holds it."""
    return all(depth.get(n) == depth[node] or (depth[node] > 0 and is_empty(program, n)) for n in _sources(program, loop, node))


def _sources(program: Program, loop: Loop, node: NodeId) -> Iterator[NodeId]:
    """What a parameter is passed, or a call gives; but what the list is at first, which is to be another thing."""
    found = program.nodes[node]
    if isinstance(found, Parameter):
        at = program.graphs[found.graph].parameters.index(node)
        for use in only_called(program, found.graph) or ():
            if node != loop.grown or use.user != loop.begins:
                yield program.inputs(use.user)[1 + at]
        return
    if isinstance(program.callee(node), Primitive):
        return  # of what is in its arguments
    for way in called(program, node):
        function = program.constant(way)
        yield program.graphs[function.graph].output if isinstance(function, GraphRef) else way
