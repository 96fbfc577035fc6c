"""
Sharing: the pullbacks of a graph become one graph, the reversed program (MimIrADe, sections 1 and 4.3, made precise).

The rules of the paper call x* once per use of x, and a chain x = x + x calls the first one exponentially often. Pullbacks are
linear, so two calls of one are a call at the sum. The sum that ◀f returns is walked from the output back: when the turn of x*
comes, all pullbacks that call it have been unfolded, so all its calls are terms of that sum; `factor` has left one, and `unfold`
puts its body there. Every body is moved once and none is copied: the result has the size of f, and runs in its time.

*Theorem.* Local pullbacks without structure-preserving ones, shared, are J: the same program, up to renaming (tested as such).

    Σ  the sum that ◀f returns    p(a)  a term of it, a call of the pullback p    e  the rest of it

What is called through a value, as a pullback that a memory holds, stays a term; `gather` adds it to the tuple of the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from immutables import Map

from semantics.edit import Edit
from semantics.ir import Constant, GraphId, GraphRef, NodeId, Program
from semantics.tangents import ZERO
from transforms.agenda import in_turn
from transforms.agenda_system import AgendaRule, AgendaSystem, agenda_rule
from transforms.pullback.state import GADD, MAKE_TUPLE, Item, PullbackState
from transforms.surgery import applications, discard


@dataclass(frozen=True)
class SharingState:
    """
    Sharing at work on the result of local pullbacks, `pure`.

    agenda    the items to do, as a linked list (head, rest) or None
    backward  ◀f of the graph f that is worked on
    term      p to the term p(a) of Σ, when it has been met
    """

    program: Program
    agenda: Any
    pure: PullbackState
    backward: GraphId = -1
    term: Map[NodeId, NodeId] = Map()

    @property
    def item(self) -> Item:
        return self.agenda[0]  # type: ignore[no-any-return]

    def body_of(self, pullback: NodeId) -> GraphId | None:
        """The graph of a pullback, if it is the reference to one."""
        value = self.program.constant(pullback)
        return value.graph if isinstance(value, GraphRef) else None

    def done(self, edit: Edit, first: Iterable[Item] = (), **changes: Any) -> SharingState:
        """The state after the current item, with these to be done first."""
        return replace(self, program=edit.program, agenda=in_turn(first, self.agenda[1]), **changes)


def begin(pure: PullbackState) -> SharingState:
    """The state in which the pullbacks that the rules of `transforms.pullback.rules` have made are about to be shared."""
    items: list[Item] = []
    for graph in sorted(pure.forward):
        own = {pure.pullback.get((graph, v)) for v in variables(pure, graph)}
        items.append(Item("sum", graph))
        made = pure.made.get(graph)
        while made is not None:
            reference, made = pure.program.reference(made[0]), made[1]
            if reference is not None and reference not in own:
                items.append(Item("pullback", graph, reference))
        items.append(Item("gather", graph))
    return SharingState(pure.program, in_turn(items), pure)


def variables(pure: PullbackState, graph: GraphId) -> tuple[NodeId, ...]:
    """The free variables of a primal graph, then its parameters: the places of A."""
    return (*pure.found.free[graph], *pure.program.graphs[graph].parameters)


@agenda_rule
def eta(state: SharingState) -> SharingState | None:
    """▶f returns (▶e, e*)  ⟹  it returns (▶e, @◀f), where ◀f(∇f) = e*(∇f): Σ is this term"""
    kind, graph, _ = state.item
    if kind != "sum":
        return None
    edit, primal = Edit(state.program), state.program.graphs[graph]
    pair = state.program.graphs[state.pure.forward[graph]].output
    head, value, pullback = state.program.inputs(pair)
    backward = edit.graph("◀" + primal.name, primal.location)
    term = edit.apply(backward, pullback, edit.parameter(backward, "∇" + primal.name))
    edit.output(backward, term)
    edit.set_inputs(pair, (head, value, edit.reference(backward)))
    return state.done(edit, [Item("term", graph, term)], backward=backward, term=Map())


@agenda_rule
def drop(state: SharingState) -> SharingState | None:
    """e + p(a), p = λs. 0 or a = 0  ⟹  e"""
    if not _vanishes(state):
        return None
    edit = Edit(state.program)
    _without(edit, state.backward, state.item.node)
    return state.done(edit)


def _vanishes(state: SharingState) -> bool:
    """Whether the item is a term that is 0 by the looks of it."""
    if state.item.kind != "term":
        return False
    pullback, argument = state.program.inputs(state.item.node)
    body = state.body_of(pullback)
    results = (argument,) if body is None else (argument, state.program.graphs[body].output)
    return any(state.program.constant(n) is ZERO for n in results)


@agenda_rule
def meet(state: SharingState) -> SharingState | None:
    """p(a), the first term of p  ⟹  p(a): others are added to it"""
    if state.item.kind != "term" or _vanishes(state) or _earlier(state) is not None:
        return None
    term = state.item.node
    return state.done(Edit(state.program), term=state.term.set(state.program.inputs(term)[0], term))


def _earlier(state: SharingState) -> NodeId | None:
    """The term met before that calls what the item calls."""
    return state.term.get(state.program.inputs(state.item.node)[0])


@agenda_rule
def factor(state: SharingState) -> SharingState | None:
    """e + p(a) + p(b)  ⟹  e + p(a + b), since p is linear"""
    if state.item.kind != "term" or _vanishes(state) or (earlier := _earlier(state)) is None:
        return None
    edit, later = Edit(state.program), state.item.node
    (pullback, a), (_, b) = state.program.inputs(earlier), state.program.inputs(later)
    total = edit.call(state.backward, GADD, a, b, name=getattr(state.program.nodes[a], "name", ""))
    edit.set_inputs(earlier, (pullback, total))
    _without(edit, state.backward, later)
    return state.done(edit)


def _without(edit: Edit, backward: GraphId, term: NodeId) -> None:
    """Takes a term off Σ."""
    uses = edit.uses.get(term)
    if not uses:
        edit.output(backward, edit.constant(ZERO))
    else:
        above = next(iter(uses)).user
        (rest,) = (n for n in edit.nodes[above].inputs[1:] if n != term)  # type: ignore[union-attr]
        edit.replace(above, rest)
        edit.remove(above)
    edit.remove(term)


@agenda_rule
def unfold(state: SharingState) -> SharingState | None:
    """e + p(a), the only use of p = λs. b  ⟹  e + b[a/s]"""
    kind, graph, pullback = state.item
    if kind != "pullback" or not _only_called(state):
        return None
    edit, term, body = Edit(state.program), state.term[pullback], state.body_of(pullback)
    assert body is not None
    (s,) = state.program.graphs[body].parameters
    edit.replace(s, state.program.inputs(term)[1])
    moved = applications(state.program, body)
    for node in moved:
        edit.move(node, state.backward)
    edit.replace(term, edit.graphs[body].output)
    edit.remove(term)
    edit.remove(pullback)
    edit.remove_graph(body)
    return state.done(edit, [Item("term", graph, n) for n in moved if _is_term(edit.program, n)])


def _only_called(state: SharingState) -> bool:
    """Whether its one term is the only use of the pullback of the item."""
    return state.item.node in state.term and len(state.program.users(state.item.node)) == 1


def _is_term(program: Program, node: NodeId) -> bool:
    """Whether an application calls a known graph, and its result is only added."""
    return isinstance(program.callee(node), GraphRef) and all(program.callee(use.user) is GADD for use in program.users(node))


@agenda_rule
def forget(state: SharingState) -> SharingState | None:
    """p, which nothing uses  ⟹  nothing"""
    if state.item.kind != "pullback" or state.program.users(state.item.node):
        return None
    edit, body = Edit(state.program), state.body_of(state.item.node)
    assert body is not None
    discard(edit, state.program, (), (body,))
    return state.done(edit)


@agenda_rule
def hold(state: SharingState) -> SharingState | None:
    """p, which is used elsewhere than in Σ, as a pullback in a memory is  ⟹  p: its term stays"""
    if state.item.kind != "pullback" or _only_called(state) or not state.program.users(state.item.node):
        return None
    return state.done(Edit(state.program))


@agenda_rule
def gather(state: SharingState) -> SharingState | None:
    """v*(∇v) + … + x*(∇x) + e, the terms of all variables  ⟹  ((∇v…), ∇x…) + e"""
    kind, graph, _ = state.item
    if kind != "gather":
        return None
    edit, owner, zero = Edit(state.program), state.backward, Constant(ZERO)
    stars = [state.pure.pullback.get((graph, v), -1) for v in variables(state.pure, graph)]
    parts = [state.program.inputs(state.term[p])[1] if p in state.term else edit.constant(ZERO) for p in stars]
    for star in stars:
        if star in state.term:
            _without(edit, owner, state.term[star])
    free = len(state.pure.found.free[graph])
    result = edit.call(owner, MAKE_TUPLE, edit.call(owner, MAKE_TUPLE, *parts[:free]), *parts[free:])
    rest = edit.graphs[owner].output
    edit.output(owner, result if edit.nodes[rest] == zero else edit.call(owner, GADD, result, rest))
    unused = [body for p in stars if p >= 0 and not edit.uses.get(p) and (body := state.body_of(p)) is not None]
    discard(edit, edit.program, (), unused)
    return state.done(edit)


RULES: tuple[AgendaRule[SharingState], ...] = (eta, drop, meet, factor, unfold, forget, hold, gather)


def _at(state: SharingState) -> str:
    if state.agenda is None:
        return "the end"
    kind, graph, node = state.item
    if kind == "term":
        return f"term {state.program.describe(node)}"
    body = state.body_of(node) if kind == "pullback" else graph
    return f"{kind} @{state.program.graphs[graph if body is None else body].name}"


SYSTEM: AgendaSystem[SharingState, Program] = AgendaSystem(
    name="sharing",
    rules=RULES,
    ended=lambda state: state.agenda is None,
    at=_at,
    shown=lambda state: str(state.program),
    result=lambda state: state.program,
    doc="the pullbacks of a graph as one reversed program",
    argument="every rule takes an item off a finite agenda; unfold, which adds the terms of a body, leaves one pullback fewer",
    domain="REAL",
)
