"""
The rules of forward mode, one for every construct.

The image of data is the data, and its tangent a value of its own. The image of a function f is ▷f, which takes the tangents of its
arguments besides, and returns the tangent of its value besides. What f captures moves with ▷f, which captures images and
tangents; so the tangent of a function itself is ZERO, and so is that of a constant. A free variable of the differentiated
function does not move: a derivative inside another knows nothing of the perturbation outside, and what is outside differentiates
its result.

    ▷n image of n    δn tangent of n    @g graph    p primitive    v free variable
"""

from __future__ import annotations

from semantics.edit import Edit
from semantics.ir import GraphRef, NodeId, Parameter, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO
from transforms.adjoint_primitives import arity_of, whole_power
from transforms.agenda import rule_of
from transforms.agenda_system import AgendaRule, AgendaSystem, agenda_rule
from transforms.clone import link
from transforms.flows import is_function
from transforms.forward.pushforwards import placed, pushforward
from transforms.forward.state import JVP, ForwardState, Moved, continued

GETITEM, MAKE_TUPLE, J = TABLE["getitem"], TABLE["make_tuple"], TABLE["J"]


@rule_of("open")
def open_graph(state: ForwardState) -> ForwardState:
    """@g(x…)  ⟹  @▷g(x…, δx…), empty as yet"""
    edit, primal = Edit(state.program), state.program.graphs[state.item.graph]
    graph = edit.graph("▷" + primal.name, primal.location)
    parameters = [state.program.nodes[n] for n in primal.parameters]
    locations = [p.location for p in parameters if isinstance(p, Parameter)]
    images = [edit.parameter(graph, state.hint("", n), None, at) for n, at in zip(primal.parameters, locations, strict=True)]
    tangents = [edit.parameter(graph, state.hint("δ", n), None, at) for n, at in zip(primal.parameters, locations, strict=True)]
    moved = state.moved.update(dict(zip(primal.parameters, map(Moved, images, tangents), strict=True)))
    return continued(state, edit, graphs=state.graphs.set(state.item.graph, graph), moved=moved)


@rule_of("external")
def external(state: ForwardState) -> ForwardState:
    """v, a free variable of the differentiated function  ⟹  ▷v = jvp(v), where v is, or J(v) if v is no function; δv = ZERO"""
    edit, node = Edit(state.program), state.item.node
    owner = state.program.owner(node)
    assert owner is not None
    image = edit.call(owner, JVP if is_function(state.program, node) else J, node, name=state.hint("▷", node))
    return continued(state, edit, moved=state.image(node, image, edit.constant(ZERO)))


@rule_of("primitive")
def primitive_value(state: ForwardState) -> ForwardState:
    """p, used as a value  ⟹  @▷p(x…, δx…) = (p(x…), δp(x…, p(x…), δx…))"""
    edit, node = Edit(state.program), state.item.node
    primitive = state.program.constant(node)
    arity = arity_of(primitive, None)
    graph = edit.graph("▷" + primitive.name, primitive.location)
    xs = [edit.parameter(graph, name) for name in primitive.parameters]
    tangents = [edit.parameter(graph, "δ" + name) for name in primitive.parameters]
    out = edit.call(graph, primitive, *xs, name="out")
    pushed = pushforward(primitive, arity, tuple(range(arity)), edit.arrays)
    tangent = edit.constant(ZERO) if pushed is None else placed(edit, graph, pushed, (*xs, out, *tangents))
    edit.output(graph, edit.call(graph, MAKE_TUPLE, out, tangent))
    return continued(state, edit, moved=state.image(node, edit.reference(graph), edit.constant(ZERO)))


@agenda_rule
def still(state: ForwardState) -> ForwardState | None:
    """in g: n = p(a…), from which nothing flows forward  ⟹  in ▷g: ▷n = p(▷a…), δn = ZERO"""
    if (primitive := _primitive(state)) is None or _pushforward(state, primitive) is not None:
        return None
    edit = Edit(state.program)
    return continued(state, edit, moved=state.image(state.item.node, _mirrored(state, edit), edit.constant(ZERO)))


@agenda_rule
def moving(state: ForwardState) -> ForwardState | None:
    """in g: n = p(a…)  ⟹  in ▷g: ▷n = p(▷a…), δn = δp(▷a…, ▷n, δa…), where δp is the pushforward of p"""
    if (primitive := _primitive(state)) is None or (pushed := _pushforward(state, primitive)) is None:
        return None
    edit, node, linked, arguments = Edit(state.program), state.item.node, state.linked, state.application.arguments
    value = _mirrored(state, edit)
    tangents = (state.moved[arguments[i]].tangent for i in _moving(state))
    given = (*(_image(state, edit, a) for a in arguments), value, *tangents)
    if len(pushed.graphs) == 1:
        tangent = placed(edit, state.owner, pushed, given)
    else:
        linked = linked if pushed in linked else linked.set(pushed, link(edit, pushed))
        tangent = edit.call(state.owner, GraphRef(linked[pushed]), *given, name=state.hint("δ", node))
    return continued(state, edit, moved=state.image(node, value, tangent), linked=linked)


@agenda_rule
def application(state: ForwardState) -> ForwardState | None:
    """in g: n = f(a…)  ⟹  in ▷g: t = ▷f(▷a…, δa…), ▷n = t[0], δn = t[1]"""
    if state.item.kind != "apply" or _primitive(state) is not None:
        return None
    edit, node, found = Edit(state.program), state.item.node, state.application
    images = [_image(state, edit, a) for a in found.inputs]
    tangents = [_tangent(state, edit, a) for a in found.arguments]
    pair = edit.apply(state.owner, *images, *tangents, location=found.location)
    value = edit.call(state.owner, GETITEM, pair, edit.constant(0), name=state.hint("", node))
    tangent = edit.call(state.owner, GETITEM, pair, edit.constant(1), name=state.hint("δ", node))
    return continued(state, edit, moved=state.image(node, value, tangent), returned=state.returned.set(node, pair))


@agenda_rule
def graph_value(state: ForwardState) -> ForwardState | None:
    """g returns n  ⟹  ▷g returns (▷n, δn)"""
    if state.item.kind != "value" or _is_tail_call(state):
        return None
    edit, output = Edit(state.program), state.program.graphs[state.item.graph].output
    edit.output(state.owner, edit.call(state.owner, MAKE_TUPLE, _image(state, edit, output), _tangent(state, edit, output)))
    return continued(state, edit)


def _is_tail_call(state: ForwardState) -> bool:
    """Whether g returns what it applies a function to itself: of what it captures, others may want the tangent alone."""
    output = state.program.graphs[state.item.graph].output
    return output in state.returned and state.program.owner(output) == state.item.graph


@agenda_rule
def tail_call(state: ForwardState) -> ForwardState | None:
    """g returns n = f(a…), applied in g  ⟹  ▷g returns t, the pair that ▷f returned: so a loop stays a loop"""
    if state.item.kind != "value" or not _is_tail_call(state):
        return None
    edit, output = Edit(state.program), state.program.graphs[state.item.graph].output
    pair = state.returned[output]
    for part in state.moved[output]:
        if not edit.uses.get(part):
            edit.remove(part)
    edit.output(state.owner, pair)
    return continued(state, edit)


@rule_of("finish")
def finish(state: ForwardState) -> ForwardState:
    """jvp(@f)  ⟹  @▷f"""
    edit = Edit(state.program)
    edit.replace(state.place, edit.reference(state.graphs[state.target]))
    edit.remove(state.place)
    return continued(state, edit)


def _primitive(state: ForwardState) -> Primitive | None:
    """The primitive that the current item applies."""
    found = state.program.callee(state.item.node) if state.item.kind == "apply" else None
    return found if isinstance(found, Primitive) else None


def _moving(state: ForwardState) -> tuple[int, ...]:
    """Which arguments of the current application may move: not constants, functions, and what has been found still."""
    return tuple(i for i, a in enumerate(state.application.arguments) if not state.is_still(a))


def _pushforward(state: ForwardState, primitive: Primitive) -> Program | None:
    """That of the current application; None if nothing flows forward."""
    found = state.application
    whole = whole_power(state.program, found)
    return pushforward(primitive, len(found.arguments), _moving(state), state.program.arrays, whole)


def _image(state: ForwardState, edit: Edit, node: NodeId) -> NodeId:
    """▷n for an input: of @g the reference to ▷g, of data itself, of all else what has been made."""
    match state.program.constant(node):
        case GraphRef(graph):
            return edit.reference(state.graphs[graph])
        case _:
            return state.moved[node].primal if node in state.moved else node


def _tangent(state: ForwardState, edit: Edit, node: NodeId) -> NodeId:
    """δn for an input: ZERO of a constant."""
    return state.moved[node].tangent if node in state.moved else edit.constant(ZERO)


def _mirrored(state: ForwardState, edit: Edit) -> NodeId:
    """▷n = p(▷a…)"""
    function, *arguments = state.application.inputs
    images = (_image(state, edit, a) for a in arguments)
    return edit.apply(state.owner, function, *images, name=state.hint("", state.item.node), location=state.application.location)


RULES: tuple[AgendaRule[ForwardState], ...] = (
    open_graph,
    external,
    primitive_value,
    still,
    moving,
    application,
    graph_value,
    tail_call,
    finish,
)


def _at(state: ForwardState) -> str:
    return "the end" if state.ended else state.item.at(state.program)


SYSTEM: AgendaSystem[ForwardState, Program] = AgendaSystem(
    name="forward",
    rules=RULES,
    ended=lambda state: state.ended,
    at=_at,
    shown=lambda state: str(state.program),
    result=lambda state: state.program,
    doc="forward mode, one mirrored node at a time",
    argument="every rule takes one item off a finite agenda",
)
