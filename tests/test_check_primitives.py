"""Primitives of users: their meaning is checked and total, their rules are programs where possible, each column is given once."""
# ruff: noqa: PLW0108  (a lambda around a library function is a subject of its own: it can be parsed)

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from adjudge.primitives import UserPrimitive, primitive
from checkers.inputs import edge_numbers, edge_points, moderate, points, random_points
from checkers.primitive_audit import check_vjp
from semantics.columns.meaning import MEANING
from semantics.errors import IllTyped, Malformed, Trap
from semantics.ir import Program
from semantics.machine import run
from semantics.primitives.row import Hole
from semantics.values import same
from transforms.backpropagators import backpropagator
from transforms.gradient_programs import gradient_program
from transforms.parse import parse
from transforms.python_rows import is_opaque


@primitive(domain="x > 0", kinks="x == 1")
def distance_to_one(x):
    """How far x is from 1."""
    return abs(x - 1.0)


@distance_to_one.backpropagator
def _(x, out, dout):
    return (dout if x > 1 else -dout,)


@primitive
def wave(x):
    return np.sin(x)


@wave.backpropagator
def _(x, out, dout):
    return (dout * float(np.real(np.cos(x))),)


def uses_both(x):
    return wave(x) * distance_to_one(x)


def test_a_primitive_is_called_like_its_function():
    assert isinstance(wave, UserPrimitive)
    assert same(wave(0.5), math.sin(0.5))
    assert type(wave(0.5)) is float
    assert distance_to_one(3) == 2.0
    assert (distance_to_one.__name__, distance_to_one.__doc__) == ("distance_to_one", "How far x is from 1.")
    assert distance_to_one.row.in_domain(2.0)
    assert not distance_to_one.row.in_domain(0.0)
    assert distance_to_one.row.on_kink(1.0)


def test_programs_use_primitives_and_J_uses_their_rules():
    program = parse(uses_both)
    assert same(run(program, 3.0), math.sin(3.0) * 2.0)
    assert run(gradient_program(program, 0), 3.0) == pytest.approx(math.cos(3.0) * 2.0 + math.sin(3.0), rel=8 * 2.0**-52)


def test_a_rule_in_the_language_is_a_program_and_one_outside_is_opaque():
    assert not is_opaque(backpropagator(distance_to_one.row))
    assert is_opaque(backpropagator(wave.row))
    assert isinstance(distance_to_one.row.columns["program"], Program)


def test_J_does_not_enter_an_opaque_rule():
    """First derivatives exist; the second is refused, and the error says that the rule is a black box."""
    with pytest.raises(IllTyped) as caught:
        gradient_program(gradient_program(parse(lambda x: wave(x)), 0), 0)
    assert "first derivatives" in caught.value.what


def test_the_meaning_is_total():
    """Where Python raises, the same program on the machine answers: 1/0 is inf there."""
    reciprocal = primitive(lambda x: 1.0 / x, name="reciprocal")
    growth = primitive(lambda x: math.exp(x), name="growth")
    assert reciprocal(0.0) == math.inf
    assert growth(1e4) == math.inf


def test_exact_and_ball_columns_follow_from_the_program():
    square = primitive(lambda x: x * x, name="square")
    assert square.row.columns["ball"](arb(3)) == 9
    assert isinstance(wave.row.columns["program"], Hole) == isinstance(wave.row.columns["exact"], Hole)


def test_a_column_is_given_once():
    p = primitive(lambda x: x, name="identity")
    p.backpropagator(lambda x, out, dout: (dout,))
    with pytest.raises(Malformed):
        p.backpropagator(lambda x, out, dout: (dout,))
    p.ball(lambda x: x)
    with pytest.raises(Malformed):
        p.ball(lambda x: x)
    with pytest.raises(IllTyped):
        p.row = None


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: primitive(3), IllTyped),
        (lambda: primitive(lambda *xs: 0.0, name="f"), Malformed),
        (lambda: primitive(lambda x, y=1.0: 0.0, name="f"), Malformed),
        (lambda: primitive(lambda: 0.0, name="f"), Malformed),
        (lambda: primitive(lambda x: x), Malformed),
        (lambda: primitive(lambda x: x, name="f", domain="x >"), Malformed),
        (lambda: primitive(lambda x: x, name="f", domain="z > 0"), Malformed),
        (lambda: primitive(lambda x: x, name="f", signature="real real -> real"), IllTyped),
        (lambda: primitive(lambda x: x, name="f", signature="tuple -> real"), IllTyped),
        (lambda: primitive(lambda x: x, name="f").backpropagator(lambda x, dout: (dout,)), Malformed),
    ],
)
def test_what_is_no_scalar_primitive_is_refused(make, error):
    with pytest.raises(error):
        make()


@pytest.mark.parametrize(
    ("function", "error"),
    [(lambda x: "text", IllTyped), (lambda x: np.zeros(2), IllTyped), (lambda x: x > 0, IllTyped), (lambda x: {}[x], Trap)],
)
def test_a_meaning_that_is_no_real_is_refused(function, error):
    with pytest.raises(error):
        primitive(function, name="f")(1.0)


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_the_python_function_and_its_program_agree_bit_for_bit(x):
    """Check 1: what is judged and what runs inside programs are one function."""
    p = distance_to_one
    assert same(MEANING[p.row](x), run(p.row.columns["program"], x))


# inputs


@given(st.integers(0, 50), st.integers(1, 3))
def test_samplers_are_seeded(seed, arity):
    assert list(random_points(arity, 5, seed=seed)) == list(random_points(arity, 5, seed=seed))
    assert edge_points(arity, (3.0,), seed=seed) == edge_points(arity, (3.0,), seed=seed)


@given(st.integers(2, 4))
def test_the_edge_pool_has_ties_zeros_and_both_signs_of_zero(arity):
    found = edge_points(arity, (2.5,))
    assert (1.0,) * arity in found
    assert len(found) == len({str(p) for p in found}) <= 90
    single = [math.copysign(1.0, x) for (x,) in edge_points(1) if x == 0]
    assert sorted(single) == [-1.0, 1.0]
    assert {2.5, -2.5, math.nextafter(2.5, 3), math.nextafter(2.5, 2)} <= set(edge_numbers((2.5,)))


@given(points(2, (0.25,)))
def test_strategies_give_finite_points(point):
    assert all(math.isfinite(x) for x in point)


def test_moderate_ends_at_two_to_the_sixty_four():
    assert moderate((0.0, 1.0, -(2.0**64)))
    assert not moderate((1.0, 2.0**65))


# which kind a wrong entry is, of a rule that cannot be read

NORMAL = NormalDist()


def of_the_normal(factor, place=None):
    """A black box: the density with a factor, everywhere or at one place."""
    return lambda xs, y, d: (d * NORMAL.pdf(xs[0]) * (factor if place is None or xs[0] == place else 1.0),)


def kinds(rule):
    report = check_vjp(NORMAL.cdf, rule, [(0.5,), (1.0,), (-2.0,)], skip=("composition", "vacuity"))
    return {(f.claim, f.kind) for f in report.findings if f.claim in ("jacobian", "edges")}


def test_a_wrong_factor_is_a_fault_at_extreme_arguments_too():
    assert kinds(of_the_normal(1 + 1e-5)) == {("jacobian", "fault"), ("edges", "fault")}


def test_a_digit_lost_at_an_extreme_argument_only_is_no_fault():
    assert kinds(of_the_normal(1.0)) == set()
    assert kinds(of_the_normal(1 + 1e-5, 1e-200)) == {("edges", "accuracy")}


def test_an_error_at_one_ordinary_argument_alone_is_a_fault():
    assert kinds(of_the_normal(1 + 1e-5, 0.5)) == {("jacobian", "fault")}
