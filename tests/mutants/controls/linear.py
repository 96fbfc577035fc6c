"""Right rules that are hard to judge, of linear algebra: ill-conditioned and singular matrices."""
# ruff: noqa: PLW0108

from __future__ import annotations

import numpy as np

from mutants.array_rules import Control, array
from mutants.controls.exponentials import softmax
from mutants.controls.samples import DEFINITE, HUGE, MATRIX, SQUARE, TINY, VECTOR, square, total


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


LINEAR = (
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
