"""Arrays that turns begin as ZEROs, made once: the same bits, and no array made in a turn."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loop_texts import bits, executed
from test_backend_begun import SPECIAL

from backend.arrays import hoisting
from backend.arrays.hoisting import hoisted, lent

N = "a0.shape[0]"


def loop(first: str = "pass", size: str = N, turn: str = "pass", last: str = "a4_", carried: str = "a2_") -> str:
    """Three turns, each of which adds up a line in a new array, in a loop of its own, and then adds that to what all turns have."""
    return f"""
def kernel(a0, a1, fuel, one):
    a2_ = _full(({N},), 0.5, _f64)
    {first}
    i1, a9_ = (0, a2_)
    while True:
        if i1 < 3:
            {turn}
            i2, i3, a4_ = (i1, 0, _full(({size},), -0.0, _f64))
            while True:
                if i3 < {N}:
                    a4_[i3] = a4_[i3] + a1[i3] * i1
                    a4_[{N} - 1 - i3] = a4_[{N} - 1 - i3] - 0.5 * a0[i3]
                    i3, a4_ = (i3 + 1, a4_)
                    continue
                else:
                    break
            for k in range({N}):
                a2_[k] = a9_[k] + {last}[k]
            i1, a9_ = (i2 + 1, {carried})
            continue
        else:
            break
    return (a2_, a9_)
"""


def once(text: str) -> str:
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    hoisted(function)
    return ast.unparse(ast.fix_missing_locations(function))


def agree(text: str, numbers: list[float]) -> bool:
    x = np.array(numbers)
    return bits(executed(once(text), x, 2.0 * x)) == bits(executed(text, x, 2.0 * x))


@given(st.lists(st.sampled_from(SPECIAL), min_size=1, max_size=4))
def test_a_turn_fills_an_array_that_is_made_once(numbers: list[float]) -> None:
    before, _, inside = once(loop()).partition("while True:")
    assert f"a4_all = _empty(({N},), _f64)" in before
    assert "_full(" not in inside
    assert agree(loop(), numbers)


NEAR = {
    "a size that is no argument's": loop(size="3 + i1 - i1"),
    "an array that the next turn reads": loop(turn="a4_ = a9_ if i1 > 0 else a2_", first="a4_ = a2_"),
    "an array that is given to the next turn": loop(carried="a4_"),
    "an array that has been given out": loop(last="a4_", carried="(a4_ if i1 == 1 else a9_)"),
}


@pytest.mark.parametrize("near", NEAR)
def test_else_each_turn_makes_its_own(near: str) -> None:
    assert once(NEAR[near]) == ast.unparse(ast.parse(NEAR[near]))


def test_an_array_that_outlives_its_turn_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hoisting, "_mentions", lambda block, known: Counter())
    assert not agree(NEAR["an array that has been given out"], [1.0, -2.0, 0.25])


def own(turn: str = "pass", size: str = "a0.shape[0]", made: str = "_empty", carried: str = "a2_", after: str = "pass") -> str:
    """Three turns, each of which makes two arrays for itself."""
    fill = ", -0.0" if made == "_full" else ""
    return f"""
def kernel(a0, a1, fuel, one):
    a2_ = _full(({N},), 0.5, _f64)
    i1, a9_ = (0, a2_)
    while True:
        if i1 < 3:
            a3_ = {made}(({size},){fill}, _f64)
            a4_ = _empty(({N}, 2), _f64)
            {turn}
            for k in range({N}):
                a3_[k] = a9_[k] + a1[k]
                a4_[k, 1] = a3_[k] * i1
            for k in range({N}):
                a2_[k] = a4_[k, 1] - 0.5 * a0[k]
            i1, a9_ = (i1 + 1, {carried})
            {after}
            continue
        else:
            break
    return (a2_, a9_)
"""


def given(text: str) -> str:
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    lent(function)
    return ast.unparse(ast.fix_missing_locations(function))


def same(text: str) -> bool:
    x = np.array([1.0, -2.0, 0.25])
    return bits(executed(given(text), x, 2.0 * x)) == bits(executed(text, x, 2.0 * x))


@pytest.mark.parametrize("size", ["a0.shape[0]", "a0.shape[0] + 2", "3"])
def test_a_turn_has_the_memory_of_the_turn_before(size: str) -> None:
    before, _, inside = given(own(size=size)).partition("while True:")
    assert f"a3_ = _empty(({size},), _f64)" in before
    assert f"a4_ = _empty(({N}, 2), _f64)" in before
    assert "_empty(" not in inside
    assert same(own(size=size))


def no_turns(text: str) -> str:
    """As many turns as elements, of which loops go over all but one."""
    text = text.replace("i1 < 3", f"i1 < {N}").replace(f"_empty(({N}, 2)", f"_empty(({N} - 1, 2)")
    return (
        text.replace(f"range({N})", f"range({N} - 1)")
        .replace(f"i3 < {N}", f"i3 < {N} - 1")
        .replace(f"{N} - 1 - i3", f"{N} - 2 - i3")
    )


@pytest.mark.parametrize(("hoist", "text"), [(given, own(size=f"{N} - 1", made="_full")), (once, loop(size=f"{N} - 1"))])
def test_before_the_loop_nothing_has_tested_a_size(hoist: Callable[[str], str], text: str) -> None:
    text = no_turns(text)
    assert f"_empty((max({N} - 1, 0)," in hoist(text).partition("while True:")[0]
    for x in (np.array([]), np.array([1.0]), np.array([1.0, -2.0, 0.25])):
        assert bits(executed(hoist(text), x, 2.0 * x)) == bits(executed(text, x, 2.0 * x))


NESTED = f"""
def kernel(a0, a1, fuel, one):
    i1, x2 = (0, 0.0)
    while True:
        if i1 < {N}:
            i3, x4 = (0, x2)
            while True:
                if i3 < i1 + 1:
                    a5_ = _empty(({N} - 1,), _f64)
                    for k in range({N} - 1):
                        a5_[k] = a0[k] * a1[k + 1]
                    for k in range({N} - 1):
                        x4 = x4 + a5_[k]
                    i3 = i3 + 1
                    continue
                else:
                    break
            i1, x2 = (i1 + 1, x4)
            continue
        else:
            break
    return (a0, x2)
"""


def test_an_array_of_a_loop_in_a_loop_is_made_before_both() -> None:
    before, _, inside = given(NESTED).partition("while True:")
    assert f"a5_ = _empty((max({N} - 1, 0),), _f64)" in before
    assert "_empty(" not in inside
    for x in (np.array([]), np.array([1.0]), np.array([1.0, -2.0, 0.25])):
        assert bits(executed(given(NESTED), x, 2.0 * x)) == bits(executed(NESTED, x, 2.0 * x))


def test_what_a_turn_needs_filled_it_fills() -> None:
    text = own("a3_[0] = a3_[1]", made="_full")
    assert "a3_[a3_l0] = -0.0" in given(text).partition("while True:")[2]
    assert same(text)


@pytest.mark.parametrize("made", ["_empty", "_full"])
def test_a_loop_in_a_loop_lends_to_both(made: str) -> None:
    inner = "\n".join(f"    {line}" for line in own(made=made).split("while True:")[1].split("    return")[0].splitlines())
    text = own(
        "i2, a8_ = (0, a9_)\n            while True:"
        + "\n        ".join(
            inner.replace("i1", "i2").replace("a3_", "a5_").replace("a4_", "a6_").replace("a9_", "a8_").splitlines()
        )
    )
    assert not {"_empty(", "_full("} & {*re.findall(r"_\w+\(", given(text).partition("while True:")[2])}
    assert same(text)


@pytest.mark.parametrize(
    "text",
    [
        own(size="3 + i1 - i1"),
        own(carried="a3_"),
        own(turn="a3_ = a9_"),
        own(after="a9_ = a3_"),
    ],
    ids=["a size that is no argument's", "given to the next turn", "assigned again", "given to the next turn by another name"],
)
def test_else_a_turn_makes_a_new_one(text: str) -> None:
    assert "a3_ = _empty(" in given(text).partition("while True:")[2]


def test_memory_that_outlives_its_turn_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hoisting, "_mentions", lambda block, known: Counter())
    assert not same(
        own("a3_[0] = a9_[0]", carried="(a3_ if i1 == 0 else a9_)").replace("a3_[k] = a9_[k] + a1[k]", "a3_[k] = a9_[k] + a3_[0]")
    )
