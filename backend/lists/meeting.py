"""
Which nodes have the same lists: those between which values go, by graph, as classes of a union (Steensgaard, 1996).

The class of a tuple, a record or a list has a class for each part; where an index is not known, or where elements are added, all
parts are one, ANY. A constant is in no class, since it is one node for all that mention it: of a class are the places where one
stands. What goes to a function that is not known, in or out of the program, or into a primitive that asks for more than what lists
answer, is `lost`, with all its parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from backend.lists.loops import called
from semantics.infer import Inference
from semantics.ir import Apply, Constant, GraphId, GraphRef, NodeId, Parameter, Program, Use
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.structured import Label, Record, Slice
from semantics.type_language import INTEGER, ArrayType, RecordType, Scalar, TupleType
from semantics.type_lattice import NEVER

ANY = "*"
APPEND, CONCAT, GETITEM, MAKE_RECORD, MAKE_SLICE, MAKE_TUPLE, PUT, SWITCH = (
    TABLE[name] for name in ("append", "concat", "getitem", "make_record", "make_slice", "make_tuple", "put", "switch")
)
FIELD, WITH_FIELD, ITERATED, OF_LENGTH, OF_CLASS = (
    TABLE[name] for name in ("field", "with_field", "iterated", "of_length", "of_class")
)
ASKED = tuple(TABLE[name] for name in ("length", "to_boolean", "as_array", "stack", "concatenate"))
"""What only asks a list, as its first argument."""
Key = int | str


class Meeting:
    """
    The classes of a program's nodes.

    types      of each node, those that it has in the runs that inference tells apart
    constants  the places where a constant stands, with the class of what it goes to
    outputs    the graphs whose value is a constant, with the class of what they give
    """

    def __init__(self, program: Program, inference: Inference) -> None:
        self.program = program
        self.types: dict[NodeId, list[Any]] = {}
        for nodes in inference.types.values():
            for node, type in nodes.items():
                if type != NEVER and type not in (known := self.types.setdefault(node, [])):
                    known.append(type)
        self.above: list[int] = []
        self.parts: list[dict[Key, int]] = []
        self.lost: set[int] = set()
        self.node: dict[NodeId, int] = {}
        self.constants: list[tuple[Use, int]] = []
        self.outputs: dict[GraphId, int] = {}
        for node, found in sorted(program.nodes.items()):
            if isinstance(found, Apply):
                self.application(node, found.inputs)
        self.boundaries()
        self.lose_parts()

    # classes

    def fresh(self) -> int:
        """A new class."""
        self.above.append(len(self.above))
        self.parts.append({})
        return len(self.above) - 1

    def find(self, one: int) -> int:
        """The class as which this one is known now."""
        while self.above[one] != one:
            self.above[one] = one = self.above[self.above[one]]
        return one

    def of(self, node: NodeId) -> int:
        """The class of a node; a new one for each mention of a constant."""
        if isinstance(self.program.nodes[node], Constant):
            return self.fresh()
        if node not in self.node:
            self.node[node] = self.fresh()
        return self.find(self.node[node])

    def join(self, one: int, other: int) -> None:
        """Makes two classes one, and so their parts."""
        todo = [(one, other)]
        while todo:
            one, other = map(self.find, todo.pop())
            if one == other:
                continue
            self.above[other] = one
            if other in self.lost:
                self.lost.add(one)
            parts, self.parts[other] = self.parts[other], {}
            for key, part in parts.items():
                if (known := self.parts[one].setdefault(key, part)) != part:
                    todo.append((known, part))
            todo += self.alike(one)

    def alike(self, one: int) -> list[tuple[int, int]]:
        """What is to be joined where all parts of a class are one; it then has no other key."""
        parts = self.parts[one]
        if ANY not in parts or len(parts) == 1:
            return []
        self.parts[one] = {ANY: parts[ANY]}
        return [(parts[ANY], part) for key, part in parts.items() if key != ANY]

    def part(self, whole: int, key: Key) -> int:
        """The class of a part."""
        whole = self.find(whole)
        parts = self.parts[whole]
        if ANY in parts:
            return self.find(parts[ANY])
        if key not in parts:
            parts[key] = self.fresh()
            for one, other in self.alike(whole):
                self.join(one, other)
        return self.find(parts[key])

    # what applications do

    def give(self, user: NodeId, index: int, target: int) -> None:
        """Input number `index` of an application goes to what is of the class `target`."""
        node = self.program.nodes[self.program.inputs(user)[index]]
        if isinstance(node, Constant):
            self.constants.append((Use(user, index), target))
            if holds_sequences(node.value):
                self.lost.add(self.part(target, ANY))
        else:
            self.join(self.of(self.program.inputs(user)[index]), target)

    def application(self, node: NodeId, inputs: Sequence[NodeId]) -> None:
        """Joins what an application says is the same."""
        callee, itself = self.program.callee(node), self.of(node)
        if not isinstance(callee, Primitive):
            self.call(node, inputs)
        elif callee in (MAKE_TUPLE, MAKE_RECORD):
            self.display(node, inputs)
        elif callee is APPEND:
            self.give(node, 1, itself)
            self.give(node, 2, self.part(itself, ANY))
        elif callee is PUT or callee is WITH_FIELD:
            self.give(node, 1, itself)
            self.give(node, 3, self.part(itself, self.key(inputs[1], inputs[2])))
        elif callee in (CONCAT, SWITCH):
            for index in (1, 2) if callee is CONCAT else (2, 3):
                self.give(node, index, itself)
            if callee is CONCAT:
                self.part(itself, ANY)
        elif callee in (ITERATED, OF_LENGTH, OF_CLASS):
            self.give(node, 1, itself)
        elif callee in (GETITEM, FIELD):
            self.element(node, inputs)
        else:
            self.lose((node, *inputs[2 if callee in ASKED else 1 :]))

    def display(self, node: NodeId, inputs: Sequence[NodeId]) -> None:
        """The parts of what is made in place, which are one where it is a list."""
        itself, labelled = self.of(node), self.program.callee(node) is MAKE_RECORD
        label = self.program.constant(inputs[1]) if labelled else None
        listed = isinstance(label, Label) and label.kind == "list"
        if listed:
            self.part(itself, ANY)
        for index in range(2 if labelled else 1, len(inputs)):
            self.give(node, index, self.part(itself, ANY if listed else index - (2 if labelled else 1)))

    def element(self, node: NodeId, inputs: Sequence[NodeId]) -> None:
        """An element, or a slice, which is another such list."""
        if self.is_slice(inputs[2]):
            self.give(node, 1, self.of(node))
        elif self.program.callee(node) is GETITEM and any(t != INTEGER for t in self.types.get(inputs[2], ())):
            key = self.key(inputs[1], inputs[2])
            if key == ANY:
                self.lose((inputs[1], node))
            self.join(self.part(self.of(inputs[1]), key), self.of(node))
        elif not isinstance(self.program.nodes[inputs[1]], Constant):
            self.join(self.part(self.of(inputs[1]), self.key(inputs[1], inputs[2])), self.of(node))

    def is_slice(self, index: NodeId) -> bool:
        """Whether an index is a slice of integers, as its place says."""
        return self.program.callee(index) is MAKE_SLICE or isinstance(self.program.constant(index), Slice)

    def key(self, whole: NodeId, index: NodeId) -> Key:
        """Which part an index selects; ANY where that is not known."""
        value = self.program.constant(index)
        found = {_place(type, value) for type in self.types.get(whole, ())}
        key = found.pop() if len(found) == 1 else None
        return ANY if key is None else key

    def call(self, node: NodeId, inputs: Sequence[NodeId]) -> None:
        """The arguments are what the parameters are, and the result what the graphs give."""
        ways = [self.program.constant(way) for way in called(self.program, node)]
        for way in ways:
            graph = self.program.graphs[way.graph] if isinstance(way, GraphRef) else None
            if graph is None or len(graph.parameters) != len(inputs) - 1:
                self.lose((node, *inputs[1:]))
                continue
            for index, parameter in enumerate(graph.parameters, 1):
                self.give(node, index, self.of(parameter))
            if isinstance(self.program.nodes[graph.output], Constant):
                self.outputs[way.graph] = self.of(node)
            else:
                self.join(self.of(graph.output), self.of(node))

    # what is lost

    def boundaries(self) -> None:
        """What the program is given and gives, and all that graphs are given which are not only called, is lost."""
        for graph, found in self.program.graphs.items():
            if graph == self.program.entry or not self.is_called(graph):
                self.lose((*found.parameters, found.output))

    def is_called(self, graph: GraphId) -> bool:
        """Whether every mention of a graph calls it, or has a branch choose it that is called."""
        reference = self.program.reference(graph)
        if reference is None:
            return True
        mentions = list(self.program.users(reference))
        if self.program.returns.get(reference):
            return False
        for use in mentions:
            chosen = self.program.callee(use.user) is SWITCH and use.index > 1
            if use.index != 0 and not (chosen and self.is_called_itself(use.user)):
                return False
        return True

    def is_called_itself(self, node: NodeId) -> bool:
        return not self.program.returns.get(node) and all(use.index == 0 for use in self.program.users(node))

    def lose(self, nodes: Iterable[NodeId]) -> None:
        """These nodes go where they are not followed; an array may, since it stays one."""
        for node in nodes:
            types = self.types.get(node, ())
            if not types or not all(isinstance(type, (ArrayType, Scalar)) for type in types):
                self.lost.add(self.of(node))

    def lose_parts(self) -> None:
        """The parts of what is lost are lost."""
        self.lost = {self.find(one) for one in self.lost}
        todo = list(self.lost)
        while todo:
            for part in map(self.find, self.parts[todo.pop()].values()):
                if part not in self.lost:
                    self.lost.add(part)
                    todo.append(part)

    def members(self) -> dict[int, list[NodeId]]:
        """The nodes of each class."""
        found: dict[int, list[NodeId]] = {}
        for node in self.node:
            if isinstance(self.program.nodes[node], (Apply, Parameter)):
                found.setdefault(self.of(node), []).append(node)
        return found


def holds_sequences(value: Any) -> bool:
    """Whether a constant is a tuple, list or record in which there is another."""
    items = value.items if isinstance(value, Record) else value
    return isinstance(items, tuple) and any(isinstance(item, (tuple, Record)) for item in items)


def _place(type: Any, index: Any) -> Key | None:
    """The place of an index in what has this type; None where it is not one part of a tuple or record."""
    match type:
        case RecordType(label, _) if isinstance(index, str):
            return label.index(index)
        case TupleType(items) if isinstance(index, int) and -len(items) <= index < len(items):
            return index % len(items)
        case RecordType(label, items) if (
            label.kind == "namedtuple" and isinstance(index, int) and -len(items) <= index < len(items)
        ):
            return index % len(items)
        case _:
            return None
