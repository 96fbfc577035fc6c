"""
What an affine `for` is, and which graphs are one (MimIrADe, section 3.3.3).

    for : (start, end, step, init, body)        the body is applied to i = start, start + step, … below end, and to the accumulators

In the graph IR a loop is a graph that calls itself where its body ends. One is an affine `for` if it has the shape

    @h(i, a…):  t = switch(lt(i, n), @body, @after)     n does not change from turn to turn
                t()                                     @body ends with @h(add(i, k), a'…), k a positive whole number written out
    @body():    … @h(i + k, a'…)                        nothing else leaves the loop, and nothing else in it calls @h

`recognise` finds its parts; `why_not` says in words what a graph lacks. Nothing is run, and nothing is changed.
"""

from __future__ import annotations

from dataclasses import dataclass

from semantics.ir import GraphId, GraphRef, NodeId, Program
from semantics.primitives.table import TABLE
from transforms.surgery import only_called, referred

SWITCH, LT, ADD, MAKE_TUPLE = (TABLE[n] for n in ("switch", "lt", "add", "make_tuple"))


@dataclass(frozen=True, slots=True)
class For:
    """
    An affine `for` of a program.

    header, body, after    its graphs: the test, one turn, and what follows
    counter                which parameter of the header counts
    bound                  n, the end
    step                   k, a positive whole number
    again                  the call of the header that ends the body
    calls                  the calls that enter the loop: their arguments are the start and the first accumulators
    invariant              the parameters of the header that every turn passes on as they are
    """

    header: GraphId
    body: GraphId
    after: GraphId
    counter: int
    bound: NodeId
    step: int
    again: NodeId
    calls: tuple[NodeId, ...]
    invariant: frozenset[int]


def recognise(program: Program, graph: GraphId) -> For | None:
    """The affine `for` whose header is `graph`, or None."""
    found = judge(program, graph)
    return found if isinstance(found, For) else None


def why_not(program: Program, graph: GraphId) -> str:
    """What keeps `graph` from being an affine `for`; empty if it is one."""
    found = judge(program, graph)
    return "" if isinstance(found, For) else found


def judge(program: Program, graph: GraphId) -> For | str:
    """The affine `for`, or the first thing that it lacks."""
    blocks = _blocks(program, graph)
    if isinstance(blocks, str):
        return blocks
    test, body, after = blocks
    if program.callee(test) is not LT or len(program.inputs(test)) != 3:
        return "its test is not of the form counter < bound"
    again, (_, i, bound) = program.graphs[body].output, program.inputs(test)
    if program.callee(again) != GraphRef(graph) or program.owner(again) != body or program.users(again):
        return f"its body does not end by calling @{program.graphs[graph].name}: it branches, or leaves the loop"
    uses = only_called(program, graph)
    if uses is None:
        return "it is used as a value, or called with the wrong number of arguments"
    parameters, passed = program.graphs[graph].parameters, program.inputs(again)[1:]
    invariant = frozenset(k for k, (x, y) in enumerate(zip(parameters, passed, strict=True)) if x == y)
    counter = parameters.index(i) if i in parameters else -1
    step = _step(program, i, passed[counter]) if counter >= 0 else None
    if step is None:
        return f"what it tests, {program.describe_name(i)}, does not go up by a positive whole number written out"
    owner = program.owner(bound)
    if owner in (graph, body) and bound not in (parameters[k] for k in invariant):
        return f"its bound {program.describe_name(bound)} changes from turn to turn"
    calls = tuple(use.user for use in uses if use.user != again)
    inside = {graph, *_region(program, body, graph)}
    if not calls or any(program.owner(call) in inside for call in calls):
        return "it calls itself elsewhere than where its body ends"
    return For(graph, body, after, counter, bound, step, again, calls, invariant)


def _blocks(program: Program, graph: GraphId) -> tuple[NodeId, GraphId, GraphId] | str:
    """The test of a header, and the two blocks between which it chooses, which nothing else uses."""
    choice = program.inputs(program.graphs[graph].output)
    if len(choice) != 1 or program.callee(choice[0]) is not SWITCH or program.owner(choice[0]) != graph:
        return "it does not end in a choice between a body and what follows"
    _, test, *thunks = program.inputs(choice[0])
    used = [*program.users(test), *program.users(choice[0]), *program.users(program.graphs[graph].output)]
    if len(used) != 2 or set(program.owned[graph]) != {test, choice[0], program.graphs[graph].output}:
        return "its header computes more than its test"
    blocks = [v.graph for t in thunks if isinstance(v := program.constant(t), GraphRef) and len(program.users(t)) == 1]
    if len(blocks) != 2 or any(program.graphs[b].parameters for b in blocks):
        return "its body, or what follows, is not a block of its own"
    return test, blocks[0], blocks[1]


def _step(program: Program, i: NodeId, following: NodeId) -> int | None:
    """The k of following = i + k, if that is what it is."""
    inputs = program.inputs(following)
    if len(inputs) != 3 or program.constant(inputs[0]) is not ADD or i not in inputs[1:]:
        return None
    k = program.constant(inputs[2] if inputs[1] == i else inputs[1])
    return k if type(k) is int and k > 0 else None


def _region(program: Program, root: GraphId, header: GraphId) -> frozenset[GraphId]:
    """`root` and the graphs that it leads to by naming them, as far as `header`."""
    found: set[GraphId] = set()
    todo = [root]
    while todo:
        graph = todo.pop()
        if graph not in found and graph != header:
            found.add(graph)
            todo.extend(referred(program, graph))
    return frozenset(found)
