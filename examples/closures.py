"""Figure 2 of the 2017 paper, with g and h filled in; and perturbations that must be kept apart."""

import math

from adjudge import grad


def f(x, fv):
    def clos(y):
        a = math.sin(y) * fv
        b = a * y
        return b

    return clos(x)


def perturbations(x):
    """x times the derivative of y -> x + y, which is 1: the result is x, and its derivative is 1."""
    return x * grad(lambda y: x + y)(x)


def twice(f, x):
    return f(f(x))


def church(x):
    """Three applications of a squaring that closes over x, by Church numerals."""

    def two(g):
        return lambda y: g(g(y))

    def successor(n):
        return lambda g: lambda y: g(n(g)(y))

    return successor(two)(lambda y: y * x)(1.0)
