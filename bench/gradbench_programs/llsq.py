"""llsq: how far a polynomial is from the sign function, in the sense of least squares, at n places from -1 to 1."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjudge as aj
from bench.gradbench_programs.function import Function, Input, array, whole


def distance(x, n: int):  # type: ignore[no-untyped-def]
    """½ Σᵢ (sign tᵢ - Σⱼ xⱼ tᵢʲ)², where tᵢ = -1 + 2i / (n - 1)"""
    t = np.linspace(-1.0, 1.0, n)
    powers = np.expand_dims(t, 1) ** np.arange(x.shape[0])
    residuals = np.sign(t) - powers @ x
    return 0.5 * np.sum(residuals * residuals)


def _read(given: Input) -> tuple[Any, int]:
    return array(given, "x", None), whole(given, "n", 2)


FUNCTIONS = {"primal": Function(distance, _read), "gradient": Function(aj.grad(distance), _read)}


def sample(size: int) -> dict[str, Any]:
    """Four places for each coefficient."""
    return {"x": np.random.default_rng(size).random(size).tolist(), "n": 4 * size}
