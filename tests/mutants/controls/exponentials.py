"""Right rules that are hard to judge, of exponentials and logarithms: saturation, masks, overflow."""
# ruff: noqa: PLW0108

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mutants.array_rules import Control, array
from mutants.controls.samples import MASKED, MATRIX, POSITIVE, SATURATED, VECTOR, elementwise, largest, total


def softmax(x):
    e = np.exp(x - largest(x))
    return e / total(e)


def log_softmax(x):
    z = x - largest(x)
    return z - np.log(total(np.exp(z)))


def logsumexp(x):
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top)))


def masked_logsumexp(x, keep):
    return logsumexp(np.where(keep, x, -np.inf))


def logcumsumexp(x):
    return np.logaddexp.accumulate(x)


def logcumsumexp_rule(x, y, d):
    later = np.arange(x.size)[:, np.newaxis] <= np.arange(x.size)
    return (np.where(later, np.exp(np.where(later, x[:, np.newaxis] - y, 0.0)), 0.0) @ d,)


def cross_entropy(x, label):
    return logsumexp(x) - x[label]


def cross_entropy_rule(x, label, y, d):
    slope = np.exp(x - logsumexp(x))
    slope[label] = -(np.sum(np.delete(slope, label)))
    return d * slope, None


def gelu(x):
    return x * erfc(-x / math.sqrt(2.0)) / 2.0


def gelu_rule(x, y, d):
    return (d * (erfc(-x / math.sqrt(2.0)) / 2.0 + x * np.exp(-x * x / 2.0) / math.sqrt(2.0 * math.pi)),)


def each(f: Any) -> Any:
    """A function of one float, on arrays."""
    return lambda x: np.array([f(float(t)) for t in np.ravel(x)], dtype=np.asarray(x).dtype).reshape(np.shape(x))


erf, erfc = each(math.erf), each(math.erfc)


def logistic(x):
    """To the last digits on both sides of 0, and differentiable there."""
    return np.exp(-np.logaddexp(0.0, -x))


def silu_rule(x, y, d):
    return (d * logistic(x) * (1.0 + x * logistic(-x)),)


def log_sigmoid(x):
    return -np.logaddexp(0.0, -x)


def entropy(p):
    return -np.sum(np.where(p > 0, p * np.log(np.where(p > 0, p, 1.0)), 0.0))


EXPONENTIALS = (
    Control("softmax", softmax, lambda x, y, d: (y * (d - total(d * y)),), [(VECTOR,), (SATURATED,), (MATRIX,)]),
    Control("log_softmax", log_softmax, lambda x, y, d: (d - np.exp(y) * total(d),), [(VECTOR,), (SATURATED,), (MATRIX,)]),
    Control("logsumexp, masks", logsumexp, lambda x, y, d: (d * np.exp(x - y),), [(VECTOR,), (MASKED,), (SATURATED,)]),
    Control(
        "logsumexp, a mask given",
        masked_logsumexp,
        lambda x, keep, y, d: (np.where(keep, d * np.exp(np.where(keep, x - y, 0.0)), 0.0), None),
        [(VECTOR, np.array([True, False, True])), (SATURATED, np.array([True, False, True]))],
    ),
    Control("logcumsumexp", logcumsumexp, logcumsumexp_rule, [(VECTOR,), (SATURATED,)]),
    Control(
        "logaddexp, infinities",
        lambda x, z: np.logaddexp(x, z),
        lambda x, z, y, d: (d * np.exp(x - y), d * np.exp(z - y)),
        [(VECTOR, POSITIVE), (array(0.5, -math.inf), array(-math.inf, 1.0))],
    ),
    Control("cross entropy", cross_entropy, cross_entropy_rule, [(VECTOR, 1), (SATURATED, 1)]),
    elementwise("erf", erf, lambda x: 2.0 / math.sqrt(math.pi) * np.exp(-x * x), VECTOR, array(0.0, 6.0, -30.0)),
    Control("gelu", gelu, gelu_rule, [(VECTOR,), (array(-6.0, 0.0, 40.0),)]),
    Control("silu", lambda x: x * logistic(x), silu_rule, [(VECTOR,), (array(-40.0, 0.0, 800.0),)]),
    elementwise("softplus", lambda x: np.logaddexp(0.0, x), logistic, VECTOR, SATURATED),
    elementwise("log sigmoid", log_sigmoid, lambda x: logistic(-x), VECTOR, SATURATED),
    elementwise("expm1", lambda x: np.expm1(x), lambda x: np.exp(x), VECTOR, array(-30.0, 1e-20, 0.0)),
    elementwise("log1p", lambda x: np.log1p(x), lambda x: 1.0 / (1.0 + x), POSITIVE, array(1e-20, 0.0, -0.999)),
    elementwise(
        "celu", lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0.0))), lambda x: np.exp(np.minimum(x, 0.0)), VECTOR, SATURATED
    ),
    Control(
        "entropy",
        entropy,
        lambda p, y, d: (-d * (np.log(p) + 1.0),),
        [(POSITIVE,), (array(0.25, 0.75),)],
        (),
        lambda p: bool((p > 0).all()),
    ),
)
