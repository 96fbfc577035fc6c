"""The way into short batches: from columns to columns by one builtin function, and what goes another way."""

from __future__ import annotations

import gc
import sys
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import adjudge as aj
from backend.batches import way_in as batch_way_in
from backend.batches import way_text as batch_way_text
from semantics.errors import AdjudgeError, Trap
from transforms.parse import parse_text

TEXT = """
def f(x, y, n: int, b: bool):
    if y == 7.0:
        return float(1 // (n - 3)), y, x
    return x * y + float(n), y - x if b else y, x
"""


@cache
def made() -> Any:
    """The batch, of two columns, a shared integer and a column of booleans, after so many calls that it has a way of its own."""
    batch = aj.vmap(parse_text(TEXT, "f"), (0, 0, None, 0))
    for _ in range(batch_way_in.OFTEN + 2):
        batch(np.ones(3), np.ones(3), 1, np.ones(3, bool))
    return batch


def wanted(x: Any, y: Any, n: int, b: Any) -> tuple[Any, ...]:
    return x * y + float(n), np.where(b, y - x, y), x


def columns(count: int, seed: int = 0) -> tuple[Any, ...]:
    draw = np.random.default_rng(seed)
    return draw.normal(size=count), draw.normal(size=count), 3, draw.random(count) < 0.5


@given(st.sampled_from([1, 2, 5, batch_way_text.MOST, batch_way_text.MOST + 1, 200]), st.integers(0, 2**20), st.integers(-5, 5))
def test_columns_are_those_of_all_samples(count: int, seed: int, n: int) -> None:
    x, y, _, b = columns(count, seed)
    found = made()(x, y, n, b)
    event("short" if count <= batch_way_text.MOST else "long")
    assert type(found) is tuple
    assert all(np.array_equal(a, of) and a.flags.carray for a, of in zip(found, wanted(x, y, n, b), strict=True))
    assert not any(np.shares_memory(a, of) for a in found for of in (x, y))
    assert (found[0].base is found[1].base) is True, "rows of one block"


def test_it_is_the_builtin_function_that_takes_them(monkeypatch: Any) -> None:
    batch, (x, y, n, b) = made(), columns(4)
    monkeypatch.setattr(np, "empty", lambda *given: pytest.fail("the long way"))
    assert np.array_equal(batch(x, y, n, b)[2], x)


OTHERS = {
    "a column with gaps": lambda x, y, n, b: (np.repeat(x, 2)[::2], y, n, b),
    "a column that may not be written": lambda x, y, n, b: (np.frombuffer(x.tobytes()), y, n, b),
    "a number of another type": lambda x, y, n, b: (x, y, np.int64(n), b),
}


@pytest.mark.parametrize("other", OTHERS)
def test_what_lies_otherwise_goes_another_way(other: str) -> None:
    arguments = OTHERS[other](*columns(4))
    assert all(np.array_equal(a, of) for a, of in zip(made()(*arguments), wanted(*arguments), strict=True))


def test_another_size_is_refused_as_ever() -> None:
    x, y, n, b = columns(4)
    for wrong in ((x[:3], y, n, b), (x, y, n)):
        with pytest.raises((AdjudgeError, TypeError)) as at_last:
            made()(*wrong)
        with pytest.raises((AdjudgeError, TypeError)) as at_first:
            aj.vmap(parse_text(TEXT, "f"), (0, 0, None, 0))(*wrong)
        assert (type(at_last.value), str(at_last.value)) == (type(at_first.value), str(at_first.value))


def test_a_sample_that_fails_is_told_with_its_error() -> None:
    x, _, n, b = columns(4)
    y = np.array([1.0, 2.0, 7.0, 4.0])
    with pytest.raises(Trap):
        made()(x, y, n, b)


def test_nothing_leaks() -> None:
    batch, (x, y, n, b) = made(), columns(4)
    failing = np.array([1.0, 2.0, 7.0, 4.0])

    def all_ways() -> None:
        batch(x, y, n, b)
        kept = batch(x, y, n, b)[1]
        assert np.array_equal(kept, np.where(b, y - x, y)), "one row holds the block"

    def fails() -> None:
        with pytest.raises(Trap):
            batch(x, failing, n, b)

    for _ in range(3):
        all_ways()
        fails()
    gc.collect()
    held = [x, y, b, np.dtype("float64"), np.ndarray]
    before = [*map(sys.getrefcount, held)], sys.getallocatedblocks()
    for _ in range(1000):
        all_ways()
    gc.collect()
    assert [*map(sys.getrefcount, held)] == before[0]
    assert sys.getallocatedblocks() - before[1] < 1000, "less than an object for each call"


@pytest.mark.parametrize("text", ["def f(x):\n    return x, 1", "def f(x):\n    return (x, x), x"])
def test_other_results_have_no_such_way(text: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(batch_way_in, "of_batch", lambda *given: pytest.fail("a way"))
    batch = aj.vmap(parse_text(text, "f"))
    for _ in range(batch_way_in.OFTEN + 2):
        batch(np.ones(3))
