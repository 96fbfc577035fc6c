"""
Loops by index as they are written in other languages, with choices and in one another; each by hand, and for JAX.

A layer of neurons, of which a sum of squares is taken of those that are positive; the sum of the squares of the elements of a
product of two matrices; and Huber's loss of numbers about a centre, which is quadratic up to a width and linear beyond, for both of
which there are gradients.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.arrays_by_hand import ArrayFamily, normal

LAYER = """
def f(w, A):
    s = 0.0
    for i in range(A.shape[0]):
        t = 0.0
        for j in range(A.shape[1]):
            t = t + A[i, j] * w[j]
        if t > 0.0:
            s = s + t * t
    return s
"""


def layer(w, A):  # type: ignore[no-untyped-def]
    dw, dA = np.zeros(w.size), np.zeros(A.shape)
    ts = np.empty(A.shape[0])
    for i in range(A.shape[0]):
        t = 0.0
        for j in range(A.shape[1]):
            t += A[i, j] * w[j]
        ts[i] = t
    for i in range(A.shape[0] - 1, -1, -1):
        if ts[i] > 0.0:
            d = ts[i] + ts[i]
            for j in range(A.shape[1]):
                dw[j] += d * A[i, j]
                dA[i, j] = d * w[j]
    return dw, dA


def layer_jax(jax: Any, w: Any, A: Any) -> Any:
    t = A @ w
    return jax.numpy.sum(jax.numpy.where(t > 0.0, t * t, 0.0))


PRODUCT = """
import numpy as np

def f(A, B):
    n, m = A.shape[0], B.shape[1]
    C = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            t = 0.0
            for k in range(A.shape[1]):
                t = t + A[i, k] * B[k, j]
            C[i, j] = t
    s = 0.0
    for i in range(n):
        for j in range(m):
            s = s + C[i, j] * C[i, j]
    return s
"""


def product(A, B):  # type: ignore[no-untyped-def]
    n, m, both = A.shape[0], B.shape[1], A.shape[1]
    C, dA, dB = np.empty((n, m)), np.zeros(A.shape), np.zeros(B.shape)
    for i in range(n):
        for j in range(m):
            t = 0.0
            for k in range(both):
                t += A[i, k] * B[k, j]
            C[i, j] = t
    for i in range(n - 1, -1, -1):
        for j in range(m - 1, -1, -1):
            d = C[i, j] + C[i, j]
            for k in range(both - 1, -1, -1):
                dB[k, j] += d * A[i, k]
                dA[i, k] += d * B[k, j]
    return dA, dB


def product_jax(jax: Any, A: Any, B: Any) -> Any:
    C = A @ B
    return jax.numpy.sum(C * C)


HUBER = """
def f(h, x):
    s = 0.0
    for v in x:
        d = v - h[0]
        if d > h[1]:
            s = s + h[1] * (d - 0.5 * h[1])
        elif d < -h[1]:
            s = s - h[1] * (d + 0.5 * h[1])
        else:
            s = s + 0.5 * d * d
    return s
"""


def huber(h, x):  # type: ignore[no-untyped-def]
    centre, width = h
    dh, dx = np.zeros(2), np.empty(x.size)
    for i in range(x.size):
        d = x[i] - centre
        if d > width:
            slope = width
            dh[1] += d - width
        elif d < -width:
            slope = -width
            dh[1] -= d + width
        else:
            slope = d
        dx[i] = slope
        dh[0] -= slope
    return dh, dx


def huber_jax(jax: Any, h: Any, x: Any) -> Any:
    d = x - h[0]
    near = 0.5 * d * d
    return jax.numpy.sum(jax.numpy.where(jax.numpy.abs(d) > h[1], h[1] * (jax.numpy.abs(d) - 0.5 * h[1]), near))


def _layer(rows: int, columns: int) -> tuple[Any, ...]:
    return normal(columns), normal(rows, columns)


def _product(n: int) -> tuple[Any, ...]:
    return normal(n, n), normal(n, n)


FAMILIES = {
    "layer by index": ArrayFamily(LAYER, layer, _layer, (0, 1), {"40 of 30": (40, 30), "100 of 100": (100, 100)}, layer_jax),
    "product by index": ArrayFamily(
        PRODUCT,
        product,
        _product,
        (0, 1),
        {"20 by 20": (20,), "60 by 60": (60,)},
        product_jax,
        without={"autograd": "it has no assignment to an element"},
    ),
    "Huber's loss by index": ArrayFamily(
        HUBER, huber, lambda n: (np.array([0.1, 0.5]), normal(n)), (0, 1), {"1000": (1000,)}, huber_jax
    ),
}
