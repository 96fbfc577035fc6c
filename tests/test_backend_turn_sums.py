"""Sums of products for turns side by side: which loops are calls of what does them in vectors; and every sum keeps its order."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from loop_texts import bits
from test_backend_lanes import ADDED, FILL, PART, M, N, few, over_samples, unchanged

from backend import store, toolchain
from backend.arrays.tightening import tightened
from backend.cpu import plain_tiles, turn_sums

__all__ = ["few"]  # a fixture


def added(total: str, x: str, y: str) -> tuple[str, ...]:
    """A product added to a total, as generated code has it."""
    return f"    x1 = _mul(float({x}), float({y}))", f"    x2 = {total} + x1", f"    {total} = x2"


def part(name: str, dtype: str = "_f64") -> str:
    return f"{name} = _empty(({N}, {M}), {dtype})"


EACH = f"for j in range({M}):"
ALL = f"for v in range({M}):"


def sums(*lines: str) -> tuple[str, ...]:
    """Sums over j of these lines, one for each v."""
    return (ALL, "    x = -0.0", f"    {EACH}", *(f"    {line}" for line in lines), "    s[v] = s[v] + x")


def nest(*lines: str) -> tuple[str, ...]:
    """These lines for each i and j."""
    return (f"for i in range({M}):", f"    {EACH}", *(f"    {line}" for line in lines))


ROW = sums(*added("x", "a1[j]", "p[k, j]"))
PLAIN = ("x = -0.0", EACH, "    x = x + p[k, j]", "c[k] = x")  # for which it is worth it
LAST = (ALL, "    s[v] = s[v] + q[k, v]")
ALSO = (f"for i in range({M}):", "    q[k, i] = p[k, i] * 0.5")
SQUARE = (f"s = _full(({M}, {M}), -0.0, _f64)", part("q"))
VECTOR = {"before": (*PART, *ADDED), "after": "c, s"}
BOTH = {"before": (*PART, part("q"), *ADDED), "after": "c, s"}
TABLE = {"before": (*PART, *SQUARE), "after": "c, s"}
CALLS = {
    "a number": ("_add_row", over_samples(*FILL, *ROW, **VECTOR)),
    "a part": (
        "_add_row(n_a0_1, k_m, a1, (None,), p",
        over_samples(*FILL, *PLAIN, *ALSO, *nest(*added("q[k, i]", "p[k, j]", "a1[j]")), *LAST, **BOTH),
    ),
    "all turns": ("_add_outer", over_samples(*FILL, *PLAIN, *ALSO, *nest(*added("s[i, j]", "p[k, i]", "q[k, j]")), **TABLE)),
    "factors exchanged": (
        "_add_outer",
        over_samples(*FILL, *PLAIN, *ALSO, *nest(*added("s[i, j]", "q[k, j]", "p[k, i]")), **TABLE),
    ),
}


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("name", CALLS)
def test_loops_of_sums_of_products_are_calls(name: str) -> None:
    call, text = CALLS[name]
    assert unchanged(text)
    assert call in tightened(text)


def test_so_are_sums_in_any_order() -> None:
    sum = "    x1 = _mul(float(a1[j]), float(p[k, j]))", "    x = _any_term(x, x1)"
    assert "_add_row(" in tightened(over_samples(*FILL, *sums(*sum), **VECTOR))
    assert "_add_row(" not in tightened(over_samples(*FILL, *sums(sum[0], "    x = _any_term(x1, x)"), **VECTOR))


STAY = {
    "a factor of each turn": over_samples(*sums(*added("x", "a1[j]", "a0[k, j]")), **VECTOR),
    "a product that is read again": over_samples(*FILL, "x1 = 0.0", *ROW, "c[k] = x1", **VECTOR),
    "a total that is a factor": over_samples(
        *FILL, *PLAIN, *nest(*added("p[k, i]", "p[k, j]", "a1[j]")), ALL, "    s[v] = s[v] + p[k, v]", **VECTOR
    ),
    "an index that is computed": over_samples(*FILL, *sums(*added("x", f"a1[{M} - 1 - j]", "p[k, j]")), **VECTOR),
    "one element for all": over_samples(*FILL, *sums(*added("x", "a1[0]", "p[k, j]")), **VECTOR),
    "a part of integers": over_samples(
        f"for i in range({M}):", "    p[k, i] = i + k", *ROW, before=(part("p", "_i64"), *ADDED), after="s"
    ),
    "a place of which the indices are exchanged": over_samples(
        *FILL, *PLAIN, *ALSO, *nest(*added("s[j, i]", "p[k, i]", "q[k, j]")), **TABLE
    ),
    "a difference": over_samples(
        *FILL, *sums("    x1 = _mul(float(a1[j]), float(p[k, j]))", "    x2 = x - x1", "    x = x2"), **VECTOR
    ),
}


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("name", STAY)
def test_other_loops_are_none(name: str) -> None:
    assert unchanged(STAY[name])
    assert "_add_" not in tightened(STAY[name])


# what is called


@cache
def compiled() -> Any:
    """Both functions, called as generated code calls them."""
    source = """
@_device
def row(inner, count, a, b, c):
    _add_row(inner, count, a, (1, None), b, (None,), (1,), c)


@_device
def outer(rows, columns, count, p, q, c):
    _add_outer(rows, columns, count, p, (), q, (1,), (1,), c)
"""
    return store.load(source, "cpu", toolchain.bindings("cpu", source))


SPECIAL = st.floats() | st.sampled_from([0.0, -0.0, math.inf, math.nan, 1e308, -1e308, 5e-324])
TURNS = st.integers(0, turn_sums.LONG + 2 * turn_sums.LANES) | st.sampled_from([1, turn_sums.LANES, turn_sums.LONG])


def numbers(data: Any, *shape: int) -> Any:
    """An array that repeats a few numbers, some of them special."""
    found = np.resize(np.array(data.draw(st.lists(SPECIAL, min_size=11, max_size=11))), shape)
    found.ravel()[::3] /= 3.0
    return found


@given(st.integers(0, 5), TURNS, st.integers(0, 3), st.data())
def test_a_row_has_the_bits_of_its_sums(inner: int, count: int, more: int, data: Any) -> None:
    a, b, c = numbers(data, 2, inner), numbers(data, inner, count + more), numbers(data, 2, count + more)
    wanted = c.copy()
    with np.errstate(all="ignore"):
        plain_tiles.add_row(inner, count, a, (1, None), b, (None,), (1,), wanted)
    compiled().row(inner, count, a, b, c)
    event("turns left over" if count % turn_sums.LANES else "whole vectors")
    assert bits((c,)) == bits((wanted,))


@given(st.integers(0, turn_sums.MOST + 2), st.integers(0, turn_sums.LANES + 3), st.integers(0, 19), st.data())
def test_a_sum_over_turns_has_the_bits_of_its_sums(rows: int, columns: int, count: int, data: Any) -> None:
    p, q = numbers(data, rows, count + 1), numbers(data, 2, columns, count + 1)
    c = numbers(data, 2, rows + 1, columns + 1)
    wanted = c.copy()
    with np.errstate(all="ignore"):
        plain_tiles.add_outer(rows, columns, count, p, (), q, (1,), (1,), wanted)
    compiled().outer(rows, columns, count, p, q, c)
    event("rows left over" if rows % turn_sums.MOST else "whole tiles of rows")
    event("turns left over" if count % turn_sums.LANES else "whole blocks of turns")
    assert bits((c,)) == bits((wanted,))
