"""Cells a known number apart: which those are, and that one look at what waits, and one place, serve for all of them."""

from __future__ import annotations

import ast
import re
import struct
from array import array
from typing import Any

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from backend import toolchain
from backend.lowering import strips
from backend.lowering.strip_cells import followed

LOOP = """def f(first, last, reals, integers, room0):
    i1 = first
    s1 = first
    while True:
        if i1 == last:
            return (reals[1 * room0 + i1], 0)
        i2 = integers[i1]
        if i2 < 0:
            return (0.0, 3)
        x3 = float(reals[1 * room0 + i2])
        i4 = i2 + 1
        x4 = float(reals[1 * room0 + i4])
        x5 = _tanh(x3)
        x6 = x5 - x4
        reals[1 * room0 + s1] = x5
        s1 = s1 + 1
        reals[1 * room0 + s1] = x6
        s1 = s1 + 1
        i1 = i1 + 1
"""
SIZE = 200


def cells(text: str) -> list[Any]:
    """Where what stands in `at(…)` is, after the statements before it."""
    found = []
    for statement, at in followed(ast.parse(text).body):
        if isinstance(statement, ast.Expr):
            found.append(at(ast.unparse(statement.value.args[0])))  # type: ignore[attr-defined]
    return found


def test_a_name_and_a_constant_is_that_much_from_its_root() -> None:
    assert cells("at(s)\ns = s + 1\nat(s)\nt = s - 3\nat(t + 2)\nu = t\nat(u)") == [("s", 0), ("s", 1), ("s", 0), ("s", -2)]


@pytest.mark.parametrize(
    "change", ["s = 2 * s", "s = s + t", "s = 7", "if t:\n    s = s + 1", "for s in r:\n    pass", "s, t = t, s", "s = s + 1.0"]
)
def test_what_is_assigned_something_else_has_another_root(change: str) -> None:
    before, after = cells(f"at(s)\n{change}\nat(s)")
    assert before == ("s", 0)
    assert after is not None
    assert after[0] not in ("s", "t")


def test_a_sum_of_two_names_is_no_cell() -> None:
    assert cells("at(s + t)\nat(2 * s)") == [None, None]


def test_one_place_is_kept_for_writes_a_known_number_of_places_apart() -> None:
    late, loop = strips.in_strips(LOOP)
    assert "reals[places[0 + k]] = held[0 + k]\n        reals[places[0 + k] + 1] = held[128 + k]" in late
    assert "places_0 = _places(128)" in loop
    assert re.findall(r"(?:low|high)0_0 = (cell\d)", loop) == ["cell0", "cell1"]


def test_places_that_are_not_are_both_kept() -> None:
    late, loop = strips.in_strips(LOOP.replace("s1 = s1 + 1", "s1 = 2 * s1", 1))
    assert "reals[places[0 + k]] = held[0 + k]\n        reals[places[128 + k]] = held[128 + k]" in late
    assert "places_0 = _places(256)" in loop
    assert len(re.findall(r"(?:low|high)0_0 = cell\d", loop)) == 4


def test_one_look_at_what_waits_is_for_all_cells_that_are_read() -> None:
    assert re.findall(r"if (low0_0 .*):", strips.in_strips(LOOP)[1]) == ["low0_0 <= i2 + 1 and i2 <= high0_0"]
    apart = strips.in_strips(LOOP.replace("i4 = i2 + 1", "i4 = integers[i1 + 1]"))[1]
    assert re.findall(r"if low0_0 <= (i[24]) and \1 <= high0_0:", apart) == ["i2", "i4"]


def test_where_more_may_wait_before_the_second_is_read_it_has_a_look_of_its_own() -> None:
    read = "        x7 = float(reals[1 * room0 + i8])\n        integers[2 * room0 + i1] = int(x7 > 0.0)\n"
    text = LOOP.replace("        i1 = i1 + 1\n", f"        i8 = i2 + 2\n{read}        i1 = i1 + 1\n")
    assert re.findall(r"if (low0_0 .*):", strips.in_strips(text)[1]) == [
        "low0_0 <= i2 + 1 and i2 <= high0_0",
        "low0_0 <= i8 and i8 <= high0_0",
    ]


def run(texts: list[str], links: list[int], first: int, last: int) -> Any:
    """What a loop gives, and what is in its memory then."""
    reals, integers = array("d", [0.0]) * (3 * SIZE), array("q", [0]) * (3 * SIZE)
    for k in range(SIZE):
        reals[SIZE + k], integers[k] = 0.3 + k / 64, min(links[k % len(links)] + k, SIZE - 1)
    names = toolchain.bindings("python", "")
    for text in texts:
        exec(text, names)
    found = names["f"](first, last, reals, integers, SIZE)
    return found[-1], struct.pack("d", found[0]), reals.tobytes() if found[-1] == 0 else None


def in_strips(strip: int) -> list[str]:
    """The loop with strips of this many turns, none of them alone."""
    before = strips.STRIP, strips.FEW, strips.ALONE
    strips.STRIP, strips.FEW, strips.ALONE = strip, 2, 0
    try:
        return strips.in_strips(LOOP)
    finally:
        strips.STRIP, strips.FEW, strips.ALONE = before


@given(st.lists(st.integers(-4, 40), min_size=1, max_size=20), st.integers(0, 60), st.integers(0, 60), st.sampled_from((5, 128)))
@example([-2], 20, 10, 128)
@example([1], 0, 60, 128)
@example([-1, 3], 60, 60, 5)
def test_the_same_bits(links: list[int], first: int, count: int, strip: int) -> None:
    right = run([LOOP], links, first, first + count)
    event(f"status {right[0]}")
    assert run(in_strips(strip), links, first, first + count) == right


@pytest.mark.parametrize(
    ("look", "narrower", "links"),
    [("low0_0 <= i2 + 1 and", "low0_0 <= i2 and", [-2]), ("and i2 <= high0_0", "and i2 + 1 <= high0_0", [0, 0])],
)
def test_with_a_look_at_fewer_cells_bits_differ(look: str, narrower: str, links: list[int]) -> None:
    texts = in_strips(128)
    planted = [text.replace(look, narrower) for text in texts]
    assert planted != texts
    assert run(texts, links, 20, 30) == run([LOOP], links, 20, 30) != run(planted, links, 20, 30)
