"""
Lists that a loop makes, one element a turn, as arrays: generated code has no sequences of unknown length.

    [sin(x) for x in xs]     acc = []                  acc = full((n,), 0.0)
                             @for(k, acc):             @for(k, acc):
                               … append(acc, e)   →      … put(acc, k, e)

where every e is a number of one kind, or an array, and where the list is asked for nothing but what an array answers as it does:
its length, an element by an integer, to be gone over, or to be made an array. Arrays are as large as the first of them; so where
there are some, and where something asks for one element at least, the first turn is taken before the loop:

    @for(0, [])   →   … @for(1, put(full((n, *shape(e)), 0.0), 0, e))

with an index 0 that is an element of an array of min(n, 1): code that is asked for no turn leaves at once.

What is computed is the same, and so is the gradient. What traps is not: elements of different sizes do, and a list without elements
may. So this is for code whose traps send the sample to the machine, which runs the program as it was (`backend.tiers`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

from backend.lists.arrayed import arrayed
from backend.lists.columns import in_columns
from backend.lists.elements import Elements, kind
from backend.lists.fixed import with_tuples
from backend.lists.flow import Flow, flow
from backend.lists.joins import fitting, if_any
from backend.lists.loops import Loop, loop_at, loops
from backend.lists.reading import without_unread
from backend.lists.told import told_types
from semantics.edit import Edit
from semantics.infer import Inference
from semantics.ir import GraphId, NodeId, Program
from semantics.primitives.table import TABLE
from semantics.scope import Scopes
from semantics.type_language import INTEGER, SequenceType
from transforms import dce
from transforms.clone import copy_graphs
from transforms.macros import RULES as MACRO_RULES
from transforms.surgery import become, needed_in, nest
from transforms.system import RewriteSystem

ADD, APPEND, CONCAT, FULL, GETITEM, MAKE_TUPLE, MIN, PUT, SHAPE = (
    TABLE[name] for name in ("add", "append", "concat", "full", "getitem", "make_tuple", "min", "put", "shape")
)
ROWS = (TABLE["jacobian"], TABLE["hessian"])
"""The macros that make a list of rows."""
OPEN = RewriteSystem("open", MACRO_RULES, "macros as applications of J", argument="each macro disappears")


DEEPEST = 8
"""Rounds: how deep lists in lists may be."""


class List(NamedTuple):
    """A list that is to be an array: the loop that makes it, where it goes, and what it holds."""

    loop: Loop
    flow: Flow
    elements: Elements

    @property
    def waits(self) -> bool:
        """Whether the first element says what the array is, or a list of no elements would be another thing."""
        return bool(self.elements.axes or self.flow.stacks or (self.flow.arrays and self.elements.dtype != "f64"))


def gathered(program: Program, types: Sequence[Any] | None = None, *, known: bool = False) -> Program:
    """
    The program with arrays for all such lists, as a Jacobian's rows are; itself if there are none, or types cannot be told. A list
    whose length the types decide, or of a few lengths, as where len(out) < 3, is its elements; if `known`, an array too where a
    loop makes it.
    """
    opened = OPEN.run(program) if any(macro in program.interned for macro in ROWS) else program
    read = without_unread(opened) if _makes_lists(opened) else opened
    found = _all_gathered(read, types, known)
    return program if found is read else found


def _all_gathered(program: Program, types: Sequence[Any] | None, known: bool) -> Program:
    """All lists that are known are taken in one round, so types are told once for each depth of lists in lists."""
    begun = False  # what holds a list that is an array now is one, whatever its length
    told: tuple[Program, Inference | None] | None = None
    for _ in range(DEEPEST):
        before = program
        for way in (with_tuples, in_columns, partial(_made_by_loops, known=known), partial(arrayed, known=known)):
            if not _makes_lists(program):
                return program
            if told is None or told[0] is not program:
                told = program, told_types(program, types)
            if told[1] is None:
                return program
            program = way(program, told[1], begun)
            begun = begun or (way not in (with_tuples, in_columns) and program is not told[0])
        if program is before:
            break
    return program


def _makes_lists(program: Program) -> bool:
    """Whether a list is made longer, or of two."""
    rows = [program.interned[row] for row in (APPEND, CONCAT) if row in program.interned]
    return any(use.index == 0 for row in rows for use in program.users(row))


def _made_by_loops(program: Program, inference: Inference, begun: bool, *, known: bool) -> Program:
    """The program with arrays for lists to which a loop adds an element in each turn."""
    found = [(loop, way) for loop in loops(program) if (way := flow(program, loop)) is not None]
    held = {loop.place: e for loop, way in found if (e := _elements(program, inference, loop, way, begun, known)) is not None}
    for places in _by_loop(loop for loop, _ in found if loop.place in held):
        now = [each for place in places if place in program.nodes and (each := loop_at(program, place)) is not None]
        lists = [List(each, way, held[each.place]) for each in now if (way := flow(program, each)) is not None]
        program = _with_arrays(program, lists) if lists else program
    return program


def _by_loop(found: Iterable[Loop]) -> list[list[NodeId]]:
    """Where lists are made longer, those of one loop together."""
    places: dict[GraphId, list[NodeId]] = {}
    for loop in found:
        places.setdefault(loop.graph, []).append(loop.place)
    return list(places.values())


def _elements(program: Program, inference: Inference, loop: Loop, way: Flow, begun: bool, known: bool) -> Elements | None:
    """What the list holds, if it is one kind in each run, indices are integers, and the length is not known, or may be `known`."""
    held = (loop.element, *(program.inputs(place)[3] for place in way.changes))
    indices = [program.inputs(place)[2] for place in (*way.elements, *way.changes)]
    kinds, unknown = set(), False
    for nodes in inference.types.values():
        kinds |= {kind(nodes[n]) for n in held if n in nodes}
        unknown = unknown or isinstance(nodes.get(loop.grown), SequenceType)
        if any(nodes[n] != INTEGER for n in indices if n in nodes):
            return None
    elements = kinds.pop() if len(kinds) == 1 else None
    if elements is None:
        return None
    return elements if unknown or known or (begun and elements.axes) else None


def _with_arrays(program: Program, lists: Sequence[List]) -> Program:
    """The lists of one loop are made before it, as large as the first elements say where that must be asked."""
    program = _with_places_that_fit(program, lists)
    edit, (loop, _, _) = Edit(program), lists[0]
    if any(list.waits for list in lists):
        _first_turn(edit, program, lists)
    else:
        owner = program.owner(loop.begins)
        assert owner is not None
        size = edit.call(owner, MAKE_TUPLE, loop.turns)
        inputs = list(program.inputs(loop.begins))
        for each in lists:
            inputs[1 + each.loop.list_at] = edit.call(owner, FULL, size, edit.constant(each.elements.begin), edit.constant(None))
        edit.set_inputs(loop.begins, tuple(inputs))
    for each in lists:
        for place in each.flow.stacks:
            become(edit, place, program.inputs(place)[1])
        _, grown, element = edit.program.inputs(each.loop.place)
        turn = fitting(edit, loop.body, grown, loop.turn, element, each.elements)
        become(edit, each.loop.place, edit.call(loop.body, PUT, grown, turn, element))
    return dce.SYSTEM.run(edit.program) if any(each.waits for each in lists) else edit.program


def _with_places_that_fit(program: Program, lists: Sequence[List]) -> Program:
    """An array in the place of another in a list is to have its sizes."""
    edit = Edit(program)
    for place, held in [(place, each.elements) for each in lists for place in each.flow.changes]:
        row, array, index, element = program.inputs(place)
        owner = program.owner(place)
        assert owner is not None
        edit.set_inputs(place, (row, array, fitting(edit, owner, array, index, element, held), element))
    return edit.program


def _first_turn(edit: Edit, program: Program, lists: Sequence[List]) -> None:
    """The call that begins the loop becomes the body of its first turn, which makes the arrays, and goes on with the second."""
    loop = lists[0].loop
    owner, parameters = program.owner(loop.begins), program.graphs[loop.graph].parameters
    assert owner is not None
    copies, itself = nest(program, loop.graph), edit.reference(loop.graph)
    arguments = dict(zip(parameters, program.inputs(loop.begins)[1:], strict=True))
    arguments[loop.turn] = zero = if_any(edit, owner, edit.call(owner, MIN, loop.turns, edit.constant(1)), 0)
    found = Scopes({}, needed_in(program, copies), {})
    into, substitution = {loop.graph: owner}, {itself: itself, **arguments}
    copied = copy_graphs(edit, program, copies, found=found, into=into, substitution=substitution)
    body = copied.graphs[loop.body]
    for each in lists:
        place = copied.nodes[each.loop.place]
        element = edit.program.inputs(place)[2]
        size = edit.call(body, MAKE_TUPLE, edit.call(body, ADD, loop.turns, zero))
        size = edit.call(body, CONCAT, size, edit.call(body, SHAPE, element)) if each.elements.axes else size
        whole = edit.call(body, FULL, size, edit.constant(each.elements.begin), edit.constant(None))
        become(edit, place, edit.call(body, PUT, whole, zero, element))
    again = copied.nodes[program.graphs[loop.body].output]
    passed = list(edit.program.inputs(again))
    passed[1 + loop.turn_at] = edit.constant(1)
    edit.set_inputs(again, tuple(passed))
    become(edit, loop.begins, edit.apply(owner, edit.reference(copied.graphs[loop.first])))
