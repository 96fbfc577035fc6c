"""Arrays: reductions, scans, softmax and its kin."""

import numpy as np


def mean_and_sum_by_axes(x):
    """array([[[0.5, -2.0], [3.0, 1.0]], [[1.5, 0.25], [-1.0, 2.0]]])"""
    return np.sum(np.mean(x, axis=(0, 2)) ** 2) + np.sum(np.sum(x, axis=-1) ** 2) + np.mean(x * x)


def product(x):
    """array([0.5, -2.0, 3.0])
    array([0.5, 0.0, 3.0])
    array([0.0, 0.0, 3.0])"""
    return np.prod(x)


def product_by_rows(x):
    """array([[0.5, -2.0], [3.0, 1.0]])"""
    return np.sum(np.prod(x, axis=1) * np.prod(x, axis=0, keepdims=True))


def maximum_and_minimum(x):
    """array([[0.5, -2.0], [3.0, 1.0]])"""
    return np.max(x) * np.min(x) + np.sum(np.max(x, axis=0) * np.min(x, axis=1))


def argmax_selects(x):
    """array([0.5, -2.0, 3.0])"""
    return x[np.argmax(x)] ** 2 * x[np.argmin(x)]


def cumulative(x):
    """array([0.5, -2.0, 3.0])"""
    return np.sum(np.cumsum(x) ** 2) + np.sum(np.cumprod(x) * np.arange(3))


def cumulative_by_axis(x):
    """array([[0.5, -2.0], [3.0, 0.0]])"""
    return np.sum(np.cumsum(x, axis=1) * x) + np.sum(np.cumprod(x, axis=0) ** 2)


def norm_of_vector(x):
    """array([0.5, -2.0, 3.0])"""
    return np.linalg.norm(x) + np.sum(x / np.linalg.norm(x))


def norm_by_axis(x):
    """array([[0.5, -2.0], [3.0, 1.0]])"""
    return np.sum(x / np.linalg.norm(x, axis=1, keepdims=True)) + np.linalg.norm(x)


def softmax(x):
    """array([0.5, -2.0, 3.0])"""
    e = np.exp(x - np.max(x))
    p = e / np.sum(e)
    return np.sum(p * np.array([1.0, 2.0, 3.0]))


def log_sum_exp(x):
    """array([0.5, -2.0, 3.0])
    array([[0.5, -2.0], [3.0, 1.0]])"""
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


def cross_entropy(x):
    """array([[0.5, -2.0, 1.0], [3.0, 1.0, 0.25]])"""
    z = x - np.max(x, axis=1, keepdims=True)
    logp = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.mean(logp[np.arange(2), np.array([2, 0])])


def layer_norm(x):
    """array([[0.5, -2.0, 1.0], [3.0, 1.0, 0.25]])"""
    centred = x - np.mean(x, axis=-1, keepdims=True)
    scaled = centred / np.sqrt(np.var(x, axis=-1, keepdims=True) + 0.125)
    return np.sum(scaled * scaled * scaled * np.array([1.0, 2.0, 3.0]))


def methods(x):
    """array([[0.5, -2.0], [3.0, 1.0]])"""
    return x.sum(axis=0).max() * x.mean() + x.prod() + x.T.reshape(4)[2] + x.ravel().min()


def masked_mean(x):
    """array([0.5, -2.0, 3.0])"""
    keep = x > 0
    return np.sum(np.where(keep, x, 0.0)) / np.sum(keep)


def integers_sum(x, n):
    """array([0.5, -2.0]), array([1, 2])"""
    return np.sum(x * n) * np.sum(n) + np.sum(x**n)
