"""kmeans: the sum of squared distances from points to the nearest of some centroids, and Newton's direction for the centroids."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjudge import grad, hvp
from bench.gradbench_programs.function import Function, Input, array


def cost(points, centroids):  # type: ignore[no-untyped-def]
    """Σᵢ minⱼ |cⱼ - pᵢ|²"""
    difference = np.expand_dims(points, 1) - centroids
    return np.sum(np.min(np.sum(difference * difference, axis=2), axis=1))


def direction(points, centroids):  # type: ignore[no-untyped-def]
    """J / H, entry by entry: the Hessian is diagonal, so its product with ones is the diagonal."""

    def f(c):  # type: ignore[no-untyped-def]
        return cost(points, c)

    return grad(f)(centroids) / hvp(f)(centroids, np.ones_like(centroids))


def _read(given: Input) -> tuple[Any, Any]:
    points = array(given, "points", None, None)
    return points, array(given, "centroids", None, points.shape[1])


FUNCTIONS = {"cost": Function(cost, _read), "dir": Function(direction, _read)}


def sample(size: int) -> dict[str, Any]:
    """Points of four coordinates, of which the last are the centroids: so each is the nearest of one point at least."""
    points = np.random.default_rng(size).random((size, 4))
    return {"points": points.tolist(), "centroids": points[-max(size // 10, 2) :].tolist()}
