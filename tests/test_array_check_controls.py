"""Right rules on arrays, numerically stressful ones among them: the judge reports no fault, and no accuracy that is not lost."""

from __future__ import annotations

import numpy as np
import pytest
from mutants.array_rules import CONTROLS, Control

from checkers.array_audit import NAMES
from checkers.primitive_audit import check_vjp
from checkers.verdict import Passed

ENTRYWISE = (
    "purity",
    "replay",
    "primal",
    "structure",
    "zero",
    "algebra",
    "jacobian",
    "edges",
    "infinite cotangent",
    "accuracy",
    "shapes",
    "aliasing",
)
"""The checks under test; the others have tests of their own."""

CANCELS = {"softmax", "log_softmax", "layer_norm"}
"""On the diagonal these rules subtract nearly equal numbers, as d - y * sum(d) does for y near 1: there digits are lost indeed."""


def others() -> tuple[str, ...]:
    return tuple(name for name in NAMES if name not in ENTRYWISE)


@pytest.mark.parametrize("control", CONTROLS.values(), ids=str)
def test_a_right_rule_is_found_right(control: Control) -> None:
    report = check_vjp(
        control.forward,
        control.right,
        control.samples,
        fixed=control.fixed,
        domain=control.domain,
        skip=others(),
        examples=24,
    )
    grave = {(f.claim, f.kind) for f in report.findings if f.kind != "convention"}
    assert grave <= ({("accuracy", "accuracy")} if control.name in CANCELS else set()), str(report)
    decided = {v.claim for v in report.verdicts if isinstance(v, Passed)}
    assert {"structure", "zero", "replay", "algebra", "jacobian", "edges", "shapes"} <= decided


def test_adding_the_cotangents_before_weighing_them_is_linear() -> None:
    """At a saturated column `d - softmax * sum(d)` rounds as its greatest cotangent does, not as its answer does."""

    def log_softmax(x: np.ndarray) -> np.ndarray:
        return x - np.log(np.sum(np.exp(x - x.max(axis=0)), axis=0)) - x.max(axis=0)

    def pullback(x: np.ndarray, out: np.ndarray, dout: np.ndarray) -> tuple[np.ndarray]:
        return (dout - np.exp(out) * np.sum(dout, axis=0),)

    samples = [(np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 800.0]]),)]
    report = check_vjp(log_softmax, pullback, samples, skip=tuple(name for name in NAMES if name != "algebra"))
    assert [type(v) for v in report.verdicts if v.claim == "algebra"] == [Passed], str(report)
