"""
Checks 15, 16 and 18 on arrays: the rule inside programs, its proofs, and the optimizer. Bugs that only programs show are found.
"""
# ruff: noqa: PLW0108  (a lambda around a library function is a subject of its own: it can be parsed)

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adjudge as aj
from checkers.array_audit.adjoint_forms import adjoint
from checkers.array_audit.build import of_functions, of_row
from checkers.array_audit.composition import TEMPLATES, composition, gradients, template
from checkers.array_audit.optimizing import optimizer
from checkers.array_audit.orders import second_order
from checkers.array_audit.programs import Placed
from checkers.array_audit.proving import proof
from checkers.array_audit.row_samples import array_examples
from checkers.array_audit.tangents import tangent
from checkers.array_audit.trial import Trial
from checkers.columns.leaves import is_discrete
from checkers.smt.index_form import NotReachedError
from checkers.verdict import OutOfScope, Passed, Proved, Refuted, Unknown
from semantics.arrays import Array
from semantics.primitives.row import Hole
from semantics.primitives.table import TABLE
from transforms.backpropagators import find
from transforms.parse import parse

EVERY = 1 if settings.get_current_profile_name() == "deep" else 17
ROWS = [name for name, row in TABLE.items() if array_examples(name) and not isinstance(find(row), Hole)]
VECTOR = [(np.array([0.5, -1.25, 2.0]),), (np.array([1.5, 0.75]),)]


def only(verdicts):
    assert len(verdicts) == 1
    return verdicts[0]


def judged(forward, rule, samples=VECTOR) -> Trial:
    return of_functions(forward, rule, samples, spread=True)


@pytest.mark.parametrize("name", ROWS[1::EVERY])
def test_the_table_is_sound_in_programs(name):
    trial = of_row(TABLE[name], examples=24)
    for check in (composition, optimizer):
        found = only(check(trial))
        assert isinstance(found, Passed) or (isinstance(found, OutOfScope) and "no reals" in found.why), found
    assert not any(isinstance(v, Refuted) for v in proof(trial))


# composition


def squares(x):
    return np.sum(x * x)


def freed():
    """Right when it is first asked at a point, zeros after that: its residuals are gone."""
    asked = set()

    def rule(x, out, dout):
        key = x.tobytes()
        again = key in asked
        asked.add(key)
        return (dout * 0.0 * x if again else dout * 2.0 * x,)

    return rule


def drifting():
    """Right for its first calls, then off by what it keeps adding up."""
    calls = [0]

    def rule(x, out, dout):
        calls[0] += 1
        return (dout * 2.0 * x * (1.0 + (calls[0] > 30) * 1e-6 * calls[0]),)

    return rule


def stopping():
    """Answers by itself; raises after that."""
    asked = set()

    def rule(x, out, dout):
        if x.tobytes() in asked:
            raise RuntimeError("backward a second time")
        asked.add(x.tobytes())
        return (dout * 2.0 * x,)

    return rule


@pytest.mark.parametrize("make", [freed, drifting, stopping])
def test_a_rule_that_is_right_only_by_itself_is_found(make):
    found = only(composition(judged(squares, make())))
    assert isinstance(found, Refuted)
    assert "by itself" in found.counterexample.cause


def test_a_rule_that_is_wrong_by_itself_is_left_to_the_other_checks():
    assert isinstance(only(composition(judged(squares, lambda x, out, dout: (dout * x,)))), Unknown)


CONTROLS = {
    "squares": (squares, lambda x, out, dout: (dout * 2.0 * x,)),
    "opaque squares": (squares, lambda x, out, dout: ((dout * 2.0 * x).view(),)),
    "softmax": (
        lambda x: np.exp(x - np.max(x)) / np.sum(np.exp(x - np.max(x))),
        lambda x, out, dout: (out * (dout - np.sum(dout * out)),),
    ),
    "a rule that overflows at second order": (
        lambda x: x * np.tanh(x),
        lambda x, out, dout: (dout * (np.tanh(x) + x / np.cosh(x) ** 2),),
        [(np.array([700.0, -700.0, 0.0]),)],
    ),
    "a rule outside the language": (
        lambda x: np.clip(x, -1.0, 1.0),
        lambda x, out, dout: (np.where((x >= -1.0) & (x <= 1.0), dout, 0.0).view(),),
    ),
    "two results": (
        lambda x: (np.sin(x).view(), np.sum(x * x)),
        lambda x, out, dout: ((dout[0] * np.cos(x) + dout[1] * 2.0 * x).view(),),
    ),
}


@pytest.mark.parametrize("name", CONTROLS)
def test_correct_rules_pass_in_programs(name):
    trial = judged(*CONTROLS[name])
    assert isinstance(only(composition(trial)), Passed)
    assert isinstance(only(optimizer(trial)), Passed)
    assert not isinstance(only(tangent(trial)), (Refuted, Unknown))


def test_a_primitive_of_a_user_with_an_attribute_passes():
    rolled = aj.primitive(lambda x, k: np.roll(x, k), name="rolled", signature="f64[n] i64 -> f64[n]")
    rolled.backpropagator(lambda x, k, out, dout: (np.roll(dout, -k), None))
    trial = of_row(rolled.row, examples=24)
    assert isinstance(only(composition(trial)), Passed)
    assert isinstance(only(second_order(trial)), Passed)


@pytest.mark.parametrize("name", TEMPLATES)
@given(s=st.floats(0.125, 1.0))
def test_every_template_knows_its_own_derivative(name, s):
    """With p(x) = x and w = 1 the gradient of t is t'(s), but for some sixty roundings of numbers below 8."""
    at = Placed(TABLE["to_real"], (s,), (0,), False)
    found = gradients(template(at, TEMPLATES[name].text), at, [1.0])
    assert abs(found[0] - TEMPLATES[name].slope(s)) <= 64 * 8 * 2.0**-53


# the optimizer


def test_an_impure_rule_does_not_commute_with_the_optimizer():
    calls = [0]

    def rule(x, out, dout):
        calls[0] += 1
        return (dout * 2.0 * x + (calls[0] > 2) * 2.0**-45 * calls[0],)

    assert isinstance(only(optimizer(judged(squares, rule))), Refuted)


# proofs


def test_a_rational_rule_is_exact_on_fractions():
    trial = judged(lambda x: np.sum(x * x * x), lambda x, out, dout: (3.0 * dout * x * x,))
    assert any(isinstance(v, Passed) and "exact rationals" in v.what for v in proof(trial))


def test_a_rounded_constant_is_unknown_and_no_fault():
    found = only(proof(judged(lambda x: x / 3.0, lambda x, out, dout: (dout * 0.3333333333333333,))))
    assert isinstance(found, Unknown)
    assert "rounding of constants" in found.reason


def test_a_rule_that_is_wrong_on_fractions_is_refuted():
    """Wrong where the jacobian was not asked: the rule is replaced after the cases were found right."""
    trial = judged(squares, lambda x, out, dout: (dout * 2.0 * x,))
    trial.rule = parse(lambda x, out, dout: (dout * 2.0 * x + dout * 1e-9,))
    found = only(proof(trial))
    assert isinstance(found, Refuted)
    assert not is_discrete(found.counterexample.found)


def test_the_prover_is_asked_and_black_boxes_have_no_proof():
    trial = of_row(TABLE["mul"], examples=24)
    trial.prover = lambda row: [Proved(f"asked about {row.name}", "proof")]
    assert Proved("asked about mul", "proof") in proof(trial)
    opaque = judged(squares, lambda x, out, dout: ((dout * 2.0 * x).view(),))
    assert isinstance(only(proof(opaque)), OutOfScope)


@pytest.mark.parametrize("name", ["matmul", "reduce_sum", "add", "mul", "neg", "swap_last"])
def test_linear_rules_are_proved_for_all_sizes(name):
    proved = [v for v in proof(of_row(TABLE[name], examples=24)) if isinstance(v, Proved)]
    assert proved
    assert all("for all sizes" in v.by for v in proved)


def product(a, b):
    return np.matmul(a, b)


MATRICES = (Array("f64", (2, 3), (1.0,) * 6), Array("f64", (3, 4), (1.0,) * 12))


def test_the_adjoint_of_a_product_is_proved():
    rule = parse(lambda a, b, out, dout: (np.matmul(dout, b.T), np.matmul(a.T, dout)))
    assert [adjoint(parse(product), rule, MATRICES, i) for i in (0, 1)] == ["f64[n2, n3], f64[n3, n4]"] * 2


@pytest.mark.parametrize(
    "rule",
    [
        lambda a, b, out, dout: (np.matmul(dout, b.T) * 2.0, np.matmul(a.T, dout)),
        lambda a, b, out, dout: (-np.matmul(dout, b.T), np.matmul(a.T, dout)),
        lambda a, b, out, dout: (a, b),
        lambda a, b, out, dout: (np.matmul(dout, b.T) + a, np.matmul(a.T, dout)),
        lambda a, b, out, dout: (dout, dout),
    ],
    ids=["a factor", "the sign", "the cotangent dropped", "a term too many", "a shape"],
)
def test_a_wrong_adjoint_is_not_proved(rule):
    with pytest.raises(NotReachedError):
        adjoint(parse(product), parse(rule), MATRICES, 0)


def test_what_is_not_linear_is_not_proved():
    """Its rule at x is right, and no adjoint: x² is not linear."""
    with pytest.raises(NotReachedError, match="linear"):
        adjoint(parse(lambda x: x * x), parse(lambda x, out, dout: (2.0 * dout * x,)), MATRICES[:1], 0)
