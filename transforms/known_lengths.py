"""
Loops over tuples and lists of known length, unrolled before a loop around them is differentiated, and methods of known classes.

    iterated(t)   ⟹  t                                   length(t)     ⟹  n
    concat(s, t)  ⟹  (s[0], …, s[m-1], t[0], …, t[n-1])  append(s, x)  ⟹  [s[0], …, s[m-1], x]
    a recursion that has as many turns  ⟹  its turns     (`transforms.partial_eval`)
    switch(c, @f, @g)  ⟹  @f

where inference says that t is a tuple or a list of n elements, and that c holds, in every run. A comprehension over what a loop
carries is a loop in a loop, whose list grows turn by turn, and the adjoint of a loop has its list on a stack, of a length that
its type does not say. Before, the types do say it: `a - r * b for a, b in zip(x, s)` is two subtractions where x is a pair. They
also say which method `r.step(h)` calls; r might have a field of that name, with any function in it, for all that its text says.
What all products call asks whether there is a record to multiply, and what multiplies records calls it for their fields; so where
it chooses another function in other calls, each call has its own copy, or it would be a recursion. A derivative that is not
expanded has no type; so a stub stands for it, which gives what a gradient is with respect to in the place of the gradient, and the
value in the place of a tangent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from semantics.edit import Edit
from semantics.errors import AdjudgeError
from semantics.infer import Inference, Inferrer, entry_types
from semantics.ir import GraphId, GraphRef, NodeId, Program
from semantics.primitives.table import TABLE
from semantics.structured import Label
from semantics.type_language import FunctionType, RecordType, TupleType
from transforms import partial_eval
from transforms.clone import apart
from transforms.failures import drops_failure, keeping
from transforms.grad_state import begin
from transforms.modes import Mode
from transforms.nested_grad import system_of
from transforms.pipeline import Rounds
from transforms.scalarize import element_at, shape_of
from transforms.ssa.exact_passes import EXACT
from transforms.surgery import arguments_of, become
from transforms.system import RewriteSystem, rewrite

ITERATED, LENGTH, CONCAT, APPEND = (TABLE[name] for name in ("iterated", "length", "concat", "append"))
GETITEM, MAKE_TUPLE, MAKE_RECORD = (TABLE[name] for name in ("getitem", "make_tuple", "make_record"))
SWITCH, UNLABELLED = TABLE["switch"], TABLE["unlabelled"]
LONGEST = 16
"""Elements of a tuple or list whose loops are unrolled."""
ROUNDS = 4
"""Loops whose results are gone over by loops, which are unrolled one after the other."""


class Known(NamedTuple):
    """How many elements a value has in every run, and the label of a list; None of a tuple."""

    size: int
    label: Label | None


def unrolled(program: Program, types: Sequence[Any] | None = None) -> Program:
    """The program without loops over what is of known length; itself if nothing is known that it asks, or types cannot be told."""
    for _ in range(ROUNDS):
        try:
            resolved = _resolved(program, known(program, types))
            if resolved is program and (resolved := _apart(program, types)) is program:
                break
            program = UNROLL.run(resolved)
        except AdjudgeError:
            break
    return program


def _apart(program: Program, types: Sequence[Any] | None) -> Program:
    """The program in which a function that chooses by types, and not the same in all its calls, is copied for each of them."""
    stubbed, inference = typed(program, types)
    chosen: dict[NodeId, set[Known | GraphRef | None]] = {}
    for nodes in inference.types.values():
        for node in nodes:
            if stubbed.callee(node) is SWITCH and stubbed.nodes[node] == program.nodes.get(node):
                chosen.setdefault(node, set()).add(_known(nodes[node], _arms(stubbed, node)))
    several = {program.owner(node) for node, found in chosen.items() if len(found) > 1 and None not in found}
    for graph in sorted(g for g in several if g is not None):
        program = apart(program, graph, LONGEST)
    return program


def known(program: Program, types: Sequence[Any] | None = None) -> Mapping[NodeId, Known | GraphRef]:
    """
    The nodes whose values are tuples of one length, at most LONGEST, or lists, by the types of the program, and the switches that
    choose one function.
    """
    stubbed, inference = typed(program, types)
    found: dict[NodeId, Known | GraphRef | None] = {}
    for nodes in inference.types.values():
        for node, type in nodes.items():
            what = _known(type, _arms(stubbed, node))
            found[node] = what if found.get(node, what) == what else None
    return {n: k for n, k in found.items() if k is not None and stubbed.nodes.get(n) == program.nodes.get(n)}


def typed(
    program: Program,
    types: Sequence[Any] | None = None,
    inferrer: type[Inferrer] = Inferrer,
    turns: tuple[int, int] = (LONGEST + 2, LONGEST + 2),
) -> tuple[Program, Inference]:
    """The program with a stub for each derivative that is not expanded, and its types."""
    stubbed = STUBS.run(program)
    return stubbed, inferrer(stubbed, literals=True, turns=turns).run(entry_types(stubbed, types))


def _arms(program: Program, node: NodeId) -> list[Any]:
    """The graphs of which a switch chooses one; none of another node, or where what is chosen has been computed."""
    return [program.constant(n) for n in program.inputs(node)[2:]] if program.callee(node) is SWITCH else []


def _known(type: Any, arms: Sequence[Any]) -> Known | GraphRef | None:
    match type:
        case TupleType(items) if len(items) <= LONGEST:
            return Known(len(items), None)
        case RecordType(Label(kind="list") as label, items) if len(items) <= LONGEST:
            return Known(len(items), label)
        case FunctionType(int() as graph) if GraphRef(graph) in arms:
            return GraphRef(graph)
        case _:
            return None


def _resolved(program: Program, known: Mapping[NodeId, Known | GraphRef]) -> Program:
    """The program in which lengths and choices are constants, and what is made of known parts is made in place."""
    places = {place: _sequences(program, place) for place in sorted(program.nodes)}
    for place, sequences in places.items():
        if sequences and all(n in known for n in sequences):
            edit = Edit(program)
            after = become(edit, place, _resolution(edit, place, [known[n] for n in sequences]))
            program = program if drops_failure(program, after, place) else after
    return program


def _sequences(program: Program, place: NodeId) -> tuple[NodeId, ...]:
    """The arguments whose lengths must be known, or the switch itself; none of an application that is left as it is."""
    callee, arguments = program.callee(place), program.inputs(place)[1:]
    if callee in (ITERATED, LENGTH, APPEND):
        return arguments[:1]
    if callee is SWITCH:
        return (place,)
    return arguments if callee is CONCAT else ()


def _resolution(edit: Edit, place: NodeId, known: Sequence[Any]) -> NodeId:
    """What the application at `place` is, where this is known of its arguments, or of itself."""
    if isinstance(chosen := known[0], GraphRef):
        return edit.reference(chosen.graph)
    program, owner = edit.program, edit.program.owner(place)
    assert owner is not None
    callee, (first, *rest) = program.callee(place), program.inputs(place)[1:]
    if callee is ITERATED:
        return first
    if callee is LENGTH:
        return edit.constant(known[0].size)
    parts = _elements(edit, owner, first, known[0])
    parts += _elements(edit, owner, rest[0], known[1]) if callee is CONCAT else rest
    label = known[0].label
    return edit.call(owner, MAKE_TUPLE, *parts) if label is None else edit.call(owner, MAKE_RECORD, edit.constant(label), *parts)


def _elements(edit: Edit, owner: GraphId, node: NodeId, known: Known) -> list[NodeId]:
    """The elements, each by a `getitem`."""
    return [edit.call(owner, GETITEM, node, edit.constant(index)) for index in range(known.size)]


@rewrite
def element_of_made(program: Program, place: int) -> Program | None:
    """[x₀, …, xₙ₋₁][i]  ⟹  xᵢ, of a list that is made in place"""
    found = arguments_of(program, place, GETITEM)
    items = arguments_of(program, found[0], MAKE_RECORD) if found is not None else None
    shape = shape_of(program, found[0]) if found is not None and items is not None else None
    index = element_at(program, shape, place) if shape is not None else None
    return None if items is None or index is None else become(Edit(program), place, items[1 + index])


def _stub(program: Program, place: NodeId) -> Program:
    """J(@f)  ⟹  @▶f, where ▶f(x…) = (f(x…), ◀f) and ◀f(∇) = ((v…), x…): of the types of the gradients, but for ZEROs"""
    state = begin(program, place)
    original, edit = program.graphs[state.target], Edit(program)
    forward = edit.graph("▶" + original.name, original.location)
    xs = [edit.parameter(forward) for _ in original.parameters]
    backward = edit.graph("◀" + original.name, original.location)
    edit.parameter(backward)
    edit.output(backward, edit.call(backward, MAKE_TUPLE, edit.call(backward, MAKE_TUPLE, *state.found.free[state.target]), *xs))
    value = edit.apply(forward, edit.reference(state.target), *xs)
    edit.output(forward, edit.call(forward, MAKE_TUPLE, value, edit.reference(backward)))
    return become(edit, place, edit.reference(forward))


def _forward_stub(program: Program, place: NodeId) -> Program:
    """jvp(@f)  ⟹  @▷f, where ▷f(x…, δx…) = (v, v) and v = f(x…): of the types of the tangents, but for ZEROs"""
    (f,) = program.inputs(place)[1:]
    original, edit = program.graphs[program.constant(f).graph], Edit(program)
    forward = edit.graph("▷" + original.name, original.location)
    xs = [edit.parameter(forward) for _ in original.parameters]
    for _ in original.parameters:
        edit.parameter(forward)
    value = edit.apply(forward, f, *xs)
    edit.output(forward, edit.call(forward, MAKE_TUPLE, value, edit.call(forward, UNLABELLED, value)))
    return become(edit, place, edit.reference(forward))


STUBS = system_of(Mode("types", "a stub of the types", "", _stub), _forward_stub)
TURNS = keeping(
    RewriteSystem(
        "turns",
        (element_of_made, partial_eval.unfold),
        "loops whose turns are known, and elements of the lists that they make",
        argument="an element is one application less; " + partial_eval.SYSTEM.argument,
    )
)
UNROLL = Rounds("unroll", (*EXACT.systems, TURNS), "recursions whose turns are known; no real is folded")
