"""
What is not compiled yet: arrays, records and memory. A program that needs them is refused by name, before any code is made.

Only what the result may depend on counts: the nodes reached from the entry, through the graphs that they mention.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from backend.columns import NO_ARRAYS, NO_DATA, NUMBA
from semantics.arrays import Array
from semantics.errors import Malformed
from semantics.ir import Apply, Constant, GraphRef, NodeId, Parameter, Program
from semantics.primitives.row import Hole, Primitive
from semantics.structured import Ellipsis_, Label, Record, Slice
from semantics.type_language import ArrayType


def refuse_uncompiled(program: Program, argument_types: Sequence[Any] | None = None) -> None:
    """Malformed if the program needs arrays, records or memory."""
    for type in argument_types or ():
        if _holds_arrays(type):
            raise _refusal(f"an argument of type {type}", NO_ARRAYS)
    for node in reached(program):
        match program.nodes[node]:
            case Constant(Primitive() as primitive):
                hole = NUMBA.find(primitive)
                if hole in (NO_ARRAYS, NO_DATA):
                    raise _at_first_use(program, node, primitive, hole)
            case Constant(Array()):
                raise _refusal("a constant array", NO_ARRAYS)
            case Constant(Record() | Slice() | Label() | Ellipsis_()):
                raise _refusal("a constant record or slice", NO_DATA)
            case Parameter(type=type) if _holds_arrays(type):
                raise _refusal(f"a parameter of type {type}", NO_ARRAYS)


def reached(program: Program) -> Iterator[NodeId]:
    """The nodes that the entry's result may depend on, and the parameters of the graphs among them; each once."""
    seen: set[NodeId] = set()
    graphs = {program.entry}
    todo = _of_graph(program, program.entry)
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        yield node
        match program.nodes[node]:
            case Apply(_, inputs):
                todo.extend(inputs)
            case Constant(GraphRef(graph)) if graph not in graphs:
                graphs.add(graph)
                todo.extend(_of_graph(program, graph))


def _of_graph(program: Program, graph: int) -> list[NodeId]:
    found = program.graphs[graph]
    return [found.output, *found.parameters]


def _holds_arrays(type: Any) -> bool:
    """Whether values of a type hold arrays."""
    todo = [type]
    while todo:
        top = todo.pop()
        if isinstance(top, ArrayType):
            return True
        todo.extend(getattr(top, "items", ()))
    return False


def _at_first_use(program: Program, node: NodeId, primitive: Primitive, hole: Hole) -> Malformed:
    """The refusal at a call of the primitive, if it is called."""
    uses = sorted(program.users(node))
    at = uses[0].user if uses else node
    return _refusal(primitive.name, hole, program.describe(at), getattr(program.nodes[at], "location", None))


def _refusal(what: str, hole: Hole, node: str = "", location: Any = None) -> Malformed:
    return Malformed(
        f"{what}: {hole.reason}", rule="lower", node=node, location=location, remedy='compile it with target="reference"'
    )
