"""
Lists that grow while a loop goes on are arrays with room, and a count of what they have.

    out = []                                  a, c = full((0,), 0.0), 0
    for x in xs:                              for x in xs:
        if x > 0.0:                               if x > 0.0:
            out.append(x)              ⟹              if c == len(a): a = concatenate((a, full((c + 8,), 0.0)))
                                                      a[c], c = x, c + 1
    return sum(out)                           return sum(a[:c])

A list grows where it comes to itself again with more in it: through parameters of loops, on whichever ways, by `append`, and by
`concat` with elements that are known; s[:-1] has one less. What else is done with it is done with a[:c]; an element is read from
the array itself, at whose end, so outside, is what is not below the count. Where one loop alone grows it, so many times in each
turn at most, and says how many turns there are, it has room for all from the start; but not where the loop may be left long before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from backend.lists.loops import goes_on, is_display, test_of
from backend.lists.meeting import APPEND, CONCAT, GETITEM, ITERATED, MAKE_RECORD, MAKE_SLICE, MAKE_TUPLE, PUT, Meeting
from semantics.ir import Apply, GraphId, NodeId, Parameter, Program
from semantics.primitives.table import TABLE
from semantics.structured import Slice
from transforms.directed import components
from transforms.surgery import arguments_of, index_of, nest, only_called

ADD, LENGTH, RANGE_LENGTH, SHAPE, SUB = (TABLE[name] for name in ("add", "length", "range_length", "shape", "sub"))
SMALL = 4096
"""So many turns may have room whether they are taken or not."""


class Growth(NamedTuple):
    """
    A list that grows.

    members    the parameters and applications that have it
    turns, by  how many turns the one loop has at most that grows it, and by how much in each; None where that is not known
    few        whether most of these turns may never be taken
    """

    members: frozenset[NodeId]
    turns: NodeId | None
    by: int
    few: bool = False


def growths(meeting: Meeting, nodes: Iterable[NodeId]) -> list[Growth]:
    """The lists among these nodes that grow and can have room."""
    lists, program = set(nodes), meeting.program
    onward = {node: [] for node in lists}  # type: dict[NodeId, list[NodeId]]
    into = {node: [n for n in comes_from(program, node) if n in lists] for node in lists}
    for node, sources in into.items():
        for source in sources:
            onward[source].append(node)
    number = components(onward)
    found: dict[int, set[NodeId]] = {}
    for node in lists:
        found.setdefault(number[node], set()).add(node)
    cycles = [c for c in found.values() if any(n in c for m in c for n in onward[m])]
    return [_growth(program, frozenset(c), into) for c in cycles if _has_room(program, c)]


def comes_from(program: Program, node: NodeId) -> list[NodeId]:
    """Where a list comes from: what a parameter is passed, what is made longer or changed, what a call gives."""
    found = program.nodes[node]
    if isinstance(found, Parameter):
        at = program.graphs[found.graph].parameters.index(node)
        return [program.inputs(call)[1 + at] for call in calls(program, found.graph)]
    rows = (APPEND, PUT, ITERATED, GETITEM)
    assert isinstance(found, Apply)
    return list(
        found.inputs[1:3] if program.callee(node) is CONCAT else found.inputs[1 : 2 if program.callee(node) in rows else None]
    )


def calls(program: Program, graph: GraphId) -> list[NodeId]:
    """The calls of a graph that is only called, by its reference or by a branch that chooses it."""
    reference = program.reference(graph)
    uses = program.users(reference) if reference is not None else ()
    chosen = [use.user for use in uses if use.index != 0]
    return sorted({use.user for use in uses if use.index == 0} | {use.user for node in chosen for use in program.users(node)})


def is_begun(program: Program, growth: Growth) -> bool:
    """Whether a list has an element from the start on, and is only made longer: every list that it begins as is one of some."""
    found = {source for node in growth.members for source in comes_from(program, node) if program.callee(node) is not CONCAT}
    shorter = any(program.callee(node) is GETITEM for node in growth.members)
    return not shorter and all(is_display(program, node) for node in found - growth.members)


def _has_room(program: Program, nodes: set[NodeId]) -> bool:
    """Whether all that is done to a list that comes to itself is known to add a number of elements."""
    grows = False
    for node in nodes:
        callee, found = program.callee(node), program.nodes[node]
        if isinstance(found, Parameter) and only_called(program, found.graph) is None:
            return False
        if callee is CONCAT:
            if len(added(program, node)) == 0 or program.inputs(node)[2] in nodes:
                return False
        elif not isinstance(found, Parameter) and callee not in (APPEND, PUT, ITERATED) and not is_shorter(program, node):
            return False
        grows = grows or callee in (APPEND, CONCAT)
    return grows


def is_shorter(program: Program, node: NodeId) -> bool:
    """Whether this is s[:-1], as of a list from which the last element is taken."""
    inputs = program.inputs(node)
    if program.callee(node) is not GETITEM:
        return False
    parts = arguments_of(program, inputs[2], MAKE_SLICE)
    found = program.constant(inputs[2]) if parts is None else Slice(*map(program.constant, parts))
    return isinstance(found, Slice) and (found.start, found.stop, found.step) == (None, -1, None)


def added(program: Program, node: NodeId) -> tuple[NodeId, ...]:
    """The elements by which a list is made longer, where they are known."""
    inputs = program.inputs(node)
    if program.callee(node) is APPEND:
        return inputs[2:]
    made = program.inputs(inputs[2])
    return {MAKE_RECORD: made[2:], MAKE_TUPLE: made[1:]}.get(program.callee(inputs[2]), ())


def _growth(program: Program, nodes: frozenset[NodeId], into: dict[NodeId, list[NodeId]]) -> Growth:
    """The list, with its turns where one loop has a test that says how many there are, and every other way is through it."""
    for node in sorted(nodes):
        parameter = program.nodes[node]
        if isinstance(parameter, Parameter) and (turns := _turns(program, parameter.graph, node, nodes)) is not None:
            rest = nodes - {node}
            others = [n for n in rest if isinstance(program.nodes[n], Parameter)]
            inside = {n: [m for m in into[n] if m in rest] for n in rest}
            number = components(inside)
            closed = all(set(comes_from(program, n)) <= nodes for n in others)
            if closed and len(set(number.values())) == len(rest) and not any(n in inside[n] for n in rest):
                by = sum(len(added(program, n)) for n in rest if program.callee(n) in (APPEND, CONCAT))
                return Growth(nodes, turns, by, is_left(program, parameter.graph) and not is_small(program, turns))
    return Growth(nodes, None, 0)


def _turns(program: Program, graph: GraphId, node: NodeId, nodes: frozenset[NodeId]) -> NodeId | None:
    """How many turns a loop has at most: it is begun with 0, or more, and each turn counts one."""
    found = test_of(program, graph)
    if found is None or only_called(program, graph) is None:
        return None
    turn, turns, _ = found
    parameters: Sequence[NodeId] = program.graphs[graph].parameters
    at, list_at = parameters.index(turn), parameters.index(node)
    inside = set(nest(program, graph))
    for call in calls(program, graph):
        passed = program.inputs(call)[1:]
        if program.owner(call) in inside:
            terms = arguments_of(program, passed[at], ADD)
            if terms is None or terms[0] != turn or index_of(program, terms[1]) != 1 or passed[list_at] not in nodes:
                return None
        elif (first := index_of(program, passed[at])) is None or first < 0 or passed[list_at] in nodes:
            return None
    return turns


def is_left(program: Program, graph: GraphId) -> bool:
    """Whether a loop that says how many turns it has may end before: whether a way through a turn does not lead to the next."""
    found = test_of(program, graph)
    assert found is not None, "a loop with a number of turns"
    return not goes_on(program, found[2], graph=graph)


def is_small(program: Program, turns: NodeId) -> bool:
    """Whether a number of turns is small, or at most the size of what is there."""
    while program.callee(turns) in (RANGE_LENGTH, SUB):
        first, second, *step = program.inputs(turns)[1:]
        turns, given = (second, [first, *step]) if step else (first, [second])
        if any((number := index_of(program, n)) is None or number < 0 for n in given):
            return False
    if (number := index_of(program, turns)) is not None:
        return number <= SMALL
    sizes = program.callee(turns) is GETITEM and program.callee(program.inputs(turns)[1]) is SHAPE
    return sizes or program.callee(turns) is LENGTH
