"""
Loops that make a list, an element a turn: what `backend.lists.gathering` looks for.

    @for(…, k, …, s, …) = switch(k < n, @turn, @after)()
    @turn() = … @for(…, k + 1, …, append(s, e), …)

begun in one place at k = 0 with an empty s, of which the loop asks nothing else. Whatever ways there are through a turn, all end in
that call: so there is one element for each turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from semantics.ir import GraphId, GraphRef, NodeId, Parameter, Program
from semantics.primitives.table import TABLE
from semantics.structured import Label, Record
from transforms.surgery import arguments_of, called_graph, index_of, nest, only_called, referred

ADD, APPEND, LT, MAKE_RECORD, MAKE_TUPLE, SWITCH = (
    TABLE[name] for name in ("add", "append", "lt", "make_record", "make_tuple", "switch")
)


class Loop(NamedTuple):
    """
    graph, first, body  of the loop, of what a turn begins with, and of what ends it
    list_at, turn_at    which parameters are the list and the number of the turn
    grown, turn         these parameters
    turns               how many there are
    begins              the call that begins the loop
    place, element      where the list is made longer, and by what
    """

    graph: GraphId
    first: GraphId
    body: GraphId
    list_at: int
    turn_at: int
    grown: NodeId
    turn: NodeId
    turns: NodeId
    begins: NodeId
    place: NodeId
    element: NodeId


def loops(program: Program) -> Iterator[Loop]:
    """Every such loop."""
    if APPEND in program.interned:
        for use in sorted(program.users(program.interned[APPEND])):
            if use.index == 0 and (found := loop_at(program, use.user)) is not None:
                yield found


def loop_at(program: Program, place: NodeId) -> Loop | None:
    """The loop whose list is made longer at `place`."""
    found, body = arguments_of(program, place, APPEND), program.owner(place)
    parameter = program.nodes[found[0]] if found is not None else None
    if found is None or body is None or not isinstance(parameter, Parameter):
        return None
    grown, element = found
    graph, again = parameter.graph, program.graphs[body].output
    test, begins = test_of(program, graph), _begins(program, graph, body)
    if test is None or begins is None or called_graph(program, again) != graph or program.owner(again) != body:
        return None
    (turn, turns, turn_begins), parameters = test, program.graphs[graph].parameters
    first, passed = program.inputs(begins)[1:], program.inputs(again)[1:]
    list_at, turn_at = parameters.index(grown), parameters.index(turn)
    if passed[list_at] != place or len(program.users(place)) != 1 or not _asked_nothing(program, graph, turn_begins, grown):
        return None
    if not _is_next(program, passed[turn_at], turn) or index_of(program, first[turn_at]) != 0:
        return None
    if not is_empty(program, first[list_at]) or not goes_on(program, turn_begins, again):
        return None
    return Loop(graph, turn_begins, body, list_at, turn_at, grown, turn, turns, begins, place, element)


def test_of(program: Program, graph: GraphId) -> tuple[NodeId, NodeId, GraphId] | None:
    """(k, n, turn) where the graph is switch(k < n, @turn, @…)(), k a parameter of it and n no part of the loop."""
    called = program.inputs(program.graphs[graph].output)
    chosen = arguments_of(program, called[0], SWITCH) if len(called) == 1 else None
    compared = arguments_of(program, chosen[0], LT) if chosen is not None else None
    begun = program.constant(chosen[1]) if chosen is not None else None
    if chosen is None or compared is None or not isinstance(begun, GraphRef):
        return None
    if len(program.users(chosen[1])) != 1 or len(program.users(called[0])) != 1 or program.graphs[begun.graph].parameters:
        return None
    turn, turns = compared
    inside = program.owner(turns) in nest(program, graph)
    return None if inside or turn not in program.graphs[graph].parameters else (turn, turns, begun.graph)


def called(program: Program, node: NodeId) -> tuple[NodeId, ...]:
    """What an application calls: its function, or the two of which a branch chooses one. Nothing of another node."""
    function = program.inputs(node)[:1]
    chosen = arguments_of(program, function[0], SWITCH) if function else None
    return function if chosen is None else chosen[1:]


def goes_on(program: Program, turn: GraphId, again: NodeId | None = None, graph: GraphId | None = None) -> bool:
    """Whether every way through a turn, tail call after tail call, ends in the call `again`, or in one of the graph."""
    todo, seen = [turn], {turn, graph}
    while todo:
        output = program.graphs[todo.pop()].output
        if output == again:
            continue
        ways = [program.constant(n) for n in called(program, output)]
        if not ways or not all(isinstance(way, GraphRef) for way in ways):
            return False
        found = {way.graph for way in ways} - seen
        seen |= found
        todo += found
    return True


def turned(program: Program, graph: GraphId, turn: GraphId) -> set[GraphId]:
    """The graphs that a turn leads to, but for the loop and so the next turn."""
    found, todo = {turn}, [turn]
    while todo:
        fresh = set(referred(program, todo.pop())) - found - {graph}
        found |= fresh
        todo += fresh
    return found


def _begins(program: Program, graph: GraphId, body: GraphId) -> NodeId | None:
    """The one call of the graph that is not in its own body, if there are these two."""
    calls = [use.user for use in only_called(program, graph) or ()]
    outside = [n for n in calls if program.owner(n) != body]
    return outside[0] if len(calls) == 2 and len(outside) == 1 else None


def _asked_nothing(program: Program, graph: GraphId, turn: GraphId, grown: NodeId) -> bool:
    """Whether the list, as long as it grows, is only made longer: by what a turn leads to, but for the next."""
    inside = turned(program, graph, turn) | {graph}
    uses = [use for use in program.users(grown) if program.owner(use.user) in inside]
    return len(uses) == 1 and not inside & set(program.returns.get(grown, ()))


def _is_next(program: Program, passed: NodeId, turn: NodeId) -> bool:
    terms: Sequence[NodeId] | None = arguments_of(program, passed, ADD)
    return terms is not None and terms[0] == turn and index_of(program, terms[1]) == 1


def is_empty(program: Program, node: NodeId) -> bool:
    """Whether this is a list or a tuple without elements, made there or a constant."""
    match program.constant(node):
        case ():
            return True
        case Record(Label(kind="list"), ()):
            return True
    made = arguments_of(program, node, MAKE_RECORD)
    label = program.constant(made[0]) if made is not None and len(made) == 1 else None
    return arguments_of(program, node, MAKE_TUPLE) == () or (isinstance(label, Label) and label.kind == "list")


def is_display(program: Program, node: NodeId) -> bool:
    """Whether this is a list or a tuple made of elements that are there."""
    made = arguments_of(program, node, MAKE_RECORD)
    label = program.constant(made[0]) if made is not None and len(made) > 1 else None
    return bool(arguments_of(program, node, MAKE_TUPLE)) or (isinstance(label, Label) and label.kind == "list")
