"""
Structure-preserving pullbacks of tuples and records (MimIrADe, section 3.2): the pullbacks of the elements, kept as the tuple is.

So an element of a tuple that was made here has the pullback of what was put there, and no sensitivity of the whole tuple is ever
built for it. An element of another tuple is an application like every other: `getitem` has a pullback, which injects.
"""

from __future__ import annotations

from immutables import Map

from semantics.edit import Edit
from semantics.ir import Apply, NodeId
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.structured import Label
from transforms.agenda_system import AgendaRule, agenda_rule
from transforms.pullback.state import GETITEM, MAKE_TUPLE, PullbackState, Structure, image, nothing, weighted_sum

MAKE_RECORD, FIELD = TABLE["make_record"], TABLE["field"]


@agenda_rule
def tuple_made(state: PullbackState) -> PullbackState | None:
    """t = (e…)  ⟹  ▶t = (▶e…), t* = λs. Σ eᵢ*(s#i) and t_S* = (e*…)"""
    made = state.at(MAKE_TUPLE)
    return None if made is None else _made(state, Structure(made.arguments))


@agenda_rule
def record_made(state: PullbackState) -> PullbackState | None:
    """t = C(e…), C a label  ⟹  ▶t = C(▶e…), t* = λs. Σ eᵢ*(s#i) and t_S* = C(e*…)"""
    made = state.at(MAKE_RECORD)
    label = state.program.constant(made.arguments[0]) if made is not None and made.arguments else None
    return _made(state, Structure(made.arguments[1:], label)) if made is not None and isinstance(label, Label) else None


def _made(state: PullbackState, structure: Structure) -> PullbackState:
    """The state in which the node of the item is known to be made of these elements."""
    graph, node = state.item.graph, state.item.node
    edit, adjoints, made = Edit(state.program), state.adjoints, state.program.inputs(node)
    images: list[NodeId] = []
    for element in structure.elements:
        found, adjoints = image(state, edit, adjoints, element)
        images.append(found)
    head = made[: len(made) - len(images)]
    value = edit.apply(state.owner, *head, *images, name=state.hint("▶", node), location=state.program.nodes[node].location)  # type: ignore[union-attr]
    body = weighted_sum(state, edit, state.starred(node), structure.elements)
    known = state.structure.set((graph, node), structure)
    return state.with_pullback(edit, body, image=state.image.set(node, value), adjoints=adjoints, structure=known)


@agenda_rule
def projection(state: PullbackState) -> PullbackState | None:
    """t#i, t_S* known  ⟹  ▶t#i and (t#i)* = t_S*#i"""
    return _projected(state, GETITEM)


@agenda_rule
def field_projection(state: PullbackState) -> PullbackState | None:
    """t.c, t_S* known and with a label  ⟹  ▶t.c and (t.c)* = t_S*.c"""
    return _projected(state, FIELD)


def _projected(state: PullbackState, primitive: Primitive) -> PullbackState | None:
    """The state in which an element of a known tuple has the image and the pullback that it was put there with."""
    taken, graph = state.at(primitive), state.item.graph
    element = element_of(state, taken.arguments[0], taken.arguments[1]) if taken is not None else None
    if taken is None or element is None:
        return None
    edit = Edit(state.program)
    image = projected(state, edit, taken)
    if (pullback := state.pullback.get((graph, element))) is None:
        return state.with_pullback(edit, nothing(edit), image=image)
    return state.done(edit, image=image, pullback=state.pullback.set((graph, state.item.node), pullback))


def element_of(state: PullbackState, whole: NodeId, index: NodeId) -> NodeId | None:
    """What was put where a literal index, or the name of a field, selects from a known tuple; None if that is not known."""
    structure, place = state.structure.get((state.item.graph, whole)), state.program.constant(index)
    if structure is None:
        return None
    if isinstance(place, str) and structure.label is not None:
        place = structure.label.index(place)
    size = len(structure.elements)
    return structure.elements[place] if type(place) is int and -size <= place < size else None


def projected(state: PullbackState, edit: Edit, taken: Apply) -> Map[NodeId, NodeId]:
    """The images with that of an element: the same element of the image of the whole."""
    whole, index = taken.arguments
    name, primitive = state.hint("▶", state.item.node), state.program.constant(taken.function)
    value = edit.call(state.owner, primitive, state.image[whole], index, name=name, location=taken.location)
    return state.image.set(state.item.node, value)


TUPLE_RULES: tuple[AgendaRule[PullbackState], ...] = (tuple_made, record_made, projection, field_projection)
