"""What J must do, apart from how it does it. Each property takes the transform it judges, so that a wrong one can be planted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from checkers import forward_mode
from checkers.columns.leaves import is_discrete, map_leaves
from checkers.properties.agreement import differ, judged, lifted, point
from checkers.properties.evaluation import named
from checkers.trace_reversal import straight_line
from checkers.verdict import Counterexample, OutOfScope, Passed, Refuted, Verdict
from semantics.edit import Edit
from semantics.errors import IllTyped, Trap
from semantics.ir import Apply, GraphId, NodeId, Parameter, Program
from semantics.machine import Machine, run
from semantics.primitives.table import TABLE
from semantics.tangents import gadd
from semantics.type_language import REAL, TupleType, tangent, type_of
from semantics.values import same
from transforms.clone import link
from transforms.gradient_programs import gradient_program, value_and_grad_program
from transforms.nested_grad import expand

Gradient = Callable[..., Program]


# programs made of programs


def _entry(program: Program, name: str) -> tuple[Edit, GraphId, list[NodeId]]:
    """A new entry beside the old one, with the same parameters."""
    edit = Edit(program)
    graph = edit.graph(name)
    parameters = []
    for node in program.graphs[program.entry].parameters:
        old = program.nodes[node]
        assert isinstance(old, Parameter)
        parameters.append(edit.parameter(graph, old.name, old.type or REAL))
    return edit, graph, parameters


def all_arguments(program: Program) -> tuple[int, ...]:
    """The positions of all parameters: what `wrt` is to be for the whole gradient."""
    return tuple(range(len(program.graphs[program.entry].parameters)))


def pullback_program(program: Program) -> Program:
    """x…, d ↦ the sensitivities of x… at sensitivity d of the result."""
    edit, graph, parameters = _entry(program, "pullback")
    d = edit.parameter(graph, "d")
    pair = edit.call(graph, TABLE["vjp"], edit.reference(program.entry), *parameters)
    edit.output(graph, edit.apply(graph, edit.call(graph, TABLE["getitem"], pair, edit.constant(1)), d))
    edit.set_entry(graph)
    return expand(edit.program)


def as_thunk(program: Program) -> Program:
    """x… ↦ (() ↦ f(x…))(): every argument of f has become a free variable of the thunk."""
    edit, graph, parameters = _entry(program, "f")
    thunk = edit.graph("thunk")
    edit.output(thunk, edit.apply(thunk, edit.reference(program.entry), *parameters))
    edit.output(graph, edit.apply(graph, edit.reference(thunk)))
    edit.set_entry(graph)
    return edit.program


def composition(outer: Program, inner: Program) -> Program:
    """x… ↦ outer(inner(x…)); `outer` has one parameter."""
    edit, graph, parameters = _entry(inner, "composed")
    edit.output(
        graph, edit.apply(graph, edit.reference(link(edit, outer)), edit.apply(graph, edit.reference(inner.entry), *parameters))
    )
    edit.set_entry(graph)
    return edit.program


def _inner_derivative(program: Program, body: str) -> Program:
    """x… ↦ d/dy of f(x…)·y at 3, or of f(x… with y for the first) at the first argument."""
    edit, graph, parameters = _entry(program, "nested")
    inner = edit.graph("inner")
    y = edit.parameter(inner, "y")
    if body == "product":
        value = edit.apply(inner, edit.reference(program.entry), *parameters)
        edit.output(inner, edit.call(inner, TABLE["mul"], value, y))
        at = edit.constant(3.0)
    else:
        edit.output(inner, edit.apply(inner, edit.reference(program.entry), y, *parameters[1:]))
        at = parameters[0]
    derivative = edit.call(graph, TABLE["grad"], edit.reference(inner), edit.constant(0))
    edit.output(graph, edit.apply(graph, derivative, at))
    edit.set_entry(graph)
    return edit.program


def renamed(program: Program) -> Program:
    """The same program with every graph called otherwise."""
    edit = Edit(program)
    for graph in program.graphs:
        edit.rename(graph, f"other{graph}")
    return edit.program


def exchanged(program: Program, old: Any, new: Any) -> Program | None:
    """The program with one primitive for another wherever it is applied; None if it is nowhere. A planted bug, for tests."""
    edit, found = Edit(program), False
    for node in sorted(n for n, a in program.nodes.items() if isinstance(a, Apply) and program.callee(n) is old):
        edit.set_inputs(node, (edit.constant(new), *program.inputs(node)[1:]))
        found = True
    return edit.program if found else None


# the theorems


def trace_agrees(program: Program, arguments: Sequence[Any], gradient: Gradient = gradient_program) -> Verdict:
    """T6 (Abadi and Plotkin): the straight-line trace has the value of the program, in bits, and its gradient, over the reals."""
    claim, wrt = "T6 trace agrees", all_arguments(program)
    try:
        value, trace = run(program, *arguments), straight_line(program, arguments)
    except (Trap, IllTyped) as error:
        return OutOfScope(f"no trace: {error.what}", claim)
    if not same(found := run(trace, *arguments), value):
        return Refuted(Counterexample(named(arguments), found, value, note="the values differ"), claim=claim)
    at = point(program, arguments)
    return judged(
        claim,
        arguments,
        lambda: at.value(gradient(program, wrt)),
        lambda: at.value(gradient_program(trace, wrt)),
        what="value and gradient",
    )


def value_is_kept(program: Program, arguments: Sequence[Any], both: Gradient = value_and_grad_program) -> Verdict:
    """T7: the value that J f computes is the value of f, in bits."""

    def bits_differ(a: Any, b: Any) -> str | None:
        return None if same(a, b) else "the bits differ"

    return judged(
        "T7 the value of J f is the value of f",
        arguments,
        lambda: run(both(program), *arguments)[0],
        lambda: run(program, *arguments),
        equal=bits_differ,
    )


def functoriality(outer: Program, inner: Program, arguments: Sequence[Any], gradient: Gradient = gradient_program) -> Verdict:
    """T8: the gradient of a composition is the product: ∇(g ∘ f)(x) = g'(f(x)) · ∇f(x)."""
    whole, at = composition(outer, inner), point(composition(outer, inner), arguments)
    wrt = all_arguments(inner)
    multiply = at.reading.column[TABLE["mul"]]

    def product() -> Any:
        slope = point_value(at, gradient_program(outer), (at.value(inner),))
        return tuple(multiply(slope, d) for d in at.value(gradient_program(inner, wrt)))

    return judged("T8 functoriality", arguments, lambda: at.value(gradient(whole, wrt)), product, what="the chain rule")


def point_value(at: Any, program: Program, arguments: Sequence[Any]) -> Any:
    """The value of another program in the reading of a point."""
    return type(at)(at.reading, tuple(arguments)).value(program)


def commutes_with_renaming(program: Program, gradient: Gradient = gradient_program) -> Verdict:
    """T8, second part: J of a renamed program is J of the program, renamed."""
    claim = "T8 J commutes with renaming"
    left, right = gradient(renamed(program)), gradient(program)
    if left != right:
        return Refuted(Counterexample({}, str(left), str(right)), claim=claim)
    return Passed(1, "equal programs", claim)


def free_variable_is_parameter(program: Program, arguments: Sequence[Any], gradient: Gradient = gradient_program) -> Verdict:
    """T9: a variable that a closure captures has the derivative that it has as a parameter."""
    wrt, at = all_arguments(program), point(program, arguments)
    return judged(
        "T9 free variable = explicit parameter",
        arguments,
        lambda: at.value(gradient(as_thunk(program), wrt)),
        lambda: at.value(gradient_program(program, wrt)),
        what="the gradient through the captured values",
    )


def logical_relation(
    program: Program, arguments: Sequence[Any], direction: Sequence[Any], weight: float = 1.0, gradient: Gradient = pullback_program
) -> Verdict:
    """T10: ⟨J v, w⟩ = ⟨v, Jᵀ w⟩, the left side by dual numbers and the right side by the backpropagator."""
    at = point(program, arguments)
    v, (w,) = lifted(at.reading, direction), lifted(at.reading, (weight,))
    add, multiply = at.reading.column[TABLE["add"]], at.reading.column[TABLE["mul"]]

    def right() -> Any:
        total = at.reading.lift(0.0)
        for d, t in zip(at.value(gradient(program), weight), v, strict=True):
            total = add(total, multiply(d, t))
        return total

    return judged(
        "T10 logical relation",
        (*arguments, *direction),
        right,
        lambda: multiply(forward_mode.jvp(program, at.arguments, v, at.reading)[1], w),
        what="⟨J v, w⟩ = ⟨v, Jᵀ w⟩",
    )


def linearity(program: Program, arguments: Sequence[Any], a: float, b: float, pullback: Gradient = pullback_program) -> Verdict:
    """
    T15: backpropagators are linear: pb(a + b) = pb(a) + pb(b) over the reals; pb(-a) = -pb(a) and pb(4a) = 4 pb(a) in bits.

    Scaling by a power of two is exact unless something on the way is subnormal or overflows: there bits are not compared.
    """
    claim, back = "T15 linearity", pullback(program)
    at = point(program, arguments)
    (ra, rb) = lifted(at.reading, (a, b))
    together = at.reading.column[TABLE["add"]](ra, rb)
    additive = judged(
        f"{claim}: additive",
        (*arguments, a, b),
        lambda: point_value(at, back, (*at.arguments, together)),
        lambda: tuple(gadd(p, q) for p, q in zip(at.value(back, a), at.value(back, b), strict=True)),
    )
    if not isinstance(additive, Passed):
        return additive
    try:
        once = run(back, *arguments, a)
        for factor in (-1.0, 4.0):
            scaled = run(back, *arguments, factor * a)
            wanted = [factor * d for d in _reals(once)]
            if any(d != 0 and not 1e-200 < abs(d) < 1e200 for d in _reals(once)):
                continue
            if any(not same(x, y) and x != y for x, y in zip(_reals(scaled), wanted, strict=True)):
                return Refuted(Counterexample(named((*arguments, a)), scaled, wanted, note=f"pb({factor}·d)"), claim=claim)
    except Trap as trap:
        return OutOfScope(f"it traps: {trap.what}", claim)
    return Passed(3, "additive over the reals, homogeneous in bits", claim)


def _reals(value: Any) -> list[Any]:
    """Every real in a structured value, left to right."""
    found: list[Any] = []
    map_leaves(lambda _, leaf: None if is_discrete(leaf) else found.append(leaf), value)
    return found


def tangent_types(program: Program, arguments: Sequence[Any], gradient: Gradient = gradient_program) -> Verdict:
    """T16: the gradient has the type of a tangent of the arguments, and holds no symbolic ZERO and nothing sparse."""
    claim, wrt = "T16 tangent types", all_arguments(program)
    try:
        found = run(gradient(program, wrt), *arguments)
    except Trap as trap:
        return OutOfScope(f"it traps: {trap.what}", claim)
    wanted = TupleType(tuple(tangent(type_of(a)) for a in arguments))
    try:
        t = type_of(found)
    except Exception as error:
        return Refuted(Counterexample(named(arguments), repr(found), str(wanted), note=str(error)), claim=claim)
    if t != wanted:
        return Refuted(Counterexample(named(arguments), str(t), str(wanted)), claim=claim)
    return Passed(1, str(wanted), claim)


def monoid(a: Any, b: Any, c: Any, add: Callable[[Any, Any], Any] = gadd) -> Verdict:
    """T16, second part: sensitivities form a commutative monoid. Exact on fractions and whole doubles."""
    claim = "T16 gadd is a commutative monoid"
    for note, left, right in (
        ("commutative", add(a, b), add(b, a)),
        ("associative", add(add(a, b), c), add(a, add(b, c))),
    ):
        if differ(left, right) is not None:
            return Refuted(Counterexample({"a": a, "b": b, "c": c}, left, right, note=note), claim=claim)
    return Passed(1, "commutative and associative", claim)


def perturbations_kept_apart(program: Program, arguments: Sequence[Any], gradient: Gradient = gradient_program) -> Verdict:
    """T17: d/dy (f(x)·y) = f(x), and its derivative in x is f'(x): the inner y and the outer x are not confused."""
    nested, at = _inner_derivative(program, "product"), point(program, arguments)
    wrt = all_arguments(program)
    value = judged(
        "T17 perturbations: the inner derivative", arguments, lambda: at.value(expand(nested)), lambda: at.value(program)
    )
    if not isinstance(value, Passed):
        return value
    return judged(
        "T17 perturbations kept apart",
        arguments,
        lambda: at.value(gradient(nested, wrt)),
        lambda: at.value(gradient_program(program, wrt)),
        what="the derivative of a derivative in another variable",
    )


def inner_is_outer(program: Program, arguments: Sequence[Any]) -> Verdict:
    """T17, second part: grad written inside a program is grad asked for outside."""
    at = point(program, arguments)
    return judged(
        "T17 grad inside = grad outside",
        arguments,
        lambda: at.value(expand(_inner_derivative(program, "first"))),
        lambda: at.value(gradient_program(program)),
    )


def backpropagator_of(program: Program, arguments: Sequence[Any]) -> tuple[Machine, Any, Any]:
    """A machine, the value of the program in it, and the closure that is its backpropagator."""
    edit, graph, parameters = _entry(program, "with_pullback")
    edit.output(graph, edit.call(graph, TABLE["vjp"], edit.reference(program.entry), *parameters))
    edit.set_entry(graph)
    machine = Machine(expand(edit.program))
    out, back = machine.run(arguments).value
    return machine, out, back


def reusable(program: Program, arguments: Sequence[Any], d: float, e: float) -> Verdict:
    """T15, third part: a backpropagator is a function: calling it again, with others in between, gives the same bits."""
    claim = "T15 backpropagators are functions"
    try:
        machine, _, back = backpropagator_of(program, arguments)
        first = machine.call(back, (d,))
        machine.call(back, (e,))
        again = machine.call(back, (d,))
    except Trap as trap:
        return OutOfScope(f"it traps: {trap.what}", claim)
    if not same(first, again):
        return Refuted(Counterexample(named((*arguments, d, e)), again, first), claim=claim)
    return Passed(2, "the same bits each time", claim)
