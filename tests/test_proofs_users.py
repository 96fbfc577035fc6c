"""`aj.prove` on what users write: right rules are proved, wrong ones refuted with both values, the rest says what to add."""

from __future__ import annotations

from math import exp, gamma, log
from typing import Any

import numpy as np
import pytest
import z3

import adjudge as aj
from checkers.verdict import OutOfScope, Proved, Refuted, Unknown, summary
from semantics.errors import Malformed

# prove


def claims(found: list[Any]) -> list[str]:
    return [v.claim for v in found]


def test_a_right_rule_is_proved_at_both_orders() -> None:
    @aj.primitive
    def cube(x):
        return x**3

    @cube.backpropagator
    def _(x, out, dout):
        return (dout * 3.0 * x**2,)

    found = aj.prove(cube)
    assert claims(found) == ["backpropagator of cube", "second order of cube"]
    assert summary(found[0]) == "proved: everywhere in its domain; by differential algebra, normal form and z3"
    assert isinstance(found[1], Proved)


def test_a_function_of_several_arguments_has_three_claims() -> None:
    @aj.primitive
    def ratio(x, y):
        return x / (x * x + y * y + 1.0)

    @ratio.backpropagator
    def _(x, y, out, dout):
        d = x * x + y * y + 1.0
        return dout * (y * y + 1.0 - x * x) / (d * d), -2.0 * dout * x * y / (d * d)

    found = aj.prove(ratio)
    assert claims(found) == [f"{claim} of ratio" for claim in ("backpropagator", "second order", "total differential")]
    assert all(isinstance(v, Proved) for v in found)


def test_a_wrong_rule_is_refuted_with_the_input_and_both_values() -> None:
    @aj.primitive
    def cube(x):
        return x**3

    @cube.backpropagator
    def _(x, out, dout):
        return (dout * 3.0 * x,)

    (verdict,) = aj.prove(cube)
    assert isinstance(verdict, Refuted)
    assert verdict.kind == "fault"
    counterexample = verdict.counterexample
    x, dout = counterexample.inputs["x"], counterexample.inputs["dout"]
    assert counterexample.found == float(3 * x * dout)
    assert counterexample.wanted == float(3 * x * x * dout)
    assert "cotangent 0 is not dout times the derivative of cube by x" in str(counterexample)


def test_a_loop_with_a_known_number_of_turns_is_proved_and_another_is_unknown() -> None:
    @aj.primitive
    def eighth(x):
        for _ in range(3):
            x = x * x
        return x

    @eighth.backpropagator
    def _(x, out, dout):
        return (dout * 8.0 * x**7,)

    @aj.primitive(domain="x > 0")
    def grown(x):
        while x < 10.0:
            x = x * 2.0
        return x

    @grown.backpropagator
    def _(x, out, dout):
        return (dout * 2.0,)

    assert all(isinstance(v, Proved) for v in aj.prove(eighth))
    assert all(isinstance(v, Unknown) and "bound the loop" in v.reason for v in aj.prove(grown))


def hinge(kinks: str, slope: float, at_kink: float) -> Any:
    @aj.primitive(kinks=kinks)
    def hinge(x):
        return x if x > 0 else 0.0

    @hinge.backpropagator
    def _(x, out, dout):
        return (slope * dout if x > 0 else at_kink * dout if x == 0 else 0.0,)

    return aj.prove(hinge)[0]


def test_branches_are_proved_piece_by_piece() -> None:
    assert "off the boundaries of its pieces" in summary(hinge("", 1.0, 0.0))
    assert isinstance(hinge("", 2.0, 0.0), Refuted)


@pytest.mark.parametrize("at_kink", [0.0, 0.5, 1.0])
def test_at_a_kink_any_subgradient_will_do(at_kink: float) -> None:
    found = hinge("x == 0", 1.0, at_kink)
    assert isinstance(found, Proved)
    assert found.by == "everywhere in its domain; by differential algebra, subgradient at kinks, normal form and z3"


@pytest.mark.parametrize("at_kink", [2.0, -0.125])
def test_at_a_kink_what_is_no_subgradient_is_refuted(at_kink: float) -> None:
    found = hinge("x == 0", 1.0, at_kink)
    assert isinstance(found, Refuted)
    assert found.kind == "convention"
    assert found.counterexample.inputs == {"x": 0.0, "dout": 1.0}
    assert found.counterexample.found == (at_kink,)


def test_at_a_jump_nothing_is_claimed() -> None:
    @aj.primitive(kinks="x == 0")
    def step(x):
        return x + 1.0 if x > 0 else x

    @step.backpropagator
    def _(x, out, dout):
        return (dout,)

    found = aj.prove(step)[0]
    assert isinstance(found, Proved)
    assert found.by.startswith("off its kinks")


def test_a_z3_column_says_what_a_black_box_is() -> None:
    @aj.primitive(domain="x > 0")
    def shifted(x):
        return gamma(x) / gamma(x) + x

    @shifted.backpropagator
    def _(x, out, dout):
        return (dout,)

    (lost,) = aj.prove(shifted)
    assert isinstance(lost, OutOfScope)
    assert "@shifted.z3" in lost.why

    @shifted.z3
    def _(x):
        return x + z3.RealVal(1)

    assert all(isinstance(v, Proved) for v in aj.prove(shifted))


def test_a_black_box_says_what_to_add() -> None:
    @aj.primitive
    def factorial(x):
        return gamma(x)

    @factorial.backpropagator
    def _(x, out, dout):
        return (dout,)

    (verdict,) = aj.prove(factorial)
    assert isinstance(verdict, OutOfScope)
    assert verdict.why.startswith("the proofs cannot look into factorial: its Python is outside the language")
    assert verdict.why.endswith("write it in the language, or say what it is over the reals: @factorial.z3")


def test_a_rule_outside_the_language_is_out_of_scope_with_the_reason() -> None:
    @aj.primitive
    def square(x):
        return x * x

    @square.backpropagator
    def _(x, out, dout):
        return (gamma(3.0) * x * dout,)

    (verdict,) = aj.prove(square)
    assert isinstance(verdict, OutOfScope)
    assert "cannot look into the backpropagator of square: its Python is outside the language" in verdict.why


def test_a_primitive_without_a_rule_is_told_how_to_give_one() -> None:
    @aj.primitive
    def bare(x):
        return x

    (verdict,) = aj.prove(bare)
    assert isinstance(verdict, OutOfScope)
    assert "@bare.backpropagator" in verdict.why


def test_rows_are_proved_by_name() -> None:
    found = aj.prove("logaddexp")
    assert len(found) == 3
    assert all(isinstance(v, Proved) for v in found)
    with pytest.raises(Malformed, match="there is no primitive"):
        aj.prove("logaddexpp")


def test_a_wrong_definition_and_a_wrong_rule_that_agree_are_refuted_by_the_definition() -> None:
    """The rule of log x for a function that is log(x² + 1)."""

    @aj.primitive
    def log_square(x):
        return log(x * x + 1.0)

    @log_square.backpropagator
    def _(x, out, dout):
        return (dout * 2.0 * x * exp(out),)

    (verdict,) = aj.prove(log_square)
    assert isinstance(verdict, Refuted)


# primitives of arrays, for all sizes


def affine(bias: float) -> Any:
    @aj.primitive(signature="f64[m, n] f64[n] f64[m] -> f64[m]")
    def affine(w, x, b):
        return w @ x + b

    @affine.backpropagator
    def _(w, x, b, out, dout):
        return np.outer(dout, x), w.T @ dout, bias * dout

    return aj.prove(affine)


def test_a_primitive_of_arrays_is_proved_for_all_sizes() -> None:
    (verdict,) = affine(1.0)
    assert isinstance(verdict, Proved)
    assert verdict.claim == "backpropagator of affine, all shapes"


def test_a_wrong_primitive_of_arrays_is_refuted_at_small_sizes() -> None:
    (verdict,) = affine(2.0)
    assert isinstance(verdict, Refuted)
    assert verdict.counterexample.found == 2 * float(verdict.counterexample.wanted)


def test_leading_axes_are_none_one_or_two() -> None:
    @aj.primitive(signature="f64[..., n] -> f64[..., n]")
    def softmax(x):
        e = np.exp(x)
        return e / np.sum(e, axis=-1, keepdims=True)

    @softmax.backpropagator
    def _(x, out, dout):
        return (out * (dout - np.sum(dout * out, axis=-1, keepdims=True)),)

    (verdict,) = aj.prove(softmax)
    assert isinstance(verdict, Proved)
    assert verdict.by.startswith("index forms, 3 kinds of arguments")


def test_an_argument_that_is_no_real_is_judged_by_execution() -> None:
    @aj.primitive(signature="f64[n] i64 -> f64[n]")
    def rolled(x, k):
        return np.roll(x, k)

    @rolled.backpropagator
    def _(x, k, out, dout):
        return np.roll(dout, -k), None

    (verdict,) = aj.prove(rolled)
    assert isinstance(verdict, OutOfScope)
    assert "an argument is not of reals" in verdict.why


def test_what_index_forms_do_not_reach_is_unknown_with_the_reason() -> None:
    @aj.primitive(signature="f64[n, n] -> f64")
    def volume(x):
        return np.linalg.det(x)

    @volume.backpropagator
    def _(x, out, dout):
        return (dout * out * np.linalg.inv(x).T,)

    (verdict,) = aj.prove(volume)
    assert isinstance(verdict, Unknown)
    assert "f64[n, n]" in verdict.reason
