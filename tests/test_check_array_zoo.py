"""
Wrong backpropagators of arrays, shipped and invented, on samples that an honest author gives: 79 of 79 are caught, each by a check
that is meant to and as the kind it is; their 28 right twins raise no fault. Three more are primitives of users.

The default profile judges one of each reference and a few of the others; `deep` judges all.
"""
# ruff: noqa: PLW0108  (a lambda around a library function is a subject of its own: it can be parsed)

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings
from mutants.array_rules import Bug, Control
from mutants.backpropagators import COTANGENTS, LINES, RIGHT, WRONG
from mutants.zoo_rules import OTHERS, TWINS, ZOO

import adjudge as aj
from checkers.array_audit import NAMES
from checkers.array_audit.build import of_row
from checkers.array_audit.orders import second_order
from checkers.array_audit.tangents import tangent
from checkers.primitive_audit import check, check_vjp
from checkers.verdict import Refuted, Report

DEEP = settings.get_current_profile_name() == "deep"
SHIPPED = [(reference, bug) for reference, bugs in ZOO.items() for bug in (bugs if DEEP else bugs[-1:])]
CORE = ("structure", "zero", "algebra", "jacobian", "edges", "kinks")


def judged(control: Control, rule, names: tuple[str, ...]) -> Report:
    skip = tuple(n for n in NAMES if n not in names)
    return check_vjp(control.forward, rule, control.samples, fixed=control.fixed, domain=control.domain, skip=skip)


def is_caught(bug: Bug) -> bool:
    report = judged(bug.control, bug.wrong, bug.caught_by)
    found = [f for f in report.findings if f.kind == bug.kind and f.claim in bug.caught_by]
    return bool(found) and all(f.counterexample.script and (f.counterexample.note or f.counterexample.cause) for f in found)


@pytest.mark.parametrize(("reference", "bug"), SHIPPED, ids=[f"{r}: {b}" for r, b in SHIPPED])
def test_a_shipped_bug_is_caught(reference: str, bug: Bug) -> None:
    assert is_caught(bug), reference


@pytest.mark.parametrize("bug", OTHERS[:: 1 if DEEP else 13], ids=str)
def test_another_bug_is_caught(bug: Bug) -> None:
    assert is_caught(bug)


@pytest.mark.parametrize("twin", TWINS[:: 1 if DEEP else 14], ids=str)
def test_the_right_twin_is_not_blamed(twin: Control) -> None:
    report = judged(twin, twin.right, CORE if not DEEP else NAMES)
    assert not [f for f in report.findings if f.kind == "fault"], str(report)


def test_every_line_of_the_zoo_has_a_mutant_and_every_habit_of_cotangents_has_one() -> None:
    """The last two lines are judged below, by checks that only a primitive of the user has."""
    assert len(LINES) == len(set(LINES)) == 18
    assert [line for line in LINES if not ZOO.get(line)] == ["pytorch#95180, pytorch#1712", "Zygote#1597"]
    assert {bug.name for bug in ZOO["cotangent handling"]} >= set(COTANGENTS)


def test_all_rules_are_counted() -> None:
    """Every one is judged somewhere in the tests; `python -m bench check` counts those that are found, or blamed."""
    assert len({rule.name for rule in WRONG}) == len(WRONG) >= 167
    assert len({rule.name for rule in RIGHT}) == len(RIGHT) >= 174


def test_the_zoo_is_as_large_as_is_said() -> None:
    shipped = [bug for bugs in ZOO.values() for bug in bugs]
    assert (len(shipped) + len(OTHERS), len(TWINS)) == (79, 28)
    assert len({bug.name for bug in (*shipped, *OTHERS)}) == 79
    assert all(set(bug.caught_by) <= set(NAMES) for bug in (*shipped, *OTHERS))


# primitives of users


def test_a_power_by_the_exponent_is_caught_at_zero() -> None:
    """jax#12409: 0 * 0**-1."""
    power = aj.primitive(lambda x, p: x**p, name="power_", domain="x >= 0")
    power.backpropagator(lambda x, p, out, dout: (dout * p * x ** (p - 1.0), dout * out * np.log(np.where(x > 0.0, x, 1.0))))
    report = check(power, skip=("composition", "proof", "optimizer", "vacuity", "shapes", "large arrays"))
    assert [f.claim for f in report.findings if f.kind == "fault"]


@aj.primitive
def detached(x):
    return x


@detached.backpropagator
def _(x, out, dout):
    return (0.0 * dout,)


@pytest.mark.parametrize(
    ("rule", "wrong"), [(lambda x, out, dout: (2.0 * dout * detached(x),), True), (lambda x, out, dout: (2.0 * dout * x,), False)]
)
def test_a_first_order_that_is_right_and_a_second_that_is_not(rule, wrong) -> None:
    """pytorch#95180, pytorch#1712; and the right twin."""
    square = aj.primitive(lambda x: x * x, name="square_", signature="f64[n] -> f64[n]")
    square.backpropagator(rule)
    assert any(isinstance(v, Refuted) for v in second_order(of_row(square.row, examples=24))) == wrong


@pytest.mark.parametrize(
    ("rule", "wrong"),
    [
        (lambda x, z, vx, vz: np.where(x > z, vx, np.where(z > x, vz, np.maximum(vx, vz))), True),
        (lambda x, z, vx, vz: np.where(x > z, vx, np.where(z > x, vz, 0.5 * (vx + vz))), False),
    ],
)
def test_a_predicate_that_looks_at_the_tangent(rule, wrong) -> None:
    """Zygote#1597; and the right twin."""
    larger = aj.primitive(lambda x, z: np.maximum(x, z), name="larger_", signature="f64[n] f64[n] -> f64[n]")
    larger.backpropagator(
        lambda x, z, out, dout: (
            np.where(x > z, dout, np.where(z > x, 0.0, 0.5 * dout)),
            np.where(z > x, dout, np.where(x > z, 0.0, 0.5 * dout)),
        )
    )
    larger.tangent(rule)
    assert any(isinstance(v, Refuted) for v in tangent(of_row(larger.row, examples=60))) == wrong
