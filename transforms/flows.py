"""
Where a value goes: whether it is seen to be applied, on its way through tuples, records, choices and the calls of known graphs.

J and jvp of a function are not those of data, and a program is not typed; so they ask what is done with a value.
"""

from __future__ import annotations

from typing import Any

from semantics.ir import NOT_CONSTANT, GraphId, GraphRef, NodeId, Parameter, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import MACROS, TABLE
from semantics.structured import Label

J, SWITCH, GETITEM, MAKE_TUPLE, FIELD = (TABLE[n] for n in ("J", "switch", "getitem", "make_tuple", "field"))
WITH_FIELD = TABLE["with_field"]
MAKERS = (TABLE["make_record"], WITH_FIELD)
CARRIERS = (WITH_FIELD, TABLE["of_class"], TABLE["of_length"], TABLE["values_of"], TABLE["iterated"])
MACRO_SET = frozenset(MACROS)
PASSING = frozenset((J, SWITCH, GETITEM, MAKE_TUPLE, FIELD, *MAKERS, *CARRIERS))
"""The rows of which the result is an operand, or has it in it."""


def is_function(program: Program, node: NodeId) -> bool:
    """
    Whether the value of `node`, or an element of it, is seen to be applied: it is in function position, or flows there through
    tuples, switches, J, the parameters and the results of known graphs. A value that flows elsewhere only is taken for data.

    What has come into a graph by a call returns to that call. Where data have been found to go is kept with the program: whoever
    comes there goes no further.
    """
    data: set[Flow] = program.__dict__.setdefault("_data", set())
    seen: set[Flow] = set()
    todo: list[Flow] = [(node, (), ())]
    while todo:
        flow = todo.pop()
        if flow in seen or flow in data:
            continue
        seen.add(flow)
        current, path, calls = flow
        for graph in program.returns.get(current, ()):
            todo += [(call, path, before) for call, before in _returned(program, graph, calls)]
        for user, index in program.users(current):
            callee = program.callee(user)
            if (index == 0 and not path) or (index == 1 and callee in MACRO_SET):
                return True
            if not isinstance(callee, Primitive) or callee in PASSING:
                todo += _flows(program, callee, user, index, path, calls)
    data |= seen
    return False


Place = tuple[int | None, str | None]  # an index, a name, or both, as what is not known fits all
Calls = tuple[NodeId, ...]  # by which a value has come to where it is, the last one last; those before it are not known
Flow = tuple[NodeId, tuple[Place, ...], Calls]
DEEPEST = 3  # tuples around a value that are told apart; beyond, it is taken for data, and J of it is checked when it runs
NEAREST = 3  # calls that are told apart: as many as a primitive of third order is away from who applies it


def _flows(program: Program, callee: Any, user: NodeId, index: int, path: tuple[Place, ...], calls: Calls) -> list[Flow]:
    """Where a value goes from input `index` of `user`, which applies `callee`. `path` says where in what is around it it sits."""
    if callee is NOT_CONSTANT:
        callee = _differentiated(program, user) or callee
    if isinstance(callee, GraphRef):
        parameters = program.graphs[callee.graph].parameters
        return [(parameters[index - 1], path, (*calls, user)[-NEAREST:])] if 0 < index <= len(parameters) else []
    return [(user, inside, calls) for inside in _places(program, callee, user, index, path, calls)]


def _places(
    program: Program, callee: Any, user: NodeId, index: int, path: tuple[Place, ...], calls: Calls
) -> list[tuple[Place, ...]]:
    """Where in the result of a primitive the value sits then; nothing if it is not there."""
    if callee is J or (callee is SWITCH and index > 1):
        return [path]
    if callee is MAKE_TUPLE and len(path) < DEEPEST:
        return [(*path, (index - 1, None))]
    if callee in MAKERS and len(path) < DEEPEST and (place := _placed(program, user, index, calls)) is not None:
        return [(*path, place)]
    if callee in (GETITEM, FIELD) and index == 1:
        which = _known(program, program.inputs(user)[2], calls)
        return [path[:-1]] if not path or _fits(which, path[-1]) else []
    if callee is WITH_FIELD and path and path[-1][1] == _known(program, program.inputs(user)[2], calls):
        return []
    return [path] if callee in CARRIERS and index == 1 else []


def _returned(program: Program, graph: GraphId, calls: Calls) -> list[tuple[NodeId, Calls]]:
    """The calls that what `graph` returns may go to, each with those before it."""
    if calls and program.callee(calls[-1]) == GraphRef(graph):
        return [(calls[-1], calls[:-1])]
    reference = program.reference(graph)
    return [(use.user, ()) for use in program.users(reference) if use.index == 0] if reference is not None else []


def _known(program: Program, node: NodeId, calls: Calls) -> Any:
    """The constant that a node is after these calls, or NOT_CONSTANT."""
    for k in reversed(range(len(calls))):
        parameter, call = program.nodes[node], program.inputs(calls[k])
        if not isinstance(parameter, Parameter) or program.callee(calls[k]) != GraphRef(parameter.graph):
            break
        index = program.graphs[parameter.graph].parameters.index(node) + 1
        if index >= len(call):
            break
        node = call[index]
    return program.constant(node)


def _differentiated(program: Program, user: NodeId) -> GraphRef | None:
    """The known f of an application macro(f, i)(x…), whose arguments f is called with."""
    macro = program.inputs(user)[0]
    f = program.constant(program.inputs(macro)[1]) if program.callee(macro) in MACRO_SET else None
    return f if isinstance(f, GraphRef) else None


def _placed(program: Program, user: NodeId, index: int, calls: Calls) -> Place | None:
    """Where an input of a record sits in it; None for its label."""
    inputs = program.inputs(user)
    if program.callee(user) is WITH_FIELD:
        name = _known(program, inputs[2], calls)
        return (None, name if isinstance(name, str) else None) if index == 3 else None
    if index < 2:
        return None
    label = _known(program, inputs[1], calls)
    return index - 2, label.fields[index - 2] if isinstance(label, Label) and label.fields else None


def _fits(which: Any, place: Place) -> bool:
    """Whether the index or the name may be the place."""
    index, name = place
    if isinstance(which, int):
        return index is None or which < 0 or which == index
    return name is None or not isinstance(which, str) or which == name
