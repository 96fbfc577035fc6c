"""
Tail-call elimination (MimIrADe, section 4.3): recursion becomes one loop, which passes on only what changes.

MimIR turns tail calls into jumps so that what a loop carries unchanged, its return continuation above all, is known inside the
loop. The machine here runs every tail call in constant space already (`semantics.machine`, tail_call); what is left of the
transform is what it makes known:

    static_argument  what every turn passes on unchanged is bound once, outside the loop; where the loop is then inlined, a
                     function among it is known
    sole_call        a function with one call becomes part of its caller: of two functions that call each other, one is left
    leaf_call        a function that calls nothing, as the ▶switch of J, is unfolded even if its arguments lead back to the call

The last two are β where `inline` may refuse: it unfolds nothing that can come to call itself. These add no call, so they end.
Pending operations are not turned into accumulators: addition is associative on integers only, and a call does not say that its
operands are integers.

Arguments are evaluated before the call, captured values when the closure is made, and both stand at the same place. So what
becomes captured is still evaluated where it was.
"""

from __future__ import annotations

from semantics.edit import Edit
from semantics.ir import Apply, GraphId, NodeId, Parameter, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import MACROS
from transforms.inline import inline, inside, only_call, small, used_once
from transforms.recursion import acyclic, held
from transforms.surgery import applications, called_graph, nest
from transforms.system import RewriteSystem, rewrite


@rewrite
def static_argument(program: Program, place: int) -> Program | None:
    """@g(x…, k…) = b, where all calls of g in b pass k…  ⟹  @g(x…, k…) = @loop(x…), @loop(x…) = b with @loop(a…) for @g(a…, k…)"""
    calls = turns(program, place) if place in program.graphs else ()
    if not calls:
        return None
    graph = program.graphs[place]
    changing = changed(program, place, calls)
    if len(changing) == len(graph.parameters):
        return None
    edit = Edit(program)
    loop = edit.graph(graph.name, graph.location)
    carried = [graph.parameters[i] for i in changing]
    for x in carried:
        old = program.nodes[x]
        assert isinstance(old, Parameter)
        edit.replace(x, edit.parameter(loop, old.name, location=old.location))
    for node in applications(program, place):
        edit.move(node, loop)
    for call in calls:
        found = edit.nodes[call]
        assert isinstance(found, Apply)
        edit.set_inputs(call, (edit.reference(loop), *(found.arguments[i] for i in changing)))
    edit.output(loop, edit.graphs[place].output)
    edit.output(place, edit.apply(place, edit.reference(loop), *carried, location=graph.location))
    after = edit.program
    after.__dict__["_acyclic"] = acyclic(program)  # the loop leads to what g led to, and to g no more
    return after


def turns(program: Program, graph: GraphId) -> tuple[NodeId, ...]:
    """The calls of `graph` that stand in it or in a graph nested in it; none unless one of them passes on a parameter."""
    reference = program.reference(graph)
    parameters = program.graphs[graph].parameters
    if reference is None or not parameters:
        return ()
    calls = [use.user for use in program.users(reference) if use.index == 0]
    calls = [call for call in calls if len(program.inputs(call)) == len(parameters) + 1]
    if not any(a == x for call in calls for a, x in zip(program.inputs(call)[1:], parameters, strict=True)):
        return ()
    within = set(nest(program, graph))
    return tuple(sorted(call for call in calls if program.owner(call) in within))


def changed(program: Program, graph: GraphId, turns: tuple[NodeId, ...]) -> list[int]:
    """The numbers of the parameters that some of these turns of `graph` do not pass on as they are."""
    parameters = enumerate(program.graphs[graph].parameters)
    return [i for i, x in parameters if any(program.inputs(turn)[i + 1] != x for turn in turns)]


@rewrite
def sole_call(program: Program, place: int) -> Program | None:
    """n = @h(a…), h(x…) = b, nothing else uses h, and n is not in h or nested in it  ⟹  b[a/x], in place of n"""
    return inline(program, place) if _sole(program, place) and blocker(program, place) is None else None


def blocker(program: Program, place: int) -> NodeId | None:
    """The call that goes before the sole call at `place`: that of the graph around it, so that every body moves once."""
    owner = program.owner(place) if _sole(program, place) else None
    if owner is None or not used_once(program, owner):
        return None
    around = only_call(program, owner)
    return around if _sole(program, around) else None


def _sole(program: Program, place: int) -> bool:
    """Whether the only use of a graph stands at `place`, a call from outside."""
    target = called_graph(program, place)
    return target is not None and used_once(program, target) and _fits(program, place, target)


@rewrite
def leaf_call(program: Program, place: int) -> Program | None:
    """n = @h(a…), a function among a…, h(x…) = b, b small and without a call  ⟹  b[a/x], in place of n"""
    target = called_graph(program, place)
    if target is None or used_once(program, target) or not _fits(program, place, target) or not calls_nothing(program, target):
        return None
    functions = (g for g in held(program, program.inputs(place)[1:]) if g is not None)
    return inline(program, place) if next(functions, None) is not None else None


def calls_nothing(program: Program, graph: GraphId) -> bool:
    """Whether `graph` is small, and applies only primitives that ask for no derivative, as does all that is nested in it."""
    if not small(program, graph):
        return False
    callees = (program.callee(node) for g in nest(program, graph) for node in applications(program, g))
    return all(isinstance(callee, Primitive) and callee not in MACROS for callee in callees)


def _fits(program: Program, place: int, target: GraphId) -> bool:
    """Whether the call at `place` gives `target` as many arguments as it takes, from outside."""
    owner = program.owner(place)
    given, taken = len(program.inputs(place)) - 1, len(program.graphs[target].parameters)
    return given == taken and owner is not None and target != program.entry and not inside(program, target, owner)


RULES = (static_argument, sole_call, leaf_call)

SYSTEM = RewriteSystem(
    name="tail_calls",
    rules=RULES,
    doc="recursion becomes a loop that passes on only what changes",
    argument=(
        "sole_call and leaf_call remove a call and add none; static_argument removes from the turns of a graph every argument that "
        "they pass on, and adds one call, from outside the loop, that is none of its turns"
    ),
    blocker=blocker,
)
