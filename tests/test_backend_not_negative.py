"""Indices that count turns, or are sums of such, get no size: the near misses do, and no index changes."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from loop_texts import executed, through

from backend.arrays.not_negative import not_negative

N = "a0.shape[0]"
told = partial(through, not_negative)


def loop(outer: str = "i3 - i4 + 0", inner: str = "i7 + (i5 - i6)", again: str = "pass", guard: str = "return (0, 5)") -> str:
    """Two loops down; the inner one has an index, of which the size is asked if it is negative."""
    return f"""
def kernel(a0, fuel, one):
    i2 = 0
    i9 = 0
    i3, i4 = (2, 0)
    while i3 >= i4:
        if i3 < i4:
            return (0, 5)
        i7 = {outer}
        i5, i6 = (5, 3)
        while i5 >= i6:
            if i5 < i6:
                {guard}
            i8 = {inner}
            {again}
            i9 = i8 + {N} if i8 < 0 else i8
            i2 = i2 * 7 + i9
            i5 = i5 - 1
        i3 = i3 - 1
    return (i2, 0)
"""


def is_asked(text: str) -> bool:
    return " < 0 else " in told(text)


def ends(text: str, a: Any) -> bool:
    return executed(told(text), a) == executed(text, a)


@pytest.mark.parametrize(
    "text",
    [loop(), loop("i3 - i4 + 2"), loop(inner="i5 - i6 + 1"), loop(inner="i7 + i7"), loop(inner="i7 + (i5 - i6) + 3"), loop("4")],
)
def test_what_counts_is_not_asked(text: str) -> None:
    assert not is_asked(text)
    assert ends(text, [0.0])  # no size is read


NEAR = {
    "a number below": loop(inner="i7 + (i5 - i6) + -1"),
    "a number below further out": loop("i3 - i4 + -1"),
    "a difference": loop(inner="i7 - (i5 - i6)"),
    "another base": loop(inner="i7 + (i5 - i4)"),
    "a base that is not asked": loop(guard="pass"),
    "a name that is set again": loop(again="i8 = i8 - 9"),
    "a counter that has gone on": loop(inner="i7 + (i5 - i6)").replace(
        "            i8 =", "            i5 = i5 - 1\n            i8 ="
    ),
    "a product": loop(inner="i7 * (i5 - i6)"),
    "an argument": loop(inner="fuel"),
    "an argument that is set to a number later": loop(inner="fuel", again="fuel = 3").replace(
        "i8 < 0 else i8", "fuel < 0 else fuel"
    ),
}


@pytest.mark.parametrize("near", NEAR)
def test_else_it_is(near: str) -> None:
    assert is_asked(NEAR[near])
