"""
Well-formed graphs drawn node by node: nested graphs, captures through called closures, switches, tuples, loops.

Inputs are only ever drawn from what exists already and is visible, so every program is well-formed and every run ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from semantics.edit import Edit, empty
from semantics.ir import GraphId, NodeId, Program
from semantics.primitives.table import TABLE
from semantics.type_language import REAL

UNARY = ("sin", "tanh", "neg", "cos", "atan")
BINARY = ("add", "mul", "sub")
CONSTANTS = (1.0, 0.5, -2.0, 0.0)


@dataclass
class Builder:
    """What is visible where the builder stands: reals, functions of one real, pairs of reals."""

    draw: Callable[[Any], Any]
    edit: Edit
    reals: list[NodeId] = field(default_factory=list)
    functions: list[NodeId] = field(default_factory=list)
    pairs: list[NodeId] = field(default_factory=list)
    depth: int = 0

    def pick(self, choices: Any) -> Any:
        return choices[self.draw(st.integers(0, len(choices) - 1))]

    def real(self) -> NodeId:
        """A visible real, or a constant."""
        choice = self.draw(st.integers(0, len(self.reals)))
        return self.edit.constant(self.pick(CONSTANTS)) if choice == len(self.reals) else self.reals[-1 - choice]

    def call(self, graph: GraphId, name: str, *inputs: NodeId) -> NodeId:
        return self.edit.call(graph, TABLE[name], *inputs)

    def inner(self) -> Builder:
        """A builder for a nested graph: it sees what is visible here."""
        return Builder(self.draw, self.edit, self.reals[:], self.functions[:], self.pairs[:], self.depth + 1)

    def nested(self, name: str, parameters: int, steps: int) -> GraphId:
        """A nested graph of reals to a real."""
        graph = self.edit.graph(name)
        inner = self.inner()
        inner.reals += [self.edit.parameter(graph, "y", REAL) for _ in range(parameters)]
        inner.fill(graph, steps)
        self.edit.output(graph, inner.real())
        return graph

    def fill(self, graph: GraphId, steps: int) -> None:
        """Adds nodes to `graph`."""
        for _ in range(steps):
            makers = [self.unary, self.binary, self.pair, self.part, self.apply]
            if self.depth < 2:
                makers += [self.function, self.branch, self.loop]
            self.pick(makers)(graph)

    def unary(self, graph: GraphId) -> None:
        self.reals.append(self.call(graph, self.pick(UNARY), self.real()))

    def binary(self, graph: GraphId) -> None:
        self.reals.append(self.call(graph, self.pick(BINARY), self.real(), self.real()))

    def pair(self, graph: GraphId) -> None:
        self.pairs.append(self.call(graph, "make_tuple", self.real(), self.real()))

    def part(self, graph: GraphId) -> None:
        if self.pairs:
            self.reals.append(self.call(graph, "getitem", self.pick(self.pairs), self.edit.constant(self.pick((0, 1, -1)))))

    def apply(self, graph: GraphId) -> None:
        if self.functions:
            self.reals.append(self.edit.apply(graph, self.pick(self.functions), self.real()))

    def function(self, graph: GraphId) -> None:
        """A nested function of one real, which may capture, also through the functions that it calls."""
        self.functions.append(self.edit.reference(self.nested("g", 1, self.draw(st.integers(0, 3)))))

    def branch(self, graph: GraphId) -> None:
        """`if a < b`: two thunks, one of them called."""
        thunks = [self.edit.reference(self.nested(n, 0, self.draw(st.integers(0, 2)))) for n in ("then", "else")]
        test = self.call(graph, self.pick(("lt", "ge")), self.real(), self.real())
        self.reals.append(self.edit.apply(graph, self.call(graph, "switch", test, *thunks)))

    def loop(self, graph: GraphId) -> None:
        """A loop of 0 to 3 turns as a tail-recursive graph; its body sees what is visible here."""
        edit = self.edit
        head, body, done = edit.graph("loop"), edit.graph("body"), edit.graph("done")
        i, carried = edit.parameter(head, "i"), edit.parameter(head, "v", REAL)
        test = self.call(head, "lt", i, edit.constant(self.draw(st.integers(0, 3))))
        edit.output(head, edit.apply(head, self.call(head, "switch", test, edit.reference(body), edit.reference(done))))
        inner = self.inner()
        inner.reals.append(carried)
        inner.fill(body, self.draw(st.integers(0, 2)))
        turned = self.call(body, "tanh", inner.real())
        edit.output(body, edit.call(body, _ref(head), self.call(body, "add", i, edit.constant(1)), turned))
        edit.output(done, carried)
        self.reals.append(edit.call(graph, _ref(head), edit.constant(0), self.real()))


def _ref(graph: GraphId) -> Any:
    from semantics.ir import GraphRef

    return GraphRef(graph)


@st.composite
def graphs(draw: Callable[[Any], Any], parameters: int = 2, size: int = 6) -> Program:
    """A program of reals to a real, with at most `size` nodes in its entry and a few in each nested graph."""
    edit = Edit(empty())
    entry = edit.graph("f")
    builder = Builder(draw, edit)
    builder.reals = [edit.parameter(entry, n, REAL) for n in "xzpq"[:parameters]]
    builder.fill(entry, draw(st.integers(1, size)))
    edit.output(entry, builder.real())
    return edit.program
