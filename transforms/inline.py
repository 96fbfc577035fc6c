"""
Inlining: β for graphs (2018, section 4). A call of a known graph becomes the body of the graph.

A call is *wanted* if its graph is only used there, or has at most LIMIT applications, nested graphs included. A body that is
used once moves, outermost first, so that it moves once. Another is copied when it holds no wanted call itself, innermost first,
so a chain of functions that call one another twice stops growing at the limit. A graph that can reach itself is never inlined
(`transforms.recursion`); what it can reach includes the functions among its arguments, so that `w(w)` with w(f) = f(f), and
recursion through an argument, are recursion here too. A call with the wrong number of arguments is left to fail at run time.

The last use of a graph moves its body; other uses copy it, together with the graphs nested in it. Arguments stand in for
parameters, which is β and its soundness: an argument that the body does not need is no longer evaluated, so a trap may
disappear but a value cannot change.
"""

from __future__ import annotations

from immutables import Map

from semantics.edit import Edit
from semantics.ir import Apply, GraphId, NodeId, Program
from semantics.scope import Scopes
from transforms.clone import copy_graphs
from transforms.recursion import acyclic, reaches, still_acyclic
from transforms.surgery import applications, become, called_graph, needed_in, nest, nest_within
from transforms.system import RewriteSystem, rewrite

LIMIT = 200


@rewrite
def beta(program: Program, place: int) -> Program | None:
    """n = @g(a…), g(x…) = b, g not recursive, and used once or small  ⟹  b[a/x], in place of n"""
    target = wanted(program, place)
    if target is None:
        return None
    owner = program.owner(place)
    assert owner is not None
    if used_once(program, target):
        return None if waits(program, owner) or inside(program, target, owner) else inline(program, place)
    if owner in nest(program, target) or first_wanted(program, target) is not None:
        return None
    return inline(program, place)


def first_wanted(program: Program, graph: GraphId) -> NodeId | None:
    """The first call in `graph`, or in a graph nested in it, that is to be inlined itself. Looked for once per program."""
    known: dict[GraphId, NodeId | None] = program.__dict__.setdefault("_first_wanted", {})
    if graph not in known:
        within = (n for g in nest(program, graph) for n in applications(program, g))
        known[graph] = next((n for n in within if wanted(program, n) is not None), None)
    return known[graph]


def blocker(program: Program, place: int) -> NodeId | None:
    """The call that must be inlined before the one at `place`: the first in the body to copy, or that of the graph around."""
    target = wanted(program, place)
    owner = program.owner(place) if target is not None else None
    if target is None or owner is None:
        return None
    if not used_once(program, target):
        return first_wanted(program, target)
    return only_call(program, owner) if waits(program, owner) else None


def wanted(program: Program, place: int) -> GraphId | None:
    """The graph called at `place`, if the call is to be inlined; else None."""
    target = called_graph(program, place)
    if target is None or len(program.inputs(place)) != len(program.graphs[target].parameters) + 1:
        return None
    if not used_once(program, target) and not small(program, target):
        return None
    return None if reaches(program, target, program.inputs(place)[1:]) else target


def waits(program: Program, graph: GraphId) -> bool:
    """Whether the body of `graph` is itself about to move to its only call: what it calls moves later, so each moves once."""
    if not used_once(program, graph):
        return False
    call = only_call(program, graph)
    owner = program.owner(call)
    return owner is not None and wanted(program, call) is not None and not inside(program, graph, owner)


def only_call(program: Program, graph: GraphId) -> NodeId:
    """The call of a graph that is used once."""
    reference = program.reference(graph)
    assert reference is not None
    return next(iter(program.users(reference))).user


def small(program: Program, graph: GraphId) -> bool:
    """Whether `graph` and all nested in it have at most LIMIT applications. Counted once per program."""
    known: dict[GraphId, bool] = program.__dict__.setdefault("_small", {})
    if graph not in known:
        known[graph] = len(program.owned.get(graph, ())) <= LIMIT and nest_within(program, graph, LIMIT) is not None
    return known[graph]


def inside(program: Program, outer: GraphId, graph: GraphId) -> bool:
    """Whether `graph` is `outer` or nested in it. The entry is nested in nothing."""
    if graph in (outer, program.entry):
        return graph == outer
    return graph in nest(program, outer)


def used_once(program: Program, graph: GraphId) -> bool:
    """Whether `graph` is not the entry and its reference has one use, as the function of a call."""
    reference = program.reference(graph)
    if reference is None or graph == program.entry or program.returns.get(reference):
        return False
    uses = program.users(reference)
    return len(uses) == 1 and next(iter(uses)).index == 0


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
        kept = still_acyclic(program, call.graph, target)
        for x, a in zip(parameters, call.arguments, strict=True):
            edit.replace(x, a)
        for node in applications(program, target):
            edit.move(node, call.graph)
        become(edit, place, edit.graphs[target].output)
        edit.remove(call.function)
        edit.remove_graph(target)
        return _knowing(edit.program, kept)
    copies = nest(program, target)
    found = Scopes({}, needed_in(program, copies), {})
    substitution = dict(zip(parameters, call.arguments, strict=True))
    copied = copy_graphs(edit, program, copies, found=found, into={target: call.graph}, substitution=substitution)
    return _knowing(become(edit, place, copied.nodes[program.graphs[target].output]), acyclic(program))


def _knowing(program: Program, known: Map[GraphId, None]) -> Program:
    """The program, with what is known of its cycles."""
    program.__dict__["_acyclic"] = known
    return program


RULES = (beta,)

SYSTEM = RewriteSystem(
    name="inline",
    rules=RULES,
    doc="calls of known graphs become their bodies",
    argument=(
        "no graph is inlined into what it can reach, so inlining unfolds the acyclic part of the call graph; a move removes a "
        "graph; a copy, innermost first, removes one wanted call and adds none but those of functions among its arguments"
    ),
    blocker=blocker,
)
