"""Functions on functions: maps, folds, scans, composition, Church numerals."""

import functools
import math

import numpy as np

import adjudge as aj


def composed(x):
    """0.75"""

    def compose(f, g):
        return lambda t: f(g(t))

    return compose(math.sin, compose(math.exp, lambda t: t * x))(x)


def church(x):
    """0.75"""

    def two(f):
        return lambda t: f(f(t))

    def three(f):
        return lambda t: f(f(f(t)))

    return two(three)(lambda t: t * x + 0.5)(x)


def mapped_over_array(x):
    """array([0.5, -2.0, 3.0])"""
    return np.sum(aj.array_map(lambda t: t * t * t + math.sin(t), x))


def mapped_over_two(x, y):
    """array([0.5, -2.0, 3.0]), array([1.0, 2.0, -1.0])"""
    return np.sum(aj.array_map(lambda a, b: a * b + math.exp(a), x, y) ** 2)


def folded_array(x):
    """array([0.5, -2.0, 3.0])"""
    return aj.array_reduce(lambda acc, t: acc * 0.5 + t * t, 1.0, x)


def scanned(x, s):
    """array([0.5, -2.0, 3.0]), 0.25"""
    last, all_ = aj.scan(lambda c, t: (c * s + t, c * t), 1.0, x)
    return last + np.sum(all_ * all_)


def reduced(xs):
    """(0.5, -2.0, 3.0)"""
    return functools.reduce(lambda a, b: a * b + a, xs)


def repeated(x):
    """0.75"""

    def iterate(f, n, t):
        return t if n == 0 else iterate(f, n - 1, f(t))

    return iterate(lambda t: math.sin(t) + x, 4, x)


def gradient_of_captured(x):
    """0.75"""

    def scaled(s):
        return lambda t: s * t * t

    return aj.grad(scaled(x))(x * 2.0) * x


def functions_in_a_tuple(x):
    """0.75"""
    fs = (lambda t: t * x, lambda t: t + x, math.exp)
    return fs[0](fs[1](fs[2](x)))


def curried(x):
    """0.75"""
    add = lambda a: lambda b: lambda c: a * b + b * c
    return add(x)(x * x)(2.0)
