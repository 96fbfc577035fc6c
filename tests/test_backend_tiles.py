"""Products of matrices in tiles: every element has the bits of one sum from the left, whatever the sizes leave over."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from backend import store, toolchain
from backend.cpu import plain_tiles, tiles
from backend.prelude import closure
from semantics.values import same

MATRIX, VECTOR = "_matrix_matrix", "_vector_matrix"
FAST_MATRIX, FAST_VECTOR = "_fast_matrix_matrix", "_fast_vector_matrix"
SIZES = st.integers(1, 2 * tiles.WIDE + 2)
SPECIAL = st.floats() | st.sampled_from([0.0, -0.0, math.inf, math.nan, 1e308, -1e308, 5e-324])
LAYOUTS = {
    "rows": (np.ascontiguousarray, np.ascontiguousarray),
    "a transpose and rows": (np.asfortranarray, np.ascontiguousarray),
    "parts": (lambda a: np.repeat(a, 2, axis=1)[:, ::2], lambda b: np.repeat(b, 2, axis=1)[:, ::2]),
}


@cache
def compiled() -> Any:
    """The helpers as the CPU has them."""
    source = "\n\n".join("@_device\n" + text for text in closure({MATRIX, FAST_MATRIX}))
    return store.load(source, "cpu", toolchain.bindings("cpu", source) | toolchain.fast_bindings())


def product(a: Any, b: Any) -> Any:
    """The product as it is defined."""
    c = np.empty((a.shape[0], b.shape[1]))
    for i, j in np.ndindex(*c.shape):
        plain_tiles.tile(a, b, c, i, j)
    return c


def bits(a: Any) -> tuple[float, ...]:
    """The elements, row by row."""
    return tuple(a.ravel().tolist())


def found(name: str, a: Any, b: Any) -> Any:
    """The product by a helper; what it does not write stays 7."""
    c = np.full((a.shape[0], b.shape[1]), 7.0)
    helper = getattr(compiled(), name)
    helper(*((a, b, c) if name in (MATRIX, FAST_MATRIX) else (a[0], b, c[0])))
    return c


@given(SIZES, st.integers(1, 5), SIZES, st.sampled_from([*LAYOUTS]), st.data())
def test_a_product_by_tiles_has_the_bits_of_its_sums(m: int, n: int, k: int, layout: str, data: Any) -> None:
    some = np.array(data.draw(st.lists(SPECIAL, min_size=7, max_size=7)))
    left, right = LAYOUTS[layout]
    with np.errstate(all="ignore"):
        a, b = left(np.resize(some, (m, n)) * np.arange(1.0, n + 1.0)), right(np.resize(some[::-1], (n, k)) / 3.0)
        wanted = product(a, b)
    event("fewer rows than half a tile" if 2 * m < tiles.TALL else "rows left over" if m % tiles.TALL else "whole tiles of rows")
    event("fewer columns than lanes" if k < tiles.LANES else "columns left over" if k % tiles.WIDE else "whole tiles of columns")
    assert same(bits(found(MATRIX, a, b)), bits(wanted))
    assert same(bits(found(VECTOR, a[:1], b)), bits(wanted[:1]))


def test_a_tile_writes_no_element_but_its_own() -> None:
    """Rows below and columns beside the result keep what they had."""
    a, b = np.ones((tiles.TALL + 1, 3)), np.ones((3, tiles.WIDE + 3))
    around = np.zeros((tiles.TALL + 3, tiles.WIDE + 3))
    compiled()._matrix_matrix(a, b, around[1:-1])
    assert same(bits(around[[0, -1]]), bits(np.zeros((2, tiles.WIDE + 3))))
    assert same(bits(around[1:-1]), bits(np.full((tiles.TALL + 1, tiles.WIDE + 3), 3.0)))


@pytest.mark.parametrize("name", [FAST_MATRIX, FAST_VECTOR])
def test_a_fast_tile_rounds_each_term_once_or_twice(name: str) -> None:
    """1 + x² - 1 with x² rounded first, or with the sum: nothing else is a sum from the left."""
    x = 1.0 / 3.0
    a = np.array([[1.0, x, -1.0]] * tiles.TALL)
    b = np.array([[1.0, x, 1.0]] * tiles.WIDE).T.copy()
    once, twice = float(Fraction(x) ** 2 + 1) - 1.0, (x * x + 1.0) - 1.0
    result = found(name, a, b) if name == FAST_MATRIX else found(name, a, b)[:1]
    assert {*result.ravel().tolist()} <= {once, twice}


@pytest.mark.parametrize("size", [1, 3])
def test_what_has_no_terms_is_the_sum_of_none(size: int) -> None:
    assert same(bits(found(MATRIX, np.ones((size, 0)), np.ones((0, size)))), (-0.0,) * size**2)
