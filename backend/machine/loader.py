"""
From a program to code: an array of words for the machine, and what the host needs to know of it.

Every graph becomes its instructions in the order of need. A closure captures the free variables of its graph, which follow the
parameters in the frame that a call makes; so closure conversion is nothing but numbering. Loading takes time linear in the nodes.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from backend.machine.interpreter import made
from backend.machine.layout import CALL, CLOSE, FRAME, RETURN, STATE, TAIL
from semantics.errors import Crash
from semantics.ir import Apply, Constant, GraphId, GraphRef, NodeId, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.scope import evaluation_order, scopes


class Rows:
    """The opcodes of the primitives that a program uses. One that is the user's own, or has no source, is the host's."""

    def __init__(self) -> None:
        self.numbers: dict[Primitive, int] = {}
        self.rows: dict[int, Primitive] = {}

    def number(self, primitive: Primitive) -> int:
        """The opcode of a primitive."""
        if (number := self.numbers.get(primitive)) is None:
            known = made()
            own = TABLE.get(primitive.name) is primitive
            number = known.number.get(primitive.name, -1) if own else -1
            number = known.end + len(self.numbers) if number < 0 else number
            self.numbers[primitive], self.rows[number] = number, primitive
        return number

    def __getitem__(self, number: int) -> Primitive:
        """The primitive that has this opcode."""
        return self.rows[number]


@dataclass(frozen=True, eq=False)
class Code:
    """
    program      what was loaded
    words        the code, as `layout` has it
    constants    the constants, in the order in which they lie behind the state
    rows         the primitives by their opcodes, and back
    graphs       the address of every graph
    nodes        the node that an instruction computes, by its address
    after        the address of a call, by the address of the instruction behind it: where frames that wait have been
    """

    program: Program
    words: array[int]
    constants: tuple[Any, ...]
    rows: Rows
    graphs: dict[GraphId, int]
    nodes: dict[int, NodeId]
    after: dict[int, int]

    @cached_property
    def place(self) -> tuple[int, int]:
        """The address and the number of the words, for compiled code."""
        return self.words.buffer_info()

    @cached_property
    def array(self) -> Any:
        """The words for a GPU."""
        import numpy

        return numpy.frombuffer(self.words, numpy.int64)

    @cached_property
    def graph_at(self) -> dict[int, GraphId]:
        """The graph at an address."""
        return {address: graph for graph, address in self.graphs.items()}

    def graph_of(self, address: int) -> GraphId:
        """The graph in whose code an address lies."""
        return self.graph_at[max(start for start in self.graph_at if start <= address)]


def load(program: Program) -> Code:
    """The code of everything that the entry reaches."""
    return _Loader(program).code()


class _Loader:
    """The words so far, and the addresses that are still to be filled in: a graph may be closed over before it has code."""

    def __init__(self, program: Program) -> None:
        self.program, self.free = program, scopes(program).free
        self.words: array[int] = array("q")
        self.constants: dict[NodeId, int] = {}
        self.values: list[Any] = []
        self.rows = Rows()
        self.graphs: dict[GraphId, int] = {}
        self.nodes: dict[int, NodeId] = {}
        self.after: dict[int, int] = {}
        self.closes: list[tuple[int, GraphId]] = []

    def code(self) -> Code:
        """All graphs, the entry first, and then the addresses of those that are closed over."""
        for graph in self.free:
            self.graph(graph)
        for at, graph in self.closes:
            self.words[at] = self.graphs[graph]
        return Code(self.program, self.words, tuple(self.values), self.rows, self.graphs, self.nodes, self.after)

    def graph(self, graph: GraphId) -> None:
        """The head and the instructions of one graph."""
        found, captured = self.program.graphs[graph], self.free[graph]
        head = len(self.words)
        self.graphs[graph] = head
        self.words.extend((len(found.parameters), len(captured), 0))
        places = {node: FRAME + 2 * k for k, node in enumerate((*found.parameters, *captured))}
        end = FRAME + 2 * (len(found.parameters) + len(captured))
        nodes = self.program.nodes
        for node in evaluation_order(self.program, graph):
            if node in places:
                continue
            match nodes[node]:
                case Apply(_, inputs):
                    self.apply(node, inputs, end, places, node == found.output)
                case Constant(GraphRef(target)):
                    self.closes.append((len(self.words) + 3, target))
                    self.emit(node, CLOSE, end, [0, *[places[n] for n in self.free[target]]])
                case Constant(value):
                    places[node] = self.constant(node, value)
                    continue
                case _:
                    raise Crash("a parameter of another graph is not captured", node=self.program.describe(node))
            places[node] = end
            end += 2
        self.emit(found.output, RETURN, end, [places[found.output]])
        self.words[head + 2] = end

    def apply(self, node: NodeId, inputs: tuple[NodeId, ...], out: int, places: dict[NodeId, int], last: bool) -> None:
        """One application: of a primitive that is known, or a call, at the output in place of the frame."""
        function = self.program.constant(inputs[0])
        if isinstance(function, Primitive):
            self.emit(node, self.rows.number(function), out, [places[n] for n in inputs[1:]])
        else:
            self.emit(node, TAIL if last else CALL, out, [places[n] for n in inputs])

    def emit(self, node: NodeId, op: int, out: int, operands: list[int]) -> None:
        """One instruction."""
        at = len(self.words)
        self.nodes[at] = node
        self.words.extend((op, out, len(operands), *operands))
        self.after[len(self.words)] = at

    def constant(self, node: NodeId, value: Any) -> int:
        """The operand that names a constant: minus its address, right behind the state."""
        if node not in self.constants:
            self.constants[node] = -(STATE + 2 * len(self.values))
            self.values.append(value)
        return self.constants[node]
