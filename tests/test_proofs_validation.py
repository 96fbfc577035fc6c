"""Translation validation of any two programs: what is the same is proved, and what is not is refuted by execution."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
import z3
from claims import costly
from hypothesis import given
from hypothesis import strategies as st

from checkers.smt.terms import uninterpreted
from checkers.verdict import Passed, Proved, Refuted, Unknown
from proofs.validation import Sweep, same
from semantics.errors import Malformed
from semantics.ir import Program
from transforms.gradient_programs import gradient_program
from transforms.parse import parse_text
from transforms.pipeline import optimize

x, y = z3.Reals("x y")
OPERATIONS = (
    "{u} * {v}",
    "{u} + {v}",
    "{u} - {v}",
    "math.sin({u})",
    "math.exp({u})",
    "{u} / (1.0 + {v} * {v})",
    "{u} * 1.0 + 0.0 * {v}",
)


def program(body: str, parameters: str = "x, y") -> Program:
    return parse_text(f"import math\ndef f({parameters}):\n    {body}\n", "f")


def of(name: str, *arguments: z3.ArithRef) -> z3.ArithRef:
    return uninterpreted(f"u_{name}", *arguments)


EQUAL: tuple[tuple[z3.ArithRef, z3.ArithRef], ...] = (
    (x * (y + 1), x * y + x),
    (x / (y / x), x * x / y),
    (1 / (1 / x), x),
    (x / y + y / x, (x * x + y * y) / (x * y)),
    ((x * x - y * y) / (x - y), x + y),
    (of("sin", -x), -of("sin", x)),
    (of("cos", y - x), of("cos", x - y)),
    (of("sin", x) * of("sin", x) + of("cos", x) * of("cos", x), z3.RealVal(1)),
    (of("sqrt", x) * of("sqrt", x), x),
    (of("exp", x * (y + 1)), of("exp", x * y + x)),
    (of("exp", x - x), z3.RealVal(1)),
    (z3.If(x * 1 < y, x, y), z3.If(x < y, x + 0, y)),
)
DIFFERENT: tuple[tuple[z3.ArithRef, z3.ArithRef], ...] = (
    (x + y, x - y),
    (of("sin", -x), of("sin", x)),
    (of("exp", x), of("exp", y)),
    (of("sin", x) * of("sin", x), of("cos", x) * of("cos", x)),
    (of("sqrt", x) * of("sqrt", y), x),
    (z3.If(x < y, x, y), z3.If(y < x, x, y)),
    (1 / x, x),
)


@pytest.mark.parametrize(("left", "right"), EQUAL)
def test_a_sweep_finds_equal_terms_equal(left: z3.ArithRef, right: z3.ArithRef) -> None:
    assert Sweep().equal(left, right)


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_a_sweep_never_calls_different_terms_equal(left: z3.ArithRef, right: z3.ArithRef) -> None:
    assert not Sweep().equal(left, right)


@st.composite
def rational_terms(draw: st.DrawFn, depth: int = 4) -> tuple[z3.ArithRef, Callable[[Fraction, Fraction], Fraction]]:
    """A term without division, and what it means."""
    if depth == 0:
        n = draw(st.integers(-3, 3))
        leaves: list[Any] = [(x, lambda a, b: a), (y, lambda a, b: b), (z3.RealVal(n), lambda a, b: Fraction(n))]
        return draw(st.sampled_from(leaves))
    (s, f), (t, g) = draw(rational_terms(depth=depth - 1)), draw(rational_terms(depth=depth - 1))
    made: list[Any] = [
        (s + t, lambda a, b: f(a, b) + g(a, b)),
        (s - t, lambda a, b: f(a, b) - g(a, b)),
        (s * t, lambda a, b: f(a, b) * g(a, b)),
    ]
    return draw(st.sampled_from(made))


@given(rational_terms(), rational_terms())
def test_terms_of_one_class_have_one_value(one: Any, other: Any) -> None:
    """Two polynomials, and all their parts, in one sweep: those of one class agree at a point that the sweep does not know."""
    sweep = Sweep()
    pair = sweep.class_of(one[0]) == sweep.class_of(other[0])
    points = [(Fraction(7, 3), Fraction(-5, 11)), (Fraction(1, 2), Fraction(9))]
    agree = all(one[1](*p) == other[1](*p) for p in points)
    assert agree or not pair
    assert sweep.equal(one[0] - other[0] + other[0], one[0])


SAME: tuple[tuple[str, str, str, str], ...] = (
    ("return math.exp(x) * y / x * x + math.sin(-y)", "return y * math.exp(x) - math.sin(y)", "x, y", "sweep"),
    ("return abs(x)", "return x if x > 0.0 else -x", "x", "z3"),
    ("return (x * y, x)", "return (y * x, x + 0.0)", "x, y", "sweep"),
    ("return max(x, y)", "return y if y > x else x", "x, y", "z3"),
    ("return math.tanh(x)", "return (math.exp(2.0 * x) - 1.0) / (math.exp(2.0 * x) + 1.0)", "x", ""),
)


@pytest.mark.parametrize(("left", "right", "parameters", "method"), SAME)
def test_the_same_function_is_proved_so(left: str, right: str, parameters: str, method: str) -> None:
    found = same(program(left, parameters), program(right, parameters))
    assert isinstance(found.verdict, Proved), found.verdict
    assert method in found.method


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("return x * x + 2.0 * x", "return x * (x + 3.0)"),
        ("return math.exp(x) * y", "return math.exp(y) * x"),
        ("return x", "return x * y / y"),
        ("return max(x, y)", "return x if x > y else x + y - y + 1.0"),
        ("return (x, y)", "return (y, x)"),
    ],
)
def test_another_function_is_refuted_by_execution(left: str, right: str) -> None:
    found = same(program(left), program(right)).verdict
    assert isinstance(found, Refuted), found
    assert found.counterexample.found != found.counterexample.wanted


def test_a_domain_may_grow_and_not_shrink() -> None:
    with_pole, without = program("return x * y / y"), program("return x")
    assert isinstance(same(with_pole, without).verdict, Proved)
    assert isinstance(same(without, with_pole).verdict, Refuted)
    assert isinstance(same(without, with_pole, condition="y != 0").verdict, Proved)


def test_a_loop_is_unrolled_as_far_as_the_verdict_says() -> None:
    loop = program("r = 1.0\n    while n > 0:\n        r = r * x\n        n = n - 1\n    return r", "x, n: int")
    power, wrong = program("return x ** n", "x, n: int"), program("return x ** n if n < 3 else x", "x, n: int")
    found = same(loop, power, turns=3).verdict
    assert isinstance(found, Passed)
    assert "0 to 3" in found.what
    assert isinstance(same(loop, wrong, turns=2).verdict, Passed)
    assert isinstance(same(loop, wrong, turns=3).verdict, Refuted)


def test_bits_are_kept_by_congruence_or_asked_about() -> None:
    one = program("return (x * 1.0 + y) * (x + y)")
    assert "congruence" in same(one, optimize(one), domain="BITS").method
    assert isinstance(same(program("return x + x", "x"), program("return 2.0 * x", "x"), domain="BITS").verdict, Proved)
    assert isinstance(same(program("return x + 0.0", "x"), program("return x", "x"), domain="BITS").verdict, Refuted)
    long = " + ".join(f"{k}.0 * x" for k in range(2, 14))
    assert isinstance(
        same(program(f"return {long}", "x"), program(f"return x + ({long}) - x", "x"), domain="BITS").verdict, Unknown
    )


def test_bad_requests_are_refused() -> None:
    with pytest.raises(Malformed, match="takes 1 argument"):
        same(program("return x", "x"), program("return x"))
    with pytest.raises(Malformed, match="equality domain"):
        same(program("return x"), program("return x"), domain="ROUGHLY")


def chain(choices: list[int]) -> Program:
    """A straight-line program of one statement per choice, each of two of the last six names."""
    names, lines = ["x", "y"], []
    for k, choice in enumerate(choices):
        u, v = names[-6:][choice % len(names[-6:])], names[-6:][choice // 7 % len(names[-6:])]
        lines.append(f"v{k} = {OPERATIONS[choice % len(OPERATIONS)].format(u=u, v=v)}")
        names.append(f"v{k}")
    return program("\n    ".join([*lines, f"return {' + '.join(names[-3:])}"]))


@given(st.lists(st.integers(0, 300), min_size=20, max_size=60))
def test_the_optimizer_over_the_reals_is_validated_without_its_steps(choices: list[int]) -> None:
    """Unless a constant was folded with rounding, exp(1.0), which is another real number."""
    one = chain(choices)
    other = optimize(one, fast=True)
    constants = [c for n in other.nodes if isinstance(c := other.constant(n), float)]
    found = same(one, other)
    assert isinstance(found.verdict, Proved) or not all(c.is_integer() for c in constants), found.verdict


@costly(4)
@given(st.lists(st.integers(0, 300), min_size=3, max_size=12), st.sampled_from(["J", "ssa", "pullback"]), st.integers(0, 1))
def test_the_modes_give_one_gradient_and_a_planted_fault_is_never_proved(choices: list[int], mode: str, i: int) -> None:
    one = chain(choices)
    gradient, other = gradient_program(one, (0, 1)), gradient_program(one, (0, 1), mode=mode)
    assert isinstance(same(gradient, other).verdict, Proved)
    damaged = parse_text(f"def g(t):\n    return {'(t[0] + 1.0, t[1])' if i == 0 else '(t[0], t[1] + 2.0)'}\n", "g")
    assert not isinstance(same(gradient, composed(damaged, gradient)).verdict, Proved)


def composed(outer: Program, inner: Program) -> Program:
    """outer ∘ inner"""
    from semantics.edit import Edit
    from transforms.clone import link

    edit = Edit(inner)
    graph = edit.graph("composed")
    arguments = [edit.parameter(graph, f"x{i}") for i in range(2)]
    entry = edit.reference(inner.entry)
    edit.output(graph, edit.apply(graph, edit.reference(link(edit, outer)), edit.apply(graph, entry, *arguments)))
    edit.entry = graph
    return edit.program


def test_a_sweep_costs_what_it_goes_through() -> None:
    """No pair of a chain of a thousand statements is tried in vain."""
    counts = []
    for n in (100, 1000):
        sweep = Sweep()
        one = two = x
        for k in range(n):
            one, two = of("sin", one * (k + 1) + y), of("sin", y + one * k + two)
        assert sweep.equal(one, two)
        counts.append(sweep.open)
    assert counts == [0, 0]
