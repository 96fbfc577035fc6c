"""
The program of numbers that a tree of terms is: a straight line for each block, and for each condition a choice of two graphs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from backend.small.terms import Block, Term, refused, type_of_number
from semantics.edit import Edit, empty
from semantics.ir import GraphId, NodeId, Program
from semantics.primitives.table import TABLE
from semantics.type_language import INTEGER
from semantics.type_lattice import erase

MAKE_TUPLE, SWITCH, FAIL = TABLE["make_tuple"], TABLE["switch"], TABLE["fail"]
MAY_FAIL = frozenset(
    ("add", "sub", "mul", "neg", "abs", "floordiv", "mod", "div", "pow", "to_integer", "floor", "ceil", "range_length")
)
"""Rows that may trap where their result is an integer, or all that they are given."""


class Writer:
    """The graphs of a tree, of which each block captures what those before it have computed."""

    def __init__(self, arguments: Sequence[Term], name: str) -> None:
        self.edit, self.nodes = Edit(empty()), dict[int, NodeId]()
        self.entry = self.edit.graph(name)
        for k, term in enumerate(arguments):
            self.nodes[term.number] = self.edit.parameter(self.entry, f"x{k}", term.type)

    def program(self, root: Block) -> Program:
        """The program whose value is a tuple of the numbers of the value. Recursion goes over the few ways of a tree."""
        self.write(root, self.entry)
        return self.edit.program

    def write(self, block: Block, graph: GraphId) -> None:
        """The graph of a block."""
        for term in block.terms.values():
            inputs = [self.node(a) for a in term.arguments]
            assert term.primitive is not None
            self.nodes[term.number] = self.edit.call(graph, term.primitive, *inputs)
        if block.raised is not None:
            self.edit.output(graph, self.edit.call(graph, FAIL, self.edit.constant(block.raised)))
            return
        if block.condition is None:
            self.edit.output(graph, self.edit.call(graph, MAKE_TUPLE, *map(self.node, block.value)))
            return
        ways = []
        for chosen in (True, False):
            way = self.edit.graph(str(chosen))
            self.write(block.then[chosen], way)
            ways.append(self.edit.reference(way))
        self.edit.output(graph, self.edit.apply(graph, self.edit.call(graph, SWITCH, self.node(block.condition), *ways)))

    def node(self, x: Any) -> NodeId:
        return self.nodes[x.number] if isinstance(x, Term) else self.edit.constant(x)


def demand_needed(root: Block) -> None:
    """Refuses a tree with a term that may trap and that no result needs: an array is computed as a whole, so it would trap."""
    needed: set[int] = set()
    blocks = [*walked(root)]
    for block in reversed(blocks):
        ends = (block.value or ()) if block.condition is None else (block.condition,)
        needed.update(x.number for x in ends if isinstance(x, Term))
        for term in reversed(block.terms.values()):
            if term.number in needed:
                needed.update(x.number for x in term.arguments if isinstance(x, Term))
            elif may_fail(term):
                raise refused("an element that nothing needs may trap")


def may_fail(term: Term) -> bool:
    """Whether a term may end the run: one of integers, which may be divided by zero or outgrow 64 bits."""
    assert term.primitive is not None
    given = all(erase(type_of_number(a)) == INTEGER for a in term.arguments)
    return term.primitive.name in MAY_FAIL and (given or term.type == INTEGER)


def walked(root: Block) -> Iterator[Block]:
    """Every block, before those that follow it."""
    yield root
    for block in root.then.values():
        yield from walked(block)
