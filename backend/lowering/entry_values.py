"""
Values of the entry that are read from there, and not through tuples: so cells of stacks need not hold them.

The entry is run once, so a value of its own is one value in a run. `meaning[n]` is the node whose value n has, wherever n has one:
assumed until two are found. That is right only where every tuple is known that may be read (`backend.stacks.sites`): what is made
in a way that is not followed is a source. So are these:

    ZERO        of which each element is ZERO. No run chooses by ZERO; so where another element of the tuple is chosen by, it is not
                ZERO. An adjoint says ZERO in place of the tape of a path that was not taken, and chooses by an element of a tape.
    too short   as the empty tuple is: the reference traps. So does the program here, where there is another read of the tuple that
                then traps as well: the loop that pops a stack reads what is below its top. Where there is none, the read is made
                beside the value, t[k] ⟹ (t[k], v)[1].

The other read is in the same graph, or in one around it, which evaluates all that it needs. A tuple with an element that may fail
is made all the same.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from backend.stacks.sites import GETITEM, GIVEN, MAKE_TUPLE, SWITCH, UNKNOWN, ZEROED, Flows
from semantics.edit import Edit
from semantics.ir import GraphId, GraphRef, NodeId, Parameter, Program
from semantics.scope import scopes
from transforms.failures import drops_failure


def without_copies(program: Program) -> Program:
    """The same program in which what is always one value of the entry graph is read from there."""
    flows = Flows(program)
    if not flows.settled or program.reference(program.entry) is not None:
        return program
    left: set[NodeId] = set()
    while True:
        reads = _copies(program, flows, left)
        after = _replaced(program, reads, ())
        perhaps_zero = (n for n in reads if ZEROED in flows.reaching[program.inputs(n)[1]])
        if not (found := {n for n in perhaps_zero if not any(_is_asked(after, m) for m in _others(program, after, n))}):
            break
        left |= found
    silent = [n for n in reads if _lacking(program, flows, n) and not _is_tested(program, after, flows, n)]
    return _replaced(program, reads, silent) if silent else after


def _copies(program: Program, flows: Flows, left: Collection[NodeId]) -> dict[NodeId, NodeId]:
    """The reads of tuples that always give one value, each with the node of that. Those in `left` have values of their own."""
    meanings = _meanings(program, flows, left).items()
    return {n: v for n, v in meanings if v is not None and v != n and program.callee(n) is GETITEM and _is_fixed(program, v)}


def _replaced(program: Program, reads: Mapping[NodeId, NodeId], silent: Collection[NodeId]) -> Program:
    """The program in which reads are the values that they give. Those that are `silent` are made all the same."""
    by_value: dict[NodeId, list[NodeId]] = {}
    for node, value in reads.items():
        by_value.setdefault(value, []).append(node)
    for value, nodes in sorted(by_value.items()):
        needed = _needed(program, value)
        edit = Edit(program)
        read = sorted(n for n in nodes if n not in needed)
        for node in read:
            edit.replace(node, _beside(edit, node, value) if node in silent else value)
        if not any(drops_failure(program, edit.program, node) for node in read):
            program = edit.program
    return program


def _beside(edit: Edit, node: NodeId, value: NodeId) -> NodeId:
    """(t[k], v)[1]"""
    program = edit.program
    graph = program.owner(node)
    read = edit.apply(graph, *program.inputs(node), location=program.nodes[node].location)  # type: ignore[arg-type, union-attr]
    return edit.call(graph, GETITEM, edit.call(graph, MAKE_TUPLE, read, value), edit.constant(1))  # type: ignore[arg-type]


def _others(program: Program, after: Program, read: NodeId) -> list[NodeId]:
    """The other reads that the program `after` makes of the same tuple whenever it makes, or leaves out, this one."""
    t, needed = program.inputs(read)[1], scopes(after).needed
    around = _around(program, program.owner(read), program.owner(t))
    found = [m for m, at in program.users(t) if at == 1 and program.callee(m) is GETITEM and m != read]
    return [m for m in found if (owner := program.owner(m)) in around and m in needed.get(owner, ())]


def _around(program: Program, graph: GraphId | None, outermost: GraphId | None) -> set[GraphId]:
    """A graph, that in which alone closures of it are made, and so on up to the outermost: in a run of one all have run."""
    found: set[GraphId] = set()
    while graph is not None and graph not in found:
        found.add(graph)
        reference = program.reference(graph)
        if graph == outermost or reference is None:
            break
        makers = {program.owner(use.user) for use in program.users(reference)} | set(program.returns.get(reference, ()))
        graph = makers.pop() if len(makers) == 1 else None
    return found


def _is_asked(program: Program, node: NodeId) -> bool:
    """Whether its graph chooses by the value of a node, which no run does by ZERO."""
    owner = program.owner(node)
    assert owner is not None, "an application has an owner"
    needed = scopes(program).needed[owner]
    return any(
        at == 1 and program.callee(n) is SWITCH and program.owner(n) == owner and n in needed for n, at in program.users(node)
    )


def _lacking(program: Program, flows: Flows, read: NodeId) -> set[NodeId]:
    """What the tuple may be that has no such element; of an index that is computed, all that it may be."""
    _, t, index = program.inputs(read)
    return {s for s in flows.reaching[t] - {ZEROED} if not _is_known(program, read) or not flows.parts(s, index)}


def _is_known(program: Program, read: NodeId) -> bool:
    """Whether it is known which element is read."""
    return type(program.constant(program.inputs(read)[2])) is int


def _is_tested(program: Program, after: Program, flows: Flows, read: NodeId) -> bool:
    """Whether the graph of a read needs another one in the program `after`, which fails wherever this one does."""
    lacking = _lacking(program, flows, read)
    known = [m for m in _others(program, after, read) if _is_known(program, m)]
    return _is_known(program, read) and any(lacking <= _lacking(program, flows, m) for m in known)


def _needed(program: Program, node: NodeId) -> set[NodeId]:
    """All nodes that computing a node may need."""
    needed, todo = {node}, [node]
    while todo:
        top = todo.pop()
        reference = program.constant(top)
        inside = (program.graphs[reference.graph].output,) if isinstance(reference, GraphRef) else program.inputs(top)
        todo += [n for n in inside if n not in needed]
        needed.update(inside)
    return needed


def _is_fixed(program: Program, node: NodeId) -> bool:
    """Whether a node has one value in a run."""
    return program.owner(node) == program.entry or isinstance(program.constant(node), (int, float))


def _meanings(program: Program, flows: Flows, left: Collection[NodeId]) -> dict[NodeId, NodeId | None]:
    """The node whose value a node has; None where it may be that of several. Nodes that are never reached are not there."""
    sources = {node: None if node in left else _sources(program, flows, node) for node in program.nodes}
    users: dict[NodeId, list[NodeId]] = {}
    for node, found in sources.items():
        for source in found or ():
            users.setdefault(source, []).append(node)
    meaning: dict[NodeId, NodeId | None] = {node: node for node, found in sources.items() if found is None}
    todo = list(meaning)
    while todo:
        for node in users.get(todo.pop(), ()):
            known = {meaning[s] for s in sources[node] or () if s in meaning}
            value = known.pop() if len(known) == 1 else None
            if meaning.get(node, UNKNOWN) != value:
                meaning[node] = value
                todo.append(node)
    return meaning


def _sources(program: Program, flows: Flows, node: NodeId) -> set[NodeId] | None:
    """The nodes that a node only hands on; None if it is a value of its own."""
    if isinstance(program.nodes[node], Parameter):
        arguments = flows.arguments.get(node, set())
        return None if program.owner(node) == program.entry or UNKNOWN in arguments else arguments
    if program.callee(node) is not GETITEM:
        return None
    _, t, index = program.inputs(node)
    sites = flows.reaching.get(t, set())
    if not sites or {UNKNOWN, GIVEN} & sites or UNKNOWN in flows.reaching.get(index, ()):
        return None
    return {part for site in sites for part in flows.parts(site, index)}
