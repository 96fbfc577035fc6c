"""Statements: loops with else, early exits, walrus, assert and raise, annotations; loops that contain gradients."""

import math

import numpy as np

from adjudge import grad, hvp, value_and_grad


def for_else(x):
    """0.75
    3.0"""
    total = x
    for k in range(5):
        total = total * x
        if total > 5.0:
            break
    else:
        total = total + 10.0
    return total


def while_else(x):
    """0.75
    3.0"""
    y = x
    while y < 10.0:
        y = y * (1.0 + x)
        if y > 5.0 and x > 1.0:
            break
    else:
        return y * x
    return y + x


def early_return(xs):
    """(0.5, -2.0, 3.0)
    (0.5, 2.0, 3.0)"""
    product = 1.0
    for x in xs:
        if x < 0:
            return product * x * x
        product = product * x
    return product


def walrus(x):
    """0.75"""
    total = 0.0
    while (y := total * total + x) < 3.0:
        total = total + y * 0.5
    return total * (z := y + 1.0) + z


def asserted(x):
    """0.75"""
    assert x > 0, "x must be positive"
    return math.log(x) * x


def raised(x):
    """0.75"""
    if x < 0:
        raise ValueError("x must not be negative")
    return math.sqrt(x)


def annotated(x: float, n: int = 3) -> float:
    """0.75, 3"""
    total: float = 0.0
    k: int
    for k in range(n):
        total = total + x**k
    return total


def nested_loops(x):
    """0.75"""
    total = 0.0
    for i in range(3):
        for j in range(i + 1):
            if j == 2:
                continue
            total = total * x + i * x + j
    return total


def gradient_in_a_loop(x):
    """0.75"""

    def energy(q):
        return q * q * q * q / 4.0 - q * q / 2.0

    for _ in range(3):
        x = x - 0.125 * grad(energy)(x)
    return x * x


def newton_steps(x):
    """1.5"""

    def f(t):
        return t * t * t - 2.0

    for _ in range(2):
        value, slope = value_and_grad(f)(x)
        x = x - value / slope
    return x


def gradient_of_arrays_in_a_loop(w, x):
    """array([0.5, -1.0]), array([2.0, 1.0])"""

    def loss(v):
        return (np.sum(v * x) - 1.0) ** 2

    for _ in range(2):
        w = w - 0.0625 * grad(loss)(w)
    return np.sum(w * w)


def curvature(x, v):
    """array([0.5, -1.0]), array([2.0, 1.0])"""

    def f(t):
        return np.sum(t**3 * t[::-1])

    return np.sum(hvp(f)(x, v) * v)


def euler_integration(y, rate):
    """array([1.0, 0.5]), 0.25"""

    def field(state):
        return np.array([state[1], -math.sin(state[0])])

    for _ in range(3):
        y = y + rate * field(y)
    return np.sum(y * y)


def runge_kutta(y, h):
    """array([1.0, 0.5]), 0.25"""

    def field(s):
        return np.stack([s[1], -s[0]])

    for _ in range(2):
        a = field(y)
        b = field(y + h / 2.0 * a)
        c = field(y + h / 2.0 * b)
        d = field(y + h * c)
        y = y + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)
    return np.sum(y * y)


def closures_in_a_loop(x):
    """0.75"""
    f = lambda t: t
    for k in range(3):
        g = f
        f = lambda t, g=g, k=k: g(t) * x + k
    return f(x)


def collatz_weighted(x, n):
    """0.75, 6"""
    weight = 1.0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
            weight = weight * x
        else:
            n = 3 * n + 1
            weight = weight + x * x
    return weight


def fixed_point(a):
    """2.0"""
    x = a
    while abs(x * x - a) > 1e-3:
        x = 0.5 * (x + a / x)
    return x


def heat_equation(u):
    """array([0.0, 1.0, 0.0, 0.5])"""
    for _ in range(3):
        u = u + 0.25 * (np.roll(u, 1) - 2.0 * u + np.roll(u, -1))
    return np.sum(u**2 * np.arange(4))


def stencil_by_index(u):
    """array([0.0, 1.0, 0.25, 0.5])"""
    n = len(u)
    for _ in range(2):
        v = np.zeros(n)
        for i in range(n):
            v[i] = u[i] + 0.25 * (u[i - 1] - 2.0 * u[i] + u[(i + 1) % n]) * u[i]
        u = v
    return np.sum(u * u)
