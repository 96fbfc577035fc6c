"""The right twins of wrong rules of arrays that are not among the other controls; `RIGHT` has all right rules by name."""
# ruff: noqa: PLW0108

from __future__ import annotations

import math

import numpy as np

from mutants import array_rules, controls
from mutants.array_rules import Control, array, unbroadcast
from mutants.controls import linear, means, order, powers
from mutants.controls.exponentials import softmax
from mutants.controls.samples import DEFINITE, MATRIX, POSITIVE, SQUARE, VECTOR, square, total

LONG = array(0.5, -1.0, 2.0, 3.0, -0.25, 1.5, 4.0)
SHORT = array(1.0, -2.0)


def written(x, i, v):
    """x with the elements i replaced by v; of repeated indices the last one counts."""
    out = x + 0.0
    for k, at in enumerate(i):
        out[at] = v[k]
    return out


def written_rule(x, i, v, y, d):
    dx, dv, last = d.copy(), np.zeros_like(v), {int(at) % x.size: k for k, at in enumerate(i)}
    for at, k in last.items():
        dv[k] = d[at]
        dx[at] = 0.0
    return dx, None, dv


def front(x, v):
    """x with its first two elements set to v, which broadcasts."""
    out = x + 0.0
    out[:2] = v
    return out


def front_rule(x, v, y, d):
    dx = d.copy()
    dx[:2] = 0.0
    return dx, unbroadcast(d[:2], v)


def strided(x, w):
    """Every other place of a convolution: y[i] = sum over j of x[2 i + j] w[j]."""
    return np.stack([np.dot(x[2 * i : 2 * i + w.size], w) for i in range((x.size - w.size) // 2 + 1)])


def strided_rule(x, w, y, d):
    dx, dw = np.zeros_like(x), np.zeros_like(w)
    for i in range(d.size):
        dx[2 * i : 2 * i + w.size] += d[i] * w
        dw += d[i] * x[2 * i : 2 * i + w.size]
    return dx, dw


def dilated(x):
    """Sums over a window of two elements that are two apart."""
    return x[:-2] + x[2:]


def dilated_rule(x, y, d):
    out = np.zeros_like(x)
    out[:-2] += d
    out[2:] += d
    return (out,)


def pairwise(p):
    """The distances between the rows of p, each pair once."""
    i, j = np.triu_indices(len(p), 1)
    return np.sqrt(np.sum((p[i] - p[j]) ** 2, axis=-1))


def pairwise_rule(p, y, d, guard=lambda y: np.where(y == 0, 1.0, y)):
    i, j = np.triu_indices(len(p), 1)
    slope = (d / guard(y))[:, np.newaxis] * (p[i] - p[j])
    out = np.zeros_like(p)
    np.add.at(out, i, slope)
    np.add.at(out, j, -slope)
    return (out,)


def arcsecant(x):
    return np.arccos(1.0 / x)


def arccosecant(x):
    return np.arcsin(1.0 / x)


def weighted_logsumexp(x, keep):
    top = np.max(np.where(keep, x, -np.inf))
    return top + np.log(np.sum(np.where(keep, np.exp(np.where(keep, x, top) - top), 0.0)))


def sinc(x):
    """1 at 0 itself: np.sinc divides by 1e-20 there, which sixty digits can tell from 0."""
    safe = np.where(x == 0, 1.0, x)
    return np.where(x == 0, 1.0, np.sin(math.pi * safe) / (math.pi * safe))


def celu(x):
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def padded(x, w):
    """A convolution with as many outputs as inputs, of a window of three, padded with zeros."""
    return np.convolve(np.pad(x, 1), w, "valid")


def padded_rule(x, w, y, d):
    return np.convolve(d, w[::-1], "full")[1:-1].copy(), np.correlate(np.pad(x, 1), d, "valid")[::-1].copy()


def causal(q, k, v):
    """Attention of each row to itself and the rows before."""
    later = np.arange(len(k)) > np.arange(len(q))[:, np.newaxis]
    return softmax(np.where(later, -np.inf, q @ k.T / 2.0)) @ v


def causal_rule(q, k, v, y, d):
    later = np.arange(len(k)) > np.arange(len(q))[:, np.newaxis]
    p = softmax(np.where(later, -np.inf, q @ k.T / 2.0))
    dp = d @ v.T
    ds = p * (dp - total(dp * p)) / 2.0
    return ds @ k, ds.T @ q, p.T @ d


def shared(a, b):
    """A batch of matrices, each times one matrix."""
    return np.einsum("bij,jk->bik", a, b)


def shared_rule(a, b, y, d):
    return np.einsum("bik,jk->bij", d, b), np.einsum("bij,bik->jk", a, d)


def whole(x):
    return x // 2.0


def by_index(x, i):
    return x[i]


TWINS = (
    Control("asec", arcsecant, lambda x, y, d: (d / (np.abs(x) * np.sqrt((x - 1.0) * (x + 1.0))),), [(array(1.5, 2.0, 4.0),)]),
    Control("acsc", arccosecant, lambda x, y, d: (-d / (np.abs(x) * np.sqrt((x - 1.0) * (x + 1.0))),), [(array(1.5, 2.0, 4.0),)]),
    Control("write", written, written_rule, [(VECTOR, np.array([2, 0]), SHORT)]),
    Control("write the front", front, front_rule, [(VECTOR, SHORT)], (), lambda x, v: x.ndim == 1),
    Control("strided convolution", strided, strided_rule, [(LONG, array(1.0, -2.0, 0.5))], (), lambda x, w: x.size >= w.size > 0),
    Control("dilated window", dilated, dilated_rule, [(LONG,)]),
    Control("pairwise distances", pairwise, pairwise_rule, [(MATRIX,)]),
    Control("root, then square", lambda x: np.sqrt(x) ** 2, lambda x, y, d: (d + 0.0,), [(POSITIVE,)]),
    Control(
        "logsumexp where",
        weighted_logsumexp,
        lambda x, keep, y, d: (d * np.where(keep, np.exp(np.where(keep, x - y, 0.0)), 0.0), None),
        [(VECTOR, np.array([True, False, True]))],
    ),
    Control("celu at float32", celu, lambda x, y, d: (d * np.exp(np.minimum(x, 0)),), [(VECTOR.astype(np.float32),)]),
    Control("padded convolution", padded, padded_rule, [(LONG, array(1.0, -2.0, 0.5))], (), lambda x, w: x.size > w.size == 3),
    Control("causal attention", causal, causal_rule, [(SQUARE, DEFINITE, SQUARE)]),
    Control("one matrix for a batch", shared, shared_rule, [(np.stack([MATRIX, 2.0 * MATRIX]), SQUARE)]),
    Control("floor of a half", whole, lambda x, y, d: (np.zeros_like(x),), [(VECTOR,)]),
    Control("pick", by_index, array_rules.take_rule, [(VECTOR, np.array([2, 0, 1]))]),
    Control("float exponent", lambda x, p: x**p, powers.power_rule, [(POSITIVE, array(0.5, 2.0, 1.5))]),
    Control("exponent", lambda x, n: x**n, powers.integer_power_rule, [(VECTOR, 3), (VECTOR, 2)]),
    Control("sinc, ordinary", sinc, powers.sinc_rule, [(VECTOR,)]),
    Control("running product", lambda x: np.cumprod(x), array_rules.cumprod_rule, [(VECTOR,)]),
    Control("whole product", lambda x: np.prod(x), array_rules.prod_rule, [(VECTOR,)]),
    Control(
        "ordinary determinant",
        lambda a: np.linalg.det(a),
        lambda a, y, d: (d * linear.cofactors(a),),
        [(SQUARE,)],
        (),
        square,
    ),
    Control("huber, ordinary", powers.huber, lambda x, y, d: (d * np.clip(x, -1.0, 1.0),), [(VECTOR,)]),
    Control("deviation, ordinary", means.deviation, means.deviation_rule, [(VECTOR,)], (), lambda x: x.size > 1),
    Control("norms, ordinary", means.norms, means.norms_rule, [(MATRIX,)]),
    Control("pool, ordinary", order.pooled, order.pooled_rule, [(LONG[:4],)]),
    Control("median, ordinary", lambda x: np.median(x), order.median_rule, [(VECTOR,), (LONG,)], (), lambda x: x.size > 0),
    Control(
        "clip, ordinary",
        lambda x, lo, hi: np.minimum(np.maximum(x, lo), hi),
        order.clip_rule,
        [(VECTOR, array(-1.0, -1.5, 0.0), array(1.0, 2.0, 1.5))],
        (),
        lambda x, lo, hi: bool(np.shape(lo) == np.shape(hi) == np.shape(x) and (lo < hi).all()),
    ),
    Control(
        "interpolation, ordinary",
        order.interpolate,
        order.interpolate_rule,
        [(array(0.5, 1.75), VECTOR)],
        (),
        lambda x, values: values.size > 1,
    ),
)
RIGHT = {c.name: c for c in (*array_rules.CONTROLS.values(), *controls.CONTROLS, *TWINS)}

ENTRIES, EDGES = ("jacobian", "shapes"), ("jacobian", "edges", "kinks", "shapes")
"""The checks that may catch a wrong entry: at ordinary inputs, and at special ones as well."""
