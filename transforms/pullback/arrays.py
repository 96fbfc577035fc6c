"""
Structure-preserving pullbacks of arrays that are made of known elements (MimIrADe, section 3.2).

The element of such an array is what was put there, made an array of one dtype with the others: it is converted, and what flows back
to it goes through the pullback of this conversion. Matrix operations (section 3.3.2) need no rule: they are primitives, applied
whole, and their pullbacks are in their column.
"""

from __future__ import annotations

from semantics.edit import Edit
from semantics.ir import Apply, NodeId
from semantics.primitives.table import TABLE
from transforms.agenda_system import AgendaRule, agenda_rule
from transforms.pullback.state import GETITEM, PullbackState, adjoint, composed, image
from transforms.pullback.tuples import element_of, projected
from transforms.surgery import arguments_of

AS_ARRAY, STACK = TABLE["as_array"], TABLE["stack"]


@agenda_rule
def array_element(state: PullbackState) -> PullbackState | None:
    """a#i, a = array(t), t_S* known  ⟹  ▶a#i and (a#i)* = t_S*#i ∘ ◀, where (_, ◀) = ▶array(▶t#i)"""
    taken = state.at(GETITEM)
    if taken is None or (element := _element(state, taken)) is None:
        return None
    edit, (_, _, kind) = Edit(state.program), state.program.inputs(taken.arguments[0])
    dtype = kind if state.program.callee(taken.arguments[0]) is AS_ARRAY else edit.constant(None)
    converted, adjoints = image(state, edit, state.adjoints, element)
    conversion, adjoints = adjoint(edit, adjoints, AS_ARRAY, 2)
    pair = edit.apply(state.owner, conversion, converted, state.image.get(dtype, dtype))
    back = edit.call(state.owner, GETITEM, pair, edit.constant(1), name=state.hint("◀", state.item.node))
    bodies = composed(state, edit, back, (element,), first=1)
    return state.with_pullback(edit, *bodies, image=projected(state, edit, taken), adjoints=adjoints)


def _element(state: PullbackState, taken: Apply) -> NodeId | None:
    """What was put where a literal index selects from an array of known elements, made of them along its first axis."""
    array = taken.arguments[0]
    made = arguments_of(state.program, array, AS_ARRAY) or arguments_of(state.program, array, STACK)
    if made is None:
        return None
    along_first = state.program.callee(array) is AS_ARRAY or state.program.constant(made[1]) == 0
    return element_of(state, made[0], taken.arguments[1]) if along_first else None


ARRAY_RULES: tuple[AgendaRule[PullbackState], ...] = (array_element,)
