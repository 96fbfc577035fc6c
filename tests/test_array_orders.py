"""Checks 13 and 14 on arrays: planted bugs at second order and in tangents are found, and correct rules are not blamed."""

# ruff: noqa: PLW0108  (a lambda around a library function is a subject of its own: it can be parsed)

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adjudge as aj
from checkers.array_audit.build import of_functions, of_row
from checkers.array_audit.case import Case, leaves
from checkers.array_audit.machine_arrays import inside
from checkers.array_audit.orders import second_order, seconds
from checkers.array_audit.programs import Placed, coordinates_of, directions
from checkers.array_audit.row_samples import array_examples
from checkers.array_audit.tangents import tangent
from checkers.verdict import OutOfScope, Passed, Refuted
from semantics.primitives.row import Hole, Primitive
from semantics.primitives.table import TABLE
from transforms.backpropagators import find

EVERY = 1 if settings.get_current_profile_name() == "deep" else 11
ROWS = [name for name, row in TABLE.items() if array_examples(name) and not isinstance(find(row), Hole)]
VECTOR = [(np.array([0.5, -1.25, 2.0]),), (np.array([1.5, 0.75]),)]


def only(verdicts):
    assert len(verdicts) == 1
    return verdicts[0]


def primitive(forward, rule, name="subject", **row) -> Primitive:
    made = aj.primitive(forward, name=name) if not row else aj.primitive(name=name, **row)(forward)
    made.backpropagator(rule)
    return made.row


@pytest.mark.parametrize("name", ROWS[::EVERY])
def test_the_table_is_sound_at_second_order(name):
    trial = of_row(TABLE[name], examples=24)
    for verdict in (*second_order(trial), *tangent(trial)):
        assert isinstance(verdict, Passed) or (isinstance(verdict, OutOfScope) and "no reals" in verdict.why), verdict


# second order


@aj.primitive
def detached(x):
    return x


@detached.backpropagator
def _(x, out, dout):
    return (0.0 * dout,)


@aj.primitive
def squared(x):
    return x * x


@squared.backpropagator
def _(x, out, dout):
    return (dout * x,)


asked = set()


@aj.primitive
def changing(x):
    """A function of its argument only when it is first asked."""
    known = np.asarray(x).tobytes() in asked
    asked.add(np.asarray(x).tobytes())
    return 2.0 * x if known else 1.0 * x


@changing.backpropagator
def _(x, out, dout):
    return (dout,)


def cube(x):
    return x * x * x


WRONG = {
    "a detached residual": (lambda x: np.exp(x), lambda x, out, dout: (dout * detached(out),)),
    "a wrong rule inside the rule": (cube, lambda x, out, dout: (3.0 * dout * squared(x),)),
    "a value held fixed by a branch": (cube, lambda x, out, dout: (dout * 3.0 * detached(x) * x,)),
    "detached in a reduction": (
        lambda x: np.sum(np.exp(x)),
        lambda x, out, dout: (dout * np.exp(detached(x)),),
    ),
}
RIGHT = {
    "exp": (lambda x: np.exp(x), lambda x, out, dout: (dout * out,)),
    "exp anew": (lambda x: np.exp(x), lambda x, out, dout: (dout * np.exp(x),)),
    "cube": (cube, lambda x, out, dout: (3.0 * dout * x * x,)),
    "softmax": (
        lambda x: np.exp(x - np.max(x)) / np.sum(np.exp(x - np.max(x))),
        lambda x, out, dout: (out * (dout - np.sum(dout * out)),),
    ),
    "variance": (lambda x: np.mean((x - np.mean(x)) ** 2), lambda x, out, dout: (dout * 2.0 * (x - np.mean(x)) / x.size,)),
    "norm": (lambda x: np.sqrt(np.sum(x * x)), lambda x, out, dout: (dout * x / out,)),
    "a rounded constant": (lambda x: x * x / 3.0, lambda x, out, dout: (dout * x * 0.6666666666666666,)),
    "logaddexp": (lambda x: np.logaddexp(0.0, x), lambda x, out, dout: (dout / (1.0 + np.exp(-x)),)),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_rule_that_is_right_at_first_order_only_is_found(name):
    """pytorch#95180: the gradient is right, and its own gradient holds a value fixed."""
    forward, rule = WRONG[name]
    found = only(second_order(of_functions(forward, rule, VECTOR, spread=True)))
    assert isinstance(found, Refuted)
    assert found.kind == "fault"
    assert "its own derivative is not" in found.counterexample.cause


@pytest.mark.parametrize("name", RIGHT)
def test_correct_rules_pass_at_second_order(name):
    forward, rule = RIGHT[name]
    trial = of_functions(forward, rule, VECTOR, spread=True)
    assert trial.rule is not None
    assert isinstance(only(second_order(trial)), Passed)
    assert isinstance(only(tangent(trial)), Passed)


def test_primitives_of_users_are_judged_too():
    wrong = primitive(lambda x: np.exp(x), lambda x, out, dout: (dout * detached(out),))
    assert isinstance(only(second_order(of_row(wrong, examples=24))), Refuted)
    right = primitive(
        lambda a, b: np.matmul(a, b),
        lambda a, b, out, dout: (np.matmul(dout, b.T), np.matmul(a.T, dout)),
        signature="f64[m, n] f64[n, k] -> f64[m, k]",
    )
    assert isinstance(only(second_order(of_row(right, examples=24))), Passed)


def test_a_primal_that_changes_under_an_outer_pullback_is_found():
    asked.clear()
    trial = of_functions(cube, lambda x, out, dout: (3.0 * dout * changing(x) * x,), VECTOR, spread=True)
    trial.rule = primitive(cube, lambda x, out, dout: (3.0 * dout * changing(x) * x,)).columns["backpropagator"]
    assert isinstance(only(second_order(trial)), Refuted)


def test_a_black_box_is_out_of_scope_unless_its_framework_goes_on():
    def rule(x, out, dout):
        return ((dout * np.exp(x)).view(),)

    trial = of_functions(np.exp, rule, VECTOR, spread=True)
    assert isinstance(only(second_order(trial)), OutOfScope)
    trial.second_pull = lambda xs, w, k: (np.where(np.arange(xs[0].size) == k, w * np.exp(xs[0]), 0.0),)
    assert isinstance(only(second_order(trial)), Passed)
    trial.second_pull = lambda xs, w, k: (np.zeros_like(xs[0]),)
    assert isinstance(only(second_order(trial)), Refuted)
    trial.second_pull = lambda xs, w, k: 1 / 0
    assert "ZeroDivisionError" in only(second_order(trial)).why


# the tangent


def with_tangent(rule):
    made = aj.primitive(lambda x: np.exp(x) * x, name="subject")
    made.backpropagator(lambda x, out, dout: (dout * np.exp(x) * (x + 1.0),))
    made.tangent(rule)
    return of_row(made.row, examples=24)


@pytest.mark.parametrize(
    "rule",
    [
        lambda x, v: np.exp(x) * x * v,
        lambda x, v: -np.exp(x) * (x + 1.0) * v,
        lambda x, v: np.exp(x) * (x + 1.0) * v * (1.0 + 1e-9),
        lambda x, v: np.ravel(v)[:1],
        lambda x, v: np.linalg.inv(v),
    ],
    ids=["a term", "the sign", "a factor 1 + 1e-9", "a shape", "raises"],
)
def test_a_tangent_that_is_not_the_transpose_is_found(rule):
    found = only(tangent(with_tangent(rule)))
    assert isinstance(found, Refuted)
    assert "tangent" in found.counterexample.cause


def test_a_tangent_that_is_the_transpose_passes():
    assert isinstance(only(tangent(with_tangent(lambda x, v: np.exp(x) * (x + 1.0) * v))), Passed)


def test_a_black_box_without_a_tangent_is_out_of_scope():
    trial = of_functions(lambda x: np.exp(x).view(), lambda x, out, dout: (dout * out,), VECTOR, spread=True)
    assert isinstance(only(tangent(trial)), OutOfScope)


# vectors in the structure of values


@given(st.integers(0, 3), st.integers(0, 3), st.booleans())
def test_a_vector_comes_back_from_the_structure_of_the_arguments(m, n, pair):
    arrays = (np.ones((m, n)), 2.5, np.arange(n))
    arguments = (arrays, 3) if pair else arrays
    case = Case(arguments, np.zeros(()))
    values = tuple(map(inside, arguments))
    at = Placed(TABLE["exp"], values, tuple(sorted({path[0] for path, _ in leaves(arguments)})), False)
    vector = np.arange(1.0, case.size + 1.0)
    assert case.size == m * n + 1
    assert coordinates_of(at, directions(at, vector)) == vector.tolist()


def test_second_differences_are_those_of_the_weighted_sum():
    """Of Σ w x² along v they are 2 w v."""
    trial = of_functions(lambda x: x * x, lambda x, out, dout: (2.0 * dout * x,), VECTOR, spread=True)
    case = trial.cases[0]
    w, v = np.linspace(1.0, 2.0, case.size), np.linspace(-1.0, 1.0, case.size)
    found = seconds(trial, case, w, v)
    # the bounds enclose the truth but for the rounding of the sum over the outputs
    assert (found.distance(2 * w * v) <= case.size * 2.0**-52 * 2 * np.abs(w * v)).all()


# branches where no random case lies


def power(x, y):
    return x**y


def power_fixed(x, y, out, dout):
    dx = np.where(y == 0, 0.0, dout * y * x ** (np.where(y == 0, 1.0, y) - 1.0))
    return dx, dout * out * np.log(x)


def power_at_0(x, y, out, dout):
    dx = np.where(y == 0, dout * y * out / x, dout * y * x ** (np.where(y == 0, 1.0, y) - 1.0))
    return dx, dout * out * np.log(x)


def ramps(x, out, dout):
    return (np.where(x > 0, 2.0 * x * dout, 0.0),)


def ties_fixed(x, y, out, dout):
    return np.where(x == y, dout * x, dout * y), np.where(x == y, dout * y, dout * x)


POWERS = [(np.array([0.5, 2.0, 1.25]), np.array([1.5, -0.75, 2.25])), (np.array([1.75, 3.0]), np.array([0.5, 2.0]))]


@pytest.mark.parametrize(
    ("forward", "rule", "samples"),
    [(power, power_fixed, POWERS), (lambda x, y: x * y, ties_fixed, POWERS)],
    ids=("exponent 0", "ties"),
)
def test_a_value_held_fixed_at_one_point_is_a_fault_at_second_order(forward, rule, samples):
    verdict = only(second_order(of_functions(forward, rule, samples, examples=24)))
    assert isinstance(verdict, Refuted)
    assert verdict.kind == "fault"


def test_a_branch_that_loses_nothing_and_a_second_derivative_that_jumps_are_no_faults():
    for forward, rule, samples in (
        (power, power_at_0, POWERS),
        (lambda x: np.maximum(x, 0.0) ** 2, ramps, VECTOR),
        (lambda x: np.where(x > 0, x * x, 0.0), ramps, VECTOR),
    ):
        verdict = only(second_order(of_functions(forward, rule, samples, examples=24)))
        assert isinstance(verdict, Passed), verdict
