"""
Where the values of a node come from: the constants and applications that make them, looked for backwards through choices, known
calls, the parameters of graphs that are only called, and the elements of tuples that are made in place.

    origins(t)    the nodes of which every value of t is one, in any run; None where that is not known

The search explores at most BUDGET nodes. A cycle adds no origin: a value that goes round a loop has been made before it.
"""

from __future__ import annotations

from collections.abc import Callable

from semantics.ir import Apply, Constant, GraphRef, NodeId, Parameter, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.type_language import TupleType
from transforms.surgery import arguments_of, index_of, only_called

SWITCH, GETITEM, MAKE_TUPLE, OF_LENGTH = TABLE["switch"], TABLE["getitem"], TABLE["make_tuple"], TABLE["of_length"]
BUDGET = 96

# A node, and the indices by which its elements are taken, the first one first.
Part = tuple[NodeId, tuple[int, ...]]


def origins(program: Program, node: NodeId) -> frozenset[NodeId] | None:
    """The constants, tuples and entry parameters that every value of `node` is; None if some may come from elsewhere."""
    found: set[NodeId] = set()
    todo: list[Part] = [(node, ())]
    seen = set(todo)
    while todo:
        part = todo.pop()
        below = _below(program, *part)
        if below is None or len(seen) > BUDGET:
            return None
        if below == [part]:
            found.add(part[0])
        for other in below:
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return frozenset(found)


def _below(program: Program, node: NodeId, path: tuple[int, ...]) -> list[Part] | None:
    """What a part of a node comes from in one step; itself if it is an origin; None if that is not known."""
    match program.nodes[node]:
        case Constant():
            return None if path else [(node, path)]
        case Parameter() as parameter:
            return _passed(program, node, parameter, path)
        case Apply(_, inputs):
            return _made(program, node, inputs, path)


def _made(program: Program, node: NodeId, inputs: tuple[NodeId, ...], path: tuple[int, ...]) -> list[Part] | None:
    match program.callee(node):
        case Primitive() as p if p is MAKE_TUPLE:
            if not path:
                return [(node, path)]
            return [(inputs[path[0] + 1], path[1:])] if 0 <= path[0] < len(inputs) - 1 else None
        case Primitive() as p if p is SWITCH and len(inputs) == 4:
            return [(n, path) for n in inputs[2:]]
        case Primitive() as p if p is GETITEM and len(inputs) == 3:
            index = index_of(program, inputs[2])
            return None if index is None or index < 0 else [(inputs[1], (index, *path))]
        case Primitive() as p if p is OF_LENGTH and len(inputs) == 3:
            return [(inputs[1], path)] if path else [(node, path)]
        case Primitive():
            return None
    chosen = arguments_of(program, inputs[0], SWITCH)
    graphs = [program.constant(n) for n in (chosen[1:] if chosen is not None else inputs[:1])]
    outputs = [(program.graphs[g.graph].output, path) for g in graphs if isinstance(g, GraphRef)]
    return outputs if len(outputs) == len(graphs) else None


def _passed(program: Program, node: NodeId, parameter: Parameter, path: tuple[int, ...]) -> list[Part] | None:
    """The arguments of all calls of a graph that is only called; for the entry also what its declared type promises."""
    calls = only_called(program, parameter.graph)
    if calls is None:
        return None
    entered: list[Part] = []
    if parameter.graph == program.entry:
        if path or not isinstance(parameter.type, TupleType):
            return None
        entered = [(node, path)]
    position = program.graphs[parameter.graph].parameters.index(node) + 1
    return entered + [(program.inputs(use.user)[position], path) for use in calls]


def all_origins(program: Program, node: NodeId, holds: Callable[[Program, NodeId], bool]) -> bool:
    """Whether all origins of `node` are known, there is one, and `holds` of each."""
    found = origins(program, node)
    return bool(found) and all(holds(program, n) for n in found or ())


def is_function(program: Program, node: NodeId) -> bool:
    """Whether an origin is a graph or a primitive."""
    return isinstance(program.constant(node), (GraphRef, Primitive))


def has_length(program: Program, node: NodeId, length: int) -> bool:
    """Whether an origin is a tuple of `length` elements: made so, checked to be so, or declared so by the entry."""
    match program.nodes[node]:
        case Parameter(_, _, TupleType(items)):
            return len(items) == length
        case Constant(tuple() as items):
            return len(items) == length
    if (checked := arguments_of(program, node, OF_LENGTH)) is not None:
        return index_of(program, checked[1]) == length
    made = arguments_of(program, node, MAKE_TUPLE)
    return made is not None and len(made) == length
