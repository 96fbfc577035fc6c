"""
Dead code: what nothing needs is removed.

A node without a use is never evaluated, so removing it removes no trap; a graph that the entry does not reach never runs. An
argument for a parameter that nothing reads *is* evaluated: dropping both may remove a trap, and keeps every value. Where a
graph has many of these, as the adjoint of a loop does, one step drops them all: one by one would cost their number squared.
"""

from __future__ import annotations

from itertools import chain, islice

from semantics.edit import Edit
from semantics.ir import Apply, Constant, GraphId, NodeId, Parameter, Program
from semantics.primitives.table import TABLE
from transforms.surgery import application, borrowers, discard, lenders, only_called, referred, referrers
from transforms.system import RewriteSystem, rewrite

NEAR = 32
FAIL = TABLE["fail"]


@rewrite
def dead_node(program: Program, place: int) -> Program | None:
    """n = f(a…) or a constant, and nothing uses n  ⟹  nothing"""
    found = program.nodes.get(place)
    if not isinstance(found, (Apply, Constant)) or program.users(place) or program.returns.get(place):
        return None
    edit = Edit(program)
    edit.remove(place)
    return edit.program


@rewrite
def dead_graphs(program: Program, place: int) -> Program | None:
    """@g, which the entry does not reach  ⟹  nothing, nor what refers to @g or is nested in it"""
    if place not in program.graphs or alive(program, place):
        return None
    edit, reached = Edit(program), _reached(program)
    discard(edit, program, (), leading_to(program, place))
    after = edit.program
    after.__dict__["_reached"] = reached
    return after


def alive(program: Program, graph: GraphId) -> bool:
    """Whether the entry reaches `graph`."""
    return _seen_alive(program, graph) or graph in _reached(program)


def _seen_alive(program: Program, graph: GraphId) -> bool:
    """Whether a look at the first NEAR references, to it and to what refers to it, finds the entry: most graphs are near it."""
    seen, todo = {graph}, [graph]
    looks = 0
    while todo and looks < NEAR:
        for other in islice(referrers(program, todo.pop()), NEAR - looks):
            looks += 1
            if other == program.entry:
                return True
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return graph == program.entry


def _reached(program: Program) -> frozenset[GraphId]:
    """
    The graphs that the entry leads to: those that its applications refer to or use a node of, and so on. Once per program;
    what `dead_graphs` removes is not among them, so they stay the same when it does.
    """
    known: frozenset[GraphId] | None = program.__dict__.get("_reached")
    if known is None:
        seen, todo = {program.entry}, [program.entry]
        while todo:
            current = todo.pop()
            for other in chain(referred(program, current), lenders(program, current)):
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        known = program.__dict__["_reached"] = frozenset(seen)
    return known


def leading_to(program: Program, graph: GraphId) -> list[GraphId]:
    """`graph` with all that refers to its like or uses its nodes, transitively: as unreachable as it is."""
    seen = {graph: None}
    todo = [graph]
    while todo:
        current = todo.pop()
        for other in chain(borrowers(program, current), referrers(program, current)):
            if other not in seen:
                seen[other] = None
                todo.append(other)
    return list(seen)


@rewrite
def unused_parameter(program: Program, place: int) -> Program | None:
    """@g(…, x, …), only called, where nothing but calls of g that pass it on reads x  ⟹  g, and every call of it, without x"""
    if place not in program.graphs or place == program.entry:
        return None
    parameters = program.graphs[place].parameters
    unread = [i for i, x in enumerate(parameters) if _unread(program, place, x, i + 1)]
    if program.interned.get(FAIL) is not None:
        del unread[1:]  # each by itself, as one of them may be needed for its failure
    calls = only_called(program, place) if unread else None
    if calls is None:
        return None
    edit = Edit(program)
    for call in calls:
        function, *inputs = program.inputs(call.user)
        edit.set_inputs(call.user, (function, *(x for i, x in enumerate(inputs) if i not in unread)))
    edit.set_parameters(place, tuple(x for i, x in enumerate(parameters) if i not in unread))
    return edit.program


def _unread(program: Program, graph: GraphId, x: NodeId, position: int) -> bool:
    """Whether `x` is used only as the same argument of calls of its own graph."""
    reference = program.reference(graph)
    return not program.returns.get(x) and all(
        use.index == position and (found := application(program, use.user)) is not None and found.function == reference
        for use in program.users(x)
    )


RULES = (dead_node, dead_graphs, unused_parameter)


def measure(program: Program) -> tuple[int, ...]:
    """Graphs; parameters; nodes."""
    parameters = sum(isinstance(n, Parameter) for n in program.nodes.values())
    return len(program.graphs), parameters, len(program.nodes)


SYSTEM = RewriteSystem(name="dce", rules=RULES, doc="what nothing needs is removed", measure=measure)
