"""
What happens to a memory, followed from state to state: which cell every pointer is to, and which cells each state has.

    @for(m, p):        a parameter that is a pointer names a cell, the one of q where the loop is begun, of r in later turns
      … @for(n, r)     what was q, or r, is named p from then on; so a cell has one name in each state

A memory cannot be followed where a state of it is given back by a function, kept in a value or passed to what is not known, where
a pointer is used for anything but to load, to store, to point to a part and to be passed on beside a state, or where a cell is
accessed by a name that it had before it was passed on by another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from immutables import Map

from semantics.ir import GraphRef, NodeId, Parameter, Program, Use
from semantics.primitives.table import TABLE
from transforms.surgery import index_of, only_called

MEMORY, ALLOC, LEA, LOAD, STORE = (TABLE[name] for name in ("memory", "alloc", "lea", "load", "store"))
OF_LENGTH, GETITEM = TABLE["of_length"], TABLE["getitem"]


@dataclass
class Cells:
    """
    A memory of which all is known. A cell is named by its `alloc`, which counts as a pointer to it, or by a parameter that is one.

    memory   its first state, without a cell
    before   for each other state those that it may come from: several for a parameter
    calls    for each parameter that is a state, the calls that pass it, in the order of `before`
    passed   for each call that passes pointers, the cells of its parameters that are some, and what they were named before
    written  for states that `alloc` and `store` make, the pointer, and what is written
    loads    the loads, each with its state and pointer
    cells    the cell of a pointer
    paths    for a pointer that `lea` makes, the indices of the part in the cell that it is to
    dead     what is gone when the cells are values
    held     the cells that each state has
    begins   for each state the one that the line of writes up to it begins with: the first, or a parameter
    latest   for each state the cells that have been written on that line, and the states where they were last
    """

    memory: NodeId
    before: dict[NodeId, list[NodeId]] = field(default_factory=dict)
    calls: dict[NodeId, list[NodeId]] = field(default_factory=dict)
    passed: dict[NodeId, dict[NodeId, NodeId]] = field(default_factory=dict)
    written: dict[NodeId, tuple[NodeId, NodeId]] = field(default_factory=dict)
    loads: dict[NodeId, tuple[NodeId, NodeId]] = field(default_factory=dict)
    cells: dict[NodeId, NodeId] = field(default_factory=dict)
    paths: dict[NodeId, tuple[NodeId, ...]] = field(default_factory=dict)
    dead: set[NodeId] = field(default_factory=set)
    held: dict[NodeId, list[NodeId]] = field(default_factory=dict)
    begins: dict[NodeId, NodeId] = field(default_factory=dict)
    latest: dict[NodeId, Map[NodeId, NodeId]] = field(default_factory=dict)

    def path(self, pointer: NodeId) -> tuple[NodeId, ...]:
        """The indices that lead to what a pointer is to; none for a cell."""
        return self.paths.get(pointer, ())

    def ways(self, state: NodeId) -> list[tuple[NodeId, Mapping[NodeId, NodeId]]]:
        """The states that one may come from, and how the cells were named there that its call renames."""
        calls = self.calls.get(state) or [state]
        return [(s, self.passed.get(call, {})) for s, call in zip(self.before[state], calls, strict=True)]

    def cell_at(self, state: NodeId) -> NodeId | None:
        """The cell that a state differs in from the one before; None for a parameter."""
        return self.cells[self.written[state][0]] if state in self.written else None


def followed(program: Program, memory: NodeId) -> Cells | None:
    """All that happens to a memory, if it can be followed."""
    found = explored(program, memory)
    if found is None or not _are_passed(program, found):
        return None
    accessed = {pointer for pointer, _ in found.written.values()} | {pointer for _, pointer in found.loads.values()}
    if not accessed <= found.cells.keys() or not all(_is_whole(program, s, len(found.before[s])) for s in found.before):
        return None
    return found if _hold(program, found) else None


def explored(program: Program, memory: NodeId) -> Cells | None:
    """The states of a memory, and the pointers to its cells, if they go nowhere else."""
    found, todo = Cells(memory, dead={memory}), [memory]
    while todo:
        state = todo.pop()
        if program.returns.get(state):
            return None
        for use in program.users(state):
            after = _after(program, found, use)
            if after is None:
                return None
            todo += [node for node in after if node not in found.before]
            for node in after:
                found.before.setdefault(node, []).append(state)
                if isinstance(program.nodes[node], Parameter):
                    found.calls.setdefault(node, []).append(use.user)
    return found if _are_plain(program, found) else None


def _after(program: Program, found: Cells, use: Use) -> Sequence[NodeId] | None:
    """The states that this use of one leads to; None where it cannot be followed."""
    callee, inputs = program.callee(use.user), program.inputs(use.user)
    if isinstance(callee, GraphRef) and use.index > 0 and only_called(program, callee.graph) is not None:
        return [program.graphs[callee.graph].parameters[use.index - 1]]
    if use.index != 1 or callee not in (ALLOC, LOAD, STORE):
        return None
    found.dead.add(use.user)
    if callee is LOAD:
        found.loads[use.user] = inputs[1], inputs[2]
        return []
    if callee is STORE:
        found.written[use.user] = inputs[2], inputs[3]
        return [use.user]
    return _allocated(program, found, use.user)


def _allocated(program: Program, found: Cells, place: NodeId) -> Sequence[NodeId] | None:
    """The states that an `alloc` makes, each an element of what it gives."""
    found.cells[place] = place
    states: list[NodeId] = []
    todo = [place]
    while todo:
        node = todo.pop()
        found.dead.add(node)
        if program.returns.get(node):
            return None
        for use in program.users(node):
            part = index_of(program, program.inputs(use.user)[-1])
            if use.index != 1 or program.callee(use.user) not in (OF_LENGTH, GETITEM):
                return None
            if program.callee(use.user) is OF_LENGTH and part == 2:
                todo.append(use.user)
            elif program.callee(use.user) is GETITEM and part in (0, 1):
                found.dead.add(use.user)
                if part == 0:
                    states.append(use.user)
                    found.written[use.user] = place, program.inputs(place)[2]
                else:
                    found.cells[use.user] = place
            else:
                return None
    return states


def _are_plain(program: Program, found: Cells) -> bool:
    """Whether pointers are only used to load and store in this memory, to be passed on, and to make others that are."""
    todo = list(found.cells)
    while todo:
        node = todo.pop()
        if program.returns.get(node):
            return False
        for use in program.users(node):
            callee = program.callee(use.user)
            if callee is LEA and use.index == 1:
                found.cells[use.user], found.paths[use.user] = found.cells[node], (*found.path(node), program.inputs(use.user)[2])
                found.dead.add(use.user)
                todo.append(use.user)
            elif isinstance(callee, GraphRef) and use.index > 0 and only_called(program, callee.graph) is not None:
                parameter = program.graphs[callee.graph].parameters[use.index - 1]
                if parameter not in found.cells:
                    found.cells[parameter] = parameter
                    todo.append(parameter)
            elif use.user not in found.dead or (use.index != 2 and node != found.cells[node]):
                return False
    return True


def _are_passed(program: Program, found: Cells) -> bool:
    """Whether parameters that are pointers are passed nothing else, beside one state; notes what is passed."""
    states = Counter(p.graph for state in found.before if isinstance(p := program.nodes[state], Parameter))
    for pointer in [n for n in found.cells if isinstance(program.nodes[n], Parameter)]:
        graph = program.nodes[pointer].graph  # type: ignore[union-attr]
        at = program.graphs[graph].parameters.index(pointer)
        for use in only_called(program, graph) or ():
            given = program.inputs(use.user)[1 + at]
            if given not in found.cells or found.path(given) or states[graph] != 1:
                return False
            found.passed.setdefault(use.user, {})[pointer] = found.cells[given]
    return True


def _is_whole(program: Program, state: NodeId, earlier: int) -> bool:
    """Whether all that a parameter is passed are states of this memory."""
    parameter = program.nodes[state]
    return not isinstance(parameter, Parameter) or len(only_called(program, parameter.graph) or ()) == earlier


def _hold(program: Program, found: Cells) -> bool:
    """Finds out which cells each state has, and where they were written; false if one may not be there where it is accessed."""
    after: dict[NodeId, list[NodeId]] = {}
    for state, earlier in found.before.items():
        for s in earlier:
            after.setdefault(s, []).append(state)
    held = {found.memory: frozenset[NodeId]()} | dict.fromkeys(found.before, frozenset(found.cells.values()))
    todo = list(found.before)
    while todo:
        state = todo.pop()
        known = frozenset.intersection(*(_renamed(held[s], passed) for s, passed in found.ways(state)))
        if state in found.written and program.callee(found.written[state][0]) is ALLOC:
            known |= {found.written[state][0]}
        if known != held[state]:
            held[state] = known
            todo += after.get(state, ())
    found.held = {state: sorted(cells) for state, cells in held.items()}
    _follow_lines(found, after)
    there = all(found.cells[pointer] in held[state] for state, pointer in found.loads.values())
    return there and all(found.cells[pointer] in held[state] for state, (pointer, _) in found.written.items())


def _renamed(cells: frozenset[NodeId], passed: Mapping[NodeId, NodeId]) -> frozenset[NodeId]:
    """The cells that a state has after a call, by the names that they have then; none that would have two."""
    times = Counter(passed.values())
    kept = cells.difference(passed, times)
    return kept.union(pointer for pointer, cell in passed.items() if cell in cells and times[cell] == 1)


def _follow_lines(found: Cells, after: Mapping[NodeId, Iterable[NodeId]]) -> None:
    """Notes where every state's line of writes begins, and where each cell is last written on it."""
    todo = [found.memory, *(s for s in found.before if s not in found.written)]
    found.begins = {state: state for state in todo}
    found.latest = dict.fromkeys(todo, Map())
    while todo:
        state = todo.pop()
        for following in after.get(state, ()):
            if (cell := found.cell_at(following)) is not None:
                found.begins[following] = found.begins[state]
                found.latest[following] = found.latest[state].set(cell, following)
                todo.append(following)
