"""Functions to compare: `adjudge prove --same examples/same.py:horner examples/same.py:powers`."""

import numpy as np


def horner(x):
    return (2.0 * x + 3.0) * x + 1.0


def powers(x):
    return 2.0 * x**2 + 3.0 * x + 1.0


def slip(x):
    return 2.0 * x**2 + 3.0 * x - 1.0


def ratio(x, y):
    return x * y / y


def first(x, y):
    return x


def mean_square(v):
    return np.mean((v - np.mean(v)) ** 2)


def two_means(v):
    return np.mean(v**2) - np.mean(v) ** 2


def power(x, n: int):
    r = 1.0
    while n > 0:
        r = r * x
        n = n - 1
    return r


def doubled_power(x, n: int):
    r = 2.0
    i = 0
    while i < n:
        r = x * r
        i = i + 1
    return r / 2.0


def power_over_range(x, n: int):
    r = 1.0
    for i in range(n):
        r = r * x
    return r


def doubled_over_range(x, n: int):
    r = 2.0
    for i in range(n):
        r = x * r
    return r / 2.0


def doubled(a, b):
    return a["i"] == b["i"] and b["r"] == 2.0 * a["r"]


def counts_up(a, b, n):
    return a["n"] + b["i"] == n and b["r"] == 2.0 * a["r"]
