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
from transforms.surgery import applications, become, called_graph, needed_in, nest
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
    """
    Whether the body of `target`, called with `arguments`, can come to call `target` again.

    One graph leads to another by referring to it, or by using a node that holds it: the node's owner counts as referring to
    what the node holds. The search goes down from `target` and up from it in turn, and the side that is exhausted first answers.
    """
    passed = held(program, arguments)
    down, up = {target: None}, {target: None}
    below = [*passed, *_leads_to(program, target)]
    if not below:
        return False
    above = list(_led_from(program, target))
    while below and above:
        graph = below.pop()
        if graph == target:
            return True
        if graph not in down:
            down[graph] = None
            below.extend(_leads_to(program, graph))
        graph = above.pop()
        if graph == target:
            return True
        if graph not in up:
            up[graph] = None
            above.extend(_led_from(program, graph))
    return bool(below) and bool(up.keys() & passed)


def held(program: Program, nodes: Iterable[NodeId]) -> set[GraphId]:
    """The graphs that `nodes` can hold as values: by reference, or through tuples, elements and switches."""
    todo, looked, graphs = list(nodes), set[NodeId](), set[GraphId]()
    while todo:
        node = todo.pop()
        if node not in looked:
            looked.add(node)
            value = program.constant(node)
            if isinstance(value, GraphRef):
                graphs.add(value.graph)
            elif program.callee(node) in CARRIERS:
                todo.extend(program.inputs(node)[1:])
    return graphs


def _leads_to(program: Program, graph: GraphId) -> set[GraphId]:
    """The graphs that `graph` refers to, or that a captured node of it holds."""
    inputs = {i for n in applications(program, graph) for i in program.inputs(n)} | {program.graphs[graph].output}
    return held(program, (i for i in inputs if program.owner(i) != graph))


def _led_from(program: Program, graph: GraphId) -> set[GraphId]:
    """The graphs that refer to `graph`, or use a node that holds it."""
    reference = program.reference(graph)
    todo, looked = ([] if reference is None else [reference]), set[NodeId]()
    found: set[GraphId] = set()
    while todo:
        node = todo.pop()
        found.update(program.returns.get(node, ()))
        for use in program.users(node):
            owner = program.owner(use.user)
            if owner is not None:
                found.add(owner)
            if use.user not in looked and use.index > 0 and program.callee(use.user) in CARRIERS:
                looked.add(use.user)
                todo.append(use.user)
    return found


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
