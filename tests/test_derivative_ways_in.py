"""Derivatives on a target: calls with types that have been seen go to compiled code at once, all others at length."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import adjudge as aj
from adjudge import functions
from semantics.errors import IllTyped


def product(x: float, y: float) -> float:
    return math.sin(x) * y**3


def cubes(x):  # type: ignore[no-untyped-def]
    return np.sum(x * x * x)


def applied(x, g):  # type: ignore[no-untyped-def]
    return g(x) * x


def twice(x):  # type: ignore[no-untyped-def]
    return x + x


def same(x):  # type: ignore[no-untyped-def]
    return x


@pytest.fixture
def bound(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The calls of which the arguments have been bound to parameters, which a call at length begins with."""
    found: list[Any] = []
    bind = functions.bind

    def noted(f: Any, arguments: Any, named: Any) -> Any:
        found.append(arguments)
        return bind(f, arguments, named)

    monkeypatch.setattr(functions, "bind", noted)
    return found


@pytest.mark.parametrize("macro", ["grad", "value_and_grad", "hessian"])
def test_a_call_with_types_that_came_before_binds_nothing(macro: str, bound: list[Any]) -> None:
    f = getattr(aj, macro)(product, target="cpu")
    first, second = f(0.5, 1.25), f(0.5, 1.25)
    seen = len(bound)
    assert f(0.5, 1.25) == second == first
    assert len(bound) == seen
    assert f(1.5, -0.5) == getattr(aj, macro)(product)(1.5, -0.5)


def test_near_miss_others_are_bound(bound: list[Any]) -> None:
    f = aj.grad(product, wrt="y", target="cpu")
    for _ in range(3):
        f(0.5, 1.25)
    seen = len(bound)
    assert f(0.5, y=1.25) == f(0.5, 1.25)
    assert len(bound) > seen
    seen = len(bound)
    with pytest.raises(IllTyped):
        f(0.5, 1)
    with pytest.raises(IllTyped):
        f(0.5)
    assert len(bound) > seen


def test_on_the_reference_every_call_is(bound: list[Any]) -> None:
    f = aj.grad(product)
    for _ in range(3):
        f(0.5, 1.25)
    assert len(bound) >= 3


def test_functions_among_the_arguments_are_asked_for_in_each_call() -> None:
    f = aj.grad(applied, target="cpu")
    assert [f(3.0, g) for g in (twice, twice, twice, same, twice)] == [12.0, 12.0, 12.0, 6.0, 12.0]


def test_a_direction_of_another_shape_is_refused_whatever_came_before() -> None:
    f, x = aj.hvp(cubes, target="cpu"), np.arange(4.0)
    for _ in range(3):
        assert (f(x, x) == 6.0 * x * x).all()
    for direction in (np.ones(1), np.ones((4, 1)), 1.0):
        with pytest.raises(IllTyped):
            f(x, direction)
