"""Arguments held fixed: said to be, and those for which a rule answers None. The rest is judged."""

from __future__ import annotations

import numpy as np
import pytest

import adjudge as aj
from checkers.array_audit.build import of_functions, of_row
from checkers.array_audit.composition import composition
from checkers.array_audit.contract import structure
from checkers.array_audit.jacobian import jacobian
from checkers.array_audit.orders import second_order
from checkers.verdict import Passed, Refuted
from semantics.errors import Malformed

SAMPLES = [(np.array([0.5, 1.5]), 2.0), (np.array([1.0, -0.5, 0.25]), -1.0)]


def weighed(x, a):
    return np.sum(np.exp(x) * a)


def silent(x, a, out, dout):
    return (dout * np.exp(x) * a, None)


def zeros(x, a, out, dout):
    return (dout * np.exp(x) * a, 0.0)


def only(verdicts):
    assert len(verdicts) == 1
    return verdicts[0]


@pytest.mark.parametrize("rule", [silent, zeros], ids=["None", "zero"])
def test_an_argument_that_is_said_to_be_fixed_costs_nothing(rule):
    trial = of_functions(weighed, rule, SAMPLES, fixed=("a",), examples=24)
    for check in (structure, jacobian, second_order, composition):
        assert isinstance(only(check(trial)), Passed)


def test_none_for_a_real_argument_is_a_fault_and_the_rest_is_judged():
    trial = of_functions(weighed, silent, SAMPLES, examples=24)
    found = only(structure(trial))
    assert isinstance(found, Refuted)
    cause = "the cotangent of a is None, and it is real: zeros if nothing flows to it, or fixed=['a'] if it is held fixed"
    assert found.counterexample.cause == cause
    assert "derivatives by a are lost: the rule answers None" in trial.lost
    for check in (jacobian, second_order, composition):
        assert isinstance(only(check(trial)), Passed)


def test_a_wrong_rule_for_the_rest_is_found():
    trial = of_functions(weighed, lambda x, a, out, dout: (dout * np.exp(x), None), SAMPLES, examples=24)
    found = only(jacobian(trial))
    assert isinstance(found, Refuted)
    assert found.counterexample.cause == "missing factor a"


def test_none_where_zeros_are_wrong_is_a_fault_of_structure_only():
    """Zeros for a are wrong, and said to be; None is not taken for them."""
    assert isinstance(only(jacobian(of_functions(weighed, zeros, SAMPLES, examples=24))), Refuted)


def test_a_primitive_is_told_to_answer_zeros():
    p = aj.primitive(signature="f64[n] f64 -> f64", name="weighed")(weighed)
    p.backpropagator(silent)
    trial = of_row(p.row, examples=24)
    found = only(structure(trial))
    assert isinstance(found, Refuted)
    assert found.counterexample.cause.endswith("it is real: zeros if nothing flows to it")
    assert isinstance(only(second_order(trial)), Passed)


def test_none_for_the_only_argument_is_no_answer():
    trial = of_functions(np.exp, lambda xs, y, dy: (None,), [(np.array([1.0, 2.0]),)], examples=12)
    assert trial.silent == frozenset()
    assert only(structure(trial)).counterexample.cause.startswith("the cotangent of x0 is None")


def test_an_argument_that_is_not_there_cannot_be_held():
    with pytest.raises(Malformed, match="fixed names 'b'"):
        aj.check_vjp(weighed, silent, SAMPLES, fixed=("b",))
