"""
Forward mode as a transform: its rules, what it computes, and what it costs.

The tangent is compared with dual numbers (`checkers.forward_mode`), which know nothing of it: in fractions where the program is
rational, else in enclosures of 400 bits, row by row and, in `test_forward_language`, program by program. That a pushforward with a
short form is the transpose of the backpropagator, as the others are by construction, is a property.
"""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from array_rules import _agrees, _like, applied, has_rule
from hypothesis import given
from hypothesis import strategies as st

import adjudge as aj
from adjudge.values import to_value
from backend.run import lowered
from checkers import forward_mode
from checkers.array_audit.row_samples import array_examples
from checkers.array_audit.row_samples_arguments import Example, array, is_data
from checkers.columns.leaves import at_path, coordinates
from semantics.denotation import denote
from semantics.derivation import replay
from semantics.edit import Edit, empty
from semantics.errors import AdjudgeError, Malformed
from semantics.ir import Program
from semantics.machine import Machine, run
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO
from semantics.type_language import type_of
from semantics.values import same
from semantics.wellformed import check
from transforms import forward
from transforms.adjoint_primitives import pullback_of
from transforms.forward import linear, pushforwards
from transforms.gradient_programs import before_jvp, calling, gradient_program
from transforms.nested_grad import expand
from transforms.parse import parse_text
from transforms.pipeline import optimize

HEAD = "import math\nfrom adjudge import grad, jvp\n\n"
LOOP = "def f(x, n: int):\n    r = 1.0\n    for _ in range(n):\n        r = r * x + math.sin(r)\n    return r\n"
EVERY_RULE = """
def twice(h, y):
    return h(h(y))

def f(x, n: int):
    g = lambda y: math.sin(y) * x
    return twice(g, x) + twice(math.exp, 2.0 * x) if n > 0 else x
"""
CAPTURED = "def f(x):\n    h = lambda y: y * x\n    return jvp(lambda z: h(z) * z * x, (x,), (1.0,))[1]\n"


def parsed(source: str) -> Program:
    return parse_text(HEAD + source, "f")


def started(source: str) -> forward.ForwardState:
    return forward.begin(*before_jvp(parsed(source)))


def test_every_rule_fires_and_is_disabled_where_another_fires() -> None:
    steps = list(forward.SYSTEM.derive(started(EVERY_RULE)).steps)
    captured = expanded_but_for_forward(parsed(CAPTURED))
    steps += forward.SYSTEM.derive(captured).steps
    assert {step.rule for step in steps} == {rule.name for rule in forward.RULES}
    for step in steps:
        assert [rule.name for rule in forward.RULES if rule.function(step.before) is not None] == [step.rule]
        check(step.after.program)


def expanded_but_for_forward(program: Program) -> forward.ForwardState:
    """The state in which the one jvp inside is about to be done."""
    from transforms.nested_grad import SYSTEM

    before = next(step.before for step in SYSTEM.derive(program).steps if step.rule == "jvp_of_graph")
    place = next(n for n in before.nodes if before.callee(n) is TABLE["jvp"])
    return forward.begin(before, place)


def test_a_recorded_run_replays_and_ends_where_the_unrecorded_one_does() -> None:
    derivation = forward.SYSTEM.derive(started(EVERY_RULE))
    assert replay(forward.SYSTEM, started(EVERY_RULE), derivation.to_json()).result.program == derivation.result.program
    assert forward.SYSTEM.run(started(EVERY_RULE)) == derivation.result.program


def test_a_graph_that_is_not_known_is_refused() -> None:
    program = parsed("def f(x):\n    return x\n")
    with pytest.raises(Malformed, match="known"):
        forward.begin(program, program.graphs[program.entry].output)


# what it computes


def moved(name: str, example: Example) -> tuple[Any, Any]:
    """The tangent of a row at an example, by the transform and by dual numbers."""
    carrier, program = example.carrier, applied(name, len(example.arguments))
    point = tuple(forward_mode.lifted(carrier, a) for a in example.arguments)
    v: Any = tuple(_like(x, carrier, 2) if is_data(a) else ZERO for a, x in zip(example.arguments, point, strict=True))
    found = denote(pushed(name, len(point)), [*point, *v], carrier)
    return found, forward_mode.jvp(program, point, v, carrier)[1]


def pushed(name: str, arity: int) -> Program:
    """(x…, δx…) -> δout"""
    program = calling(applied(name, arity), "jvp", types=[None] * arity)
    edit = Edit(program)
    edit.output(program.entry, edit.call(program.entry, TABLE["getitem"], program.graphs[program.entry].output, edit.constant(1)))
    return expand(edit.program)


def differences(name: str, example: Example) -> list[str]:
    agrees = partial(_agrees, carrier=example.carrier, constant=example.constant)
    found, wanted = moved(name, example)
    return [
        f"{example}, entry {path}: {at_path((found,), path)} but {at_path((wanted,), path)}"
        for path in coordinates((wanted,))
        if not agrees(at_path((found,), path), at_path((wanted,), path))
    ]


ROWS = [name for name in TABLE if array_examples(name) and has_rule(name)]


@pytest.mark.parametrize("name", ROWS)
def test_a_row_moves_as_dual_numbers_do(name: str) -> None:
    assert [d for example in array_examples(name)[:4] for d in differences(name, example)] == []


def test_a_row_that_is_not_linear_is_found_in_the_table_of_those_that_are(monkeypatch: pytest.MonkeyPatch) -> None:
    example = Example((array((3,)), 0, False))
    assert differences("reduce_max", example) == []
    monkeypatch.setitem(linear.LINEAR, "reduce_max", ((0,),))
    pushforwards.pushforward.cache_clear()
    try:
        assert differences("reduce_max", example) != []
    finally:
        pushforwards.pushforward.cache_clear()


NUMBERS = [name for name in TABLE if {*TABLE[name].signature} <= {"real", "number"} and has_rule(name)]


@given(st.sampled_from(NUMBERS), st.lists(st.floats(0.25, 0.75), min_size=6, max_size=6))
def test_the_pushforward_of_a_primitive_is_the_transpose_of_its_backpropagator(name: str, values: list[float]) -> None:
    """Bit for bit, on numbers: both are the same products, added in the same order."""
    primitive = TABLE[name]
    arity = len(primitive.signature)
    point, v = values[:arity], values[3 : 3 + arity]
    short = pushforwards.pushforward(primitive, arity, tuple(range(arity)), False)
    if short is None:
        return
    edit = Edit(empty())
    graph = edit.graph("transposed")
    primals = [edit.parameter(graph) for _ in range(arity + 1)]
    tangents = {i: edit.parameter(graph) for i in range(arity)}
    long = pushforwards.transposed(edit, graph, pullback_of(primitive, arity, False), primals, tangents, edit.constant(0.0))
    given_ = [*point, run(applied(name, arity), *point), *v]
    assert same(run(short, *given_), run(long, *given_))


G = "def g(h, x):\n    return jvp(h, (x,), (1.0,))[1]\n\n"
SQUARE = "def s(x):\n    return lambda y: y * y * x\n\n"
POWER = "def p(x, n):\n    return 1.0 if n == 0 else x * p(x, n - 1)\n\n"
FUNCTIONS = {
    "a primitive": ("def f(x):\n    return jvp(math.sin, (x,), (1.0,))[1]\n", math.cos(0.5)),
    "a parameter": (G + "def f(x):\n    return g(lambda y: y * y * x, x)\n", 0.5),
    "a primitive as a parameter": (G + "def f(x):\n    return g(math.sin, x)\n", math.cos(0.5)),
    "a result": (SQUARE + "def f(x):\n    return jvp(lambda z: s(x)(z), (x,), (1.0,))[1]\n", 0.5),
    "a result outside": (SQUARE + "def f(x):\n    h = s(x)\n    return jvp(lambda z: h(z), (x,), (1.0,))[1]\n", 0.5),
    "a tuple": (SQUARE + "def f(x):\n    t = (math.sin, s(x))\n    return jvp(lambda z: t[1](z), (x,), (1.0,))[1]\n", 0.5),
    "a choice": (SQUARE + "def f(x):\n    h = s(x) if x > 0 else math.sin\n    return jvp(h, (x,), (1.0,))[1]\n", 0.5),
    "a recursion": (POWER + "def f(x):\n    return jvp(lambda y: p(y, 3), (x,), (1.0,))[1]\n", 0.75),
}


@pytest.mark.parametrize("how", FUNCTIONS)
def test_a_function_is_found_and_differentiated_through(how: str) -> None:
    """At 0.5: of y² x by y at y = x it is 2x², of x³ it is 3x², both exact."""
    source, wanted = FUNCTIONS[how]
    assert run(expand(parsed(source)), 0.5) == wanted


def test_a_function_that_is_its_own_derivative_is_refused() -> None:
    with pytest.raises(Malformed, match="identified"):
        expand(parsed("def f(x):\n    return jvp(f, (x,), (1.0,))[1]\n"))


def test_perturbations_are_kept_apart() -> None:
    """The derivative of x · D(y ↦ x + y) is 1 at every x, whichever of the two is taken forward."""
    inner = "def g(x):\n    return x * jvp(lambda y: x + y, (x,), (1.0,))[1]\n\n"
    for outer in ("jvp(g, (x,), (1.0,))[1]", "grad(g)(x)"):
        assert run(expand(parsed(inner + f"def f(x):\n    return {outer}\n")), 3.0) == 1.0


@pytest.mark.parametrize("nested", ["jvp(lambda y: grad(h)(y), (x,), (1.0,))[1]", "grad(lambda y: jvp(h, (y,), (1.0,))[1])(x)"])
def test_forward_and_reverse_nest_either_way(nested: str) -> None:
    """The second derivative of x³ is 6x, in numbers that are exact."""
    assert run(expand(parsed(f"def h(x):\n    return x * x * x\n\ndef f(x):\n    return {nested}\n")), 0.5) == 3.0


def test_what_does_not_move_has_no_tangent() -> None:
    """Neither an integer nor what is computed from it adds anything; 0 · inf would be NaN."""
    source = "def f(x):\n    return jvp(lambda y: y * (1.0 / 0.0) + math.exp(2.0), (x,), (0.5,))[1]\n"
    assert run(expand(parsed(source)), 1.0) == math.inf
    program = expand(calling(parsed(LOOP), "jvp", types=[None, None]))
    assert run(program, 2.0, 3, 0.0, ZERO) == run(program, 2.0, 3, ZERO, ZERO)


@given(st.integers(0, 5), st.floats(-1.0, 1.0), st.floats(-2.0, 2.0))
def test_the_value_is_that_of_the_function_and_the_tangent_that_of_dual_numbers(n: int, x: float, v: float) -> None:
    """In bits: of a loop of products and one sine, both add and multiply the same numbers in the same order."""
    program = parsed(LOOP)
    value, tangent = run(expand(calling(program, "jvp", types=[None, None])), x, n, v, ZERO)
    assert value == run(program, x, n)
    assert tangent == forward_mode.jvp(program, (x, n), (v, None))[1]


# what it costs


def nested(order: int) -> Program:
    """The derivative of that order of the loop, by forward mode in forward mode."""
    calls = "".join(f"def d{k + 1}(x, n):\n    return jvp(lambda y: d{k}(y, n), (x,), (1.0,))[1]\n\n" for k in range(order))
    return parsed(LOOP.replace("def f", "def d0") + "\n" + calls + f"def f(x, n: int):\n    return d{order}(x, n)\n")


def test_a_loop_stays_a_loop_and_a_turn_costs_a_constant_factor() -> None:
    """The steps are affine in the number of turns, and each order costs less than three times the one before."""

    def turn(program: Program) -> int:
        steps = [Machine(program).run((0.5, n)).steps for n in (1, 2, 4)]
        assert steps[2] - steps[1] == 2 * (steps[1] - steps[0])
        return steps[1] - steps[0]

    turns = [turn(expand(nested(order))) for order in range(4)]
    assert all(after < 3 * before for before, after in pairwise(turns))
    optimized = optimize(expand(nested(1)))
    assert not [g for g in optimized.graphs.values() if g.name.startswith("◀")]


def test_the_program_grows_with_the_program_and_no_faster() -> None:
    def size(lines: int) -> int:
        body = "".join("    x = x * math.sin(x)\n" for _ in range(lines))
        return len(expand(calling(parsed("def f(x):\n" + body + "    return x\n"), "jvp")).nodes)

    small, middle, large = size(10), size(20), size(40)
    assert large - middle == 2 * (middle - small)


def test_the_tangent_of_a_gradient_is_the_row_of_the_hessian() -> None:
    product = parse_text("def f(x, y):\n    return x * x * y\n", "f")
    first = gradient_program(product, (0, 1))
    value, row = run(expand(calling(first, "jvp")), 3.0, 5.0, 1.0, 0.0)
    assert (value, row) == ((30.0, 9.0), (10.0, 6.0))


def test_a_primitive_without_a_rule_is_refused_where_it_moves_and_not_elsewhere() -> None:
    with pytest.raises(AdjudgeError, match="backpropagator"):
        aj.jvp(bare, (1.0,), (1.0,))


@aj.primitive
def bare(x):  # type: ignore[no-untyped-def]
    return x + 1.0


def logistic(w, x, y):  # type: ignore[no-untyped-def]
    z = x @ w
    return np.mean(np.logaddexp(0.0, z) - y * z)


def logistic_along(w, v, x, y):  # type: ignore[no-untyped-def]
    return aj.jvp(lambda u: logistic(u, x, y), (w,), (v,))


def test_a_tangent_of_arrays_has_generated_code_with_the_bits_of_the_reference() -> None:
    w, v, x, y = np.array([0.5, -1.0]), np.array([1.0, 0.25]), np.array([[1.0, 2.0], [0.5, -1.5], [3.0, 0.0]]), np.ones(3)
    program = expand(aj.parse(logistic_along))
    lowered(program, [type_of(to_value(a)) for a in (w, v, x, y)])  # it is not refused
    compiled = aj.compile(logistic_along, target="python")
    assert [compiled(w, v, x, y) for _ in range(2)] == [aj.run(logistic_along, w, v, x, y)] * 2


def _twice(x: float) -> float:
    return x + x if x > 5.0 else x * 3.0


def _kept_or_doubled(x: float) -> float:
    h = _twice(x)
    return h if x > 0.0 else h * 2.0


@pytest.mark.parametrize(("x", "tangent"), [(1.0, 3.0), (-1.0, 6.0), (6.0, 2.0)])
def test_a_branch_that_returns_what_a_call_around_it_gave_leaves_its_tangent_to_others(x: float, tangent: float) -> None:
    """A regression: the branch was taken for a tail call, and the tangent, which the other branch reads, removed: a KeyError."""
    assert aj.jvp(_kept_or_doubled, (x,), (1.0,)) == (tangent * x, tangent)
