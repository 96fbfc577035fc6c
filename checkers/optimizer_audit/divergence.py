"""
A refutation node by node: both sides of a rule at one point, every node with its value, the first divergence marked.

    left, node by node                right, node by node
        %x  is -0.0                       %x  is -0.0
      > %5 = add(%x, 0.0)  is 0.0       > return %x  is -0.0

A node is marked if it is the first of its side, in the order of evaluation, whose value no node of the other side has; where every
value has its equal, the last is. The value of a node is what the program computes that ends at this node: the machine runs it,
or it is read over the reals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from checkers.optimizer_audit.outcomes import Open, Result, Runner, Stopped, Value, agree, over_the_reals, said, same_bits
from checkers.optimizer_audit.samples import Point
from semantics.edit import Edit
from semantics.ir import Apply, NodeId, Program
from semantics.scope import evaluation_order

MOST = 60  # nodes of a side: a rule has a few, and what is longer is read by bisection, not by eye


@dataclass(frozen=True, slots=True)
class Line:
    """One node of a side: its text, what it came to, and whether it is where the sides part."""

    text: str
    result: Result
    marked: bool = False

    def __str__(self) -> str:
        return f"{'>' if self.marked else ' '} {self.text}  is {shown(self.result)}"


@dataclass(frozen=True, slots=True)
class Divergence:
    """Both sides at a point."""

    left: tuple[Line, ...]
    right: tuple[Line, ...]

    def __str__(self) -> str:
        sides = (("left, node by node", self.left), ("right, node by node", self.right))
        return "\n".join(line for title, side in sides for line in (title, *(f"  {entry}" for entry in side)))


def on_the_machine(left: Program, right: Program, point: Point) -> Divergence | None:
    """Where the machine parts the sides; None if a side is too long to be shown."""
    return _diverge(left, right, lambda p: Runner(p)(point), same_bits)


def in_the_reals(left: Program, right: Program, point: Point) -> Divergence | None:
    """Where the sides part over the reals, by exact or enclosed values."""
    return _diverge(left, right, lambda p: over_the_reals(p, point), _agree)


def _agree(a: Result, b: Result) -> bool:
    if isinstance(a, Value) and isinstance(b, Value):
        return agree(a.value, b.value)
    return isinstance(a, Stopped) and isinstance(b, Stopped)


def _diverge(
    left: Program, right: Program, value: Callable[[Program], Result], equal: Callable[[Result, Result], bool]
) -> Divergence | None:
    sides = [_nodes(p) for p in (left, right)]
    if any(len(nodes) > MOST for nodes in sides):
        return None
    ran = [
        [(text, value(_ending_at(p, n))) for text, n in zip(_texts(p, nodes), nodes, strict=True)]
        for p, nodes in zip((left, right), sides, strict=True)
    ]
    one, other = (tuple(_marked(a, [r for _, r in b], equal)) for a, b in (ran, reversed(ran)))
    return Divergence(one, other)


def _nodes(program: Program) -> list[NodeId]:
    """The parameters and applications of the entry in the order of evaluation, then the output if it is no application."""
    graph = program.graphs[program.entry]
    applied = [n for n in evaluation_order(program, program.entry) if isinstance(program.nodes[n], Apply)]
    found = [*graph.parameters, *(n for n in applied if program.owner(n) == program.entry)]
    return found if graph.output in applied else [*found, graph.output]


def _ending_at(program: Program, node: NodeId) -> Program:
    """The program that stops at `node` and returns its value."""
    edit = Edit(program)
    edit.output(program.entry, node)
    return edit.program


def _texts(program: Program, nodes: Sequence[NodeId]) -> list[str]:
    """Every node as the text form has it."""
    texts = [program.describe(n) if isinstance(program.nodes[n], Apply) else program.describe_name(n) for n in nodes]
    return texts if isinstance(program.nodes[nodes[-1]], Apply) else [*texts[:-1], f"return {texts[-1]}"]


def _marked(side: Sequence[tuple[str, Result]], others: Sequence[Result], equal: Callable[[Result, Result], bool]) -> list[Line]:
    alone = (i for i, (_, result) in enumerate(side) if not any(equal(result, r) or equal(r, result) for r in others))
    first = next(alone, len(side) - 1)
    return [Line(text, result, i == first) for i, (text, result) in enumerate(side)]


def shown(result: Result) -> str:
    """What a node came to, for a reader."""
    match result:
        case Value():
            value = said(result)
            return value if isinstance(value, str) else repr(value)
        case Stopped(why):
            return f"undefined: {why}"
        case Open(why):
            return f"not known: {why}"
