"""ode: y₀' = x₀, yᵢ' = xᵢ yᵢ₋₁ from y = 0, solved to time 2 by s steps of the classical method of Runge and Kutta."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjudge as aj
from bench.gradbench_programs.function import Function, Input, array, whole


def solution(x, s: int):  # type: ignore[no-untyped-def]
    """y at time 2"""

    def slope(y):  # type: ignore[no-untyped-def]
        return np.concatenate((x[:1], x[1:] * y[:-1]))

    h = 2.0 / s
    y = np.zeros(x.shape[0])
    for _ in range(s):
        k1 = slope(y)
        k2 = slope(y + 0.5 * h * k1)
        k3 = slope(y + 0.5 * h * k2)
        k4 = slope(y + h * k3)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return y


def last(x, s: int):  # type: ignore[no-untyped-def]
    """The last of the y: what is differentiated."""
    return solution(x, s)[-1]


def _read(given: Input) -> tuple[Any, int]:
    return array(given, "x", None), whole(given, "s", 1)


FUNCTIONS = {"primal": Function(solution, _read), "gradient": Function(aj.grad(last), _read)}


def sample(size: int) -> dict[str, Any]:
    """Random coefficients, ten steps."""
    return {"x": np.random.default_rng(size).random(size).tolist(), "s": 10}
