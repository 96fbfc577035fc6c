"""References that ask doubles, and complex numbers: Richardson differences and the complex step, honest and sharp."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st
from reference_functions import SINGLE, SMOOTH, case_of, holds, jacobian

from checkers.array_audit.case import unit
from checkers.array_audit.references import (
    ComplexStep,
    Richardson,
    ball_objects,
)


@given(st.sampled_from(sorted(SMOOTH)), st.lists(st.floats(-4, 4), min_size=1, max_size=3))
def test_richardson_holds_the_truth_of_smooth_functions_and_knows_it(name, xs):
    function, slope = SMOOTH[name]
    x = np.array(xs)
    assume(((x == 0) | (np.abs(x) > 2.0**-40)).all())
    case = case_of(function, x)
    found = jacobian(Richardson(function), case)
    assert holds(found, np.diag(slope(x)))
    event(f"{found.known.mean():.1f} known")
    assert found.known.all()
    assert (found.hi - found.lo <= 2.0**-10 * np.maximum(1.0, found.size)).all()


@given(st.sampled_from(sorted(SMOOTH)), st.floats(-4, 4, width=32), st.integers(-3, 3))
def test_richardson_is_honest_of_singles(name, x, scale):
    function, slope = SMOOTH[name]
    x = np.array([x * 2.0**scale], dtype=np.float32)
    assume(((x == 0) | (np.abs(x) > 2.0**-40)).all())
    case = case_of(function, x)
    found = jacobian(Richardson(function, SINGLE), case)
    assert holds(found, np.diag(slope(x.astype(np.float64))))


KINKED = {
    "abs": (np.abs, lambda x: x),
    "floor": (np.floor, lambda x: x - np.round(x)),
    "clip": (lambda x: np.clip(x, -1.0, 1.0), lambda x: np.minimum(np.abs(x - 1), np.abs(x + 1))),
    "root": (lambda x: np.sqrt(np.abs(x)), lambda x: x),
    "pole": (lambda x: 1 / x, lambda x: x),
}


@given(st.sampled_from(sorted(KINKED)), st.integers(-1, 1), st.floats(-1, 1), st.integers(-45, 0))
def test_richardson_answers_unknown_rather_than_wrong_near_kinks(name, center, offset, scale):
    function, distance = KINKED[name]
    x = np.array([center + offset * 2.0**scale])
    case = case_of(function, x)
    assume(np.isfinite(case.value).all())
    found = Richardson(function).sides(case, unit(1, 0))
    exact = ball_objects(function).sides(case, unit(1, 0))
    assume(found is not None and exact is not None)
    known = found.value.known & exact.value.known
    event(f"{name}: {'known' if known.any() else 'unknown'}")
    gap = np.maximum(found.value.lo - exact.value.hi, exact.value.lo - found.value.hi)
    assert (gap[known] <= 0).all()
    if abs(distance(x)[0]) == 0 and name != "pole":
        assert not found.value.known.any()


def test_richardson_sees_kinks_from_both_sides_and_edges_from_one():
    case = case_of(np.abs, np.array([0.0, 2.0]))
    found = Richardson(np.abs).sides(case, unit(2, 0))
    assert found.kink.tolist() == [True, False]
    assert found.left.distance(np.array([-1.0, 0.0])).max() == 0 == found.right.distance(np.array([1.0, 0.0])).max()

    def power(x):
        return np.where(x >= 0, np.abs(x) ** 2.5, np.nan)

    edge = Richardson(power).sides(case_of(power, np.array([0.0])), unit(1, 0))
    assert edge.edge.tolist() == [True]


def test_richardson_keeps_ties_along_directions_that_keep_them():
    case = case_of(np.max, np.array([1.0, 1.0, 0.0]))
    ties = Richardson(np.max).sides(case, np.array([1.0, 1.0, 0.0]))
    assert ties.value.distance(np.array([1.0])).max() == 0


@given(st.lists(st.floats(-2, 2), min_size=3, max_size=3), st.lists(st.floats(0.01, 2), min_size=3, max_size=3))
def test_richardson_holds_the_truth_along_any_direction(xs, direction):
    x, d = np.array(xs), np.array(direction)
    assume(((x == 0) | (np.abs(x) > 2.0**-40)).all())

    def function(v):
        return np.exp(v - 1) * np.sum(v * v)

    found = Richardson(function).sides(case_of(function, x), d).value
    exact = ball_objects(function).sides(case_of(function, x), d).value
    assert np.maximum(found.lo - exact.hi, exact.lo - found.hi)[found.known & exact.known].max(initial=0) <= 0
    event(f"{found.known.mean():.1f} known")


def test_richardson_assumes_that_a_value_that_stays_zero_may_have_been_absorbed():
    def softplus(x):
        return np.log(1 + np.exp(x))

    case = case_of(softplus, np.array([-40.0]))
    assert case.value[0] == 0
    found = Richardson(softplus).sides(case, unit(1, 0)).value
    assert found.known.all()
    assert found.distance(np.array([math.exp(-40)])).max() == 0


@given(st.floats(0.25, 4), st.integers(3, 30))
def test_richardson_sees_what_its_bound_says_it_sees(x, digits):
    """A derivative that is wrong by more than the width of the bounds is outside them."""
    case = case_of(np.sin, np.array([x]))
    bounds = Richardson(np.sin).sides(case, unit(1, 0)).value
    width = bounds.hi - bounds.lo
    planted = np.cos(x) + 2.0**-digits
    seen = bounds.distance(np.array([planted])) > 0
    event(f"seen: {bool(seen[0])}")
    assert seen[0] or 2.0**-digits <= width[0] + 2.0**-50
    assert width[0] < 1e-8


def test_a_large_array_is_answered_at_once_along_an_axis():
    x = np.linspace(0.1, 1.0, 200_000)
    case = case_of(np.sqrt, x)
    found = Richardson(np.sqrt).sides(case, unit(case.size, 7)).value
    assert found.known.all()
    assert found.distance(np.where(np.arange(case.size) == 7, 0.5 / np.sqrt(x[7]), 0.0)).max() == 0


# the complex step

REFUSED = {
    "abs": np.abs,
    "conjugate": np.conjugate,
    "real part": lambda x: x.real * x,
    "comparison": lambda x: np.where(x > 0, x, 2 * x),
    "maximum": lambda x: np.maximum(x, 0),
    "sorted": np.sort,
    "hidden modulus": lambda x: np.sqrt(np.asarray(x) * np.conj(np.asarray(x))),
    "hidden real part": lambda x: np.asarray(x).real * 2.0,
    "hidden half": lambda x: np.asarray(x) + 0.5 * (np.asarray(x) - np.conj(np.asarray(x))),
}


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_the_complex_step_is_refused_where_the_function_is_not_holomorphic(name):
    function = REFUSED[name]
    case = case_of(function, np.array([0.75, -1.5]))
    for k in range(2):
        found = ComplexStep(function, Richardson(function)).sides(case, unit(2, k))
        assert found is None or not found.value.known[k]


@given(st.sampled_from(sorted(SMOOTH)), st.floats(-3, 3))
def test_the_complex_step_is_sharp_where_it_is_verified(name, x):
    function, slope = SMOOTH[name]
    assume(x == 0 or abs(x) > 2.0**-40)
    case = case_of(function, np.array([x]))
    found = ComplexStep(function, Richardson(function)).sides(case, unit(1, 0))
    value = found.value
    event(f"known: {bool(value.known[0])}")
    if value.known[0]:
        assert holds(value, slope(np.array([x])))
        assert value.hi[0] - value.lo[0] <= 2.0**-34 * max(1.0, value.size[0])  # an ulp, times the operations and the shaken points


def test_the_complex_step_knows_what_only_doubles_and_complex_numbers_can_do():
    def function(a):
        return np.linalg.inv(np.asarray(a))

    matrix = np.array([[2.0, 0.5], [0.25, 1.0]])
    case = case_of(function, matrix)
    found = ComplexStep(function, Richardson(function)).sides(case, unit(4, 1)).value
    inverse = np.linalg.inv(matrix)
    wanted = -np.outer(inverse[:, 0], inverse[1, :]).ravel()
    assert found.known.all()
    assert (found.distance(wanted) <= 64 * 2.0**-53 * np.abs(wanted)).all()
