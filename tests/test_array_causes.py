"""The suspected cause of a wrong rule on arrays: each is named where it fits, and not where it nearly does."""

# ruff: noqa: PLW0108  (a lambda around a library function is a subject of its own: it has names)

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.array_audit.blocks import Block
from checkers.array_audit.build import of_functions
from checkers.array_audit.case import Case
from checkers.array_audit.causes import pushed, suspect
from checkers.array_audit.jacobian import jacobian
from checkers.array_audit.remainders import REMAINDERS, approximate, level, permuted, rank_one, same_ratio, surplus
from checkers.verdict import Refuted

X = np.array([0.5, -1.25, 3.0, 2.0])
M = np.array([[2.0, 1.0, 0.5], [-1.0, 3.0, 0.25], [0.5, 1.0, -2.0]])


def normed(x):
    return (x - np.mean(x)) / np.std(x)


def normed_without_mean(x, y, d):
    return ((d - y * np.mean(d * y)) / np.std(x),)


RULES = {
    "the same in every element": (normed, normed_without_mean, [(X,)]),
    "each element reaches its own output only": (normed, lambda x, y, d: (d / np.std(x),), [(X,)]),
    "applies the Jacobian where its transpose is due": (lambda x: M @ x, lambda x, y, d: (M @ d,), [(X[:3],)]),
    "the error is of rank one, a multiple of x": (
        lambda x: x * np.sum(x * x),
        lambda x, y, d: (d * np.sum(x * x) + x * np.sum(d * x),),
        [(X,)],
    ),
    "wrong where x < 0, right elsewhere": (lambda x: np.abs(x), lambda x, y, d: (d + 0.0 * x,), [(X,), (-X,)]),
    "right to 2 digits only": (
        lambda x: np.sin(3.0 * x),
        lambda x, y, d: (2.99 * d * np.cos(3.0 * x) * (1 + 1e-3 * np.tanh(x)),),
        [(X,)],
    ),
    "what has no influence gets a cotangent": (
        lambda x: np.tril(x) * 2.0,
        lambda x, y, d: (2.0 * d,),
        [(M,)],
    ),
    "some entries are 2 times what they should be": (
        lambda x: x * np.array([1.0, 2.0, 3.0, 4.0]),
        lambda x, y, d: (d * np.array([1.0, 4.0, 6.0, 4.0]),),
        [(X,)],
    ),
    "some entries have the wrong sign": (
        lambda x: x * np.array([1.0, 2.0, 3.0, 4.0]),
        lambda x, y, d: (d * np.array([1.0, -2.0, -3.0, 4.0]),),
        [(X,)],
    ),
    "missing factor a": (lambda x, a: a * x, lambda x, a, y, d: (d, np.sum(d * x)), [(X, 2.0), (X[:2], -3.0)]),
    "missing factor b": (
        lambda x, b: x * b,
        lambda x, b, y, d: (d + 0.0 * x, np.sum(d * x, axis=0)),
        [(M, np.array([2.0, -1.0, 3.0]))],
    ),
    "a factor n, the number of elements of x, too many": (
        lambda x: np.mean(x * x),
        lambda x, y, d: (2.0 * d * x,),
        [(X,), (X[:2],), (X[:3],)],
    ),
}


@pytest.mark.parametrize("cause", RULES)
def test_the_cause_is_named(cause):
    found = [v for v in jacobian(of_functions(*RULES[cause], examples=24)) if isinstance(v, Refuted)]
    assert any(cause in v.counterexample.cause for v in found), [v.counterexample.cause for v in found]


def block(found, right):
    """A block of these numbers, for a function of as many elements."""
    found, right = np.array(found, dtype=np.float64), np.array(right, dtype=np.float64)
    x = np.arange(1.0, right.shape[1] + 1)
    trial = of_functions(lambda x: x, lambda x, y, d: (d,), [(x,)], examples=1)
    return Block(trial, Case((x,), np.zeros(right.shape[0])), 0, found, right, x.shape)


RIGHT = np.array([[1.0, 2.0, 0.0], [4.0, 5.0, 7.0], [0.0, 3.0, 8.0]])
NEAR_MISSES = {
    "surplus": (surplus, RIGHT + np.eye(3)),
    "permuted": (permuted, RIGHT + 0.1 * np.eye(3)),
    "the same ratio": (same_ratio, RIGHT * np.array([[1.0, 2.0, 3.0]])),
    "all of one ratio": (same_ratio, RIGHT * 2.0 + 1e-300),
    "level": (level, RIGHT + np.array([[1.0, 1.0, 1.001]])),
    "approximate": (approximate, RIGHT * np.array([[1.0, 1.1, 1.0]])),
    "pushed": (pushed, RIGHT.T + 0.01),
}


@pytest.mark.parametrize("name", NEAR_MISSES)
def test_a_near_miss_is_not_named(name):
    test, found = NEAR_MISSES[name]
    with np.errstate(divide="ignore"):
        assert test(block(found, RIGHT)) == ""


def test_an_error_of_rank_two_is_not_of_rank_one():
    error = np.outer([1.0, 2.0, 3.0], [1.0, 0.0, 1.0])
    assert rank_one([block(RIGHT + error, RIGHT)])
    assert rank_one([block(RIGHT + error + np.outer([0.0, 1.0, 0.0], [0.0, 1.0, 0.0]), RIGHT)]) == ""


numbers = st.floats(-8.0, 8.0).filter(lambda v: abs(v) > 2.0**-10)


@given(st.lists(numbers, min_size=9, max_size=9))
def test_what_is_right_has_no_cause(values):
    right = np.reshape(values, (3, 3))
    assert [test(block(right, right)) for test in REMAINDERS] == [""] * len(REMAINDERS)


def test_without_evidence_nothing_is_named():
    trial = of_functions(lambda x: x, lambda x, y, d: (2.0 * d,), [(X,)], examples=1)
    assert suspect(trial, [], 0) == "the derivative is wrong"
