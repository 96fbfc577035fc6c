"""The derivative oracles agree with each other, on programs with every kind of control, data and function flow."""

from __future__ import annotations

import ast
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st
from test_oracles_programs import CASES, PROGRAMS, RATIONAL, program

from checkers import ball_differences, exact_derivatives, forward_mode, trace_reversal
from checkers.columns.ball import BALLS, balls
from checkers.columns.leaves import at_path, coordinates, map_leaves
from semantics.denotation import FRACTIONS, denote
from semantics.errors import IllTyped
from semantics.text import read
from semantics.values import same

Point = tuple[Any, ...]


@pytest.mark.parametrize(("name", "point"), CASES)
def test_forward_mode_and_trace_reversal_lie_in_the_same_balls(name: str, point: Point) -> None:
    """Both run over balls, so both enclose the derivative; so does the difference quotient, by the mean value theorem."""
    forward = forward_mode.gradient(program(name), point, BALLS)
    reverse = trace_reversal.gradient(program(name), point, BALLS)
    for path in coordinates(point):
        quotient = ball_differences.difference(program(name), point, path)
        box = map_leaves(lambda at, leaf: arb(leaf, arb(2) ** -119) if at == path else leaf, point)  # noqa: B023
        around = at_path(forward_mode.gradient(program(name), box, BALLS), path)
        assert around.overlaps(quotient)
        assert at_path(forward, path).overlaps(at_path(reverse, path))
        assert around.overlaps(at_path(forward, path))
        assert quotient.rad() < 1e-30


@pytest.mark.parametrize(("name", "point"), RATIONAL)
def test_rational_programs_have_one_exact_gradient(name: str, point: Point) -> None:
    forward = exact_derivatives.gradient(program(name), point)
    reverse = trace_reversal.gradient(program(name), exact_derivatives.lifted(point), FRACTIONS)
    assert forward == reverse
    for path in coordinates(point):
        exact = at_path(forward, path)
        assert isinstance(exact, Fraction)
        enclosed = at_path(forward_mode.gradient(program(name), point, BALLS), path)
        assert enclosed.overlaps(arb(exact.numerator) / arb(exact.denominator))


@pytest.mark.parametrize(("name", "point"), CASES)
def test_doubles_stay_inside_balls_of_fifty_bits(name: str, point: Point) -> None:
    """
    A ball of 50 bits grows by at least 2^-50 relative at every inexact operation, a double is off by at most 2 ulp = 2^-51: so
    the same computation in doubles stays inside, for forward mode and for the reversed trace.
    """
    coarse = balls(50)
    with ball_differences.precision(50):
        forward, reverse = (oracle.gradient(program(name), point, coarse) for oracle in (forward_mode, trace_reversal))
    found = (forward_mode.gradient(program(name), point), trace_reversal.gradient(program(name), point))
    for path in coordinates(point):
        for doubles, enclosed in zip(found, (forward, reverse), strict=True):
            value, ball = at_path(doubles, path), at_path(enclosed, path)
            assert ball.contains(arb(value)) or ball.overlaps(arb(value, 2.0**-1022))


@pytest.mark.parametrize(("name", "point"), CASES)
def test_trace_agrees(name: str, point: Point) -> None:
    """T6: the straight line computes what the program computes, bit for bit, without a call or a branch."""
    straight = trace_reversal.straight_line(program(name), point)
    assert len(straight.graphs) == 1
    assert same(denote(straight, point), denote(program(name), point))
    assert same(trace_reversal.trace(program(name), point).value, denote(program(name), point))
    assert same(trace_reversal.gradient(straight, point), trace_reversal.gradient(program(name), point))


@pytest.mark.parametrize(("name", "point"), CASES)
def test_second_derivatives_are_symmetric_and_agree_with_second_differences(name: str, point: Point) -> None:
    paths = coordinates(point)
    for i in paths:
        for j in paths:
            hessian = forward_mode.second_derivative(program(name), point, i, j, BALLS)
            assert hessian.overlaps(forward_mode.second_derivative(program(name), point, j, i, BALLS))
            radius = arb(2) ** -100  # the box is 2^-119 wide, and third derivatives are below 2^18 on these programs
            assert ball_differences.second_difference(program(name), point, i, j).overlaps(arb(hessian.mid(), radius))


@given(st.sampled_from(["polynomial", "aliased", "captured", "returned closure", "curried", "newton"]), st.data())
def test_exact_gradients_agree_at_any_rational_point(name: str, data: st.DataObject) -> None:
    size = len(PROGRAMS[name][2][0])
    numbers = st.fractions(min_value=Fraction(1, 50), max_value=50, max_denominator=60)
    point = tuple(data.draw(st.tuples(*[numbers] * size)))
    assert exact_derivatives.gradient(program(name), point) == trace_reversal.gradient(program(name), point, FRACTIONS)


@given(st.lists(st.floats(-4, 4), min_size=2, max_size=2), st.lists(st.floats(-4, 4), min_size=2, max_size=2))
def test_the_tangent_is_linear_in_the_direction(point: list[float], direction: list[float]) -> None:
    """<∇f, v> = jvp(v), exactly, over the rationals."""
    v = exact_derivatives.lifted(direction)
    tangent = forward_mode.jvp(program("polynomial"), exact_derivatives.lifted(point), v, FRACTIONS)[1]
    gradient = trace_reversal.gradient(program("polynomial"), exact_derivatives.lifted(point), FRACTIONS)
    assert tangent == sum(g * d for g, d in zip(gradient, v, strict=True))


def test_the_tangent_of_a_closure_is_the_tuple_of_those_of_its_captured_values() -> None:
    p = read(
        "program @f\n\n@f(%x, %n):\n  %a = mul(%x, %x)\n  return @g\n"
        "\n@g(%v):\n  %s = add(%a, %n)\n  %t = mul(%s, %v)\n  return %t\n"
    )
    value, tangent = forward_mode.jvp(p, (3.0, 2), (1.0, None))
    assert value.captured == (2, 9.0)
    assert tangent == (None, 6.0)


def test_perturbations_are_kept_apart() -> None:
    """D(x -> x * D(y -> x + y)) is 1, not 2: the inner derivative does not see the outer perturbation (T17)."""
    inner = read("program @f\n\n@f(%x, %y):\n  %s = add(%x, %y)\n  return %s\n")
    outer = forward_mode.duals()
    nested = forward_mode.duals(outer)
    x = forward_mode.Dual(3.0, 1.0, 1)
    found = denote(inner, (x, forward_mode.Dual(2.0, 1.0, 2)), nested)
    assert found.level == 2
    assert found.tangent == 1.0
    assert isinstance(found.primal, forward_mode.Dual)


def test_a_predicate_never_looks_at_the_tangent() -> None:
    p = read("program @f\n\n@f(%x, %y):\n  %c = gt(%x, %y)\n  %r = switch(%c, %x, %y)\n  return %r\n")
    assert forward_mode.jvp(p, (1.0, 1.0), (5.0, -5.0)) == (1.0, -5.0)


def test_forward_mode_runs_over_reversed_programs() -> None:
    """gadd, inject, instantiate, seed and ZERO: the derivative of x -> ∂(x[0]*x[1])/∂x along (1, 0) is (0, 1)."""
    p = read(
        "program @f\n\n@f(%t):\n  %a = getitem(%t, 0)\n  %b = getitem(%t, 1)\n  %out = mul(%a, %b)\n  %d = seed(%out)\n"
        "  %da = mul(%d, %b)\n  %db = mul(%d, %a)\n  %i = inject(%t, 0, %da)\n  %j = inject(%t, 1, %db)\n"
        "  %s = gadd(%i, %j)\n  %z = gadd(%s, ZERO)\n  %r = instantiate(%z, %t)\n  return %r\n"
    )
    assert forward_mode.jvp(p, ((2.0, 3.0),), ((1.0, 0.0),)) == ((3.0, 2.0), (0.0, 1.0))
    twice = read(
        "program @f\n\n@f(%x):\n  %a = mul(%x, %x)\n  %s = gadd(%a, %x)\n  %t = make_tuple(%s)\n"
        "  %u = gadd(%t, %t)\n  %r = getitem(%u, 0)\n  return %r\n"
    )
    assert forward_mode.derivative(twice, (3.0,)) == 14.0
    assert trace_reversal.gradient(twice, (3.0,)) == (14.0,)


def test_nothing_flows_where_no_path_is() -> None:
    """0 * inf is NaN, but no path is no product: y does not occur."""
    p = read("program @f\n\n@f(%x, %y):\n  %a = mul(%x, inf)\n  return %a\n")
    assert forward_mode.gradient(p, (1.0, 1.0)) == (math.inf, 0.0)
    assert trace_reversal.gradient(p, (1.0, 1.0)) == (math.inf, 0.0)


def test_an_integer_has_no_derivative() -> None:
    with pytest.raises(IllTyped):
        forward_mode.derivative(program("loop"), (1.5, 3), 1)
    with pytest.raises(IllTyped):
        forward_mode.jvp(program("loop"), (1.5, 3), (1.0, 1.0))
    assert forward_mode.gradient(program("loop"), (1.5, 3))[1] is None


def test_an_irrational_program_is_refused_by_the_exact_oracle() -> None:
    with pytest.raises(IllTyped, match="irrational"):
        exact_derivatives.gradient(program("waves"), (0.5, 0.25))


def test_a_result_that_is_no_real_has_no_gradient() -> None:
    p = read("program @f\n\n@f(%x):\n  %t = make_tuple(%x)\n  return %t\n")
    with pytest.raises(IllTyped):
        trace_reversal.gradient(p, (1.0,))
    assert forward_mode.derivative(p, (1.0,)) == (1.0,)


def test_the_oracles_share_nothing_that_they_judge() -> None:
    """Neither forward mode nor finite differences nor ball differences imports another of them, or the transforms."""
    folder = Path(forward_mode.__file__).parent
    oracles = ("forward_mode", "finite_differences", "ball_differences")
    for name in oracles:
        tree = ast.parse((folder / f"{name}.py").read_text())
        imported = {f"{n.module}.{a.name}" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for a in n.names} | {
            a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names
        }
        for module in imported:
            assert not module.startswith("transforms")
            assert not any(other in module for other in (*oracles, "trace_reversal"))


def test_the_straight_line_computes_its_constants_too() -> None:
    """A trace that kept sin(1.0 + 1.0) as one rounded number would have another gradient over the reals. (T6 was wrong here.)"""
    program = read("program @f\n@f(%x):\n  %a = add(1.0, 1.0)\n  %b = sin(%a)\n  %c = mul(%b, %x)\n  return %c")
    straight = trace_reversal.straight_line(program, (0.5,))
    called = [straight.callee(n).name for n in sorted(straight.nodes) if straight.apply(n) is not None]
    assert called == ["add", "sin", "mul"]
