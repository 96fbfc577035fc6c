"""Right rules that are hard to judge, of powers and trigonometry: series near 0, poles, huge arguments."""
# ruff: noqa: PLW0108

from __future__ import annotations

import math

import numpy as np

from mutants.array_rules import Control, array, unbroadcast
from mutants.controls.samples import HUGE, POSITIVE, TINY, VECTOR, elementwise


def integer_power_rule(x, n, y, d):
    return d * (n * x ** (n - 1) if n else np.zeros_like(x)), None


def power_rule(x, p, y, d):
    log = np.log(np.where(x > 0, x, 1.0))
    base = np.where(p == 0, np.where(x == 0, 1.0, x), x)  # 1 at 0 ** 0 only: else the mixed derivative at p = 0 is lost
    return unbroadcast(d * p * base ** (p - 1.0), x), unbroadcast(d * y * log, p)


def sinc_rule(x, y, d):
    """The series near 0, where the closed form cancels: -pi^2 x sum of (-t)^k (2k + 2) / (2k + 3)! with t = (pi x)^2."""
    near = np.abs(x) < 0.25
    t = (math.pi * np.where(near, x, 0.0)) ** 2
    series = sum((-t) ** k * (2 * k + 2) / math.factorial(2 * k + 3) for k in range(12))
    far = np.where(near, 1.0, x)
    return (d * np.where(near, -(math.pi**2) * x * series, (np.cos(math.pi * far) - np.sinc(far)) / far),)


def angle_rule(y, x, z, d):
    r = np.hypot(x, y)
    return d * (x / r / r), -d * (y / r / r)


def hypot_rule(x, z, y, d):
    safe = np.where(y == 0, 1.0, y)
    return d * (x / safe), d * (z / safe)


def huber(x):
    return np.where(np.abs(x) <= 1.0, x * x / 2.0, np.abs(x) - 0.5)


POWERS = (
    Control("integer power", lambda x, n: x**n, integer_power_rule, [(VECTOR, 3), (VECTOR, 0), (VECTOR, 1), (POSITIVE, -2)]),
    Control(
        "real power",
        lambda x, p: x**p,
        power_rule,
        [(POSITIVE, array(0.5, 2.0, -1.5)), (POSITIVE, array(3.0))],
        (),
        lambda x, p: bool((x >= 0).all()),
    ),
    elementwise("sine, large", lambda x: np.sin(x), lambda x: np.cos(x), VECTOR, array(1e10, 1e5, -1e15)),
    elementwise("tangent", lambda x: np.tan(x), lambda x: 1.0 / np.cos(x) ** 2, VECTOR, array(1.57, -1.5, 1e6)),
    elementwise("tanh", lambda x: np.tanh(x), lambda x: 1.0 / np.cosh(x) ** 2, VECTOR, array(-20.0, 0.0, 20.0)),
    elementwise(
        "arcsine", lambda x: np.arcsin(x), lambda x: 1.0 / np.sqrt((1.0 - x) * (1.0 + x)), array(0.5, -0.25), array(0.999999, 1e-20)
    ),
    Control("sinc", lambda x: np.sinc(x), sinc_rule, [(VECTOR,), (array(0.0, 1e-9, 0.1),)]),
    Control(
        "atan2",
        lambda y, x: np.arctan2(y, x),
        angle_rule,
        [(VECTOR, POSITIVE), (array(1e-12, -2.0), array(-1.0, -2.0))],
        (),
        lambda y, x: bool(((x != 0) | (y != 0)).all()),
    ),
    Control("hypot", lambda x, z: np.hypot(x, z), hypot_rule, [(VECTOR, POSITIVE), (array(HUGE, TINY), array(HUGE, TINY))]),
    elementwise("huber", huber, lambda x: np.clip(x, -1.0, 1.0), VECTOR, array(1.0, -1.0, 0.0)),
    elementwise("reciprocal root", lambda x: 1.0 / np.sqrt(x), lambda x: -0.5 / (x * np.sqrt(x)), POSITIVE, array(1e-12, 1e12)),
)
