"""Richardson differences of black boxes: the bound contains the truth, shrinks to digits, and silence covers the rest."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.finite_differences import Estimate, agrees, derivative, gradient, one_sided
from checkers.verdict import Passed, Refuted, Unknown

Real = Callable[[float], float]
SMOOTH: dict[str, tuple[Real, Real]] = {
    "sin": (math.sin, math.cos),
    "exp": (math.exp, math.exp),
    "tanh": (math.tanh, lambda x: 1.0 / math.cosh(x) ** 2),
    "square": (lambda x: x * x, lambda x: 2.0 * x),
    "cube": (lambda x: x**3, lambda x: 3.0 * x * x),
    "constant": (lambda x: 3.0, lambda x: 0.0),
    "fast sine": (lambda x: math.sin(1e3 * x), lambda x: 1e3 * math.cos(1e3 * x)),
    "erf": (math.erf, lambda x: 2.0 / math.sqrt(math.pi) * math.exp(-x * x)),
    "cancels": (lambda x: 1.0 - math.cos(x), math.sin),
    "cancels badly": (lambda x: (1e6 + x * x) - 1e6, lambda x: 2.0 * x),
    "logistic": (lambda x: 1.0 / (1.0 + math.exp(-x)), lambda x: 1.0 / (2.0 + math.exp(x) + math.exp(-x))),
    "log": (math.log, lambda x: 1.0 / x),
    "sqrt": (math.sqrt, lambda x: 0.5 / math.sqrt(x)),
    "inverse": (lambda x: 1.0 / x, lambda x: -1.0 / x / x),
    "abs": (abs, lambda x: math.copysign(1.0, x)),
    "relu on a hill": (lambda x: 1e6 + max(x, 0.0), lambda x: 1.0 if x > 0 else 0.0),
}
POINTS = (0.5, 1.0, 1.9999999999999998, 0.0, 1e-7, 1e-12, 1e-300, 3.0, -2.7, 20.0, 1e5, 1e15, math.pi)
# the true derivative is itself computed in doubles; its condition number is at most 1000 * 1e5 of the fast sine at 1e5
TRUTH = 2.0**-50


def truth(name: str, x: float) -> float | None:
    try:
        SMOOTH[name][0](x)
        return SMOOTH[name][1](x)
    except (ArithmeticError, ValueError):
        return None


@pytest.mark.parametrize("name", SMOOTH)
def test_the_bound_contains_the_truth_or_nothing_is_said(name: str) -> None:
    said = 0
    for x in POINTS:
        true, found = truth(name, x), derivative(SMOOTH[name][0], (x,))
        if true is None or isinstance(found, Unknown) or not math.isfinite(true):
            continue
        said += 1
        slack = TRUTH * abs(true) * max(1.0, 1e3 * abs(x) if name == "fast sine" else abs(x))
        assert abs(found.value - true) <= found.bound + slack, (x, found, true)
    assert said >= 5


@given(st.sampled_from(sorted(SMOOTH)), st.floats(-30, 30))
def test_the_bound_contains_the_truth_anywhere(name: str, x: float) -> None:
    true, found = truth(name, x), derivative(SMOOTH[name][0], (x,))
    if true is not None and isinstance(found, Estimate) and math.isfinite(true):
        slack = TRUTH * abs(true) * max(1.0, 1e3 * abs(x))
        assert abs(found.value - true) <= found.bound + slack


@pytest.mark.parametrize("name", ["sin", "exp", "tanh", "erf", "cube", "logistic", "log", "sqrt"])
def test_a_smooth_function_gives_twelve_digits(name: str) -> None:
    """Where |x|, |f| and |f'| are about 1, order 4 leaves eps^(8/9) < 2^-40 of truncation and floor."""
    for x in (0.5, 1.0, 1.7):
        found = derivative(SMOOTH[name][0], (x,))
        assert isinstance(found, Estimate)
        assert found.bound < 2.0**-38


@pytest.mark.parametrize("x", [0.0, 1.0, -2.5, 1e-8, 1e8])
def test_a_kink_is_unknown_and_each_side_has_its_derivative(x: float) -> None:
    def kinked(t: float) -> float:
        return abs(t - x)

    assert isinstance(derivative(kinked, (x,)), Unknown)
    for side in (-1, 1):
        found = one_sided(kinked, (x,), 0, side)
        assert isinstance(found, Estimate)
        assert found.contains(float(side))


@given(st.floats(-3, 3), st.floats(-3, 3), st.floats(-1, 1))
def test_one_sided_derivatives_of_a_black_box_kink(left: float, right: float, curve: float) -> None:
    def kinked(t: float, y: float) -> float:
        return y + (right if t > 0 else left) * t + curve * t * t

    for side, slope in ((-1, left), (1, right)):
        found = one_sided(kinked, (0.0, 0.5), 0, side)
        assert isinstance(found, Estimate)
        assert abs(found.value - slope) <= found.bound


@pytest.mark.parametrize("jump", [math.floor, lambda x: float(x > 1.0), lambda x: math.nan, lambda x: math.sqrt(x - 1.0)])
def test_a_jump_an_edge_or_a_hole_is_unknown(jump: Callable[[float], float]) -> None:
    assert isinstance(derivative(jump, (1.0,)), Unknown)


def test_a_function_that_the_doubles_do_not_resolve_is_unknown() -> None:
    assert isinstance(derivative(lambda x: math.sin(1e9 * x), (1e15,)), Unknown)


def test_an_edge_of_the_domain_has_one_side() -> None:
    found = one_sided(lambda x: x * math.sqrt(x) if x >= 0 else math.nan, (0.0,), 0, 1)
    assert isinstance(found, Unknown) or found.contains(0.0)
    assert isinstance(one_sided(math.log, (-1.0,), 0, 1), Unknown)


def test_every_argument_has_its_derivative() -> None:
    found = gradient(lambda x, y, z: x * y + math.sin(z), (2.0, 3.0, 0.5))
    for estimate, true in zip(found, (3.0, 2.0, math.cos(0.5)), strict=True):
        assert isinstance(estimate, Estimate)
        assert estimate.contains(true)


def test_a_noisier_function_has_a_wider_bound() -> None:
    calm, noisy = (derivative(math.sin, (0.5,), ulps=ulps) for ulps in (8.0, 8000.0))
    assert isinstance(calm, Estimate)
    assert isinstance(noisy, Estimate)
    assert calm.bound < noisy.bound


@pytest.mark.parametrize(
    "mistake", [lambda d: -d, lambda d: 2.0 * d, lambda d: d + 1e-7, lambda d: d * (1.0 + 1e-9), lambda d: 0.0, lambda d: math.nan]
)
def test_a_wrong_candidate_is_refuted_and_the_right_one_passes(mistake: Callable[[float], float]) -> None:
    assert isinstance(agrees(math.sin, (0.5,), 0, math.cos(0.5)), Passed)
    assert isinstance(agrees(math.sin, (0.5,), 0, mistake(math.cos(0.5))), Refuted)
    assert isinstance(agrees(abs, (0.0,), 0, mistake(1.0)), Unknown)
