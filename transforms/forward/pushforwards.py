"""
The pushforward of a primitive: a program (x…, out, δx…) -> δout, from its backpropagator, as the one is the transpose of the other.

What flows back to argument i is a linear function of dout, and what flows forward from it is the transpose of this function:

    nothing flows back                    nothing flows forward, and δx does not occur
    out is linear in the argument         the primitive itself, of δx in place of x (`linear`)
    dout, as it is                        δx, as it is
    to a number, or to each element       the same function, of δx: a number, and a diagonal, is its own transpose
    else                                  transposed by J: the backpropagator of the backpropagator

So there is no table of derivatives beside that of the backpropagators. That each of the first four is what the last gives is a
property.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from semantics.edit import Edit, empty
from semantics.ir import GraphId, NodeId, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.scope import scopes
from semantics.tangents import ZERO
from semantics.text import read
from transforms import grad
from transforms.adjoint_primitives import pullback_of
from transforms.clone import copy_graphs, link
from transforms.elementwise_pullback import by_element, is_elementwise
from transforms.forward.linear import LINEAR, WRITTEN_OUT

GADD, GETITEM, J, LIKE = (TABLE[n] for n in ("gadd", "getitem", "J", "like"))
MAKE_TUPLE, MAKE_RECORD = TABLE["make_tuple"], TABLE["make_record"]
NUMBERS = frozenset({"real", "number", "integer", "boolean"})


@cache
def pushforward(
    primitive: Primitive, arity: int, moving: tuple[int, ...], arrays: bool, whole: int | None = None
) -> Program | None:
    """
    (x…, out, δx for each of `moving`) -> δout; None if nothing flows forward from these.

    arity, arrays, whole  as in `adjoint_primitives.pullback_of`
    """
    elements = arrays and whole is None and is_elementwise(primitive)
    rule = by_element(primitive.name) if elements else pullback_of(primitive, arity, arrays, whole)
    sent = {i: part for i in moving if not _is_nothing(part := _sent(rule, i))}
    if not sent:
        return None
    edit = Edit(empty())
    graph = edit.graph(f"δ{primitive.name}", primitive.location)
    primals = [edit.parameter(graph, name) for name in (*(f"x{i}" for i in range(arity)), "out")]
    tangents = {i: edit.parameter(graph, f"δx{i}") for i in moving}
    if parts := _linear(edit, graph, primitive, primals, tangents):
        return _returning_sum(edit, graph, parts)
    if elements or whole is not None or _on_numbers(primitive, arrays) or all(map(_is_all, sent.values())):
        parts = [placed(edit, graph, part, [*primals, tangents[i]]) for i, part in sent.items()]
        return _returning_sum(edit, graph, [edit.call(graph, LIKE, p, primals[-1]) for p in parts] if elements else parts)
    at = _zero(edit, graph, primals[-1], of_array=primitive.result == "array")
    return transposed(edit, graph, rule, primals, {i: tangents[i] for i in sent}, at)


def _returning_sum(edit: Edit, graph: GraphId, parts: Sequence[NodeId]) -> Program:
    total, *others = parts
    for part in others:
        total = edit.call(graph, GADD, total, part)
    edit.output(graph, total)
    return edit.program


def _linear(
    edit: Edit, graph: GraphId, primitive: Primitive, primals: Sequence[NodeId], tangents: dict[int, NodeId]
) -> list[NodeId]:
    """The summands of the tangent of a row of which it is known where it is linear; none for another."""
    if TABLE.get(primitive.name) is not primitive:
        return []
    *operands, out = primals
    moved = [tangents.get(i, edit.constant(ZERO)) for i in range(len(operands))]
    if primitive is MAKE_TUPLE or primitive is MAKE_RECORD:
        return [edit.call(graph, MAKE_TUPLE, *(moved if primitive is MAKE_TUPLE else moved[1:]))]
    if primitive.name in WRITTEN_OUT:
        return [placed(edit, graph, read(WRITTEN_OUT[primitive.name]), [*operands, out, *moved])]
    groups = [group for group in LINEAR.get(primitive.name, ()) if any(i in tangents for i in group)]
    return [edit.call(graph, primitive, *(moved[i] if i in group else x for i, x in enumerate(operands))) for group in groups]


def _on_numbers(primitive: Primitive, arrays: bool) -> bool:
    """Whether arguments and result are numbers."""
    return not arrays and {*primitive.signature, primitive.result} <= NUMBERS


def _sent(rule: Program, i: int) -> Program:
    """The backpropagator with nothing left of its result but what argument i gets."""
    edit, output = Edit(rule), rule.graphs[rule.entry].output
    written_out = rule.callee(output) is MAKE_TUPLE
    part = rule.inputs(output)[1 + i] if written_out else edit.call(rule.entry, GETITEM, output, edit.constant(i))
    edit.output(rule.entry, part)
    return edit.program


def _is_nothing(sent: Program) -> bool:
    """Whether it is ZERO, whatever dout is."""
    return sent.constant(sent.graphs[sent.entry].output) is ZERO


def _is_all(sent: Program) -> bool:
    """Whether it is dout itself."""
    graph = sent.graphs[sent.entry]
    return graph.output == graph.parameters[-1]


def placed(edit: Edit, graph: GraphId, source: Program, arguments: Sequence[NodeId]) -> NodeId:
    """The output of a program for these arguments, computed in `graph`."""
    entry = source.graphs[source.entry]
    given = dict(zip(entry.parameters, arguments, strict=True))
    return copy_graphs(edit, source, scopes(source).free, into={source.entry: graph}, substitution=given).nodes[entry.output]


def transposed(
    edit: Edit, graph: GraphId, rule: Program, primals: Sequence[NodeId], tangents: dict[int, NodeId], at: NodeId
) -> Program:
    """
    The program whose entry `graph` returns T(δx…), T being the backpropagator of d ↦ rule(x…, out, d) at d = `at`. It is linear, so
    T is the same everywhere.
    """
    backward = edit.reference(link(edit, rule))
    linear = edit.graph("linear")
    cotangents = edit.apply(linear, backward, *primals, edit.parameter(linear, "dout"))
    parts = [edit.call(linear, GETITEM, cotangents, edit.constant(i)) for i in tangents]
    edit.output(linear, edit.call(linear, MAKE_TUPLE, *parts))
    opened = edit.call(graph, J, edit.reference(linear))
    transpose = edit.call(graph, GETITEM, edit.apply(graph, opened, at), edit.constant(1))
    sent = edit.apply(graph, transpose, edit.call(graph, MAKE_TUPLE, *tangents.values()))
    edit.output(graph, edit.call(graph, GETITEM, sent, edit.constant(1)))
    return grad.SYSTEM.run(grad.begin(edit.program, opened))


def _zero(edit: Edit, graph: GraphId, out: NodeId, of_array: bool) -> NodeId:
    """A dense sensitivity of `out`, where an array of integers counts as one of reals; ZERO if `out` is one itself, and ZERO."""
    if of_array:
        return edit.call(graph, LIKE, edit.constant(0.0), out)
    dense = edit.call(graph, TABLE["instantiate"], edit.constant(ZERO), out)
    return edit.call(graph, TABLE["sum_to"], edit.call(graph, TABLE["unlabelled"], dense), out)
