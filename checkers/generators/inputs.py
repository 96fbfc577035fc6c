"""Inputs of generated programs: ordinary points, and the edge pool of doubles that break rules."""

from __future__ import annotations

import math
import sys

from hypothesis import strategies as st

EDGES = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    math.pi,
    math.nextafter(1.0, 2.0),
    sys.float_info.epsilon,
    sys.float_info.min,
    5e-324,
    sys.float_info.max,
    -sys.float_info.max,
    1e-160,
    1e160,
    math.inf,
    -math.inf,
    math.nan,
)

ORDINARY = st.integers(-256, 256).map(lambda n: n / 64.0)


def points(count: int) -> st.SearchStrategy[tuple[float, ...]]:
    """Points whose coordinates are multiples of 1/64 no larger than 4: exact in every reading."""
    return st.tuples(*[ORDINARY] * count)


def edge_points(count: int) -> st.SearchStrategy[tuple[float, ...]]:
    """Points whose coordinates come from the edge pool, from ordinary values or from all doubles."""
    return st.tuples(*[st.one_of(st.sampled_from(EDGES), ORDINARY, st.floats(allow_nan=True))] * count)
