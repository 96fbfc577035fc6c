"""
The type of a node where its surroundings settle it: for rules that fire on arrays of known type only.

Known are constants, the declared parameters of an entry that nothing calls, and what primitives make of known types. Parameters
of other graphs and results of calls are not: inline first. What is more than BUDGET nodes away is not looked at.
"""

from __future__ import annotations

from typing import Any

from semantics.columns.types import apply_type
from semantics.errors import AdjudgeError
from semantics.ir import Apply, Constant, NodeId, Parameter, Program
from semantics.primitives.row import Primitive
from semantics.type_lattice import of_constant

BUDGET = 96


def known_type(program: Program, node: NodeId) -> Any:
    """The type of every value that `node` has in any run that gets there, or None if that is not known."""
    types: dict[NodeId, Any] = {}
    entered: set[NodeId] = set()
    todo = [node]
    while todo:
        current = todo[-1]
        if current in types:
            todo.pop()
            continue
        found = program.nodes[current]
        if isinstance(found, Apply) and isinstance(program.constant(found.inputs[0]), Primitive):
            missing = [n for n in found.inputs[1:] if n not in types]
            if missing:
                if current in entered or len(types) + len(todo) > BUDGET:
                    return None
                entered.add(current)
                todo.extend(missing)
                continue
        types[todo.pop()] = _type(program, found, types)
        if types[current] is None:
            return None
    return types[node]


def _type(program: Program, found: Any, types: dict[NodeId, Any]) -> Any:
    """The type of one node from those of its inputs, or None."""
    match found:
        case Constant(value):
            return None if isinstance(value, Primitive) else of_constant(value)
        case Parameter(graph=graph) if graph == program.entry and program.reference(graph) is None:
            return found.type
        case Apply(_, (function, *arguments)) if isinstance(primitive := program.constant(function), Primitive):
            try:
                return apply_type(primitive, [types[n] for n in arguments])
            except AdjudgeError:
                return None
        case _:
            return None


def known_value(program: Program, node: NodeId) -> Any:
    """The literal that `node` is: a constant, or a tuple made in place of constants. `program` itself if it is none."""
    match program.nodes[node]:
        case Constant(value):
            return value
        case Apply(_, inputs) if getattr(program.constant(inputs[0]), "name", "") == "make_tuple":
            items = [program.nodes[n] for n in inputs[1:]]
            if all(isinstance(n, Constant) for n in items):
                return tuple(n.value for n in items if isinstance(n, Constant))
    return program
