"""
Sums that begin with an integer and go on with reals: with a real from the start, where there is a turn.

    @for(k, s) = switch(k < n, @turn, @after)()          @for(k, s) = …
    @turn() = … @for(k + 1, s + x)                →      @turn() = …
    @for(0, 0)                                           @for(0, full((n,), 0.0)[0])

So code has one loop, and no choice between an integer, of which nothing is the derivative, and a real. What a turn computes is the
same: it asks for s only in arithmetic with reals, which makes a real of an integer, and in comparisons with them. A sum of nothing
stays an integer: then there is no such element, and the program runs in the code that knows both (`backend.run`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from backend.lists.growing import calls
from backend.lists.joins import if_any
from backend.lists.loops import test_of, turned
from backend.lists.told import told_types
from semantics.edit import Edit
from semantics.infer import Inference
from semantics.ir import GraphId, NodeId, Program
from semantics.primitives.table import TABLE
from semantics.type_language import REAL
from semantics.type_lattice import erase
from transforms.surgery import index_of, nest, only_called

WITH_REALS = frozenset(TABLE[name] for name in ("add", "sub", "mul", "div", "lt", "le", "gt", "ge", "eq", "ne"))
"""What gives the same for a real and an integer as for two reals."""
EXACT = 1 << 53
"""Integers up to this size are reals."""


class Start(NamedTuple):
    """
    A parameter that begins as an integer.

    call, at  where it is given that, as which input        passed    what the turns give it
    turns     how many there are                            beside    what turns ask for together with it
    """

    call: NodeId
    at: int
    turns: NodeId
    passed: frozenset[NodeId]
    beside: frozenset[NodeId]


def with_reals(program: Program, types: Sequence[Any] | None = None) -> Program:
    """The program in which such sums begin with reals; itself if there are none, or types cannot be told."""
    found = [start for graph in program.graphs for start in _starts(program, graph)]
    inference = told_types(program, types) if found else None
    if inference is None or not (found := [s for s in found if _are_reals(program, inference, s.passed | s.beside)]):
        return program
    edit = Edit(program)
    for start in found:
        inputs, owner = list(edit.program.inputs(start.call)), program.owner(start.call)
        assert owner is not None
        inputs[start.at] = if_any(edit, owner, start.turns, float(program.constant(inputs[start.at])))
        edit.set_inputs(start.call, tuple(inputs))
    return edit.program


def _starts(program: Program, graph: GraphId) -> Iterator[Start]:
    """The parameters of a loop that it begins with an integer, and of which turns ask for nothing else."""
    test = test_of(program, graph)
    if test is None or only_called(program, graph) is None:
        return
    turn, turns, first = test
    around, parameters = set(nest(program, graph)), program.graphs[graph].parameters
    begins = [call for call in calls(program, graph) if program.owner(call) not in around]
    again = [call for call in calls(program, graph) if program.owner(call) in around]
    if len(begins) != 1 or not again or index_of(program, program.inputs(begins[0])[1 + parameters.index(turn)]) != 0:
        return
    inside = turned(program, graph, first)
    for at, parameter in enumerate(parameters, start=1):
        number = index_of(program, program.inputs(begins[0])[at])
        users = {use.user for use in program.users(parameter) if program.owner(use.user) in inside}
        if number is None or abs(number) > EXACT or parameter == turn or inside & set(program.returns.get(parameter, ())):
            continue
        if users and all(program.callee(n) in WITH_REALS for n in users):
            beside = frozenset(n for user in users for n in program.inputs(user)[1:] if n != parameter)
            yield Start(begins[0], at, turns, frozenset(program.inputs(call)[at] for call in again), beside)


def _are_reals(program: Program, inference: Inference, nodes: Collection[NodeId]) -> bool:
    """Whether nodes have values, and these are reals, in all runs that inference tells apart."""
    found: dict[NodeId, list[Any]] = {n: [REAL] for n in nodes if isinstance(program.constant(n), float)}
    for types in inference.types.values():
        for node in nodes & types.keys():
            found.setdefault(node, []).append(erase(types[node]))
    return bool(nodes) and all(found.get(n) and all(type == REAL for type in found[n]) for n in nodes)
