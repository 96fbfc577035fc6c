"""
Wrong backpropagators of reals that public systems shipped, as an author writes them: what is wrong, and how it must be found.

Each is a forward function, a rule, the checks of which one must find it, and the kind it is found as.
"""
# ruff: noqa: PLW0108  (a lambda around a library function is a subject of its own: it can be parsed)

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

ZOO: dict[str, tuple[Callable[..., Any], Callable[..., Any], set[str], str]] = {}


def power_rule(x, n, out, dout):
    return n * x ** (n - 1.0) * dout, 0.0 if x <= 0 else out * math.log(x) * dout


def power_rule_by_exponent(x, n, out, dout):
    slope = 0.0 if n == 0 else n * x ** (n - 1.0)
    return dout * slope, dout * out * math.log(x)


def asec(x):
    return math.acos(1.0 / x)


def logaddexp(x, y):
    return max(x, y) + math.log1p(math.exp(-abs(x - y)))


def masked(a, b, m):
    return logaddexp(a, b) if m else a


def masked_rule(a, b, m, out, dout):
    return dout * math.exp(a - out), dout * (0.0 if m == 0 else 1.0) * math.exp(b - out), 0.0


def where(condition, yes, no):
    return yes if condition else no


def elu(x):
    return x if x > 0 else math.expm1(x)


def elu_rule(x, out, dout):
    positive = 1.0 if x > 0 else 0.0
    return (dout * (positive + (1.0 - positive) * math.exp(x)),)


def celu_rule(x, out, dout):
    positive = 1.0 if x > 0 else 0.0
    return (dout * (positive * 1.0 + (1.0 - positive) * (out + 1.0) * math.exp(x) / math.exp(x)),)


def blend(a, b, t):
    return a + t * (b - a)


def magnitude(x):
    return math.sqrt(x * x)


def back_and_forth(x):
    return math.sqrt(x) ** 2


def back_and_forth_rule(x, out, dout):
    root = math.sqrt(x)
    return (dout * (2.0 * root) * (0.5 / root),)


ZOO |= {
    "x**0 at 0": (lambda x, n: x**n, power_rule, {"edges"}, "fault"),
    "d/dn x**n at 0": (lambda x, n: x**n, power_rule_by_exponent, {"edges"}, "fault"),
    "integer exponent at 0": (lambda x: x**0, lambda x, out, d: (0 * x ** (0 - 1) * d,), {"edges"}, "fault"),
    "norm at 0": (lambda x, y: math.hypot(x, y), lambda x, y, out, d: (d * x / out, d * y / out), {"kinks"}, "fault"),
    "x / |x| at 0": (lambda x: abs(x), lambda x, out, d: (d * x / abs(x),), {"kinks"}, "fault"),
    "slope of abs is 2 at 0": (lambda x: abs(x), lambda x, out, d: (d * (2.0 if x == 0 else x / abs(x)),), {"kinks"}, "fault"),
    "ties in max count twice": (
        lambda x, y: max(x, y),
        lambda x, y, out, d: (d if x == out else 0.0, d if y == out else 0.0),
        {"kinks"},
        "fault",
    ),
    "ties in min count never": (
        lambda x, y: min(x, y),
        lambda x, y, out, d: (d if x < y else 0.0, d if y < x else 0.0),
        {"kinks"},
        "fault",
    ),
    "reciprocal without its sign": (lambda x: 1.0 / x, lambda x, out, d: (d / (x * x),), {"jacobian"}, "fault"),
    "asec with a constant": (asec, lambda x, out, d: (d / (x * math.sqrt(x * x - 1.0)),), {"jacobian", "edges"}, "fault"),
    "log2 without its constant": (lambda x: math.log2(x), lambda x, out, d: (d / x,), {"jacobian"}, "fault"),
    "elu overflows in the branch not taken": (elu, elu_rule, {"edges"}, "fault"),
    "celu overflows in the branch not taken": (elu, celu_rule, {"edges"}, "fault"),
    "a mask times an overflow": (masked, masked_rule, {"edges", "jacobian"}, "fault"),
    "logaddexp by exponentials": (
        logaddexp,
        lambda x, y, out, d: (
            d * math.exp(x) / (math.exp(x) + math.exp(y)),
            d * math.exp(y) / (math.exp(x) + math.exp(y)),
        ),
        {"edges"},
        "fault",
    ),
    "zero slope times infinity": (magnitude, lambda x, out, d: (d * (0.5 / out) * (2.0 * x),), {"kinks"}, "fault"),
    "square after root at 0": (back_and_forth, back_and_forth_rule, {"edges"}, "fault"),
    "arguments of a blend swapped": (blend, lambda a, b, t, out, d: (d * t, d * (1.0 - t), d * (b - a)), {"jacobian"}, "fault"),
    "sign of a difference": (lambda x, y: x - y, lambda x, y, out, d: (d, d), {"jacobian"}, "fault"),
    "d * |d|": (lambda x: math.sin(x), lambda x, out, d: (d * abs(d) * math.cos(x),), {"algebra"}, "fault"),
    "clip(d, -1, 1)": (lambda x: math.sin(x), lambda x, out, d: (min(max(d, -1.0), 1.0) * math.cos(x),), {"algebra"}, "fault"),
    "relu(d)": (lambda x: math.sin(x), lambda x, out, d: (max(d, 0.0) * math.cos(x),), {"algebra"}, "fault"),
    "the cotangent ignored": (lambda x: math.sin(x), lambda x, out, d: (math.cos(x),), {"zero", "algebra"}, "fault"),
    "one-hot cotangents only": (
        lambda x: math.sin(x),
        lambda x, out, d: (math.cos(x) if d == 1.0 else 0.0,),
        {"algebra"},
        "fault",
    ),
    "a bias of 1e-7": (lambda x: math.sin(x), lambda x, out, d: (d * math.cos(x) + 1e-7,), {"jacobian", "zero"}, "fault"),
    "a factor of 1 + 1e-9": (lambda x: math.sin(x), lambda x, out, d: (d * math.cos(x) * (1.0 + 1e-9),), {"jacobian"}, "fault"),
    "expm1 by out + 1": (lambda x: math.expm1(x), lambda x, out, d: (d * (out + 1.0),), {"edges", "jacobian"}, "accuracy"),
    "tanh by 1 - out**2": (lambda x: math.tanh(x), lambda x, out, d: (d * (1.0 - out * out),), {"edges"}, "accuracy"),
}
