"""Ball differences: rigorous, sharp, silent on guard boundaries, and never fooled by a planted bug."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from checkers.ball_differences import (
    agrees,
    difference,
    digits_lost,
    enclosure,
    float_error,
    gradient,
    precision,
    second_difference,
)
from checkers.columns.undecided import Undecided
from checkers.verdict import OutOfScope, Passed, Refuted
from semantics.errors import IllTyped, Trap
from semantics.ir import Program
from semantics.text import read


def line(body: str, parameters: str = "%x") -> Program:
    """A program of one graph from its equations; the last one is the result."""
    equations = [e.strip() for e in body.split(";")]
    last = equations[-1].split("=")[0].strip()
    return read("\n".join(["program @f", "", f"@f({parameters}):", *(f"  {e}" for e in equations), f"  return {last}"]))


IF_ZERO = read(
    "program @f\n\n@f(%x):\n  %c = eq(%x, 0.0)\n  %t = switch(%c, @zero, @same)\n  %r = %t()\n  return %r\n"
    "\n@zero():\n  return 0.0\n\n@same():\n  return %x\n"
)
ONE = line("%a = add(0.0, 1.0)")


def test_a_guard_boundary_is_no_fault() -> None:
    """T14: `if x == 0 then 0 else x` at 0 is boundary, and anywhere else the derivative is 1."""
    zero = line("%a = sub(1.0, 1.0)")
    assert isinstance(agrees(IF_ZERO, zero, (0.0,)), OutOfScope)
    assert isinstance(agrees(IF_ZERO, ONE, (1e-300,)), Passed)
    assert isinstance(agrees(IF_ZERO, zero, (1e-300,)), Refuted)


@pytest.mark.parametrize(
    ("body", "x"),
    [
        ("%a = abs(%x)", 0.0),
        ("%a = max(%x, 2.0)", 2.0),
        ("%a = min(%x, %x)", 2.0),
        ("%k = floor(%x); %a = to_real(%k)", 3.0),
        ("%a = sqrt(%x)", 0.0),
        ("%a = asin(%x)", 1.0),
        ("%a = cbrt(%x)", 0.0),
        ("%a = sign(%x)", 0.0),
        ("%a = hypot(%x, 0.0)", 0.0),
        ("%a = mod(%x, 2.0)", 4.0),
        ("%c = lt(%x, 1.0); %a = switch(%c, %x, 1.0)", 1.0),
        ("%z = mul(%x, 0.0); %a = sqrt(%z)", 1.0),
        ("%a = pow(%x, 1.5)", 0.0),
        ("%a = copysign(1.0, %x)", 0.0),
        ("%a = atan2(%x, -1.0)", 0.0),
    ],
)
def test_kinks_are_undecided(body: str, x: float) -> None:
    with pytest.raises(Undecided):
        difference(line(body), (x,))


@pytest.mark.parametrize(
    ("body", "x"), [("%a = log(%x)", -1.0), ("%a = sqrt(%x)", -2.0), ("%a = atanh(%x)", 3.0), ("%a = div(1.0, 0.0)", 1.0)]
)
def test_outside_the_domain_is_out_of_scope(body: str, x: float) -> None:
    with pytest.raises(Trap) as caught:
        difference(line(body), (x,))
    assert not isinstance(caught.value, Undecided)
    assert isinstance(agrees(line(body), ONE, (x,)), OutOfScope)


def test_integer_parts_are_smooth_inside_and_truncation_at_zero() -> None:
    assert difference(line("%k = to_integer(%x); %a = mul(%k, %x)"), (0.0,)) == 0
    assert difference(line("%k = floor(%x); %a = mul(%k, %x)"), (2.5,)) == 2


@given(st.floats(-3, 3), st.floats(-3, 3))
def test_the_difference_encloses_the_derivative_of_a_polynomial_near_the_point(x: float, y: float) -> None:
    """f = x²y - x: the mean value of ∂f/∂x over a symmetric box is 2xy - 1 exactly."""
    p = line("%a = mul(%x, %x); %b = mul(%a, %y); %c = sub(%b, %x)", "%x, %y")
    with precision(2000):
        exact = 2 * Fraction(x) * Fraction(y) - 1
        wanted = arb(exact.numerator) / arb(exact.denominator)
        found = difference(p, (x, y), 0)
        assert found.overlaps(wanted)
        assert found.rad() < 1e-60
        assert second_difference(p, (x, y), 0).overlaps(2 * arb(y))
        assert second_difference(p, (x, y), 0, 1).overlaps(2 * arb(x))


def test_coordinates_reach_into_tuples() -> None:
    p = line("%a = getitem(%t, 0); %u = getitem(%t, 1); %b = getitem(%u, 0); %c = mul(%a, %b)", "%t, %n")
    point: tuple[Any, ...] = ((2.0, (3.0, 7)), 5)
    found = gradient(p, point)
    assert found[1] is None
    assert found[0][0].overlaps(arb(3))
    assert found[0][1][0].overlaps(arb(2))
    assert found[0][1][1] is None
    assert difference(p, point, (0, 1, 0)).overlaps(arb(2))
    with pytest.raises(IllTyped):
        difference(p, point, 1)


@pytest.mark.parametrize("x", [0.5, -2.75, 1e-7, 1e-200, 0.0, 1e6, 1e15, 1e100])
def test_the_sine_passes_at_every_scale_and_its_mutants_fail(x: float) -> None:
    sine, cosine = line("%a = sin(%x)"), line("%a = cos(%x)")
    assert isinstance(agrees(sine, cosine, (x,)), Passed)
    for mutant in ("%b = cos(%x); %a = neg(%b)", "%b = cos(%x); %a = add(%b, 1e-12)", "%b = cos(%x); %a = mul(%b, 1.0000001)"):
        assert isinstance(agrees(sine, line(mutant), (x,)), Refuted)


def test_a_derivative_that_divides_by_zero_where_the_function_is_smooth_is_refuted() -> None:
    """The gradient of x*y by out/x: right but at x = 0."""
    product, quotient = line("%a = mul(%x, %y)", "%x, %y"), line("%p = mul(%x, %y); %a = div(%p, %x)", "%x, %y")
    assert isinstance(agrees(product, quotient, (2.0, 3.0), 0), Passed)
    assert isinstance(agrees(product, quotient, (0.0, 3.0), 0), Refuted)


def test_a_second_derivative_is_judged_too() -> None:
    """First order right, second order wrong: the derivative of tanh by a frozen output."""
    tanh = line("%a = tanh(%x)")
    right = line("%t = tanh(%x); %q = mul(%t, %t); %o = sub(1.0, %q); %p = mul(%t, %o); %a = mul(%p, -2.0)")
    wrong = line("%t = tanh(%x); %q = mul(%t, %t); %o = sub(1.0, %q); %a = mul(%t, -2.0)")
    assert isinstance(agrees(tanh, right, (0.5,), 0, j=0), Passed)
    assert isinstance(agrees(tanh, wrong, (0.5,), 0, j=0), Refuted)


def test_select_takes_one_real_out_of_a_result() -> None:
    both = line("%s = sin(%x); %c = cos(%x); %t = make_tuple(%s, %c)")
    sine = line("%a = sin(%x)")
    assert isinstance(agrees(sine, both, (0.5,), 0, lambda t: t[1]), Passed)
    assert isinstance(agrees(sine, both, (0.5,), 0, lambda t: t[0]), Refuted)
    assert isinstance(agrees(both, both, (0.5,), 0, lambda t: -t[0], of=lambda t: t[1]), Passed)


def test_the_cause_is_guessed_from_the_ratio() -> None:
    square = line("%a = mul(%x, %x)")
    verdict = agrees(square, line("%a = add(%x, 0.0)"), (3.0,))
    assert isinstance(verdict, Refuted)
    assert "0.5" in verdict.counterexample.cause
    assert verdict.counterexample.wanted == 6.0
    sign = agrees(square, line("%a = mul(%x, -2.0)"), (3.0,))
    assert isinstance(sign, Refuted)
    assert sign.counterexample.cause == "the sign"


@given(st.floats(-700, 700))
def test_the_error_of_a_correctly_rounded_operation_is_at_most_half_an_ulp(x: float) -> None:
    enclosed = enclosure(line("%a = mul(%x, 0.1)"), (x,))
    assert float_error(x * 0.1, enclosed) <= 0.5
    assert digits_lost(x * 0.1, enclosed) == 0.0


def test_the_error_counts_ulps() -> None:
    third = enclosure(line("%a = div(%x, 3.0)"), (1.0,))
    off = (1.0 / 3.0) + 4 * math.ulp(1.0 / 3.0)
    assert 3.5 <= float_error(off, third) <= 4.5
    assert float_error(math.nan, third) == math.inf
    assert float_error(math.inf, third) == math.inf
    assert 2.8 <= digits_lost(off, third) <= 3.2
    huge = enclosure(line("%a = exp(%x)"), (1000.0,))
    assert float_error(math.inf, huge) == 0.0


@given(st.floats(-1e3, 1e3), st.floats(0.25, 1e3))
def test_the_double_is_near_the_enclosed_value(x: float, y: float) -> None:
    """Three correctly rounded operations and a division, without cancellation: at most 4 half ulps, one for growth."""
    p = line("%a = div(%x, %y); %b = mul(%a, %a); %c = add(%b, 1.0)", "%x, %y")
    assert float_error((x / y) * (x / y) + 1.0, enclosure(p, (x, y))) <= 2.5
