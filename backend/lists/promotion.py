"""
Cells of which every load and store says which it is become values: generated code has no memory.

    m₁, p = alloc(m₀, v);  m₂ = store(m₁, p, w);  load(m₂, p)  ⟹  w
    @for(…, m)  ⟹  @for(…, x)                                      where x is what the cell of p has in m
    store(m, lea(p, i), w)  ⟹  put(x, i, w)                        load(m, lea(p, i))  ⟹  getitem(x, i)

The front end keeps a list that a function changes in such a cell. A pointer that is kept in a tuple or chosen by a branch may be
to any; then the memory stays (`backend.lists.followed_cells`). Where a loop is passed one, as for `cur = nxt`, it is passed what
the cell has. A cell that a turn of a loop makes is there for what is nested in this turn alone, which has the pointer, so a later
turn is not passed it. The values are those that the cells have; what traps is an index, as before.
"""

from __future__ import annotations

from backend.lists.followed_cells import MEMORY, Cells, followed
from backend.lists.lifting import with_states
from semantics.edit import Edit
from semantics.ir import Apply, GraphId, NodeId, Parameter, Program
from semantics.primitives.table import TABLE
from transforms.surgery import discard, only_called

GETITEM, PUT = TABLE["getitem"], TABLE["put"]
Place = tuple[NodeId, NodeId]
"""A state of a memory and a cell of it."""


def promoted(program: Program) -> Program:
    """The program with values in the place of such cells; itself if it has none."""
    if MEMORY in program.interned:
        for use in sorted(program.users(program.interned[MEMORY])):
            if use.index == 0:
                lifted = with_states(program, use.user)
                found = followed(lifted, use.user)
                program = program if found is None else _Promotion(lifted, found).run()
    return program


class _Promotion:
    """The program without one memory, as it is made."""

    def __init__(self, program: Program, found: Cells) -> None:
        self.program, self.found, self.edit = program, found, Edit(program)
        named = [p for p, c in found.cells.items() if p != c or isinstance(program.nodes[p], Parameter)]
        self.names = {found.cells[p]: getattr(program.nodes[p], "name", "") for p in named}
        self.states: dict[GraphId, list[NodeId]] = {}  # the parameters that are states
        for state in found.before:
            if isinstance(parameter := program.nodes[state], Parameter):
                self.states.setdefault(parameter.graph, []).append(state)
        self.same = _same(found, [(s, cell) for states in self.states.values() for s in states for cell in found.held[s]])
        self.values: dict[Place, NodeId] = {}
        self.loaded: dict[NodeId, NodeId] = {}
        self.stores: list[NodeId] = []  # states whose values are still to be made

    def run(self) -> Program:
        edit = self.edit
        for graph, states in self.states.items():
            self.add_parameters(graph, states)
        for graph, states in self.states.items():
            self.pass_values(graph, states)
        for load in self.found.loads:
            edit.replace(load, self.content(load))
        while self.stores:
            self.put(self.stores.pop())
        for load in self.found.loads:
            edit.replace(load, self.content(load))  # in what has been made since
        discard(edit, edit.program, sorted(self.found.dead), ())
        for graph, states in self.states.items():
            gone = {*states, *self.found.cells}
            edit.set_parameters(graph, tuple(p for p in edit.graphs[graph].parameters if p not in gone))
        return edit.program

    def passed(self, states: list[NodeId]) -> list[Place]:
        """The cells that a graph is passed in the place of these parameters: those that are not what they are elsewhere."""
        return [(s, cell) for s in states for cell in self.found.held[s] if (s, cell) not in self.same]

    def add_parameters(self, graph: GraphId, states: list[NodeId]) -> None:
        for state, cell in self.passed(states):
            location = getattr(self.program.nodes[state], "location", None)
            self.values[state, cell] = self.edit.parameter(graph, self.names.get(cell, ""), None, location)

    def pass_values(self, graph: GraphId, states: list[NodeId]) -> None:
        """Every call passes what the cells have, behind all else, and no memory."""
        at = {state: self.program.graphs[graph].parameters.index(state) for state in states}
        for use in only_called(self.program, graph) or ():
            inputs = self.program.inputs(use.user)
            passed = self.found.passed.get(use.user, {})
            gone = {*at.values(), *(self.program.graphs[graph].parameters.index(pointer) for pointer in passed)}
            kept = [n for k, n in enumerate(inputs) if k - 1 not in gone]
            values = [self.value((inputs[1 + at[state]], passed.get(cell, cell))) for state, cell in self.passed(states)]
            self.edit.set_inputs(use.user, (*kept, *values))

    def value(self, place: Place) -> NodeId:
        """What a cell has in a state."""
        place = _origin(self.found, self.same, place)
        if place not in self.values:
            state, _ = place
            pointer, value = self.found.written[state]
            if self.found.path(pointer):
                value = self.edit.reserve()
                self.stores.append(state)
            self.values[place] = self.content(value) if value in self.found.loads else value
        return self.values[place]

    def content(self, load: NodeId) -> NodeId:
        """What is loaded, made where it is."""
        if load not in self.loaded:
            state, pointer = self.found.loads[load]
            value, owner = self.value((state, self.found.cells[pointer])), self.program.owner(load)
            assert owner is not None
            for index in self.found.path(pointer):
                value = self.edit.call(owner, GETITEM, value, index)
            self.loaded[load] = value
        return self.loaded[load]

    def put(self, state: NodeId) -> None:
        """The value of a cell of which a part is written."""
        (pointer, value), owner = self.found.written[state], self.program.owner(state)
        assert owner is not None
        cell, path = self.found.cells[pointer], self.found.path(pointer)
        parts = [self.value((self.found.before[state][0], cell))]
        for index in path[:-1]:
            parts.append(self.edit.call(owner, GETITEM, parts[-1], index))
        for part, index in zip(parts[:0:-1], path[:0:-1], strict=True):
            value = self.edit.call(owner, PUT, part, index, value)
        self.edit.fill(self.values[state, cell], Apply(owner, (self.edit.constant(PUT), parts[0], path[0], value)))


def _origin(found: Cells, same: dict[Place, Place], place: Place) -> Place:
    """Where a cell has been given what it has in a state: by an `alloc`, by a `store`, or by what a parameter is passed."""
    while True:
        state, cell = place
        if (writes := found.latest[state].get(cell)) is not None:
            pointer, value = found.written[writes]
            copied = found.loads.get(value)
            if copied is None or found.path(pointer) or found.path(copied[1]):
                return writes, cell
            place = copied[0], found.cells[copied[1]]
        elif (place := (found.begins[state], cell)) in same:
            place = same[place]
        else:
            return place


def _same(found: Cells, places: list[Place]) -> dict[Place, Place]:
    """Of cells that parameters are to be passed, those that are the same in all calls, and where they are given what they have."""
    same: dict[Place, Place] = {}
    changed = True
    while changed:
        changed = False
        for place in places:
            if place not in same:
                sources = ((s, passed.get(place[1], place[1])) for s, passed in found.ways(place[0]))
                origins = {_origin(found, same, source) for source in sources} - {place}
                if len(origins) == 1:
                    (same[place],) = origins
                    changed = True
    return same
