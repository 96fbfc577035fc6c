"""Faults that our own backpropagators had, each at its smallest input, on numbers and on arrays, at first and at higher order."""

from __future__ import annotations

from fractions import Fraction
from math import exp, inf, log

import numpy as np
import pytest

import adjudge as aj
from checkers.forward_mode import jvp
from semantics.denotation import FLOATS
from transforms.gradient_programs import gradient_program
from transforms.parse import parse


def power(x, y):
    return x**y


def powers(x, y):
    return np.sum(x**y)


def softer_maximum(x, y):
    return np.logaddexp(x, y)


def softer_maxima(x, y):
    return np.sum(np.logaddexp(x, y))


# pow branched at exponent 0 and held 0 fixed there, for the sake of 0 ** 0


@pytest.mark.parametrize("x", [2.0, 0.5, 1.0])
def test_the_mixed_derivative_of_a_power_at_exponent_0_is_one_over_x(x: float) -> None:
    for first, second in (("x", "y"), ("y", "x")):
        assert aj.grad(aj.grad(power, wrt=first), wrt=second)(x, 0.0) == 1 / x
    by_x = gradient_program(parse(power), 0)
    assert jvp(by_x, (x, 0.0), (0.0, 1.0), FLOATS)[1] == 1 / x


def test_the_third_derivative_of_a_power_at_exponent_0_is_there_too() -> None:
    """d³/dx dy² of x ** y at y = 0 is 2 log(x) / x, at x = 2 the double log 2."""
    assert aj.grad(aj.grad(aj.grad(power, wrt="x"), wrt="y"), wrt="y")(2.0, 0.0) == log(2.0)


def test_the_first_derivatives_of_a_power_at_0_are_what_they_were() -> None:
    for x in (0.0, 2.0, -2.0, 5e-324, 1e308):
        assert aj.grad(power, wrt="x")(x, 0.0) == 0.0
    assert aj.grad(power, wrt=("x", "y"))(0.0, 2.0) == (0.0, 0.0)


def test_a_power_of_arrays_has_the_mixed_derivative_at_exponent_0_and_nothing_at_0_to_the_0() -> None:
    x, y = np.array([2.0, 0.5, 0.0, 3.0]), np.array([0.0, 0.0, 0.0, 2.0])
    assert aj.grad(powers, wrt="x")(x, y).tolist() == [0.0, 0.0, 0.0, 6.0]
    mixed = aj.grad(lambda x, y: np.sum(aj.grad(powers, wrt="x")(x, y)), wrt="y")(x, y)
    assert mixed[:3].tolist() == [0.5, 2.0, 0.0]


# logaddexp divided by 1 + exp(d), which overflows where the share is subnormal


def test_the_smaller_share_of_logaddexp_keeps_its_digits_until_the_least_double() -> None:
    for gradient in (aj.grad(softer_maximum, wrt=("x", "y")), aj.grad(softer_maxima, wrt=("x", "y"))):
        assert [float(d) for d in gradient(0.0, 711.0)] == [exp(-711.0), 1.0]
        assert [float(d) for d in gradient(711.0, 0.0)] == [1.0, exp(-711.0)]


@pytest.mark.parametrize(("x", "y"), [(inf, inf), (-inf, -inf), (3.0, 3.0)])
def test_equal_arguments_of_logaddexp_have_equal_shares(x: float, y: float) -> None:
    assert aj.grad(softer_maximum, wrt=("x", "y"))(x, y) == (0.5, 0.5)


def test_the_second_derivative_of_logaddexp_where_its_rule_branches_is_a_quarter() -> None:
    found = aj.grad(aj.grad(softer_maximum, wrt="x"), wrt=("x", "y"))(1.0, 1.0)
    assert tuple(map(Fraction, found)) == (Fraction(1, 4), Fraction(-1, 4))
