"""
Right backpropagators of reals that are hard to judge: of primitives in the language, and of black boxes in NumPy.

Each is a forward function, a rule, and samples. A fault reported on any of them is a false alarm.
"""
# ruff: noqa: PLW0108  (a lambda around a library function is a subject of its own: it can be parsed)

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Samples = list[tuple[float, ...]]
CONTROLS: dict[str, tuple[Callable[..., Any], Callable[..., Any], Samples]] = {}
BLACK_BOXES: dict[str, tuple[Callable[..., Any], Callable[..., Any], Samples]] = {}


def sigmoid(x):
    return 1.0 / (1.0 + math.exp(-x)) if x >= 0 else math.exp(x) / (1.0 + math.exp(x))


def softplus(x):
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def softplus_rule(x, out, dout):
    return (dout * sigmoid(x),)


def logaddexp(x, y):
    return max(x, y) + math.log1p(math.exp(-abs(x - y)))


def logaddexp_rule(x, y, out, dout):
    return dout * sigmoid(x - y), dout * sigmoid(y - x)


def cube_rule(x, out, dout):
    return (dout * (3.0 * x * x),)


def power_of_zero(x):
    return x**0


def gelu(x):
    return 0.5 * x * math.erfc(-x / math.sqrt(2.0))


def gelu_rule(x, out, dout):
    density = math.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
    return (dout * (0.5 * math.erfc(-x / math.sqrt(2.0)) + x * density),)


def mish(x):
    """x tanh(log(1 + e^x)): where e^x overflows, forward mode over it in doubles is NaN, and the rule is right."""
    return x * math.tanh(math.log1p(math.exp(x)))


def mish_rule(x, out, dout):
    t = math.tanh(math.log1p(math.exp(x)))
    return (dout * (t + x * (1.0 - t * t) / (1.0 + math.exp(-x))),)


def elu(x):
    return x if x > 0 else math.expm1(x)


def elu_rule(x, out, dout):
    return (dout if x > 0 else dout * math.exp(x),)


def safe_reciprocal(x):
    return 1.0 / x if x != 0 else 0.0


def safe_reciprocal_rule(x, out, dout):
    return (-(dout * out * out),)


def relu(x):
    return x if x > 0 else 0.0


def relu_rule(x, out, dout):
    return (dout if x > 0 else 0.0,)


def split_tie(x, y, out, dout):
    half = 0.5 * dout
    return (half, half) if x == y else ((dout, 0.0) if x > y else (0.0, dout))


def first_of_tie(x, y, out, dout):
    return (dout, 0.0) if x >= y else (0.0, dout)


def tanh_rule(x, out, dout):
    c = math.cosh(x)
    return (dout / c / c,)


def smooth_step(x):
    t = min(max(x, 0.0), 1.0)
    return t * t * (3.0 - 2.0 * t)


def smooth_step_rule(x, out, dout):
    return (dout * 6.0 * x * (1.0 - x) if 0.0 < x < 1.0 else 0.0,)


def blend(a, b, t):
    return a + t * (b - a)


def blend_rule(a, b, t, out, dout):
    return dout * (1.0 - t), dout * t, dout * (b - a)


CONTROLS |= {
    "softplus": (softplus, softplus_rule, [(0.0,)]),
    "sigmoid": (sigmoid, lambda x, out, dout: (dout * sigmoid(x) * sigmoid(-x),), [(0.5,)]),
    "logaddexp": (logaddexp, logaddexp_rule, [(0.0, 1.0)]),
    "expm1": (math.expm1, lambda x, out, dout: (dout * math.exp(x),), [(0.5,)]),
    "log1p": (lambda x: math.log1p(x), lambda x, out, dout: (dout / (1.0 + x),), [(0.5,)]),
    "cube": (lambda x: x**3, cube_rule, [(0.5,)]),
    "sqrt": (lambda x: math.sqrt(x), lambda x, out, dout: (dout / (2.0 * out),), [(0.5,)]),
    "gelu": (gelu, gelu_rule, [(0.5,)]),
    "mish": (mish, mish_rule, [(0.5,)]),
    "elu": (elu, elu_rule, [(0.5,)]),
    "reciprocal": (safe_reciprocal, safe_reciprocal_rule, [(0.5,)]),
    "relu": (relu, relu_rule, [(0.5,)]),
    "max, first of a tie": (lambda x, y: max(x, y), first_of_tie, [(0.5, 1.0)]),
    "max, halves of a tie": (lambda x, y: max(x, y), split_tie, [(0.5, 1.0)]),
    "tanh": (lambda x: math.tanh(x), tanh_rule, [(0.5,)]),
    "smooth step": (smooth_step, smooth_step_rule, [(0.5,)]),
    "blend": (blend, blend_rule, [(1.0, 2.0, 0.5)]),
    "atan2": (
        lambda y, x: math.atan2(y, x),
        lambda y, x, out, dout: (
            dout * (x / math.hypot(x, y) / math.hypot(x, y)),
            -dout * (y / math.hypot(x, y) / math.hypot(x, y)),
        ),
        [(1.0, 2.0)],
    ),
    "square of a sine": (
        lambda x: math.sin(x) ** 2,
        lambda x, out, dout: (dout * 2.0 * math.sin(x) * math.cos(x),),
        [(0.5,)],
    ),
    "bump": (lambda x: math.exp(-(x * x)), lambda x, out, dout: (-2.0 * x * out * dout,), [(0.5,)]),
    "product of three": (
        lambda x, y, z: x * y * z,
        lambda x, y, z, out, dout: (dout * y * z, dout * x * z, dout * x * y),
        [(1.0, 2.0, 3.0)],
    ),
}

BLACK_BOXES |= {
    "logaddexp of NumPy": (
        lambda x, y: np.real(np.logaddexp(x, y)),
        lambda xs, out, d: (d * np.exp(xs[0] - out), d * np.exp(xs[1] - out)),
        [(0.0, 1.0), (-math.inf, 1.0), (2.0, -math.inf)],
    ),
    "softplus of NumPy": (
        lambda x: np.real(np.logaddexp(0.0, x)),
        lambda xs, out, d: (d * np.exp(-np.logaddexp(0.0, -xs[0])),),
        [(0.5,)],
    ),
    "sine of NumPy": (lambda x: np.real(np.sin(x)), lambda xs, out, d: (d * np.cos(xs[0]),), [(0.5,)]),
    "absolute value of NumPy": (lambda x: np.real(np.abs(x)), lambda xs, out, d: (d * np.sign(xs[0]),), [(0.5,)]),
    "maximum of NumPy": (
        lambda x, y: np.real(np.maximum(x, y)),
        lambda xs, out, d: (d * (xs[0] >= xs[1]), d * (xs[1] > xs[0])),
        [(0.5, 1.0)],
    ),
    "hyperbolic tangent of NumPy": (lambda x: np.real(np.tanh(x)), lambda xs, out, d: (d / np.cosh(xs[0]) ** 2,), [(0.5,)]),
}
