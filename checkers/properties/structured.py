"""
The theorems of derivatives for arguments of any structure: along directions, where `adjoint` and `higher_order` have coordinates.

A direction has the structure of the arguments. Everything is contracted to a real, so one comparison judges every entry that the
direction does not hide: of all directions, those that hide a wrong entry are the zeros of one linear form.

    ⟨a, b⟩  the sum of the products of all entries (`inner`)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from checkers import forward_mode
from checkers.properties.adjoint import all_arguments
from checkers.properties.agreement import Point, judged, lifted, point
from checkers.verdict import Passed, Verdict
from semantics.edit import Edit
from semantics.ir import GraphId, NodeId, Parameter, Program
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO
from transforms.gradient_programs import gradient_program

Gradient = Callable[..., Program]


def with_constants(program: Program, types: Sequence[Any], fixed: dict[int, Any]) -> Program:
    """The program with the declared types, some of its parameters replaced by constants: those that have no derivative."""
    edit = Edit(program)
    inner, names = edit.reference(program.entry), program.graphs[program.entry]
    graph = edit.graph(names.name)
    arguments = []
    for k, node in enumerate(names.parameters):
        old = program.nodes[node]
        assert isinstance(old, Parameter)
        arguments.append(edit.constant(fixed[k]) if k in fixed else edit.parameter(graph, old.name, types[k]))
    edit.output(graph, edit.apply(graph, inner, *arguments))
    edit.set_entry(graph)
    return edit.program


def along_program(program: Program, gradient: Gradient = gradient_program) -> Program:
    """x…, v… ↦ ⟨∇f(x…), v…⟩ by J: the derivative along a direction."""
    edit = Edit(gradient(program, all_arguments(program)))
    inner = edit.reference(edit.program.entry)
    graph = edit.graph("along")
    xs, vs = _parameters(edit, graph, program, "x"), _parameters(edit, graph, program, "v")
    total = _contracted(edit, graph, edit.apply(graph, inner, *xs), vs)
    edit.output(graph, total)
    edit.set_entry(graph)
    return edit.program


def twice_along_program(program: Program, gradient: Gradient = gradient_program) -> Program:
    """x…, v…, u… ↦ ⟨∇⟨∇f(x…), v…⟩, u…⟩ by J of J: the Hessian along two directions."""
    first = along_program(program, gradient)
    count = len(all_arguments(program))
    edit = Edit(gradient(first, tuple(range(count))))
    inner = edit.reference(edit.program.entry)
    graph = edit.graph("twice")
    xs, vs, us = (_parameters(edit, graph, program, name) for name in "xvu")
    edit.output(graph, _contracted(edit, graph, edit.apply(graph, inner, *xs, *vs), us))
    edit.set_entry(graph)
    return edit.program


def _parameters(edit: Edit, graph: GraphId, program: Program, name: str) -> list[NodeId]:
    found = []
    for k, node in enumerate(program.graphs[program.entry].parameters):
        old = program.nodes[node]
        assert isinstance(old, Parameter)
        found.append(edit.parameter(graph, f"{name}{k}", old.type))
    return found


def _contracted(edit: Edit, graph: GraphId, gradient: NodeId, vs: Sequence[NodeId]) -> NodeId:
    """Σ ⟨gradient[k], vₖ⟩"""
    get, inner, add = TABLE["getitem"], TABLE["inner"], TABLE["add"]
    terms = [edit.call(graph, inner, edit.call(graph, get, gradient, edit.constant(k)), v) for k, v in enumerate(vs)]
    return functools.reduce(lambda a, b: edit.call(graph, add, a, b), terms)


def _at(program: Program, arguments: Sequence[Any], *directions: Sequence[Any]) -> tuple[Point, list[tuple[Any, ...]]]:
    at = point(program, arguments)
    return at, [lifted(at.reading, d) for d in directions]


def adjoint_along(
    program: Program, arguments: Sequence[Any], direction: Sequence[Any], gradient: Gradient = gradient_program
) -> Verdict:
    """T10: ⟨∇f, v⟩ by J is the derivative along v by dual numbers."""
    at, (v,) = _at(program, arguments, direction)
    return judged(
        "T10 adjointness",
        (*arguments, *direction),
        lambda: at.value(along_program(program, gradient), *direction),
        lambda: forward_mode.jvp(program, at.arguments, v, at.reading)[1],
        what="⟨∇f, v⟩ = df(v)",
    )


def hessian_symmetric_along(
    program: Program,
    arguments: Sequence[Any],
    v: Sequence[Any],
    u: Sequence[Any],
    twice: Gradient = twice_along_program,
) -> Verdict:
    """T18: ⟨H v, u⟩ = ⟨H u, v⟩."""
    at, _ = _at(program, arguments)
    hessian = twice(program)
    return judged(
        "T18 the Hessian is symmetric",
        (*arguments, *v, *u),
        lambda: at.value(hessian, *v, *u),
        lambda: at.value(hessian, *u, *v),
    )


def hessian_along(
    program: Program,
    arguments: Sequence[Any],
    v: Sequence[Any],
    u: Sequence[Any],
    gradient: Gradient = gradient_program,
) -> Verdict:
    """T18, second part: reverse over reverse = forward over reverse = forward over forward, along two directions."""
    at, (lv, lu) = _at(program, arguments, v, u)
    claim = "T18 reverse over reverse"
    still = (ZERO,) * len(arguments)

    def found() -> Any:
        return at.value(twice_along_program(program, gradient), *v, *u)

    def over_reverse() -> Any:
        first = along_program(program, gradient)
        return forward_mode.jvp(first, (*at.arguments, *lv), (*lu, *still), at.reading)[1]

    def over_forward() -> Any:
        return forward_mode.second_along(program, at.arguments, lv, lu, at.reading)

    first = judged(f"{claim} = forward over forward", (*arguments, *v, *u), found, over_forward)
    if not isinstance(first, Passed):
        return first
    return judged(f"{claim} = forward over reverse", (*arguments, *v, *u), found, over_reverse, what="three ways to ⟨H v, u⟩")


def third_derivative_along(
    program: Program, arguments: Sequence[Any], v: Sequence[Any], gradient: Gradient = gradient_program
) -> Verdict:
    """T19: the third derivative along one direction, by J of J of J, is forward mode over the second."""
    at, (lv,) = _at(program, arguments, v)
    second = twice_along_program(program, gradient)
    count = len(arguments)
    still = (ZERO,) * (2 * count)

    def found() -> Any:
        edit = Edit(gradient(second, tuple(range(count))))
        inner = edit.reference(edit.program.entry)
        graph = edit.graph("thrice")
        xs, vs, us, ws = (_parameters(edit, graph, program, name) for name in "xvuw")
        edit.output(graph, _contracted(edit, graph, edit.apply(graph, inner, *xs, *vs, *us), ws))
        edit.set_entry(graph)
        return at.value(edit.program, *v, *v, *v)

    def wanted() -> Any:
        return forward_mode.jvp(second, (*at.arguments, *lv, *lv), (*lv, *still), at.reading)[1]

    return judged("T19 third derivative", (*arguments, *v), found, wanted)
