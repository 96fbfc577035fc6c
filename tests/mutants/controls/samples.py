"""Samples, and what controls of several subjects are made with."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mutants.array_rules import Control, array

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


def square(a, *rest):
    return a.ndim == 2 and a.shape[0] == a.shape[1] > 0


def elementwise(name: str, f: Any, slope: Any, *samples: Any, domain: Any = None) -> Control:
    """The control of a function of each element alone, given its slope at x."""
    return Control(name, f, lambda x, y, d: (d * slope(x),), [(s,) for s in samples], (), domain)
