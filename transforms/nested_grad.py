"""
Reverse over reverse: `grad` and its kin inside programs, expanded from the inside out (2017, section 3; 2018, section 3.2).

A call of a macro becomes applications of J; J moves to where its argument is known; J of a known graph whose body holds no
further J becomes that graph's ▶. So an inner J is expanded before an outer one differentiates its result, and the free
variables of the inner function are constants to it but variables to the outer: perturbations cannot be confused.

    J(@f)            ⟹  @▶f                       if no macro and no J that can move is left in what f reaches
    J(f(a…))         ⟹  J(f)(J(a)…)[0]            if the result is used as a function
    J(x)             ⟹  ▶x, a new parameter       likewise; every caller passes J of its argument

J of data is the data. "We must limit valid programs to those for which we can identify all possible arguments to J" (2017):
what remains unidentified is Malformed.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from semantics.edit import Edit
from semantics.errors import Malformed
from semantics.ir import Apply, Constant, GraphRef, NodeId, Parameter, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import MACROS, TABLE
from semantics.scope import scopes_from
from semantics.structured import Label
from transforms.adjoint_primitives import adjoint_primitive, arity_of
from transforms.macros import RULES as MACRO_RULES
from transforms.modes import MODES, Mode, mode_called
from transforms.system import Rewrite, RewriteSystem, rewrite

J, SWITCH, GETITEM, MAKE_TUPLE = TABLE["J"], TABLE["switch"], TABLE["getitem"], TABLE["make_tuple"]
FIELD = TABLE["field"]
MAKERS = (TABLE["make_record"], TABLE["with_field"])
CARRIERS = (TABLE["with_field"], TABLE["of_class"], TABLE["of_length"], TABLE["values_of"], TABLE["iterated"])
MACRO_SET = frozenset(MACROS)


def argument_of_j(program: Program, place: int) -> NodeId | None:
    """The x of an application J(x) at `place`, or None."""
    application = program.nodes.get(place)
    if isinstance(application, Apply) and program.constant(application.inputs[0]) is J and len(application.inputs) == 2:
        return application.inputs[1]
    return None


@rewrite
def j_of_data(program: Program, place: int) -> Program | None:
    """J(c)  ⟹  c, for a constant that is no function"""
    x = argument_of_j(program, place)
    if x is None or not isinstance(program.nodes[x], Constant) or isinstance(program.constant(x), (GraphRef, Primitive)):
        return None
    return _become(Edit(program), place, x)


@rewrite
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


def _j_of_graph_by(mode: Mode) -> Rewrite:
    """The rule that makes ▶f, as this reverse mode makes it."""

    @rewrite
    def j_of_graph(program: Program, place: int) -> Program | None:
        """J(@f)  ⟹  @▶f, if what f reaches holds no macro and no J that can still move: the innermost first"""
        x = argument_of_j(program, place)
        if x is None or not isinstance(value := program.constant(x), GraphRef) or not _innermost(program, value):
            return None
        return mode.expand_j(program, place)

    return j_of_graph


j_of_graph = _j_of_graph_by(MODES["J"])


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


@rewrite
def j_of_application(program: Program, place: int) -> Program | None:
    """J(f(a…))  ⟹  J(f)(J(a)…)[0], if the result is used as a function; likewise through tuples, switches and elements"""
    x = argument_of_j(program, place)
    application = program.nodes[x] if x is not None else None
    if not isinstance(application, Apply) or program.callee(x) in (J, *MACRO_SET) or not is_function(program, place):  # type: ignore[arg-type]
        return None
    edit, graph = Edit(program), application.graph
    function, *arguments = application.inputs
    match program.constant(function):
        case p if p is SWITCH:
            lifted = edit.apply(graph, function, arguments[0], *(edit.call(graph, J, a) for a in arguments[1:]))
        case p if p is MAKE_TUPLE:
            lifted = edit.apply(graph, function, *(edit.call(graph, J, a) for a in arguments))
        case p if p is GETITEM:
            lifted = edit.apply(graph, function, edit.call(graph, J, arguments[0]), arguments[1])
        case _:
            pair = edit.apply(graph, *(edit.call(graph, J, a) for a in application.inputs))
            lifted = edit.call(graph, GETITEM, pair, edit.constant(0))
    return _become(edit, place, lifted)


@rewrite
def j_of_parameter(program: Program, place: int) -> Program | None:
    """J(x), x a parameter of g that is used as a function  ⟹  a new parameter ▶x of g, which every call of g passes"""
    x = argument_of_j(program, place)
    parameter = program.nodes[x] if x is not None else None
    if x is None or not isinstance(parameter, Parameter) or parameter.graph == program.entry or not is_function(program, place):
        return None
    reference = program.reference(parameter.graph)
    uses = program.users(reference) if reference is not None else {}
    if reference is None or any(u.index != 0 for u in uses) or program.returns.get(reference):
        return None
    index = program.graphs[parameter.graph].parameters.index(x)
    edit = Edit(program)
    lifted = edit.parameter(parameter.graph, "▶" + parameter.name if parameter.name else "", None, parameter.location)
    for use in sorted(uses):
        call = program.nodes[use.user]
        assert isinstance(call, Apply)
        if len(call.arguments) <= index:
            return None
        edit.set_inputs(use.user, (*edit.nodes[use.user].inputs, edit.call(call.graph, J, call.arguments[index])))  # type: ignore[union-attr]
    for node in _applications_of_j(edit.program, x):
        edit.replace(node, lifted)
        edit.remove(node)
    return edit.program


def _applications_of_j(program: Program, x: NodeId) -> list[NodeId]:
    return [use.user for use in sorted(program.users(x)) if argument_of_j(program, use.user) == x]


def is_function(program: Program, node: NodeId) -> bool:
    """
    Whether the value of `node`, or an element of it, is seen to be applied: it is in function position, or flows there through
    tuples, switches, J, the parameters and the results of known graphs. A value that flows elsewhere only is taken for data.
    """
    seen: set[Flow] = set()
    todo: list[Flow] = [(node, ())]
    while todo:
        flow = todo.pop()
        if flow in seen:
            continue
        seen.add(flow)
        current, path = flow
        for graph in program.returns.get(current, ()):
            reference = program.reference(graph)
            todo += [(use.user, path) for use in program.users(reference) if use.index == 0] if reference is not None else []
        for use in program.users(current):
            if use.index == 0 and not path:
                return True
            if program.callee(use.user) in MACRO_SET and use.index == 1:
                return True
            todo += _flows(program, use.user, use.index, path)
    return False


Place = tuple[int | None, str | None]  # an index, a name, or both, as what is not known fits all
Flow = tuple[NodeId, tuple[Place, ...]]
DEEPEST = 3  # tuples around a value that are told apart; beyond, it is taken for data, and J of it is checked when it runs


def _flows(program: Program, user: NodeId, index: int, path: tuple[Place, ...]) -> list[Flow]:
    """Where a value goes from input `index` of `user`. `path` says where in what is around it it sits, outermost last."""
    callee = program.callee(user)
    if isinstance(callee, GraphRef):
        parameters = program.graphs[callee.graph].parameters
        return [(parameters[index - 1], path)] if 0 < index <= len(parameters) else []
    if callee is J or (callee is SWITCH and index > 1):
        return [(user, path)]
    if callee is MAKE_TUPLE and len(path) < DEEPEST:
        return [(user, (*path, (index - 1, None)))]
    if callee in MAKERS and len(path) < DEEPEST and (place := _placed(program, user, index)) is not None:
        return [(user, (*path, place))]
    if callee in (GETITEM, FIELD) and index == 1:
        which = program.constant(program.inputs(user)[2])
        if not path:
            return [(user, ())]
        return [(user, path[:-1])] if _fits(which, path[-1]) else []
    return [(user, path)] if callee in CARRIERS and index == 1 else []


def _placed(program: Program, user: NodeId, index: int) -> Place | None:
    """Where an input of a record sits in it; None for its label."""
    inputs = program.inputs(user)
    if program.callee(user) is TABLE["with_field"]:
        return (None, program.constant(inputs[2])) if index == 3 else None
    label = program.constant(inputs[1])
    if index < 2 or not isinstance(label, Label):
        return None
    return index - 2, label.fields[index - 2] if label.fields else None


def _fits(which: Any, place: Place) -> bool:
    """Whether the index or the name may be the place."""
    index, name = place
    if isinstance(which, int):
        return index is None or which == index
    return name is None or not isinstance(which, str) or which == name


def _become(edit: Edit, place: NodeId, value: NodeId) -> Program:
    """The program in which `value` stands where the application `place` stood."""
    edit.replace(place, value)
    edit.remove(place)
    return edit.program


RULES = (*MACRO_RULES, j_of_data, j_of_primitive, j_of_application, j_of_parameter, j_of_graph)

SYSTEM = RewriteSystem(
    name="nested_grad",
    rules=RULES,
    doc="reverse over reverse: macros to J, J to where its argument is known, innermost first",
    argument="each macro disappears; J only moves towards the definitions of its argument; J of a graph removes the innermost J",
)


@cache
def system_by(mode: str) -> RewriteSystem:
    """The system that expands by a reverse mode (`transforms.modes`)."""
    if mode == "J":
        return SYSTEM
    return replace(SYSTEM, rules=tuple(_j_of_graph_by(mode_called(mode)) if r is j_of_graph else r for r in RULES))


def holds_macros(program: Program) -> bool:
    """Whether anything is left to expand."""
    return any(p in program.interned for p in (*MACROS, J))


def expand(program: Program, mode: str = "J") -> Program:
    """
    The same program without macros and without J of functions, adjoints built by a reverse mode.

    Malformed if a differentiated function is not known, or if the mode does not reach it.
    """
    if not holds_macros(program):
        return program
    result = system_by(mode).run(program)
    live = scopes_from(result, [result.entry])
    for graph, nodes in live.needed.items():
        for node in sorted(nodes):
            if result.owner(node) == graph and (result.callee(node) in MACRO_SET or _unexpanded(result, node)):
                raise Malformed(
                    "the function differentiated here cannot be identified before the program runs, or is its own derivative",
                    rule="nested_grad",
                    node=result.describe(node),
                    location=getattr(result.nodes[node], "location", None),
                    remedy="name the function, or pass it to a function that is itself only called, never stored",
                )
    return result


def _unexpanded(program: Program, node: NodeId) -> bool:
    x = argument_of_j(program, node)
    return x is not None and isinstance(program.constant(x), (GraphRef, Primitive))
