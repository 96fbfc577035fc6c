"""
What `grad` and its kin mean: each is a few applications of J (2018, figure 1, points 6 and 7).

    grad(f, i)(x…)            t = J(f)(J(x)…);  out = t[0];  ∇ = t[1](seed(out));  instantiate(∇[i + 1], xᵢ)
    value_and_grad(f, i)(x…)  (out, the same)
    vjp(f, x…)                (out, ∇out ↦ the sensitivities of x…)
    jvp(f, (x…), (t…))        jvp(f)(x…, t…), forward mode (`transforms.forward`): (out, δout), δout made dense
    hessian(f, i)(x…)         the gradient of each gradient
    hvp(f)(x…, v…)            the gradient of Σ vᵢ · gradᵢ
    jacobian(f, i)(x…)        the gradient of each element of the result

`seed` demands that a differentiated result is a real. A macro that is not called at once becomes a graph that calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from semantics.edit import Edit
from semantics.errors import Malformed
from semantics.ir import Apply, Constant, GraphId, GraphRef, NodeId, Parameter, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import MACROS, TABLE
from semantics.scope import scopes_from
from semantics.type_language import ArrayType, Scalar
from transforms.clone import link
from transforms.system import Rewrite, rewrite_of, rewrite_of_computed

GETITEM, MAKE_TUPLE, J, MUL, GADD = (TABLE[n] for n in ("getitem", "make_tuple", "J", "mul", "gadd"))
INSTANTIATE, SEED, GRAD = TABLE["instantiate"], TABLE["seed"], TABLE["grad"]
TAKE_APART = tuple(TABLE[n] for n in ("getitem", "length", "of_length", "field", "is_instance", "of_class", "iterated"))
CURRIED = frozenset(m for m in MACROS if m.name not in ("vjp", "jvp"))


@rewrite_of_computed
def macro_call(program: Program, place: int) -> Program | None:
    """macro(f, i)(x…)  ⟹  its definition"""
    call = program.nodes.get(place)
    if not isinstance(call, Apply) or program.callee(call.inputs[0]) not in CURRIED:
        return None
    macro = program.nodes[call.inputs[0]]
    assert isinstance(macro, Apply)
    kind, f = program.constant(macro.inputs[0]), macro.inputs[1]
    edit, arguments = Edit(program), call.arguments
    if kind.name == "hvp":
        result = _hvp(edit, call.graph, f, arguments)
    else:
        wrt = wanted(program, macro, len(arguments))
        result = _CURRIED[kind.name](edit, call.graph, f, arguments, wrt)
    edit.replace(place, result)
    edit.remove(place)
    _discard(edit, call.inputs[0])
    return edit.program


def _discard(edit: Edit, macro: NodeId) -> None:
    """Removes the application of a macro that nothing uses any more, and the tuple of positions it was given."""
    if not edit.uses.get(macro) and not edit.returns.get(macro):
        inputs = edit.program.inputs(macro)
        edit.remove(macro)
        for node in inputs[2:]:
            if edit.program.callee(node) is MAKE_TUPLE and not edit.uses.get(node):
                edit.remove(node)


@rewrite_of("vjp")
def vjp_call(program: Program, place: int) -> Program | None:
    """vjp(f, x…)  ⟹  t = J(f)(J(x)…);  (t[0], ∇ ↦ (t[1](∇)[1], …))"""
    call = program.nodes.get(place)
    if not isinstance(call, Apply) or program.callee(place) is not TABLE["vjp"]:
        return None
    edit, f, primals = Edit(program), call.inputs[1], call.inputs[2:]
    out, back = _applied(edit, call.graph, f, primals)
    pullback = edit.graph("pullback")
    cotangents = edit.apply(pullback, back, _unlabelled(edit, pullback, edit.parameter(pullback, "∇out")))
    edit.output(
        pullback, edit.call(pullback, MAKE_TUPLE, *(_part(edit, pullback, cotangents, i, x) for i, x in enumerate(primals)))
    )
    edit.replace(place, edit.call(call.graph, MAKE_TUPLE, out, edit.reference(pullback)))
    edit.remove(place)
    return edit.program


@rewrite_of("jvp")
def jvp_call(program: Program, place: int) -> Program | None:
    """jvp(f, (x…), (t…))  ⟹  (out, δout) = jvp(f)(x…, t…)"""
    call = program.nodes.get(place)
    if not isinstance(call, Apply) or program.callee(place) is not TABLE["jvp"] or len(call.arguments) == 1:
        return None
    _, f, primals, tangents = call.inputs
    if program.callee(primals) is not MAKE_TUPLE:
        raise Malformed(
            "jvp wants its primals as a tuple written out", node=program.describe(place), remedy="jvp(f, (x, y), (dx, dy))"
        )
    edit, graph = Edit(program), call.graph
    xs = program.inputs(primals)[1:]
    given = edit.call(graph, TABLE["unlabelled"], tangents)
    ts = [edit.call(graph, GETITEM, given, edit.constant(i)) for i in range(len(xs))]
    pair = edit.apply(graph, edit.call(graph, TABLE["jvp"], f), *xs, *ts, location=call.location)
    out, tangent = (edit.call(graph, GETITEM, pair, edit.constant(i)) for i in (0, 1))
    edit.replace(place, edit.call(graph, MAKE_TUPLE, out, edit.call(graph, INSTANTIATE, tangent, out)))
    edit.remove(place)
    return edit.program


@rewrite_of(*(m.name for m in CURRIED))
def macro_value(program: Program, place: int) -> Program | None:
    """macro(f, i), not called at once, f known  ⟹  @g with g(x…) = macro(f, i)(x…)"""
    macro = program.nodes.get(place)
    if not isinstance(macro, Apply) or program.callee(place) not in CURRIED:
        return None
    values = [u for u in sorted(program.users(place)) if u.index != 0]
    if not values and not program.returns.get(place):
        return None
    kind, f = program.constant(macro.inputs[0]), macro.inputs[1]
    names = parameter_names(program, f)
    if names is None:
        return None
    edit = Edit(program)
    names = [*names, *(f"v{i}" for i in range(len(names)))] if kind.name == "hvp" else names
    graph = edit.graph(f"{kind.name}_{function_name(program, f)}")
    inner = edit.apply(graph, *macro.inputs)
    arguments = [edit.parameter(graph, n) for n in names]
    edit.output(graph, edit.apply(graph, inner, *arguments, location=macro.location))
    edit.replace(place, edit.reference(graph))
    edit.remove(place)
    return edit.program


def wanted(program: Program, macro: Apply, count: int) -> int | tuple[int, ...]:
    """The positions that the macro differentiates by; names are looked up in the parameters of f."""
    which = macro.inputs[2] if len(macro.inputs) > 2 else None
    if which is None:
        return 0
    if program.callee(which) is MAKE_TUPLE:
        return tuple(_position(program, macro, n, count) for n in program.inputs(which)[1:])
    return _position(program, macro, which, count)


def _position(program: Program, macro: Apply, node: NodeId, count: int) -> int:
    value = program.constant(node)
    names = parameter_names(program, macro.inputs[1]) or []
    if isinstance(value, str) and value in names:
        return names.index(value)
    if isinstance(value, int) and not isinstance(value, bool) and -count <= value < count:
        return value % count
    raise Malformed(
        f"wrt names the argument {value!r} of a function called with {count}",
        rule="grad",
        location=macro.location,
        remedy=f"a position from 0 to {count - 1}" + (f", or one of {', '.join(names)}" if names else ""),
    )


def parameter_names(program: Program, f: NodeId) -> list[str] | None:
    """The names of the parameters of a known function."""
    match program.constant(f):
        case GraphRef(graph):
            nodes = [program.nodes[n] for n in program.graphs[graph].parameters]
            return [n.name if isinstance(n, Parameter) and n.name else f"x{i}" for i, n in enumerate(nodes)]
        case Primitive() as p if "*" not in p.parameters:
            return list(p.parameters)
        case _:
            return None


def function_name(program: Program, f: NodeId) -> str:
    """A name for messages and graphs."""
    match program.constant(f):
        case GraphRef(graph):
            return program.graphs[graph].name
        case Primitive(name):
            return name
        case _:
            return "f"


def lift(edit: Edit, graph: GraphId, x: NodeId) -> NodeId:
    """J(x), or x itself where it is known to be data."""
    found = edit.nodes[x]
    is_data = isinstance(found, Constant) and not isinstance(found.value, (GraphRef, Primitive))
    typed = isinstance(found, Parameter) and isinstance(found.type, (Scalar, ArrayType))
    return x if is_data or typed else edit.call(graph, J, x)


RECORDS = tuple(TABLE[n] for n in ("make_record", "field", "with_field"))


def _unlabelled(edit: Edit, graph: GraphId, d: NodeId) -> NodeId:
    """A sensitivity that the program was given, its records made tuples; itself in a program that speaks of none."""
    return edit.call(graph, TABLE["unlabelled"], d) if any(p in edit.interned for p in RECORDS) else d


def _applied(edit: Edit, graph: GraphId, f: NodeId, arguments: Sequence[NodeId]) -> tuple[NodeId, NodeId]:
    """The value and the backpropagator of J(f)(J(x)…)."""
    pair = edit.apply(graph, edit.call(graph, J, f), *(lift(edit, graph, x) for x in arguments))
    return edit.call(graph, GETITEM, pair, edit.constant(0), name="out"), edit.call(
        graph, GETITEM, pair, edit.constant(1), name="◀out"
    )


def _part(edit: Edit, graph: GraphId, cotangents: NodeId, index: int, x: NodeId) -> NodeId:
    """The sensitivity of argument `index`, dense and of the structure of x."""
    return edit.call(graph, INSTANTIATE, edit.call(graph, GETITEM, cotangents, edit.constant(index + 1)), x)


def _several(edit: Edit, graph: GraphId, wrt: int | tuple[int, ...], one: Callable[[int], NodeId]) -> NodeId:
    return one(wrt) if isinstance(wrt, int) else edit.call(graph, MAKE_TUPLE, *(one(i) for i in wrt))


Expansion = Callable[[Edit, GraphId, NodeId, Sequence[NodeId], "int | tuple[int, ...]"], NodeId]


def _derived(
    edit: Edit, graph: GraphId, f: NodeId, arguments: Sequence[NodeId], wrt: int | tuple[int, ...]
) -> tuple[NodeId, NodeId]:
    """The value of f, and its sensitivities by the positions wanted."""
    out, back = _applied(edit, graph, f, arguments)
    cotangents = edit.apply(graph, back, edit.call(graph, SEED, out, name="∇out"), name="∇")
    return out, _several(edit, graph, wrt, lambda i: _part(edit, graph, cotangents, i, arguments[i]))


def _value_and_grad(edit: Edit, graph: GraphId, f: NodeId, arguments: Sequence[NodeId], wrt: int | tuple[int, ...]) -> NodeId:
    return edit.call(graph, MAKE_TUPLE, *_derived(edit, graph, f, arguments, wrt))


def _grad(edit: Edit, graph: GraphId, f: NodeId, arguments: Sequence[NodeId], wrt: int | tuple[int, ...]) -> NodeId:
    return _derived(edit, graph, f, arguments, wrt)[1]


def _gradient_of(edit: Edit, graph: GraphId, f: NodeId, arguments: Sequence[NodeId], wrt: int | tuple[int, ...]) -> NodeId:
    """The application grad(f, wrt)(x…), to be expanded in its turn."""
    which = edit.constant(wrt) if isinstance(wrt, int) else edit.call(graph, MAKE_TUPLE, *(edit.constant(i) for i in wrt))
    return edit.apply(graph, edit.call(graph, GRAD, f, which), *arguments)


def _inner(edit: Edit, name: str, arguments: Sequence[NodeId], body: Callable[[GraphId, list[NodeId]], NodeId]) -> NodeId:
    """A reference to a new graph with as many parameters as there are arguments."""
    graph = edit.graph(name)
    parameters = []
    for x in arguments:
        found = edit.nodes[x]
        hint, type = (found.name, found.type) if isinstance(found, Parameter) else (getattr(found, "name", ""), None)
        parameters.append(edit.parameter(graph, hint, type))
    edit.output(graph, body(graph, parameters))
    return edit.reference(graph)


def _hessian(edit: Edit, graph: GraphId, f: NodeId, arguments: Sequence[NodeId], wrt: int | tuple[int, ...]) -> NodeId:
    def row(i: int) -> NodeId:
        inner = _inner(edit, f"grad_{i}", arguments, lambda g, xs: _gradient_of(edit, g, f, xs, i))
        return _derivative(edit, graph, inner, arguments, wrt)

    return _several(edit, graph, wrt, row)


def _derivative(edit: Edit, graph: GraphId, f: NodeId, arguments: Sequence[NodeId], wrt: int | tuple[int, ...]) -> NodeId:
    """The gradient of a real; where there are arrays, the result may be one, and its derivative has its axes before those of x."""
    return (_array_jacobian if edit.arrays else _gradient_of)(edit, graph, f, arguments, wrt)


def _array_jacobian(edit: Edit, graph: GraphId, f: NodeId, arguments: Sequence[NodeId], wrt: int | tuple[int, ...]) -> NodeId:
    """d f / d x for values that may be arrays: `jacobian_of` of the backpropagator."""
    out, back = _applied(edit, graph, f, arguments)
    rows = edit.reference(link(edit, _jacobian_program()))
    return _several(edit, graph, wrt, lambda i: edit.apply(graph, rows, back, out, arguments[i], edit.constant(i + 1)))


@cache
def _jacobian_program() -> Program:
    from transforms.backpropagators import NAMES
    from transforms.parse import parse_file

    return parse_file(Path(__file__).parent / "derivatives.py", "jacobian_of", NAMES)


def _jacobian(edit: Edit, graph: GraphId, f: NodeId, arguments: Sequence[NodeId], wrt: int | tuple[int, ...]) -> NodeId:
    known = edit.program.constant(f)
    output = edit.graphs[known.graph].output if isinstance(known, GraphRef) else None
    if output is None or edit.program.callee(output) is not MAKE_TUPLE:
        return _derivative(edit, graph, f, arguments, wrt)

    def row(index: int) -> NodeId:
        def element(g: GraphId, xs: list[NodeId]) -> NodeId:
            return edit.call(g, GETITEM, edit.apply(g, f, *xs), edit.constant(index))

        return _derivative(edit, graph, _inner(edit, f"element_{index}", arguments, element), arguments, wrt)

    return edit.call(graph, MAKE_TUPLE, *(row(i) for i in range(len(edit.program.inputs(output)) - 1)))


def _hvp(edit: Edit, graph: GraphId, f: NodeId, arguments: Sequence[NodeId]) -> NodeId:
    if len(arguments) % 2:
        raise Malformed(f"hvp(f) is called with {len(arguments)} arguments", rule="hvp", remedy="as many directions as arguments")
    n = len(arguments) // 2
    xs, vs = arguments[:n], arguments[n:]
    every = tuple(range(n))

    def directional(g: GraphId, inner: list[NodeId]) -> NodeId:
        gradient = _gradient_of(edit, g, f, inner, every)
        product = TABLE["inner"] if edit.arrays or _takes_apart(edit.program) else MUL
        terms = [edit.call(g, product, edit.call(g, GETITEM, gradient, edit.constant(i)), v) for i, v in enumerate(vs)]
        total = terms[0]
        for term in terms[1:]:
            total = edit.call(g, TABLE["add"], total, term)
        return total

    return _gradient_of(edit, graph, _inner(edit, "directional", xs, directional), xs, 0 if n == 1 else every)


def _takes_apart(program: Program) -> bool:
    """Whether a parameter is taken apart somewhere, so that an argument may be a tuple, a list, a dictionary or a record."""
    rows = (program.interned[row] for row in TAKE_APART if row in program.interned)
    applied = (program.inputs(use.user) for row in rows for use in program.users(row) if use.index == 0)
    return any(isinstance(program.nodes[inputs[1]], Parameter) for inputs in applied)


_CURRIED: dict[str, Expansion] = {
    "grad": _grad,
    "value_and_grad": _value_and_grad,
    "hessian": _hessian,
    "jacobian": _jacobian,
}

RULES: tuple[Rewrite, ...] = (macro_call, vjp_call, jvp_call, macro_value)


def is_differentiated(program: Program, place: NodeId) -> bool:
    """Whether an application stands in what a J or a macro elsewhere differentiates, as far as one can see."""
    rows = (program.interned[row] for row in (TABLE["J"], *MACROS) if row in program.interned)
    uses = [use for row in rows for use in program.users(row) if use.user != place and use.index == 0]
    targets = (program.constant(program.inputs(use.user)[1]) for use in uses)
    return program.owner(place) in scopes_from(program, [t.graph for t in targets if isinstance(t, GraphRef)]).free
