"""Names that are one, and elements that all turns find at one place: each rule where it holds, and where it just does not."""

from __future__ import annotations

import ast
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loop_texts import stays, through
from test_backend_begun import SPECIAL
from test_backend_ranged import WHOLE, agree, going_down, with_ranges

from backend.arrays.alike import alike, compared
from backend.arrays.takes import once

N = "a0.shape[0]"


def choosing(one: str = "i2", other: str = "i2", last: str = "i1 + 1", turn: str = "pass") -> str:
    """A loop in which both arms of a choice give a name something."""
    return f"""
def kernel(a0, a1, fuel, one):
    i1, i2, x3 = (0, {N}, 0.0)
    while True:
        if i1 < i2:
            if a0[i1] > 0.0:
                i4, x5 = ({one}, x3 + a0[i1])
            else:
                i4, x5 = ({other}, x3 - a1[i1])
            {turn}
            i1, i2, x3 = ({last}, i4, x5)
            continue
        else:
            break
    return (x3, i1, i2, fuel, 0)"""


def test_a_name_that_is_given_one_thing_is_that() -> None:
    found = through(alike, choosing())
    assert "i4" not in found
    assert "i1, x3 = (i1 + 1, x5)" in found


NEAR = {
    "two values": choosing(other="i1"),
    "a number": choosing("1", "1"),
    "what the loop carries, after that has changed": choosing("i1", "i1", turn="i1 = i1 + 1"),
}


@pytest.mark.parametrize("near", NEAR)
def test_else_the_name_stays(near: str) -> None:
    assert "i4" in through(alike, NEAR[near])


@given(
    st.sampled_from((choosing(), *NEAR.values(), choosing(turn="while i1 < 2: i1 = i1 + 1"))),
    st.lists(st.sampled_from(SPECIAL), min_size=1, max_size=6),
    st.sampled_from(("", "begun", "all")),
)
def test_what_is_computed_is_the_same(text: str, numbers: list[float], copies: str) -> None:
    assert stays(partial(alike, copies=copies), text, numbers)


COPIES = f"""
def kernel(a0, a1, fuel, one):
    i1, i2, x3 = (0, {N}, 0.0)
    while True:
        if i1 < i2:
            i4, i5, x6 = (i1, i2, x3)
            x7 = x6
            i8 = 0
            while True:
                if i8 < 2:
                    x7 = x7 + a0[i4]
                    i8 = i8 + 1
                    continue
                else:
                    i1, i2, x3 = (i4 + 1, i5, x7)
                    break
        else:
            break
    return (x3, i1, i2, fuel, 0)"""


def test_copies_that_loops_begin_with_go_where_that_is_wanted() -> None:
    assert "i4" in through(alike, COPIES)
    found = through(partial(alike, copies="begun"), COPIES)
    assert "i4" not in found
    assert "i5" not in found
    assert "i5" in through(lambda f: alike(f, copies="begun", but=compared(f)), COPIES)  # i1 < i2 asks for it
    assert stays(partial(alike, copies="begun"), COPIES, [0.5, -1.0])


COUNTER = """
def kernel(a0, a1, s1, fuel, one):
    i1 = s1
    s1 = s1 + 1
    return (i1, s1, fuel, 0)"""


def test_an_argument_that_is_assigned_is_two_things() -> None:
    """A regression: the counter of cells that a function has been given grew, and with it what had been its beginning."""
    assert "i1 = s1" in through(partial(alike, copies="all"), COUNTER)
    assert "i1" not in through(partial(alike, copies="all"), COUNTER.replace("    s1 = s1 + 1\n", ""))


def test_an_argument_that_is_assigned_is_not_assigned_once() -> None:
    """A regression: an index that went by a counter was resolved without end, the counter by itself and one."""
    found = ast.parse(COUNTER).body[0]
    assert isinstance(found, ast.FunctionDef)
    assert once(found).keys() == {"i1"}


# elements that all turns find at one place


FIXED = ("a3_[i6] = x11", "a4_[0] = a4_[0] + x11")


def test_an_element_at_one_place_is_held_while_the_loop_goes_on() -> None:
    found = with_ranges(going_down(FIXED))
    before, _, loop = found.partition("for i1k in _apart(i1turns):")
    assert "i1held0 = float(a4_[0]) if i1turns > 0 and 0 <= 0 < a4_.shape[0] else 0.0" in before
    assert "i1held0 = i1held0 + x11" in loop or "i1held0 = float(i1held0) + x11" in loop
    assert "a4_[0] = i1held0" in loop


OTHERS = (
    "a4_[i1 - i2] = a4_[0] + x11",
    "a4_[int(x11)] = x12; a4_[0] = x11",
    "a4_[int(x14)] = x12; a4_[0] = x11",
    "a5_[0] = x11 + a4_[0]",
)


@pytest.mark.parametrize("store", OTHERS)
def test_near_miss_an_element_that_may_be_another_one(store: str) -> None:
    assert "_apart" not in with_ranges(going_down((*WHOLE, *store.split("; "))))


@given(
    st.lists(
        st.sampled_from(
            (
                "a4_[0] = a4_[0] + x11",
                "if x11 > 0.0: a4_[1 - 1] = a4_[0] - x12",
                f"if {N} > 1: a4_[1] = a4_[0] * 0.5",
                f"if {N} <= 1: return (a0, a0, 0.0, 0.0, 0, fuel, 16)",
            )
        ),
        min_size=1,
        max_size=4,
    ),
    st.lists(st.sampled_from(SPECIAL), min_size=2, max_size=7),
    st.sampled_from((f"{N} - 1", "0", "-3")),
)
def test_sums_at_one_place_keep_their_order(stores: list[str], numbers: list[float], turns: str) -> None:
    text = going_down((*WHOLE, *stores), turns)
    assert "_apart" in with_ranges(text)
    assert agree(text, numbers)
