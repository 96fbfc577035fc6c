"""
Conditionals: what follows a branch moves into it, until each branch is straight-line code.

A conditional is t = switch(c, @A, @B)(): two thunks, one of which is called. Inside A the condition is known. When t holds a
function (the backpropagator that the branch chose), nobody after t knows which; `sink` therefore applies the rest of the
graph inside both branches, where it does know, and inlining leaves no closure. That copies the rest: at most BUDGET
applications of it, and the last conditional first, so that copies are not copied again beyond the budget.
"""

from __future__ import annotations

from typing import NamedTuple

from semantics.edit import Edit
from semantics.ir import Apply, GraphId, GraphRef, NodeId, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import MACROS, TABLE
from semantics.scope import Scopes
from transforms.clone import copy_graphs
from transforms.places import MANY
from transforms.surgery import application, applications, arguments_of, become, borrowers, discard, index_of, needed_in
from transforms.system import RewriteSystem, rewrite, rewrite_of
from transforms.tuples import items_of

BUDGET = 400
LEVELS = 64
SWITCH, NOT, GETITEM = TABLE["switch"], TABLE["not_"], TABLE["getitem"]


class Conditional(NamedTuple):
    """t = switch(c, @A, @B)() with thunks that nothing else uses."""

    call: NodeId
    switch: NodeId
    consequent: GraphId
    alternative: GraphId


def conditional(program: Program, node: NodeId) -> Conditional | None:
    """The conditional that `node` calls, if its switch and both thunks are used only there; else None."""
    call = application(program, node)
    chosen = arguments_of(program, call.function, SWITCH) if call is not None and len(call.inputs) == 1 else None
    if call is None or chosen is None or not _used_once(program, call.function):
        return None
    a, b = program.constant(chosen[1]), program.constant(chosen[2])
    if not isinstance(a, GraphRef) or not isinstance(b, GraphRef) or a == b or program.entry in (a.graph, b.graph):
        return None
    if not (_used_once(program, chosen[1]) and _used_once(program, chosen[2])):
        return None
    if any(program.graphs[g.graph].parameters for g in (a, b)):
        return None
    return Conditional(node, call.function, a.graph, b.graph)


def _used_once(program: Program, node: NodeId) -> bool:
    return len(program.users(node)) == 1 and not program.returns.get(node)


@rewrite_of("switch")
def negated(program: Program, place: int) -> Program | None:
    """switch(not c, a, b)  ⟹  switch(c, b, a)"""
    found = arguments_of(program, place, SWITCH)
    inner = arguments_of(program, found[0], NOT) if found is not None else None
    if found is None or inner is None:
        return None
    edit = Edit(program)
    edit.set_inputs(place, (program.inputs(place)[0], inner[0], found[2], found[1]))
    return edit.program


@rewrite_of("getitem")
def element_of_choice(program: Program, place: int) -> Program | None:
    """switch(c, (x…), (y…))[i]  ⟹  switch(c, xᵢ, yᵢ), for tuples made in place and a constant i that both have"""
    found = arguments_of(program, place, GETITEM)
    chosen = arguments_of(program, found[0], SWITCH) if found is not None else None
    index = index_of(program, found[1]) if found is not None else None
    if chosen is None or index is None:
        return None
    parts = [items_of(program, t) for t in chosen[1:]]
    if any(items is None or not -len(items) <= index < len(items) for items in parts):
        return None
    edit, old = Edit(program), program.nodes[place]
    assert isinstance(old, Apply)
    elements = [items[index] for items in parts if items is not None]
    return become(edit, place, edit.call(old.graph, SWITCH, chosen[0], *elements, name=old.name, location=old.location))


@rewrite_of("getitem")
def element_of_branch(program: Program, place: int) -> Program | None:
    """t = switch(c, @A, @B)(), of which only t[i] is used  ⟹  A and B return that element"""
    found = arguments_of(program, place, GETITEM)
    branch = conditional(program, found[0]) if found is not None else None
    if found is None or branch is None or index_of(program, found[1]) is None or not _used_once(program, branch.call):
        return None
    edit = Edit(program)
    for graph in (branch.consequent, branch.alternative):
        edit.output(graph, edit.call(graph, GETITEM, program.graphs[graph].output, found[1]))
    return become(edit, place, branch.call)


@rewrite
def known_condition(program: Program, place: int) -> Program | None:
    """in A, of switch(c, @A, @B): f(…, c, …)  ⟹  f(…, True, …); in B: f(…, False, …)"""
    found = application(program, place)
    if found is None or all(program.owner(n) in (None, found.graph) for n in found.inputs):
        return None
    known = _known(program, found.graph)
    for index, node in enumerate(found.inputs):
        if node in known and program.owner(node) != found.graph:
            edit = Edit(program)
            edit.set_inputs(place, (*found.inputs[:index], edit.constant(known[node]), *found.inputs[index + 1 :]))
            return edit.program
    return None


def _known(program: Program, graph: GraphId) -> dict[NodeId, bool]:
    """
    The conditions that are known whenever `graph` runs: it, or a graph around it, is one branch of switches on that condition
    alone. A graph is looked through if its reference is used in one other graph only, at most MANY times; LEVELS graphs at most.
    """
    known: dict[NodeId, bool] = {}
    passed: set[GraphId] = set()
    for _ in range(LEVELS):
        reference = program.reference(graph)
        if graph == program.entry or reference is None or program.returns.get(reference) or len(program.users(reference)) > MANY:
            break
        uses = list(program.users(reference))
        passed.add(graph)
        switches = [arguments_of(program, use.user, SWITCH) for use in uses]
        conditions = {found[0] if found is not None else None for found in switches}
        indices = {use.index for use in uses}
        condition = conditions.pop() if indices in ({2}, {3}) and len(conditions) == 1 else None
        if condition is not None and program.owner(condition) not in (None, *passed):
            known.setdefault(condition, indices == {2})
        around = {owner for use in uses if (owner := program.owner(use.user)) is not None and owner != graph}
        if len(around) != 1:
            break
        graph = around.pop()
    return known


@rewrite
def eta(program: Program, place: int) -> Program | None:
    """@g(x…) = h(x…), h another known function that takes as many, and needs nothing of @g  ⟹  h, wherever @g is used"""
    graph = program.graphs.get(place)
    output = application(program, graph.output) if graph is not None else None
    reference = program.reference(place) if graph is not None else None
    if graph is None or output is None or reference is None or not (program.users(reference) or program.returns.get(reference)):
        return None
    if output.graph != place or output.arguments != graph.parameters or not graph.parameters:
        return None
    if any(True for _ in borrowers(program, place)):
        return None  # a graph nested in @g, so @h too, as nothing else leads there
    match program.constant(output.function):
        case GraphRef(other) if other != place and len(program.graphs[other].parameters) == len(graph.parameters):
            pass
        case Primitive() as p if p not in MACROS and "*" not in p.parameters and len(p.signature) == len(graph.parameters):
            pass
        case _:
            return None
    edit = Edit(program)
    edit.replace(reference, output.function)
    return edit.program


class Rest(NamedTuple):
    """What depends on a conditional: `nodes` of its own graph, and `graphs` nested in that."""

    nodes: set[NodeId]
    graphs: dict[GraphId, None]


@rewrite
def sink(program: Program, place: int) -> Program | None:
    """
    in g: t = switch(c, @A, @B)(), return r(t), where r calls a function that t holds
    ⟹  in g: return switch(c, @A', @B')(), with A'() = r(A()) and B'() = r(B())
    """
    branch = conditional(program, place) if place in program.nodes else None
    call = application(program, place)
    if branch is None or call is None or not _holds_called_function(program, place):
        return None
    rest = _rest(program, place, call.graph)
    if rest is None or {branch.consequent, branch.alternative, call.graph} & rest.graphs.keys():
        return None
    within = [*rest.nodes, *(n for g in rest.graphs for n in applications(program, g))]
    if any(n != place and conditional(program, n) is not None and _holds_called_function(program, n) for n in within):
        return None
    return _sunk(program, branch, call, rest)


def _sunk(program: Program, branch: Conditional, call: Apply, rest: Rest) -> Program:
    """The program after `sink`: the rest is copied into two new thunks, and the original is gone."""
    edit, graph = Edit(program), call.graph
    needed = needed_in(program, (graph, *rest.graphs))
    needed[graph] &= rest.nodes - {branch.call}
    kept = {own: own} if (own := program.reference(graph)) is not None else {}
    thunks: list[NodeId] = []
    for target in (branch.consequent, branch.alternative):
        thunk = edit.graph(program.graphs[target].name, program.graphs[target].location)
        value = edit.apply(thunk, edit.reference(target), name=call.name, location=call.location)
        substitution = {**kept, branch.call: value}
        copied = copy_graphs(edit, program, needed, found=Scopes({}, needed, {}), into={graph: thunk}, substitution=substitution)
        edit.output(thunk, copied.nodes[program.graphs[graph].output])
        thunks.append(edit.reference(thunk))
    condition = program.inputs(branch.switch)[1]
    chosen = edit.call(graph, SWITCH, condition, *thunks, location=call.location)
    edit.output(graph, edit.apply(graph, chosen, location=call.location))
    discard(edit, program, (branch.switch, *rest.nodes), rest.graphs)
    return edit.program


def _holds_called_function(program: Program, node: NodeId) -> bool:
    """Whether `node`, or an element of it, is called somewhere."""
    for use in program.users(node):
        if use.index == 0:
            return True
        if use.index == 1 and program.callee(use.user) is GETITEM and any(u.index == 0 for u in program.users(use.user)):
            return True
    return False


def _rest(program: Program, start: NodeId, graph: GraphId) -> Rest | None:
    """
    All that is computed from `start`. None if that is more than BUDGET, if the output is not computed from it or is `start`
    itself, or if it reaches the entry, as only ill-formed dead code can.
    """
    rest = Rest(set(), {})
    nodes, graphs = [start], list[GraphId]()
    size = 0
    while nodes or graphs:
        if nodes:
            node = nodes.pop()
            owner = program.owner(node)
            assert owner is not None
            if owner != graph:
                graphs.append(owner)
            elif node not in rest.nodes:
                rest.nodes.add(node)
                size += 1
                nodes.extend(use.user for use in program.users(node))
                graphs.extend(g for g in program.returns.get(node, ()) if g != graph)
        else:
            inner = graphs.pop()
            if inner == program.entry:
                return None
            if inner not in rest.graphs:
                rest.graphs[inner] = None
                size += len(program.owned.get(inner, ()))
                graphs.extend(g for g in borrowers(program, inner) if g != graph)
                if (reference := program.reference(inner)) is not None:
                    nodes.extend(use.user for use in program.users(reference))
                    if graph in program.returns.get(reference, ()):
                        return None
                    graphs.extend(program.returns.get(reference, ()))
        if size > BUDGET:
            return None
    output = program.graphs[graph].output
    return rest if output in rest.nodes and output != start else None


RULES = (negated, element_of_choice, element_of_branch, known_condition, eta, sink)

SYSTEM = RewriteSystem(
    name="branches",
    rules=RULES,
    doc="what follows a branch moves into it",
    argument=(
        "negated removes a use of not, eta a use of the outer function; elements move into branches, which are nested finitely; "
        "a known condition is one open input less; sink makes a conditional the last of its graph and copies none of those"
    ),
)
