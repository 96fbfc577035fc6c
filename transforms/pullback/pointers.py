"""
Structure-preserving pullbacks of pointers (MimIrADe, section 3.3.1, figures 4a to 4c): the pullback of a pointer is a pointer to
pullbacks.

For a local cell (`cells`) the pointer p has a second one, p_S*, and the invariant is: p_S* holds the pullback of what p holds. So
no sensitivity of the memory speaks of the cell, and a token has the pullback of the token it came from. Where what the cell
holds is known beforehand, the invariant is kept by the transform and p_S* is not in the program: a value is loaded with the
pullback that it was stored with. The rules take an application of an axiom as a unit, load(m, p), and not load and m separately.

Pointers to other cells are left to the rule of applications: their sensitivities are carried by the token, through the
backpropagators of `alloc`, `load` and `store`. The second strategy, accumulation, is `transforms.pullback.accumulation`.

    p_S*  structure-preserving pullback of p    v*  pullback of v    ▶n  image of n
"""

from __future__ import annotations

from dataclasses import replace

from semantics.edit import Edit
from semantics.ir import Apply, NodeId
from semantics.primitives.row import Primitive
from transforms.agenda_system import AgendaRule, agenda_rule
from transforms.pullback.cells import ALLOC, GETITEM, LEA, LOAD, MAKE_TUPLE, OF_LENGTH, STORE, Cell, cells_of, structure_of
from transforms.pullback.state import GADD, PullbackState, image, nothing, opened, weighted_sum


def with_cells(state: PullbackState, in_memory: bool) -> PullbackState:
    """The beginning of a run that knows of local cells; their pullbacks are put in memory, or else only known cells have any."""
    return replace(state, cells=cells_of(state.program, state.found, in_memory))


@agenda_rule
def alloc_both(state: PullbackState) -> PullbackState | None:
    """t = alloc(m, v)  ⟹  (m₁, p) = alloc(▶m, ▶v), (m₂, p_S*) = alloc(m₁, v*) and ▶t = (m₂, p)        figure 4a"""
    found, cell = _local(state, ALLOC)
    if cell is None or cell.known:
        return None
    edit, pair, state = _mirrored(state, found)
    token, pointer = (edit.call(state.owner, GETITEM, pair, edit.constant(k)) for k in (0, 1))
    second = edit.call(state.owner, ALLOC, token, _star(state, edit, found.arguments[1], cell.parts is not None))
    last, shadow = (edit.call(state.owner, GETITEM, second, edit.constant(k)) for k in (0, 1))
    both = edit.call(state.owner, MAKE_TUPLE, last, pointer, name=state.hint("▶", state.item.node))
    return _with_token(state, edit, both, found.arguments[0], cell.alloc, shadow)


@agenda_rule
def alloc_known(state: PullbackState) -> PullbackState | None:
    """t = alloc(m, v), what p holds is known  ⟹  ▶t = alloc(▶m, ▶v)"""
    found, cell = _local(state, ALLOC)
    if cell is None or not cell.known:
        return None
    edit, pair, state = _mirrored(state, found)
    return _with_token(state, edit, pair, found.arguments[0])


@agenda_rule
def token_of_alloc(state: PullbackState) -> PullbackState | None:
    """m' = t[0] or p = t[1], t = alloc(m, v)  ⟹  likewise of ▶t, and m'* = m*"""
    found, cell = _local(state, GETITEM)
    if cell is None:
        return None
    edit, value, state = _mirrored(state, found)
    return _with_token(state, edit, value, state.program.inputs(cell.alloc)[1])


@agenda_rule
def pair_of_alloc(state: PullbackState) -> PullbackState | None:
    """of_length(t, 2), t = alloc(m, v)  ⟹  of_length(▶t, 2)"""
    found, cell = _local(state, OF_LENGTH)
    if cell is None:
        return None
    edit, value, state = _mirrored(state, found)
    return _with_token(state, edit, value, state.program.inputs(cell.alloc)[1])


@agenda_rule
def lea_both(state: PullbackState) -> PullbackState | None:
    """q = lea(p, i)  ⟹  ▶q = lea(▶p, ▶i) and q_S* = lea(p_S*, ▶i)"""
    found, cell = _local(state, LEA)
    if cell is None or cell.known:
        return None
    edit, value, state = _mirrored(state, found)
    shadow = edit.call(state.owner, LEA, _shadow(state, found.arguments[0]), edit.nodes[value].inputs[2])  # type: ignore[union-attr]
    cells = replace(state.cells, shadow=state.cells.shadow.set(state.item.node, shadow))
    return state.done(edit, image=state.image.set(state.item.node, value), cells=cells)


@agenda_rule
def lea_known(state: PullbackState) -> PullbackState | None:
    """q = lea(p, i), what p holds is known  ⟹  ▶q = lea(▶p, ▶i)"""
    found, cell = _local(state, LEA)
    if cell is None or not cell.known:
        return None
    edit, value, state = _mirrored(state, found)
    return state.done(edit, image=state.image.set(state.item.node, value))


@agenda_rule
def store_both(state: PullbackState) -> PullbackState | None:
    """m' = store(m, p, v)  ⟹  ▶m' = store(store(▶m, ▶p, ▶v), p_S*, v*) and m'* = m*        figure 4c"""
    found, cell = _local(state, STORE)
    if cell is None or cell.known:
        return None
    edit, token, state = _mirrored(state, found)
    before, pointer, value = found.arguments
    whole = cell.parts is not None and state.program.callee(pointer) is not LEA
    star = _star(state, edit, value, whole)
    last = edit.call(state.owner, STORE, token, _shadow(state, pointer), star, name=state.hint("▶", state.item.node))
    return _with_token(state, edit, last, before)


@agenda_rule
def store_known(state: PullbackState) -> PullbackState | None:
    """m' = store(m, p, v), what p holds is known  ⟹  ▶m' = store(▶m, ▶p, ▶v) and m'* = m*"""
    found, cell = _local(state, STORE)
    if cell is None or not cell.known:
        return None
    edit, token, state = _mirrored(state, found)
    return _with_token(state, edit, token, found.arguments[0])


@agenda_rule
def load_both(state: PullbackState) -> PullbackState | None:
    """v = load(m, p)  ⟹  ▶v = load(▶m, ▶p) and v* = load(▶m, p_S*), or of a tuple λs. Σ load(▶m, p_S*)#i (s#i)     figure 4b"""
    found, cell = _local(state, LOAD)
    if cell is None or cell.known:
        return None
    edit, value, state = _mirrored(state, found)
    token, pointer = found.arguments
    star = edit.call(state.owner, LOAD, state.image[token], _shadow(state, pointer), name=state.starred(state.item.node))
    known = state.image.set(state.item.node, value)
    if cell.parts is not None and state.program.callee(pointer) is not LEA:
        return _sum_of_loaded(state, edit, star, cell.parts, known)
    return state.done(edit, image=known, pullback=state.pullback.set((state.item.graph, state.item.node), star))


def _sum_of_loaded(state: PullbackState, edit: Edit, stars: NodeId, parts: int, known: object) -> PullbackState:
    """The state in which the node of the item has the pullback λs. Σ stars#i (s#i)."""
    body, s = opened(edit, state.starred(state.item.node))
    terms = []
    for k in range(parts):
        part, star = (edit.call(body, GETITEM, whole, edit.constant(k)) for whole in (s, stars))
        terms.append(edit.apply(body, star, part))
    total = terms[0] if terms else edit.call(body, MAKE_TUPLE)
    for term in terms[1:]:
        total = edit.call(body, GADD, total, term)
    edit.output(body, total)
    return state.with_pullback(edit, body, image=known)


@agenda_rule
def load_known(state: PullbackState) -> PullbackState | None:
    """v = load(m, p), what p holds there is w  ⟹  ▶v = load(▶m, ▶p), v* = w* and v_S* = w_S*"""
    found, cell = _local(state, LOAD)
    if cell is None or not cell.known:
        return None
    edit, value, state = _mirrored(state, found)
    token, pointer = found.arguments
    graph, node, known = state.item.graph, state.item.node, state.image.set(state.item.node, value)
    held = state.cells.contents[token].get(cell.alloc)
    if held is None:
        return state.with_pullback(edit, nothing(edit), image=known)
    elements = held.elements
    if cell.parts is not None and state.program.callee(pointer) is not LEA:
        body = weighted_sum(state, edit, state.starred(node), elements)
        return state.with_pullback(edit, body, image=known, structure=state.structure.set((graph, node), held))
    place = state.program.constant(state.program.inputs(pointer)[2]) % len(elements) if cell.parts is not None else 0
    element = elements[place]
    structure = state.structure
    if (made := structure.get((graph, element))) is not None:
        structure = structure.set((graph, node), made)
    if (star := state.pullback.get((graph, element))) is None:
        return state.with_pullback(edit, nothing(edit), image=known, structure=structure)
    return state.done(edit, image=known, structure=structure, pullback=state.pullback.set((graph, node), star))


POSITION = {GETITEM: 0, OF_LENGTH: 0, LEA: 0, LOAD: 1, STORE: 1}  # which argument leads to a cell


def _local(state: PullbackState, primitive: Primitive) -> tuple[Apply, Cell | None]:
    """The application of the item, and the local cell that it makes or that its argument leads to, if it applies `primitive`."""
    found = state.at(primitive) if state.cells is not None else None
    if found is None:
        return _NOTHING
    leads = state.item.node if primitive is ALLOC else found.arguments[POSITION[primitive]]
    return found, state.cells.local.get(leads)


_NOTHING: tuple[Apply, None] = (Apply(-1, ()), None)


def _mirrored(state: PullbackState, found: Apply) -> tuple[Edit, NodeId, PullbackState]:
    """The application of the same primitive to the images of the arguments, as an edit that goes on."""
    edit, adjoints, images = Edit(state.program), state.adjoints, []
    for node in found.arguments:
        one, adjoints = image(state, edit, adjoints, node)
        images.append(one)
    name = state.hint("▶", state.item.node)
    value = edit.apply(state.owner, found.inputs[0], *images, name=name, location=found.location)
    return edit, value, replace(state, adjoints=adjoints)


def _with_token(
    state: PullbackState, edit: Edit, value: NodeId, before: NodeId, alloc: NodeId = -1, shadow: NodeId = -1
) -> PullbackState:
    """The state in which the node of the item has this image, and the pullback of the token `before`; p_S* is kept for alloc."""
    graph, node, cells = state.item.graph, state.item.node, state.cells
    if shadow >= 0:
        cells = replace(cells, shadow=cells.shadow.set(alloc, shadow))
    known = state.image.set(node, value)
    if (star := state.pullback.get((graph, before))) is None:
        return replace(state.with_pullback(edit, nothing(edit), image=known), cells=cells)
    return state.done(edit, image=known, pullback=state.pullback.set((graph, node), star), cells=cells)


def _shadow(state: PullbackState, pointer: NodeId) -> NodeId:
    """p_S*: what lea made of one, or that of the alloc."""
    shadow = state.cells.shadow
    found: NodeId = shadow[pointer] if pointer in shadow else shadow[state.cells.local[pointer].alloc]
    return found


def _star(state: PullbackState, edit: Edit, value: NodeId, in_parts: bool) -> NodeId:
    """v*, as what p_S* is to hold; of a cell with parts, v_S*, the tuple of the pullbacks of the elements."""
    if in_parts:
        made = structure_of(state.program, value)
        assert made is not None, "a cell has parts only where tuples are stored in it"
        return edit.call(state.owner, MAKE_TUPLE, *(_star(state, edit, element, False) for element in made.elements))
    found = state.pullback.get((state.item.graph, value))
    return edit.reference(nothing(edit)) if found is None else found


POINTER_RULES: tuple[AgendaRule[PullbackState], ...] = (
    *(alloc_both, alloc_known, token_of_alloc, pair_of_alloc, lea_both, lea_known),
    *(store_both, store_known, load_both, load_known),
)
