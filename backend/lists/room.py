"""The arrays with room, and the counts, of lists that grow (`backend.lists.growing`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from backend.lists.elements import Elements
from backend.lists.growing import SMALL, Growth, added, calls, is_begun
from backend.lists.joins import chosen, fitting, is_nothing
from backend.lists.loops import called
from backend.lists.meeting import APPEND, CONCAT, GETITEM, ITERATED, MAKE_SLICE, MAKE_TUPLE, PUT, SWITCH, Meeting
from semantics.edit import Edit
from semantics.ir import Apply, GraphId, GraphRef, NodeId, Parameter, Program
from semantics.primitives.table import TABLE
from transforms.surgery import become, index_of

ADD, AND, CONCATENATE, EQ, FULL, GE, LENGTH = (TABLE[name] for name in ("add", "and_", "concatenate", "eq", "full", "ge", "length"))
FLOORDIV, LT, MAX, MUL, NE = (TABLE[name] for name in ("floordiv", "lt", "max", "mul", "ne"))
SHAPE, TO_BOOLEAN = TABLE["shape"], TABLE["to_boolean"]
MORE = 8
"""Elements for which there is room beside twice as many as there are."""


class Rooms:
    """A program whose other lists are arrays, while those that grow get room."""

    def __init__(self, meeting: Meeting, edit: Edit, lists: Mapping[NodeId, Elements], growths: Sequence[Growth]) -> None:
        self.meeting, self.program, self.edit, self.lists = meeting, meeting.program, edit, lists
        self.counts: dict[NodeId, NodeId] = {}
        self.cut: dict[tuple[NodeId, GraphId], NodeId] = {}
        self.known = {node: growth for growth in growths for node in growth.members}
        self.become: dict[NodeId, NodeId] = {}  # for what has been a length, the count that it is

    def run(self) -> Program:
        graphs = sorted({p.graph for node in self.known if isinstance(p := self.program.nodes[node], Parameter)})
        for node in (*(p for graph in graphs for p in self.program.graphs[graph].parameters if p in self.known), *self.known):
            if node not in self.counts:  # those of parameters come in their order, as calls pass them
                self.begin(node)
        for node in self.known:
            if not isinstance(self.program.nodes[node], Parameter):
                self.make(node)
        for node in self.known:
            for graph in self.program.returns.get(node, ()):
                self.edit.output(graph, self.part(node, graph))
            for use in sorted(self.program.users(node)):
                if use.user not in self.known:
                    self.use(node, use.user, use.index)
        for graph in graphs:
            for call in calls(self.program, graph):
                self.call(graph, call)
        return self.edit.program

    def begin(self, node: NodeId) -> None:
        """The count of a list: a parameter, or what is made there."""
        found = self.program.nodes[node]
        if isinstance(found, Parameter):
            self.counts[node] = self.edit.parameter(found.graph, found.name and found.name + "'", None, found.location)
        elif self.program.callee(node) in (APPEND, CONCAT, GETITEM):
            self.counts[node] = self.edit.reserve()

    def count(self, node: NodeId) -> NodeId:
        """How many elements a list has: as many as before where it is changed or gone over."""
        while node not in self.counts:
            node = self.program.inputs(node)[1]
        return self.counts[node]

    def inputs(self, node: NodeId) -> tuple[NodeId, ...]:
        """What an application is given by now."""
        found = self.edit.nodes[node]
        assert isinstance(found, Apply)
        return found.inputs

    def owner(self, node: NodeId) -> GraphId:
        owner = self.program.owner(node)
        assert owner is not None
        return owner

    def make(self, node: NodeId) -> None:
        """Elements are written behind those that are there, or in the place of one."""
        owner, callee, inputs = self.owner(node), self.program.callee(node), self.inputs(node)
        before = self.program.inputs(node)[1]
        if callee is PUT:
            place = self.checked(owner, before, inputs[2])
            place = fitting(self.edit, owner, inputs[1], place, inputs[3], self.lists[node])
            self.edit.set_inputs(node, (inputs[0], inputs[1], place, inputs[3]))
        if callee is GETITEM:
            less = self.edit.call(owner, ADD, self.count(before), self.edit.constant(-1))
            self.edit.fill(self.counts[node], Apply(owner, (self.edit.constant(MAX), less, self.edit.constant(0))))
            self.edit.set_inputs(node, (self.edit.constant(ITERATED), before))
        if callee not in (APPEND, CONCAT):
            return
        elements = [self.current(node, n) for n in added(self.program, node)]
        array, count = before, self.count(before)
        for k, element in enumerate(elements):
            new = self.longer_by(owner, node, array, count, element)
            if k + 1 == len(elements):
                self.edit.set_inputs(node, new)
                self.edit.fill(self.counts[node], Apply(owner, (self.edit.constant(ADD), count, self.edit.constant(1))))
            else:
                array = self.edit.apply(owner, *new)
                count = self.edit.call(owner, ADD, count, self.edit.constant(1))

    def longer_by(self, owner: GraphId, node: NodeId, array: NodeId, count: NodeId, element: NodeId) -> tuple[NodeId, ...]:
        """The application that gives the array with one more; where it may be the first, each way puts it into its own array."""
        held, growth, put, zero = self.lists[node], self.known[node], self.edit.constant(PUT), self.edit.constant(0)
        if not held.axes:
            return put, self.with_room(owner, growth, held, array, count), count, element

        def beside(graph: GraphId) -> tuple[NodeId, ...]:
            return put, array, fitting(self.edit, graph, array, count, element, held), element

        if is_begun(self.program, growth):
            return beside(owner)
        ways = (
            (lambda g: self.edit.apply(g, put, self.first(g, growth, held, element), zero, element)),
            (lambda g: self.edit.apply(g, *beside(g))),
        )
        return (chosen(self.edit, owner, count, zero, *ways),)

    def current(self, node: NodeId, element: NodeId) -> NodeId:
        """An element that is added: itself, but for a list that is one that grows."""
        return self.part(element, self.owner(node)) if element in self.known else element

    def with_room(self, owner: GraphId, growth: Growth, held: Elements, array: NodeId, count: NodeId) -> NodeId:
        """The array of numbers, with room for one more."""
        if self.is_whole(growth, held):
            return array
        size = self.edit.call(owner, LENGTH, array)
        return self.edit.apply(owner, chosen(self.edit, owner, count, size, lambda g: self.longer(g, array, held), lambda _: array))

    def first(self, graph: GraphId, growth: Growth, held: Elements, element: NodeId) -> NodeId:
        """Room for arrays like the first element."""
        constant, call = self.edit.constant, self.edit.call
        size = self.room(graph, growth)
        sizes = call(graph, TABLE["concat"], call(graph, MAKE_TUPLE, size), call(graph, SHAPE, element))
        return call(graph, FULL, sizes, constant(held.begin), constant(held.dtype))

    def longer(self, graph: GraphId, array: NodeId, held: Elements) -> NodeId:
        """The array with twice the room, and a little."""
        constant, call = self.edit.constant, self.edit.call
        size = call(graph, MAKE_TUPLE, call(graph, ADD, call(graph, LENGTH, array), constant(MORE)))
        more = call(graph, FULL, size, constant(held.begin), constant(held.dtype))
        return call(graph, CONCATENATE, call(graph, MAKE_TUPLE, array, more), constant(0))

    def is_whole(self, growth: Growth, held: Elements) -> bool:
        """Whether there is room for all from the start: for arrays there always is, since what is put beside one has its sizes."""
        return growth.turns is not None and (bool(held.axes) or not growth.few)

    def room(self, graph: GraphId, growth: Growth) -> NodeId:
        """How many elements may be added; -1, which is no size, if most may never be and they are many: that is the machine's."""
        constant, call = self.edit.constant, self.edit.call
        size = self.turns(growth) if growth.by == 1 else call(graph, MUL, self.turns(growth), constant(growth.by))
        return call(graph, SWITCH, call(graph, LT, constant(SMALL), size), constant(-1), size) if growth.few else size

    def turns(self, growth: Growth) -> NodeId:
        """How many turns the loop has that grows a list; it may go over another that grows."""
        assert growth.turns is not None
        return self.become.get(growth.turns, growth.turns)

    def part(self, node: NodeId, graph: GraphId) -> NodeId:
        """What an array has, without its room."""
        if (node, graph) not in self.cut:
            nothing = self.edit.constant(None)
            whole = self.edit.call(graph, MAKE_SLICE, nothing, self.count(node), nothing)
            self.cut[node, graph] = self.edit.call(graph, GETITEM, node, whole)
        return self.cut[node, graph]

    def checked(self, owner: GraphId, node: NodeId, index: NodeId) -> NodeId:
        """An index from 0 on, or the size of the array, which is outside, where the list has no such element."""
        constant, call, count = self.edit.constant, self.edit.call, self.count(node)
        known, outside = index_of(self.edit.program, index), call(owner, LENGTH, node)
        if known is None:
            from_end = call(owner, ADD, index, count)
            index = call(owner, SWITCH, call(owner, LT, index, constant(0)), from_end, index)
        elif known < 0:
            index = call(owner, ADD, count, index)
        test = call(owner, LT, index, count) if known is None or known >= 0 else call(owner, GE, index, constant(0))
        if known is None:
            test = call(owner, AND, call(owner, GE, index, constant(0)), test)
        return call(owner, SWITCH, test, index, outside)

    def use(self, node: NodeId, user: NodeId, index: int) -> None:
        """What is done with a list is done with what the array has."""
        owner, callee = self.owner(user), self.program.callee(user)
        inputs = self.inputs(user)
        if callee is TO_BOOLEAN:
            self.edit.set_inputs(user, (self.edit.constant(NE), self.count(node), self.edit.constant(0)))
        elif callee is LENGTH:
            self.become[user] = self.count(node)
            become(self.edit, user, self.become[user])
        elif callee is GETITEM and index == 1 and not self.meeting.is_slice(inputs[2]):
            self.edit.set_inputs(user, (*inputs[:2], self.checked(owner, node, inputs[2])))
        elif not self.is_passed(node, user, index):
            self.edit.set_inputs(user, (*inputs[:index], self.part(node, owner), *inputs[index + 1 :]))

    def is_passed(self, node: NodeId, user: NodeId, index: int) -> bool:
        """Whether a list is passed on with its room: to where it goes on to grow, and not to where another begins as it."""
        way = self.program.constant(called(self.program, user)[0])
        return isinstance(way, GraphRef) and self.program.graphs[way.graph].parameters[index - 1] in self.known[node].members

    def call(self, graph: GraphId, call: NodeId) -> None:
        """A call passes arrays, and behind all else the counts; the first call what the lists are at first."""
        inputs, counts = list(self.inputs(call)), []
        for at, parameter in enumerate(self.program.graphs[graph].parameters, 1):
            growth = self.known.get(parameter)
            if growth is None:
                continue
            if inputs[at] in growth.members:
                counts.append(self.count(inputs[at]))
            else:
                inputs[at], count = self.entered(self.owner(call), growth, self.lists[parameter], inputs[at])
                counts.append(count)
        self.edit.set_inputs(call, (*inputs, *counts))

    def entered(self, owner: GraphId, growth: Growth, held: Elements, node: NodeId) -> tuple[NodeId, NodeId]:
        """What a list is at first, with room, and how long it is."""
        constant, call = self.edit.constant, self.edit.call
        nothing = is_nothing(self.program, self.edit, node)
        count = constant(0) if nothing else call(owner, LENGTH, node)
        if held.axes:
            return self.unsized(owner, growth, held) if nothing else self.beside(owner, growth, held, node), count
        whole = self.is_whole(growth, held)
        size = self.room(owner, growth) if whole else constant(MORE)
        room = call(owner, FULL, call(owner, MAKE_TUPLE, size), constant(held.begin), constant(held.dtype))
        return (room if nothing else call(owner, CONCATENATE, call(owner, MAKE_TUPLE, node, room), constant(0))), count

    def beside(self, owner: GraphId, growth: Growth, held: Elements, node: NodeId) -> NodeId:
        """The arrays that a list begins with, and room for more like the first."""
        constant, call = self.edit.constant, self.edit.call
        shape = call(owner, SHAPE, node)
        sizes = [call(owner, GETITEM, shape, constant(axis)) for axis in range(1, 1 + len(held.axes))]
        sizes = [self.room(owner, growth), *sizes]
        room = call(owner, FULL, call(owner, MAKE_TUPLE, *sizes), constant(held.begin), constant(held.dtype))
        return call(owner, CONCATENATE, call(owner, MAKE_TUPLE, node, room), constant(0))

    def unsized(self, owner: GraphId, growth: Growth, held: Elements) -> NodeId:
        """
        An array without elements, of sizes that are computed, n // (n + 1), since those of what comes into its place are others:
        code takes sizes that are known before it runs to hold in all turns.
        """
        constant, call = self.edit.constant, self.edit.call
        turns = call(owner, MAX, self.turns(growth), constant(0))
        size = call(owner, FLOORDIV, turns, call(owner, ADD, turns, constant(1)))
        sizes = call(owner, MAKE_TUPLE, *(size for _ in range(1 + len(held.axes))))
        return call(owner, FULL, sizes, constant(held.begin), constant(held.dtype))
