"""
The cached gradient of an affine `for` (MimIrADe, section 3.3.3): two loops and a cache, in place of a closure for every turn.

    ▶h(i, a…)       runs the forward loop, which is h and writes a row of the cache in every turn, and returns (the parameters, ◀h)
    ◀h(∇)           runs the backward loop, which reads the rows, that of the last turn first, and returns ((), 0, ∇a…)

A row keeps just the values that the tangents of the turn need. The cache is a list, (row, rest), written and read at its head in
constant time, for the backward loop wants the rows in just that order: where every value is persistent, a write into the middle
of an array would copy it. Loops in the body are called for their value and their cache, which a row may keep too. No graph of the
two loops closes over anything; the one closure is ◀h. The counter is a whole number, and has no sensitivity.

    n̄  sensitivity of n    h⁺  forward loop, @h.write    h⁻  backward loop, @h.read

What of the program is no loop in normal form is J's: its images of these loops are the ▶h made here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from semantics.edit import Edit
from semantics.ir import GraphId, GraphRef, NodeId, Parameter, Program
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO
from transforms import grad
from transforms.affine.backward import BACKWARD
from transforms.affine.normal import SYSTEM as NORMAL
from transforms.affine.state import GETITEM, LT, MAKE_TUPLE, SWITCH, Blocks, CachedState, Kept, begin
from transforms.agenda import in_turn, linked
from transforms.agenda_system import AgendaRule, AgendaSystem, agenda_rule

ADD = TABLE["add"]

__all__ = ["RULES", "SYSTEM", "begin", "expand_j"]


def expand_j(program: Program, place: NodeId) -> Program:
    """The program with a reference to ▶f for J(@f) at `place`, where the loops that f reaches are put in normal form and cached."""
    return SYSTEM.run(begin(NORMAL.run(program), place))


@agenda_rule
def open_loop(state: CachedState) -> CachedState | None:
    """@h(i, a…, v…)  ⟹  @h⁺(i, a…, v…, cache), @h⁻(i, cache, v…, ā…, v̄…); what a turn passes on contributes to the next"""
    if state.item.kind != "open":
        return None
    edit, loop, h = Edit(state.program), state.loop, state.item.header
    names = [_name(state.program, x) for x in state.parameters]
    fixed = [names[k] for k in state.fixed]
    bars = [f"{names[k]}'" if names[k] else "" for k in state.varying]
    writes = _blocks(edit, state, "write", (*names, "cache"), state.parameters)
    reads = _blocks(edit, state, "read", ("", "cache", *fixed, *bars), (-1, -1, *(state.parameters[k] for k in state.fixed)))
    own = edit.graphs[reads.body].parameters
    value = {Kept(state.parameters[k]): x for k, x in zip(state.fixed, own[2:], strict=False)}
    parts = state.parts
    for k, bar in zip(state.varying, own[2 + len(fixed) :], strict=True):
        target = state.program.inputs(loop.again)[1 + k]
        if state.varies(target):
            parts = parts.set(target, (*parts.get(target, ()), bar))
    return state.done(
        edit,
        writes=state.writes.set(h, writes),
        reads=state.reads.set(h, reads),
        rows=state.rows.set(h, ()),
        value=state.value.update(value),
        parts=parts,
    )


def _name(program: Program, node: NodeId) -> str:
    return getattr(program.nodes[node], "name", "")


def _blocks(edit: Edit, state: CachedState, kind: str, names: Sequence[str], stand_for: tuple[NodeId, ...]) -> Blocks:
    """A loop over the same counter as that of the item; its first parameters stand for these of the loop's."""
    header, counter = state.program.graphs[state.item.header], state.loop.counter if kind == "write" else 0
    blocks = Blocks(*(edit.graph(f"{header.name}.{kind}{end}", header.location) for end in ("", ".body", ".after")))
    for graph in blocks:
        for name in names:
            edit.parameter(graph, name)
    own = edit.graphs[blocks.header].parameters
    bound = own[stand_for.index(state.loop.bound)] if state.loop.bound in stand_for else state.loop.bound
    test = edit.call(blocks.header, LT, own[counter], bound)
    chosen = edit.call(blocks.header, SWITCH, test, edit.reference(blocks.body), edit.reference(blocks.after))
    edit.output(blocks.header, edit.apply(blocks.header, chosen, *own))
    return blocks


@agenda_rule
def turn_back(state: CachedState) -> CachedState | None:
    """the body is mirrored backward  ⟹  h⁻ goes on with the rest of the cache and ∇a…, and ends with (0, ∇a…)"""
    if state.item.kind != "turn_back":
        return None
    edit, header = Edit(state.program), state.item.header
    reads, zero = state.reads[header], edit.constant(ZERO)
    i, rows, *others = edit.graphs[reads.body].parameters
    following = edit.call(reads.body, ADD, i, edit.constant(state.loop.step))
    rest = edit.call(reads.body, GETITEM, rows, edit.constant(1)) if state.rows[header] else rows
    bars = [state.parts.get(state.parameters[k], (zero,))[0] for k in state.varying]
    again = edit.call(reads.body, GraphRef(reads.header), following, rest, *others[: len(state.fixed)], *bars)
    edit.output(reads.body, again)
    left = list(edit.graphs[reads.after].parameters[2 + len(state.fixed) :])
    left.insert(state.loop.counter, zero)
    edit.output(reads.after, edit.call(reads.after, MAKE_TUPLE, *left))
    return state.done(edit)


@agenda_rule
def forward(state: CachedState) -> CachedState | None:
    """n = p(e…)  ⟹  the same in h⁺;  n = @g(e…), g a loop  ⟹  t = @g⁺(e…, None), n = t[0], and its cache is t[1]"""
    found, node = state.at("forward"), state.item.node
    if found is None:
        return None
    edit, body = Edit(state.program), state.writes[state.item.header].body
    inputs, inner = [_copied(state, edit, n) for n in found.inputs], state.inner(node)
    if inner is None:
        made = edit.apply(body, *inputs, name=found.name, location=found.location)
        return state.done(edit, image=state.image.set(node, made))
    both = edit.call(body, GraphRef(state.writes[inner.header].header), *inputs[1:], edit.constant(None), location=found.location)
    value, rows = (edit.call(body, GETITEM, both, edit.constant(k)) for k in (0, 1))
    return state.done(edit, image=state.image.set(node, value), caches=state.caches.set(node, rows))


def _copied(state: CachedState, edit: Edit, node: NodeId) -> NodeId:
    """What stands for a node of the loop in the body of h⁺."""
    if isinstance(state.program.nodes[node], Parameter):
        return edit.graphs[state.writes[state.item.header].body].parameters[state.parameters.index(node)]
    return state.image.get(node, node)


@agenda_rule
def turn(state: CachedState) -> CachedState | None:
    """a turn ends with @h(e…)  ⟹  h⁺ puts the row of what is kept before the cache and goes on; it ends with ((a…), cache)"""
    if state.item.kind != "turn":
        return None
    edit, header = Edit(state.program), state.item.header
    writes, kept = state.writes[header], state.rows[header]
    rows = edit.graphs[writes.body].parameters[-1]
    if kept:
        values = [state.caches[one.node] if one.cache else _copied(state, edit, one.node) for one in kept]
        rows = edit.call(writes.body, MAKE_TUPLE, edit.call(writes.body, MAKE_TUPLE, *values), rows)
    passed = [_copied(state, edit, n) for n in state.program.inputs(state.loop.again)[1:]]
    edit.output(writes.body, edit.call(writes.body, GraphRef(writes.header), *passed, rows))
    *own, rows = edit.graphs[writes.after].parameters
    edit.output(writes.after, edit.call(writes.after, MAKE_TUPLE, edit.call(writes.after, MAKE_TUPLE, *own), rows))
    return state.done(edit)


@agenda_rule
def image(state: CachedState) -> CachedState | None:
    """@h  ⟹  ▶h(i, a…, v…) = (t[0], @◀h), t = h⁺(i, a…, v…, None), and ◀h(∇) = ((), h⁻(i, t[1], v…, ∇[0], ∇[1], …)…)"""
    if state.item.kind != "image":
        return None
    edit, header, loop = Edit(state.program), state.item.header, state.loop
    primal, names = state.program.graphs[header], [_name(state.program, x) for x in state.parameters]
    forward = edit.graph("▶" + primal.name, primal.location)
    given = [edit.parameter(forward, "▶" + name if name else "") for name in names]
    both = edit.call(forward, GraphRef(state.writes[header].header), *given, edit.constant(None))
    value, rows = (edit.call(forward, GETITEM, both, edit.constant(k)) for k in (0, 1))
    back = edit.graph("◀" + primal.name, primal.location)
    seed = edit.parameter(back, "∇" + primal.name)
    found = state.run_back(edit, back, loop, (given[loop.counter], rows, *(given[k] for k in state.fixed)), seed)
    parts = [edit.call(back, GETITEM, found, edit.constant(k)) for k in range(len(names))]
    edit.output(back, edit.call(back, MAKE_TUPLE, edit.call(back, MAKE_TUPLE), *parts))
    edit.output(forward, edit.call(forward, MAKE_TUPLE, value, edit.reference(back)))
    return state.done(edit, images=state.images.set(header, forward))


@agenda_rule
def finish(state: CachedState) -> CachedState | None:
    """J(@f), with ▶h for every loop h  ⟹  @▶f, by the rules of J, to which a call of h is like that of a primitive"""
    if state.item.kind != "finish":
        return None
    return state.done(Edit(grad.SYSTEM.run(_knowing(state))))


def _knowing(state: CachedState) -> grad.GradState:
    """J about to begin, with the images of the loops known: what only they reach is not opened."""
    beginning = grad.begin(state.program, state.place)
    reached: set[GraphId] = set()
    todo = [beginning.target]
    while todo:
        graph = todo.pop()
        if graph not in reached and graph not in state.loops:
            reached.add(graph)
            todo.extend(beginning.found.references[graph])
    agenda = in_turn(item for item in linked(beginning.agenda) if item.graph in reached)
    return replace(beginning, agenda=agenda, forward=state.images)


def _at(state: CachedState) -> str:
    if state.agenda is None:
        return "the end"
    kind, header, node = state.item
    if kind == "finish":
        return f"finish {state.program.describe(state.place)}"
    where = state.program.describe(node) if node in state.program.nodes else f"@{state.program.graphs[header].name}"
    return f"{kind} {where}"


RULES: tuple[AgendaRule[CachedState], ...] = (*(open_loop, *BACKWARD, turn_back, forward, turn, image, finish),)

SYSTEM: AgendaSystem[CachedState, Program] = AgendaSystem(
    name="cached_for",
    rules=RULES,
    ended=lambda state: state.agenda is None,
    at=_at,
    shown=lambda state: str(state.program),
    result=lambda state: state.program,
    doc="gradients of affine loops by a forward loop that writes a cache and a backward loop that reads it",
    argument="every rule but meet takes one item off a finite agenda; meet leaves one contribution fewer",
)
