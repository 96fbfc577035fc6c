"""
saddle: min over x of max over y of (x₀² + x₁²) - (y₀² + y₁²), by descents inside a descent, each by its gradient.

The gradient outside differentiates the whole descent inside. Each of the two is taken forward or in reverse: `fr` is forward
outside, in reverse inside. The y at the end is found by the mode of the gradient outside.
"""

from __future__ import annotations

from typing import Any

from adjudge import grad, jvp
from bench.gradbench_programs.descent import argmin
from bench.gradbench_programs.function import Function, Input, array


def between(a, b, x, y):  # type: ignore[no-untyped-def]
    """What the point (a, b) makes small and (x, y) makes large."""
    return (a * a + b * b) - (x * x + y * y)


def forward(f, p):  # type: ignore[no-untyped-def]
    """The gradient of f at a pair, forward: along one axis, then along the other."""
    return jvp(f, (p,), ((1.0, 0.0),))[1], jvp(f, (p,), ((0.0, 1.0),))[1]


def depth(x, y, a, b):  # type: ignore[no-untyped-def]
    """What the descent inside goes down: the negative of it."""
    return (x * x + y * y) - (a * a + b * b)


def slope_f(x, y, a, b):  # type: ignore[no-untyped-def]
    """Its gradient by (x, y), forward."""
    return forward(lambda p: depth(p[0], p[1], a, b), (x, y))


def slope_r(x, y, a, b):  # type: ignore[no-untyped-def]
    """Its gradient by (x, y), in reverse."""
    return grad(depth, (0, 1))(x, y, a, b)


def highest(slope_at, a, b, start):  # type: ignore[no-untyped-def]
    """The (x, y) that makes it largest for this (a, b)."""
    return argmin(lambda p: -between(a, b, p[0], p[1]), lambda p: slope_at(p[0], p[1], a, b), start)


def ff(start):  # type: ignore[no-untyped-def]
    """Forward, and forward inside."""

    def height(p):  # type: ignore[no-untyped-def]
        return between(p[0], p[1], *highest(slope_f, p[0], p[1], start))

    a, b = argmin(height, lambda p: forward(height, p), start)
    return (a, b), highest(slope_f, a, b, start)


def fr(start):  # type: ignore[no-untyped-def]
    """Forward, and in reverse inside."""

    def height(p):  # type: ignore[no-untyped-def]
        return between(p[0], p[1], *highest(slope_r, p[0], p[1], start))

    a, b = argmin(height, lambda p: forward(height, p), start)
    return (a, b), highest(slope_f, a, b, start)


def rf(start):  # type: ignore[no-untyped-def]
    """In reverse, and forward inside."""

    def height(p):  # type: ignore[no-untyped-def]
        return between(p[0], p[1], *highest(slope_f, p[0], p[1], start))

    a, b = argmin(height, grad(height), start)
    return (a, b), highest(slope_r, a, b, start)


def rr(start):  # type: ignore[no-untyped-def]
    """In reverse, and in reverse inside."""

    def height(p):  # type: ignore[no-untyped-def]
        return between(p[0], p[1], *highest(slope_r, p[0], p[1], start))

    a, b = argmin(height, grad(height), start)
    return (a, b), highest(slope_r, a, b, start)


def _read(given: Input) -> tuple[tuple[float, float]]:
    return (tuple(array(given, "start", 2).tolist()),)


def _write(points: tuple[Any, Any]) -> Any:
    """The coordinates of x, then those of y."""
    return [*points[0], *points[1]]


FUNCTIONS = {f.__name__: Function(f, _read, write=_write) for f in (ff, fr, rf, rr)}


def sample(size: int) -> dict[str, Any]:
    """A start as far away as it says."""
    return {"start": [float(size), float(size)]}
