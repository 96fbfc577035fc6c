"""Correct rules, stressful ones among them: the judge of backpropagators raises no fault against any."""
# ruff: noqa: PLW0108  (a lambda around a library function is a subject of its own: it can be parsed)

from __future__ import annotations

import math

import pytest
from hypothesis import settings
from mutants.scalar_controls import BLACK_BOXES, CONTROLS

from adjudge.primitives import primitive
from checkers.primitive_audit import check, check_vjp
from checkers.verdict import Passed, Report
from semantics.primitives.table import TABLE


def faults(report: Report) -> list[str]:
    return [f"{v.claim}: {v.counterexample}" for v in report.findings if v.kind == "fault"]


DEEP = settings.get_current_profile_name() == "deep"
ON_ARRAYS = ("shapes", "large arrays")
"""The checks that cost as much as all others: one control in four is judged by them, under `deep` all."""


def left_out(k: int) -> tuple[str, ...]:
    return () if DEEP or k % 4 == 0 else ON_ARRAYS


@pytest.mark.parametrize(("k", "name"), list(enumerate(CONTROLS)), ids=CONTROLS)
def test_a_correct_rule_raises_no_fault(k, name):
    """As a primitive, by every check."""
    forward, rule, _ = CONTROLS[name]
    domain = "x*x + y*y > 0" if name == "atan2" else ""
    p = primitive(forward if name != "expm1" else (lambda x: math.expm1(x)), name="control", domain=domain)
    p.backpropagator(rule)
    report = check(p, examples=120, skip=left_out(k))
    assert faults(report) == []
    assert {v.claim for v in report.verdicts if isinstance(v, Passed)} >= {
        "jacobian",
        "edges",
        "algebra",
        "zero",
        "replay",
        "vacuity",
    }


@pytest.mark.parametrize("name", BLACK_BOXES)
def test_a_correct_black_box_raises_no_fault(name):
    """Forward function and rule are outside the language: differences of doubles are the only reference."""
    forward, rule, samples = BLACK_BOXES[name]
    report = check_vjp(forward, rule, samples, examples=60)
    assert faults(report) == []
    assert any(isinstance(v, Passed) and v.claim == "jacobian" for v in report.verdicts)
    assert any("black box" in e.check for e in report.ledger)


TABULATED = ("mul", "div", "exp", "log1p", "hypot", "max", "abs", "maximum", "minimum", "logaddexp", "single")


@pytest.mark.parametrize(("k", "name"), list(enumerate(TABULATED)), ids=TABULATED)
def test_primitives_of_the_table_raise_no_fault(k, name):
    assert faults(check(TABLE[name], examples=80, skip=left_out(k))) == []


def test_the_domain_keeps_points_out():
    """Without the domain, hypot by x / out is NaN at the origin, where its Clarke derivative is the unit disc."""

    def hypot_rule(x, y, out, dout):
        return dout * x / out, dout * y / out

    inside = primitive(lambda x, y: math.hypot(x, y), name="hypot_away", domain="x*x + y*y > 0")
    inside.backpropagator(hypot_rule)
    assert faults(check(inside, examples=80)) == []
    everywhere = primitive(lambda x, y: math.hypot(x, y), name="hypot_everywhere")
    everywhere.backpropagator(hypot_rule)
    assert [f for f in faults(check(everywhere, examples=80)) if f.startswith("kinks")]
