"""
Lists of unknown length that are no more than arrays are arrays, wherever they come from and go.

    [a, b]         ⟹  as_array((a, b))              s + t    ⟹  concatenate((s, t))
    s.append(x)    ⟹  concatenate((s, [x]))         if s:    ⟹  if len(s) != 0:

All elements must be numbers of one kind, or arrays, which have the size of the first. What a list is asked for, its length,
elements, slices, to be gone over, changed or made an array, an array answers as it does. A list to which every turn of a loop adds
a number is as long as there are turns; `backend.lists.growing` says what is done where a loop makes one longer otherwise. What is
computed is the same; what traps is not, so this is for code whose traps send the sample to the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backend.lists.elements import Elements, kind
from backend.lists.growing import Growth, comes_from, growths
from backend.lists.joins import fitting, if_any, is_nothing, joined
from backend.lists.loops import Loop, is_display, is_empty, loop_at
from backend.lists.meeting import (
    APPEND,
    ASKED,
    CONCAT,
    GETITEM,
    ITERATED,
    MAKE_RECORD,
    MAKE_SLICE,
    MAKE_TUPLE,
    OF_CLASS,
    PUT,
    Meeting,
)
from backend.lists.room import Rooms
from semantics.arrays import Array
from semantics.edit import Edit
from semantics.infer import Inference
from semantics.ir import GraphId, NodeId, Parameter, Program, Use
from semantics.primitives.table import TABLE
from semantics.structured import Record
from semantics.type_language import INTEGER, ArrayType, RecordType, SequenceType
from semantics.type_lattice import NEVER, UNBOUND
from semantics.values import Unbound
from transforms.surgery import index_of

AS_ARRAY, CONCATENATE, FULL, LENGTH, NE = (TABLE[name] for name in ("as_array", "concatenate", "full", "length", "ne"))
RESHAPE, SHAPE, STACK, TO_BOOLEAN, TRANSPOSE = (TABLE[name] for name in ("reshape", "shape", "stack", "to_boolean", "transpose"))


def arrayed(program: Program, inference: Inference, begun: bool = False, *, known: bool = False) -> Program:
    """
    The program with arrays for all such lists; where some are `begun`, for lists of arrays of known length too. If `known`, for all
    lists that are made longer, and those of which types know several lengths.
    """
    meeting = Meeting(program, inference)
    members = meeting.members()
    found = {root: held for root, nodes in members.items() if (held := _held(meeting, root, nodes, begun, known)) is not None}
    grown = growths(meeting, [node for root in found for node in members[root]])
    unknown = {meeting.of(node) for growth in grown for node in growth.members if not _has_size(meeting.program, growth)}
    lists = {root: held for root, held in found.items() if not held.axes or root not in unknown}
    if len(lists) < len(found):
        grown = growths(meeting, [node for root in lists for node in members[root]])
    return _Arrays(meeting, lists, members, grown).run() if lists else program


def _has_size(program: Program, growth: Growth) -> bool:
    """Whether it is known how many arrays a list may have that begins with none or some: the first says how large they are."""
    parameters = [n for n in growth.members if isinstance(program.nodes[n], Parameter)]
    begins = {n for p in parameters for n in comes_from(program, p)} - growth.members
    return growth.turns is not None and all(is_empty(program, n) or is_display(program, n) for n in begins)


def _held(meeting: Meeting, root: int, nodes: Sequence[NodeId], begun: bool, known: bool) -> Elements | None:
    """What the lists of a class hold, where arrays may stand for them."""
    if root in meeting.lost:
        return None
    types = [type for node in nodes for type in meeting.types.get(node, ())]
    unknown = any(isinstance(type, SequenceType) for type in types) or (known and len(_lengths(types)) > 1)
    longer = (APPEND, CONCAT) if known else (APPEND,)
    if not unknown and not ((begun or known) and any(meeting.program.callee(node) in longer for node in nodes)):
        return None
    kinds = {_of_list(type) for type in types} - {()}
    found = kinds.pop() if len(kinds) == 1 else None
    if not isinstance(found, Elements) or not (unknown or known or found.axes):
        return None
    arrays = any(isinstance(type, ArrayType) for type in types)
    if not all(_answers(meeting, node, found, arrays) for node in nodes):
        return None
    return found if all(_fits(value, found) for value in _constants(meeting, root)) else None


def _lengths(types: Sequence[Any]) -> set[int]:
    """The lengths that some types know."""
    return {len(type.items) for type in types if isinstance(type, RecordType)}


def _constants(meeting: Meeting, root: int) -> list[Any]:
    """The constants that are lists of a class."""
    program = meeting.program
    nodes = [program.inputs(use.user)[use.index] for use, one in meeting.constants if meeting.find(one) == root]
    nodes += [program.graphs[graph].output for graph, one in meeting.outputs.items() if meeting.find(one) == root]
    return [program.constant(node) for node in nodes]


def _of_list(type: Any) -> Elements | tuple[()] | None:
    """What lists of a type hold; () where nothing is said."""
    if type == UNBOUND:
        return ()
    if isinstance(type, ArrayType):
        inner = kind(ArrayType(type.dtype, type.dims[1:], type.holes)) if type.dims else None
        number = {"f64", "i64", "bool"} & {type.dtype}
        return Elements(type.dtype, ()) if len(type.dims) == 1 and number and not type.holes else inner
    items = (type.item,) if isinstance(type, SequenceType) else getattr(type, "items", None)
    if items is None:
        return None
    kinds = {kind(item) for item in items if item != NEVER}
    return () if not kinds else kinds.pop() if len(kinds) == 1 else None


def _fits(value: Any, held: Elements) -> bool:
    """Whether a constant is a list of such numbers, or an empty one, or stands where there is no value yet."""
    if isinstance(value, Unbound):
        return True
    items = value.items if isinstance(value, Record) and value.label.kind == "list" else value
    return isinstance(items, tuple) and (not items or not held.axes)


def _answers(meeting: Meeting, node: NodeId, held: Elements, arrays: bool) -> bool:
    """Whether an array in the place of the list at a node answers all that it is asked there, and is what is made there."""
    program = meeting.program
    if (
        program.callee(node) in (APPEND, CONCAT)
        and arrays
        and any(_is_array(meeting, n) for n in (node, *program.inputs(node)[1:2]))
    ):
        return False
    if program.callee(node) is CONCAT and _is_array(meeting, program.inputs(node)[2]):
        return False
    for use in program.users(node):
        callee, inputs = program.callee(use.user), program.inputs(use.user)
        if use.index == 1 and callee in (GETITEM, PUT) and not _is_integer(meeting, inputs[2]):
            return False
        if use.index == 1 and callee in (TO_BOOLEAN, OF_CLASS) and (callee is OF_CLASS or arrays):
            return False
        if use.index == 1 and callee in ASKED and callee not in (LENGTH, TO_BOOLEAN) and not _is_made_array(program, use, held):
            return False
    return True


def _is_array(meeting: Meeting, node: NodeId) -> bool:
    return any(isinstance(type, ArrayType) for type in meeting.types.get(node, ()))


def _is_integer(meeting: Meeting, index: NodeId) -> bool:
    return meeting.is_slice(index) or all(type == INTEGER for type in meeting.types.get(index, ()))


def _is_made_array(program: Program, use: Use, held: Elements) -> bool:
    """Whether an array that is made of the list is one of what the array has that stands for it."""
    if program.callee(use.user) is AS_ARRAY:
        return True
    axis = index_of(program, program.inputs(use.user)[2])
    return bool(held.axes) and axis is not None and (axis == 0 or program.callee(use.user) is STACK)


class _Arrays:
    """The program with arrays for some classes of lists, as it is made."""

    def __init__(
        self, meeting: Meeting, found: dict[int, Elements], members: dict[int, list[NodeId]], growths: Sequence[Growth]
    ) -> None:
        self.meeting, self.program, self.found, self.edit = meeting, meeting.program, found, Edit(meeting.program)
        self.lists = {node: held for root, held in found.items() for node in members[root]}
        self.loops = {loop.place: loop for growth in growths if (loop := self.by_turns(growth)) is not None}
        self.growths = [growth for growth in growths if not growth.members & self.loops.keys()]
        self.growing = {node for growth in self.growths for node in growth.members}

    def run(self) -> Program:
        made = [
            (use, held) for node, held in self.lists.items() for use in sorted(self.program.users(node)) if self.is_made(use, held)
        ]
        for use, one in self.meeting.constants:
            if (held := self.found.get(self.meeting.find(one))) is not None:
                self.constant(use, held)
        for graph, one in self.meeting.outputs.items():
            if (held := self.found.get(self.meeting.find(one))) is not None:
                self.edit.output(
                    graph, self.edit.constant(array_of(self.program.constant(self.program.graphs[graph].output), held))
                )
        for loop in self.loops.values():
            self.begin(loop)
        rooms = Rooms(self.meeting, self.edit, self.lists, self.growths)
        rooms.run()
        for node, held in self.lists.items():
            if node not in self.growing:
                self.make(node, held)  # of parts of what has room
                self.ask(node)
        for use, held in made:
            self.made_array(use.user, held)
        return self.edit.program

    def by_turns(self, growth: Growth) -> Loop | None:
        """The loop that makes the list, if each turn adds a number and asks nothing of it: so it is as long as there are turns."""
        appended = [n for n in growth.members if self.program.callee(n) is APPEND]
        if len(appended) != 1 or self.lists[appended[0]].axes:
            return None
        loop = loop_at(self.program, appended[0])
        return loop if loop is not None and growth.members == {loop.place, loop.grown} else None

    def begin(self, loop: Loop) -> None:
        """Before the loop there is an array of a size with its turns."""
        owner, held, inputs = self.program.owner(loop.begins), self.lists[loop.place], list(self.inputs(loop.begins))
        assert owner is not None
        size = self.edit.call(owner, MAKE_TUPLE, loop.turns)
        whole = self.edit.call(owner, FULL, size, self.edit.constant(held.begin), self.edit.constant(held.dtype))
        inputs[1 + loop.list_at] = whole
        self.edit.set_inputs(loop.begins, tuple(inputs))

    def is_made(self, use: Use, held: Elements) -> bool:
        """Whether an array is made of the list that is not the one that stands for it, or not if there are no elements."""
        callee, inputs = self.program.callee(use.user), self.program.inputs(use.user)
        if use.index != 1 or callee not in (AS_ARRAY, STACK, CONCATENATE):
            return False
        known = held.dtype == "f64" or self.program.constant(inputs[2]) is not None
        return callee is not AS_ARRAY or bool(held.axes) or not known

    def made_array(self, user: NodeId, held: Elements) -> None:
        """An array that is made of a list, where there are elements: from the first on, which is nowhere in an empty array."""
        owner, callee, (_, list, how) = self.program.owner(user), self.program.callee(user), self.inputs(user)
        assert owner is not None
        call, constant = self.edit.call, self.edit.constant
        first = if_any(self.edit, owner, call(owner, LENGTH, list), 0)
        there = call(owner, GETITEM, list, call(owner, MAKE_SLICE, first, constant(None), constant(None)))
        if callee is AS_ARRAY:
            self.edit.set_inputs(user, (constant(AS_ARRAY), there, how))
        elif callee is STACK:
            self.edit.set_inputs(user, moved(self.edit, there, self.program.constant(how), len(held.axes)))
        else:
            self.edit.set_inputs(user, in_one(self.edit, owner, there, len(held.axes)))

    def constant(self, use: Use, held: Elements) -> None:
        """A list that is a constant is an array that is one."""
        inputs = list(self.inputs(use.user))
        value = self.program.constant(inputs[use.index])
        if isinstance(value, Unbound):
            return
        inputs[use.index] = self.edit.constant(array_of(value, held))
        self.edit.set_inputs(use.user, tuple(inputs))

    def inputs(self, node: NodeId) -> tuple[NodeId, ...]:
        return self.edit.nodes[node].inputs  # type: ignore[union-attr]

    def make(self, node: NodeId, held: Elements) -> None:
        """What makes a list makes an array."""
        callee, owner = self.program.callee(node), self.program.owner(node)
        inputs = self.inputs(node) if callee in (MAKE_TUPLE, MAKE_RECORD, APPEND, CONCAT, PUT) else ()
        assert owner is not None
        if callee in (MAKE_TUPLE, MAKE_RECORD):
            self.edit.set_inputs(node, self.display(owner, inputs[2 if callee is MAKE_RECORD else 1 :], held))
        elif callee is PUT:
            self.edit.set_inputs(node, (*inputs[:2], fitting(self.edit, owner, inputs[1], inputs[2], inputs[3], held), inputs[3]))
        elif (loop := self.loops.get(node)) is not None:
            self.edit.set_inputs(node, (self.edit.constant(PUT), inputs[1], loop.turn, inputs[2]))
        elif callee is APPEND:
            last = self.edit.apply(owner, *self.display(owner, inputs[2:], held))
            self.join(node, inputs[1], last, held)
        elif callee is CONCAT:
            self.join(node, inputs[1], inputs[2], held)

    def join(self, node: NodeId, first: NodeId, second: NodeId, held: Elements) -> None:
        """The elements of one list behind those of another."""
        owner = self.program.owner(node)
        assert owner is not None
        there = [n for n in (first, second) if not is_nothing(self.program, self.edit, n)]
        if len(there) == 1:
            self.edit.set_inputs(node, (self.edit.constant(ITERATED), *there))
            return
        unsure = [n for n in there if held.axes and n in self.program.nodes and not is_display(self.program, n)]
        self.edit.set_inputs(node, joined(self.edit, owner, first, second, unsure))

    def display(self, owner: int, items: Sequence[NodeId], held: Elements) -> tuple[NodeId, ...]:
        """The application that makes an array of these elements."""
        constant = self.edit.constant
        if not items:
            size = constant((0,) * (1 + len(held.axes)))
            return constant(FULL), size, constant(held.begin), constant(held.dtype)
        made = self.edit.call(owner, MAKE_TUPLE, *items)
        return (constant(STACK), made, constant(0)) if held.axes else (constant(AS_ARRAY), made, constant(held.dtype))

    def ask(self, node: NodeId) -> None:
        """What is asked of a list where an array is asked otherwise."""
        for use in self.program.users(node):
            callee, owner = self.program.callee(use.user), self.program.owner(use.user)
            if callee is TO_BOOLEAN:
                assert owner is not None
                size = self.edit.call(owner, LENGTH, node)
                self.edit.set_inputs(use.user, (self.edit.constant(NE), size, self.edit.constant(0)))


def moved(edit: Edit, array: NodeId, axis: int, rank: int) -> tuple[NodeId, ...]:
    """The application that gives the array whose first axis is at `axis`: what `stack` makes of its rows, each of `rank` axes."""
    if not -rank - 1 <= axis <= rank:
        return edit.constant(STACK), array, edit.constant(axis)
    axis %= rank + 1
    return edit.constant(TRANSPOSE), array, edit.constant((*range(1, axis + 1), 0, *range(axis + 1, rank + 1)))


def in_one(edit: Edit, owner: GraphId, array: NodeId, rank: int) -> tuple[NodeId, ...]:
    """The application that gives the array with the first two axes as one: what `concatenate` makes of its rows."""
    shape = edit.call(owner, SHAPE, array)
    sizes = [edit.call(owner, GETITEM, shape, edit.constant(axis)) for axis in range(2, rank + 1)]
    return edit.constant(RESHAPE), array, edit.call(owner, MAKE_TUPLE, edit.constant(-1), *sizes)


def array_of(value: Any, held: Elements) -> Array:
    """The array of a constant list."""
    items = tuple(value.items if isinstance(value, Record) else value)
    return Array(held.dtype, (len(items), *(0 for _ in held.axes)), items)
