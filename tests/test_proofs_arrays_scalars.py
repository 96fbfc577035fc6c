"""Kernels compared as reals: a rule of arrays may write a derivative in any way that is the same; no other is proved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjudge as aj
from checkers.smt import index_form as forms
from checkers.smt.index_form import Factor, Form
from checkers.verdict import Proved, Refuted, Unknown, Verdict
from proofs.arrays.scalars import without_equal

# rules


def layer(slope: Callable[[Any, Any], Any]) -> Verdict:
    """The verdict on a layer of a network whose rule writes the derivative of tanh as `slope(z, out)`."""

    @aj.primitive(signature="f64[m, n] f64[n] -> f64[m]")
    def layer(w, x):
        return np.tanh(w @ x)

    @layer.backpropagator
    def _(w, x, out, dout):
        d = dout * slope(w @ x, out)
        return np.outer(d, x), w.T @ d

    (verdict,) = aj.prove(layer)
    return verdict


TANH: dict[str, Callable[[Any, Any], Any]] = {
    "of the value": lambda z, t: 1.0 - t * t,
    "of the argument": lambda z, t: 1.0 - np.tanh(z) ** 2,
    "two factors": lambda z, t: (1.0 - t) * (1.0 + t),
    "by cosh": lambda z, t: 1.0 / np.cosh(z) ** 2,
    "by exp": lambda z, t: 4.0 * np.exp(2.0 * z) / (1.0 + np.exp(2.0 * z)) ** 2,
}


@pytest.mark.parametrize("name", TANH)
def test_a_derivative_is_proved_in_whichever_way_it_is_written(name: str) -> None:
    found = layer(TANH[name])
    assert isinstance(found, Proved), found


WRONG: dict[str, Callable[[Any, Any], Any]] = {
    "no square": lambda z, t: 1.0 - t,
    "of the value's value": lambda z, t: 1.0 - np.tanh(t) ** 2,
    "by exp": lambda z, t: 4.0 * np.exp(z) / (1.0 + np.exp(2.0 * z)) ** 2,
}


@pytest.mark.parametrize("name", WRONG)
def test_a_derivative_that_is_another_real_is_refuted(name: str) -> None:
    assert isinstance(layer(WRONG[name]), Refuted)


def test_a_derivative_with_a_pole_that_the_definition_has_not_is_not_proved() -> None:
    found = layer(lambda z, t: (t - t * t * t) / t)
    assert isinstance(found, (Refuted, Unknown))
    assert not isinstance(found, Unknown) or "undefined" in found.reason


def test_a_pole_that_cancels_is_a_pole_all_the_same() -> None:
    """2 tan x cos² x is 2 sin x cos x but where cos x = 0, and sin² x has a derivative there."""

    @aj.primitive(signature="f64[n] -> f64[n]")
    def sine_squared(x):
        return np.sin(x) ** 2

    @sine_squared.backpropagator
    def _(x, out, dout):
        return (dout * 2.0 * np.tan(x) * (1.0 - out),)

    (found,) = aj.prove(sine_squared)
    assert isinstance(found, Unknown)


def sigmoid(slope: Callable[[Any], Any]) -> Verdict:
    @aj.primitive(signature="f64[..., n] -> f64[..., n]")
    def sigmoid(x):
        return 1.0 / (1.0 + np.exp(-x))

    @sigmoid.backpropagator
    def _(x, out, dout):
        return (dout * slope(out),)

    (verdict,) = aj.prove(sigmoid)
    return verdict


def test_quotients_are_brought_to_one_denominator() -> None:
    found = sigmoid(lambda s: s * (1.0 - s))
    assert isinstance(found, Proved)
    assert found.by.startswith("index forms, 3 kinds of arguments")
    assert "entries compared as reals" in found.by
    assert isinstance(sigmoid(lambda s: s * (1.0 + s)), Refuted)


def two_layers(last: float) -> Verdict:
    @aj.primitive(signature="f64[k, m] f64[m, n] f64[n] -> f64[k]")
    def network(v, w, x):
        return np.tanh(v @ np.tanh(w @ x))

    @network.backpropagator
    def _(v, w, x, out, dout):
        hidden = np.tanh(w @ x)
        d = dout * (1.0 - out * out)
        e = (v.T @ d) * (last - hidden * hidden)
        return np.outer(d, hidden), np.outer(e, x), w.T @ e

    (verdict,) = aj.prove(network)
    return verdict


def test_a_derivative_under_a_sum_is_compared_too() -> None:
    assert isinstance(two_layers(1.0), Proved)
    assert isinstance(two_layers(2.0), Refuted)


# forms


def at(index: str) -> Form:
    return forms.single(Factor("entry", "x", (index,)))


def square(form: Form) -> Form:
    return forms.multiply(form, form)


def less_square(form: Form) -> Form:
    return forms.add(forms.constant(1), forms.scaled(square(forms.call("tanh", form)), -1))


def by_cosh(form: Form) -> Form:
    return square(forms.inverse(forms.call("cosh", form)))


def test_what_is_equal_at_one_place_is_left_out_and_the_rest_stays() -> None:
    left, right = forms.add(less_square(at("p0")), at("q0")), forms.add(by_cosh(at("p0")), at("q0"))
    assert without_equal(left, right, {}) == (Form(()), Form(()))
    one, other = without_equal(less_square(at("p0")), by_cosh(at("q0")), {})
    assert one.terms
    assert other.terms


def test_conditions_keep_products_apart_unless_the_sizes_meet_them() -> None:
    below = forms.holds("ge", "p0")
    left, right = forms.multiply(less_square(at("p0")), below), by_cosh(at("p0"))
    one, other = without_equal(left, right, {})
    assert one.terms
    assert other.terms
    assert without_equal(left, right, {"p0": "n"}) == (Form(()), Form(()))


@given(st.sampled_from(["n", "m"]), st.sampled_from(["n", "m"]), st.integers(-3, 3), st.integers(-3, 3))
def test_sums_are_compared_term_by_term(n: str, m: str, c: int, d: int) -> None:
    """Σb<n c y[b] (1 - tanh² x[b]) against Σb<m d y[b] / cosh² x[b]: one if range and coefficient are, or if both are 0."""
    weight = forms.single(Factor("entry", "y", ("b",)))
    left = forms.scaled(forms.summed(forms.multiply(weight, less_square(at("b"))), "b", n), c)
    right = forms.scaled(forms.summed(forms.multiply(weight, by_cosh(at("b"))), "b", m), d)
    same = (c == d == 0) or (c == d and n == m)
    one, other = without_equal(left, right, {})
    assert (not one.terms and not other.terms) == same


def test_a_power_is_a_variable() -> None:
    """Over the reals x^y is read as exp(y log x), where x > 0; a form means it at every x where the row does."""
    x, y = at("p0"), at("q0")
    power, read = forms.call("pow", x, y), forms.call("exp", forms.multiply(y, forms.call("log", x)))
    assert without_equal(power, read, {}) == (power, read)
