"""Right rules that were blamed, and wrong ones whose cause was told wrongly: each beside one that is told rightly."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjudge as aj
from checkers.primitive_audit.findings import constant_factor
from checkers.verdict import OutOfScope, Refuted

SKIP = ("composition", "optimizer", "large arrays", "vacuity", "proof")


@aj.primitive(signature="f64[n] -> f64[n]")
def softmax(a):  # type: ignore[no-untyped-def]
    e = np.exp(a - np.max(a))
    return e / np.sum(e)


@softmax.backpropagator
def _(a, out, dout):  # type: ignore[no-untyped-def]
    return (out * (dout - np.dot(out, dout)),)


@aj.primitive(signature="f64[n] -> f64[n]")
def squares(a):  # type: ignore[no-untyped-def]
    return a * a


@squares.backpropagator
def _(a, out, dout):  # type: ignore[no-untyped-def]
    return (2.0 * a * np.lib.stride_tricks.as_strided(dout, (dout.size,), (8,)),)


def refuted(primitive: Any) -> dict[str, Refuted]:
    return {v.claim: v for v in aj.check(primitive, skip=SKIP).verdicts if isinstance(v, Refuted)}


def test_a_rule_whose_terms_cancel_is_not_said_to_misread_the_layout_of_its_cotangent() -> None:
    """Near a corner of the simplex its answers at two layouts differ by more than sums in another order: digits are lost."""
    found = refuted(softmax)
    assert "shapes" not in found
    assert {v.kind for v in found.values()} <= {"accuracy", "convention"}


def test_a_rule_that_reads_its_cotangent_as_if_it_were_contiguous_is_found() -> None:
    assert "memory layout of the cotangent" in str(refuted(squares)["shapes"])


@aj.primitive
def clipped(x):  # type: ignore[no-untyped-def]
    return min(max(x, 0.0), 1.0)


@clipped.backpropagator
def _(x, out, dout):  # type: ignore[no-untyped-def]
    return (dout if x < 1.0 else 0.0,)


@aj.primitive
def tripled(x):  # type: ignore[no-untyped-def]
    return 3.0 * x


@tripled.backpropagator
def _(x, out, dout):  # type: ignore[no-untyped-def]
    return (dout,)


def test_what_is_right_where_the_derivative_is_not_0_lacks_no_factor() -> None:
    """The ratio of the entries that are not 0 was 1, and so "a factor 1 is missing"."""
    assert "a branch is wrong" in str(refuted(clipped)["jacobian"])
    assert "ratio" not in str(refuted(clipped)["jacobian"])
    assert "a factor 3 is missing" in str(refuted(tripled)["jacobian"])


@aj.primitive
def between(x, lo, hi):  # type: ignore[no-untyped-def]
    return min(max(x, lo), hi)


@between.backpropagator
def _(x, lo, hi, out, dout):  # type: ignore[no-untyped-def]
    if hi < max(x, lo):
        return 0.0, 0.0, dout
    return (0.0, dout, 0.0) if x < lo else (dout, 0.0, 0.0)


@aj.primitive
def between_or_none(x, lo, hi):  # type: ignore[no-untyped-def]
    return min(max(x, lo), hi)


@between_or_none.backpropagator
def _(x, lo, hi, out, dout):  # type: ignore[no-untyped-def]
    return (dout if lo < x < hi else 0.0), (dout if x < lo < hi else 0.0), (dout if hi < max(x, lo) else 0.0)


def test_what_is_chosen_where_three_arguments_are_tied_is_a_choice() -> None:
    """At x = lo = hi it is constant in x, and min(max(x, lo), hi) differentiated step by step gives all to x."""
    assert {v.kind for v in refuted(between).values()} == {"convention"}


def test_a_tie_that_counts_for_nothing_is_a_fault_and_said_to_be_less() -> None:
    found = refuted(between_or_none)["kinks"]
    assert found.kind == "fault"
    assert "cotangents add up to 0 along" in str(found)
    assert "ties count less than once" in str(found)


@aj.primitive(signature="f64[m, 2] -> f64[m]")
def determinants(a):  # type: ignore[no-untyped-def]
    return a[:, 0] * a[:, 1]


@determinants.backpropagator
def _(a, out, dout):  # type: ignore[no-untyped-def]
    return (np.stack([dout * a[:, 1], dout * a[:, 0]], axis=1),)


def test_a_size_that_the_signature_says_as_a_number_does_not_grow() -> None:
    """The function takes three columns too, and drops the third; nobody said that it may be given them."""
    skip = [name for name in SKIP if name != "large arrays"]
    (verdict,) = (v for v in aj.check(determinants, skip=skip).verdicts if v.claim == "large arrays")
    assert "random probes at" in str(verdict)


@aj.primitive(signature="f64[n] -> f64[n]")
def single(a):  # type: ignore[no-untyped-def]
    return a * a


@single.backpropagator
def _(a, out, dout):  # type: ignore[no-untyped-def]
    return ((2.0 * a).astype(np.float32).astype(np.float64) * dout,)


def test_a_rule_that_computes_in_fewer_digits_loses_digits_whatever_the_size() -> None:
    report = aj.check(single, skip=("composition", "optimizer", "second order"))
    assert {v.kind for v in report.verdicts if isinstance(v, Refuted)} == {"accuracy"}
    (vacuity,) = (v for v in report.verdicts if v.claim == "vacuity")
    assert isinstance(vacuity, OutOfScope)


def test_a_ratio_that_shows_as_1_is_told_by_its_distance() -> None:
    assert constant_factor(0.5) == "constant ratio 0.5: a factor 2 is missing"
    assert constant_factor(1 - 2.0**-40) == "constant ratio 1 - 9.1e-13: a constant has too few digits"
    assert constant_factor(1.0) == ""


@aj.primitive(signature="f64[n] -> f64")
def positive_sum(a):  # type: ignore[no-untyped-def]
    return np.sum(a) if np.sum(a) > 0.0 else 0.0


@positive_sum.backpropagator
def _(a, out, dout):  # type: ignore[no-untyped-def]
    return (np.ones_like(a) * (dout if np.sum(a) > 0.0 else 0.0),)


def test_what_index_forms_do_not_reach_is_said_in_words() -> None:
    (verdict,) = (v for v in aj.check(positive_sum, skip=SKIP[:-1]).verdicts if v.claim.endswith("all shapes"))
    assert "a branch on an element or a sum" in str(verdict)


@aj.primitive(signature="f64[n] -> f64")
def first(a):  # type: ignore[no-untyped-def]
    return np.sum(a)


@first.backpropagator
def _(a, out, dout):  # type: ignore[no-untyped-def]
    return (np.ones_like(a) * dout + 0.0 * a[0],)


def test_what_a_rule_raises_is_said_once() -> None:
    said = str(refuted(first)["structure"])
    assert "index 0 is out of bounds" in said
    assert "Trap: Trap:" not in said
