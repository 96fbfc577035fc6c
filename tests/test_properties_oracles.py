"""T11 to T14, T18, T19: J against exact fractions and rigorous enclosures, at first, second and third order."""

from __future__ import annotations

import pytest
from claims import costly, holds, judged, refuted
from hypothesis import given

from checkers.generators import EVERYTHING, Options, Source, exhaustive, points, sources
from checkers.properties import higher_order, oracles
from checkers.verdict import OutOfScope, Passed
from semantics.ir import Program
from semantics.text import read
from transforms.gradient_programs import differentiated, gradient_program
from transforms.nested_grad import expand

PRODUCT = read("program @f\n@f(%x: f64, %y: f64):\n  %a = mul(%x, %x)\n  %b = mul(%a, %y)\n  return %b")
CUBE = read("program @f\n@f(%x: f64):\n  %a = mul(%x, %x)\n  %b = mul(%a, %x)\n  return %b")
IDENTITY = read("program @f\n@f(%x: f64):\n  return %x")
ABS = read("program @f\n@f(%x: f64):\n  %y = abs(%x)\n  return %y")


@costly(3)
@given(sources(Options(rational_only=True, size=4)), points(2))
def test_t11_exact_gradient(source: Source, x: tuple[float, ...]) -> None:
    holds(oracles.exact_gradient(source.program(), x))


@costly(10)
@given(sources(Options(rational_only=True, features=EVERYTHING, always=frozenset({"nested_grad"}), size=2)), points(2))
def test_t11_exact_gradient_of_programs_with_derivatives_inside(source: Source, x: tuple[float, ...]) -> None:
    holds(oracles.exact_gradient(expand(source.program()), x))


@costly(6)
@given(sources(Options(size=2)), points(2))
def test_t12_ball_differences(source: Source, x: tuple[float, ...]) -> None:
    holds(oracles.ball_differences_agree(source.program(), x))
    holds(oracles.ball_differences_agree(source.program(), x, 1))


@costly(6)
@given(sources(Options(size=2, always=frozenset({"kinks", "branch", "conditional"}))), points(2))
def test_t13_mismatches_lie_on_declared_boundaries(source: Source, x: tuple[float, ...]) -> None:
    holds(oracles.mismatches_on_boundaries(source.program(), x))
    holds(oracles.mismatches_on_boundaries(source.program(), (0.0, 0.0)))


def test_t13_on_every_small_program_at_zero_and_elsewhere() -> None:
    for program in exhaustive(1):
        for x in (0.0, 1.5):
            holds(oracles.mismatches_on_boundaries(program, (x,)))


def test_t14_the_guard_at_zero_is_a_boundary() -> None:
    judged(oracles.zero_is_a_boundary())
    refuted(oracles.zero_is_a_boundary(IDENTITY))
    refuted(oracles.zero_is_a_boundary(x=0.5))


def test_t14_every_small_program_that_tests_its_parameter_is_judged_a_boundary_at_zero_or_agrees() -> None:
    for program in exhaustive(1):
        if "eq" in str(program):
            assert isinstance(oracles.ball_differences_agree(program, (0.0,)), (OutOfScope, Passed))


@costly(20)
@given(
    sources(Options(rational_only=True, size=1, features=frozenset({"tuple", "branch", "lambda", "range", "conditional"}))),
    points(2),
)
def test_t18_hessians(source: Source, x: tuple[float, ...]) -> None:
    holds(higher_order.hessian_symmetric(source.program(), x))
    holds(higher_order.hessian_is_forward_over_reverse(source.program(), x, 0, 1))


@costly(10)
@given(sources(Options(size=1, parameters=1, features=frozenset({"math", "branch", "lambda", "captured_call"}))), points(1))
def test_t18_of_transcendental_programs(source: Source, x: tuple[float, ...]) -> None:
    holds(higher_order.hessian_is_forward_over_reverse(source.program(), x))


@pytest.mark.parametrize("program", [PRODUCT, CUBE, IDENTITY, oracles.ZERO_OR_X], ids=["product", "cube", "identity", "guard"])
def test_t19_the_image_of_j_is_in_its_domain(program: Program | str) -> None:
    program = read(program) if isinstance(program, str) else program
    x = (1.5, -0.5)[: len(program.graphs[program.entry].parameters)]
    judged(higher_order.closed_under_j(program))
    judged(higher_order.third_derivative(program, x))


# planted bugs


def test_a_hessian_that_is_not_symmetric_is_found() -> None:
    lopsided = read(
        "program @h\n@h(%x: f64, %y: f64):\n"
        "  %a = make_tuple(1.0, 2.0)\n  %b = make_tuple(%x, 4.0)\n  %c = make_tuple(%a, %b)\n  return %c"
    )
    judged(higher_order.hessian_symmetric(PRODUCT, (1.5, 2.5)))
    refuted(higher_order.hessian_symmetric(PRODUCT, (1.5, 2.5), lambda p: lopsided))


def test_a_second_derivative_that_forgets_a_factor_is_found() -> None:
    def forgetful(program: Program, wrt: int = 0) -> Program:
        return read("program @g\n@g(%x: f64):\n  %a = mul(%x, %x)\n  return %a")

    judged(higher_order.hessian_is_forward_over_reverse(CUBE, (1.5,)))
    refuted(higher_order.hessian_is_forward_over_reverse(CUBE, (1.5,), 0, 0, forgetful))


def test_a_j_that_leaves_macros_behind_is_found() -> None:
    refuted(higher_order.closed_under_j(CUBE, 1, differentiated))


def test_a_wrong_third_derivative_is_found() -> None:
    calls = []

    def wrong_the_third_time(program: Program, wrt: int = 0) -> Program:
        calls.append(program)
        return IDENTITY if len(calls) == 3 else gradient_program(program, wrt)

    refuted(higher_order.third_derivative(CUBE, (1.5,), wrong_the_third_time))


def test_at_a_declared_kink_a_subgradient_is_not_called_wrong() -> None:
    assert isinstance(oracles.ball_differences_agree(ABS, (0.0,)), OutOfScope)
    judged(oracles.mismatches_on_boundaries(ABS, (0.0,)))
    assert oracles.boundaries_met(ABS, (0.0,))
    assert not oracles.boundaries_met(ABS, (1.0,))
