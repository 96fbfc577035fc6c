"""Programs read for a judge: in balls at the ambient precision, on the machine, and as rows that call them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from checkers.columns.ball import balls
from semantics.denotation import FLOATS, denote
from semantics.edit import Edit, empty
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.machine import Machine
from semantics.primitives.row import Hole, Primitive

FUEL = 100_000
PIECEWISE = frozenset({"abs", "max", "maximum", "min", "minimum"})


def in_balls(program: Program, arguments: Sequence[Any]) -> Any:
    """The value of a program on balls, at the precision in force."""
    from flint import ctx

    return denote(program, arguments, balls(ctx.prec), FUEL)


def calling(primitive: Primitive) -> Program:
    """The program @f(x…): return primitive(x…)."""
    edit = Edit(empty())
    graph = edit.graph(primitive.name)
    arguments = [edit.parameter(graph, name) for name in primitive.parameters]
    edit.output(graph, edit.call(graph, primitive, *arguments))
    return edit.program


def ball_function(primitive: Primitive) -> Callable[..., Any] | None:
    """The primitive on balls at the ambient precision: its own program, its own cell, or the table's; None if there is none."""
    program = primitive.columns.get("program")
    if isinstance(program, Program):
        return lambda *xs: in_balls(program, xs)
    cell = balls(400).column.find(primitive)
    if isinstance(cell, Hole):
        return None
    caller = calling(primitive)
    return lambda *xs: in_balls(caller, xs)


def choices(program: Program, arguments: Sequence[Any]) -> tuple[Any, ...] | None:
    """
    Which way a program of doubles goes: the condition of each switch, and on which side of its kink each piecewise primitive is.

    A tie and a zero are a side of their own. None where the program stops with one of the five errors.
    """
    seen: list[Any] = []

    def observe(_: Program, node: int, primitive: Primitive, given: Sequence[Any], value: Any) -> None:
        if primitive.name == "switch":
            seen.append((node, bool(given[0])))
        elif primitive.name in PIECEWISE and all(isinstance(x, (int, float)) for x in given):
            a, b = (*given, 0.0)[:2]
            seen.append((node, (a > b) - (a < b)))

    try:
        denote(program, arguments, replace(FLOATS, observe=observe), FUEL)
    except AdjudgeError:
        return None
    return tuple(seen)


def machine_call(program: Program) -> Callable[..., Any]:
    """The program as a Python function, run on the machine."""
    machine = Machine(program)
    return lambda *arguments: machine.run(arguments, 1_000_000).value
