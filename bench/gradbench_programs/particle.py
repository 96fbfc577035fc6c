"""
particle: which w makes a charged particle, repelled by charges at (10, 10 - w) and (10, 0), fall through the origin?

The force is the gradient of a potential, at every step of Euler's method. The descent differentiates by w the loop that does the
steps. Each of the two gradients is taken forward or in reverse: `fr` is forward outside, in reverse inside.
"""

from __future__ import annotations

from typing import Any

from adjudge import grad, jvp
from bench.gradbench_programs.descent import argmin
from bench.gradbench_programs.function import Function, Input, real

STEP = 0.1


def potential(x, y, w, ten):  # type: ignore[no-untyped-def]
    """Of the two charges, at (x, y)."""
    over, up = x - ten, y - ten + w
    return (over * over + up * up) ** -0.5 + (over * over + y * y) ** -0.5


def slope_f(x, y, w):  # type: ignore[no-untyped-def]
    """Its gradient by the place, forward: along one axis, then along the other."""

    def along(dx, dy):  # type: ignore[no-untyped-def]
        return jvp(lambda u, v: potential(u, v, w, 10.0), (x, y), (dx, dy))[1]

    return along(1.0, 0.0), along(0.0, 1.0)


def slope_r(x, y, w):  # type: ignore[no-untyped-def]
    """Its gradient by the place, in reverse."""
    return grad(potential, (0, 1))(x, y, w, 10.0)


def moved(slope_at, x, y, u, v, w):  # type: ignore[no-untyped-def]
    """Euler's step: place and velocity after it; the force points against the slope."""
    a, b = slope_at(x, y, w)
    return x + STEP * u, y + STEP * v, u - STEP * a, v - STEP * b


def end(x, y, u, v):  # type: ignore[no-untyped-def]
    """How far from the origin the particle meets the axis, squared; between two steps its path is straight."""
    place = x - y / v * u
    return place * place


def miss(slope_at, w):  # type: ignore[no-untyped-def]
    """The same, for a w, the particle starting at (0, 8) with velocity (0.75, 0)."""
    x, y, u, v = 0.0, 8.0, 0.75, 0.0
    while y + STEP * v > 0.0:
        x, y, u, v = moved(slope_at, x, y, u, v, w)
    return end(x, y, u, v)


def ff(w):  # type: ignore[no-untyped-def]
    """Forward, and forward inside."""

    def target(p):  # type: ignore[no-untyped-def]
        return miss(slope_f, p[0])

    return argmin(target, lambda p: (jvp(target, (p,), ((1.0,),))[1],), (w,))[0]


def fr(w):  # type: ignore[no-untyped-def]
    """Forward, and in reverse inside."""

    def target(p):  # type: ignore[no-untyped-def]
        return miss(slope_r, p[0])

    return argmin(target, lambda p: (jvp(target, (p,), ((1.0,),))[1],), (w,))[0]


def rf(w):  # type: ignore[no-untyped-def]
    """In reverse, and forward inside."""

    def target(p):  # type: ignore[no-untyped-def]
        return miss(slope_f, p[0])

    return argmin(target, grad(target), (w,))[0]


def rr(w):  # type: ignore[no-untyped-def]
    """In reverse, and in reverse inside."""

    def target(p):  # type: ignore[no-untyped-def]
        return miss(slope_r, p[0])

    return argmin(target, grad(target), (w,))[0]


def _read(given: Input) -> tuple[float]:
    return (real(given, "w"),)


FUNCTIONS = {f.__name__: Function(f, _read) for f in (ff, fr, rf, rr)}


def sample(size: int) -> dict[str, Any]:
    """The start of the suite."""
    return {"w": 0.0 * size}
