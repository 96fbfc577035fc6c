"""
Inlining: β for graphs (2018, section 4). A call of a known graph becomes the body of the graph.

A call is *wanted* if its graph is only used there, or has at most LIMIT applications, nested graphs included. It is inlined
once the body holds no wanted call itself, innermost first, so a chain of functions that call one another twice stops growing
at the limit. A graph that can reach itself is never inlined; what it can reach includes the functions among its arguments,
so that `w(w)` with w(f) = f(f), and recursion through an argument, are recursion here too. A call with the wrong number of
arguments is left to fail at run time.

The last use of a graph moves its body; other uses copy it, together with the graphs nested in it. Arguments stand in for
parameters, which is β and its soundness: an argument that the body does not need is no longer evaluated, so a trap may
disappear but a value cannot change.
"""

from __future__ import annotations

from collections.abc import Iterable

from semantics.edit import Edit
from semantics.ir import Apply, GraphId, GraphRef, NodeId, Program
from semantics.primitives.table import TABLE
from semantics.scope import Scopes
from transforms.clone import copy_graphs
from transforms.surgery import applications, become, called_graph, needed_in, nest, referred
from transforms.system import RewriteSystem, rewrite

LIMIT = 200
CARRIERS = (TABLE["make_tuple"], TABLE["getitem"], TABLE["switch"], TABLE["gadd"], TABLE["J"], TABLE["of_length"])


@rewrite
def beta(program: Program, place: int) -> Program | None:
    """n = @g(a…), g(x…) = b, g not recursive, and used once or small  ⟹  b[a/x], in place of n"""
    target = wanted(program, place)
    if target is None:
        return None
    inside = nest(program, target)
    if program.owner(place) in inside or any(wanted(program, n) is not None for g in inside for n in applications(program, g)):
        return None
    return inline(program, place)


def wanted(program: Program, place: int) -> GraphId | None:
    """The graph called at `place`, if the call is to be inlined; else None."""
    target = called_graph(program, place)
    if target is None or len(program.inputs(place)) != len(program.graphs[target].parameters) + 1:
        return None
    if not used_once(program, target) and not small(program, target):
        return None
    return None if reaches(program, target, program.inputs(place)[1:]) else target


def small(program: Program, graph: GraphId) -> bool:
    """Whether `graph` and all nested in it have at most LIMIT applications."""
    if len(program.owned.get(graph, ())) > LIMIT:
        return False
    return sum(len(program.owned.get(g, ())) for g in nest(program, graph)) <= LIMIT


def used_once(program: Program, graph: GraphId) -> bool:
    """Whether `graph` is not the entry and its reference has one use, as the function of a call."""
    reference = program.reference(graph)
    if reference is None or graph == program.entry or program.returns.get(reference):
        return False
    uses = program.users(reference)
    return len(uses) == 1 and next(iter(uses)).index == 0


def reaches(program: Program, target: GraphId, arguments: Iterable[NodeId]) -> bool:
    """Whether the body of `target`, called with `arguments`, can come to call `target` again."""
    seen: set[GraphId] = set()
    looked: set[NodeId] = set()
    graphs: list[GraphId] = list(referred(program, target))
    nodes: list[NodeId] = [*arguments, *_captured(program, target)]
    while graphs or nodes:
        if nodes:
            _carried(program, nodes.pop(), looked, nodes, graphs)
            continue
        graph = graphs.pop()
        if graph == target:
            return True
        if graph not in seen:
            seen.add(graph)
            graphs.extend(referred(program, graph))
            nodes.extend(_captured(program, graph))
    return False


def _captured(program: Program, graph: GraphId) -> list[NodeId]:
    """The nodes of other graphs that applications of `graph` use."""
    return [i for n in applications(program, graph) for i in program.inputs(n) if program.owner(i) not in (graph, None)]


def _carried(program: Program, node: NodeId, looked: set[NodeId], nodes: list[NodeId], graphs: list[GraphId]) -> None:
    """Adds what functions `node` can hold: itself, or through tuples, elements and switches."""
    if node in looked:
        return
    looked.add(node)
    value = program.constant(node)
    if isinstance(value, GraphRef):
        graphs.append(value.graph)
    elif program.callee(node) in CARRIERS:
        nodes.extend(program.inputs(node)[1:])


def inline(program: Program, place: NodeId) -> Program:
    """
    The program in which the call of a graph at `place` is the graph's body, owned by the caller.

    The graph must not be nested around the call, and must take as many arguments as it is given.
    """
    call = program.nodes[place]
    target = called_graph(program, place)
    assert isinstance(call, Apply)
    assert target is not None
    edit = Edit(program)
    parameters = program.graphs[target].parameters
    if used_once(program, target):
        for x, a in zip(parameters, call.arguments, strict=True):
            edit.replace(x, a)
        for node in applications(program, target):
            edit.move(node, call.graph)
        become(edit, place, edit.graphs[target].output)
        edit.remove(call.function)
        edit.remove_graph(target)
        return edit.program
    inside = nest(program, target)
    found = Scopes({}, needed_in(program, inside), {})
    substitution = dict(zip(parameters, call.arguments, strict=True))
    copied = copy_graphs(edit, program, inside, found=found, into={target: call.graph}, substitution=substitution)
    return become(edit, place, copied.nodes[program.graphs[target].output])


RULES = (beta,)

SYSTEM = RewriteSystem(
    name="inline",
    rules=RULES,
    doc="calls of known graphs become their bodies",
    argument=(
        "no graph is inlined into what it can reach, so inlining unfolds the acyclic part of the call graph; "
        "innermost first, each step removes one wanted call and adds none but those of functions among its arguments"
    ),
)
