"""
What sweeps over whole libraries taught the judge: false alarms that it made on functions of frameworks, each beside a near miss
that is still told.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from checkers.array_audit.bounds import Bounds, Sides
from checkers.array_audit.build import of_functions
from checkers.array_audit.kinks import not_finite, rough
from checkers.array_audit.opinion import entries
from checkers.array_audit.references import references_for
from checkers.array_audit.trial import Trial

KNOWN, UNKNOWN = Bounds(np.zeros(1), np.zeros(1)), Bounds.unknown(1)


def trial(forward: Callable[..., Any], rule: Callable[[Any, Any], Any], *points: list[float], framework: str = "autograd") -> Trial:
    """A trial of a rule (x, cotangent) on vectors, as a framework's function is tried: the rule is not told the value."""
    given = [(np.array(point),) for point in points]
    made = of_functions(
        forward,
        lambda xs, y, d: (rule(xs[0], d),),
        given,
        examples=1,
        references=tuple(references_for(forward=forward)),
        framework=framework,
        spread=False,
    )
    made.cases = tuple(case for sample in given if (case := made.case(sample)) is not None)
    return made


def test_a_jump_is_no_edge_of_the_domain():
    assert not Sides(UNKNOWN, KNOWN, np.array([True]), "exact").edge.any()
    assert Sides(UNKNOWN, KNOWN, np.array([False]), "exact").edge.all()
    assert not Sides(KNOWN, KNOWN, np.array([False]), "exact").edge.any()


def test_nan_where_a_slope_is_infinite_is_told_of_no_other_output():
    made = trial(np.cbrt, lambda x, d: d / (3 * np.cbrt(x) ** 2), [0.0, 0.0])
    (case,) = made.cases
    assert np.isnan(made.jacobian(case)).any()
    assert not entries(made, case).fault.any()
    assert not_finite(made, case, np.array([True, True]), made.jacobian(case)) is None


def test_nan_at_a_kink_with_finite_slopes_is_still_a_fault():
    made = trial(np.abs, lambda x, d: d * x / np.abs(x), [0.0, 1.0])
    (case,) = made.cases
    found = not_finite(made, case, rough(made, case), made.jacobian(case))
    assert found is not None
    assert found.kind == "fault"


@pytest.mark.parametrize(("x", "right"), [(-711.0, True), (-700.0, False)])
def test_a_subnormal_derivative_may_be_0_and_a_normal_one_may_not(x, right):
    made = trial(np.exp, lambda x, d: 0.0 * x, [x])
    assert entries(made, made.cases[0]).right.all() == right


@pytest.mark.parametrize(("framework", "right"), [("jax", True), ("autograd", False)])
def test_a_framework_that_flushes_subnormals_loses_what_comes_of_them(framework, right):
    lost = 1e-310

    def flushed(x: Any, d: Any) -> Any:
        return d * np.where(np.abs(x * lost) < np.finfo(np.float64).tiny, 0.0, lost) * 2.0**9

    made = trial(lambda x: lost * 2.0**9 * x, flushed, [2.0], framework=framework)
    assert entries(made, made.cases[0]).right.all() == right


@pytest.mark.parametrize("x", [-16.0, -30.0, -100.0])
def test_a_value_that_a_framework_keeps_to_itself_is_rounded_and_so_is_what_comes_of_it(x):
    made = trial(np.expm1, lambda x, d: d * (np.expm1(x) + 1), [x])
    found = entries(made, made.cases[0])
    assert not found.fault.any()
    assert found.accuracy.all()


def test_a_small_factor_is_still_a_fault():
    made = trial(np.expm1, lambda x, d: d * np.exp(x) * (1 + 1e-6), [-1.0])
    assert entries(made, made.cases[0]).fault.all()


def test_sinc_has_no_jump_at_0():
    made = trial(np.sinc, lambda x, d: d * x, [0.0])
    (case,) = made.cases
    sides = made.sides(case, np.ones(1))
    assert sides.smooth.all()
    assert not sides.infinite.any()
    assert sides.value.lo <= 0.0 <= sides.value.hi
