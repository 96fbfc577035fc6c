"""
J's program, run on terms with a name for every number that it makes: what `invariant` looks at.

In every ▶p the result of p gets a name, and in every ◀p what the backpropagator of p answers gets names, so that no term is larger
than one application. Everything else (closures, tuples, branches, sums) runs as it is and only moves names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import z3

from checkers.smt.paths import Event, Path, Run, explore
from checkers.smt.real import reading
from checkers.smt.terms import Course, is_condition, is_number, real
from semantics.denotation import Reading
from semantics.edit import Edit
from semantics.ir import Apply, GraphId, GraphRef, NodeId, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.scope import scopes
from semantics.tangents import ZERO

SWITCH = TABLE["switch"]


@dataclass(frozen=True)
class Application:
    """An application that the run made of a primitive with a real result: its name is `name`, and it stands for `value`."""

    primitive: Primitive
    arguments: tuple[Any, ...]
    value: z3.ArithRef
    name: z3.ArithRef


@dataclass(frozen=True)
class Answer:
    """What the backpropagator of an application gave for the sensitivity d: terms, and the names of the contributions."""

    of: z3.ArithRef
    d: z3.ArithRef
    terms: tuple[Any, ...]
    names: tuple[Any, ...]


@dataclass
class Sweep:
    """What one run met. `result` is the value that the sweep starts at."""

    course: Run
    applications: list[Application] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    result: Any = None


class Instrumented:
    """J's program, with names given to the result of every primitive and to what every backpropagator answers."""

    def __init__(self, program: Program) -> None:
        self.sweeps: list[Sweep] = []
        edit = Edit(program)
        for graph in scopes(program).free:
            if (found := _adjoint_primitive(program, graph)) is not None:
                out, answer = found
                function, *operands = program.inputs(out)
                primitive = program.constant(function)
                _around(edit, out, self._primitive("name", self._naming(primitive)), operands)
                _around(edit, answer, self._primitive("note", self._noting(primitive)), edit.program.inputs(answer)[-2:])
        self.program = edit.program

    def _primitive(self, name: str, cell: Callable[..., Any]) -> Primitive:
        return Primitive(name, ("value", "*"), ("any", "any"), "any", columns={"z3_real": cell})

    def _naming(self, primitive: Primitive) -> Callable[..., Any]:
        """Gives the result of a primitive a name, if it is a real made of numbers."""

        def cell(value: Any, *operands: Any) -> Any:
            if (
                primitive is SWITCH
                or not z3.is_real(value)
                or not all(is_condition(a) or is_number(a) or a is ZERO for a in operands)
            ):
                return value
            sweep = self.sweeps[-1]
            name = z3.Real(f"v{len(sweep.applications)}")
            sweep.applications.append(Application(primitive, operands, value, name))
            sweep.course.events.append(Event("need", name == value))
            return name

        return cell

    def _noting(self, primitive: Primitive) -> Callable[..., Any]:
        """Gives names to the contributions that are reals, if the application of the primitive has one."""

        def cell(contributions: Any, out: Any, d: Any) -> Any:
            sweep = self.sweeps[-1]
            if not any(a.name is out and a.primitive is primitive for a in sweep.applications):
                return contributions
            count = len(sweep.answers)
            names = tuple(z3.Real(f"c{count}_{i}") if z3.is_real(c) else c for i, c in enumerate(contributions))
            sweep.answers.append(Answer(out, real(0) if d is ZERO else d, tuple(contributions), names))
            return names

        return cell

    def sweeping(self, inputs: Sequence[Any]) -> list[tuple[Path, Sweep]]:
        """Every path, with what it met."""

        def noting(course: Course) -> Reading:
            assert isinstance(course, Run)
            sweep = Sweep(course)
            self.sweeps.append(sweep)

            def observe(_: Program, node: NodeId, primitive: Primitive, arguments: Sequence[Any], value: Any) -> None:
                if primitive is TABLE["seed"] and self.program.owner(node) == self.program.entry:
                    sweep.result = arguments[0]

            return replace(reading(course), observe=observe)

        self.sweeps = []
        paths = explore(self.program, inputs, noting)
        return list(zip(paths, self.sweeps, strict=True))


def _adjoint_primitive(program: Program, graph: GraphId) -> tuple[NodeId, NodeId] | None:
    """If `graph` is a ▶p: the application of p, and in its ◀p that of the backpropagator, on p's result and the sensitivity."""
    pair = program.inputs(program.graphs[graph].output)
    if len(pair) != 3 or program.constant(pair[0]) is not TABLE["make_tuple"]:
        return None
    out, back = pair[1], program.constant(pair[2])
    if not isinstance(program.callee(out), Primitive) or not isinstance(back, GraphRef):
        return None
    (*_, d) = program.graphs[back.graph].parameters or (None,)
    for use in program.users(out):
        inputs = program.inputs(use.user)
        if program.owner(use.user) == back.graph and inputs[-2:] == (out, d) and isinstance(program.callee(use.user), GraphRef):
            return out, use.user
    return None


def _around(edit: Edit, node: NodeId, primitive: Primitive, operands: Sequence[NodeId]) -> None:
    """Every use of `node` becomes one of primitive(node, operands…)."""
    application = edit.program.nodes[node]
    assert isinstance(application, Apply)
    wrapped = edit.apply(application.graph, edit.constant(primitive), *operands)
    edit.replace(node, wrapped)
    edit.set_inputs(wrapped, (edit.constant(primitive), node, *operands))
