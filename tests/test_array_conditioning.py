"""What elimination may lose: a bound that holds of every inverse that it finds, and that no rule which loses more stays below."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from checkers.array_audit.accuracy import accuracy
from checkers.array_audit.build import of_functions, of_row
from checkers.array_audit.conditioning import conditioned, eliminated, eliminates, inverse_of, moved
from checkers.array_audit.jacobian import edges, jacobian
from checkers.array_audit.machine_arrays import inside
from checkers.verdict import Passed, Refuted
from semantics.columns.meaning import MEANING
from semantics.primitives.table import TABLE

U = 2.0**-53
POWERS = st.builds(lambda s, k: s * 2.0**k, st.sampled_from((1.0, -1.0, 1.5, -1.25, 0.0)), st.integers(-30, 30))
MATRICES = st.integers(2, 4).flatmap(
    lambda n: st.lists(POWERS, min_size=n * n, max_size=n * n).map(lambda v: np.array(v).reshape(n, n))
)


@given(MATRICES)
def test_l_times_u_is_the_matrix_within_the_roundings_of_its_own_size(a):
    """|A - LU| <= γ_n |L| |U|, so the rows of |L| |U| are in the order of A's, and none is smaller than A's by more."""
    n = len(a)
    assert (np.abs(a) <= eliminated(a) * (1 + 4 * n * U)).all()


@given(MATRICES)
def test_every_inverse_that_elimination_finds_is_within_the_bound(a):
    y = inverse_of(a)
    assume(y is not None)
    size, growth, _ = moved(a, U)
    try:
        answers = np.linalg.inv(a), np.linalg.inv(a.T).T
    except np.linalg.LinAlgError:
        assert not np.isfinite(growth).any()
        return
    for found in answers:
        room = growth @ size + U * size
        assert (np.isinf(room) | (np.abs(found - y) <= room)).all()


@given(MATRICES)
def test_every_determinant_that_elimination_finds_is_within_the_bound(a):
    relative = moved(a, U)[2]
    assume(np.isfinite(relative))
    exact = determinant([[Fraction(x) for x in row] for row in a.tolist()])
    found = Fraction(MEANING[TABLE["det"]](inside(a)))
    # and the product of the pivots is rounded n times
    assert abs(found - exact) <= abs(exact) * (Fraction(relative) + len(a) * Fraction(2 * U))


def determinant(rows: list[list[Fraction]]) -> Fraction:
    """By the first row."""
    if not rows:
        return Fraction(1)
    minors = ([row[:j] + row[j + 1 :] for row in rows[1:]] for j in range(len(rows)))
    return sum(((-1) ** j * rows[0][j] * determinant(minor) for j, minor in enumerate(minors)), Fraction(0))


def test_a_matrix_that_may_be_singular_is_asked_for_no_digits():
    for a in (np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([[1.0, 1.0], [1.0, 1.0 + 2 * U]])):
        assert np.isinf(moved(a, U)[1]).all()


# on rules


def solve(a, b):
    return np.linalg.solve(a, b)


def solve_rule(a, b, x, d):
    to_b = np.linalg.solve(a.T, d)
    return -np.outer(to_b, x), to_b


def by_normal_equations(a, b, x, d):
    """The condition of a·aᵀ is the square of that of a."""
    to_b = np.linalg.solve(a @ a.T, a @ d)
    return -np.outer(to_b, x), to_b


def inv(a):
    return np.linalg.inv(a)


def inv_rule(a, y, d):
    return (-y.T @ d @ y.T,)


def inv_by_normal_equations(a, y, d):
    y = np.linalg.inv(a.T @ a) @ a.T
    return (-y.T @ d @ y.T,)


def inv_with_a_factor(a, y, d):
    return (-(1.0 + 1e-6) * (y.T @ d @ y.T),)


def det(a):
    return np.linalg.det(a)


def det_rule(a, y, d):
    return (d * y * np.linalg.inv(a).T,)


def det_by_normal_equations(a, y, d):
    return (d * y * (a @ np.linalg.inv(a.T @ a)),)


STEEP = np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-16]])
VECTOR = np.array([1.0, -0.5])
LOSING = [
    (solve, solve_rule, by_normal_equations, [(STEEP, VECTOR)]),
    (inv, inv_rule, inv_by_normal_equations, [(STEEP,)]),
    (det, det_rule, det_by_normal_equations, [(STEEP,)]),
]


@pytest.mark.parametrize(("forward", "right", "losing", "samples"), LOSING, ids=lambda f: getattr(f, "__name__", ""))
def test_a_rule_that_loses_more_than_the_condition_asks_for_is_found_and_one_that_does_not_is_not(forward, right, losing, samples):
    trial = of_functions(forward, right, samples, examples=8)
    assert eliminates(trial) == forward.__name__
    for verdict in (*accuracy(trial), *jacobian(trial), *edges(trial)):
        assert isinstance(verdict, Passed), verdict
    found = accuracy(of_functions(forward, losing, samples, examples=8))
    assert all(isinstance(v, Refuted) and v.kind == "accuracy" for v in found), found


@pytest.mark.parametrize("name", ["solve", "inv", "det", "slogdet"])
def test_our_own_rules_keep_the_digits_that_can_be_kept(name):
    assert all(isinstance(v, Passed) for v in accuracy(of_row(TABLE[name], examples=48)))


def test_nothing_is_allowed_to_other_functions():
    trial = of_functions(lambda x: np.exp(x) * 2.0, lambda x, y, d: (d * y,), [(VECTOR,)], examples=8)
    assert eliminates(trial) is None
    assert not conditioned(trial, trial.cases[0], U).any()


def test_a_wrong_factor_is_a_fault_whatever_the_condition():
    trial = of_functions(inv, inv_with_a_factor, [(STEEP,)], examples=8)
    assert any(isinstance(v, Refuted) and v.kind == "fault" for v in (*jacobian(trial), *edges(trial)))
