"""
gmm: the logarithm of the likelihood of points under a mixture of normal distributions, with a Wishart prior of the precisions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import adjudge as aj
from bench.gradbench_programs.function import Function, Input, array, real, whole
from semantics.errors import Malformed


def logsumexp(x):  # type: ignore[no-untyped-def]
    """log Σ exp xᵢ"""
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top)))


def objective(alpha, mu, q, l, x, places, constant, gamma, m: int):  # type: ignore[no-untyped-def]  # noqa: E741
    """
    Σᵢ log Σₖ exp(αₖ + Σ qₖ - ½ |Qₖ(xᵢ - μₖ)|²) - n log Σ exp α - Σₖ (½ γ² |Qₖ|² - m Σ qₖ) + constant

    Qₖ is triangular: its diagonal is exp qₖ, and below it is lₖ, whose entry `places[i, j]` stands in row i and column j; what
    is on the diagonal and above reads the entry after the last, which is 0.
    """
    diagonal = np.exp(q)
    sums = np.sum(q, axis=1)
    below = np.concatenate((l, np.zeros((alpha.shape[0], 1))), axis=1)[:, places]
    centred = x - np.expand_dims(mu, 1)
    turned = np.expand_dims(diagonal, 1) * centred + centred @ np.transpose(below, (0, 2, 1))
    terms = np.expand_dims(alpha + sums, 1) - 0.5 * np.sum(turned * turned, axis=2)
    top = np.max(terms, axis=0)
    likelihood = np.sum(top + np.log(np.sum(np.exp(terms - top), axis=0)))
    prior = 0.5 * gamma * gamma * (np.sum(diagonal * diagonal) + np.sum(l * l)) - m * np.sum(sums)
    return likelihood - x.shape[0] * logsumexp(alpha) - prior + constant


def places(d: int) -> Any:
    """Where the entry below the diagonal of a matrix is among those, read column by column; the number of them, elsewhere."""
    found = np.full((d, d), d * (d - 1) // 2)
    columns, rows = np.triu_indices(d, 1)
    found[rows, columns] = np.arange(len(rows))
    return found


def constant(n: int, d: int, k: int, gamma: float, m: int) -> float:
    """
    What does not depend on the parameters: of the normal distributions, and of the Wishart distributions with d + m + 1 degrees.
    """
    degrees = d + m + 1
    multigamma = 0.25 * d * (d - 1) * math.log(math.pi) + sum(math.lgamma(0.5 * (degrees - j)) for j in range(d))
    wishart = degrees * d * (math.log(gamma) - 0.5 * math.log(2.0)) - multigamma
    return k * wishart - 0.5 * n * d * math.log(2.0 * math.pi)


def _read(given: Input) -> tuple[Any, ...]:
    d, k, n, m = (whole(given, name, least) for name, least in (("d", 1), ("k", 1), ("n", 1), ("m", 0)))
    if (gamma := real(given, "gamma")) <= 0.0:
        raise Malformed("the field 'gamma' is a precision, which is positive")
    parameters = [array(given, "alpha", k), *(array(given, name, k, d) for name in ("mu", "q"))]
    triangle = array(given, "l", k, d * (d - 1) // 2)
    return *parameters, triangle, array(given, "x", n, d), places(d), constant(n, d, k, gamma, m), gamma, m


def _write(gradient: tuple[Any, ...]) -> Any:
    return {name: part.tolist() for name, part in zip(("alpha", "mu", "q", "l"), gradient, strict=True)}


FUNCTIONS = {
    "objective": Function(objective, _read),
    "jacobian": Function(aj.grad(objective, wrt=(0, 1, 2, 3)), _read, write=_write),
}


def sample(size: int) -> dict[str, Any]:
    """Points of three coordinates, five components."""
    draw, (d, k) = np.random.default_rng(size).normal, (3, 5)
    shapes = {"alpha": (k,), "mu": (k, d), "q": (k, d), "l": (k, d * (d - 1) // 2), "x": (size, d)}
    return {"d": d, "k": k, "n": size, "m": 0, "gamma": 1.0, **{a: draw(size=shape).tolist() for a, shape in shapes.items()}}
