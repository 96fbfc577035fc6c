"""
Where a value goes: whether it is seen to be applied, on its way through tuples, records, choices and the calls of known graphs.

J and jvp of a function are not those of data, and a program is not typed; so they ask what is done with a value.
"""

from __future__ import annotations

from typing import Any

from semantics.ir import NOT_CONSTANT, GraphRef, NodeId, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import MACROS, TABLE
from semantics.structured import Label

J, SWITCH, GETITEM, MAKE_TUPLE, FIELD = (TABLE[n] for n in ("J", "switch", "getitem", "make_tuple", "field"))
MAKERS = (TABLE["make_record"], TABLE["with_field"])
CARRIERS = (TABLE["with_field"], TABLE["of_class"], TABLE["of_length"], TABLE["values_of"], TABLE["iterated"])
MACRO_SET = frozenset(MACROS)
PASSING = frozenset((J, SWITCH, GETITEM, MAKE_TUPLE, FIELD, *MAKERS, *CARRIERS))
"""The rows of which the result is an operand, or has it in it."""


def is_function(program: Program, node: NodeId) -> bool:
    """
    Whether the value of `node`, or an element of it, is seen to be applied: it is in function position, or flows there through
    tuples, switches, J, the parameters and the results of known graphs. A value that flows elsewhere only is taken for data.

    Where data have been found to go is kept with the program: whoever comes there goes no further.
    """
    data: set[Flow] = program.__dict__.setdefault("_data", set())
    seen: set[Flow] = set()
    todo: list[Flow] = [(node, ())]
    while todo:
        flow = todo.pop()
        if flow in seen or flow in data:
            continue
        seen.add(flow)
        current, path = flow
        for graph in program.returns.get(current, ()):
            reference = program.reference(graph)
            todo += [(use.user, path) for use in program.users(reference) if use.index == 0] if reference is not None else []
        for user, index in program.users(current):
            callee = program.callee(user)
            if (index == 0 and not path) or (index == 1 and callee in MACRO_SET):
                return True
            if not isinstance(callee, Primitive) or callee in PASSING:
                todo += _flows(program, callee, user, index, path)
    data |= seen
    return False


Place = tuple[int | None, str | None]  # an index, a name, or both, as what is not known fits all
Flow = tuple[NodeId, tuple[Place, ...]]
DEEPEST = 3  # tuples around a value that are told apart; beyond, it is taken for data, and J of it is checked when it runs


def _flows(program: Program, callee: Any, user: NodeId, index: int, path: tuple[Place, ...]) -> list[Flow]:
    """Where a value goes from input `index` of `user`, which applies `callee`. `path` says where in what is around it it sits."""
    if callee is NOT_CONSTANT:
        callee = _differentiated(program, user) or callee
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


def _differentiated(program: Program, user: NodeId) -> GraphRef | None:
    """The known f of an application macro(f, i)(x…), whose arguments f is called with."""
    macro = program.inputs(user)[0]
    f = program.constant(program.inputs(macro)[1]) if program.callee(macro) in MACRO_SET else None
    return f if isinstance(f, GraphRef) else None


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
