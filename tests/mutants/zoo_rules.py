"""
Wrong backpropagators of arrays that public systems shipped (`ZOO.md`, first section and its cotangent line), and others like them.

A `Bug` stands by its right twin, with samples as an honest author gives: the input at which the bug shows is not among them, unless
it shows everywhere. `ZOO` has the shipped ones by reference; `OTHERS` those that are in no list.
"""
# ruff: noqa: PLW0108

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mutants import array_rules, controls
from mutants.array_rules import Bug, Control, array, sigmoid, unbroadcast
from mutants.controls import DEFINITE, MATRIX, POSITIVE, SQUARE, VECTOR, mean, softmax, total

LONG = array(0.5, -1.0, 2.0, 3.0, -0.25, 1.5, 4.0)
SHORT = array(1.0, -2.0)


# functions and right rules beside those of `controls`


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
    Control("float exponent", lambda x, p: x**p, controls.power_rule, [(POSITIVE, array(0.5, 2.0, 1.5))]),
    Control("exponent", lambda x, n: x**n, controls.integer_power_rule, [(VECTOR, 3), (VECTOR, 2)]),
    Control("sinc, ordinary", sinc, controls.sinc_rule, [(VECTOR,)]),
    Control("running product", lambda x: np.cumprod(x), array_rules.cumprod_rule, [(VECTOR,)]),
    Control("whole product", lambda x: np.prod(x), array_rules.prod_rule, [(VECTOR,)]),
    Control(
        "ordinary determinant",
        lambda a: np.linalg.det(a),
        lambda a, y, d: (d * controls.cofactors(a),),
        [(SQUARE,)],
        (),
        controls.square,
    ),
    Control("huber, ordinary", controls.huber, lambda x, y, d: (d * np.clip(x, -1.0, 1.0),), [(VECTOR,)]),
    Control("deviation, ordinary", controls.deviation, controls.deviation_rule, [(VECTOR,)], (), lambda x: x.size > 1),
    Control("norms, ordinary", controls.norms, controls.norms_rule, [(MATRIX,)]),
    Control("pool, ordinary", controls.pooled, controls.pooled_rule, [(LONG[:4],)]),
    Control("median, ordinary", lambda x: np.median(x), controls.median_rule, [(VECTOR,), (LONG,)], (), lambda x: x.size > 0),
    Control(
        "clip, ordinary",
        lambda x, lo, hi: np.minimum(np.maximum(x, lo), hi),
        controls.clip_rule,
        [(VECTOR, array(-1.0, -1.5, 0.0), array(1.0, 2.0, 1.5))],
        (),
        lambda x, lo, hi: bool(np.shape(lo) == np.shape(hi) == np.shape(x) and (lo < hi).all()),
    ),
    Control(
        "interpolation, ordinary",
        controls.interpolate,
        controls.interpolate_rule,
        [(array(0.5, 1.75), VECTOR)],
        (),
        lambda x, values: values.size > 1,
    ),
)
RIGHT = {c.name: c for c in (*array_rules.CONTROLS.values(), *controls.CONTROLS, *TWINS)}


# wrong rules


def overwritten_counts(x, i, v, y, d):
    dx, _, _ = written_rule(x, i, v, y, d)
    return dx, None, d[i]


def slices_the_operand(x, w, y, d):
    dx, _ = strided_rule(x, w, y, d)
    even = np.resize(x[::2], d.size + w.size)
    return dx, np.stack([np.dot(d, even[j : j + d.size]) for j in range(w.size)])


def window_of_the_operand(x, y, d):
    out = np.zeros_like(x)
    out[:-2] += d
    out[2:] += np.pad(d[: x.size - 4], (0, d.size - d[: x.size - 4].size))
    return (out,)


def one_hot_only(x, y, d):
    k = int(np.argmax(np.abs(d))) if d.size else 0
    return (
        y * (d - total(d * y)) * 0.0 + (d[k] * y[k] * ((np.arange(d.size) == k) - y))
        if d.ndim == 1 and d.size
        else y * (d - total(d * y)),
    )


def mutates_residual(x, y, d):
    y *= d
    return (y + 0.0,)


class Counting:
    """Right the first time for each shape, and twice as large from then on."""

    def __init__(self) -> None:
        self.asked: set[Any] = set()

    def __call__(self, x, y, d):
        factor = 2.0 if np.shape(d) in self.asked else 1.0
        self.asked.add(np.shape(d))
        return (factor * d * y,)


def silent_cumprod(x, y, d):
    return (np.where(x == 0, 0.0, np.cumsum((d * y)[::-1])[::-1] / np.where(x == 0, 1.0, x)),)


def sorted_by_values(x, y, d):
    return (d[..., np.searchsorted(y, x)] if x.ndim == 1 else controls.sort_rows_rule(x, y, d)[0],)


def clipped_indices(x, i, y, d):
    out = np.zeros_like(x)
    np.add.at(out, np.maximum(i, 0), d)
    return out, None


def left_knot(x, values, y, d):
    at = np.clip(np.floor(x), 0, values.size - 2).astype(int)
    out = np.zeros_like(values)
    np.add.at(out, at, d * (1.0 - (x - at)))
    np.add.at(out, at + 1, d * (x - at))
    return d * (values[at + 1] - values[at]), out


def detached_largest(x, y, d):
    out = d - np.exp(y) * total(d)
    winner = x == np.max(x, axis=-1, keepdims=True) if x.size else np.zeros(x.shape, dtype=bool)
    return (out + winner * total(d) * 1e-3,)


def cholesky_lower(a, y, d):
    p = np.tril(y.T @ d)
    p[np.diag_indices_from(p)] /= 2.0
    return (np.linalg.solve(y.T, np.linalg.solve(y.T, p.T).T),)


def mask_forgotten(q, k, v, y, d):
    p = softmax(q @ k.T / 2.0)
    dp = d @ v.T
    ds = p * (dp - total(dp * p)) / 2.0
    return ds @ k, ds.T @ q, causal_rule(q, k, v, y, d)[2]


def scale_forgotten(q, k, v, y, d):
    dq, dk, dv = causal_rule(q, k, v, y, d)
    return dq, 2.0 * dk, dv


def lower_of_two(x, y, d):
    out = np.zeros_like(x)
    out[np.argsort(x, kind="stable")[(x.size - 1) // 2]] = d
    return (out,)


def layer_norm_detached(x, gain, bias, y, d):
    c = x - mean(x)
    scale = 1.0 / np.sqrt(mean(c * c) + 1e-3)
    n, g = c * scale, d * gain
    return scale * (g - n * mean(g * n)), unbroadcast(d * n, gain), unbroadcast(d, bias)


def batch_axis(x, y, d):
    scale = 1.0 / np.sqrt(np.mean((x - np.mean(x, axis=0)) ** 2, axis=0) + 1e-3)
    return (scale * (d - np.mean(d) - y * np.mean(d * y, axis=0)),)


def all_at_ties(x, y, d):
    return ((x.reshape(-1, 2) == y[:, np.newaxis]) * d[:, np.newaxis]).reshape(x.shape)


def gelu_by_tanh(x, y, d):
    inner = math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)
    t = np.tanh(inner)
    return (d * (0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * math.sqrt(2.0 / math.pi) * (1.0 + 3 * 0.044715 * x * x)),)


def solve_untransposed(a, b, y, d):
    db = np.linalg.solve(a, d)
    return -np.outer(db, y), db


def triangular_full(a, b, y, d):
    db = np.linalg.solve(np.tril(a).T, d)
    return -np.outer(db, y), db


def at_the_bound(x, lo, hi, y, d):
    low, high = x <= lo, x >= hi
    return d * ((x >= lo) & (x <= hi)), d * low, d * high


def reversed_exclusive(x, y, d):
    return (np.cumsum(d[::-1], axis=0)[::-1] - d,)


ENTRIES, EDGES = ("jacobian", "shapes"), ("jacobian", "edges", "kinks", "shapes")

# reference, name, name of the right twin, rule, checks that may catch it, kind
SHIPPED: tuple[tuple[str, str, str, Any, tuple[str, ...], str], ...] = (
    (
        "jax#12409, jax#14397, jax#17995",
        "n * x**(n - 1)",
        "exponent",
        lambda x, n, y, d: (d * (n * x ** (n - 1.0)), None),
        ("edges", "jacobian", "shapes"),
        "fault",
    ),
    (
        "jax#12409, jax#14397, jax#17995",
        "p * x**(p - 1)",
        "float exponent",
        lambda x, p, y, d: (d * p * x ** (p - 1.0), controls.power_rule(x, p, y, d)[1]),
        EDGES,
        "fault",
    ),
    (
        "Enzyme#2855",
        "0 * log 0",
        "float exponent",
        lambda x, p, y, d: (controls.power_rule(x, p, y, d)[0], d * y * np.log(x)),
        EDGES,
        "fault",
    ),
    (
        "tf#3862, tf#119430, Theano#5197, pytensor#1911, burn#3864",
        "cumprod by division, NaN",
        "running product",
        array_rules.cumprod_divided,
        EDGES,
        "fault",
    ),
    (
        "tf#3862, tf#119430, Theano#5197, pytensor#1911, burn#3864",
        "cumprod by division, silently 0",
        "running product",
        silent_cumprod,
        EDGES,
        "fault",
    ),
    (
        "tf#3862, tf#119430, Theano#5197, pytensor#1911, burn#3864",
        "product by division, silently 0",
        "whole product",
        lambda x, y, d: (np.where(x == 0, 0.0, d * y / np.where(x == 0, 1.0, x)),),
        EDGES,
        "fault",
    ),
    ("jax#21723, Zygote#1307", "norm at 0", "norm", lambda x, y, d: (d * (x / y),), EDGES, "fault"),
    (
        "jax#21723, Zygote#1307",
        "norms of rows at 0",
        "norms, ordinary",
        lambda x, y, d: ((d / y)[..., np.newaxis] * x,),
        EDGES,
        "fault",
    ),
    ("jax#21723, Zygote#1307", "x / |x|", "absolute", lambda x, y, d: (d * (x / np.abs(x)),), EDGES, "fault"),
    ("jax#21723, Zygote#1307", "distance 0", "distance", lambda x, z, y, d: (d * ((x - z) / y), d * ((z - x) / y)), EDGES, "fault"),
    (
        "jax#21723, Zygote#1307",
        "repeated points",
        "pairwise distances",
        lambda p, y, d: pairwise_rule(p, y, d, lambda y: y),
        EDGES,
        "fault",
    ),
    (
        "autograd#138, dfdx#111",
        "ties of the largest count each",
        "maximum of all",
        lambda x, y, d: (d * (x == y),),
        ("kinks",),
        "fault",
    ),
    (
        "autograd#138, dfdx#111",
        "ties of two arguments count twice",
        "larger of two",
        lambda x, z, y, d: (unbroadcast(d * (x >= z), x), unbroadcast(d * (z >= x), z)),
        ("kinks",),
        "fault",
    ),
    (
        "tf#56961, pytorch#146299",
        "scatter-set feeds the overwritten source",
        "scatter-set",
        lambda x, v, y, d: (d.copy(), d[: v.size].copy()),
        ENTRIES,
        "fault",
    ),
    ("tf#56961, pytorch#146299", "repeated indices feed every source", "write", overwritten_counts, ENTRIES, "fault"),
    ("tvm#2465, nd4j#2424", "broadcast add not reduced", "add", array_rules.add_unreduced, ("structure",), "fault"),
    (
        "tvm#2465, nd4j#2424",
        "broadcast product not reduced",
        "multiply",
        lambda x, z, y, d: (d * z, d * x),
        ("structure",),
        "fault",
    ),
    ("Theano#1585", "unbroadcast to another shape", "multiply", array_rules.wrong_shape, ("structure", "jacobian"), "fault"),
    (
        "Zygote#1598",
        "a zero slope times an infinite one",
        "root, then square",
        lambda x, y, d: (2.0 * np.sqrt(x) * d * (0.5 / np.sqrt(x)),),
        EDGES,
        "fault",
    ),
    ("ChainRules#87", "inverse, wrong sign", "inverse", lambda a, y, d: (y.T @ d @ y.T,), ENTRIES, "fault"),
    ("ChainRules#87", "inverse, not transposed", "inverse", lambda a, y, d: (-y @ d @ y,), ENTRIES, "fault"),
    (
        "ChainRules#87",
        "asec, right for positive x",
        "asec",
        lambda x, y, d: (d / (x * np.sqrt((x - 1.0) * (x + 1.0))),),
        EDGES,
        "fault",
    ),
    (
        "ChainRules#87",
        "acsc, wrong sign",
        "acsc",
        lambda x, y, d: (d / (np.abs(x) * np.sqrt((x - 1.0) * (x + 1.0))),),
        ENTRIES,
        "fault",
    ),
    ("ChainRules#87", "acsc, wrong constant", "acsc", lambda x, y, d: (-d / (np.abs(x) * np.sqrt(x * x + 1.0)),), ENTRIES, "fault"),
    ("jax#6223, jax dcded6a", "strides slice the operand", "strided convolution", slices_the_operand, ENTRIES, "fault"),
    ("jax#6223, jax dcded6a", "a dilated window slices the operand", "dilated window", window_of_the_operand, ENTRIES, "fault"),
    (
        "jax#1538, jax b0805a8",
        "elu, 0 * inf",
        "elu",
        lambda x, y, d: (d * np.where(x > 0, 1.0, 0.0) + d * (x <= 0) * np.exp(x),),
        EDGES,
        "fault",
    ),
    (
        "jax#1538, jax b0805a8",
        "celu, 0 * inf from 88 on",
        "celu at float32",
        lambda x, y, d: (d * (x > 0) + d * (x <= 0) * np.exp(x),),
        EDGES,
        "fault",
    ),
    (
        "jax#25791",
        "a masked element overflows",
        "logsumexp where",
        lambda x, keep, y, d: (d * keep * np.exp(x - y), None),
        EDGES,
        "fault",
    ),
    (
        "pytorch#59615",
        "arguments of a blend exchanged",
        "blend",
        lambda a, b, w, y, d: (d * w, d * (1.0 - w), d * (b - a)),
        ENTRIES,
        "fault",
    ),
    (
        "pytensor#266, pytensor cdae903",
        "a broadcast source is not reduced",
        "write the front",
        lambda x, v, y, d: (front_rule(x, v, y, d)[0], d[:2].copy()),
        ("structure",),
        "fault",
    ),
    (
        "pytensor#266, pytensor cdae903",
        "a zero gradient of integers",
        "floor of a half",
        lambda x, y, d: (np.zeros(x.shape, dtype=np.int64),),
        ("structure",),
        "fault",
    ),
    ("cotangent handling", "d * |d|", "square", lambda x, y, d: (2.0 * x * d * np.abs(d),), ("algebra",), "fault"),
    (
        "cotangent handling",
        "clip(d, -1, 1)",
        "matmul",
        lambda a, b, y, d: (np.clip(d, -1.0, 1.0) @ b.T, a.T @ np.clip(d, -1.0, 1.0)),
        ("algebra",),
        "fault",
    ),
    ("cotangent handling", "relu(d)", "softplus", lambda x, y, d: (np.maximum(d, 0.0) * sigmoid(x),), ("algebra",), "fault"),
    ("cotangent handling", "a bias of 1e-7", "cumsum", lambda x, y, d: (np.cumsum(d[::-1])[::-1] + 1e-7,), ("zero",), "fault"),
    ("cotangent handling", "one-hot only", "softmax", one_hot_only, ("algebra",), "fault"),
    ("cotangent handling", "a mutated cotangent", "square", array_rules.mutates_cotangent, ("purity",), "fault"),
    ("cotangent handling", "a mutated residual", "exp", mutates_residual, ("purity",), "fault"),
    ("cotangent handling", "stale state", "square", array_rules.Stale(), ("jacobian", "replay"), "fault"),
    ("cotangent handling", "wrong from the second time on", "exp", Counting(), ("jacobian", "replay", "algebra"), "fault"),
)

# name, name of the right twin, rule, checks that may catch it, kind
INVENTED: tuple[tuple[str, str, Any, tuple[str, ...], str], ...] = (
    ("layer norm without the mean", "layer norm", layer_norm_detached, ENTRIES, "fault"),
    ("batch norm, mean of all", "batch norm", batch_axis, ENTRIES, "fault"),
    (
        "padding off by one",
        "padded convolution",
        lambda x, w, y, d: (np.convolve(d, w[::-1], "full")[2:].copy(), padded_rule(x, w, y, d)[1]),
        ENTRIES,
        "fault",
    ),
    (
        "kernel not reversed",
        "convolution",
        lambda x, w, y, d: (np.convolve(d, w, "full"), controls.convolve_rule(x, w, y, d)[1]),
        ENTRIES,
        "fault",
    ),
    (
        "einsum with letters exchanged",
        "batched matmul",
        lambda a, b, y, d: (
            np.einsum("bik,bjk->bij", d, b),
            np.einsum("bij,bkj->bik", np.swapaxes(a, 1, 2), np.swapaxes(d, 1, 2))[:, ::-1],
        ),
        ENTRIES,
        "fault",
    ),
    ("order of ties lost", "sort", sorted_by_values, EDGES, "fault"),
    ("negative indices clipped", "pick", clipped_indices, ENTRIES, "fault"),
    ("interpolation beyond the last knot", "interpolation, ordinary", left_knot, EDGES, "fault"),
    ("exclusive sums", "cumulative sum", reversed_exclusive, ENTRIES, "fault"),
    (
        "the sum over the batch forgotten",
        "one matrix for a batch",
        lambda a, b, y, d: (shared_rule(a, b, y, d)[0], a[0].T @ d[0]),
        ENTRIES,
        "fault",
    ),
    ("variance over n", "variance, ddof 1", lambda x, y, d: (2.0 * d * (x - np.mean(x)) / x.size,), ENTRIES, "fault"),
    (
        "the least instead of the largest",
        "max pool",
        lambda x, y, d: (
            ((x.reshape(-1, 2) == np.min(x.reshape(-1, 2), axis=1, keepdims=True)) * d[:, np.newaxis]).reshape(x.shape),
        ),
        ENTRIES,
        "fault",
    ),
    ("ties of a pool count each", "pool, ordinary", lambda x, y, d: (all_at_ties(x, y, d),), ("kinks",), "fault"),
    ("the lower of the two in the middle", "median, ordinary", lower_of_two, ENTRIES, "fault"),
    (
        "quantile, one neighbour",
        "quantile",
        lambda x, y, d: (d * (np.arange(x.size) == np.argsort(x, kind="stable")[int(0.3 * (x.size - 1))]),),
        ENTRIES,
        "fault",
    ),
    ("both sides of a bound", "clip, ordinary", at_the_bound, ("kinks",), "fault"),
    ("roll by the wrong sign", "roll", lambda x, y, d: (np.roll(d, 1),), ENTRIES, "fault"),
    ("solve, not transposed", "solve", solve_untransposed, ENTRIES, "fault"),
    ("triangular solve, the other triangle", "triangular solve", triangular_full, ENTRIES, "fault"),
    ("cholesky, not symmetrised", "cholesky", cholesky_lower, ENTRIES, "fault"),
    ("determinant by the inverse", "ordinary determinant", lambda a, y, d: (d * y * np.linalg.pinv(a).T,), EDGES, "fault"),
    (
        "log determinant, sign",
        "log determinant",
        lambda a, y, d: (d * np.sign(np.linalg.det(a)) * np.linalg.inv(a).T,),
        ENTRIES,
        "fault",
    ),
    ("cosine transform, not transposed", "cosine transform", lambda x, y, d: (controls.cosine_transform(d),), ENTRIES, "fault"),
    ("log_softmax, a part of the largest", "log_softmax", detached_largest, ENTRIES, "fault"),
    (
        "huber, 0 at the bound",
        "huber, ordinary",
        lambda x, y, d: (d * (np.where(np.abs(x) < 1.0, x, 0.0) + (x > 1.0) - (x < -1.0)),),
        EDGES,
        "fault",
    ),
    ("attention, mask forgotten", "causal attention", mask_forgotten, ENTRIES, "fault"),
    ("attention, scale forgotten", "causal attention", scale_forgotten, ENTRIES, "fault"),
    ("deviation of constants", "deviation, ordinary", lambda x, y, d: (d * (x - np.mean(x)) / ((x.size - 1) * y),), EDGES, "fault"),
    ("sinc at 0", "sinc, ordinary", lambda x, y, d: (d * (np.cos(np.pi * x) - y) / x,), EDGES, "fault"),
    ("atan2 exchanged", "atan2", lambda y, x, r, d: controls.angle_rule(y, x, r, d)[::-1], ENTRIES, "fault"),
    ("gelu by tanh", "gelu", gelu_by_tanh, ENTRIES, "fault"),
    (
        "cross entropy without its label",
        "cross entropy",
        lambda x, label, y, d: (d * np.exp(x - controls.logsumexp(x)), None),
        ENTRIES,
        "fault",
    ),
    (
        "kron exchanged",
        "kron",
        lambda a, b, y, d: (
            controls.kron_rule(a, b, y, d)[0],
            np.einsum("ikjl,ij->kl", d.reshape(a.shape[0], b.shape[0], a.shape[1], b.shape[1])[::-1], a),
        ),
        ENTRIES,
        "fault",
    ),
    ("tile, the mean", "tile", lambda x, y, d: (np.mean(d.reshape(3, x.size), axis=0),), ENTRIES, "fault"),
    ("pad, the other side", "pad", lambda x, y, d: (d[2:-1].copy(),), ENTRIES, "fault"),
    (
        "cosine similarity, one norm",
        "cosine similarity",
        lambda x, z, y, d: (controls.cosine_rule(x, z, y, d)[0], d * x / (np.sqrt(np.dot(x, x)) * np.sqrt(np.dot(z, z)))),
        ENTRIES,
        "fault",
    ),
    ("error function, sqrt pi", "erf", lambda x, y, d: (d * np.exp(-x * x) * 2.0 / math.pi,), ENTRIES, "fault"),
    ("softplus by its value", "softplus", lambda x, y, d: (d * (1.0 - np.exp(-y)),), ("accuracy",), "accuracy"),
)

ZOO: dict[str, tuple[Bug, ...]] = {}
for _reference, _name, _twin, _rule, _checks, _kind in SHIPPED:
    ZOO[_reference] = (*ZOO.get(_reference, ()), Bug(_name, RIGHT[_twin], _rule, _checks, _kind))
OTHERS = tuple(Bug(name, RIGHT[twin], rule, checks, kind) for name, twin, rule, checks, kind in INVENTED)
