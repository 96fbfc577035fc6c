"""
The second strategy for pointers: accumulation of gradients in a shadow memory (MimIrADe, section 3.3.1, figure 5).

The gradient of a first-order program with memory, by one sweep forward and one backward. Every pointer p has a shadow pointer p̄
into a second memory, whose token s is threaded through both sweeps; its cells accumulate the sensitivities that J carries in the
token's own (`backpropagators.memory`). That looks are reversed after the store that consumes their token is what linear use makes
possible.

    forward     alloc(m, v)     also  s, p̄ = alloc(s, ZERO)            lea, and what else makes pointers, is mirrored on shadows
    backward    load(m, p)      s = store(s, p̄, load(s, p̄) + v̄)        through p = lea(q, i): into element i of what q̄ holds
                store(m, p, v)  v̄ += load(s, p̄);  s = store(s, p̄, ZERO)
                alloc(m, v)     v̄ += load(s, p̄)
                any other p     x̄ += its backpropagator (x, out, out̄)

First order: every application is that of a primitive, to values. What has calls left when its known functions are inlined, and
pointers that are kept in memory themselves, are refused by name.
"""

from __future__ import annotations

from dataclasses import replace

from semantics.edit import Edit
from semantics.errors import Malformed
from semantics.ir import Apply, NodeId, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO
from transforms.adjoint_primitives import pullback_of
from transforms.agenda_system import AgendaRule, AgendaSystem, agenda_rule
from transforms.clone import link
from transforms.shadow_state import ALLOC, GETITEM, LEA, LOAD, OF_LENGTH, STORE, ShadowState, begin

__all__ = ["RULES", "SYSTEM", "ShadowState", "begin"]

MAKE_TUPLE, GADD, SWITCH = (TABLE[n] for n in ("make_tuple", "gadd", "switch"))


@agenda_rule
def forward(state: ShadowState) -> ShadowState | None:
    """n = p(a…)  ⟹  ▶n = p(▶a…);  and p̄' = p(ā…) beside it where n is a pointer made of pointers"""
    found, node = state.at("forward"), state.agenda[0][1]
    if found is None or state.program.constant(found.inputs[0]) is ALLOC:
        return None
    edit, shadow = Edit(state.program), state.shadow
    image = edit.apply(state.into, *(state.copied(n) for n in found.inputs), name=found.name, location=found.location)
    if any(n in shadow for n in found.inputs) and state.program.constant(found.inputs[0]) in (GETITEM, OF_LENGTH, SWITCH):
        mirrored = edit.apply(state.into, *(shadow.get(n, state.copied(n)) for n in found.inputs), location=found.location)
        shadow = shadow.set(node, mirrored)
    return state.done(edit, image=state.image.set(node, image), shadow=shadow)


@agenda_rule
def forward_alloc(state: ShadowState) -> ShadowState | None:
    """m', p = alloc(m, v)  ⟹  the same, and s', p̄ = alloc(s, ZERO)"""
    found, node = state.at("forward"), state.agenda[0][1]
    if found is None or state.program.constant(found.inputs[0]) is not ALLOC:
        return None
    edit = Edit(state.program)
    image = edit.apply(state.into, *(state.copied(n) for n in found.inputs), name=found.name, location=found.location)
    both = edit.call(state.into, ALLOC, state.token, edit.constant(ZERO))
    token = edit.call(state.into, GETITEM, both, edit.constant(0))
    return state.done(edit, image=state.image.set(node, image), shadow=state.shadow.set(node, both), token=token)


@agenda_rule
def meet(state: ShadowState) -> ShadowState | None:
    """contributions c₁, c₂, … to n̄  ⟹  one of them is gadd(c₁, c₂)"""
    kind, node = state.agenda[0]
    if kind not in ("backward", "sum") or len(state.parts.get(node, ())) < 2:
        return None
    edit = Edit(state.program)
    a, b, *rest = state.parts[node]
    total = edit.call(state.into, GADD, a, b)
    return replace(state, program=edit.program, parts=state.parts.set(node, (total, *rest)))


@agenda_rule
def backward_load(state: ShadowState) -> ShadowState | None:
    """v = load(m, p)  ⟹  s' = store(s, p̄, load(s, p̄) + v̄)        through lea(q, i): v̄ at element i of what q̄ holds"""
    found, node = _backward(state, LOAD)
    if found is None:
        return None
    edit = Edit(state.program)
    if not state.parts.get(node, ()):
        return state.done(edit)
    memory, pointer = found.inputs[1:]
    base, path = _base(state, pointer)
    whole = edit.call(state.into, LOAD, state.copied(memory), state.copied(base))
    d = _injected(state, edit, whole, path, state.sensitivity(edit, node))
    old = edit.call(state.into, LOAD, state.token, state.shadow[base])
    token = edit.call(state.into, STORE, state.token, state.shadow[base], edit.call(state.into, GADD, old, d))
    return state.done(edit, token=token)


@agenda_rule
def backward_store(state: ShadowState) -> ShadowState | None:
    """m' = store(m, p, v)  ⟹  v̄ += load(s, p̄),  s' = store(s, p̄, ZERO)        through lea(q, i): element i of what q̄ holds"""
    found, _ = _backward(state, STORE)
    if found is None:
        return None
    edit = Edit(state.program)
    pointer, value = found.inputs[2:]
    base, path = _base(state, pointer)
    held = [edit.call(state.into, LOAD, state.token, state.shadow[base])]
    for index in path:
        held.append(edit.call(state.into, GETITEM, held[-1], state.copied(index)))
    cleared = edit.constant(ZERO)
    for whole, index in zip(reversed(held[:-1]), reversed(path), strict=True):
        cleared = edit.call(state.into, TABLE["put"], whole, state.copied(index), cleared)
    token = edit.call(state.into, STORE, state.token, state.shadow[base], cleared)
    return state.done(edit, token=token, parts=state.adding(edit, value, held[-1]))


@agenda_rule
def backward_alloc(state: ShadowState) -> ShadowState | None:
    """m', p = alloc(m, v)  ⟹  v̄ += load(s, p̄)"""
    found, node = _backward(state, ALLOC)
    if found is None:
        return None
    edit = Edit(state.program)
    pointer = edit.call(state.into, GETITEM, state.shadow[node], edit.constant(1))
    return state.done(edit, parts=state.adding(edit, found.inputs[2], edit.call(state.into, LOAD, state.token, pointer)))


@agenda_rule
def backward(state: ShadowState) -> ShadowState | None:
    """n = p(a…)  ⟹  t = ◀p(▶a…, ▶n, n̄), and t[i] contributes to input i; nothing where n has no sensitivity"""
    found, node = state.at("backward"), state.agenda[0][1]
    if found is None or len(state.parts.get(node, ())) > 1:
        return None
    primitive = state.program.constant(found.inputs[0])
    if primitive in (LOAD, STORE, ALLOC):
        return None
    edit = Edit(state.program)
    if node in state.memory or not state.parts.get(node, ()):
        return state.done(edit)
    rule = pullback_of(primitive, len(found.arguments), edit.arrays)
    given = [state.copied(n) for n in found.arguments]
    results = edit.apply(state.into, edit.reference(link(edit, rule)), *given, state.image[node], state.sensitivity(edit, node))
    after = state
    for i, target in enumerate(found.arguments):
        if state.program.owner(target) is not None and target not in state.memory:
            part = edit.call(state.into, GETITEM, results, edit.constant(i))
            after = replace(after, parts=after.adding(edit, target, part))
    return after.done(edit)


@agenda_rule
def seeded(state: ShadowState) -> ShadowState | None:
    """the forward sweep ends with n  ⟹  n̄ = seed(▶n), 1 if it is a real"""
    kind, node = state.agenda[0]
    if kind != "seed":
        return None
    edit = Edit(state.program)
    return state.done(edit, parts=state.adding(edit, node, edit.call(state.into, TABLE["seed"], state.copied(node))))


@agenda_rule
def summed(state: ShadowState) -> ShadowState | None:
    """a parameter with at most one contribution has its sensitivity"""
    kind, node = state.agenda[0]
    return state.done(Edit(state.program)) if kind == "sum" and len(state.parts.get(node, ())) < 2 else None


@agenda_rule
def result(state: ShadowState) -> ShadowState | None:
    """all is reversed  ⟹  the sensitivities of the parameters, with zeros for ZERO"""
    if state.agenda[0][0] != "result":
        return None
    edit = Edit(state.program)
    parameters = state.program.graphs[state.program.entry].parameters
    wanted = [parameters[i] for i in (state.wrt if isinstance(state.wrt, tuple) else (state.wrt,))]
    found = [edit.call(state.into, TABLE["instantiate"], state.sensitivity(edit, x), state.image[x]) for x in wanted]
    edit.output(state.into, edit.call(state.into, MAKE_TUPLE, *found) if isinstance(state.wrt, tuple) else found[0])
    return state.done(edit)


def _backward(state: ShadowState, primitive: Primitive) -> tuple[Apply | None, NodeId]:
    """The application of the current item, if it is to be reversed, is that of `primitive`, and its contributions have met."""
    found, node = state.at("backward"), state.agenda[0][1]
    if found is None or state.program.constant(found.inputs[0]) is not primitive or len(state.parts.get(node, ())) > 1:
        return None, node
    return found, node


def _base(state: ShadowState, pointer: NodeId) -> tuple[NodeId, list[NodeId]]:
    """The pointer to a cell that a pointer goes into, and the indices on the way, the outermost first."""
    path: list[NodeId] = []
    while state.program.callee(pointer) is LEA:
        _, pointer, index = state.program.inputs(pointer)
        path.insert(0, index)
    if pointer not in state.shadow:
        what = "a pointer that was kept in memory or passed in has no shadow"
        raise Malformed(
            what, rule="shadow", node=state.program.describe(pointer), remedy="differentiate it by grad, which has no such limit"
        )
    return pointer, path


def _injected(state: ShadowState, edit: Edit, whole: NodeId, path: list[NodeId], d: NodeId) -> NodeId:
    """The sensitivity of a whole of which only the part at the end of a path has one."""
    wholes = [whole]
    for index in path[:-1]:
        wholes.append(edit.call(state.into, GETITEM, wholes[-1], state.copied(index)))
    for part, index in zip(reversed(wholes), reversed(path), strict=False):
        d = edit.call(state.into, TABLE["inject"], part, state.copied(index), d)
    return d


def _result(state: ShadowState) -> Program:
    """The program that has the new graph as its entry."""
    edit = Edit(state.program)
    edit.set_entry(state.into)
    return edit.program


def _at(state: ShadowState) -> str:
    if state.agenda is None:
        return "the end"
    kind, node = state.agenda[0]
    return f"{kind} {state.program.describe(node)}"


RULES: tuple[AgendaRule[ShadowState], ...] = (
    *(forward, forward_alloc, seeded, meet, backward_load, backward_store, backward_alloc, backward, summed, result),
)

SYSTEM = AgendaSystem(
    name="shadow",
    rules=RULES,
    ended=lambda state: state.agenda is None,
    at=_at,
    shown=lambda state: str(state.program),
    result=_result,
    doc="gradients of programs with memory, accumulated in a shadow memory",
    argument="every rule but meet takes one item off a finite agenda; meet leaves one contribution fewer",
)
