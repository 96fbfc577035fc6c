"""
Bugs in J, and variants of J that are as right as it is.

A variant is the system of `transforms.grad` with a rule replaced, or a name that it uses. `gradient_of` makes the gradient function
that the properties take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

from semantics.edit import Edit
from semantics.ir import NOT_CONSTANT, Apply, GraphRef, NodeId, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.scope import order_of_need
from semantics.tangents import ZERO
from semantics.text import read
from transforms import adjoint_primitives, grad, grad_state, gradient_programs, macros
from transforms.agenda import Item
from transforms.agenda_system import AgendaRule
from transforms.grad_state import GradState

Function = Callable[[GradState], GradState | None]
GADD, GETITEM, MAKE_TUPLE = TABLE["gadd"], TABLE["getitem"], TABLE["make_tuple"]


@dataclass(frozen=True)
class Variant:
    """
    A variant of J by name.

    rules    rules of J to replace, by name
    patches  (module, name, value) to replace while it runs
    caught   the properties of which at least one must refute it; empty for a correct variant
    """

    name: str
    rules: dict[str, Function]
    patches: tuple[tuple[Any, str, Any], ...] = ()
    caught: tuple[str, ...] = ("forward mode",)

    def __str__(self) -> str:
        return self.name

    @contextmanager
    def planted(self) -> Iterator[None]:
        """J is this variant inside the block."""
        rules = tuple(AgendaRule(r.name, r.law, self.rules[r.name]) if r.name in self.rules else r for r in grad.SYSTEM.rules)
        with ExitStack() as stack:
            stack.enter_context(patch.object(grad, "SYSTEM", replace(grad.SYSTEM, rules=rules)))
            for module, name, value in self.patches:
                stack.enter_context(patch.object(module, name, value))
            yield

    def gradient(self, program: Program, wrt: Any = 0, types: Any = None) -> Program:
        """The gradient of `program` by this variant."""
        with self.planted():
            return gradient_programs.gradient_program(program, wrt, types)


def original(name: str) -> Function:
    """A rule of J as it is."""
    return next(r.function for r in grad.RULES if r.name == name)


def sensitivity(state: GradState, edit: Edit, node: NodeId) -> NodeId:
    """The one contribution to a node, or ZERO."""
    collected = state.collected(node)
    return collected[0] if collected else edit.constant(ZERO)


def varies(state: GradState, node: NodeId) -> bool:
    """Whether a sensitivity can arrive at an input: at all but constants that are no closures."""
    value = state.program.constant(node)
    return value is NOT_CONSTANT or (isinstance(value, GraphRef) and bool(state.found.free[value.graph]))


# fan-out


def overwrites(state: GradState) -> GradState | None:
    """fan-out keeps the last contribution instead of adding"""
    kind, graph, node = state.item
    if kind not in ("backward", "sum") or len(state.collected(node)) < 2:
        return None
    return replace(state, contributions=state.contributions.set((graph, node), state.collected(node)[-1:]))


def drops_second(state: GradState) -> GradState | None:
    """fan-out forgets every contribution but the first"""
    kind, graph, node = state.item
    if kind not in ("backward", "sum") or len(state.collected(node)) < 2:
        return None
    return replace(state, contributions=state.contributions.set((graph, node), state.collected(node)[:1]))


def adds_otherwise(state: GradState) -> GradState | None:
    """correct: fan-out adds in the other order"""
    kind, graph, node = state.item
    if kind not in ("backward", "sum") or len(state.collected(node)) < 2:
        return None
    edit = Edit(state.program)
    *rest, a, b = state.collected(node)
    total = edit.call(state.backward[graph], GADD, b, a)
    return replace(state, program=edit.program, contributions=state.contributions.set((graph, node), (total, *rest)))


def adds_zero_too(state: GradState) -> GradState | None:
    """correct: fan-out adds a ZERO, which is neutral"""
    kind, graph, node = state.item
    if kind not in ("backward", "sum") or len(state.collected(node)) < 2:
        return None
    edit = Edit(state.program)
    a, b, *rest = state.collected(node)
    zero = edit.call(state.backward[graph], GADD, edit.constant(ZERO), a)
    total = edit.call(state.backward[graph], GADD, zero, b)
    return replace(state, program=edit.program, contributions=state.contributions.set((graph, node), (total, *rest)))


# applications, backwards


def backward(
    *,
    index_of: Callable[[int, int], int] = lambda i, n: i,
    wanted: Callable[[GradState, int, tuple[NodeId, ...]], bool] = lambda state, i, inputs: True,
    backwards: bool = False,
) -> Function:
    """The rule `backward_application` with other indices, or from the right, or with inputs left out."""

    def function(state: GradState) -> GradState | None:
        kind, graph, node = state.item
        application = state.program.nodes.get(node)
        if kind != "backward" or not isinstance(application, Apply) or len(state.collected(node)) > 1:
            return None
        edit = Edit(state.program)
        owner = state.backward[graph]
        results = edit.apply(owner, state.pullback[node], sensitivity(state, edit, node))
        contributions = state.contributions
        inputs = list(enumerate(application.inputs))
        for index, target in reversed(inputs) if backwards else inputs:
            if varies(state, target) and wanted(state, index, application.inputs):
                part = edit.call(owner, GETITEM, results, edit.constant(index_of(index, len(inputs))))
                contributions = contributions.set((graph, target), (*contributions.get((graph, target), ()), part))
        return state.done(edit, contributions=contributions)

    return function


def exchanged(i: int, n: int) -> int:
    """Inputs 1 and 2 change places."""
    return {1: 2, 2: 1}.get(i, i) if n == 3 else i


def last_alias(state: GradState, index: int, inputs: tuple[NodeId, ...]) -> bool:
    """Of an argument given twice only the last place counts."""
    return inputs[index] not in inputs[index + 1 :]


def own_only(state: GradState, index: int, inputs: tuple[NodeId, ...]) -> bool:
    """Free variables get no contribution: they belong to another graph."""
    return state.program.owner(inputs[index]) in (None, state.item.graph)


def function_is_constant(state: GradState, index: int, inputs: tuple[NodeId, ...]) -> bool:
    """The function of an application gets no sensitivity, as if it captured nothing."""
    return index != 0


# closures


def forgets_captures(state: GradState) -> GradState | None:
    """creating a closure has no adjoint"""
    kind, _, node = state.item
    closure = state.program.constant(node) if node in state.program.nodes else None
    if kind != "backward" or not isinstance(closure, GraphRef) or len(state.collected(node)) > 1:
        return None
    return state.done(Edit(state.program))


def closure(order: Callable[[int, int], int | None]) -> Function:
    """The rule `backward_closure` that reads element order(i, n) for free variable i of n, or none."""

    def function(state: GradState) -> GradState | None:
        kind, graph, node = state.item
        found = state.program.constant(node) if node in state.program.nodes else None
        if kind != "backward" or not isinstance(found, GraphRef) or len(state.collected(node)) > 1:
            return None
        edit = Edit(state.program)
        contributions = state.contributions
        if state.collected(node):
            captured = state.found.free[found.graph]
            for index, target in enumerate(captured):
                at = order(index, len(captured))
                if at is not None:
                    part = edit.call(state.backward[graph], GETITEM, state.collected(node)[0], edit.constant(at))
                    contributions = contributions.set((graph, target), (*contributions.get((graph, target), ()), part))
        return state.done(edit, contributions=contributions)

    return function


# results


def result(
    own: Callable[[GradState, NodeId], bool] = lambda state, v: True,
    reverse: bool = False,
    confused: bool = False,
) -> Function:
    """The rule `graph_result` with some free variables left out, in reverse, or mixed into the first parameter."""

    def function(state: GradState) -> GradState | None:
        kind, graph, _ = state.item
        if kind != "result":
            return None
        edit = Edit(state.program)
        owner = state.backward[graph]
        free = state.found.free[graph]
        parts = [sensitivity(state, edit, v) if own(state, v) else edit.constant(ZERO) for v in free]
        captured = edit.call(owner, MAKE_TUPLE, *(reversed(parts) if reverse else parts))
        parameters = [sensitivity(state, edit, x) for x in state.program.graphs[graph].parameters]
        if confused and parameters and parts and graph == state.target:
            parameters[0] = edit.call(owner, GADD, parameters[0], parts[0])
        edit.output(owner, edit.call(owner, MAKE_TUPLE, captured, *parameters))
        return state.done(edit)

    return function


def used_here(state: GradState, v: NodeId) -> bool:
    """Whether v is an input of an application of the graph itself, not only captured by a function that it calls."""
    graph = state.item.graph
    needed = order_of_need(state.program, graph, state.found.free)
    return (
        any(v in state.program.inputs(n) for n in needed if state.program.owner(n) == graph)
        or state.program.graphs[graph].output == v
    )


def doubled(state: GradState) -> GradState | None:
    """the seed is 2"""
    kind, graph, _ = state.item
    after = original("open_graph")(state)
    if kind != "open" or after is None or graph != state.target:
        return after
    edit = Edit(after.program)
    output = state.program.graphs[graph].output
    (seed,) = after.contributions[(graph, output)]
    twice = edit.call(after.backward[graph], TABLE["mul"], seed, edit.constant(2.0))
    return replace(after, program=edit.program, contributions=after.contributions.set((graph, output), (twice,)))


def no_seed_for_identity(state: GradState) -> GradState | None:
    """a function that returns what it was given, or captured, passes nothing back: the zero-trip loop"""
    kind, graph, _ = state.item
    after = original("open_graph")(state)
    if kind != "open" or after is None:
        return after
    output = state.program.graphs[graph].output
    if isinstance(state.program.nodes[output], Apply) and state.program.owner(output) == graph:
        return after
    return replace(after, contributions=after.contributions.delete((graph, output)))


# what the rules use


def not_reversed(program: Program, root: int, found: Any) -> Any:
    """the backward pass runs forwards"""
    items: list[Item] = []
    agenda = AGENDA(program, root, found)
    while agenda is not None:
        items.append(agenda[0])
        agenda = agenda[1]
    places = [i for i, item in enumerate(items) if item.kind == "backward"]
    by_graph: dict[int, list[int]] = {}
    for i in places:
        by_graph.setdefault(items[i].graph, []).append(i)
    for indices in by_graph.values():
        turned = [items[i] for i in reversed(indices)]
        for i, item in zip(indices, turned, strict=True):
            items[i] = item
    for item in reversed(items):
        agenda = (item, agenda)
    return agenda


AGENDA = grad_state._agenda
BACKPROPAGATOR = adjoint_primitives.backpropagator
ADJOINT = adjoint_primitives.adjoint_primitive


def with_rule(name: str, text: str) -> tuple[tuple[Any, str, Any], ...]:
    """Another backpropagator for a primitive of the table."""

    def backpropagator(primitive: Primitive) -> Program:
        return read(text) if primitive is TABLE[name] else BACKPROPAGATOR(primitive)

    return ((adjoint_primitives, "backpropagator", backpropagator),)


def rule(parameters: str, *body: str) -> str:
    """The text of a backpropagator."""
    *equations, last = body
    arguments = ", ".join(f"%{p}" for p in [*parameters.split(), "out", "dout"])
    return "\n".join(
        [
            "program @pullback",
            f"@pullback({arguments}):",
            *(f"  {e}" for e in equations),
            f"  %r = make_tuple({last})",
            "  return %r",
        ]
    )


SWITCHED = rule("c a b", "%da = switch(%c, ZERO, %dout)", "%db = switch(%c, %dout, ZERO)", "ZERO, %da, %db")
BOTH_BRANCHES = rule("c a b", "ZERO, %dout, %dout")
FIRST_ELEMENT = rule("t i", "%dt = inject(%t, 0, %dout)", "%dt, ZERO")
OUT_FOR_X = rule("x y", "%dx = mul(%dout, %y)", "%dy = mul(%dout, %out)", "%dx, %dy")
SAME_PRODUCT = rule("x y", "%dx = mul(%y, %dout)", "%dy = mul(%x, %dout)", "%dx, %dy")
DOUBLE_NEGATED = rule("x y", "%n = neg(%dout)", "%dx = neg(%n)", "%dx, %n")
SAME_SWITCH = rule("c a b", "%n = not_(%c)", "%da = switch(%n, ZERO, %dout)", "%db = switch(%n, %dout, ZERO)", "ZERO, %da, %db")
SAME_QUOTIENT = rule("x y", "%dx = div(%dout, %y)", "%t = mul(%dx, %out)", "%dy = neg(%t)", "%dx, %dy")
SAME_SINE = rule("x", "%c = cos(%x)", "%dx = mul(%c, %dout)", "%dx")
TANH_OUT = rule("x", "%s = mul(%out, %out)", "%t = sub(1.0, %s)", "%dx = mul(%dout, %t)", "%dx")


def sparse_part(edit: Edit, graph: int, cotangents: NodeId, index: int, x: NodeId) -> NodeId:
    """the sensitivity is given to the user as it is, ZERO and all"""
    return edit.call(graph, GETITEM, cotangents, edit.constant(index + 1))


def shifted_part(edit: Edit, graph: int, cotangents: NodeId, index: int, x: NodeId) -> NodeId:
    """element i of the results is taken for argument i, which is the one before"""
    part = edit.call(graph, GETITEM, cotangents, edit.constant(max(index, 1)))
    return edit.call(graph, TABLE["instantiate"], part, x)


def instantiated_twice(edit: Edit, graph: int, cotangents: NodeId, index: int, x: NodeId) -> NodeId:
    """correct: instantiating twice is instantiating once"""
    part = PART(edit, graph, cotangents, index, x)
    return edit.call(graph, TABLE["instantiate"], part, x)


PART = macros._part

FORWARD = ("forward mode",)

MUTANTS: tuple[Variant, ...] = (
    Variant("fan-out overwrites", {"fan_out": overwrites}),
    Variant("second use dropped", {"fan_out": drops_second}),
    Variant("aliased arguments overwrite", {"backward_application": backward(wanted=last_alias)}),
    Variant("captures forgotten", {"backward_closure": forgets_captures}),
    Variant("captured through a called closure only, forgotten", {"graph_result": result(own=used_here)}),
    Variant("free variables in reverse", {"graph_result": result(reverse=True)}),
    Variant("first capture for every capture", {"backward_closure": closure(lambda i, n: 0)}),
    Variant("only the first capture", {"backward_closure": closure(lambda i, n: i if i == 0 else None)}),
    Variant("free variables get nothing", {"backward_application": backward(wanted=own_only)}),
    Variant("called functions get nothing", {"backward_application": backward(wanted=function_is_constant)}),
    Variant("results of a backpropagator exchanged", {"backward_application": backward(index_of=exchanged)}),
    Variant("backward pass not reversed", {}, ((grad_state, "_agenda", not_reversed),)),
    Variant("seed 2.0", {"open_graph": doubled}),
    Variant("zero-trip loop", {"open_graph": no_seed_for_identity}),
    Variant("switch branches exchanged", {}, with_rule("switch", SWITCHED)),
    Variant("both branches of a switch", {}, with_rule("switch", BOTH_BRANCHES)),
    Variant("wrong element of a tuple", {}, with_rule("getitem", FIRST_ELEMENT)),
    Variant("the turn of a loop after", {}, with_rule("mul", OUT_FOR_X)),
    Variant("ZERO at the boundary", {}, ((macros, "_part", sparse_part),), ("tangent types",)),
    Variant("argument off by one", {}, ((macros, "_part", shifted_part),)),
    Variant("perturbation confusion", {"graph_result": result(confused=True)}, (), ("perturbations kept apart",)),
)

CONTROLS: tuple[Variant, ...] = (
    Variant("J itself", {}, (), ()),
    Variant("sums in the other order", {"fan_out": adds_otherwise}, (), ()),
    Variant("ZERO added", {"fan_out": adds_zero_too}, (), ()),
    Variant("inputs visited from the right", {"backward_application": backward(backwards=True)}, (), ()),
    Variant("captures read from the end", {"backward_closure": closure(lambda i, n: i - n)}, (), ()),
    Variant("product, factors exchanged", {}, with_rule("mul", SAME_PRODUCT), ()),
    Variant("difference, negated twice", {}, with_rule("sub", DOUBLE_NEGATED), ()),
    Variant("switch on the negated condition", {}, with_rule("switch", SAME_SWITCH), ()),
    Variant("quotient by its own slope", {}, with_rule("div", SAME_QUOTIENT), ()),
    Variant("sine, factors exchanged", {}, with_rule("sin", SAME_SINE), ()),
    Variant("tanh by its value", {}, with_rule("tanh", TANH_OUT), ()),
    Variant("instantiated twice", {}, ((macros, "_part", instantiated_twice),), ()),
)
