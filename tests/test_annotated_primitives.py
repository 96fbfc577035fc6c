"""Primitives and functions with parameters that are annotated `int` or `bool`: tried on such, and not differentiated by them."""

from __future__ import annotations

from typing import Any

import pytest

import adjudge as aj
from transforms.annotations import discrete, scalar_signature

SKIP = ("composition", "optimizer", "vacuity", "proof", "second order")


def power(x, n: int):  # type: ignore[no-untyped-def]
    return x**n


def right(x, n, out, dout):  # type: ignore[no-untyped-def]
    return (n * x ** (n - 1) * dout if n != 0 else 0.0), None


def wrong_below_zero(x, n, out, dout):  # type: ignore[no-untyped-def]
    return (abs(n) * x ** (n - 1) * dout if n != 0 else 0.0), None


def wrong_at_zero(x, n, out, dout):  # type: ignore[no-untyped-def]
    return n * x ** (n - 1) * dout, None


def chosen(x: float, up: bool):  # type: ignore[no-untyped-def]
    return 2.0 * x if up else 3.0 * x


def judged(function: Any, rule: Any) -> aj.Report:
    primitive = aj.primitive(function)
    primitive.backpropagator(rule)
    return aj.check(primitive, skip=SKIP)


def test_a_whole_number_is_tried_and_no_cotangent_is_asked_for() -> None:
    assert judged(power, right).exit_code == 0


@pytest.mark.parametrize(("rule", "wrong"), [(wrong_below_zero, lambda n: n < 0), (wrong_at_zero, lambda n: n == 0)])
def test_negative_ones_and_zero_are_among_them(rule: Any, wrong: Any) -> None:
    faults = [f for f in judged(power, rule).findings if f.kind == "fault"]
    assert faults
    assert all(type(f.counterexample.inputs["n"]) is int and wrong(f.counterexample.inputs["n"]) for f in faults)


def test_both_truth_values_are_tried() -> None:
    assert judged(chosen, lambda x, up, out, dout: ((2.0 if up else 3.0) * dout, None)).exit_code == 0
    assert judged(chosen, lambda x, up, out, dout: (2.0 * dout, None)).exit_code == 1


def test_a_domain_keeps_whole_numbers_where_they_are_meant_to_be() -> None:
    primitive = aj.primitive(domain="n >= 1")(power)
    primitive.backpropagator(wrong_below_zero)
    assert aj.check(primitive, skip=SKIP).exit_code == 0


def test_two_functions_say_it_in_the_same_words() -> None:
    samples = [(2.0, 3), (0.5, -1)]
    assert aj.check_vjp(power, right, samples, skip=SKIP).exit_code == 0
    assert aj.check_vjp(power, wrong_below_zero, samples, skip=SKIP).exit_code == 1


def test_a_sample_with_a_real_there_is_differentiated_by_it() -> None:
    """The near miss: the annotation is wrong, and the rule lacks a cotangent."""
    report = aj.check_vjp(power, right, [(2.0, 3.5)], skip=SKIP)
    assert "cotangent 1 is NoneType, not a real" in str(report)


def test_programs_differentiate_by_the_reals_alone() -> None:
    primitive = aj.primitive(power)
    primitive.backpropagator(right)

    def f(x):  # type: ignore[no-untyped-def]
        return primitive(x, 3) * x

    assert aj.grad(f)(2.0) == 32.0


def test_only_numbers_make_a_signature() -> None:
    def of_an_array(x: list, n: int):  # type: ignore[type-arg, no-untyped-def]
        return x[n]

    def of_reals(x: float, y):  # type: ignore[no-untyped-def]
        return x * y

    def of_none(n: int):  # type: ignore[no-untyped-def]
        return n

    assert (scalar_signature(power), scalar_signature(chosen)) == ("f64 i64 -> f64", "f64 bool -> f64")
    assert [scalar_signature(f) for f in (of_an_array, of_reals, of_none)] == ["", "", ""]
    assert discrete(of_an_array) == {"n"}
