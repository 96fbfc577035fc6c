"""J of every backpropagator gives the second derivatives; a rule that is right at first order only is found out."""

from __future__ import annotations

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st
from written_rules import pullback

from checkers.smt.terms import uninterpreted
from checkers.verdict import Proved, Refuted
from proofs.backpropagators import judge as judge_first
from proofs.cases import cases
from proofs.normal_form import equal
from proofs.second_order import judge, obligations, pullback_of_cotangents
from proofs.slopes import h, slope_of
from semantics.ir import Program
from semantics.machine import run
from semantics.primitives.row import Primitive
from semantics.primitives.table import ROWS, TABLE
from transforms.backpropagators import backpropagator
from transforms.parse import parse_text

PROVABLE = [p for p in ROWS if cases(p)]


@pytest.mark.parametrize("primitive", PROVABLE, ids=lambda p: p.name)
def test_j_of_every_backpropagator_gives_the_second_derivatives(primitive: Primitive) -> None:
    verdict = judge(primitive).verdict
    assert isinstance(verdict, Proved), verdict


def test_there_is_an_obligation_for_every_row_that_has_one_at_first_order() -> None:
    assert [o.subject for o in obligations(ROWS)] == [p.name for p in PROVABLE]


# right at first order, wrong at second


def test_a_branch_at_one_point_that_holds_a_value_fixed_is_refuted_there() -> None:
    """`exp` by a rule that is the constant 1 at x = 0: right at first order everywhere; J of it gives 0 at x = 0, not 1."""
    rule = pullback("x", "%c = eq(%x, 0.0)", "%s = switch(%c, 1.0, %out)", "%a = mul(%dout, %s)", "%a")
    first, second = judge_first(TABLE["exp"], rule).verdict, judge(TABLE["exp"], rule).verdict
    assert isinstance(first, Proved)
    assert "everywhere" in first.by
    assert isinstance(second, Refuted)
    assert second.counterexample.inputs["x"] == 0.0
    x, dout, seed = 0.0, 1.0, 1.0
    assert run(pullback_of_cotangents(TABLE["exp"], rule), x, dout, seed) == (0.0, 1.0)


ERASED = parse_text(
    """
from math import log

def rule(x, y, out, dout):
    return (0.0 if y == 0 else dout * (y * x ** (y - 1))), (dout * (out * log(x)) if x > 0 else 0.0)
""",
    "rule",
)
"""The rule of `pow` that held 0 fixed at exponent 0, where ∂/∂y (y·x^(y-1)) is 1/x."""


def test_a_power_whose_rule_erases_the_mixed_derivative_at_exponent_0_is_refuted_there() -> None:
    verdict = judge(TABLE["pow"], ERASED).verdict
    assert isinstance(verdict, Refuted)
    assert verdict.counterexample.inputs["y"] == 0
    x, y, dout, to_x, to_y = 2.0, 0.0, 1.0, 1.0, 0.0
    wrong, right = (
        run(pullback_of_cotangents(TABLE["pow"], r), x, y, dout, to_x, to_y) for r in (ERASED, backpropagator(TABLE["pow"]))
    )
    assert (wrong[1], right[1]) == (0.0, 1 / x)


SECOND: list[tuple[str, str, Program]] = [
    ("sin", "wrong at first order too", pullback("x", "%c = cos(%x)", "%n = neg(%c)", "%a = mul(%dout, %n)", "%a")),
    ("tanh", "the square forgotten", pullback("x", "%o = sub(1.0, %out)", "%a = mul(%dout, %o)", "%a")),
    ("mul", "arguments exchanged", pullback("x y", "%a = mul(%dout, %x)", "%b = mul(%dout, %y)", "%a, %b")),
    ("exp", "right at x = 0 only", pullback("x", "%s = add(1.0, %x)", "%a = mul(%dout, %s)", "%a")),
]


@pytest.mark.parametrize(("name", "bug", "rule"), SECOND, ids=[f"{n}: {b}" for n, b, _ in SECOND])
def test_a_planted_bug_is_refuted_at_second_order_and_the_machine_confirms_it(name: str, bug: str, rule: Program) -> None:
    verdict = judge(TABLE[name], rule).verdict
    assert isinstance(verdict, Refuted), (bug, verdict)
    inputs = [float(v) for v in verdict.counterexample.inputs.values()]
    wrong, right = (run(pullback_of_cotangents(TABLE[name], r), *inputs) for r in (rule, backpropagator(TABLE[name])))
    # inputs are below 2^10 and the seeds at most 2, so rounding stays below 2^10 * 2^-50 < 1e-10
    assert any(abs(a - b) > 1e-10 for a, b in zip(wrong, right, strict=True))


# slopes of terms

x, y = z3.Reals("x y")
TERMS = st.recursive(
    st.sampled_from([x, y, z3.RealVal(2), z3.RealVal("-1/3")]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda p: p[0] + p[1]),
        st.tuples(inner, inner).map(lambda p: p[0] - p[1]),
        st.tuples(inner, inner).map(lambda p: p[0] * p[1]),
        inner.map(lambda t: t / (1 + y * y)),
        inner.map(lambda t: -t),
    ),
    max_leaves=6,
)


@given(TERMS)
def test_the_slope_of_a_term_satisfies_its_equation(term: z3.ArithRef) -> None:
    slope, _ = slope_of(term, x)
    assert equal(z3.substitute(term, (x, x + h)) - term, h * slope)


def test_the_slope_of_a_root_is_one_over_the_sum_of_the_roots() -> None:
    root = uninterpreted("u_sqrt", x)
    slope, near = slope_of(root, x)
    assert equal(uninterpreted("u_sqrt", x + h) - root, h * slope)
    assert near


def test_a_wrong_slope_does_not_satisfy_the_equation() -> None:
    slope, _ = slope_of(x * x, x)
    assert not equal((x + h) * (x + h) - x * x, h * (slope + 1))
