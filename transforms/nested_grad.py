"""
Derivatives of derivatives: `grad` and its kin inside programs, expanded from the inside out (2017, section 3; 2018, section 3.2).

A call of a macro becomes applications of J; J moves to where its argument is known; J of a known graph whose body holds no
further J becomes that graph's ▶. So an inner J is expanded before an outer one differentiates its result, and the free
variables of the inner function are constants to it but variables to the outer: perturbations cannot be confused.

    J(@f)            ⟹  @▶f                       if no macro and no J that can move is left in what f reaches
    J(f(a…))         ⟹  J(f)(J(a)…)[0]            if the result is used as a function
    J(x)             ⟹  ▶x, a new parameter       likewise; every caller passes J of its argument

Likewise jvp of a function, which becomes its ▷ (`transforms.forward`). J of data is the data. "We must limit valid programs to
those for which we can identify all possible arguments to J" (2017): what remains unidentified is Malformed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from semantics.edit import Edit
from semantics.errors import Malformed, OutOfFuel
from semantics.ir import Apply, Constant, GraphId, GraphRef, NodeId, Parameter, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import MACROS, TABLE
from semantics.scope import scopes, scopes_from
from semantics.tangents import ZERO
from transforms import forward
from transforms.adjoint_primitives import adjoint_primitive, arity_of
from transforms.flows import is_function
from transforms.macros import RULES as MACRO_RULES
from transforms.modes import MODES, Mode, mode_called
from transforms.system import Rewrite, RewriteSystem, rewrite_of

J, JVP, SWITCH, GETITEM, MAKE_TUPLE = (TABLE[n] for n in ("J", "jvp", "switch", "getitem", "make_tuple"))
MACRO_SET = frozenset(MACROS)
ENDLESS = "nested_grad/endless"
MOST, GROWTH = 60_000, 20
"""Nodes, and times those given, of a program in which J of a parameter still moves: an order makes six times those of the last."""


def argument_of(program: Program, place: int, operator: Primitive) -> NodeId | None:
    """The x of an application operator(x) at `place`, or None."""
    application = program.nodes.get(place)
    if isinstance(application, Apply) and program.constant(application.inputs[0]) is operator and len(application.inputs) == 2:
        return application.inputs[1]
    return None


def argument_of_j(program: Program, place: int) -> NodeId | None:
    """The x of an application J(x) at `place`, or None."""
    return argument_of(program, place, J)


@rewrite_of("J")
def j_of_data(program: Program, place: int) -> Program | None:
    """J(c)  ⟹  c, for a constant that is no function"""
    x = argument_of_j(program, place)
    if x is None or not isinstance(program.nodes[x], Constant) or isinstance(program.constant(x), (GraphRef, Primitive)):
        return None
    return _become(Edit(program), place, x)


@rewrite_of("J")
def j_of_primitive(program: Program, place: int) -> Program | None:
    """J(p)  ⟹  @▶p"""
    x = argument_of_j(program, place)
    value = program.constant(x) if x is not None else None
    if not isinstance(value, Primitive) or value in MACRO_SET:
        return None
    edit = Edit(program)
    calls = [len(program.inputs(u.user)) - 1 for u in program.users(place) if u.index == 0]
    graph = adjoint_primitive(edit, value, arity_of(value, calls[0] if calls else None))
    return _become(edit, place, edit.reference(graph))


@rewrite_of("jvp")
def jvp_of_primitive(program: Program, place: int) -> Program | None:
    """jvp(p)  ⟹  jvp(@p'), where p'(x…) = p(x…)"""
    x = argument_of(program, place, JVP)
    value = program.constant(x) if x is not None else None
    if not isinstance(value, Primitive) or value in MACRO_SET:
        return None
    edit = Edit(program)
    calls = [(len(program.inputs(u.user)) - 1) // 2 for u in program.users(place) if u.index == 0]
    graph = edit.graph(value.name, value.location)
    xs = [edit.parameter(graph, f"x{i}") for i in range(arity_of(value, calls[0] if calls else None))]
    edit.output(graph, edit.call(graph, value, *xs))
    edit.set_inputs(place, (edit.constant(JVP), edit.reference(graph)))
    return edit.program


def _j_of_graph_by(mode: Mode) -> Rewrite:
    """The rule that makes ▶f, as this reverse mode makes it."""

    @rewrite_of("J")
    def j_of_graph(program: Program, place: int) -> Program | None:
        """J(@f)  ⟹  @▶f, if what f reaches holds no macro and no J that can still move: the innermost first"""
        x = argument_of_j(program, place)
        if x is None or not isinstance(value := program.constant(x), GraphRef) or not _innermost(program, value):
            return None
        return mode.expand_j(program, place)

    return j_of_graph


j_of_graph = _j_of_graph_by(MODES["J"])


def _pushed_forward(program: Program, place: NodeId) -> Program:
    return forward.SYSTEM.run(forward.begin(program, place))


def _jvp_of_graph_by(expand_jvp: Callable[[Program, NodeId], Program]) -> Rewrite:
    """The rule that makes ▷f, as this makes it."""

    @rewrite_of("jvp")
    def jvp_of_graph(program: Program, place: int) -> Program | None:
        """jvp(@f)  ⟹  @▷f, if what f reaches holds no macro and no J that can still move: the innermost first"""
        x = argument_of(program, place, JVP)
        if x is None or not isinstance(value := program.constant(x), GraphRef) or not _innermost(program, value):
            return None
        return expand_jvp(program, place)

    return jvp_of_graph


jvp_of_graph = _jvp_of_graph_by(_pushed_forward)


def _innermost(program: Program, reference: GraphRef) -> bool:
    found = scopes_from(program, [reference.graph])
    for graph, nodes in found.needed.items():
        for node in nodes:
            if program.owner(node) == graph and program.callee(node) in MACRO_SET:
                return False
            if (x := argument_of_j(program, node)) is not None and program.owner(node) == graph:
                if isinstance(program.constant(x), (GraphRef, Primitive)) or _moves(program, node):
                    return False
            elif program.owner(node) == graph and any(program.constant(i) in MACRO_SET for i in program.inputs(node)):
                return False
    return True


def _moves(program: Program, node: NodeId) -> bool:
    """Whether a rule takes this J nearer to a known function. One that cannot move is left: it demands data when it runs."""
    return j_of_application.function(program, node) is not None or j_of_parameter.function(program, node) is not None


@rewrite_of("J")
def j_of_application(program: Program, place: int) -> Program | None:
    """J(f(a…))  ⟹  J(f)(J(a)…)[0], if the result is used as a function; likewise through tuples, switches and elements"""
    return _into_application(program, place, J)


@rewrite_of("jvp")
def jvp_of_application(program: Program, place: int) -> Program | None:
    """jvp(f(a…))  ⟹  jvp(f)(jvp(a)…, ZERO…)[0]; likewise through tuples, switches and elements; data stay as they are"""
    return _into_application(program, place, JVP)


def _into_application(program: Program, place: int, operator: Primitive) -> Program | None:
    x = argument_of(program, place, operator)
    application = program.nodes[x] if x is not None else None
    if not isinstance(application, Apply) or program.callee(x) in (J, *MACRO_SET) or not is_function(program, place):  # type: ignore[arg-type]
        return None
    edit, graph = Edit(program), application.graph
    function, *arguments = application.inputs
    images = [_lifted(edit, program, graph, operator, a) for a in arguments]
    match program.constant(function):
        case p if p is SWITCH:
            lifted = edit.apply(graph, function, arguments[0], *images[1:])
        case p if p is MAKE_TUPLE:
            lifted = edit.apply(graph, function, *images)
        case p if p is GETITEM:
            lifted = edit.apply(graph, function, images[0], arguments[1])
        case _:
            tangents = [edit.constant(ZERO)] * len(images) if operator is JVP else []
            pair = edit.apply(graph, edit.call(graph, operator, function), *images, *tangents)
            lifted = edit.call(graph, GETITEM, pair, edit.constant(0))
    return _become(edit, place, lifted)


def _lifted(edit: Edit, program: Program, graph: GraphId, operator: Primitive, x: NodeId) -> NodeId:
    """J(x), which is x of data; or jvp(x) of a function, and of data J(x)."""
    known = isinstance(program.constant(x), (GraphRef, Primitive))
    return edit.call(graph, operator if known or operator is J or is_function(program, x) else J, x)


@rewrite_of("J")
def j_of_parameter(program: Program, place: int) -> Program | None:
    """J(x), x a parameter of g that is used as a function  ⟹  ▶x, a new parameter of g at first, which every call of g passes"""
    return _to_callers(program, place, J, "▶")


@rewrite_of("jvp")
def jvp_of_parameter(program: Program, place: int) -> Program | None:
    """jvp(x), x a parameter of g  ⟹  ▷x, a new parameter of g at first, which every call of g passes"""
    return _to_callers(program, place, JVP, "▷")


def _to_callers(program: Program, place: int, operator: Primitive, mark: str) -> Program | None:
    x = argument_of(program, place, operator)
    parameter = program.nodes[x] if x is not None else None
    if x is None or not isinstance(parameter, Parameter) or parameter.graph == program.entry or not is_function(program, place):
        return None
    if (known := _image_of(program, parameter.graph, (operator.name, x))) is not None:
        return _become(Edit(program), place, known)
    reference = program.reference(parameter.graph)
    uses = program.users(reference) if reference is not None else {}
    if reference is None or any(u.index != 0 for u in uses) or program.returns.get(reference):
        return None
    index = program.graphs[parameter.graph].parameters.index(x)
    edit = Edit(program)
    name = mark + parameter.name if parameter.name else ""
    [lifted] = edit.parameters([Parameter(parameter.graph, name, None, parameter.location, (operator.name, x))])
    for use in sorted(uses):
        call = program.nodes[use.user]
        assert isinstance(call, Apply)
        if len(call.arguments) <= index:
            return None
        edit.set_inputs(use.user, (*edit.nodes[use.user].inputs, edit.call(call.graph, operator, call.arguments[index])))  # type: ignore[union-attr]
    applications = [use.user for use in sorted(edit.program.users(x)) if argument_of(edit.program, use.user, operator) == x]
    for node in applications:
        edit.replace(node, lifted)
        edit.remove(node)
    return edit.program


def _image_of(program: Program, graph: GraphId, image: tuple[str, NodeId]) -> NodeId | None:
    """The parameter that has been made for J(x) of a parameter x: a call that passes on what it makes of x asks for it again."""
    return next((p for p in program.graphs[graph].parameters if program.nodes[p].image == image), None)  # type: ignore[union-attr]


def _become(edit: Edit, place: NodeId, value: NodeId) -> Program:
    """The program in which `value` stands where the application `place` stood."""
    edit.replace(place, value)
    edit.remove(place)
    return edit.program


OF_J = (j_of_data, j_of_primitive, j_of_application, j_of_parameter, j_of_graph)
OF_JVP = (jvp_of_primitive, jvp_of_application, jvp_of_parameter, jvp_of_graph)
RULES = (*MACRO_RULES, *OF_J, *OF_JVP)

SYSTEM = RewriteSystem(
    name="nested_grad",
    rules=RULES,
    doc="macros to J and jvp, these to where their argument is known, innermost first",
    argument="each macro disappears; J only moves towards the definitions of its argument, and to the callers of a parameter once; "
    "J of a graph removes the innermost J. A recursion that passes on a derivative of what it is passed ends in OutOfFuel",
)


def system_of(mode: Mode, expand_jvp: Callable[[Program, NodeId], Program] = _pushed_forward) -> RewriteSystem:
    """The system that has J(@f) expanded by a mode, and jvp(@f) as it is said."""
    instead = {j_of_graph: _j_of_graph_by(mode), jvp_of_graph: _jvp_of_graph_by(expand_jvp)}
    return replace(SYSTEM, rules=tuple(instead.get(r, r) for r in RULES))


@cache
def system_by(mode: str) -> RewriteSystem:
    """The system that expands by a reverse mode (`transforms.modes`)."""
    return SYSTEM if mode == "J" else system_of(mode_called(mode))


def ending(system: RewriteSystem, program: Program) -> RewriteSystem:
    """
    The system, for this program, which it says to be endless where it has grown too far: a recursion that passes on a derivative
    of what it is passed asks for one order after the other.
    """
    most, moving = MOST + GROWTH * len(program.nodes), (j_of_parameter, jvp_of_parameter)
    return replace(system, rules=tuple(replace(r, function=_within(r, most)) if r in moving else r for r in system.rules))


def _within(rule: Rewrite, most: int) -> Callable[[Program, int], Program | None]:
    def function(program: Program, place: int) -> Program | None:
        after = rule.function(program, place)
        if after is not None and (size := len(program.nodes)) > most:
            raise _endless(program, program.inputs(place)[1], size)
        return after

    return function


def _endless(program: Program, parameter: NodeId, size: int) -> OutOfFuel:
    name = getattr(program.nodes[parameter], "name", "")
    return OutOfFuel(
        f"the derivatives of {name.lstrip('▶▷') or 'a function'} do not come to an end: {size} nodes, and more are asked for",
        rule=ENDLESS,
        node=f"%{name}",
        location=getattr(program.nodes[parameter], "location", None),
        remedy="in a recursion or a loop, pass on no derivative of what is passed: name each, d = grad(f), then grad(d)",
    )


def holds_macros(program: Program) -> bool:
    """Whether anything is left to expand."""
    return any(p in program.interned for p in (*MACROS, J))


def expand(program: Program, mode: str = "J") -> Program:
    """
    The same program without macros and without J of functions, adjoints built by a reverse mode.

    Malformed if a differentiated function is not known, or if the mode does not reach it; OutOfFuel if the orders do not end.
    """
    if not holds_macros(program):
        return program
    result = ending(system_by(mode), program).run(program)
    if not (left := _left(result)):
        return result
    for graph, nodes in scopes(result).needed.items():
        for node in sorted(nodes & left):
            if result.owner(node) == graph:
                raise Malformed(
                    "the function differentiated here cannot be identified before the program runs, or is its own derivative",
                    rule="nested_grad",
                    node=result.describe(node),
                    location=getattr(result.nodes[node], "location", None),
                    remedy="name the function, or pass it to a function that is itself only called, never stored",
                )
    return result


def _left(program: Program) -> set[NodeId]:
    """The applications of macros, and of J to functions: what `expand` has not got rid of."""
    rows = (program.interned[row] for row in (*MACROS, J) if row in program.interned)
    applied = (use.user for row in rows for use in program.users(row) if use.index == 0)
    return {node for node in applied if program.callee(node) is not J or _unexpanded(program, node)}


def _unexpanded(program: Program, node: NodeId) -> bool:
    x = argument_of_j(program, node)
    return x is not None and isinstance(program.constant(x), (GraphRef, Primitive))
