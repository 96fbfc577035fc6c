"""Choices of samples side by side: which are no branches, and the bits of each lane."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import adjudge as aj
from backend.batches.choices import choosing
from backend.batches.kernels import WIDE, Kernels

CHOICES = {
    "x if c else y": "_chosen(c, x, y)",
    "x if x > y or y != y else 2.0": "_chosen((x > y) | (y != y), x, 2.0)",
    "-1.0 if not c and x <= y else x": "_chosen((not c) & (x <= y), -1.0, x)",
    "(x if c else y) if x < y else y": "_chosen(x < y, _chosen(c, x, y), y)",
}
BRANCHES = (
    "x if f(c) else y",
    "g(x) if c else y",
    "x if c else y / z",
    "x if True else y",
    "x if 0.0 < x < y else z",
    "x + y",
    "c and d",
)


@pytest.mark.parametrize("before", CHOICES)
def test_a_choice_among_what_is_there_is_no_branch(before: str) -> None:
    found = choosing(f"def helper(x):\n    return {before}\n\ndef kernel(x, y, c):\n    z = {before}\n    return z\n")
    assert found == f"def kernel(x, y, c):\n    z = {CHOICES[before]}\n    return z\n"


@pytest.mark.parametrize("before", BRANCHES)
def test_what_would_have_to_be_computed_is_left_to_its_branch(before: str) -> None:
    assert choosing(f"def kernel(x, y, c):\n    z = {before}\n    return z\n") == ""


def several(x, y, n: int):  # type: ignore[no-untyped-def]
    low, high = np.minimum(x, y), max(x, y)
    kinds = np.where(x > y, n, n + 1), np.where(x > y, x > 1.0, y > 2.0), np.where(x > 0.0, 1, n)
    mixed = np.where(x > y, x, 1.0), np.where(n > 2, x, 1.0), np.where(n > 2, 0.5, y), np.where(x > y, 2.0, 1.0)
    return low, high, kinds, mixed, min(n, 3), math.exp(-abs(x))


@pytest.mark.parametrize("n", [1, 5])
def test_lanes_choose_each_for_itself(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    special = np.array([0.0, -0.0, 1.0, -2.5, math.inf, -math.inf, math.nan, 3.0])
    x, y = (a.ravel() for a in np.meshgrid(np.resize(special, WIDE // 2), special))
    wanted = aj.vmap(several, (0, 0, None), target="python")(x, y, n)
    whole: list[Any] = []
    prepare = Kernels.prepare

    def prepared(self: Kernels, arguments: Any) -> None:
        prepare(self, arguments)
        whole.append(self.wide)

    monkeypatch.setattr(Kernels, "prepare", prepared)
    found = aj.vmap(several, (0, 0, None))(x, y, n)
    assert whole[-1] is not None, "there are lanes"
    flat = [[*a, *b, *c, *d, e, g] for a, b, c, d, e, g in [((r[0],), (r[1],), r[2], r[3], r[4], r[5]) for r in (found, wanted)]]
    for a, b in zip(*flat, strict=True):
        assert a.dtype == b.dtype
        assert np.array_equal(np.isnan(a), np.isnan(b))
        assert np.where(np.isnan(a), 0, a).tobytes() == np.where(np.isnan(b), 0, b).tobytes()


def test_samples_that_choose_differently_do_not_part() -> None:
    text = "def kernel(x, fuel):\n    y = x if x > 0.0 else 2.0\n    return y, fuel, 0\n"
    from backend.batches.branches import asks

    assert asks(text, ["x"])
    assert not asks(text + choosing(text), ["x"])
