"""
Affine loops in normal form: a loop that takes all it needs, does nothing but arithmetic, and gives back its parameters.

    capture     the body and what follows see the parameters of the loop, instead of taking them
    pass_in     what the turns use from outside becomes a parameter, passed on as it is
    give_back   the loop gives back the tuple of its parameters, and what followed it is applied to them

Then a loop is a function of first order, and the call of one is like the application of a primitive: also in the body of another,
so that nested loops come to their normal form from the inside out. `obstacle` says why a loop is left as it is.
"""

from __future__ import annotations

from semantics.edit import Edit
from semantics.ir import Apply, Constant, GraphId, GraphRef, NodeId, Parameter, Program
from semantics.linear import unpacked
from semantics.primitives.row import Primitive
from semantics.primitives.table import MACROS, TABLE
from semantics.type_language import INTEGER
from transforms.affine.loop import MAKE_TUPLE, SWITCH, For, judge
from transforms.inline import used_once
from transforms.surgery import applications, become, called_graph, only_called
from transforms.system import RewriteSystem, rewrite

GETITEM = TABLE["getitem"]
NOT_ARITHMETIC = frozenset({*MACROS, TABLE["J"]})
WHOLE = (TABLE["range_length"], TABLE["length"])
CLOSED = (TABLE["add"], TABLE["sub"], TABLE["mul"], TABLE["neg"])


def obstacle(program: Program, graph: GraphId) -> str:
    """Why the gradient of the loop with this header has no cached version; empty if it has one."""
    found = judge(program, graph)
    return found if isinstance(found, str) else _beyond_arithmetic(program, found)


def _beyond_arithmetic(program: Program, loop: For) -> str:
    """What in the body, or in that of a loop in normal form that it calls, is neither such a call nor arithmetic on data."""
    todo, seen = [loop], {loop.header}
    for call in loop.calls:
        start = program.inputs(call)[1 + loop.counter]
        if not is_whole(program, start):
            return (
                f"its counter starts at {program.describe_name(start)}, which may be a real: through a real a derivative can flow"
            )
    while todo:
        one = todo.pop()
        for node in applications(program, one.body):
            if any(isinstance(program.constant(n), (GraphRef, Primitive)) for n in program.inputs(node)[1:]):
                return f"its body handles a function as a value: {program.describe(node)}"
            callee = program.callee(node)
            inner = judge(program, callee.graph) if isinstance(callee, GraphRef) and node != one.again else None
            if isinstance(inner, For) and _is_shaped(program, inner):
                todo += [inner] if inner.header not in seen else []
                seen.add(inner.header)
            elif node != one.again and (not isinstance(callee, Primitive) or callee in NOT_ARITHMETIC):
                return f"its body calls a function: {program.describe(node)}"
    return ""


def is_whole(program: Program, node: NodeId) -> bool:
    """Whether a value is an integer, as far as constants, declared parameters, lengths, and their sums and products say."""
    todo, seen = [node], {node}
    while todo:
        top = todo.pop()
        match program.nodes[top]:
            case Constant(value) if type(value) is int:
                sources: tuple[NodeId, ...] = ()
            case Parameter(graph, _, declared) if graph == program.entry:
                if declared != INTEGER:
                    return False
                sources = ()
            case Parameter(graph):
                if (uses := only_called(program, graph)) is None:
                    return False
                position = program.graphs[graph].parameters.index(top) + 1
                sources = tuple(program.inputs(use.user)[position] for use in uses)
            case Apply(_, inputs) if program.constant(inputs[0]) in WHOLE:
                sources = ()
            case Apply() if (place := projection(program, top)) is not None and program.callee(place[0]) is MAKE_TUPLE:
                sources = (program.inputs(place[0])[1 + place[1]],)
            case Apply(_, inputs) if program.constant(inputs[0]) in CLOSED:
                sources = inputs[1:]
            case _:
                return False
        todo += [n for n in sources if n not in seen]
        seen.update(sources)
    return True


def projection(program: Program, node: NodeId) -> tuple[NodeId, int] | None:
    """The application that `node` takes an element of by an index written out, and which element; None for anything else."""
    if program.callee(node) is not GETITEM or len(program.inputs(node)) != 3:
        return None
    made, k = unpacked(program, program.inputs(node)[1]), program.constant(program.inputs(node)[2])
    return (made, k) if type(k) is int and 0 <= k < len(program.inputs(made)) - 1 else None


def loop_at(program: Program, place: int) -> For | None:
    """The loop whose header is at `place`, if it has a cached version."""
    found = judge(program, place) if place in program.graphs else None
    return found if isinstance(found, For) and not _beyond_arithmetic(program, found) else None


def is_normal(program: Program, graph: GraphId) -> bool:
    """Whether `graph` is the header of a loop in normal form."""
    loop = loop_at(program, graph)
    return loop is not None and _is_shaped(program, loop)


def _is_shaped(program: Program, loop: For) -> bool:
    """Whether a loop takes all that it needs, and gives back its parameters."""
    return not _from_outside(program, loop) and gives_back(program, loop)


def gives_back(program: Program, loop: For) -> bool:
    """Whether all that follows the loop is to return its parameters."""
    output = program.graphs[loop.after].output
    return program.callee(output) is MAKE_TUPLE and program.inputs(output)[1:] == program.graphs[loop.header].parameters


def _from_outside(program: Program, loop: For) -> tuple[NodeId, ...]:
    """What the header and the body use of other graphs, in order."""
    ours = (loop.header, loop.body)
    used = {n for graph in ours for node in applications(program, graph) for n in program.inputs(node)}
    return tuple(sorted(n for n in used if not isinstance(program.nodes[n], Constant) and program.owner(n) not in ours))


@rewrite
def capture(program: Program, place: int) -> Program | None:
    """@h ends with switch(c, @body, @after)(e…), and @body(x…) by calling @h  ⟹  switch(c, @body, @after)(), e… for x… in both"""
    output = program.graphs[place].output if place in program.graphs else -1
    chosen = program.inputs(output) if place in program.graphs else ()
    if len(chosen) < 2 or program.owner(output) != place or program.callee(chosen[0]) is not SWITCH:
        return None
    blocks = [v.graph for n in program.inputs(chosen[0])[2:] if isinstance(v := program.constant(n), GraphRef)]
    alone = [b for b in blocks if len(program.users(program.interned[GraphRef(b)])) == 1]
    if len(alone) != 2 or program.callee(program.graphs[blocks[0]].output) != GraphRef(place):
        return None
    if any(len(program.graphs[b].parameters) != len(chosen) - 1 for b in blocks):
        return None
    edit = Edit(program)
    for block in blocks:
        for x, e in zip(program.graphs[block].parameters, chosen[1:], strict=True):
            edit.replace(x, e)
        edit.set_parameters(block, ())
    edit.set_inputs(output, chosen[:1])
    return edit.program


@rewrite
def pass_in(program: Program, place: int) -> Program | None:
    """@h(p…), a loop whose turns use v… from outside  ⟹  @h(p…, v…): every call passes v…, the loop passes them on as they are"""
    loop = loop_at(program, place)
    outside = _from_outside(program, loop) if loop is not None else ()
    if loop is None or not outside:
        return None
    edit, stand_in = Edit(program), {}
    for call in loop.calls:
        edit.set_inputs(call, (*program.inputs(call), *outside))
    for node in outside:
        old = program.nodes[node]
        stand_in[node] = edit.parameter(loop.header, getattr(old, "name", ""), None, getattr(old, "location", None))
    for graph in (loop.header, loop.body):
        for node in applications(program, graph):
            edit.set_inputs(node, tuple(stand_in.get(n, n) for n in program.inputs(node)))
    edit.set_inputs(loop.again, (*edit.program.inputs(loop.again), *stand_in.values()))
    return edit.program


@rewrite
def give_back(program: Program, place: int) -> Program | None:
    """n = @h(e…), and @after follows  ⟹  t = @h(e…), @h gives back its parameters, and n = @after(t[0], t[1], …)"""
    loop = loop_at(program, place)
    if loop is None or _from_outside(program, loop) or gives_back(program, loop):
        return None
    edit, followed = Edit(program), program.graphs[loop.after]
    parameters = program.graphs[loop.header].parameters
    left = edit.graph(followed.name, followed.location)
    edit.output(left, edit.call(left, MAKE_TUPLE, *parameters))
    thunk = edit.reference(loop.after)
    (choice,) = program.users(thunk)
    edit.set_inputs(choice.user, tuple(edit.reference(left) if n == thunk else n for n in program.inputs(choice.user)))
    wanted = _take_parameters(edit, loop, left)
    for call in loop.calls:
        found = program.apply(call)
        assert found is not None
        whole = edit.apply(found.graph, *found.inputs, location=found.location)
        parts = [edit.call(found.graph, GETITEM, whole, edit.constant(k)) for k in wanted]
        following = edit.apply(found.graph, thunk, *parts, name=found.name, location=found.location)
        become(edit, call, following)
    after = edit.program
    return _moved(after, following) if used_once(after, loop.after) else after


def _moved(program: Program, call: NodeId) -> Program:
    """The program in which the body of a graph stands in place of its only call."""
    edit, found, graph = Edit(program), program.apply(call), called_graph(program, call)
    assert found is not None
    assert graph is not None
    for x, value in zip(program.graphs[graph].parameters, found.arguments, strict=True):
        edit.replace(x, value)
    for node in applications(program, graph):
        edit.move(node, found.graph)
    become(edit, call, edit.graphs[graph].output)
    edit.remove(found.function)
    edit.remove_graph(graph)
    return edit.program


def _take_parameters(edit: Edit, loop: For, left: GraphId) -> tuple[int, ...]:
    """What follows the loop takes the parameters of the header that it uses as its own: which these are."""
    before, wanted = edit.program, []
    ours = (loop.header, loop.body, left)
    for k, x in enumerate(before.graphs[loop.header].parameters):
        uses = [use for use in sorted(before.users(x)) if before.owner(use.user) not in ours]
        returns = [graph for graph in sorted(before.returns.get(x, ())) if graph not in ours]
        if not uses and not returns:
            continue
        wanted.append(k)
        old = before.nodes[x]
        own = edit.parameter(loop.after, getattr(old, "name", ""), None, getattr(old, "location", None))
        for use in uses:
            inputs = edit.program.inputs(use.user)
            edit.set_inputs(use.user, tuple(own if i == use.index else n for i, n in enumerate(inputs)))
        for graph in returns:
            edit.output(graph, own)
    return tuple(wanted)


RULES = (capture, pass_in, give_back)

SYSTEM = RewriteSystem(
    name="affine",
    rules=RULES,
    doc="affine loops in normal form: what they use is passed in, and they give back their parameters",
    argument="each rule is taken once at a loop: its blocks take nothing, it needs nothing else, it gives back its parameters",
)
