"""
What can be foreseen of a call when some of its arguments are known: a run of the machine on values that may be unknown.

    literal   a constant; a primitive of literals is a literal, by `fold`           unknown   anything
    tuple     its elements, each as far as it is known                              closure   a graph, and what it captures
    choice    one of two values, on a condition that is unknown

A call of a closure is entered; a call of anything else gives an unknown value. Calling a choice that may lead back to a graph that
is being run is *undecided*: how often that graph runs is not known, and the call that entered it first gives an unknown value
instead. The run is *foreseen* if the outermost call is not undecided and no graph is entered more than `turns` times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from semantics.ir import Apply, Constant, GraphId, GraphRef, NodeId, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.scope import Scopes, order_of_need, scopes_from
from transforms import fold
from transforms.surgery import referred, scalar

SWITCH, MAKE_TUPLE, GETITEM, OF_LENGTH = TABLE["switch"], TABLE["make_tuple"], TABLE["getitem"], TABLE["of_length"]
STEPS = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A constant that is no graph."""

    value: Any


@dataclass(frozen=True, slots=True, eq=False)
class Several:
    """A tuple of `items`, or, where `chosen`, one of them, on a condition that is unknown."""

    items: tuple[Seen, ...]
    chosen: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Enclosed:
    """A closure: a graph, and the values of its free variables."""

    graph: GraphId
    captured: tuple[Seen, ...]


Seen = Literal | Several | Enclosed | None  # None is the unknown value


@dataclass(slots=True)
class Frame:
    """A graph at work: the nodes that it needs, how many of them are done, their values, and the node that waits for the result."""

    graph: GraphId
    order: tuple[NodeId, ...]
    values: dict[NodeId, Seen]
    waiting: NodeId
    position: int = 0


def foreseen(program: Program, graph: GraphId, arguments: Sequence[NodeId], turns: int) -> int | None:
    """How often the graph that is entered most is entered by this call of `graph`; None if that is not foreseen."""
    return _Foresight(program, graph, arguments, turns).run()


class _Foresight:
    def __init__(self, program: Program, graph: GraphId, arguments: Sequence[NodeId], turns: int) -> None:
        self.program, self.turns = program, turns
        passed = [v.graph for n in _parts(program, arguments) if isinstance(v := program.constant(n), GraphRef)]
        self.found: Scopes = scopes_from(program, [graph, *passed])
        self.orders: dict[GraphId, tuple[NodeId, ...]] = {}
        self.leading: dict[GraphId, frozenset[GraphId]] = {}
        self.entries: Counter[GraphId] = Counter()
        self.frames: list[Frame] = []
        self.enter(graph, (None,) * len(self.found.free[graph]), self.outside(arguments), -1)

    def outside(self, arguments: Sequence[NodeId]) -> list[Seen]:
        """What is known of the arguments: constants, and tuples of them."""
        known: dict[NodeId, Seen] = {}
        for node in reversed(_parts(self.program, arguments)):
            made = self.program.callee(node) is MAKE_TUPLE
            items = self.program.inputs(node)[1:]
            known[node] = Several(tuple(known[n] for n in items)) if made else self.constant(node)
        return [known[n] for n in arguments]

    def constant(self, node: NodeId) -> Seen:
        """The value of a constant, whose graph captures nothing that is known; unknown if it is none."""
        match self.program.nodes[node]:
            case Constant(GraphRef(graph)):
                return Enclosed(graph, (None,) * len(self.found.free[graph]))
            case Constant(value):
                return Literal(value)
        return None

    def enter(self, graph: GraphId, captured: Sequence[Seen], arguments: Sequence[Seen], waiting: NodeId) -> None:
        if graph not in self.orders:
            self.orders[graph] = order_of_need(self.program, graph, self.found.free)
        self.entries[graph] += 1
        values = dict(zip(self.found.free[graph], captured, strict=True))
        values |= dict(zip(self.program.graphs[graph].parameters, arguments, strict=True))
        self.frames.append(Frame(graph, self.orders[graph], values, waiting))

    def run(self) -> int | None:
        """Runs to the end; None if it is undecided, or goes on for too long."""
        for _ in range(STEPS):
            frame = self.frames[-1]
            if frame.position == len(frame.order):
                self.frames.pop()
                if not self.frames:
                    return max(self.entries.values())
                self.frames[-1].values[frame.waiting] = frame.values[self.program.graphs[frame.graph].output]
                continue
            node = frame.order[frame.position]
            frame.position += 1
            if not self.step(frame, node):
                return None
        return None

    def step(self, frame: Frame, node: NodeId) -> bool:
        """Evaluates one node; False if the run is not foreseen."""
        match self.program.nodes[node]:
            case Constant(GraphRef(graph)):
                frame.values[node] = Enclosed(graph, tuple(frame.values.get(n) for n in self.found.free[graph]))
            case Constant(value):
                frame.values[node] = Literal(value)
            case Apply(owner, inputs) if owner == frame.graph:
                function, *arguments = (frame.values[n] for n in inputs)
                return self.apply(frame, node, function, arguments)
            case _:
                frame.values.setdefault(node, None)
        return True

    def apply(self, frame: Frame, node: NodeId, function: Seen, arguments: list[Seen]) -> bool:
        match function:
            case Enclosed(graph, captured) if len(self.program.graphs[graph].parameters) == len(arguments):
                self.enter(graph, captured, arguments, node)
                return self.entries[graph] <= self.turns
            case Several(items, True):
                return self.undecided(frame, node, [*items, *arguments])
            case Literal(Primitive() as primitive):
                frame.values[node] = _primitive(primitive, arguments)
            case _:
                frame.values[node] = None
        return True

    def undecided(self, frame: Frame, node: NodeId, values: list[Seen]) -> bool:
        """The call at `node` may lead to any of `values`. False if one of them leads to the outermost call."""
        frame.values[node] = None
        led = {g for graph in _graphs_in(values) for g in self.leads_to(graph)}
        for index, running in enumerate(self.frames):
            if running.graph in led:
                if index == 0:
                    return False
                self.entries.subtract(f.graph for f in self.frames[index:])
                del self.frames[index:]
                self.frames[-1].values[running.waiting] = None
                break
        return True

    def leads_to(self, graph: GraphId) -> frozenset[GraphId]:
        """`graph`, and all that it refers to, directly or not."""
        if graph not in self.leading:
            seen, todo = {graph}, [graph]
            while todo:
                fresh = set(referred(self.program, todo.pop())) - seen
                seen |= fresh
                todo.extend(fresh)
            self.leading[graph] = frozenset(seen)
        return self.leading[graph]


def _parts(program: Program, arguments: Sequence[NodeId]) -> list[NodeId]:
    """The arguments and the elements of tuples among them, each before its elements."""
    ordered: dict[NodeId, None] = {}
    todo = [(node, False) for node in arguments]
    while todo:
        node, ready = todo.pop()
        if ready:
            ordered[node] = None
        elif node not in ordered:
            todo.append((node, True))
            if program.callee(node) is MAKE_TUPLE:
                todo += [(n, False) for n in program.inputs(node)[1:]]
    return list(reversed(ordered))


def _primitive(primitive: Primitive, arguments: list[Seen]) -> Seen:
    """What is known of p(a…)."""
    match arguments:
        case [Literal(bool() as condition), a, b] if primitive is SWITCH:
            return a if condition else b
        case [_, a, b] if primitive is SWITCH:
            return Several((a, b), chosen=True)
        case [Several(items, False), Literal(int() as index)] if primitive is GETITEM:
            return items[index] if -len(items) <= index < len(items) else None
        case [Several(_, False) as made, _] if primitive is OF_LENGTH:
            return made
    if primitive is MAKE_TUPLE:
        return Several(tuple(arguments))
    if primitive in fold.UNFOLDED or not all(isinstance(a, Literal) and scalar(a.value) for a in arguments):
        return None
    known, value = fold.meaning(primitive, tuple(a.value for a in arguments if isinstance(a, Literal)))
    return Literal(value) if known else None


def _graphs_in(values: list[Seen]) -> Iterator[GraphId]:
    """The graphs that a call of some of `values`, or with them as arguments, can come to run."""
    seen: set[int] = set()
    todo = list(values)
    while todo:
        value = todo.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        match value:
            case Enclosed(graph, captured):
                yield graph
                todo.extend(captured)
            case Several(items, _):
                todo.extend(items)
