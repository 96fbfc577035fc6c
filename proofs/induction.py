"""
One step of an induction over the calls of a function, on J's own output.

A graph g that calls itself is *opened*: it becomes the program that takes what g captures and what g is given, and in it every call
of g is replaced by a *hypothesis*, which answers with the value, and in an adjoint program with the pair of the value and a
backpropagator. Nothing else changes; what runs is the body of g, or of ▶g, as it is shipped.

    g(c; a)                  ⟹  @turn(c…, a…) with g(c; a) = …, inner calls by the hypothesis
    ▶g(c; a) = (v, ◀g)       ⟹  @turn(c…, a…, d…) = (v, ◀g(d)), inner calls by the hypothesis

A run that ends makes finitely many calls. So what holds of the body whenever it holds of the calls that it makes, holds of every
run that ends: a path without such a call is a base case, a path with one is a step.

    c  captured    a  argument    d  sensitivity of the value
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import z3

from checkers.columns.leaves import map_leaves
from checkers.smt.paths import Path, explore
from checkers.smt.real import reading
from checkers.smt.real_arithmetic import instantiated
from checkers.smt.terms import Course, as_real, is_integer, real, uninterpreted
from semantics.denotation import Reading
from semantics.edit import Edit
from semantics.errors import Malformed
from semantics.ir import Apply, GraphId, NodeId, Parameter, Program, graph_of
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.scope import scopes
from semantics.structured import Record
from semantics.tangents import ZERO
from semantics.values import Closure

Back: TypeAlias = Callable[[Any], tuple[Mapping[str, Any], Sequence[Any]]]
# (captured by name, arguments) -> the value, and from a sensitivity of it those of what was captured and of the arguments
Hypothesis: TypeAlias = Callable[[Mapping[str, Any], Sequence[Any]], tuple[Any, Back]]


@dataclass(frozen=True)
class Call:
    """A call that a run made of the hypothesis, with the sensitivities that its backpropagator was given."""

    captured: Mapping[str, Any]
    arguments: tuple[Any, ...]
    given: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class Turn:
    """One path through an opened program, and the calls that it made of the hypothesis, in order."""

    path: Path
    calls: tuple[Call, ...]


def named(program: Program) -> Program:
    """The program with a name for every node that can be captured, so that what J makes of one is found by it."""
    nodes = program.nodes
    for key, node in program.nodes.items():
        if isinstance(node, (Apply, Parameter)) and not node.name:
            nodes = nodes.set(key, replace(node, name=f"v{key}"))
    return replace(program, nodes=nodes)


def captured_by(program: Program, graph: GraphId) -> tuple[str, ...]:
    """The names of the free variables of a graph, in order; Malformed if two are called alike."""
    names = tuple(str(getattr(program.nodes[n], "name", "")) for n in scopes(program).free[graph])
    if len(set(names)) < len(names) or "" in names:
        raise Malformed("captured variables are told apart by name here", rule="induction", remedy="name them apart")
    return names


class Opened:
    """A program whose entry is one turn of the graph called `name`; `adjoint` says that it is a ▶g."""

    def __init__(self, program: Program, name: str, *, adjoint: bool = False, order: Sequence[str] = ()) -> None:
        self.adjoint, self.mark = adjoint, "▶" if adjoint else ""
        graph = graph_of(program, self.mark + name)
        edit, free = Edit(program), scopes(program).free[graph]
        self.captured = tuple(n.removeprefix(self.mark) for n in captured_by(program, graph))
        self.order = tuple(order) or self.captured
        self.rule = Primitive("hypothesis", ("function", "*"), ("any", "any"), "any", columns={"z3_real": self.answer})
        entry, reference = edit.graph("turn"), edit.reference(graph)
        for use in sorted(program.users(reference)):
            if use.index != 0:
                raise Malformed(f"@{name} is used as a value", rule="induction", remedy="a graph that is only called")
            call = program.inputs(use.user)
            edit.set_inputs(use.user, (edit.constant(self.rule), reference, *call[1:]))
        for node in free:
            edit.replace(node, edit.parameter(entry, program.nodes[node].name))  # type: ignore[union-attr]
        arguments = [edit.parameter(entry) for _ in program.graphs[graph].parameters]
        edit.output(entry, self._result(edit, entry, edit.apply(entry, reference, *arguments)))
        edit.set_entry(entry)
        self.program = edit.program
        self.inside = tuple(n.removeprefix(self.mark) for n in captured_by(self.program, graph))

    def _result(self, edit: Edit, entry: GraphId, call: NodeId) -> NodeId:
        """The value of the call; of an adjoint program the pair of the value and what its backpropagator answers."""
        if not self.adjoint:
            return call
        value, back = (edit.call(entry, TABLE["getitem"], call, edit.constant(i)) for i in (0, 1))
        return edit.call(entry, TABLE["make_tuple"], value, edit.apply(entry, back, edit.parameter(entry, "d")))

    def answer(self, function: Closure, *arguments: Any) -> Any:
        """What the hypothesis says of a call; it is noted in the run."""
        captured = dict(zip(self.inside, function.captured, strict=True))
        call = Call(captured, arguments)
        self.runs[-1].append(call)
        value, back = self.hypothesis(captured, arguments)

        def backwards(d: Any) -> Any:
            call.given.append(d)
            of_captured, of_arguments = back(d)
            return (tuple(of_captured[name] for name in self.order), *of_arguments)

        rule = Primitive("hypothesis◀", ("d",), ("any",), "any", columns={"z3_real": backwards})
        return (value, rule) if self.adjoint else value

    def turns(
        self,
        hypothesis: Hypothesis,
        captured: Mapping[str, Any],
        arguments: Sequence[Any],
        sensitivity: Any = None,
        assumed: Sequence[z3.BoolRef] = (),
    ) -> list[Turn]:
        """Every path of one turn, from any state."""
        self.hypothesis, self.runs = hypothesis, list[list[Call]]()
        given = [*(captured[name] for name in self.captured), *arguments, *([sensitivity] if self.adjoint else [])]

        def noting(course: Course) -> Reading:
            self.runs.append([])
            return reading(course)

        paths = explore(self.program, given, noting, assumed)
        return [Turn(path, tuple(calls)) for path, calls in zip(paths, self.runs, strict=True)]


def leaves(value: Any) -> list[Any]:
    """The numbers that a value is made of, in order; booleans, strings and unit are none."""
    found: list[Any] = []
    todo = [value]
    while todo:
        match todo.pop():
            case tuple() as items:
                todo.extend(reversed(items))
            case Record(_, items) | Closure(_, items):
                todo.extend(reversed(items))
            case top if is_number(top):
                found.append(top)
    return found


def is_number(x: Any) -> bool:
    return (isinstance(x, int) and not isinstance(x, bool)) or z3.is_arith(x)


def moving(value: Any) -> list[z3.ArithRef]:
    """The reals that a value is made of, in order."""
    return [x for x in leaves(value) if not is_integer(x)]


def dense(cotangent: Any, value: Any) -> list[z3.ArithRef]:
    """A sensitivity of `value`, one real for each of `moving(value)`."""
    return moving(instantiated(None, cotangent, value))  # type: ignore[arg-type]


def like(value: Any, parts: Sequence[z3.ArithRef]) -> Any:
    """The sensitivity of `value` with these reals in the places of its reals, as a plain value."""
    rest = iter(parts)
    return map_leaves(lambda _, x: next(rest) if is_number(x) and not is_integer(x) else ZERO, value)


def symbols(template: Any, prefix: str) -> Any:
    """A value like `template`, a fresh real for every float and a fresh integer for every int."""
    count = itertools.count()

    def fresh(_: Any, x: Any) -> Any:
        match x:
            case bool() | None:
                return x
            case int():
                return z3.Int(f"{prefix}{next(count)}")
            case float():
                return z3.Real(f"{prefix}{next(count)}")
            case _:
                return x

    return map_leaves(fresh, template)


def unknown_function(name: str, count: int, order: Sequence[str]) -> tuple[Hypothesis, dict[str, Any]]:
    """
    The hypothesis that g is some differentiable function with `count` real results, with the partial derivatives of it.

    Its backpropagator is the adjoint of its derivative: the hypothesis of the induction that J is right.
    """
    partials: dict[str, Any] = {}

    def hypothesis(captured: Mapping[str, Any], arguments: Sequence[Any]) -> tuple[Any, Back]:
        inputs = (*(captured[n] for n in order), *arguments)
        terms = [as_real(name, x) for x in leaves(inputs)]
        which = [i for i, x in enumerate(leaves(inputs)) if not is_integer(x)]
        for j in range(count):
            partials[f"u_{name}_{j}"] = lambda *xs, j=j: [uninterpreted(f"u_{name}_{j}_{i}", *xs) for i in range(len(xs))]
        values = tuple(uninterpreted(f"u_{name}_{j}", *terms) for j in range(count))

        def back(d: Any) -> tuple[dict[str, Any], list[Any]]:
            seeds = dense(d, values if count > 1 else values[0])
            parts = [total([seed * uninterpreted(f"u_{name}_{j}_{i}", *terms) for j, seed in enumerate(seeds)]) for i in which]
            found = like(inputs, parts)
            return dict(zip(order, found, strict=False)), list(found[len(order) :])

        return (values if count > 1 else values[0]), back

    return hypothesis, partials


def total(terms: Sequence[z3.ArithRef]) -> z3.ArithRef:
    """The sum, which is 0 of none."""
    result = real(0)
    for t in terms:
        result = result + t
    return result
