"""Bad input to the judge of backpropagators: refused before anything runs, with what is wrong and what to do."""

from __future__ import annotations

import math

import numpy as np
import pytest

import adjudge as aj
from semantics.errors import IllTyped, Malformed

ARRAY, NUMBER = [(np.array([1.0, 2.0]),)], [(1.0,)]


def sine(x):
    return np.sin(x)


def rule(x, y, dy):
    return (dy * np.cos(x),)


REFUSED = {
    "a number": (lambda: aj.check_vjp(3, rule, ARRAY), IllTyped, "forward is 3, not a function", "two Python functions"),
    "two arguments": (
        lambda: aj.check_vjp(sine, lambda a, b: (b,), ARRAY),
        IllTyped,
        "pullback takes (a, b), and is given 3 arguments",
        "pullback(xs, y, dy)",
    ),
    "two arguments, of numbers": (
        lambda: aj.check_vjp(math.sin, lambda a, b: (b,), NUMBER),
        IllTyped,
        "pullback takes (a, b), and is given 3 arguments",
        "pullback(xs, y, dy)",
    ),
    "another function": (
        lambda: aj.check_vjp(lambda x, y: x, rule, ARRAY),
        IllTyped,
        "forward takes (x, y), and is given 1 argument",
        "a sample holds one value for each argument",
    ),
    "NaN": (lambda: aj.check_vjp(sine, rule, [(np.array([np.nan]),)]), Malformed, "no finite value at the sample", "a sample"),
    "the number NaN": (lambda: aj.check_vjp(sine, rule, [(math.nan,)]), Malformed, "no finite value at the sample", "a sample"),
    "raises": (
        lambda: aj.check_vjp(lambda x: {}[0], rule, ARRAY),
        Malformed,
        "forward has no finite value at the sample: KeyError: 0",
        "a sample",
    ),
    "raises, of numbers": (
        lambda: aj.check_vjp(lambda x: {}[0], rule, NUMBER),
        Malformed,
        "forward has no finite value at the sample: KeyError: 0",
        "a sample",
    ),
    "text": (lambda: aj.check_vjp(lambda x: "a", rule, ARRAY), IllTyped, "forward returns no reals but str 'a'", "return a float"),
    "a domain in words": (lambda: aj.check_vjp(sine, rule, ARRAY, domain="x > 0"), IllTyped, "domain is 'x > 0'", "lambda x"),
    "a domain that raises": (
        lambda: aj.check_vjp(sine, rule, ARRAY, domain=lambda x: {}[0]),
        Malformed,
        "its domain raises KeyError: 0",
        "inside the domain",
    ),
    "outside": (
        lambda: aj.check_vjp(sine, rule, ARRAY, domain=lambda x: False),
        Malformed,
        "all are outside its domain",
        "inside the domain",
    ),
    "examples": (lambda: aj.check_vjp(sine, rule, ARRAY, examples=-1), IllTyped, "examples is -1", "positive"),
    "the seed": (lambda: aj.check("sin", seed="a"), IllTyped, "seed is 'a'", "seed=0"),
    "a name": (lambda: aj.check("sinn"), Malformed, "there is no primitive 'sinn'", "did you mean 'sin'?"),
    "a check": (
        lambda: aj.check_vjp(sine, rule, ARRAY, skip=("jacobain",)),
        Malformed,
        "there is no check 'jacobain'",
        "did you mean 'jacobian'?",
    ),
    "a framework": (
        lambda: aj.check(sine, framework="tensorflow"),
        Malformed,
        "'tensorflow' is no framework that has an adapter",
        "framework='jax'",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_with_a_remedy(name):
    call, error, what, remedy = REFUSED[name]
    with pytest.raises(error) as caught:
        call()
    assert what in caught.value.what
    assert remedy in caught.value.remedy


@pytest.mark.parametrize(
    ("forward", "pullback", "sample"),
    [
        (sine, rule, ARRAY),
        (np.sin, lambda *all_: (all_[-1] * np.cos(all_[0][0]),), ARRAY),
        (math.sin, lambda x, y, dy: (dy * math.cos(x),), NUMBER),
    ],
    ids=["plain", "any number", "numbers"],
)
def test_what_can_be_called_is_judged(forward, pullback, sample):
    report = aj.check_vjp(forward, pullback, sample, examples=8, skip=("vacuity", "large arrays", "composition", "shapes"))
    assert not [f for f in report.findings if f.kind == "fault"]


def test_the_name_of_one_check_may_be_said_alone():
    assert "skipped" in str(aj.check_vjp(sine, rule, ARRAY, examples=4, skip="jacobian"))


@pytest.mark.parametrize(
    ("pullback", "cause"),
    [
        (lambda x, y, d: (d * np.cos(x), d), "it answers 2 cotangents for 1 argument"),
        (lambda x, y, d: ("no",), "the cotangent of x is no array of reals"),
        (lambda x, y, d: (np.sum(d),), "the cotangent of x has shape (), the argument"),
    ],
)
def test_an_answer_that_is_none_is_a_fault_in_words(pullback, cause):
    report = aj.check_vjp(sine, pullback, ARRAY, examples=8, skip=("vacuity", "large arrays", "composition"))
    assert cause in next(f for f in report.findings if f.claim == "structure").counterexample.cause
