"""Right rules that are hard to judge, of products, scans and movement: zeros in a product, repeated indices, transposed blocks."""
# ruff: noqa: PLW0108

from __future__ import annotations

import numpy as np

from mutants.array_rules import Control, array
from mutants.controls.samples import MATRIX, POSITIVE, SQUARE, VECTOR, square


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


SCANS = (
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
)
