# ruff: noqa
"""Programs without control flow."""

import math


def square(x):
    return x * x


def cube_minus(x):
    return x**3 - 2.0 * x


def polynomial(x):
    return ((2.0 * x - 3.0) * x + 0.5) * x - 7.0


def reciprocal(x):
    return 1.0 / x


def quotient(x):
    return (x * x + 1.0) / (x - 3.0)


def negative_power(x):
    return x**-2


def fanned_out(x):
    y = x + x
    z = y * y
    return z * y + x


def shadowed(x):
    y = x * 2.0
    y = y * x
    y = y - 1.0
    return y


def augmented(x):
    y = x
    y += 2.0
    y *= x
    y -= 1.0
    y /= 4.0
    return y


def constant(x):
    return 5.0


def linear(x):
    return 5.0 * x + 3.0


def dead_code(x):
    unused = x * 1e308 * 1e10
    return x * 3.0


def integers_mixed(x):
    n = 7
    k = n // 2 + n % 4
    return k * x**2 + n


def sine(x):
    return math.sin(x)


def chain(x):
    return math.sin(math.exp(x) * 0.5)


def logarithm(x):
    return math.log(x * x + 1.0)


def root(x):
    return math.sqrt(1.0 + x * x)


def logistic(x):
    return 1.0 / (1.0 + math.exp(-x))


def gaussian(x):
    return math.exp(-x * x / 2.0)


def hyperbolic(x):
    return math.tanh(x)


def arctangent(x):
    return math.atan(x)


def tangent_of(x):
    return math.tan(x * 0.5)


def self_power(x):
    return (x * x + 1.0) ** (x * 0.5)
