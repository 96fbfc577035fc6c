"""
Right backpropagators that are hard to judge: 0 of 65 are blamed, nor any of twelve in single precision; digits are lost only where
`ACCURACY` says why. The default profile judges a part of them by the checks of entries, `deep` all by all checks.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings
from mutants.array_rules import Control
from mutants.controls import ACCURACY, CONTROLS, SINGLES
from mutants.controls.exponentials import logsumexp
from mutants.controls.means import batch_norm_rule
from mutants.controls.samples import VECTOR

import adjudge as aj
from checkers.array_audit import NAMES
from checkers.array_audit.build import of_functions
from checkers.array_audit.kinks import kinked_cases
from checkers.array_audit.opinion import entries, takes_infinity
from checkers.array_audit.orders import seconds
from checkers.array_audit.sweeps import aliasing
from checkers.primitive_audit import check_vjp
from checkers.verdict import Passed, Refuted, Report

DEEP = settings.get_current_profile_name() == "deep"
ENTRYWISE = ("purity", "structure", "zero", "algebra", "jacobian", "edges", "accuracy", "kinks", "aliasing")
SKIPPED = () if DEEP else tuple(name for name in NAMES if name not in ENTRYWISE)
BY_NAME = {control.name: control for control in CONTROLS}


def judged(control: Control, dtype: type = np.float64) -> Report:
    def as_given(a):
        return a.astype(dtype) if isinstance(a, np.ndarray) and a.dtype.kind == "f" else a

    samples = [tuple(map(as_given, sample)) for sample in control.samples]
    examples = None if DEEP else 24
    return check_vjp(
        control.forward, control.right, samples, fixed=control.fixed, domain=control.domain, skip=SKIPPED, examples=examples
    )


@pytest.mark.parametrize("control", CONTROLS[:: 1 if DEEP else 9], ids=str)
def test_a_right_rule_is_not_blamed(control: Control) -> None:
    report = judged(control)
    kinds = {f.kind for f in report.findings}
    assert "fault" not in kinds, str(report)
    assert "accuracy" not in kinds or control.name in ACCURACY, str(report)
    assert {"structure", "algebra", "jacobian"} <= {v.claim for v in report.verdicts if isinstance(v, Passed)}


@pytest.mark.parametrize("name", SINGLES[:: 1 if DEEP else 6])
def test_nor_is_it_in_single_precision(name: str) -> None:
    report = judged(BY_NAME[name], np.float32)
    assert not [f for f in report.findings if f.kind == "fault"], str(report)


def test_the_table_is_as_large_as_is_said() -> None:
    assert (len(CONTROLS), len(BY_NAME), len(SINGLES)) == (65, 65, 12)
    assert set(ACCURACY) <= set(BY_NAME)


# what the judge blamed once, and must not


def trial_of(name: str, rule=None):
    control = BY_NAME[name]
    return of_functions(
        control.forward, rule or control.right, control.samples, fixed=control.fixed, domain=control.domain, examples=8
    )


def test_a_rule_that_could_be_read_in_two_ways_is_read_as_it_is_written() -> None:
    """In (xs, y, dy), np.mean of the tuple along axis 0 is the argument itself: an answer of the right shape, and wrong."""
    assert trial_of("batch norm").spread
    assert trial_of("batch norm", lambda t, y, d: batch_norm_rule(t + 0.0, y, d)).spread
    assert not trial_of("batch norm", lambda t, y, d: batch_norm_rule(t[0], y, d)).spread


def test_a_second_derivative_at_a_kink_of_the_first_is_not_known() -> None:
    """At -1 the derivative of huber has a kink; steps of opposite signs see the mean of both sides, ahead and behind."""
    trial = trial_of("huber")
    case = trial.case((np.array([1.0, -1.0, 0.25]),))
    found = seconds(trial, case, np.ones(3), np.array([-0.5, -1.0, 1.0]))
    assert found.known.tolist() == [False, False, True]
    assert found.lo[2] <= 1.0 <= found.hi[2]


def test_cotangents_that_cancel_add_up() -> None:
    """The cosine of x and x is 1: both cotangents are 0 but for rounding."""
    assert isinstance(aliasing(trial_of("cosine similarity"))[0], Passed)
    right = BY_NAME["cosine similarity"].right
    twice = trial_of("cosine similarity", lambda x, z, y, d: (right(x, z, y, d)[0] + d * x, right(x, z, y, d)[1]))
    assert isinstance(aliasing(twice)[0], Refuted)


def test_an_infinity_that_is_no_mask_asks_nothing_of_a_rule() -> None:
    trial = trial_of("solve")
    case = trial.case((np.array([[1.0, 1.0], [-np.inf, 0.0]]), np.array([1.0, 0.0])))
    assert case is not None
    assert not takes_infinity(trial, case)
    assert not entries(trial, case).fault.any()


def test_an_infinity_that_is_a_mask_does() -> None:
    wrong = of_functions(logsumexp, lambda x, y, d: (d * np.exp(x - y) + 0.0 * np.sum(x),), [(VECTOR,)], examples=8)
    case = wrong.case((np.array([0.5, -np.inf, 2.0]),))
    assert takes_infinity(wrong, case)
    assert entries(wrong, case).fault.tolist() == [[True, False, True]]


def test_a_value_of_integers_has_no_cotangent_of_a_shape() -> None:
    """np.bincount of no weights is an array of integers."""
    control = BY_NAME["histogram sums"]
    samples = [*control.samples, (np.zeros(0), np.zeros(0, dtype=np.int64))]
    report = check_vjp(control.forward, control.right, samples, skip=[n for n in NAMES if n != "structure"], examples=12)
    assert report.findings == ()


def test_a_function_as_a_default_beside_a_list_that_changes_is_read() -> None:
    def scaled(x, g=lambda y: 2.0 * y):
        found = [x]
        found.append(g(x))
        return found[0] * found[1]

    assert aj.run(scaled, 3.0) == 18.0


def test_steps_that_pass_over_periods_tell_of_no_kink() -> None:
    """At 1e303 the steps of a reference are longer than the period of the tangent."""
    trial = trial_of("tangent")
    case = trial.case((np.array([1.3715310171984222e303, 1.0]),), "edge")
    trial.cases = (case,)
    assert not list(kinked_cases(trial))
    relu = of_functions(lambda x: np.maximum(x, 0.0), lambda x, y, d: (d * (x > 0.0),), [(VECTOR,)], examples=8)
    relu.cases = (relu.case((np.array([0.0, 1.0]),), "edge"),)
    assert list(kinked_cases(relu))


def test_a_rule_with_a_default_is_read_by_what_must_be_given() -> None:
    """Only a parameter without a default counts: (x, y, d, safe=…) of one argument is (x…, y, dy)."""
    assert trial_of("softmax", lambda x, y, d, scale=1.0: (scale * y * (d - np.sum(d * y)),)).spread
    assert not trial_of("softmax", lambda xs, y, d, scale=1.0: (scale * y * (d - np.sum(d * y)),)).spread
