"""
Programs over arrays with their gradients written by hand for Numba: loops over elements, and `np.dot` for products of matrices.

    text        the program, as Python that adjudge reads, with an entry `f`; the other libraries run it with their own functions
    hand        its gradient by the arguments `wrt`, for Numba
    given       the arguments, from the sizes
    jax         the value, for `jax.grad`, where the text has a loop that JAX would unroll
    derivative  the function of the text that is the derivative, where it is not the gradient of f: it asks for `grad` itself, or
                for `jacobian`, of f
    sample      the text for one sample, by the side of the text for arrays of them: ours is `aj.vmap` of that
    without     the libraries that cannot run the text, and why
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class ArrayFamily:
    """One program, the sizes to measure it at, and what they stand for."""

    text: str
    hand: Callable[..., Any]
    given: Callable[..., tuple[Any, ...]]
    wrt: int | tuple[int, ...]
    sizes: dict[str, tuple[int, ...]]
    jax: Callable[..., Any] | None = None
    derivative: str = ""
    sample: str = ""
    without: dict[str, str] = field(default_factory=dict)

    @property
    def is_jacobian(self) -> bool:
        """Whether the derivative is the Jacobian of f."""
        return "import jacobian" in self.text


def normal(*shape: int) -> Any:
    """Random numbers, the same at every run."""
    return np.random.default_rng(sum(shape)).normal(size=shape)


LOGSUMEXP = """
import numpy as np
def f(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))
"""


def logsumexp(x):  # type: ignore[no-untyped-def]
    m = x[0]
    for i in range(x.size):
        m = max(m, x[i])
    d = np.empty(x.size)
    s = 0.0
    for i in range(x.size):
        d[i] = math.exp(x[i] - m)
        s += d[i]
    for i in range(x.size):
        d[i] = d[i] / s
    return d


LOGISTIC = """
import numpy as np
def f(w, b, x, y):
    z = x @ w + b
    return np.sum(np.log1p(np.exp(-y * z)))
"""


def logistic(w, b, x, y):  # type: ignore[no-untyped-def]
    z = np.dot(x, w)
    dw, db = np.zeros(w.size), 0.0
    for i in range(y.size):
        e = math.exp(-y[i] * (z[i] + b))
        d = -y[i] * e / (1.0 + e)
        db += d
        for j in range(w.size):
            dw[j] += d * x[i, j]
    return dw, db


MLP = """
import numpy as np
def f(w1, b1, w2, b2, x, y):
    h = np.tanh(x @ w1 + b1)
    z = h @ w2 + b2
    m = np.max(z, axis=1, keepdims=True)
    l = m + np.log(np.sum(np.exp(z - m), axis=1, keepdims=True))
    return np.sum((l - z) * y)
"""


def mlp(w1, b1, w2, b2, x, y):  # type: ignore[no-untyped-def]
    """With 1 - tanh² as the derivative, and e^z / Σ e^z of a row in place."""
    h = np.dot(x, w1)
    for i in range(h.shape[0]):
        for j in range(h.shape[1]):
            h[i, j] = math.tanh(h[i, j] + b1[j])
    z = np.dot(h, w2)
    db2 = np.zeros(b2.size)
    for i in range(z.shape[0]):
        m = z[i, 0] + b2[0]
        for j in range(z.shape[1]):
            z[i, j] += b2[j]
            m = max(m, z[i, j])
        s, weight = 0.0, 0.0
        for j in range(z.shape[1]):
            z[i, j] = math.exp(z[i, j] - m)
            s += z[i, j]
            weight += y[i, j]
        for j in range(z.shape[1]):
            z[i, j] = weight * z[i, j] / s - y[i, j]
            db2[j] += z[i, j]
    dw2 = np.dot(h.T, z)
    dh = np.dot(z, w2.T)
    db1 = np.zeros(b1.size)
    for i in range(h.shape[0]):
        for j in range(h.shape[1]):
            dh[i, j] *= 1.0 - h[i, j] * h[i, j]
            db1[j] += dh[i, j]
    return np.dot(x.T, dh), db1, dw2, db2


GMM = """
import numpy as np
def f(alphas, means, q, below, x, lower, gamma, m):
    centered = np.expand_dims(x, 1) - means
    y = np.exp(q) * centered + np.sum((below * lower) * np.expand_dims(centered, 2), axis=3)
    logs = alphas + np.sum(q, axis=1) - 0.5 * np.sum(y * y, axis=2)
    top = np.max(logs, axis=1, keepdims=True)
    inside = top + np.log(np.sum(np.exp(logs - top), axis=1, keepdims=True))
    most = np.max(alphas)
    outside = most + np.log(np.sum(np.exp(alphas - most)))
    d, n = means.shape[1], x.shape[0]
    prior = 0.5 * gamma * gamma * (np.sum(np.exp(q) ** 2) + np.sum((below * lower) ** 2)) - m * np.sum(q)
    return np.sum(inside) - n * outside + prior
"""


def gmm(alphas, means, q, below, x, lower, gamma, m):  # type: ignore[no-untyped-def]
    """One sample at a time, its y kept for the way back; nothing of size n is."""
    n, d = x.shape
    k = alphas.size
    scale = np.exp(q)
    y, c, logs = np.empty((k, d)), np.empty((k, d)), np.empty(k)
    dalphas, dmeans, dq, dl = np.zeros(k), np.zeros((k, d)), np.zeros((k, d)), np.zeros((k, d, d))
    sums = np.zeros(k)
    for a in range(k):
        for i in range(d):
            sums[a] += q[a, i]
    for s in range(n):
        top = -math.inf
        for a in range(k):
            square = 0.0
            for i in range(d):
                c[a, i] = x[s, i] - means[a, i]
            for i in range(d):
                t = scale[a, i] * c[a, i]
                for j in range(i):
                    t += below[a, i, j] * c[a, j]
                y[a, i] = t
                square += t * t
            logs[a] = alphas[a] + sums[a] - 0.5 * square
            top = max(top, logs[a])
        total = 0.0
        for a in range(k):
            logs[a] = math.exp(logs[a] - top)
            total += logs[a]
        for a in range(k):
            w = logs[a] / total
            dalphas[a] += w
            for i in range(d):
                dy = -w * y[a, i]
                dq[a, i] += w + dy * scale[a, i] * c[a, i]
                dmeans[a, i] -= dy * scale[a, i]
                for j in range(i):
                    dl[a, i, j] += dy * c[a, j]
                    dmeans[a, j] -= dy * below[a, i, j]
    top = np.max(alphas)
    total = 0.0
    for a in range(k):
        total += math.exp(alphas[a] - top)
    for a in range(k):
        dalphas[a] -= n * math.exp(alphas[a] - top) / total
        for i in range(d):
            dq[a, i] += gamma * gamma * scale[a, i] * scale[a, i] - m
            for j in range(i):
                dl[a, i, j] += gamma * gamma * below[a, i, j]
    return dalphas, dmeans, dq, dl


def _mlp(batch: int) -> tuple[Any, ...]:
    labels = np.eye(10)[np.arange(batch) % 10]
    return (0.1 * normal(784, 32), normal(32), 0.1 * normal(32, 10), normal(10), normal(batch, 784), labels)


def _gmm(d: int, k: int, n: int) -> tuple[Any, ...]:
    return (
        normal(k),
        normal(k, d),
        0.3 * normal(k, d),
        0.3 * normal(k, d, d),
        normal(n, d),
        np.tril(np.ones((d, d)), -1),
        1.0,
        0.5,
    )


def _logistic(n: int, d: int) -> tuple[Any, ...]:
    return (normal(d), 0.1, normal(n, d), np.where(normal(n) > 0.0, 1.0, -1.0))


ARRAY_FAMILIES = {
    "logsumexp of an array": ArrayFamily(LOGSUMEXP, logsumexp, lambda n: (normal(n),), 0, {"16": (16,), "1000": (1000,)}),
    "logistic regression on arrays": ArrayFamily(LOGISTIC, logistic, _logistic, (0, 1), {"1000 x 20": (1000, 20)}),
    "MLP 784-32-10": ArrayFamily(MLP, mlp, _mlp, (0, 1, 2, 3), {"batch 1": (1,), "batch 64": (64,)}),
    "GMM": ArrayFamily(GMM, gmm, _gmm, (0, 1, 2, 3), {"d 10, K 25, n 1000": (10, 25, 1000)}),
}
