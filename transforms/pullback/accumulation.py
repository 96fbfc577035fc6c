"""
The second strategy for pointers, as a reverse mode: gradients accumulated in a shadow memory (MimIrADe, section 3.3.1, figure 5).

    ▶f(x…) = (f(x…), ◀f),  ◀f(∇f) = ((), ∇x…)

where ◀f runs both sweeps of `transforms.shadow_memory`, forward from x… and backward from ∇f. As the paper says, this mode is
applied to the whole function, so that the two strategies need not be composed; f is of first order and closes over nothing, and
what is not is refused by name. The image is ordinary: what has calls left is differentiated again by another mode.
"""

from __future__ import annotations

from dataclasses import replace

from semantics.edit import Edit
from semantics.errors import Malformed
from semantics.ir import GraphRef, NodeId, Program
from semantics.scope import scopes_from
from transforms import shadow_memory
from transforms.agenda import in_turn, linked
from transforms.pullback.state import MAKE_TUPLE, J


def accumulated(program: Program, place: NodeId) -> Program:
    """The program with a reference to ▶f for J(@f) at `place`; Malformed unless f is of first order, linear and closed."""
    target = program.constant(program.inputs(place)[1]) if program.callee(place) is J else None
    if not isinstance(target, GraphRef):
        raise Malformed("J applies to a graph that is known", rule="shadow", node=program.describe(place))
    if free := scopes_from(program, [target.graph]).free[target.graph]:
        raise Malformed(
            f"accumulation in a shadow memory is for what closes over nothing, and this captures {program.describe_name(free[0])}",
            rule="shadow",
            node=program.describe(place),
            location=program.graphs[target.graph].location,
            remedy="pass it as an argument, or use the strategy pullback",
        )
    edit = Edit(program)
    edit.set_entry(target.graph)
    sweep = _both_sweeps(edit.program)
    primal = sweep.program.graphs[target.graph]
    edit = Edit(sweep.program)
    forward = edit.graph("▶" + primal.name, primal.location)
    images = [edit.parameter(forward, "▶" + edit.nodes[x].name) for x in primal.parameters]  # type: ignore[union-attr]
    backward = edit.graph("◀" + primal.name, primal.location)
    seed = edit.parameter(backward, "∇" + primal.name)
    edit.output(backward, edit.call(backward, GraphRef(sweep.into), *images, seed))
    value = edit.call(forward, GraphRef(target.graph), *images)
    edit.output(forward, edit.call(forward, MAKE_TUPLE, value, edit.reference(backward)))
    edit.set_entry(program.entry)
    edit.replace(place, edit.reference(forward))
    edit.remove(place)
    return edit.program


def _both_sweeps(program: Program) -> shadow_memory.ShadowState:
    """The end of a run of the shadow transform on the entry whose graph takes ∇f too, and returns ((), ∇x…)."""
    parameters, output = program.graphs[program.entry].parameters, program.graphs[program.entry].output
    state = shadow_memory.begin(program, tuple(range(len(parameters))))
    edit = Edit(state.program)
    seed = edit.parameter(state.into, "∇" + program.graphs[program.entry].name)
    agenda = in_turn(item for item in linked(state.agenda) if item[0] not in ("seed", "result"))
    parts = state.adding(edit, output, seed)
    state = _run(replace(state, program=edit.program, agenda=agenda, parts=parts))
    edit = Edit(state.program)
    found = [state.sensitivity(edit, x) for x in parameters]
    edit.output(state.into, edit.call(state.into, MAKE_TUPLE, edit.call(state.into, MAKE_TUPLE), *found))
    return replace(state, program=edit.program)


def _run(state: shadow_memory.ShadowState) -> shadow_memory.ShadowState:
    """The state at the end of the agenda."""
    while state.agenda is not None:
        state = next(after for rule in shadow_memory.RULES if (after := rule.function(state)) is not None)
    return state
