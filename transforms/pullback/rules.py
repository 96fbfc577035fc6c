"""
Local pullbacks: reverse mode by one rule per construct (MimIrADe, sections 2.2 to 3.4; figures 2 and 3).

Every computation is augmented with its pullback, and the shape of the program stays the same. Only applications compose; that a
conditional needs no rule is section 3.1: it is the application of what `switch` chooses. A graph that calls itself needs none
either: ▶f is known by name before its body is.

    ▶n  image of n    n*  pullback of n    ◀n  pullback g* of the function applied at n    A  ((∇v…), ∇x…)

The rules are the paper's and compose closures only: a node used k times has k calls of its pullback, and a chain of such nodes
exponentially many. `transforms.pullback.sharing` makes a reversed program of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from semantics.edit import Edit
from semantics.ir import Apply, Constant, GraphId, GraphRef, NodeId, Parameter
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO
from transforms.adjoint_primitives import whole_power
from transforms.agenda_system import AgendaRule, AgendaSystem, agenda_rule
from transforms.pullback.arrays import ARRAY_RULES
from transforms.pullback.pointers import POINTER_RULES
from transforms.pullback.state import GETITEM, MAKE_TUPLE, J, PullbackState, adjoint, composed, image, nothing, opened, weighted_sum
from transforms.pullback.tuples import TUPLE_RULES

R = TypeVar("R")
INJECT = TABLE["inject"]
SHORT = 8  # places of a tuple of zeros that is written out


@agenda_rule
def open_graph(state: PullbackState) -> PullbackState | None:
    """@f(x…)  ⟹  @▶f(▶x…), empty as yet"""
    kind, graph, _ = state.item
    if kind != "open":
        return None
    edit, primal, known = Edit(state.program), state.program.graphs[graph], state.image
    forward = edit.graph("▶" + primal.name, primal.location)
    for node in primal.parameters:
        old = state.program.nodes[node]
        assert isinstance(old, Parameter)
        known = known.set(node, edit.parameter(forward, state.hint("▶", node), None, old.location))
    return state.done(edit, forward=state.forward.set(graph, forward), image=known)


@agenda_rule
def external(state: PullbackState) -> PullbackState | None:
    """v, a free variable of the differentiated function  ⟹  ▶v = J(v), where v is"""
    kind, _, node = state.item
    if kind != "external":
        return None
    edit, owner = Edit(state.program), state.program.owner(node)
    assert owner is not None
    return state.done(edit, image=state.image.set(node, edit.call(owner, J, node, name=state.hint("▶", node))))


@agenda_rule
def variable(state: PullbackState) -> PullbackState | None:
    """xᵢ, a parameter  ⟹  xᵢ* = λs. ((0…), 0…, s, 0…);  vᵢ, a free variable  ⟹  vᵢ* = λs. ((0…, s, 0…), 0…)"""
    kind, graph, node = state.item
    if kind != "node" or isinstance(state.program.nodes[node], Constant):
        return None
    free, parameters = state.found.free[graph], state.program.graphs[graph].parameters
    if node not in parameters and state.program.owner(node) == graph:
        return None
    edit = Edit(state.program)
    body, s = opened(edit, state.starred(node))
    if node in parameters:
        place = 1 + parameters.index(node)
    else:
        place, s = 0, _unit(edit, body, len(free), free.index(node), s)
    edit.output(body, _unit(edit, body, 1 + len(parameters), place, s))
    return state.with_pullback(edit, body)


def _unit(edit: Edit, body: GraphId, size: int, index: int, s: NodeId) -> NodeId:
    """(0, …, s, …, 0), with s at `index`; a long one is the sparse tuple that it equals, so that n of them have size n."""
    if size > SHORT:
        return edit.call(body, INJECT, edit.constant((None,) * size), edit.constant(index), s)
    zero = edit.constant(ZERO)
    return edit.call(body, MAKE_TUPLE, *(s if i == index else zero for i in range(size)))


@agenda_rule
def literal(state: PullbackState) -> PullbackState | None:
    """c, a constant that is no closure  ⟹  c* = λs. 0"""
    kind, _, node = state.item
    if kind != "node" or not isinstance(state.program.nodes[node], Constant) or _captured(state, node):
        return None
    edit = Edit(state.program)
    return state.with_pullback(edit, nothing(edit))


@agenda_rule
def closure(state: PullbackState) -> PullbackState | None:
    """@h with free variables v…  ⟹  @h* = λs. Σ vᵢ*(s#i): a closure is the tuple of what it captures"""
    kind, _, node = state.item
    if kind != "node" or not (captured := _captured(state, node)):
        return None
    edit = Edit(state.program)
    return state.with_pullback(edit, weighted_sum(state, edit, state.starred(node), captured))


def _captured(state: PullbackState, node: NodeId) -> tuple[NodeId, ...]:
    """The free variables of the graph that a constant refers to."""
    value = state.program.constant(node)
    return state.found.free[value.graph] if isinstance(value, GraphRef) else ()


SPECIAL: tuple[AgendaRule[PullbackState], ...] = (*TUPLE_RULES, *ARRAY_RULES, *POINTER_RULES)


@agenda_rule
def application(state: PullbackState) -> PullbackState | None:
    """y = g(e…)  ⟹  (▶y, ◀y) = ▶g(▶e…), e* = λs. Σ eᵢ*(s#i) with g for e₀, and y* = e* ∘ ◀y"""
    kind, graph, node = state.item
    y = state.program.nodes.get(node)
    if kind != "node" or not isinstance(y, Apply) or y.graph != graph:
        return None
    if any(rule.function(state) is not None for rule in SPECIAL):
        return None
    edit, owner, adjoints = Edit(state.program), state.owner, state.adjoints
    images: list[NodeId] = []
    for index, target in enumerate(y.inputs):
        if index == 0 and (whole := whole_power(state.program, y)) is not None:
            found, adjoints = adjoint(edit, adjoints, TABLE["pow"], 2, whole)
        else:
            found, adjoints = image(state, edit, adjoints, target, None if index else len(y.arguments))
        images.append(found)
    pair = edit.apply(owner, *images, location=y.location)
    value = edit.call(owner, GETITEM, pair, edit.constant(0), name=state.hint("▶", node))
    back = edit.call(owner, GETITEM, pair, edit.constant(1), name=state.hint("◀", node))
    bodies = composed(state, edit, back, y.inputs)
    return state.with_pullback(edit, *bodies, image=state.image.set(node, value), adjoints=adjoints)


@agenda_rule
def returned(state: PullbackState) -> PullbackState | None:
    """f returns e  ⟹  ▶f returns (▶e, e*)"""
    kind, graph, _ = state.item
    if kind != "return":
        return None
    edit, output = Edit(state.program), state.program.graphs[graph].output
    value, adjoints = image(state, edit, state.adjoints, output)
    pullback = state.pullback.get((graph, output))
    star = edit.reference(nothing(edit)) if pullback is None else pullback
    edit.output(state.owner, edit.call(state.owner, MAKE_TUPLE, value, star))
    return state.done(edit, adjoints=adjoints)


@agenda_rule
def finish(state: PullbackState) -> PullbackState | None:
    """J(@f)  ⟹  @▶f"""
    if state.item.kind != "finish":
        return None
    edit = Edit(state.program)
    edit.replace(state.place, edit.reference(state.forward[state.target]))
    edit.remove(state.place)
    return state.done(edit)


RULES = (open_graph, external, variable, literal, closure, *SPECIAL, application, returned, finish)


def _at(state: PullbackState) -> str:
    """The place of the next step."""
    if state.agenda is None:
        return "the end"
    kind, graph, node = state.item
    where = state.program.describe(node) if node in state.program.nodes else f"@{state.program.graphs[graph].name}"
    return f"{kind} {where}"


def _system(result: Callable[[PullbackState], R]) -> AgendaSystem[PullbackState, R]:
    return AgendaSystem(
        name="pullback",
        rules=RULES,
        ended=lambda state: state.agenda is None,
        at=_at,
        shown=lambda state: str(state.program),
        result=result,
        doc="reverse mode by local pullbacks, one construct at a time",
        argument="every rule takes one item off a finite agenda",
    )


SYSTEM = _system(lambda state: state.program)
PURE = _system(lambda state: state)  # the same, to go on from: what it made is what sharing works on
