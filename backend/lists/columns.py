"""
Lists of tuples become tuples of lists, one for each part: a column.

    [(x, x * x) for x in xs]        append(s, t)  ⟹  append(s₀, t[0]), append(s₁, t[1])
    for a, b in pairs               s[i]          ⟹  (s₀[i], s₁[i])
                                    length(s)     ⟹  length(s₀)
                                    as_array(s)   ⟹  stack((as_array(s₀), as_array(s₁)), 1)

So are lists of records, with the label put back where an element is taken. A parameter becomes one for each column, so what a loop
does with each is what it does with a list; where such a list is kept in a tuple, or given by a function, it is the tuple of its
columns. The values are the same, and what traps, but for an array that is made of a list without elements: it has one axis then, so
that is left to the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from backend.lists.joins import if_any
from backend.lists.loops import called
from backend.lists.meeting import (
    ANY,
    APPEND,
    CONCAT,
    FIELD,
    GETITEM,
    ITERATED,
    MAKE_RECORD,
    MAKE_SLICE,
    MAKE_TUPLE,
    PUT,
    SWITCH,
    Meeting,
)
from semantics.edit import Edit
from semantics.infer import Inference
from semantics.ir import Apply, Constant, GraphId, GraphRef, NodeId, Parameter, Program, Use
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.structured import Label, Record
from semantics.type_language import REAL, RecordType, SequenceType, TupleType
from semantics.type_lattice import NEVER
from transforms.surgery import become, discard

AS_ARRAY, LENGTH, STACK, TO_BOOLEAN = (TABLE[name] for name in ("as_array", "length", "stack", "to_boolean"))
EACH = (APPEND, CONCAT, ITERATED, PUT, SWITCH, MAKE_RECORD, MAKE_TUPLE)
"""What gives a list: of lists of tuples, one for each column."""


class Form(NamedTuple):
    """What every element of a list is: a tuple of so many parts, or a record."""

    size: int
    label: Label | None


def in_columns(program: Program, inference: Inference, _: bool = False) -> Program:
    """The program with columns for all such lists; itself if it has none."""
    meeting = Meeting(program, inference)
    members = meeting.members()
    forms = {root: form for root, nodes in members.items() if (form := _form(meeting, root, nodes)) is not None}
    return _Columns(meeting, forms, members).run() if forms else program


def _form(meeting: Meeting, root: int, nodes: Sequence[NodeId]) -> Form | None:
    """What the elements of a class of lists are; None if they are no tuples, or no length is unknown, or more is asked."""
    if root in meeting.lost or ANY not in meeting.parts[root]:
        return None
    types = [type for node in nodes for type in meeting.types.get(node, ())]
    if not any(isinstance(type, SequenceType) for type in types):
        return None
    forms: set[Form | None] = set()
    for type in types:
        items = (type.item,) if isinstance(type, SequenceType) else getattr(type, "items", (None,))
        forms |= {_form_of(item) for item in items if item != NEVER}
    form = forms.pop() if len(forms) == 1 else None
    arrays = form is not None and form.label is None and all(_is_of_reals(type) for type in types)
    return form if form is not None and not any(_asks_more(meeting.program, node, arrays) for node in nodes) else None


def _is_of_reals(type: Any) -> bool:
    """Whether the elements of a list are tuples of reals, as far as there are some."""
    items = (type.item,) if isinstance(type, SequenceType) else type.items
    return all(part == REAL for item in items if isinstance(item, TupleType) for part in item.items)


def _form_of(type: Any) -> Form | None:
    match type:
        case TupleType(items) if items:
            return Form(len(items), None)
        case RecordType(label, items) if items and label.kind != "list":
            return Form(len(items), label)
        case _:
            return None


def _asks_more(program: Program, node: NodeId, arrays: bool) -> bool:
    """Whether a list is asked for what columns do not answer: to be a tuple of known length, or an array that is not of reals."""
    rows = (STACK, TABLE["concatenate"], TABLE["of_length"], TABLE["of_class"], *([] if arrays else [AS_ARRAY]))
    return any(use.index == 1 and program.callee(use.user) in rows for use in program.users(node))


class _Columns:
    """The program with columns for some classes of lists, as it is made."""

    def __init__(self, meeting: Meeting, forms: dict[int, Form], members: dict[int, list[NodeId]]) -> None:
        self.meeting, self.program, self.forms, self.edit = meeting, meeting.program, forms, Edit(meeting.program)
        self.members = [node for root in forms for node in members[root]]
        self.constants = {use: root for use, one in meeting.constants if (root := meeting.find(one)) in forms}
        self.parts: dict[NodeId, list[NodeId]] = {}
        self.wholes: dict[tuple[NodeId, GraphId], NodeId] = {}
        self.made = [n for n in self.members if self.is_made(n)]

    def form(self, node: NodeId) -> Form | None:
        """What the elements of the list at a node are, if it gets columns."""
        return self.forms.get(self.meeting.of(node)) if node in self.meeting.node else None

    def is_made(self, node: NodeId) -> bool:
        """Whether a list is made by what is done for each column, so that its node goes; others are tuples of their columns."""
        return self.program.callee(node) in EACH or self.is_slice(node)

    def is_slice(self, node: NodeId) -> bool:
        return self.program.callee(node) is GETITEM and self.meeting.is_slice(self.program.inputs(node)[2])

    def run(self) -> Program:
        for node in self.members:
            self.parts[node] = self.begun(node)
        for node in self.made:
            self.make(node)
        for node in sorted(self.program.nodes):
            if isinstance(self.program.nodes[node], Apply) and node not in self.made:
                self.use(node)
        for graph in self.program.graphs:
            self.give(graph)
        discard(self.edit, self.edit.program, self.made, ())
        for graph, found in self.program.graphs.items():
            if any(self.form(p) for p in found.parameters):
                kept = tuple(p for p in self.edit.graphs[graph].parameters if p not in self.parts)
                self.edit.set_parameters(graph, kept)
        return self.edit.program

    def begun(self, node: NodeId) -> list[NodeId]:
        """The columns of a list: parameters, applications that `make` fills, or the elements of a tuple."""
        form, found = self.form(node), self.program.nodes[node]
        assert form is not None
        if isinstance(found, Parameter):
            return [self.edit.parameter(found.graph, found.name, None, found.location) for _ in range(form.size)]
        if self.is_made(node):
            return [self.edit.reserve() for _ in range(form.size)]
        return [self.edit.call(self.owner(node), GETITEM, node, self.edit.constant(k)) for k in range(form.size)]

    def make(self, node: NodeId) -> None:
        """Does for each column what makes the list."""
        found, form, callee = self.program.nodes[node], self.form(node), self.program.callee(node)
        assert isinstance(found, Apply)
        assert form is not None
        elements = {APPEND: (2,), PUT: (3,), MAKE_TUPLE: range(1, len(found.inputs))}.get(callee, ())
        elements = range(2, len(found.inputs)) if callee is MAKE_RECORD else elements
        lists = {SWITCH: (2, 3), CONCAT: (1, 2), MAKE_TUPLE: (), MAKE_RECORD: ()}.get(callee, (1,))
        for k, column in enumerate(self.parts[node]):
            inputs = list(found.inputs)
            for index in lists:
                inputs[index] = self.columns(node, index, form)[k]
            for index in elements:
                inputs[index] = self.part(found.graph, inputs[index], form, k)
            self.edit.fill(column, Apply(found.graph, tuple(inputs), found.name, found.location))

    def columns(self, user: NodeId, index: int, form: Form) -> list[NodeId]:
        """The columns of the list that an application is given."""
        node = self.program.inputs(user)[index]
        if isinstance(self.program.nodes[node], Constant):
            return self.of_constant(self.program.constant(node), form)
        return self.parts[node]

    def of_constant(self, value: Any, form: Form) -> list[NodeId]:
        """The columns of a list that is a constant."""
        rows = value.items if isinstance(value, Record) else value
        rows = [row.items if isinstance(row, Record) else row for row in rows]
        columns = [tuple(row[k] for row in rows) for k in range(form.size)]
        return [self.edit.constant(Record(value.label, c) if isinstance(value, Record) else c) for c in columns]

    def part(self, graph: GraphId, element: NodeId, form: Form, k: int) -> NodeId:
        """A part of an element that is put into the list."""
        if form.label is None and self.program.callee(element) is MAKE_TUPLE:
            item = self.program.inputs(element)[1 + k]
            return item if self.form(item) is None else self.whole(item, graph)
        if form.label is None or form.label.kind == "namedtuple":
            return self.edit.call(graph, GETITEM, element, self.edit.constant(k))
        row = FIELD if form.label.kind == "dataclass" else GETITEM
        return self.edit.call(graph, row, element, self.edit.constant(form.label.fields[k]))

    def whole(self, node: NodeId, graph: GraphId) -> NodeId:
        """The tuple of the columns of a list, made where it is asked for."""
        if not isinstance(self.program.nodes[node], Parameter) and not self.is_made(node):
            return node
        if (node, graph) not in self.wholes:
            self.wholes[node, graph] = self.edit.call(graph, MAKE_TUPLE, *self.parts[node])
        return self.wholes[node, graph]

    def owner(self, node: NodeId) -> GraphId:
        owner = self.program.owner(node)
        assert owner is not None
        return owner

    def use(self, user: NodeId) -> None:
        """What an application does with lists, it does with their columns."""
        callee, inputs = self.program.callee(user), self.program.inputs(user)
        form = self.form(inputs[1]) if len(inputs) > 1 else None
        if not isinstance(callee, Primitive):
            self.call(user)
        elif form is not None and callee is GETITEM and self.form(user) is None:
            become(self.edit, user, self.taken(user, form))
        elif form is not None and callee in (LENGTH, TO_BOOLEAN):
            self.edit.set_inputs(user, (inputs[0], self.parts[inputs[1]][0], *inputs[2:]))
        elif form is not None and callee is AS_ARRAY:
            self.array(user)
        else:
            self.hold(user)

    def array(self, user: NodeId) -> None:
        """The arrays of the columns, beside one another, where there are elements: from the first on, which is nowhere in none."""
        owner, call, constant = self.owner(user), self.edit.call, self.edit.constant
        _, node, how = self.program.inputs(user)
        first = if_any(self.edit, owner, call(owner, LENGTH, self.parts[node][0]), 0)
        there = call(owner, MAKE_SLICE, first, constant(None), constant(None))
        arrays = [call(owner, AS_ARRAY, call(owner, GETITEM, column, there), how) for column in self.parts[node]]
        self.edit.set_inputs(user, (constant(STACK), call(owner, MAKE_TUPLE, *arrays), constant(1)))

    def taken(self, user: NodeId, form: Form) -> NodeId:
        """An element, put together of those of the columns."""
        owner, (_, whole, index) = self.owner(user), self.program.inputs(user)
        items = [self.edit.call(owner, GETITEM, column, index) for column in self.parts[whole]]
        if form.label is None:
            return self.edit.call(owner, MAKE_TUPLE, *items)
        return self.edit.call(owner, MAKE_RECORD, self.edit.constant(form.label), *items)

    def call(self, user: NodeId) -> None:
        """A call passes columns behind all else."""
        way = self.program.constant(called(self.program, user)[0])
        parameters = self.program.graphs[way.graph].parameters if isinstance(way, GraphRef) else ()
        inputs = self.inputs(user)
        kept, passed = [inputs[0]], []
        for index, node in enumerate(inputs[1:], 1):
            form = self.form(parameters[index - 1]) if index <= len(parameters) else None
            if form is not None:
                passed += self.columns(user, index, form)
            else:
                kept.append(self.whole(node, self.owner(user)) if self.form(node) is not None else node)
        self.edit.set_inputs(user, (*kept, *passed))

    def inputs(self, user: NodeId) -> tuple[NodeId, ...]:
        """What an application is given, as far as elements have been put together."""
        found = self.edit.nodes[user]
        assert isinstance(found, Apply)
        return found.inputs

    def hold(self, user: NodeId) -> None:
        """What is kept in a tuple is the tuple of the columns."""
        before = self.inputs(user)
        inputs = list(before)
        for index, node in enumerate(before):
            if self.form(node) is not None:
                inputs[index] = self.whole(node, self.owner(user))
            elif (root := self.constants.get(Use(user, index))) is not None:
                columns = self.of_constant(self.program.constant(node), self.forms[root])
                inputs[index] = self.edit.call(self.owner(user), MAKE_TUPLE, *columns)
        if tuple(inputs) != before:
            self.edit.set_inputs(user, tuple(inputs))

    def give(self, graph: GraphId) -> None:
        """A graph gives the tuple of the columns."""
        output = self.program.graphs[graph].output
        root = self.meeting.outputs.get(graph)
        form = self.forms.get(self.meeting.find(root)) if root is not None else None
        if form is not None:
            columns = self.of_constant(self.program.constant(output), form)
            self.edit.output(graph, self.edit.call(graph, MAKE_TUPLE, *columns))
        elif self.form(output) is not None:
            self.edit.output(graph, self.whole(output, graph))
