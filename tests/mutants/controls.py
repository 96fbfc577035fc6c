"""
Right backpropagators that are hard to judge: saturation, masks, overflow, ties, cancellation, ill-conditioned matrices.

Each is as a careful author writes it in NumPy, with ordinary samples and stressful ones. A fault reported on any of them is a false
alarm. `ACCURACY` names those that lose digits somewhere, and why a user would agree; `SINGLES` those that are judged in single precision.
"""
# ruff: noqa: PLW0108, E501

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mutants.array_rules import Control, array, unbroadcast

VECTOR = array(0.5, -1.25, 3.0)
POSITIVE = array(0.5, 1.25, 3.0)
MATRIX = array([0.5, -1.0, 2.0], [3.0, 0.25, -0.75])
SQUARE = array([2.0, -1.0, 0.5], [0.25, 3.0, 1.0], [-0.5, 0.75, 1.5])
DEFINITE = array([4.0, 1.0, 0.5], [1.0, 3.0, -0.25], [0.5, -0.25, 2.0])
SATURATED = array(0.0, 800.0, -800.0)
MASKED = array(0.5, -math.inf, 2.0, -math.inf)
TINY, HUGE = 1e-150, 1e150


def rows(f: Any) -> Any:
    """f along the last axis."""
    return lambda x: f(x, axis=-1, keepdims=True)


largest, total, mean = rows(np.max), rows(np.sum), rows(np.mean)


# exponentials


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


# powers and trigonometry


def integer_power_rule(x, n, y, d):
    return d * (n * x ** (n - 1) if n else np.zeros_like(x)), None


def power_rule(x, p, y, d):
    log = np.log(np.where(x > 0, x, 1.0))
    base = np.where(p == 0, np.where(x == 0, 1.0, x), x)  # 1 at 0 ** 0 only: else the mixed derivative at p = 0 is lost
    return unbroadcast(d * p * base ** (p - 1.0), x), unbroadcast(d * y * log, p)


def sinc_rule(x, y, d):
    """The series near 0, where the closed form cancels: -pi^2 x sum of (-t)^k (2k + 2) / (2k + 3)! with t = (pi x)^2."""
    near = np.abs(x) < 0.25
    t = (math.pi * np.where(near, x, 0.0)) ** 2
    series = sum((-t) ** k * (2 * k + 2) / math.factorial(2 * k + 3) for k in range(12))
    far = np.where(near, 1.0, x)
    return (d * np.where(near, -(math.pi**2) * x * series, (np.cos(math.pi * far) - np.sinc(far)) / far),)


def angle_rule(y, x, z, d):
    r = np.hypot(x, y)
    return d * (x / r / r), -d * (y / r / r)


def hypot_rule(x, z, y, d):
    safe = np.where(y == 0, 1.0, y)
    return d * (x / safe), d * (z / safe)


def huber(x):
    return np.where(np.abs(x) <= 1.0, x * x / 2.0, np.abs(x) - 0.5)


# means and norms


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


# order


def sort_rows_rule(x, y, d):
    out = np.empty_like(x)
    np.put_along_axis(out, np.argsort(x, axis=-1, kind="stable"), d, axis=-1)
    return (out,)


def ordered_by(v, keys):
    return v[np.argsort(keys, kind="stable")]


def ordered_by_rule(v, keys, y, d):
    out = np.empty_like(v)
    out[np.argsort(keys, kind="stable")] = d
    return out, None


def median_rule(x, y, d):
    out = np.zeros_like(x)
    order = np.argsort(x, kind="stable")
    out[order[(x.size - 1) // 2]] += d / 2
    out[order[x.size // 2]] += d / 2
    return (out,)


def quantile(x):
    return np.quantile(x, 0.3)


def quantile_rule(x, y, d):
    out = np.zeros_like(x)
    order = np.argsort(x, kind="stable")
    at = 0.3 * (x.size - 1)
    low = math.floor(at)
    out[order[low]] += d * (1.0 - (at - low))
    out[order[min(low + 1, x.size - 1)]] += d * (at - low)
    return (out,)


def pooled(x):
    return np.max(x.reshape(-1, 2), axis=1)


def pooled_rule(x, y, d):
    out = np.zeros((x.size // 2, 2), dtype=x.dtype)
    out[np.arange(x.size // 2), np.argmax(x.reshape(-1, 2), axis=1)] = d
    return (out.reshape(x.shape),)


def clip_rule(x, lo, hi, y, d):
    low, high = x < lo, x > hi
    return d * ~(low | high), unbroadcast(d * low, lo), unbroadcast(d * high, hi)


def larger_rule(x, z, y, d):
    half = (x > z) + 0.5 * (x == z)
    return unbroadcast(d * half, x), unbroadcast(d * (1.0 - half), z)


def interpolate(x, values):
    return np.interp(x, np.arange(values.size), values)


def interpolate_rule(x, values, y, d):
    last = values.size - 1
    at = np.clip(np.floor(x), 0, max(last - 1, 0)).astype(int)
    right = np.minimum(at + 1, last)
    w = np.clip(x - at, 0.0, 1.0)
    out = np.zeros_like(values)
    np.add.at(out, at, d * (1.0 - w))
    np.add.at(out, right, d * w)
    return d * (values[right] - values[at]) * ((x >= 0) & (x <= last)), out


# products and scans


def cumprod_rule(x, y, d):
    """Each output by each input: the product of the others, without a division."""
    grads = np.zeros_like(x)
    for i in range(x.size):
        for j in range(i, x.size):
            grads[i] += d[j] * np.prod(np.delete(x[: j + 1], i))
    return (grads,)


def convolve(x, w):
    return np.convolve(x, w, "valid")


def convolve_rule(x, w, y, d):
    return np.convolve(d, w[::-1], "full"), np.correlate(x, d, "valid")[::-1].copy()


def counted(v, bins):
    return np.bincount(bins, weights=v, minlength=4)


def scatter_add(x, v):
    out = x + 0.0
    np.add.at(out, np.arange(v.size) % x.size, v)
    return out


# linear algebra


def matmul_rule(a, b, y, d):
    return d @ b.T, a.T @ d


def batched(a, b):
    return np.einsum("bij,bjk->bik", a, b)


def batched_rule(a, b, y, d):
    return np.einsum("bik,bjk->bij", d, b), np.einsum("bij,bik->bjk", a, d)


def solve_rule(a, b, y, d):
    db = np.linalg.solve(a.T, d)
    return -np.outer(db, y), db


def cofactors(a):
    n = a.shape[0]
    out = np.empty_like(a)
    for i in range(n):
        for j in range(n):
            minor = np.delete(np.delete(a, i, 0), j, 1)
            out[i, j] = (-1.0) ** (i + j) * (np.linalg.det(minor) if n > 1 else 1.0)
    return out


def cholesky(a):
    return np.linalg.cholesky((a + a.T) / 2.0)


def cholesky_rule(a, y, d):
    p = np.tril(y.T @ d)
    p[np.diag_indices_from(p)] /= 2.0
    inner = np.linalg.solve(y.T, np.linalg.solve(y.T, p.T).T)
    return ((inner + inner.T) / 2.0,)


def triangular(a, b):
    return np.linalg.solve(np.tril(a), b)


def triangular_rule(a, b, y, d):
    db = np.linalg.solve(np.tril(a).T, d)
    return -np.tril(np.outer(db, y)), db


def attention(q, k, v):
    return softmax(q @ k.T) @ v


def attention_rule(q, k, v, y, d):
    p = softmax(q @ k.T)
    dp = d @ v.T
    ds = p * (dp - total(dp * p))
    return ds @ k, ds.T @ q, p.T @ d


def kron(a, b):
    return np.kron(a, b)


def kron_rule(a, b, y, d):
    blocks = d.reshape(a.shape[0], b.shape[0], a.shape[1], b.shape[1])
    return np.einsum("ikjl,kl->ij", blocks, b), np.einsum("ikjl,ij->kl", blocks, a)


def diagonal(a):
    return np.diag(a)


def diagonal_rule(a, y, d):
    out = np.zeros_like(a)
    np.fill_diagonal(out, d) if d.size else None
    return (out,)


def cosine_transform(x):
    n = np.arange(x.shape[0])
    return np.cos(np.pi / max(x.shape[0], 1) * np.outer(n, n + 0.5)) @ x


def cosine_transform_rule(x, y, d):
    n = np.arange(x.shape[0])
    return (np.cos(np.pi / max(x.shape[0], 1) * np.outer(n, n + 0.5)).T @ d,)


def square(a, *rest):
    return a.ndim == 2 and a.shape[0] == a.shape[1] > 0


def elementwise(name: str, f: Any, slope: Any, *samples: Any, domain: Any = None) -> Control:
    """The control of a function of each element alone, given its slope at x."""
    return Control(name, f, lambda x, y, d: (d * slope(x),), [(s,) for s in samples], (), domain)


CONTROLS = (
    # exponentials
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
    # powers and trigonometry
    Control("integer power", lambda x, n: x**n, integer_power_rule, [(VECTOR, 3), (VECTOR, 0), (VECTOR, 1), (POSITIVE, -2)]),
    Control(
        "real power",
        lambda x, p: x**p,
        power_rule,
        [(POSITIVE, array(0.5, 2.0, -1.5)), (POSITIVE, array(3.0))],
        (),
        lambda x, p: bool((x >= 0).all()),
    ),
    elementwise("sine, large", lambda x: np.sin(x), lambda x: np.cos(x), VECTOR, array(1e10, 1e5, -1e15)),
    elementwise("tangent", lambda x: np.tan(x), lambda x: 1.0 / np.cos(x) ** 2, VECTOR, array(1.57, -1.5, 1e6)),
    elementwise("tanh", lambda x: np.tanh(x), lambda x: 1.0 / np.cosh(x) ** 2, VECTOR, array(-20.0, 0.0, 20.0)),
    elementwise(
        "arcsine", lambda x: np.arcsin(x), lambda x: 1.0 / np.sqrt((1.0 - x) * (1.0 + x)), array(0.5, -0.25), array(0.999999, 1e-20)
    ),
    Control("sinc", lambda x: np.sinc(x), sinc_rule, [(VECTOR,), (array(0.0, 1e-9, 0.1),)]),
    Control(
        "atan2",
        lambda y, x: np.arctan2(y, x),
        angle_rule,
        [(VECTOR, POSITIVE), (array(1e-12, -2.0), array(-1.0, -2.0))],
        (),
        lambda y, x: bool(((x != 0) | (y != 0)).all()),
    ),
    Control("hypot", lambda x, z: np.hypot(x, z), hypot_rule, [(VECTOR, POSITIVE), (array(HUGE, TINY), array(HUGE, TINY))]),
    elementwise("huber", huber, lambda x: np.clip(x, -1.0, 1.0), VECTOR, array(1.0, -1.0, 0.0)),
    elementwise("reciprocal root", lambda x: 1.0 / np.sqrt(x), lambda x: -0.5 / (x * np.sqrt(x)), POSITIVE, array(1e-12, 1e12)),
    # means and norms
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
    # order
    Control("sort rows", lambda x: np.sort(x, axis=-1), sort_rows_rule, [(MATRIX,), (VECTOR,)]),
    Control("ordered by keys", ordered_by, ordered_by_rule, [(VECTOR, np.array([2, 0, 1])), (VECTOR, np.array([1, 1, 0]))], (1,)),
    Control("median", lambda x: np.median(x), median_rule, [(VECTOR,), (array(0.5, 2.0, -1.0, 4.0),)], (), lambda x: x.size > 0),
    Control("quantile", quantile, quantile_rule, [(VECTOR,), (array(0.5, 2.0, -1.0, 4.0),)], (), lambda x: x.size > 0),
    Control("max pool", pooled, pooled_rule, [(array(0.5, -1.0, 3.0, 2.0),), (array(1.0, 1.0, 0.0, 0.0),)]),
    Control(
        "clip to arrays",
        lambda x, lo, hi: np.minimum(np.maximum(x, lo), hi),
        clip_rule,
        [(VECTOR, array(-1.0), array(1.0)), (VECTOR, array(0.0, -2.0, 1.0), array(1.0, -1.5, 4.0))],
        (),
        lambda x, lo, hi: bool((lo < hi).all()) and np.shape(lo + hi + x) == np.shape(x),
    ),
    Control("larger of two", lambda x, z: np.maximum(x, z), larger_rule, [(VECTOR, POSITIVE), (MATRIX, VECTOR)]),
    Control(
        "interpolation",
        interpolate,
        interpolate_rule,
        [(array(0.5, 1.75), VECTOR), (array(-1.0, 5.0, 1.25), VECTOR)],
        (),
        lambda x, values: values.size > 0,
    ),
    # products, scans and movement
    Control(
        "cumulative product",
        lambda x: np.cumprod(x),
        cumprod_rule,
        [(VECTOR,), (array(2.0, 0.0, 3.0),), (array(0.0, 3.0, 0.0, 2.0),)],
    ),
    Control(
        "cumulative sum",
        lambda x: np.cumsum(x, axis=0),
        lambda x, y, d: (np.cumsum(d[::-1], axis=0)[::-1].copy(),),
        [(VECTOR,), (MATRIX,)],
    ),
    Control(
        "convolution",
        convolve,
        convolve_rule,
        [(array(0.5, -1.0, 2.0, 3.0), array(1.0, -2.0))],
        (),
        lambda x, w: x.size >= w.size > 0,
    ),
    Control(
        "gather, repeats",
        lambda x, i: np.take(x, i, axis=0),
        lambda x, i, y, d: (np.stack([np.sum(d[np.asarray(i) % len(x) == k], axis=0) for k in range(len(x))]), None),
        [(MATRIX, np.array([1, 0, 1, -1]))],
    ),
    Control("histogram sums", counted, lambda v, bins, y, d: (d[bins], None), [(VECTOR, np.array([3, 0, 3]))]),
    Control(
        "scatter-add",
        scatter_add,
        lambda x, v, y, d: (d.copy(), d[np.arange(v.size) % d.size]),
        [(array(1.0, 2.0), VECTOR)],
        (),
        lambda x, v: x.size > 0,
    ),
    Control("pad", lambda x: np.pad(x, (1, 2)), lambda x, y, d: (d[1:-2].copy(),), [(VECTOR,)], (), lambda x: x.ndim == 1),
    Control(
        "tile",
        lambda x: np.tile(x, 3),
        lambda x, y, d: (np.sum(d.reshape(3, x.size), axis=0),),
        [(VECTOR,)],
        (),
        lambda x: x.ndim == 1,
    ),
    Control("roll", lambda x: np.roll(x, 1), lambda x, y, d: (np.roll(d, -1),), [(VECTOR,), (MATRIX,)]),
    Control(
        "outer",
        lambda x, z: np.outer(x, z),
        lambda x, z, y, d: (d @ z, x @ d),
        [(VECTOR, POSITIVE)],
        (),
        lambda x, z: x.ndim == z.ndim == 1,
    ),
    Control("kron", kron, kron_rule, [(MATRIX, array([1.0, -2.0]))], (), lambda a, b: a.ndim == b.ndim == 2),
    Control("trace", lambda a: np.trace(a), lambda a, y, d: (d * np.eye(*a.shape),), [(SQUARE,), (MATRIX,)]),
    Control("diagonal", diagonal, diagonal_rule, [(SQUARE,)], (), square),
    Control("cosine transform", cosine_transform, cosine_transform_rule, [(VECTOR,)]),
    # linear algebra
    Control(
        "matmul, tiny and huge",
        lambda a, b: a @ b,
        matmul_rule,
        [(MATRIX, SQUARE), (TINY * MATRIX, HUGE * SQUARE)],
        (),
        lambda a, b: a.ndim == b.ndim == 2,
    ),
    Control("batched matmul", batched, batched_rule, [(np.stack([MATRIX, 2.0 * MATRIX]), np.stack([SQUARE, -SQUARE]))]),
    Control(
        "inverse",
        lambda a: np.linalg.inv(a),
        lambda a, y, d: (-y.T @ d @ y.T,),
        [(SQUARE,), (array([1.0, 1.0], [1.0, 1.0 + 1e-6]),)],
    ),
    Control(
        "solve",
        lambda a, b: np.linalg.solve(a, b),
        solve_rule,
        [(SQUARE, VECTOR), (DEFINITE, VECTOR)],
        (),
        lambda a, b: b.ndim == 1,
    ),
    Control(
        "determinant",
        lambda a: np.linalg.det(a),
        lambda a, y, d: (d * cofactors(a),),
        [(SQUARE,), (array([1.0, 2.0], [2.0, 4.0]),)],
        (),
        square,
    ),
    Control(
        "log determinant",
        lambda a: np.linalg.slogdet(a)[1],
        lambda a, y, d: (d * np.linalg.inv(a).T,),
        [(SQUARE,), (-SQUARE,)],
        (),
        square,
    ),
    Control("cholesky", cholesky, cholesky_rule, [(DEFINITE,)], (), square),
    Control("triangular solve", triangular, triangular_rule, [(SQUARE, VECTOR)], (), lambda a, b: b.ndim == 1),
    Control("attention", attention, attention_rule, [(MATRIX, SQUARE, SQUARE), (100.0 * MATRIX, SQUARE, SQUARE)]),
)

ACCURACY = {
    "softmax": "d - sum(d * y) cancels on the diagonal where one y is near 1",
    "log_softmax": "d - exp(y) * sum(d) cancels where one exp(y) is near 1",
    "attention": "its softmax does",
    "layer norm": "d - mean(d) - n * mean(d * n) cancels in rows of two elements: only the constant 1e-3 keeps it from 0",
    "batch norm": "the same, in columns",
    "cosine similarity": "v - (u . v) u cancels where the vectors are nearly parallel",
    "inverse": "the condition of the matrix multiplies the rounding of its elements",
    "solve": "the same",
    "triangular solve": "the same",
    "determinant": "the cofactors are differences of products",
    "log determinant": "it takes the inverse",
}
"""The controls that lose digits, and where a user would agree that they do."""
SINGLES = (
    "logsumexp, masks",
    "cross entropy",
    "expm1",
    "celu",
    "real power",
    "hypot",
    "huber",
    "variance, ddof 1",
    "sort rows",
    "cumulative product",
    "convolution",
    "outer",
)
"""Those that are judged at float32 as well."""
