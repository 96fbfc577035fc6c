# ruff: noqa
"""Branches, early returns, booleans."""

import math


def absolute(x):
    if x < 0.0:
        return -x
    return x


def three_ways(x):
    if x < -1.0:
        y = x * x
    elif x < 1.0:
        y = x**3
    else:
        y = 2.0 * x
    return y


def conditional_expression(x):
    return x * x if x > 0.0 else -2.0 * x


def nested_branches(x):
    if x > 0.0:
        if x > 1.0:
            return x**4
        return x**3
    return x**2


def code_after_return(x):
    return x * x
    return x * x * x


def early_return(x):
    y = x * x
    if y > 4.0:
        return y
    z = y * x
    return z + 1.0


def both(x):
    if x > 0.0 and x < 2.0:
        return x**2
    return x


def either(x):
    if x < -1.0 or not x < 1.0:
        return x**3
    return x * 5.0


def chained(x):
    return x**2 if -1.0 < x <= 1.0 else 3.0 * x


def assigned_on_one_path(x):
    y = x
    if x > 0.0:
        y = y * y
    return y + x


def guarded_division(x):
    return 1.0 if x == 0.0 else (x * x + x) / x


def short_circuit(x):
    if x != 0.0 and 1.0 / x > 0.25:
        return x * x
    return x


def piecewise_smooth(x):
    return math.exp(x) - 1.0 if x < 0.0 else math.sin(x)
