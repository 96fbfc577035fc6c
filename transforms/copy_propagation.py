"""
Copy propagation (MimIrADe, section 4.3), between functions: what a parameter always is, and copies for what it is at some calls.

    one_value    a parameter that is the same value at every call is that value: a constant, a function, or a node that the function
                 then captures
    specialized  a function that is called with different known values, which its own calls of itself pass on, is copied for each of
                 them; the copy has one value

Inside one function there are no copies to propagate: an identifier is its value. Constants are interned by their bits, so 0.0 and
-0.0, 1 and True are different values.

A captured value is evaluated where the closure is made, which is where it was evaluated as an argument. A function may capture
only what encloses it: neither its own nodes nor those of what is nested in it.
"""

from __future__ import annotations

from semantics.edit import Edit
from semantics.ir import Constant, GraphId, GraphRef, NodeId, Program, Use
from semantics.scope import Scopes
from transforms.clone import copy_graphs
from transforms.inline import small
from transforms.surgery import called_graph, needed_in, nest, only_called
from transforms.system import RewriteSystem, rewrite


@rewrite
def one_value(program: Program, place: int) -> Program | None:
    """@g(…, x, …) = b, only called, and with v for x, or with x by g itself; v not of g or nested in it  ⟹  @g(…) = b[v/x]"""
    calls = _calls(program, place)
    for index, x in enumerate(program.graphs[place].parameters if calls else ()):
        values = _values(program, calls, index, x)
        if len(values) == 1 and not _inside(program, place, value := values[0]):
            return _without(program, place, index, calls, value)
    return None


def _without(program: Program, place: GraphId, index: int, calls: tuple[Use, ...], value: NodeId) -> Program:
    """The program in which parameter number `index` of @g is `value`."""
    edit = Edit(program)
    parameters = program.graphs[place].parameters
    for call in calls:
        inputs = program.inputs(call.user)
        edit.set_inputs(call.user, (*inputs[: index + 1], *inputs[index + 2 :]))
    edit.replace(parameters[index], value)
    edit.set_parameters(place, (*parameters[:index], *parameters[index + 1 :]))
    return edit.program


@rewrite
def specialized(program: Program, place: int) -> Program | None:
    """@g(…, x, …), small, called with k and with others for x, and with x by g itself  ⟹  @g' = @g, called in place of g with k"""
    found = split(program, place)
    if found is None or any(split(program, g) is not None for g in nest(program, place) if g != place):
        return None
    edit = Edit(program)
    copies = nest(program, place)
    copied = copy_graphs(edit, program, copies, found=Scopes({}, needed_in(program, copies), {}))
    copy = edit.reference(copied.graphs[place])
    for call in found:
        edit.set_inputs(call, (copy, *program.inputs(call)[1:]))
    return edit.program


def split(program: Program, place: GraphId) -> tuple[NodeId, ...] | None:
    """The calls of a graph with its first known value, if a copy is to be made for them; else None."""
    calls = _calls(program, place)
    if len(calls) < 2 or not small(program, place):
        return None
    within = nest(program, place)
    for index, x in enumerate(program.graphs[place].parameters):
        values = _values(program, calls, index, x)
        known = [v for v in values if _known(program, v, within)]
        turned = any(program.owner(c.user) in within and program.inputs(c.user)[index + 1] != x for c in calls)
        if len(values) > 1 and known and not turned and not _handed_on(program, place, x):
            return tuple(c.user for c in calls if program.inputs(c.user)[index + 1] == known[0])
    return None


def _known(program: Program, value: NodeId, within: tuple[GraphId, ...]) -> bool:
    """Whether `value` is a constant, and no function that is among `within`."""
    match program.nodes[value]:
        case Constant(GraphRef(graph)):
            return graph not in within
        case Constant():
            return True
        case _:
            return False


def _calls(program: Program, place: int) -> tuple[Use, ...]:
    """The calls of a graph that is used in no other way, and is not the entry; nothing otherwise."""
    if place not in program.graphs or place == program.entry or not program.graphs[place].parameters:
        return ()
    return only_called(program, place) or ()


def _values(program: Program, calls: tuple[Use, ...], index: int, x: NodeId) -> list[NodeId]:
    """What the calls pass for parameter number `index`, in order of identifier, apart from the parameter itself."""
    return sorted({program.inputs(call.user)[index + 1] for call in calls} - {x})


def _inside(program: Program, graph: GraphId, value: NodeId) -> bool:
    """Whether `value` belongs to `graph` or to what is nested in it, or refers to such a graph."""
    found = program.constant(value)
    owner = found.graph if isinstance(found, GraphRef) else program.owner(value)
    return owner is not None and owner != program.entry and owner in nest(program, graph)


def _handed_on(program: Program, graph: GraphId, x: NodeId) -> bool:
    """Whether a call of another known graph is given `x`: for each copy of this one there would be copies of that one."""
    calls = (called_graph(program, use.user) for use in program.users(x) if use.index > 0)
    return any(target is not None and target != graph for target in calls)


RULES = (one_value, specialized)

SYSTEM = RewriteSystem(
    name="copy_propagation",
    rules=RULES,
    doc="parameters that are always one value are that value",
    argument=(
        "one_value removes a parameter; specialized takes a known value from a parameter, and the copy has no other; that makes no "
        "argument of another function known, and what is nested is split first, so that no copy is larger than what `inline` copies"
    ),
)
