"""
J: closure-based reverse mode on graphs (Pearlmutter and Siskind; 2017, section 3 and figure 2; 2018, section 3.2 and figure 1).

J takes a graph g(x…) to ▶g(▶x…), which returns the value together with a *backpropagator* ◀g. Given the sensitivity ∇g of
the value, ◀g returns ((∇v…), ∇x…): first the ordered sensitivities of the free variables of g, then those of the
parameters. Every application n = f(a…) of g is mirrored twice: forward, as ▶n and ◀n; backward, in reverse order, as a call
of ◀n. That the adjoint of creating a closure is to unpack its sensitivity is the rule `backward_closure`.

    ▶n  image of n    ◀n  backpropagator of n    ∇n  sensitivity of n    @g  graph    v  free variable

One rule at a time: the agenda of a state says what is mirrored next. Every program on the way is well-formed; the new graphs
are not reachable before `finish`.
"""

from __future__ import annotations

from immutables import Map

from semantics.edit import Edit
from semantics.ir import Apply, Constant, GraphId, GraphRef, NodeId, Parameter, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO
from transforms.adjoint_primitives import adjoint_primitive, arity_of, whole_power
from transforms.agenda import changed
from transforms.agenda_system import AgendaRule, AgendaSystem, agenda_rule
from transforms.grad_state import GradState, begin

GETITEM, MAKE_TUPLE, GADD, J = TABLE["getitem"], TABLE["make_tuple"], TABLE["gadd"], TABLE["J"]

__all__ = ["RULES", "SYSTEM", "GradState", "begin"]


@agenda_rule
def open_graph(state: GradState) -> GradState | None:
    """@g(x…)  ⟹  @▶g(▶x…) and @◀g(∇g), empty as yet"""
    kind, graph, _ = state.item
    if kind != "open":
        return None
    edit, primal = Edit(state.program), state.program.graphs[graph]
    forward = edit.graph("▶" + primal.name, primal.location)
    image = state.image
    for node in primal.parameters:
        old = state.program.nodes[node]
        assert isinstance(old, Parameter)
        image = image.set(node, edit.parameter(forward, "▶" + old.name if old.name else "", None, old.location))
    backward = edit.graph("◀" + primal.name, primal.location)
    seed = edit.parameter(backward, "∇" + primal.name)
    contributions = state.contributions.set((graph, primal.output), (seed,))
    return state.done(
        edit,
        forward=state.forward.set(graph, forward),
        backward=state.backward.set(graph, backward),
        image=image,
        contributions=contributions,
    )


@agenda_rule
def external(state: GradState) -> GradState | None:
    """v, a free variable of the differentiated function  ⟹  ▶v = J(v), where v is"""
    kind, _, node = state.item
    if kind != "external":
        return None
    edit = Edit(state.program)
    owner = state.program.owner(node)
    assert owner is not None
    lifted = edit.call(owner, J, node, name=state.hint("▶", node))
    return state.done(edit, image=state.image.set(node, lifted))


@agenda_rule
def forward_application(state: GradState) -> GradState | None:
    """in g: n = f(a…)  ⟹  in ▶g: t = ▶f(▶a…), ▶n = t[0], ◀n = t[1]"""
    kind, graph, node = state.item
    if kind != "forward":
        return None
    edit = Edit(state.program)
    application = state.program.nodes[node]
    assert isinstance(application, Apply)
    adjoints = state.adjoints
    images: list[NodeId] = []
    for index, target in enumerate(application.inputs):
        arity = len(application.arguments) if index == 0 else None
        if index == 0 and (whole := whole_power(state.program, application)) is not None:
            found, adjoints = _adjoint(edit, adjoints, TABLE["pow"], 2, whole)
            images.append(found)
            continue
        found, adjoints = _image(state, edit, adjoints, target, arity)
        images.append(found)
    owner = state.forward[graph]
    pair = edit.apply(owner, *images, location=application.location)
    value = edit.call(owner, GETITEM, pair, edit.constant(0), name=state.hint("▶", node))
    back = edit.call(owner, GETITEM, pair, edit.constant(1), name=state.hint("◀", node))
    return state.done(edit, image=state.image.set(node, value), pullback=state.pullback.set(node, back), adjoints=adjoints)


def _image(
    state: GradState, edit: Edit, adjoints: Map[tuple[str, int], GraphId], node: NodeId, arity: int | None
) -> tuple[NodeId, Map[tuple[str, int], GraphId]]:
    """▶n for an input: of a node its image, of @g the reference to ▶g, of a primitive its ▶p, of data itself."""
    match state.program.nodes[node]:
        case Constant(GraphRef(graph)):
            return edit.reference(state.forward[graph]), adjoints
        case Constant(Primitive() as primitive):
            return _adjoint(edit, adjoints, primitive, arity_of(primitive, arity))
        case Constant():
            return node, adjoints
        case _:
            return state.image[node], adjoints


def _adjoint(
    edit: Edit, adjoints: Map[tuple[str, int], GraphId], primitive: Primitive, arity: int, whole: int | None = None
) -> tuple[NodeId, Map[tuple[str, int], GraphId]]:
    """▶p, made when it is first met; for every whole exponent of `pow` there is one."""
    key = (f"{primitive.name}#{id(primitive)}#{whole}", arity)
    if key not in adjoints:
        adjoints = adjoints.set(key, adjoint_primitive(edit, primitive, arity, whole))
    return edit.reference(adjoints[key]), adjoints


@agenda_rule
def graph_value(state: GradState) -> GradState | None:
    """g returns n  ⟹  ▶g returns (▶n, @◀g)"""
    kind, graph, _ = state.item
    if kind != "value":
        return None
    edit = Edit(state.program)
    value, adjoints = _image(state, edit, state.adjoints, state.program.graphs[graph].output, None)
    pair = edit.call(state.forward[graph], MAKE_TUPLE, value, edit.reference(state.backward[graph]))
    edit.output(state.forward[graph], pair)
    return state.done(edit, adjoints=adjoints)


@agenda_rule
def fan_out(state: GradState) -> GradState | None:
    """n is used more than once, with contributions c₁, c₂, …  ⟹  one of them is gadd(c₁, c₂)"""
    kind, graph, node = state.item
    if kind not in ("backward", "sum") or len(state.collected(node)) < 2:
        return None
    edit = Edit(state.program)
    a, b, *rest = state.collected(node)
    total = edit.call(state.backward[graph], GADD, a, b, name=state.hint("∇", node))
    return changed(state, program=edit.program, contributions=state.contributions.set((graph, node), (total, *rest)))


@agenda_rule
def backward_application(state: GradState) -> GradState | None:
    """in g: n = f(a…)  ⟹  in ◀g: t = ◀n(∇n), and t[i] contributes to input i of n"""
    kind, graph, node = state.item
    application = state.program.nodes.get(node)
    if kind != "backward" or not isinstance(application, Apply) or len(state.collected(node)) > 1:
        return None
    edit = Edit(state.program)
    owner = state.backward[graph]
    results = edit.apply(owner, state.pullback[node], _sensitivity(state, edit, node), location=application.location)
    contributions = state.contributions
    for index, target in enumerate(application.inputs):
        if _varies(state, target):
            part = edit.call(owner, GETITEM, results, edit.constant(index), name=state.hint("∇", target))
            contributions = contributions.set((graph, target), (*contributions.get((graph, target), ()), part))
    return state.done(edit, contributions=contributions)


def _varies(state: GradState, node: NodeId) -> bool:
    """Whether a sensitivity can arrive at an input: at every node but a constant that is no closure."""
    value = state.program.constant(node)
    return not isinstance(state.program.nodes[node], Constant) or (
        isinstance(value, GraphRef) and bool(state.found.free[value.graph])
    )


def _sensitivity(state: GradState, edit: Edit, node: NodeId) -> NodeId:
    """∇n: its one contribution, or ZERO if there is none."""
    collected = state.collected(node)
    return collected[0] if collected else edit.constant(ZERO)


@agenda_rule
def backward_closure(state: GradState) -> GradState | None:
    """in g: @h with free variables v…  ⟹  in ◀g: ∇@h[i] contributes to vᵢ, the adjoint of closure creation"""
    kind, graph, node = state.item
    closure = state.program.constant(node) if node in state.program.nodes else None
    if kind != "backward" or not isinstance(closure, GraphRef) or len(state.collected(node)) > 1:
        return None
    edit = Edit(state.program)
    contributions = state.contributions
    if state.collected(node):
        whole = _sensitivity(state, edit, node)
        for index, captured in enumerate(state.found.free[closure.graph]):
            part = edit.call(state.backward[graph], GETITEM, whole, edit.constant(index), name=state.hint("∇", captured))
            contributions = contributions.set((graph, captured), (*contributions.get((graph, captured), ()), part))
    return state.done(edit, contributions=contributions)


@agenda_rule
def summed(state: GradState) -> GradState | None:
    """a parameter or free variable with at most one contribution has its sensitivity"""
    kind, _, node = state.item
    if kind != "sum" or len(state.collected(node)) > 1:
        return None
    return state.done(Edit(state.program))


@agenda_rule
def graph_result(state: GradState) -> GradState | None:
    """@g(x…) with free variables v…  ⟹  ◀g returns ((∇v…), ∇x…)"""
    kind, graph, _ = state.item
    if kind != "result":
        return None
    edit = Edit(state.program)
    owner = state.backward[graph]
    own = edit.call(owner, MAKE_TUPLE, *(_sensitivity(state, edit, v) for v in state.found.free[graph]))
    parameters = [_sensitivity(state, edit, x) for x in state.program.graphs[graph].parameters]
    edit.output(owner, edit.call(owner, MAKE_TUPLE, own, *parameters))
    return state.done(edit)


@agenda_rule
def finish(state: GradState) -> GradState | None:
    """J(@f)  ⟹  @▶f"""
    if state.item.kind != "finish":
        return None
    edit = Edit(state.program)
    edit.replace(state.place, edit.reference(state.forward[state.target]))
    edit.remove(state.place)
    return state.done(edit)


RULES: tuple[AgendaRule[GradState], ...] = (
    open_graph,
    external,
    forward_application,
    graph_value,
    fan_out,
    backward_application,
    backward_closure,
    summed,
    graph_result,
    finish,
)


def _at(state: GradState) -> str:
    return "the end" if state.agenda is None else state.item.at(state.program)


SYSTEM: AgendaSystem[GradState, Program] = AgendaSystem(
    name="grad",
    rules=RULES,
    ended=lambda state: state.agenda is None,
    at=_at,
    shown=lambda state: str(state.program),
    result=lambda state: state.program,
    doc="J, closure-based reverse mode, one mirrored node at a time",
    argument="every rule but fan_out takes one item off a finite agenda; fan_out leaves one contribution fewer",
    kind=lambda state: state.item.kind,
)
