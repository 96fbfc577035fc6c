"""
Partial evaluation (MimIrADe, section 4.3): a call whose known arguments decide what it does becomes what it does.

    unfold      a recursive graph, called from outside with arguments that decide all of its turns, is unfolded, turn by turn
    REDUCTIONS  what is known is used: β, constants, elements of tuples, dead code near by

An unfolded body is reduced in the same step, so that of a conditional that is decided only the branch taken is there to unfold
further: the other one may hold calls that go on for ever. Whether an argument that the body does not need may fail is looked at
before that, while the argument is there.

Each call is judged on its own. It is unfolded if the run is foreseen (`transforms.foresight`) to end within TURNS, and to copy no
more than GROWTH applications; otherwise it stays a call. So a loop with a known trip count is unrolled, one whose condition waits
for an unknown value is not, nor is one that counts too far: there is no partial unrolling that the next run would carry on. Calls
of graphs that are not recursive are β's; copies for known arguments that decide nothing are copy propagation's.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from semantics.edit import Edit
from semantics.ir import Apply, Constant, GraphId, NodeId, Program
from semantics.primitives.table import TABLE
from semantics.scope import Scopes
from transforms import dce, fold, inline, tuples
from transforms.clone import copy_graphs
from transforms.failures import drops_failure, keeping
from transforms.foresight import foreseen
from transforms.places import neighbours
from transforms.recursion import acyclic, reaches
from transforms.surgery import become, called_graph, discard, needed_in, nest, nest_within
from transforms.system import Rewrite, RewriteSystem, rewrite

MAKE_TUPLE = TABLE["make_tuple"]
TURNS = 64
GROWTH = 4000


@rewrite
def unfold(program: Program, place: int) -> Program | None:
    """n = @g(a…), g(x…) = b recursive, all turns decided by what is known of a…  ⟹  b[a/x], reduced, in place of n"""
    target = unfoldable(program, place)
    if target is None:
        return None
    call = program.nodes[place]
    assert isinstance(call, Apply)
    edit, copies = Edit(program), nest(program, target)
    itself = edit.reference(target)
    substitution = {itself: itself, **dict(zip(program.graphs[target].parameters, call.arguments, strict=True))}
    found = Scopes({}, needed_in(program, copies), {})
    copied = copy_graphs(edit, program, copies, found=found, into={target: call.graph}, substitution=substitution)
    after = become(edit, place, copied.nodes[program.graphs[target].output])
    if drops_failure(program, after, place):
        return None
    after.__dict__["_acyclic"] = acyclic(program)  # a copy leaves the other graphs as they are
    for step in REDUCE.steps_near(after, neighbours(after)):
        after = step.after
    return after


def unfoldable(program: Program, place: NodeId) -> GraphId | None:
    """The recursive graph that is called at `place`, if the call is to be unfolded; else None."""
    target = called_graph(program, place)
    arguments = program.inputs(place)[1:] if target is not None else ()
    if target is None or len(arguments) != len(program.graphs[target].parameters):
        return None
    if not any(isinstance(program.nodes[n], Constant) or program.callee(n) is MAKE_TUPLE for n in arguments):
        return None
    if not reaches(program, target, arguments):
        return None
    size = nest_within(program, target, GROWTH)
    owner = program.owner(place)
    if size is None or owner is None or owner in size or not dce.alive(program, owner):
        return None
    turns = foreseen(program, target, arguments, TURNS)
    copied = sum(len(program.owned.get(g, ())) for g in size)
    return target if turns is not None and turns * copied <= GROWTH else None


def blocker(program: Program, place: int) -> NodeId | None:
    """What β waits for, or an element of a tuple."""
    found = tuples.first_element(program, place) if place in program.nodes else None
    return found if found is not None else inline.blocker(program, place)


@rewrite
def unreferenced(program: Program, place: int) -> Program | None:
    """@g, to which nothing refers  ⟹  nothing, nor what is nested in it"""
    if place not in program.graphs or place == program.entry:
        return None
    reference = program.reference(place)
    if reference is not None and (program.users(reference) or program.returns.get(reference)):
        return None
    dead = dce.leading_to(program, place)
    if program.entry in dead:
        return None
    edit = Edit(program)
    discard(edit, program, (), dead)
    return edit.program


def knowing(rule: Rewrite) -> Rewrite:
    """The rule, passing on which graphs do not lead to themselves: true of one that makes no graph lead to more than before."""
    return replace(rule, function=partial(_knowing, rule))


def _knowing(rule: Rewrite, program: Program, place: int) -> Program | None:
    after = rule.function(program, place)
    if after is not None and after is not program and (known := program.__dict__.get("_acyclic")) is not None:
        after.__dict__.setdefault("_acyclic", known)
    return after


LOCAL = (dce.dead_node, dce.unused_parameter)
REDUCTIONS = (*(knowing(rule) for rule in (*fold.RULES, *tuples.RULES, unreferenced, *LOCAL)), *inline.RULES)
ENDS = "its rules are those of passes that end, and none of them makes a call of a recursive graph"
REDUCE = keeping(RewriteSystem("reduce", REDUCTIONS, "what is known is used", argument=ENDS, blocker=blocker))
RULES = (*REDUCTIONS, dce.dead_graphs, unfold)

SYSTEM = RewriteSystem(
    name="partial_eval",
    rules=RULES,
    doc="calls whose known arguments decide what they do become what they do",
    argument=(
        "a call is unfolded only if a run that knows what the program knows of its arguments ends within TURNS; of the branches "
        "that this run does not take none is left, so the calls that are left have fewer turns to go. Of the reductions, " + ENDS
    ),
    blocker=blocker,
)
