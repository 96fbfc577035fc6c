"""Right rules that were blamed, and wrong ones whose cause was told wrongly: each beside one that is told rightly."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjudge as aj
from checkers.verdict import Refuted

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
