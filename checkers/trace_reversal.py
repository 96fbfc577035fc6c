"""
Reversal of the recorded straight-line trace: the operational derivative of Abadi and Plotkin, and Wengert's list.

A run of the denotation over *traced* numbers records every primitive applied to something that depends on an input. What is
left has no branch, no loop, no call and no closure; its adjoint is one sweep backwards with the column of partials. An oracle
for J that knows nothing of closures and their sensitivities. The trace is also a program: `straight_line` (T6).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from checkers.columns.leaves import Path, coordinates, is_discrete, map_leaves
from checkers.columns.partials import TANGENT, body, has_structure, partials, wanted
from semantics.arrays import Array, strides_of
from semantics.columns.arrays import Elements, array_cell
from semantics.columns.elementwise import elementwise
from semantics.columns.structure import wrong
from semantics.denotation import FLOATS, Reading, denote
from semantics.edit import Edit, empty
from semantics.errors import IllTyped
from semantics.ir import NodeId, Program
from semantics.primitives.row import Column, Hole, Primitive
from semantics.primitives.table import ELEMENTWISE, TABLE
from semantics.structured import Record
from semantics.tangents import ZERO
from semantics.type_language import type_of
from semantics.values import Closure


@dataclass(frozen=True, slots=True)
class Entry:
    """
    One line of the trace: `output = primitive(arguments)`.

    inputs  for each argument the number of the traced value it is, or None if it depends on no input
    """

    primitive: Primitive
    inputs: tuple[int | None, ...]
    arguments: tuple[Any, ...]
    output: int
    value: Any


@dataclass(frozen=True, slots=True)
class Trace:
    """
    A run, straightened. Traced values are numbered: first the reals of the inputs, in order of `paths`, then the entries.

    result     the value of the program, with traced numbers in it
    constants  the traced literals, by number, if the run was asked to trace them
    """

    paths: tuple[Path, ...]
    entries: tuple[Entry, ...]
    result: Any
    constants: dict[int, float] = field(default_factory=dict)

    @property
    def value(self) -> Any:
        """The value of the program."""
        return map_leaves(lambda _, leaf: leaf.value if isinstance(leaf, Traced) else leaf, self.result)


@dataclass(slots=True)
class _Tape:
    """Where a run is recorded."""

    reading: Reading
    entries: list[Entry] = field(default_factory=list)
    count: int = 0

    def number(self) -> int:
        self.count += 1
        return self.count - 1

    def apply(self, primitive: Primitive, cell: Callable[..., Any], arguments: Sequence[Any]) -> Any:
        """The value of the primitive; recorded and traced if it is a real that depends on an input."""
        inputs = tuple(a.number if isinstance(a, Traced) else None for a in arguments)
        plain = tuple(a.value if isinstance(a, Traced) else a for a in arguments)
        value = cell(*plain)
        if is_discrete(value) or all(i is None for i in inputs):
            return value
        output = self.number()
        self.entries.append(Entry(primitive, inputs, plain, output, value))
        return Traced(value, output, self)


@dataclass(frozen=True, slots=True, eq=False)
class Traced:
    """A real with its number in the trace. Addition is what the algebra of sensitivities needs (`gadd`)."""

    value: Any
    number: int
    tape: _Tape

    def __add__(self, other: Any) -> Any:
        return self if other is ZERO else self._apply("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return self if other is ZERO else self._apply("add", other, self)

    def __neg__(self) -> Any:
        return self._apply("neg", self)

    def _apply(self, name: str, *arguments: Any) -> Any:
        return self.tape.apply(TABLE[name], self.tape.reading.column[TABLE[name]], arguments)


@dataclass(frozen=True, slots=True)
class _TracedColumn(Column):
    """The column that computes with the carrier of the tape and records what it does."""

    tape: _Tape = field(default_factory=lambda: _Tape(FLOATS))

    def find(self, primitive: Primitive) -> Callable[..., Any] | Hole:
        carrier = self.tape.reading
        program = body(primitive, TANGENT)
        if program is not None:
            return lambda *arguments: denote(program, arguments, Reading(self, carrier.lift, carrier.truth))
        if (on_arrays := array_cell(primitive, Elements(self.scalar, carrier.truth))) is not None:
            return on_arrays
        if primitive.name in ELEMENTWISE and TABLE[primitive.name] is primitive:
            return elementwise(primitive, self.scalar(primitive), Elements(self.scalar, carrier.truth))
        return self._scalar(primitive)

    def scalar(self, primitive: Primitive) -> Any:
        """The cell on numbers alone; one that refuses where the carrier has none."""
        cell = self._scalar(primitive)
        return Column("traced", {primitive.name: cell})[primitive] if isinstance(cell, Hole) else cell

    def _scalar(self, primitive: Primitive) -> Callable[..., Any] | Hole:
        carrier = self.tape.reading
        cell = carrier.column.find(primitive)
        if isinstance(cell, Hole) or (has_structure(primitive) and primitive.name != "seed"):
            return cell
        if primitive.name == "seed":
            return lambda out: cell(out.value if isinstance(out, Traced) else out)
        return lambda *arguments: self.tape.apply(primitive, cell, arguments)


def trace(program: Program, primals: Sequence[Any], carrier: Reading = FLOATS, *, literals: bool = False) -> Trace:
    """The recorded run of `program` at `primals`; with `literals`, real constants are traced like inputs."""
    tape = _Tape(carrier)
    paths = coordinates(primals)
    constants: dict[int, float] = {}

    def lift(constant: Any) -> Any:
        if not literals or type(constant) is not float:
            return carrier.lift(constant)
        number = tape.number()
        constants[number] = constant
        return Traced(carrier.lift(constant), number, tape)

    def traced(_: Path, leaf: Any) -> Any:
        return leaf if is_discrete(leaf) else Traced(carrier.lift(leaf), tape.number(), tape)

    arguments = map_leaves(traced, tuple(primals))
    result = denote(program, arguments, Reading(_TracedColumn("traced", {}, tape), lift, carrier.truth))
    return Trace(paths, tuple(tape.entries), result, constants)


def reverse(found: Trace, carrier: Reading = FLOATS) -> dict[int, Any]:
    """The sensitivities of a real result to every traced value that it depends on, by one sweep backwards."""
    result = found.result
    if isinstance(result, (tuple, Closure)) or is_discrete(result):
        raise wrong("gradient", "a program whose result is a real", result)
    if not isinstance(result, Traced):
        return {}
    column, slopes_of = carrier.column, partials(carrier)
    add, multiply = column[TABLE["add"]], column[TABLE["mul"]]
    sensitivities: dict[int, Any] = {result.number: carrier.lift(1.0)}
    for entry in reversed(found.entries):
        sensitivity = sensitivities.get(entry.output)
        if sensitivity is None:
            continue
        active = [i is not None for i in entry.inputs]
        slopes = wanted(slopes_of[entry.primitive], active, (*entry.arguments, entry.value), carrier)
        for number, slope in zip(entry.inputs, slopes, strict=True):
            if number is not None and slope is not ZERO:
                flow = multiply(slope, sensitivity)
                sensitivities[number] = add(sensitivities[number], flow) if number in sensitivities else flow
    return sensitivities


def gradient(program: Program, primals: Sequence[Any], carrier: Reading = FLOATS) -> tuple[Any, ...]:
    """The gradient of a real result in the structure of `primals`: zeros where nothing flows, None at integers and booleans."""
    found = trace(program, primals, carrier)
    sensitivities = reverse(found, carrier)
    numbers = {path: i for i, path in enumerate(found.paths)}
    result: tuple[Any, ...] = map_leaves(
        lambda path, _: sensitivities.get(numbers[path], carrier.lift(0.0)) if path in numbers else None, tuple(primals)
    )
    return result


def straight_line(program: Program, primals: Sequence[Any]) -> Program:
    """
    The trace at `primals` as a program of one graph, with the parameters of `program` and no call, branch or closure.

    At `primals` it has the same value, bit for bit; elsewhere as long as the same branches are taken and the integers agree.
    """
    found = trace(program, primals, literals=True)
    entry = program.graphs[program.entry]
    edit = Edit(empty())
    graph = edit.graph(f"{entry.name}_trace")
    types = [type_of(a) if program.arrays else None for a in primals]
    names = [getattr(program.nodes[p], "name", "") for p in entry.parameters]
    parameters = tuple(edit.parameter(graph, name, type) for name, type in zip(names, types, strict=True))
    nodes: dict[int, NodeId] = {number: edit.constant(value) for number, value in found.constants.items()}
    for number, (argument, *rest) in enumerate(found.paths):
        node, value = parameters[argument], primals[argument]
        for flat in rest:
            primitive, key = _part(value, flat)
            node = edit.call(graph, TABLE[primitive], node, edit.constant(key))
            value = value.items[flat] if isinstance(value, Record) else value[flat]
        nodes[number] = node
    for line in found.entries:
        inputs = (
            edit.constant(value) if number is None else nodes[number]
            for number, value in zip(line.inputs, line.arguments, strict=True)
        )
        nodes[line.output] = edit.call(graph, line.primitive, *inputs)
    edit.output(graph, _rebuilt(edit, graph, found.result, nodes))
    return edit.program


def _part(value: Any, flat: int) -> tuple[str, Any]:
    """How part number `flat` of a structured value is asked for: by the name of a field, or by an index for every axis."""
    match value:
        case Array(_, shape):
            return "getitem", tuple(flat // stride % n for stride, n in zip(strides_of(shape), shape, strict=True))
        case Record(label) if label.fields:
            return "field", label.fields[flat]
        case _:
            return "getitem", flat


def _rebuilt(edit: Edit, graph: int, result: Any, nodes: dict[int, NodeId]) -> NodeId:
    """The node of the result: tuples are made again, from the leaves up."""
    built: list[NodeId] = []
    todo: list[tuple[Any, int]] = [(result, -1)]
    while todo:
        item, gather = todo.pop()
        if gather >= 0:
            parts = built[len(built) - gather :]
            del built[len(built) - gather :]
            built.append(edit.call(graph, TABLE["make_tuple"], *parts))
        elif isinstance(item, tuple):
            todo.append((None, len(item)))
            todo.extend((part, -1) for part in reversed(item))
        elif isinstance(item, Closure):
            raise IllTyped(
                "the trace of a program that returns a function is no program", rule="straight_line", remedy="return data"
            )
        else:
            built.append(nodes[item.number] if isinstance(item, Traced) else edit.constant(item))
    return built[0]
