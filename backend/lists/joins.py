"""
Two lists, one behind the other, as arrays. An array without elements has no size for elements it does not have:

    s + t, of numbers    ⟹    concatenate((s, t))
    s + t, of arrays     ⟹    t if len(s) == 0 else s if len(t) == 0 else concatenate((s, t))

And an array in the place of one in a list, which has the sizes of the others: `put` would repeat one of size 1.

    s[i] = e             ⟹    s[i if shape(e) == shape(s)[1:] else len(s)] = e
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from backend.lists.elements import Elements
from backend.lists.loops import is_empty
from semantics.arrays import Array
from semantics.edit import Edit
from semantics.ir import Constant, GraphId, GraphRef, NodeId, Program
from semantics.primitives.table import TABLE

AND, CONCATENATE, EQ, FULL, GETITEM, LENGTH = (TABLE[name] for name in ("and_", "concatenate", "eq", "full", "getitem", "length"))
MAKE_TUPLE, SHAPE, SWITCH = (TABLE[name] for name in ("make_tuple", "shape", "switch"))


def joined(edit: Edit, owner: GraphId, first: NodeId, second: NodeId, unsure: Sequence[NodeId]) -> tuple[NodeId, ...]:
    """The application that gives both; of arrays of arrays that are `unsure` only the run knows whether they have any."""
    if not unsure:
        return edit.constant(CONCATENATE), edit.call(owner, MAKE_TUPLE, first, second), edit.constant(0)
    asked, *rest = unsure
    other = second if asked == first else first

    def both(graph: GraphId) -> NodeId:
        return edit.apply(graph, *joined(edit, graph, first, second, [n for n in rest if n != asked]))

    count = edit.call(owner, LENGTH, asked)
    return (chosen(edit, owner, count, edit.constant(0), lambda _: other, both),)


def chosen(
    edit: Edit, owner: GraphId, a: NodeId, b: NodeId, equal: Callable[[GraphId], NodeId], otherwise: Callable[[GraphId], NodeId]
) -> NodeId:
    """The graph to call, which makes one thing where two integers are equal, and another where not."""
    graphs = edit.graph("equal"), edit.graph("otherwise")
    for graph, made in zip(graphs, (equal, otherwise), strict=True):
        edit.output(graph, made(graph))
    return edit.call(owner, SWITCH, edit.call(owner, EQ, a, b), *(edit.constant(GraphRef(g)) for g in graphs))


def fitting(edit: Edit, owner: GraphId, array: NodeId, place: NodeId, element: NodeId, held: Elements) -> NodeId:
    """The place of an element; outside, which traps, for one of other sizes than the array has for each."""

    def size(of: NodeId, axis: int) -> NodeId:
        return edit.call(owner, GETITEM, edit.call(owner, SHAPE, of), edit.constant(axis))

    tests = [edit.call(owner, EQ, size(element, k), size(array, k + 1)) for k, known in enumerate(held.axes) if known is None]
    if not tests:
        return place
    test = reduce(lambda a, b: edit.call(owner, AND, a, b), tests)
    return edit.call(owner, SWITCH, test, place, edit.call(owner, LENGTH, array))


def if_any(edit: Edit, owner: GraphId, count: NodeId, value: float) -> NodeId:
    """A number where there are elements, `count` of them: one of an array of so many; where there are none, that is nowhere."""
    whole = edit.call(owner, FULL, edit.call(owner, MAKE_TUPLE, count), edit.constant(value), edit.constant(None))
    return edit.call(owner, GETITEM, whole, edit.constant(0))


def is_nothing(program: Program, edit: Edit, node: NodeId) -> bool:
    """Whether a list is without elements: one of the program, or the array that stands for a constant."""
    if node in program.nodes:
        return is_empty(program, node)
    match edit.nodes[node]:
        case Constant(Array(shape=(0, *_))):
            return True
        case _:
            return False
