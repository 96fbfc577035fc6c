"""
One turn of the backward loop: what contributes to the sensitivities of the nodes of a body, one rule per construct.

The values that a backpropagator uses are asked for as it is put in place, and only those are kept in the rows of the cache. So
none is kept for a sum, and for a product with a constant neither: a part that nobody wants is cut out of a rule first.

    n̄  sensitivity of n    h⁻  backward loop
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from semantics.edit import Edit
from semantics.ir import GraphId, NodeId, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.scope import scopes
from semantics.tangents import ZERO
from transforms import adjoint_primitives
from transforms.adjoint_primitives import whole_power
from transforms.affine.normal import projection
from transforms.affine.state import GETITEM, MAKE_TUPLE, CachedState, Kept
from transforms.agenda_system import AgendaRule, agenda_rule
from transforms.clone import copy_graphs, link
from transforms.pipeline import OPTIMIZE

GADD = TABLE["gadd"]


@agenda_rule
def meet(state: CachedState) -> CachedState | None:
    """contributions c₁, c₂, … to n̄  ⟹  one of them is gadd(c₁, c₂)"""
    kind, header, node = state.item
    if kind not in ("backward", "sum") or len(state.parts.get(node, ())) < 2:
        return None
    edit = Edit(state.program)
    a, b, *rest = state.parts[node]
    total = edit.call(state.reads[header].body, GADD, a, b)
    return replace(state, program=edit.program, parts=state.parts.set(node, (total, *rest)))


@agenda_rule
def unreached(state: CachedState) -> CachedState | None:
    """n without a contribution  ⟹  nothing is to be done for it, and none of its inputs is kept"""
    kind, _, node = state.item
    return state.done(Edit(state.program)) if kind == "backward" and not state.parts.get(node, ()) else None


@agenda_rule
def summed(state: CachedState) -> CachedState | None:
    """a parameter with at most one contribution has its sensitivity"""
    kind, _, node = state.item
    return state.done(Edit(state.program)) if kind == "sum" and len(state.parts.get(node, ())) < 2 else None


@agenda_rule
def backward(state: CachedState) -> CachedState | None:
    """n = p(e…), n̄ known  ⟹  in h⁻: its backpropagator (e…, n, n̄) contributes to e…; what of e… and n it uses is kept in the row"""
    found, node = state.at("backward"), state.item.node
    if found is None or len(state.parts.get(node, ())) != 1 or state.inner(node) is not None or _element(state, node) is not None:
        return None
    primitive = state.program.constant(found.inputs[0])
    assert isinstance(primitive, Primitive)
    wanted = tuple(state.varies(n) for n in found.arguments)
    rule = pullback_of(primitive, wanted, whole_power(state.program, found), state.program.arrays)
    edit, given = Edit(state.program), [*found.arguments, node]
    values: list[NodeId] = []
    for x, n in zip(rule.graphs[rule.entry].parameters, given, strict=False):
        value, state = state.known(edit, Kept(n)) if rule.users(x) else (edit.constant(ZERO), state)
        values.append(value)
    parts = _applied(edit, state.reads[state.item.header].body, rule, [*values, state.parts[node][0]], len(wanted))
    return state.done(edit, parts=_contributed(state, edit, found.arguments, parts))


@cache
def pullback_of(primitive: Primitive, wanted: tuple[bool, ...], whole: int | None, arrays: bool) -> Program:
    """The backpropagator of a primitive, optimized, with ZERO for the parts that are not wanted."""
    text = adjoint_primitives.pullback_of(primitive, len(wanted), arrays, whole)
    edit = Edit(text)
    found = edit.graphs[text.entry].output
    parts = [edit.call(text.entry, GETITEM, found, edit.constant(k)) if w else edit.constant(ZERO) for k, w in enumerate(wanted)]
    edit.output(text.entry, edit.call(text.entry, MAKE_TUPLE, *parts))
    return OPTIMIZE.run(edit.program)


def _applied(edit: Edit, graph: GraphId, rule: Program, values: list[NodeId], size: int) -> list[NodeId]:
    """The parts that a rule gives for these values, in `graph`: its body where it names no graph, else those of a call of it."""
    entry = rule.graphs[rule.entry]
    if is_straight(rule):
        given = dict(zip(entry.parameters, values, strict=True))
        copied = copy_graphs(edit, rule, (rule.entry,), into={rule.entry: graph}, substitution=given)
        parts = list(edit.program.inputs(copied.nodes[entry.output])[1:])
        edit.remove(copied.nodes[entry.output])
        return parts
    whole = edit.apply(graph, edit.reference(link(edit, rule)), *values)
    return [edit.call(graph, GETITEM, whole, edit.constant(k)) for k in range(size)]


def is_straight(rule: Program) -> bool:
    """Whether a rule is one graph that ends in the tuple of its parts."""
    output = rule.graphs[rule.entry].output
    return len(scopes(rule).free) == 1 and rule.callee(output) is MAKE_TUPLE


def _contributed(state: CachedState, edit: Edit, targets: Sequence[NodeId], parts: Sequence[NodeId]) -> Any:
    """The contributions, with these to the targets that vary, but for those that are ZERO."""
    known, zero = state.parts, edit.constant(ZERO)
    for target, part in zip(targets, parts, strict=True):
        if state.varies(target) and part != zero:
            known = known.set(target, (*known.get(target, ()), part))
    return known


@agenda_rule
def backward_element(state: CachedState) -> CachedState | None:
    """n = t[k], t = (e…) made in the body  ⟹  n̄ contributes to eₖ;  t = @g(e…), g a loop  ⟹  (0, …, n̄, …, 0) contributes to t"""
    found, node = state.at("backward"), state.item.node
    if found is None or len(state.parts.get(node, ())) != 1 or (place := _element(state, node)) is None:
        return None
    edit, (made, k), part = Edit(state.program), place, state.parts[node][0]
    if state.inner(made) is None:
        return state.done(edit, parts=_contributed(state, edit, [state.program.inputs(made)[1 + k]], [part]))
    zero, size = edit.constant(ZERO), len(state.program.inputs(made)) - 1
    alone = edit.call(state.reads[state.item.header].body, MAKE_TUPLE, *(part if i == k else zero for i in range(size)))
    return state.done(edit, parts=_contributed(state, edit, [made], [alone]))


def _element(state: CachedState, node: NodeId) -> tuple[NodeId, int] | None:
    """The tuple made in the body, or the call of a loop there, that `node` takes an element of, and which one; else None."""
    place = projection(state.program, node)
    if place is None or state.program.owner(place[0]) != state.loop.body:
        return None
    return place if state.program.callee(place[0]) is MAKE_TUPLE or state.inner(place[0]) is not None else None


@agenda_rule
def backward_loop(state: CachedState) -> CachedState | None:
    """n = @g(e…), g a loop  ⟹  in h⁻: t = g⁻(start, cache, what its turns pass on, n̄[0], n̄[1], …), and t[k] contributes to eₖ"""
    found, node = state.at("backward"), state.item.node
    if found is None or len(state.parts.get(node, ())) != 1 or (inner := state.inner(node)) is None:
        return None
    edit, body = Edit(state.program), state.reads[state.item.header].body
    kept = [
        Kept(found.arguments[inner.counter]),
        Kept(node, cache=True),
        *(Kept(found.arguments[k]) for k in sorted(inner.invariant)),
    ]
    values: list[NodeId] = []
    for one in kept:
        value, state = state.known(edit, one)
        values.append(value)
    whole = state.run_back(edit, body, inner, values, state.parts[node][0])
    parts = [
        edit.constant(ZERO) if k == inner.counter else edit.call(body, GETITEM, whole, edit.constant(k))
        for k in range(len(found.arguments))
    ]
    return state.done(edit, parts=_contributed(state, edit, found.arguments, parts))


BACKWARD: tuple[AgendaRule[CachedState], ...] = (meet, unreached, summed, backward, backward_element, backward_loop)
