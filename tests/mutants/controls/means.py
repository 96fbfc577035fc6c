"""Right rules that are hard to judge, of means and norms: cancellation, and norms near 0."""

from __future__ import annotations

import numpy as np

from mutants.array_rules import Control, array, unbroadcast
from mutants.controls.samples import MATRIX, POSITIVE, VECTOR, mean


def deviation(x):
    return np.sqrt(np.sum((x - np.mean(x)) ** 2) / (x.size - 1))


def deviation_rule(x, y, d):
    return (d * (x - np.mean(x)) / ((x.size - 1) * (y if y > 0 else 1.0)),)


def variance(x):
    return np.sum((x - np.mean(x)) ** 2) / (x.size - 1)


def norms(x):
    return np.sqrt(np.sum(x * x, axis=-1))


def norms_rule(x, y, d):
    return ((d / np.where(y > 0, y, 1.0))[..., np.newaxis] * x,)


def layer_norm(x, gain, bias):
    c = x - mean(x)
    return gain * (c / np.sqrt(mean(c * c) + 1e-3)) + bias


def layer_norm_rule(x, gain, bias, y, d):
    c = x - mean(x)
    scale = 1.0 / np.sqrt(mean(c * c) + 1e-3)
    n, g = c * scale, d * gain
    return scale * (g - mean(g) - n * mean(g * n)), unbroadcast(d * n, gain), unbroadcast(d, bias)


def batch_norm(x):
    c = x - np.mean(x, axis=0)
    return c / np.sqrt(np.mean(c * c, axis=0) + 1e-3)


def batch_norm_rule(x, y, d):
    c = x - np.mean(x, axis=0)
    scale = 1.0 / np.sqrt(np.mean(c * c, axis=0) + 1e-3)
    return (scale * (d - np.mean(d, axis=0) - y * np.mean(d * y, axis=0)),)


def cosine(x, z):
    return np.dot(x, z) / (np.sqrt(np.dot(x, x)) * np.sqrt(np.dot(z, z)))


def cosine_rule(x, z, y, d):
    a, b = np.sqrt(np.dot(x, x)), np.sqrt(np.dot(z, z))
    u, v = x / a, z / b
    return d * ((v - np.dot(u, v) * u) / a), d * ((u - np.dot(u, v) * v) / b)


MEANS = (
    Control(
        "variance, ddof 1",
        variance,
        lambda x, y, d: (2.0 * d * (x - np.mean(x)) / (x.size - 1),),
        [(VECTOR,), (1e6 + VECTOR,)],
        (),
        lambda x: x.size > 1,
    ),
    Control("standard deviation", deviation, deviation_rule, [(VECTOR,), (array(1.0, 1.0 + 1e-3),)], (), lambda x: x.size > 1),
    Control("norms of rows", norms, norms_rule, [(MATRIX,), (array([3.0, 4.0], [1e-9, 1e-9]),)]),
    Control("layer norm", layer_norm, layer_norm_rule, [(MATRIX, POSITIVE, VECTOR), (100.0 + MATRIX, POSITIVE, VECTOR)]),
    Control("batch norm", batch_norm, batch_norm_rule, [(MATRIX,), (100.0 + MATRIX,)]),
    Control("cosine similarity", cosine, cosine_rule, [(VECTOR, POSITIVE)], (), lambda x, z: bool(x.any() and z.any())),
    Control(
        "squared error",
        lambda x, z: np.mean((x - z) ** 2),
        lambda x, z, y, d: (2.0 * d * (x - z) / x.size, 2.0 * d * (z - x) / x.size),
        [(VECTOR, POSITIVE)],
    ),
)
