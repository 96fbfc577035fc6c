"""Wrong rules on arrays: each is caught, by a check that is meant to, and as what it is."""

from __future__ import annotations

import pytest
from mutants.array_rules import BUGS, CONTROLS, Bug
from test_array_check_controls import others

from checkers.primitive_audit import check_vjp
from checkers.verdict import Report

CAUSES = {
    "wrong sign": "wrong sign",
    "factor 1 + 1e-6": "constant ratio 1.000001",
    "factor 1/n missing": "a factor n, the length of axis 1 of x, too many",
    "blend swapped": "swapped arguments",
    "var without its factor": "constant ratio 0.5: a factor 2 is missing",
    "softmax without its sum": "terms of a sum are missing",
    "off by one": "off by one index",
    "reversed": "reversed along axis 0",
    "first slice of a broadcast": "a broadcast axis is not summed",
    "unreduced broadcast": "a broadcast axis is not summed",
    "repeated indices overwritten": "overwritten instead of added",
    "clipped cotangent": "clipped",
    "negative cotangents dropped": "one sign of the cotangent is dropped",
    "d * |d|": "quadratic",
    "one buffer": "buffer",
    "expm1 by its value": "digits are lost",
}
"""What the finding says of the cause, of those bugs whose cause can be told."""


def judged(bug: Bug) -> Report:
    control = bug.control
    return check_vjp(
        control.forward, bug.wrong, control.samples, fixed=control.fixed, domain=control.domain, skip=others(), examples=40
    )


@pytest.mark.parametrize("bug", BUGS, ids=str)
def test_a_wrong_rule_is_caught_as_what_it_is(bug: Bug) -> None:
    report = judged(bug)
    caught = [f for f in report.findings if f.claim in bug.caught_by and f.kind == bug.kind]
    assert caught, str(report)
    assert any(CAUSES.get(bug.name, "") in f.counterexample.cause for f in caught), [f.counterexample.cause for f in caught]


def test_every_bug_has_its_control() -> None:
    assert all(bug.control is CONTROLS[bug.control.name] for bug in BUGS)
    assert len({bug.name for bug in BUGS}) == len(BUGS)
