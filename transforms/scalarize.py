"""
Scalarised tuples (MimIrADe, section 4.3): a function that only takes a tuple apart is given its elements instead.

    scalar_parameter  @g(…, t, …), of which g only uses elements and the length, called with tuples of one length made at the calls
                      ⟹  @g(…, t₀, …, tₙ₋₁, …)

Records of one class, lists and constant tuples are tuples here. A loop carries its tuple as separate values, and no turn
allocates one: a call inside g may pass t on as it is. Every element is evaluated at the call before and after, for a tuple that
is made there holds all its elements; so no trap comes and none goes. That `t = of_length(u, n)` has n elements is not enough: a
dictionary of n keys has no element 0, and a use that is not reached would be asked for it.

Results stay tuples: a call has one value, and what is done with it is seen where the callee is inlined (`transforms.tuples`).
"""

from __future__ import annotations

from typing import NamedTuple

from semantics.edit import Edit
from semantics.ir import GraphId, NodeId, Parameter, Program, Use
from semantics.primitives.table import TABLE
from semantics.structured import Label
from transforms.surgery import application, arguments_of, become, index_of, only_called
from transforms.system import RewriteSystem, rewrite

MAKE_TUPLE, MAKE_RECORD, GETITEM, FIELD, LENGTH = (TABLE[n] for n in ("make_tuple", "make_record", "getitem", "field", "length"))
INDEXED = ("namedtuple", "list")


class Shape(NamedTuple):
    """The number of elements, and the constant that holds the label of a record; no label for a tuple."""

    size: int
    label: NodeId | None


@rewrite
def scalar_parameter(program: Program, place: int) -> Program | None:
    """@g(…, t, …), only called, and with (a₀, …, aₙ₋₁) or its own t, and only t[k] and length(t) used  ⟹  @g(…, t₀, …, tₙ₋₁, …)"""
    graph = program.graphs.get(place)
    if graph is None or place == program.entry:
        return None
    calls: tuple[Use, ...] | None = None
    for index, x in enumerate(graph.parameters):
        if not _taken_apart(program, place, index, x):
            continue
        calls = only_called(program, place) if calls is None else calls
        if calls is None:
            return None
        shapes = {shape_of(program, program.inputs(c.user)[index + 1]) for c in calls if program.inputs(c.user)[index + 1] != x}
        shape = shapes.pop() if len(shapes) == 1 else None
        if shape is not None and all(_understood(program, shape, use) for use in program.users(x)):
            return _scalarized(program, place, index, calls, shape)
    return None


def _taken_apart(program: Program, graph: GraphId, index: int, x: NodeId) -> bool:
    """Whether `x` is only taken apart or passed on by calls of its graph, in its place; and taken apart at least once."""
    users = program.users(x)
    apart = [use for use in users if use.index == 1 and program.callee(use.user) in (GETITEM, FIELD, LENGTH)]
    reference = program.reference(graph)
    rest = (use for use in users if use not in apart)
    return (
        bool(apart)
        and not program.returns.get(x)
        and all(use.index == index + 1 and program.inputs(use.user)[0] == reference for use in rest)
    )


def shape_of(program: Program, node: NodeId) -> Shape | None:
    """What is known of a tuple or record that is made in place, or constant; else None."""
    constant, made = program.constant(node), application(program, node)
    if type(constant) is tuple:
        return Shape(len(constant), None)
    if made is None or program.callee(node) not in (MAKE_TUPLE, MAKE_RECORD):
        return None
    if program.callee(node) is MAKE_TUPLE:
        return Shape(len(made.arguments), None)
    label = program.constant(made.arguments[0]) if made.arguments else None
    size = len(made.arguments) - 1
    fits = isinstance(label, Label) and (label.kind == "list" or len(label.fields) == size)
    return Shape(size, made.arguments[0]) if fits else None


def _understood(program: Program, shape: Shape, use: Use) -> bool:
    """Whether a use of a parameter takes an element or the length that a value of this shape has; or passes it on."""
    if program.callee(use.user) is LENGTH:
        return shape.label is None or _label(program, shape).kind != "dataclass"
    return program.callee(use.user) not in (GETITEM, FIELD) or element_at(program, shape, use.user) is not None


def element_at(program: Program, shape: Shape, place: NodeId) -> int | None:
    """The place of the element that the application at `place` takes of a value of this shape, if it has one."""
    found = arguments_of(program, place, FIELD)
    if found is not None:
        name = program.constant(found[1])
        return _label(program, shape).index(name) if shape.label is not None and type(name) is str else None
    found = arguments_of(program, place, GETITEM)
    index = index_of(program, found[1]) if found is not None else None
    indexed = shape.label is None or _label(program, shape).kind in INDEXED
    return index % shape.size if indexed and index is not None and -shape.size <= index < shape.size else None


def _label(program: Program, shape: Shape) -> Label:
    assert shape.label is not None
    label = program.constant(shape.label)
    assert isinstance(label, Label)
    return label


def _scalarized(program: Program, place: GraphId, index: int, calls: tuple[Use, ...], shape: Shape) -> Program:
    """The program in which @g takes the elements of its parameter number `index`."""
    edit = Edit(program)
    parameters = program.graphs[place].parameters
    x = parameters[index]
    old = program.nodes[x]
    assert isinstance(old, Parameter)
    parts = tuple(edit.parameter(place, f"{old.name}{k}", location=old.location) for k in range(shape.size))
    for use in sorted(program.users(x)):
        if program.callee(use.user) is LENGTH:
            become(edit, use.user, edit.constant(shape.size))
        elif (k := element_at(program, shape, use.user)) is not None:
            become(edit, use.user, parts[k])
    for call in calls:
        before = edit.program.inputs(call.user)
        passed = before[index + 1]
        elements = parts if passed == x else _elements(edit, passed)
        edit.set_inputs(call.user, (*before[: index + 1], *elements, *before[index + 2 :]))
    edit.set_parameters(place, (*parameters[:index], *parts, *parameters[index + 1 :]))
    return edit.program


def _elements(edit: Edit, node: NodeId) -> tuple[NodeId, ...]:
    """The elements of a value whose shape is known."""
    program = edit.program
    constant = program.constant(node)
    if type(constant) is tuple:
        return tuple(edit.constant(item) for item in constant)
    return program.inputs(node)[1 if program.callee(node) is MAKE_TUPLE else 2 :]


RULES = (scalar_parameter,)


def measure(program: Program) -> tuple[int, ...]:
    """The applications that take an element or the length of a parameter, or of an element of one."""
    count = 0
    for node in program.nodes:
        current, depth = node, 0
        while program.callee(current) in (GETITEM, FIELD, LENGTH) and len(program.inputs(current)) > 1:
            current, depth = program.inputs(current)[1], depth + 1
        count += depth > 0 and isinstance(program.nodes[current], Parameter)
    return (count,)


SYSTEM = RewriteSystem(
    name="scalarize",
    rules=RULES,
    doc="a function that only takes a tuple apart is given its elements",
    measure=measure,
)
