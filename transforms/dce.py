"""
Dead code: what nothing needs is removed.

A node without a use is never evaluated, so removing it removes no trap; a graph that the entry does not reach never runs. An
argument for a parameter that nothing reads *is* evaluated: dropping both may remove a trap, and keeps every value.
"""

from __future__ import annotations

from semantics.edit import Edit
from semantics.ir import Apply, Constant, GraphId, NodeId, Parameter, Program
from transforms.surgery import application, borrowers, discard, only_called, referrers
from transforms.system import RewriteSystem, rewrite


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
    if place not in program.graphs or (unreachable := _unreachable(program, place)) is None:
        return None
    edit = Edit(program)
    discard(edit, program, (), unreachable)
    return edit.program


def _unreachable(program: Program, graph: GraphId) -> list[GraphId] | None:
    """
    `graph` with all that refers to its like or uses its nodes, transitively; None once that is seen to include the entry.

    Whatever leads to an unreachable graph is unreachable, and so is whatever is nested in one.
    """
    seen = {graph: None}
    todo = [graph]
    while todo:
        current = todo.pop()
        if current == program.entry:
            return None
        for other in (*borrowers(program, current), *referrers(program, current)):
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
    index = next((i for i, x in enumerate(parameters) if _unread(program, place, x, i + 1)), None)
    calls = only_called(program, place) if index is not None else None
    if index is None or calls is None:
        return None
    edit = Edit(program)
    for call in calls:
        inputs = program.inputs(call.user)
        edit.set_inputs(call.user, (*inputs[: index + 1], *inputs[index + 2 :]))
    edit.set_parameters(place, (*parameters[:index], *parameters[index + 1 :]))
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
