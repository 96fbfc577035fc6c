"""
The denotation: an independent big-step evaluator, parametrised by a column.

    ⟦c⟧ρ = lift c      ⟦@g⟧ρ = ⟨g, ρ(FV g)⟩      ⟦p(a…)⟧ρ = ⟦p⟧(⟦a⟧ρ…)      ⟦f(a…)⟧ρ = ⟦g⟧(c, ⟦a⟧ρ…) where ⟦f⟧ρ = ⟨g, c⟩

The equations are written as generators that yield the calls they depend on, and a small trampoline runs them: it reads as
a recursive definition and uses no Python recursion. A call in tail position hands over its frame.

It shares no code with the machine: the two are compared (T5). What it computes with is up to the `Reading`: doubles, fractions,
balls, dual numbers, z3 terms. A reading whose conditions are not booleans decides branches in its own `truth`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from semantics.columns import exact
from semantics.columns.meaning import MEANING
from semantics.errors import AdjudgeError, Crash, IllTyped, OutOfFuel, wrong_count
from semantics.ir import Apply, Constant, GraphRef, NodeId, Program
from semantics.primitives.row import Column, Primitive
from semantics.scope import evaluation_order, scopes
from semantics.values import Closure, over_leaves


def _as_it_is(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Reading:
    """
    How programs are read: the column of primitives, `lift` for constants, `truth` for the condition of a switch.

    observe(program, node, primitive, arguments, value), if given, sees every application of a primitive.
    """

    column: Column
    lift: Callable[[Any], Any] = _as_it_is
    truth: Callable[[Any], Any] = _as_it_is
    observe: Callable[[Program, NodeId, Primitive, Sequence[Any], Any], None] | None = None


FLOATS = Reading(MEANING)
FRACTIONS = Reading(exact.EXACT, exact.lift)


class Call(NamedTuple):
    """A request to the trampoline: the value of `closure` at `arguments`. `tail` gives up the caller's frame."""

    closure: Closure
    arguments: list[Any]
    tail: bool
    at: NodeId | None


Equation = Generator[Call, Any, Any]


def denote(program: Program, arguments: Sequence[Any], reading: Reading = FLOATS, fuel: int = 100_000_000) -> Any:
    """The value of `program` at `arguments`, which are values of the reading. OutOfFuel after `fuel` calls."""
    entry = Closure(program.entry, ())
    evaluator = _Evaluator(program, reading)
    frames: list[Equation] = [evaluator.graph(Call(entry, list(arguments), False, None))]
    value: Any = None
    while frames:
        fuel -= 1
        if fuel < 0:
            raise OutOfFuel("the denotation needs more calls than it may make", remedy="raise fuel")
        try:
            request = frames[-1].send(value)
        except StopIteration as end:
            frames.pop()
            value = end.value
            continue
        if request.tail:
            frames.pop()
        frames.append(evaluator.graph(request))
        value = None
    return value


class _Evaluator:
    """The equations, for one program and one reading."""

    def __init__(self, program: Program, reading: Reading) -> None:
        self.program, self.reading = program, reading
        self.free = scopes(program).free

    def graph(self, call: Call) -> Equation:
        """⟦g⟧(c, v…): the environment of captured values and arguments, then every needed node in order."""
        graph = self.program.graphs[call.closure.graph]
        if len(graph.parameters) != len(call.arguments):
            raise self.at(wrong_count(graph.name, len(graph.parameters), len(call.arguments), graph.location), call.at)
        env = dict(zip(graph.parameters, call.arguments, strict=True))
        env.update(zip(self.free[call.closure.graph], call.closure.captured, strict=True))
        for node in evaluation_order(self.program, call.closure.graph):
            if node in env:
                continue
            match self.program.nodes[node]:
                case Constant(GraphRef(target)):
                    env[node] = Closure(target, tuple(env[n] for n in self.free[target]), self.program.graphs[target].name)
                case Constant(value):
                    env[node] = over_leaves(self.reading.lift, value)
                case Apply(_, inputs):
                    function, *arguments = (env[n] for n in inputs)
                    if isinstance(function, Primitive):
                        env[node] = self.primitive(node, function, arguments)
                    elif isinstance(function, Closure):
                        env[node] = yield Call(function, arguments, node == graph.output, node)
                    else:
                        raise self.at(IllTyped(f"{function!r} is not a function", rule="denotation"), node)
                case _:
                    raise Crash("a parameter has no value", node=self.program.describe(node))
        return env[graph.output]

    def primitive(self, node: NodeId, function: Primitive, arguments: list[Any]) -> Any:
        """⟦p⟧(v…). The condition of a switch is decided by the reading."""
        if function.name == "switch":
            arguments[0] = self.reading.truth(arguments[0])
        try:
            value = self.reading.column[function](*arguments)
        except AdjudgeError as error:
            raise self.at(error, node) from None
        if self.reading.observe is not None:
            self.reading.observe(self.program, node, function, arguments, value)
        return value

    def at(self, error: AdjudgeError, node: NodeId | None) -> AdjudgeError:
        """The error, with its place if it does not know one yet."""
        if node is not None and not error.node:
            error.node = self.program.describe(node)
            error.location = error.location or getattr(self.program.nodes[node], "location", None)
        return error
