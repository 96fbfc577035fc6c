"""lse: the logarithm of a sum of exponentials, the largest taken out first."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjudge as aj
from bench.gradbench_programs.function import Function, Input, array


def logsumexp(x):  # type: ignore[no-untyped-def]
    """log Σ exp xᵢ"""
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top)))


def _read(given: Input) -> tuple[Any]:
    return (array(given, "x", None),)


FUNCTIONS = {"primal": Function(logsumexp, _read), "gradient": Function(aj.grad(logsumexp), _read)}


def sample(size: int) -> dict[str, Any]:
    """Random numbers."""
    return {"x": np.random.default_rng(size).normal(size=size).tolist()}
