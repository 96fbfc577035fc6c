"""Wrong gradients that public systems shipped, in scalar form: each is caught, as the kind it is, by one of the checks named."""
# ruff: noqa: PLW0108  (a lambda around a library function is a subject of its own: it can be parsed)

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from mutants.scalar_zoo import ZOO

from adjudge.primitives import primitive
from checkers.primitive_audit import check, check_vjp

ELSEWHERE = ("composition", "optimizer", "vacuity", "second order", "proof", "shapes", "large arrays")
"""Checks that need not find these bugs: they have tests of their own."""


def caught(report: Any, kind: str) -> set[str]:
    return {f.claim for f in report.findings if f.kind == kind}


@pytest.mark.parametrize("name", ZOO)
def test_the_bug_is_caught(name):
    """As a primitive, by one of the checks that should, and as the kind it is."""
    forward, rule, claims, kind = ZOO[name]
    p = primitive(forward, name="suspect")
    p.backpropagator(rule)
    report = check(p, examples=100, skip=ELSEWHERE)
    assert claims & caught(report, kind), str(report)
    if kind == "accuracy":
        assert not caught(report, "fault")


@pytest.mark.parametrize(
    ("forward", "rule", "sample", "claims"),
    [
        (lambda x: np.power(x, 0.0), lambda xs, y, d: (d * 0.0 * np.power(xs[0], -1.0),), (1.0,), {"edges"}),
        (lambda x: np.exp(x), lambda xs, y, d: (d * y + 1e-7,), (1.0,), {"jacobian", "zero"}),
        (lambda x, y: np.maximum(x, y), lambda xs, y, d: (d * (xs[0] == y), d * (xs[1] == y)), (1.0, 2.0), {"kinks"}),
        (
            lambda x: np.where(x > 0, x, np.expm1(x)) + 0.0,
            lambda xs, y, d: (d * np.where(xs[0] > 0, 1.0, 0.0),),
            (1.0,),
            {"jacobian"},
        ),
        (
            lambda x: np.where(x > 0, x, np.expm1(x)) + 0.0,
            lambda xs, y, d: (d * ((xs[0] > 0) * 1.0 + (xs[0] <= 0) * np.exp(xs[0])),),
            (1.0,),
            {"edges"},
        ),
        (lambda x: np.sin(x), lambda xs, y, d: (np.clip(d, -1.0, 1.0) * np.cos(xs[0]),), (1.0,), {"algebra"}),
        (lambda x: np.sin(x), lambda xs, y, d: (-np.cos(xs[0]) * d,), (1.0,), {"jacobian"}),
    ],
)
def test_the_bug_is_caught_in_a_black_box(forward, rule, sample, claims):
    report = check_vjp(forward, rule, [sample], examples=60, skip=ELSEWHERE)
    assert claims & caught(report, "fault"), str(report)


def test_an_accuracy_loss_of_a_black_box_is_no_fault():
    """Nothing of it can be read, and differences of doubles cannot see what is lost: no more is claimed than is known."""
    report = check_vjp(
        lambda x: np.expm1(x), lambda xs, y, d: (d * (y + 1.0),), [(-20.0,), (1.0,)], examples=60, skip=("composition",)
    )
    assert caught(report, "fault") == set()


def test_stale_state_is_caught():
    """The forward pass saves a residual that the pullback of an earlier point then uses."""
    saved = {}

    def forward(x):
        saved["x"] = x
        return math.sin(x)

    report = check_vjp(forward, lambda xs, y, d: (d * math.cos(saved["x"]),), [(1.0,), (2.0,)], examples=60)
    assert "replay" in caught(report, "fault")


def test_a_mutated_residual_is_caught():
    """The pullback scales what it captured, so its second answer is another."""
    residual = [1.0]

    def pullback(xs, y, d):
        residual[0] *= 1.5
        return (d * residual[0] * math.cos(xs[0]),)

    report = check_vjp(lambda x: math.sin(x), pullback, [(1.0,)], examples=60)
    assert "replay" in caught(report, "fault")
    assert "purity" in caught(report, "convention")


def test_a_counter_that_changes_no_answer_is_a_convention():
    """The near miss: state, but no consequence."""
    calls = [0]

    def pullback(xs, y, d):
        calls[0] += 1
        return (d * math.cos(xs[0]),)

    report = check_vjp(lambda x: math.sin(x), pullback, [(1.0,)], examples=60)
    assert caught(report, "fault") == set()
    assert caught(report, "convention") >= {"purity"}


def test_first_order_right_and_second_wrong():
    """The rule of the rule is wrong: J(J(p)) disagrees with second differences, J(p) with nothing."""
    slope = primitive(lambda x: math.cos(x), name="slope")

    @slope.backpropagator
    def _(x, out, dout):
        return (dout * math.sin(x),)

    wave = primitive(lambda x: math.sin(x), name="wave")

    @wave.backpropagator
    def _(x, out, dout):
        return (dout * slope(x),)

    report = check(wave, examples=60, skip=("composition",))
    assert caught(report, "fault") == {"second order"}


def test_a_value_held_fixed_is_wrong_to_second_order():
    """A slope that goes through an integer has no derivative of its own."""
    p = primitive(lambda x: x * x, name="square")

    @p.backpropagator
    def _(x, out, dout):
        scaled = int(x * 4503599627370496.0)
        return (dout * 2.0 * (scaled / 4503599627370496.0),)

    report = check(p, examples=60, skip=("composition", "edges"))
    assert "second order" in caught(report, "fault")


@pytest.mark.parametrize(
    ("rule", "cause"),
    [
        (lambda x, out, dout: dout * math.cos(x), "not a tuple"),
        (lambda x, out, dout: (dout * math.cos(x), 0.0), "2 cotangents for 1"),
        (lambda x, out, dout: (dout > 0,), "bool"),
    ],
)
def test_the_wrong_container_is_caught(rule, cause):
    p = primitive(lambda x: math.sin(x), name="wave")
    p.backpropagator(rule)
    report = check(p, examples=60)
    found = [f for f in report.findings if f.claim == "structure" and f.kind == "fault"]
    assert found
    assert cause in found[0].counterexample.cause


def test_a_wrong_tangent_is_caught_and_a_right_one_is_not():
    def judged(factor: float) -> set[str]:
        p = primitive(lambda x, y: x * y, name="product")
        p.backpropagator(lambda x, y, out, dout: (dout * y, dout * x))
        p.tangent(lambda x, y, dx, dy: dx * y + factor * x * dy)
        return caught(check(p, examples=60, skip=("composition", "optimizer")), "fault")

    assert judged(1.0) == set()
    assert judged(-1.0) == {"tangent"}
