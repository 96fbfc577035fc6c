"""References on arrays: each against closed forms and forward mode, planted errors seen, and what one cannot know left unknown."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from reference_functions import MATRIX, SMOOTH, VECTOR, case_of, jacobian

from checkers import forward_mode
from checkers.array_audit.case import Case, unit
from checkers.array_audit.references import (
    ComplexStep,
    DigitQuotients,
    ExactJets,
    Richardson,
    ball_objects,
    program_balls,
    references_for,
)
from semantics.errors import IllTyped
from semantics.primitives.table import TABLE
from transforms.parse import parse

# programs of ours

ROWS = {
    "matmul": (np.matmul, (MATRIX, MATRIX.T)),
    "cumprod": (np.cumprod, (VECTOR, 0)),
    "logaddexp": (np.logaddexp, (MATRIX, VECTOR)),
    "reduce_max": (np.max, (MATRIX, 1, False)),
}


def row_case(name):
    function, arguments = ROWS[name]
    value = {"cumprod": lambda: np.cumprod(VECTOR), "reduce_max": lambda: np.max(MATRIX, axis=1)}.get(
        name, lambda: function(*arguments)
    )()
    fixed = {k for k, a in enumerate(arguments) if not isinstance(a, np.ndarray)}
    return Case(arguments, value, fixed=frozenset(fixed)), function


@pytest.mark.parametrize("name", sorted(ROWS))
def test_rows_in_balls_agree_with_the_function_on_objects(name):
    case, function = row_case(name)

    def forward(*arguments):
        named = {"cumprod": np.cumprod, "reduce_max": lambda x, axis, keep: np.max(x, axis=axis)}
        return named.get(name, function)(*arguments)

    by_row, by_objects = jacobian(program_balls(TABLE[name]), case), jacobian(ball_objects(forward), case)
    assert by_row.known.all()
    assert by_objects.known.all()
    assert (np.maximum(by_row.lo - by_objects.hi, by_objects.lo - by_row.hi) <= 0).all()


def spread(x):
    z = np.exp(x - np.max(x))
    return z / np.sum(z) * np.sqrt(1.0 + x * x)


def test_balls_of_a_program_agree_with_forward_mode_and_see_a_relative_error_of_a_billionth():
    program = parse(spread)
    case = case_of(spread, VECTOR)
    found = jacobian(program_balls(program), case)
    from transforms.parse.numpy_names import of_numpy

    forward = np.array([forward_mode.derivative(program, (of_numpy(VECTOR),), (0, k)).items for k in range(3)]).T
    assert (found.distance(forward) <= 64 * 2.0**-53 * found.size).all()
    assert (found.distance(forward * (1 + 1e-9)) > 0.5e-9 * found.size).all()


def test_balls_see_both_sides_of_a_kink_and_an_infinite_slope():
    kink = ball_objects(np.abs).sides(case_of(np.abs, np.array([0.0, 1.0])), unit(2, 0))
    assert kink.kink.tolist() == [True, False]
    root = ball_objects(np.sqrt).sides(case_of(np.sqrt, np.array([0.0, 1.0])), unit(2, 0))
    assert root.infinite.tolist() == [True, False]
    jump = ball_objects(np.floor).sides(case_of(np.floor, np.array([1.0, 0.5])), unit(2, 0))
    assert jump.infinite.tolist() == [True, False]


def test_fine_steps_see_a_kink_that_lies_closer_than_the_others():
    """Between |x| and its kink at 2^-200, where x is 0: the first steps jump over it."""
    close = 2.0**-200

    def function(x):
        return np.abs(x - close)

    case = case_of(function, np.array([0.0]))
    balls = ball_objects(function)
    assert balls.sides(case, unit(1, 0)).kink.all()
    assert balls.sides(case, unit(1, 0), fine=True).value.distance(np.array([-1.0])).max() == 0


@given(st.lists(st.floats(-3, 3), min_size=3, max_size=3))
def test_second_derivatives_of_balls_hold_the_closed_form(xs):
    x = np.array(xs)

    def function(v):
        return np.stack([v[0] * v[1] * v[2], np.exp(v[0]) * v[1]])

    found = ball_objects(function).second(case_of(function, x), unit(3, 0), unit(3, 1))
    assert found.distance(np.array([x[2], np.exp(x[0])])).max() <= 2 * math.ulp(math.exp(3))


def test_second_derivatives_are_unknown_at_kinks_of_the_slope():
    def function(v):
        return v * np.abs(v)

    case = case_of(function, np.array([0.0, 1.0]))
    for reference in (ball_objects(function), ExactJets(function)):
        found = reference.second(case, unit(2, 0), unit(2, 0))
        assert not found.known[0]
        assert found.distance(np.array([0.0, 0.0]))[1] == 0


# exact rationals


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=4))
def test_jets_are_exact_of_rational_functions(xs):
    x = np.array(xs)

    def function(v):
        return np.cumprod(v) / (1 + v[0] * v[0])

    case = case_of(function, x)
    exact, balls = jacobian(ExactJets(function), case), jacobian(ball_objects(function), case)
    assert exact.known.all()
    assert (exact.hi <= np.nextafter(exact.lo, np.inf)).all()
    known = balls.known
    assert (np.maximum(exact.lo - balls.hi, balls.lo - exact.hi)[known] <= 0).all()


def test_jets_decide_kinks_and_jumps_by_the_side():
    case = case_of(np.abs, np.array([0.0, -2.0]))
    found = ExactJets(np.abs).sides(case, unit(2, 0))
    assert (found.left.lo[0], found.right.lo[0], found.left.lo[1]) == (-1.0, 1.0, 0.0)

    def step(x):
        return np.where(x > 0, 1.0, 0.0) + x

    jump = ExactJets(step).sides(case_of(step, np.array([0.0])), unit(1, 0))
    assert jump.infinite.tolist() == [True]
    assert (jump.left.lo[0], bool(jump.right.known[0])) == (1.0, False)


def test_a_tie_beyond_second_order_is_not_decided_but_a_maximum_of_equals_is():
    def cubes(x):
        return np.where(x**3 > 0, x, -x)

    assert not ExactJets(cubes).sides(case_of(cubes, np.array([0.0])), unit(1, 0)).left.known.any()

    def larger(x):
        return np.maximum(x**3, 0.0)

    assert ExactJets(larger).sides(case_of(larger, np.array([0.0])), unit(1, 0)).value.distance(np.zeros(1)).max() == 0


# sixty digits


@given(st.sampled_from(sorted(SMOOTH)), st.floats(-4, 4))
def test_sixty_digits_agree_with_balls(name, x):
    function, _ = SMOOTH[name]
    case = case_of(function, np.array([x]))
    ours, balls = DigitQuotients(function).sides(case, unit(1, 0)).value, ball_objects(function).sides(case, unit(1, 0)).value
    assume(ours.known.all() and balls.known.all())
    assert np.maximum(ours.lo - balls.hi, balls.lo - ours.hi).max() <= 0
    assert ours.distance(balls.middle * (1 + 1e-9)).max() > 0 or abs(balls.middle[0]) < 1e-15


def test_sixty_digits_decide_a_comparison_that_balls_cannot():
    def equal(x):
        return np.where(np.abs(np.exp(np.log(x)) - x) <= 0, 2 * x, 2 * x)

    case = case_of(equal, np.array([1.5]))
    assert ball_objects(equal).sides(case, unit(1, 0)) is None
    assert DigitQuotients(equal).sides(case, unit(1, 0)).value.distance(np.full(1, 2.0)).max() == 0


# together


def test_references_come_strongest_first_and_by_what_the_function_offers():
    names = [r.name for r in references_for(row=TABLE["matmul"], forward=np.matmul)]
    assert names == [
        "exact rationals",
        "differences in ball arithmetic",
        "differences in ball arithmetic on arrays of objects",
        "differences at sixty digits on arrays of objects",
        "the complex step",
        "Richardson differences in long double",
    ]
    assert [r.name for r in references_for(forward=np.exp, objects=False)] == names[-1:]
    with pytest.raises(IllTyped, match="no function"):
        references_for()


def test_a_function_that_a_reference_cannot_run_is_not_asked_again_for_every_direction():
    asked = []

    def function(x):
        asked.append(x.dtype)
        return np.fft.rfft(x).real

    cases = [case_of(function, VECTOR + k) for k in range(5)]
    asked.clear()
    reference = ball_objects(function)
    assert all(reference.sides(c, unit(3, k)) is None for c in cases for k in range(3))
    assert len(asked) == 2
    assert "rfft" in reference.attempts.why


def test_a_function_that_does_something_else_on_objects_is_no_reference():
    def function(x):
        return x * x if x.dtype == object else x * x * x

    case = case_of(function, VECTOR)
    for reference in (ball_objects(function), ExactJets(function), DigitQuotients(function)):
        assert reference.sides(case, unit(3, 0)) is None
        assert "other values" in reference.attempts.why


# bounds that were too small


@given(st.integers(0, 2**16))
def test_the_complex_step_knows_what_a_condition_number_does(seed):
    """pinv answers by the norm of the matrix: entries that are small beside others have few digits, and the bound says so."""
    source = np.random.default_rng(seed)
    matrix = source.integers(-64, 64, (2, 2)) * 2.0 ** source.integers(-8, 8, (2, 2))
    (a, b), (c, d) = [[Fraction(float(x)) for x in row] for row in matrix]
    assume(abs(a * d - b * c) > 2.0**-10 * (a * a + b * b + c * c + d * d))
    inverse = [[d / (a * d - b * c), -b / (a * d - b * c)], [-c / (a * d - b * c), a / (a * d - b * c)]]
    at = Case((matrix,), np.linalg.pinv(matrix))
    reference = ComplexStep(np.linalg.pinv, Richardson(np.linalg.pinv))
    for k in range(4):
        sides = reference.sides(at, unit(4, k))
        for output in range(4) if sides is not None else ():
            exact = -inverse[output // 2][k // 2] * inverse[k % 2][output % 2]
            lo, hi = sides.value.lo[output], sides.value.hi[output]
            assert np.isnan(lo) or lo <= exact <= hi


@pytest.mark.parametrize("y", [8.6e-196, 1e-320, 3.0])
def test_a_step_from_zero_is_short_beside_what_divides_it(y):
    """x // y jumps at every multiple of y: to the right of 0 it stays, whatever y is."""
    zero = np.array([0.0])
    sides = ball_objects(np.floor_divide).sides(Case((zero, np.array([y])), np.floor_divide(zero, y)), unit(2, 0))
    assert sides is not None
    assert (sides.right.lo, sides.right.hi) == (0.0, 0.0)
    assert sides.infinite.all()


def test_a_small_bystander_costs_no_digit():
    sides = ball_objects(lambda x, y: np.exp(x) * y).sides(Case((np.zeros(1), np.array([1e-200])), np.array([1e-200])), unit(2, 0))
    assert sides is not None
    assert sides.value.lo[0] <= 1e-200 <= sides.value.hi[0]
