"""
Functions that users write, each with its backpropagator in our language: what the same machinery proves of them, at both orders.

None has a row or a z3 column. Their forward programs are their definitions, read in terms of exp, log, sin, cos and erf, and
differentiated by the calculus. A rule may be written in another form than the derivative of the definition: most are.
Each line is f(x…) with f_pullback(x…, out, dout). Where the pieces of a function meet it has a kink, or is left out by the verdict.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import copysign, cos, cosh, erf, exp, expm1, log, log1p, pi, sin, sqrt, tanh
from typing import Any

from semantics.primitives.row import Primitive
from transforms.python_rows import register_backpropagator, row_of


def sigmoid(x):
    return 1.0 / (1.0 + exp(-x))


def sigmoid_pullback(x, out, dout):
    return (dout * (out * (1.0 - out)),)


def softplus(x):
    return log1p(exp(x))


def softplus_pullback(x, out, dout):
    return (dout / (1.0 + exp(-x)),)


def silu(x):
    return x / (1.0 + exp(-x))


def silu_pullback(x, out, dout):
    s = 1.0 / (1.0 + exp(-x))
    return (dout * (s + out * (1.0 - s)),)


def swish(x, beta):
    return x / (1.0 + exp(-(beta * x)))


def swish_pullback(x, beta, out, dout):
    s = 1.0 / (1.0 + exp(-(beta * x)))
    slope = s * (1.0 - s)
    return dout * (s + beta * (x * slope)), dout * (x * (x * slope))


def gelu(x):
    return 0.5 * (x * (1.0 + erf(x / sqrt(2.0))))


def gelu_pullback(x, out, dout):
    density = exp(-(x * x) / 2.0) / sqrt(2.0 * pi)
    return (dout * (0.5 * (1.0 + erf(x / sqrt(2.0))) + x * density),)


def gelu_tanh(x):
    return 0.5 * (x * (1.0 + tanh(sqrt(2.0 / pi) * (x + 0.044715 * (x * (x * x))))))


def gelu_tanh_pullback(x, out, dout):
    t = tanh(sqrt(2.0 / pi) * (x + 0.044715 * (x * (x * x))))
    inner = sqrt(2.0 / pi) * (1.0 + 3.0 * (0.044715 * (x * x)))
    return (dout * (0.5 * (1.0 + t) + 0.5 * (x * ((1.0 - t * t) * inner))),)


def mish(x):
    return x * tanh(log1p(exp(x)))


def mish_pullback(x, out, dout):
    t = tanh(log1p(exp(x)))
    return (dout * (t + x * ((1.0 - t * t) / (1.0 + exp(-x)))),)


def log_sigmoid(x):
    return -log1p(exp(-x))


def log_sigmoid_pullback(x, out, dout):
    return (dout / (1.0 + exp(x)),)


def softsign(x):
    return x / (1.0 + abs(x))


def softsign_pullback(x, out, dout):
    d = 1.0 + abs(x)
    return (dout / (d * d),)


def elu(x):
    return x if x > 0 else expm1(x)


def elu_pullback(x, out, dout):
    return (dout if x > 0 else dout * (out + 1.0),)


def celu(x, a):
    return x if x > 0 else a * expm1(x / a)


def celu_pullback(x, a, out, dout):
    e = exp(x / a)
    dx = dout if x > 0 else dout * e
    da = 0.0 if x > 0 else dout * (e - 1.0 - e * (x / a))
    return dx, da


def selu(x):
    return 1.0507 * (x if x > 0 else 1.67326 * expm1(x))


def selu_pullback(x, out, dout):
    return (1.0507 * dout if x > 0 else dout * (out + 1.0507 * 1.67326),)


def leaky_relu(x):
    return x if x > 0 else 0.01 * x


def leaky_relu_pullback(x, out, dout):
    return (dout if x > 0 else 0.01 * dout,)


def hard_tanh(x):
    return max(-1.0, min(1.0, x))


def hard_tanh_pullback(x, out, dout):
    return (dout if -1.0 < x < 1.0 else 0.0,)


def huber(x):
    return 0.5 * (x * x) if abs(x) < 1.0 else abs(x) - 0.5


def huber_pullback(x, out, dout):
    return (dout * max(-1.0, min(1.0, x)),)


def logit(x):
    return log(x / (1.0 - x))


def logit_pullback(x, out, dout):
    return (dout / (x * (1.0 - x)),)


def rsqrt(x):
    return 1.0 / sqrt(x)


def rsqrt_pullback(x, out, dout):
    return (-0.5 * (dout * (out * (out * out))),)


def sinc(x):
    return sin(x) / x


def sinc_pullback(x, out, dout):
    return (dout * ((cos(x) - out) / x),)


def log_cosh(x):
    return log(cosh(x))


def log_cosh_pullback(x, out, dout):
    return (dout * tanh(x),)


def xlogy(x, y):
    return x * log(y)


def xlogy_pullback(x, y, out, dout):
    return dout * log(y), dout * (x / y)


def entropy(x):
    return -(x * log(x))


def entropy_pullback(x, out, dout):
    return (-(dout * (1.0 + log(x))),)


def smoothstep(x):
    t = max(0.0, min(1.0, x))
    return t * (t * (3.0 - 2.0 * t))


def smoothstep_pullback(x, out, dout):
    return (dout * (6.0 * (x * (1.0 - x))) if 0.0 < x < 1.0 else 0.0,)


def gaussian(x, mean, deviation):
    z = (x - mean) / deviation
    return exp(-0.5 * (z * z)) / (deviation * sqrt(2.0 * pi))


def gaussian_pullback(x, mean, deviation, out, dout):
    z = (x - mean) / deviation
    dmean = dout * (out * (z / deviation))
    return -dmean, dmean, dout * (out * ((z * z - 1.0) / deviation))


def signed_root(x):
    return copysign(sqrt(abs(x)), x)


def signed_root_pullback(x, out, dout):
    return (dout / (2.0 * abs(out)),)


# function, backpropagator, domain, kinks
FUNCTIONS: tuple[tuple[Callable[..., Any], Callable[..., Any], str, str], ...] = (
    (sigmoid, sigmoid_pullback, "", ""),
    (softplus, softplus_pullback, "", ""),
    (silu, silu_pullback, "", ""),
    (swish, swish_pullback, "", ""),
    (gelu, gelu_pullback, "", ""),
    (gelu_tanh, gelu_tanh_pullback, "", ""),
    (mish, mish_pullback, "", ""),
    (log_sigmoid, log_sigmoid_pullback, "", ""),
    (softsign, softsign_pullback, "", ""),
    (elu, elu_pullback, "", ""),
    (celu, celu_pullback, "a > 0", ""),
    (selu, selu_pullback, "", "x == 0"),
    (leaky_relu, leaky_relu_pullback, "", "x == 0"),
    (hard_tanh, hard_tanh_pullback, "", "x == 1; x == -1"),
    (huber, huber_pullback, "", ""),
    (logit, logit_pullback, "0 < x < 1", ""),
    (rsqrt, rsqrt_pullback, "x > 0", ""),
    (sinc, sinc_pullback, "x != 0", ""),
    (log_cosh, log_cosh_pullback, "", ""),
    (xlogy, xlogy_pullback, "y > 0", ""),
    (entropy, entropy_pullback, "x > 0", ""),
    (smoothstep, smoothstep_pullback, "", ""),
    (gaussian, gaussian_pullback, "deviation > 0", ""),
    (signed_root, signed_root_pullback, "", "x == 0"),
)


@cache
def primitives() -> tuple[Primitive, ...]:
    """The functions as primitives of a user."""
    return tuple(primitive(*given) for given in FUNCTIONS)


def primitive(function: Callable[..., Any], rule: Callable[..., Any], domain: str = "", kinks: str = "") -> Primitive:
    """A Python function with its backpropagator, as a row."""
    row, cells = row_of(function, function.__name__, domain=domain, kinks=kinks)
    register_backpropagator(cells, row, rule)
    return row
