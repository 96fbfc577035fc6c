"""
The SSA adjoint where J stands in a program: J(@f) becomes @▶f, by way of SSA form and back, with the calling convention of `grad`.

    ▶f(x…) = (y, ◀f)   where   y, tape = ▶ssa(v…, x…)          ◀f(∇) = ((∇v…), ∇x…)   where   ∇v…, ∇x… = ◀ssa(tape, ∇)

The free variables v… of f are arguments in between: "a closure is a function with a hidden zeroth argument" (Zygote, section 3.2).
A function that is passed, stored or returned is called where it is known, if the optimizer can find that out; else it is refused.
"""

from __future__ import annotations

from typing import Any

from semantics.edit import Edit, empty
from semantics.ir import GraphId, NodeId, Program
from semantics.primitives.table import TABLE
from semantics.scope import Scopes
from transforms.clone import copy_graphs
from transforms.first_turns.exits import with_first_turns
from transforms.grad_state import begin
from transforms.macros import is_differentiated
from transforms.ssa.from_graph import first_order, to_ssa
from transforms.ssa.threading import forward_threaded
from transforms.ssa.to_graph import graft
from transforms.ssa_adjoint.alphas import adjoint

GETITEM, MAKE_TUPLE = TABLE["getitem"], TABLE["make_tuple"]


def expand_j(program: Program, place: NodeId, policy: str = "stack") -> Program:
    """The program with a reference to ▶f where the application J(@f) stood; Malformed where f is not of first order."""
    state = begin(program, place)
    closed, captured = _closed(program, state.target, state.found)
    found = adjoint(to_ssa(first_order(closed)), policy, program.arrays)
    module = found if is_differentiated(program, place) else with_first_turns(forward_threaded(found))
    edit = Edit(program)
    graphs = graft(edit, module)
    forward = _forward(edit, program, state.target, captured, graphs[module.entry], graphs["◀" + module.entry.removeprefix("▶")])
    edit.replace(place, edit.reference(forward))
    edit.remove(place)
    return edit.program


def _closed(program: Program, graph: GraphId, found: Scopes) -> tuple[Program, tuple[NodeId, ...]]:
    """A program whose entry takes the free variables of a graph before its parameters and calls a copy of it; the variables."""
    original, captured = program.graphs[graph], tuple(found.free[graph])
    edit = Edit(empty())
    edit.arrays = program.arrays
    entry = edit.graph(original.name, original.location)
    own = {node: edit.parameter(entry, getattr(program.nodes[node], "name", "")) for node in captured}
    parameters: list[Any] = [program.nodes[node] for node in original.parameters]
    arguments = [edit.parameter(entry, p.name, p.type, p.location) for p in parameters]
    copied = copy_graphs(edit, program, found.free, found=found, substitution=own).graphs
    edit.output(entry, edit.apply(entry, edit.reference(copied[graph]), *arguments))
    return edit.program, captured


def _forward(edit: Edit, program: Program, graph: GraphId, captured: tuple[NodeId, ...], primal: GraphId, back: GraphId) -> GraphId:
    """▶f and ◀f, by the convention of `grad`."""
    original = program.graphs[graph]
    forward = edit.graph("▶" + original.name, original.location)
    arguments = [edit.parameter(forward, "▶" + getattr(program.nodes[x], "name", "")) for x in original.parameters]
    pair = edit.apply(forward, edit.reference(primal), *captured, *arguments)
    value, tape = (edit.call(forward, GETITEM, pair, edit.constant(i)) for i in (0, 1))
    backward = edit.graph("◀" + original.name, original.location)
    seed = edit.parameter(backward, "∇" + original.name)
    gradients = edit.apply(backward, edit.reference(back), tape, seed)
    parts = [edit.call(backward, GETITEM, gradients, edit.constant(i)) for i in range(len(captured) + len(arguments))]
    own = edit.call(backward, MAKE_TUPLE, *parts[: len(captured)])
    edit.output(backward, edit.call(backward, MAKE_TUPLE, own, *parts[len(captured) :]))
    edit.output(forward, edit.call(forward, MAKE_TUPLE, value, edit.reference(backward)))
    return forward
