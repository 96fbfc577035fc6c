"""
Where a branch chooses which list a name stands for, and changes none, the state of the memory is passed on beside the pointer.

    @if() = @after(q)                     @if() = @after(q, m)
    @after(p) = … load(m, p) …     ⟹     @after(p, n) = … load(n, p) …

So a cell gets its new name in a state of its own, as `backend.lists.followed_cells` wants it. The state is the same.
"""

from __future__ import annotations

from backend.lists.followed_cells import Cells, explored
from semantics.edit import Edit
from semantics.ir import GraphId, NodeId, Parameter, Program
from transforms.surgery import nest, only_called


def with_states(program: Program, memory: NodeId) -> Program:
    """The program in which what is passed a pointer is passed a state, if it reads one state of those around it."""
    while (found := explored(program, memory)) is not None:
        after = next((p for graph in _stateless(program, found) if (p := _lifted(program, found, graph)) is not None), None)
        if after is None:
            break
        program = after
    return program


def _stateless(program: Program, found: Cells) -> list[GraphId]:
    """The graphs with parameters that are pointers, and none that is a state."""
    graphs = [{p.graph for n in nodes if isinstance(p := program.nodes[n], Parameter)} for nodes in (found.cells, found.before)]
    return sorted(graphs[0] - graphs[1])


def _lifted(program: Program, found: Cells, graph: GraphId) -> Program | None:
    """The program with one more parameter of a graph, a state; None if not just one state is read in it."""
    inside = set(nest(program, graph))
    outer = [s for s in (found.memory, *found.before) if program.owner(s) not in inside]
    uses = {s: within for s in outer if (within := [use for use in program.users(s) if program.owner(use.user) in inside])}
    if len(uses) != 1:
        return None
    ((state, within),) = uses.items()
    edit = Edit(program)
    parameter = edit.parameter(graph, getattr(program.nodes[state], "name", ""))
    for use in within:
        inputs = edit.program.inputs(use.user)
        edit.set_inputs(use.user, (*inputs[: use.index], parameter, *inputs[use.index + 1 :]))
    for use in only_called(program, graph) or ():
        given = parameter if program.owner(use.user) in inside else state
        edit.set_inputs(use.user, (*edit.program.inputs(use.user), given))
    return edit.program
