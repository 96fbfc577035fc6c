"""
Calls of operators and methods, each with the class of its own operands.

    switch(is_instance(x, label), @f, @g)      ⟹  @f, or @g      where the types say which in every run
    @·(a, b), which chooses otherwise elsewhere  ⟹  @·₁(a, b)      a copy for this call, then as above
    @g(a…), g(x…) = p(x…)                        ⟹  p(a…)

In a module with a class that has operators, all products call one function, which asks whether there is a record to multiply; and
what multiplies records calls it for their fields. So it is a recursion, for all that its text says, and no recursion is put in
place of its calls; the adjoint of a loop would keep a tape for each product. By type there is no recursion.
`transforms.known_lengths` does the same where loops are unrolled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from backend.lists.told import told_types
from semantics.edit import Edit
from semantics.infer import Inference
from semantics.ir import GraphId, GraphRef, NodeId, Program
from semantics.primitives.table import TABLE
from semantics.structured import Label
from semantics.type_language import FunctionType
from transforms import dce
from transforms.clone import apart
from transforms.failures import drops_failure
from transforms.inline import inline
from transforms.surgery import applications, arguments_of, become, called_graph, discard, nest_within

SWITCH, IS_INSTANCE, TO_BOOLEAN = TABLE["switch"], TABLE["is_instance"], TABLE["to_boolean"]
ROUNDS = 12
"""How deep methods call one another, each of which is apart only when who calls it is."""
MANY = 4096
"""Calls of one function beyond which it is not copied for each."""
CLASSES = ("namedtuple", "dataclass")


def dispatched(program: Program, types: Sequence[Any] | None) -> Program:
    """The program in which no choice by class is left that types decide; itself if it has none, or types cannot be told."""
    for _ in range(ROUNDS):
        asked = list(choices(program))
        inference = told_types(program, types) if asked else None
        after = _settled(program, _decisions(program, asked, inference)) if inference is not None else program
        if after is program:
            break
        program = straight(after)
    return program


def choices(program: Program) -> Iterator[NodeId]:
    """The switches between what is done with records of a class and with other values."""
    if IS_INSTANCE in program.interned:
        for question in sorted(use.user for use in program.users(program.interned[IS_INSTANCE]) if use.index == 0):
            asked = arguments_of(program, question, IS_INSTANCE)
            if asked is not None and is_class(program.constant(asked[1])):
                yield from _choosing(program, question)


def _choosing(program: Program, condition: NodeId) -> Iterator[NodeId]:
    """The switches whose condition it is, or the truth of it, as of an `isinstance` of the program."""
    for use in sorted(program.users(condition)):
        if use.index == 1 and is_switch(program, use.user):
            yield use.user
        elif program.callee(use.user) is TO_BOOLEAN:
            yield from _choosing(program, use.user)


def is_class(kind: Any) -> bool:
    """Whether it is the label of a class."""
    return isinstance(kind, Label) and kind.kind in CLASSES


def is_switch(program: Program, node: NodeId) -> bool:
    """Whether the node chooses one of two values."""
    return arguments_of(program, node, SWITCH) is not None


def _decisions(program: Program, asked: Sequence[NodeId], inference: Inference) -> dict[NodeId, set[GraphId | None]]:
    """The graphs that each switch chooses, by the types of the runs that come to it; None where they leave it open."""
    found: dict[NodeId, set[GraphId | None]] = {node: set() for node in asked}
    for nodes in inference.types.values():
        for node in found.keys() & nodes.keys():
            type, arms = nodes[node], [program.constant(arm) for arm in program.inputs(node)[2:]]
            found[node].add(type.function if isinstance(type, FunctionType) and GraphRef(type.function) in arms else None)
    return found


def _settled(program: Program, decisions: dict[NodeId, set[GraphId | None]]) -> Program:
    """The program with the choices that are always the same, and a copy for each call of what chooses otherwise in others."""
    several = set[GraphId]()
    for node, found in sorted(decisions.items()):
        owner = program.owner(node)
        if None in found or not found or owner is None:
            continue
        if len(found) > 1:
            several.add(owner)
        elif (chosen := next(iter(found))) is not None:
            edit = Edit(program)
            after = become(edit, node, edit.reference(chosen))
            program = program if drops_failure(program, after, node) else after
    for graph in sorted(several):
        program = apart(program, graph, MANY)
    return program


def straight(program: Program) -> Program:
    """The program without what nothing reaches, and calls of functions that are one application."""
    edit = Edit(program)
    discard(edit, program, (), [graph for graph in program.graphs if not dce.alive(program, graph)])  # all at once: they are many
    program, before = dce.SYSTEM.run(edit.program), None
    while program is not before:
        before = program
        for graph in sorted(before.graphs):
            for node in applications(before, graph):
                target = called_graph(program, node) if program.owner(node) == graph else None
                if target not in (None, graph) and _is_one(program, target, len(program.inputs(node)) - 1):
                    program = inline(program, node)
    return program


def _is_one(program: Program, graph: GraphId, count: int) -> bool:
    """Whether a function of so many parameters is one application, of what it is given, all of it."""
    parameters, output = program.graphs[graph].parameters, program.graphs[graph].output
    if len(parameters) != count or program.owner(output) != graph or nest_within(program, graph, 1) is None:
        return False
    return called_graph(program, output) != graph and {*parameters} <= {*program.inputs(output)}
