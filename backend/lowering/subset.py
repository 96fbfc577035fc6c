"""
What is not compiled yet: memory. A program that needs it is refused by name, before any code is made.

Only what a run can reach counts: a method of a class that no argument has is no reason to refuse. Of a program that cannot be
typed, what the entry mentions counts. A derivative needs the memory that its function needs; so it is refused before it is
expanded, by the types of the function, which are soon told, where those of its adjoint may take half a minute.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from backend.columns import NOT_COMPILED, NUMBA
from semantics.errors import AdjudgeError, Malformed
from semantics.infer import Inference, Inferrer, Signature
from semantics.ir import Apply, Constant, GraphRef, NodeId, Program
from semantics.primitives.row import Hole, Primitive


def refuse_uncompiled(program: Program, nodes: Iterable[NodeId]) -> None:
    """Malformed if one of these nodes needs a row that is not compiled, or memory."""
    for node in nodes:
        match program.nodes[node]:
            case Constant(Primitive() as primitive):
                hole = NUMBA.find(primitive)
                if hole in NOT_COMPILED:
                    raise _at_first_use(program, node, primitive, hole)


def refuse_memory(program: Program, types: Sequence[Any] | None) -> None:
    """
    Malformed if the functions of which the program has derivatives need memory, or the program itself does. Where all cells have
    become values the rows are still there, but nothing mentions them: then no types are asked for, which would take seconds.
    """
    if (rows := _rows(program)) and (holes := rows.intersection(mentioned(program))):
        from transforms.known_lengths import typed  # with the optimizer, which no first call waits for

        with suppress(AdjudgeError):
            _, inference = typed(program, types, _Refusing)
            holes.intersection_update(reached(inference))
        refuse_uncompiled(program, sorted(holes))


class _Refusing(Inferrer):
    """Inference that gives up at the first call of a row that is not compiled: the types of all else may take half a minute."""

    def primitive(self, caller: Signature, node: NodeId, primitive: Primitive, arguments: Sequence[Any]) -> Any:
        if (hole := NUMBA.find(primitive)) in NOT_COMPILED:
            raise _refusal(primitive.name, hole)
        return super().primitive(caller, node, primitive, arguments)


def _rows(program: Program) -> set[NodeId]:
    """The nodes of rows that are not compiled."""
    return {n for p, n in program.interned.items() if isinstance(p, Primitive) and NUMBA.find(p) in NOT_COMPILED}


def reached(inference: Inference) -> Iterator[NodeId]:
    """The nodes that a run can evaluate: those of the signatures that calls lead to, from the entry."""
    signatures, todo, seen = {inference.entry}, [inference.entry], set()
    for signature in todo:
        for node in inference.types[signature]:
            if node not in seen:
                seen.add(node)
                yield node
        for targets in inference.calls[signature].values():
            found = [s for s in targets if s not in signatures]
            signatures.update(found)
            todo.extend(found)


def mentioned(program: Program) -> Iterator[NodeId]:
    """The nodes that the entry's result may depend on, whatever the types, and the parameters of their graphs; each once."""
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


def _at_first_use(program: Program, node: NodeId, primitive: Primitive, hole: Hole) -> Malformed:
    """The refusal at a call of the primitive, if it is called."""
    uses = sorted(program.users(node))
    at = uses[0].user if uses else node
    return _refusal(primitive.name, hole, program.describe(at), getattr(program.nodes[at], "location", None))


def _refusal(what: str, hole: Hole, node: str = "", location: Any = None) -> Malformed:
    return Malformed(
        f"{what}: {hole.reason}", rule="lower", node=node, location=location, remedy='compile it with target="reference"'
    )
