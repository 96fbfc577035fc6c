"""Wrong backpropagators of arrays that are in no list of shipped ones, and like them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mutants.array_rules import unbroadcast
from mutants.controls import exponentials, means, order, powers, scans
from mutants.controls.exponentials import softmax
from mutants.controls.samples import mean, total
from mutants.zoo_rules.twins import EDGES, ENTRIES, causal_rule, padded_rule, shared_rule


def sorted_by_values(x, y, d):
    return (d[..., np.searchsorted(y, x)] if x.ndim == 1 else order.sort_rows_rule(x, y, d)[0],)


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
        lambda x, w, y, d: (np.convolve(d, w, "full"), scans.convolve_rule(x, w, y, d)[1]),
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
    ("cosine transform, not transposed", "cosine transform", lambda x, y, d: (scans.cosine_transform(d),), ENTRIES, "fault"),
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
    ("atan2 exchanged", "atan2", lambda y, x, r, d: powers.angle_rule(y, x, r, d)[::-1], ENTRIES, "fault"),
    ("gelu by tanh", "gelu", gelu_by_tanh, ENTRIES, "fault"),
    (
        "cross entropy without its label",
        "cross entropy",
        lambda x, label, y, d: (d * np.exp(x - exponentials.logsumexp(x)), None),
        ENTRIES,
        "fault",
    ),
    (
        "kron exchanged",
        "kron",
        lambda a, b, y, d: (
            scans.kron_rule(a, b, y, d)[0],
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
        lambda x, z, y, d: (means.cosine_rule(x, z, y, d)[0], d * x / (np.sqrt(np.dot(x, x)) * np.sqrt(np.dot(z, z)))),
        ENTRIES,
        "fault",
    ),
    ("error function, sqrt pi", "erf", lambda x, y, d: (d * np.exp(-x * x) * 2.0 / math.pi,), ENTRIES, "fault"),
    ("softplus by its value", "softplus", lambda x, y, d: (d * (1.0 - np.exp(-y)),), ("accuracy",), "accuracy"),
)
