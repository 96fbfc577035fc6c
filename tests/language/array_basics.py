"""Arrays: elementwise arithmetic, broadcasting, dtypes, creation."""

import numpy as np


def sum_of_squares(x):
    """array([1.0, -2.0, 0.5])
    array([[0.5, 2.0], [-1.0, 4.0]])"""
    return np.sum(x * x)


def broadcast_sum(x, y):
    """array([[1.0], [2.0]]), array([0.5, -1.0, 2.0])
    array([1.0, 3.0]), 2.0
    3.0, array([1.0, 3.0])"""
    return np.sum(x * y + x / (1.0 + y * y))


def exponential_mean(x):
    """array([[0.5, -1.0], [0.25, 2.0]])"""
    return np.mean(np.exp(x) * x) + np.sum(x**2)


def column_sums(x):
    """array([[0.5, -1.0], [0.25, 2.0], [3.0, 1.0]])"""
    s = np.sum(x, axis=0)
    t = np.sum(x, axis=1, keepdims=True)
    return np.sum(s * s) + np.sum(t * x)


def softplus_sum(x):
    """array([0.5, -1.0, 2.0])"""
    return np.sum(np.logaddexp(0.0, x))


def every_function(x):
    """array([0.5, 0.25])"""
    a = np.sin(x) + np.cos(x) * np.tan(x) + np.sinh(x) - np.cosh(x) / np.tanh(x)
    b = np.arcsin(x) + np.arccos(x) * np.arctan(x) + np.arcsinh(x) + np.arctanh(x)
    c = np.log(x) + np.log1p(x) + np.log2(x) + np.log10(x) + np.expm1(x) + np.sqrt(x) + np.cbrt(x)
    return np.sum(a * b + c)


def pairs_of_arrays(x, y):
    """array([0.5, 2.0]), array([1.5, -0.25])"""
    return np.sum(np.hypot(x, y) + np.arctan2(x, y) + np.power(x, y) + np.maximum(x, y) * np.minimum(x, y))


def chosen_by_where(x):
    """array([0.5, -2.0, 3.0])"""
    return np.sum(np.where(x > 0, x * x, -3.0 * x))


def relu_mask(x):
    """array([0.5, -2.0, 3.0])"""
    return np.sum((x > 0) * x * x)


def logical_masks(x):
    """array([0.5, -2.0, 3.0, 1.5])"""
    inside = np.logical_and(x > 0, np.logical_not(x > 2))
    return np.sum(np.where(inside, x**3, np.where(np.logical_or(x < -1, x > 2.5), x, 0.0)))


def masks_by_operators(x):
    """array([0.5, -2.0, 3.0, 1.5])
    array([-0.5, 2.0, 2.5, 1.0])"""
    inside = (x > 0) & ~(x > 2) | (x < -1)
    outside = ~inside
    outside &= x < 2.75
    outside[0] |= x[1] > 0.0
    return np.sum(x[inside] ** 3) + np.sum(np.where(outside, x, 0.0)) if np.any(inside) | (x[0] > 1.0) else 0.0


def clipped(x):
    """array([0.5, -2.0, 3.0])"""
    return np.sum(np.clip(x, -1.0, 1.0) * x)


def absolute_values(x):
    """array([0.5, -2.0, 3.0])"""
    return np.sum(np.abs(x) * np.sign(x) * x)


def integer_exponents(x):
    """array([0.5, -2.0, 3.0])"""
    return np.sum(x ** np.array([1, 2, 3])) + np.sum(x**2 / 2)


def quotients(x):
    """array([0.5, -2.0, 3.0])"""
    return np.sum(1.0 / x + x / 2 - 2 / (x * x))


def remainders(x):
    """array([0.5, -2.25, 3.75])"""
    return np.sum(x * (x % 1.0)) + np.sum(x // 1.0 * x)


def created(x):
    """array([[0.5, -2.0], [3.0, 1.0]])"""
    z = np.zeros((2, 2)) + np.ones_like(x) * 2.0 - np.full((2, 1), 0.5) + np.eye(2) + np.zeros_like(x)
    return np.sum(z * x * x) + np.sum(np.arange(4).reshape(2, 2) * x)


def evenly_spaced(x):
    """0.75"""
    t = np.linspace(0.0, 1.0, 5)
    return np.sum(np.sin(x * t) * t)


def array_of_reals(x, y):
    """0.5, -2.0"""
    a = np.array([x, y, x * y])
    b = np.array([[x, 1.0], [0.0, y]])
    return np.sum(a * a) + np.sum(b * b * b)


def array_of_arrays(x, y):
    """array([0.5, 2.0]), array([-1.0, 0.25])"""
    a = np.array([x, y, x * y])
    return np.sum(a[2] * a[0]) + np.sum(a)


def scalar_and_array_meet(s, x):
    """0.5, array([1.0, 2.0, -1.0])"""
    return np.sum(s * x) * s + np.sum(x / s) + np.sum((x + s) ** 2)


def from_shape(x):
    """array([[0.5, -2.0, 1.0], [3.0, 1.0, 0.0]])"""
    rows, columns = x.shape
    return np.sum(x) / rows + np.sum(x * x) / (columns * x.size) * x.ndim


def without_axes(x):
    """array(0.5)"""
    return np.sum(x * x) + x * 2.0


def empty_array(x, y):
    """array([]), 0.5"""
    return np.sum(x * y) + y * y + np.sum(x)


def variance(x):
    """array([0.5, -2.0, 3.0])
    array([[0.5, -2.0], [3.0, 1.0]])"""
    return np.var(x) + np.std(x)


def single_precision(x):
    """array([0.5, -2.0, 3.0], dtype=np.float32)"""
    return np.sum(x.astype(np.float64) * 2.0 + 1.0)


def rows_of_loops(x):
    """array([[0.5, -2.0], [3.0, 1.0]])"""
    total = 0.0
    for row in x:
        total = total + np.sum(row * row) * total + row[0]
    return total


def by_index(x):
    """array([0.5, -2.0, 3.0])"""
    total = 0.0
    for i in range(len(x)):
        total = total + x[i] * x[i - 1]
    return total


def comparison_counts(x):
    """array([0.5, -2.0, 3.0])"""
    positive = np.sum(x > 0)
    return positive * np.sum(x * x)


def branch_on_array(x):
    """array([0.5, 2.0])
    array([0.5, -2.0])"""
    if np.all(x > 0):
        return np.sum(np.log(x))
    if np.any(x < -1):
        return np.sum(x * x)
    return 0.0
