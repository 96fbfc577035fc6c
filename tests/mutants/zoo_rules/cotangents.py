"""Wrong backpropagators of arrays by what they do to the cotangent: the last line of the first section of `ZOO.md`."""

from __future__ import annotations

from typing import Any

import numpy as np

from mutants import array_rules
from mutants.array_rules import sigmoid
from mutants.controls.samples import total


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


# reference, name, name of the right twin, rule, checks that may catch it, kind
COTANGENTS: tuple[tuple[str, str, str, Any, tuple[str, ...], str], ...] = (
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
