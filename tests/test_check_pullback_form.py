"""A pullback is read as it is written, (xs, y, dy) or (x…, y, dy), whatever else it may be given: a default, a keyword, more."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjudge as aj
from checkers.primitive_audit.pullback_form import refuses, required, rule_of, spreads
from semantics.errors import IllTyped

ONE, TWO = [(1.5,)], [(1.5, 2.0), (0.5, 1.0)]
FORMS: dict[str, tuple[Callable[..., Any], bool]] = {
    "a tuple of one": (lambda xs, y, d: (2.0 * xs[0] * d,), False),
    "a tuple of one, a default": (lambda xs, y, d, k=2.0: (k * xs[0] * d,), False),
    "a tuple of one, a keyword": (lambda xs, y, d, *, k=2.0: (k * xs[0] * d,), False),
    "a tuple called x": (lambda x, y, d: (2.0 * x[0] * d,), False),
    "one": (lambda x, y, d: (2.0 * x * d,), True),
    "one, a default": (lambda x, y, d, k=2.0: (k * x * d,), True),
    "one, a keyword": (lambda x, y, d, *, k=2.0: (k * x * d,), True),
    "one, and more": (lambda x, y, d, *more: (2.0 * x * d,), True),
    "one, of another name": (lambda t, y, d, k=2.0: (k * t * d,), True),
    "one, compared": (lambda x, y, d: (0.0 if x == 0.0 else 2.0 * y / x * d,), True),
    "one, a keyword bound": (functools.partial(lambda x, y, d, k: (k * x * d,), k=2.0), True),
    "a tuple of two": (lambda xs, y, d: (xs[1] * d, xs[0] * d), False),
    "a tuple of two, a default": (lambda xs, y, d, k=1.0: (k * xs[1] * d, xs[0] * d), False),
    "two": (lambda x, z, y, d: (z * d, x * d), True),
    "two, a default": (lambda x, z, y, d, k=1.0: (k * z * d, x * d), True),
    "two, a keyword": (lambda x, z, y, d, *, k=1.0: (k * z * d, x * d), True),
    "anything": (lambda *a: (a[0][1] * a[2], a[0][0] * a[2]), False),
}
CHEAP = {"skip": ["composition", "optimizer", "vacuity", "proof", "second order", "shapes", "large arrays"], "examples": 12}


def square(x: float) -> float:
    return x * x


def product(x: float, z: float) -> float:
    return x * z


def form(name: str) -> tuple[Callable[..., Any], list[tuple[float, ...]]]:
    """The function that a pullback above belongs to, and samples of it."""
    return (product, TWO) if "two" in name or name == "anything" else (square, ONE)


@pytest.mark.parametrize("name", FORMS)
def test_a_pullback_is_read_as_it_is_written(name: str) -> None:
    pullback, spread = FORMS[name]
    forward, samples = form(name)
    parameters = ("x",) if forward is square else ("x", "z")
    assert spreads(pullback, parameters, samples, lambda xs: forward(*xs)) is spread
    assert aj.check_vjp(forward, pullback, samples, **CHEAP).exit_code == 0


@pytest.mark.parametrize("k", [2.5, -2.0])
def test_a_wrong_default_is_found_and_the_script_fails_alone(k: float) -> None:
    report = aj.check_vjp(square, lambda x, y, d, k=k: (k * x * d,), ONE, **CHEAP)
    assert {f.claim for f in report.findings} >= {"jacobian"}
    assert "structure" not in {f.claim for f in report.findings}
    script = report.findings[0].counterexample.script
    assert f"k={k!r}" in script
    assert "pullback(*x, y, d)" in script


def test_so_it_is_on_arrays() -> None:
    """A keyword-only parameter was taken for a tuple's form, and a right rule blamed."""
    samples = [(np.array([1.5, 2.0]),)]
    right, wrong = (lambda x, y, d, *, k=2.0: (k * x * d,)), (lambda x, y, d, *, k=2.5: (k * x * d,))
    cheap = CHEAP | {"domain": lambda x: x.ndim == 1}
    assert aj.check_vjp(lambda x: x * x, right, samples, **cheap).exit_code == 0
    assert {f.claim for f in aj.check_vjp(lambda x: x * x, wrong, samples, **cheap).findings} >= {"jacobian"}


@given(st.integers(1, 4), st.integers(0, 3))
def test_what_has_a_default_is_not_counted(arity: int, defaults: int) -> None:
    names = tuple(f"x{i}" for i in range(arity + 2))
    rule = eval(f"lambda {', '.join((*names, *(f'k{i}=1.0' for i in range(defaults))))}, *, q=2.0: ()")
    assert required(rule) == names


def test_what_python_cannot_tell_and_what_any_number_fits_require_nothing() -> None:
    def untold(x: float) -> float:
        return x

    assert required(untold) == ("x",)
    untold.__signature__ = "told by nobody"  # type: ignore[attr-defined]
    assert required(untold) == ()
    assert required(lambda *a, **k: a) == ()


def test_only_a_wrong_type_is_a_refusal() -> None:
    def ill_typed() -> None:
        raise IllTyped("a tuple is no real", rule="sin")

    assert refuses(lambda: (1.0,) * 2.0)  # type: ignore[operator]
    assert refuses(ill_typed)
    assert not refuses(lambda: 1.0 / 0.0)
    assert not refuses(lambda: (0.0,))


def test_a_rule_with_a_default_is_a_black_box_and_says_why() -> None:
    assert rule_of(lambda x, y, d, k=2.0: (k * x * d,), True, ("x",)) == (None, "it takes more than (x…, y, dy)")
    assert rule_of(lambda xs, y, d, k=2.0: (k * xs[0] * d,), False, ("x",)) == (None, "it takes more than (xs, y, dy)")
    assert rule_of(lambda x, y: (x,), False, ("x",)) == (None, "it does not take (xs, y, dy)")
    for rule, spread in ((lambda x, y, d: (2.0 * x * d,), True), (lambda xs, y, d: (2.0 * xs[0] * d,), False)):
        assert rule_of(rule, spread, ("x",))[0] is not None
