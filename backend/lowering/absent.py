"""
Classes of which a program can have no record.

Operators are for records too: in a module with a class that has some, each + of a function asks whether its operand is such a
record, and calls a method, or adds (`transforms.parse.dispatch`). Where neither the arguments nor anything that is reached has a
record of the class, nothing asks:

    is_instance(x, label)      ⟹  False
    switch(False, @f, @g)      ⟹  @g

What is reached, and what records it makes, is found together: rapid type analysis (Bacon and Sweeney, 1996). Otherwise the adjoint
of a loop would have a call, which leaves a tape, for each operation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from backend.lowering.dispatched import IS_INSTANCE, dispatched, is_class, is_switch, straight
from semantics.edit import Edit
from semantics.ir import GraphId, GraphRef, NodeId, Program
from semantics.primitives.table import TABLE
from semantics.structured import Label, Record
from semantics.type_lattice import labels
from transforms.surgery import applications, arguments_of, become

OF_CLASS = TABLE["of_class"]


def without_absent(program: Program, types: Sequence[Any] | None) -> Program:
    """The program without questions for classes of which it has no record; itself if it has none, or types are not known."""
    if IS_INSTANCE not in program.interned or (given := _given(program, types)) is None:
        return program
    present = {label for type in given for label in labels(type)}
    while not present >= (made := set(_made(program, reached := _reached(program, present)))):
        present |= made
    asked = [use.user for use in sorted(program.users(program.interned[IS_INSTANCE])) if use.index == 0]
    absent = [node for node in asked if program.owner(node) in reached and _is_absent(program, node, present)]
    return dispatched(straight(_decided(program, absent)) if absent else program, types)


def _given(program: Program, types: Sequence[Any] | None) -> list[Any] | None:
    """The types of the arguments, given or declared; None where one is not known."""
    parameters = program.graphs[program.entry].parameters
    found = [getattr(program.nodes[p], "type", None) for p in parameters] if types is None else list(types)
    return None if len(found) != len(parameters) or any(type is None for type in found) else found


def _reached(program: Program, present: set[Label]) -> set[GraphId]:
    """The graphs that are referred to by what is reached, but for arms of classes of which there is no record."""
    reached, todo = {program.entry}, [program.entry]
    while todo:
        graph = todo.pop()
        for node in (*_read(program, graph, present), program.graphs[graph].output):
            found = program.constant(node)
            if isinstance(found, GraphRef) and found.graph not in reached:
                reached.add(found.graph)
                todo.append(found.graph)
    return reached


def _read(program: Program, graph: GraphId, present: set[Label]) -> Iterator[NodeId]:
    for node in applications(program, graph):
        inputs = program.inputs(node)
        is_decided = is_switch(program, node) and _is_absent(program, inputs[1], present)
        yield from (inputs[0], inputs[3]) if is_decided else inputs


def _made(program: Program, reached: Iterable[GraphId]) -> Iterator[Label]:
    """The labels of records that these graphs make, or have as constants."""
    for graph in reached:
        for node in applications(program, graph):
            if program.callee(node) not in (IS_INSTANCE, OF_CLASS):
                yield from (label for n in program.inputs(node) for label in _labels(program.constant(n)))
        yield from _labels(program.constant(program.graphs[graph].output))


def _labels(value: Any) -> Iterator[Label]:
    match value:
        case Label():
            yield value
        case Record(label, items):
            yield label
            for item in items:
                yield from _labels(item)
        case tuple():
            for item in value:
                yield from _labels(item)


def _is_absent(program: Program, node: NodeId, present: set[Label]) -> bool:
    """Whether the node asks for classes of which there is no record."""
    if (question := arguments_of(program, node, IS_INSTANCE)) is None:
        return False
    kinds = program.constant(question[1])
    asked = kinds if isinstance(kinds, tuple) else (kinds,)
    return all(is_class(kind) and kind not in present for kind in asked)


def _decided(program: Program, absent: Sequence[NodeId]) -> Program:
    """The program in which these questions have been answered: there is no such record."""
    edit = Edit(program)
    for node in absent:
        for use in sorted(program.users(node)):
            if use.index == 1 and is_switch(program, use.user):
                become(edit, use.user, program.inputs(use.user)[3])
        become(edit, node, edit.constant(False))
    return edit.program
