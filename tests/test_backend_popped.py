"""What a frame kept is updated in place once the frame is taken off, if it was nobody else's when the frame was put on."""

from __future__ import annotations

import ast

import numpy as np
import pytest
from loop_texts import bits, executed

from backend.arrays import popped
from backend.arrays.carried import told
from backend.arrays.handed import TAKEN
from backend.stacks.arrays import SOURCES

KEPT = "integers[2 * s1], heap = (heap, _keep(b, reals, heap))"
SUM = "c[k] = float(v[k]) + float(b[k])"
TEXT = f"""
def kernel(a0, a1, fuel, one):
    reals = _full((64,), 0.0, _f64)
    integers = _full((64,), 0, _i64)
    heap, s1, s2, i, x = (0, 0, 0, 0, 0.0)
    b = _full((a0.shape[0],), 1.5, _f64)
    while i < 3:
        {KEPT}
        integers[2 * s1 + 1] = b.shape[0]
        s1 = s1 + 1
        b = _full((a0.shape[0],), 2.0, _f64)
        b[i] = a0[i]
        i = i + 1
    while i > 0:
        t = s1 - 1
        n = int(integers[2 * t + 1])
        v = reals[integers[2 * t]:integers[2 * t] + n]
        s1 = t
        if v.shape[0] != n:
            return (b, x, reals, 1)
        c = _empty((v.shape[0],), _f64)
        for k in range(v.shape[0]):
            {SUM}
        w = c
        b = w
        v = w
        i = i - 1
    return (b, x, 0)
"""


def after(text: str) -> str:
    """The text with sums in place; nothing is left of what stands for views that were taken off."""
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    found = ast.unparse(ast.fix_missing_locations(popped.summed(function, told(function), 8)))
    assert TAKEN not in found
    return found


def agrees(text: str) -> bool:
    x, keep = np.array([1.5, -0.0, 2.0, -7.25]), SOURCES["_keep"]
    return bits(executed(f"{keep}\n{after(text)}", x, x)) == bits(executed(f"{keep}\n{text}", x, x))


def test_a_sum_takes_the_memory_of_what_a_frame_kept() -> None:
    assert "c = v\n" in after(TEXT)
    assert agrees(TEXT)


NEAR = {
    "it is read when the frame is on": (KEPT, f"{KEPT}\n        x = x + b[0]"),
    "another cell keeps it": (KEPT, f"{KEPT}\n        integers[32 + 2 * s2], heap = (heap, _keep(b, reals, heap))"),
    "it is kept elsewhere": (KEPT, KEPT.replace("s1", "s2")),
    "the frame is not taken off": ("s1 = t", "s1 = s1 - 1"),
    "an argument is kept": ("b = _full((a0.shape[0],), 1.5, _f64)", "b = a1"),
}


@pytest.mark.parametrize("case", NEAR)
def test_near_miss_what_another_may_read_is_not_written_to(case: str) -> None:
    text = TEXT.replace(*NEAR[case])
    assert text != TEXT
    assert "c = v\n" not in after(text)
    if case != "it is kept elsewhere":
        assert agrees(text)
