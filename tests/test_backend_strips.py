"""Numbers that no turn of a loop waits for, 128 at a time: which those are, and that all bits are those of turn after turn."""

from __future__ import annotations

import re
import struct
from array import array
from typing import Any

import numpy as np
import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st
from recursive_programs import wanted

import backend
from adjudge.values import to_value
from backend import toolchain
from backend.lowering import strips
from backend.lowering.strip_groups import column
from bench.by_index import TREE
from semantics.errors import OutOfFuel, Trap
from semantics.type_language import REAL, ArrayType
from semantics.values import same
from transforms.gradient_programs import calling
from transforms.parse import parse_text

LOOP = """def f(first, last, reals, integers, room0, end0):
    i1 = first
    while True:
        if i1 == last:
            return (reals[1 * room0 + i1], 0)
        i2 = integers[i1]
        if i2 < 0:
            return (0.0, 3)
        x3 = float(reals[1 * room0 + i2])
        x4 = _mul(x3, 2.5)
        x5 = _tanh(x4)
        x6 = x5 + float(i1)
        integers[2 * room0 + i1] = i2
        reals[1 * room0 + i1] = x5
        reals[end0 + 2 * i1 + 1] = x6
        i1 = i1 + 1
"""
SIZE, WIDTH = 200, 5


def test_what_only_cells_take_is_late() -> None:
    late, loop = strips.in_strips(LOOP)
    assert [line.strip() for line in late.splitlines() if " = v" in line or "(v" in line] == [
        "v2 = _mul(v0, 2.5)",
        "v3 = _tanh(v2)",
        "v4 = v3 + float(v1)",
        *("held[0 + k] = v3", "held[128 + k] = v4"),
    ]
    assert "_tanh" not in loop.replace("_lone_tanh", "")


def test_what_is_computed_in_vectors_is_a_multiple_of_them_and_has_no_sum() -> None:
    late, _ = strips.in_strips(LOOP)
    assert "whole = waiting + 7 & -8\n" in late
    assert "for k in range(waiting, whole):\n        held[0 + k] = 0.0\n        places[256 + k] = 0\n" in late
    (loop,) = re.findall(r"for k in _strip_of\(whole\):\n((?: {8}.*\n)*)", late)
    assert [line for line in loop.splitlines() if len(re.findall(r"\b(v\d+) = .*\b\1\b", line))] == []


def test_loops_that_do_the_same_by_other_names_have_one_function() -> None:
    again = LOOP.replace("x", "x1").split("    while True:")[1]
    assert len(strips.in_strips(f"{LOOP}    while True:{again}")) == 2
    other = again.replace("2.5", "3.5")
    assert len(strips.in_strips(f"{LOOP}    while True:{other}")) == 3


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        i1 = i1 + 1", "        i1 = i1 + 1 if x5 > 0.0 else i1 + 2"),
        ("        i1 = i1 + 1", "        if x6 > 0.0:\n            break\n        i1 = i1 + 1"),
        ("integers[2 * room0 + i1] = i2", "integers[2 * room0 + i1] = int(x5)"),
        ("integers[2 * room0 + i1] = i2", "if i2 == 7:\n            break"),
        ("integers[2 * room0 + i1] = i2", "i1 = i1 + 0"),
        ("        i1 = i1 + 1", "        x5 = 0.0\n        i1 = i1 + 1"),
        (
            "reals[end0 + 2 * i1 + 1] = x6",
            "x7 = float(reals[1 * room0 + i1])\n        reals[end0 + 2 * i1 + 1] = x6",
        ),
        ("reals[1 * room0 + i1] = x5", "reals[i1 + i2] = x5"),
        ("_tanh(x4)", "_tanh(x4 / x3)"),
        ("_tanh(x4)", "_log(x4)"),
        ("while True", "while i1 < last + 1"),
        ("x5 = _tanh(x4)", "for k in range(1):\n            x5 = _tanh(x4)"),
    ],
    ids=[
        *("a later turn needs it", "a test needs it", "an integer is made of it", "the turn may end before", "an index changes"),
        *("a name is assigned twice", "its column is read", "its column is not seen", "what may fail", "no vectors of it"),
        *("the loop ends otherwise", "in a loop over elements"),
    ],
)
def test_near_misses_stay_as_they_are(old: str, new: str) -> None:
    assert old in LOOP
    text = LOOP.replace(old, new)
    found = strips.in_strips(text)
    assert found == [text] or "_tanh" not in found[0]


def test_columns_are_told_by_all_but_the_cell() -> None:
    import ast

    def of(text: str) -> Any:
        return column(ast.parse(text, mode="eval").body)

    assert of("end2 + 3 * room3 + i1 + 1") == (("end2", 3, 1, 0), "i1 + 1")
    assert of("2 * (i1 + 1) + 1") == (("", 0, 2, 1), "i1 + 1")
    assert of("end2 + 4 * s1 + 2") == (("end2", 0, 4, 2), "s1")
    assert of("i1 + i2") is None
    assert column(ast.parse("reals[i1:i2]", mode="eval").body.slice) is None  # type: ignore[attr-defined]


# the same bits


def run(texts: list[str], links: list[int], first: int, last: int) -> Any:
    """What a loop gives, and what is in its memory then."""
    reals, integers = array("d", [0.0]) * (SIZE * WIDTH), array("q", [0]) * (SIZE * WIDTH)
    for k in range(SIZE):
        reals[SIZE + k], integers[k] = 0.3 + k / 64, links[k % len(links)] + (k if len(links) < SIZE else 0)
        integers[k] = min(integers[k], SIZE - 1)
    names = toolchain.bindings("python", "")
    for text in texts:
        exec(text, names)
    found = names["f"](first, last, reals, integers, SIZE, 3 * SIZE)
    return found[-1], struct.pack("d", found[0]), (reals.tobytes(), integers.tobytes()) if found[-1] == 0 else None


@given(st.lists(st.integers(-3, 60), min_size=1, max_size=30), st.integers(0, 60), st.integers(0, 130), st.booleans())
@example([0], 0, 130, False)
@example([-1], 40, 100, True)
@example([-40, 1, 1], 45, 130, False)
def test_a_loop_in_strips_leaves_the_same_bits(links: list[int], first: int, count: int, short: bool) -> None:
    """Whatever cells its turns read: those that wait, that do not yet, or none; and the same failure, if there is one."""
    before = strips.STRIP, strips.FEW, strips.ALONE
    strips.STRIP, strips.FEW, strips.ALONE = (5, 2, 3) if short else (128, 8, 0)
    try:
        text = strips.in_strips(LOOP)
    finally:
        strips.STRIP, strips.FEW, strips.ALONE = before
    right = run([LOOP], links, first, first + count)
    event(f"status {right[0]}")
    assert run(text, links, first, first + count) == right


def test_without_a_look_at_what_waits_bits_differ() -> None:
    texts = strips.in_strips(LOOP)
    planted = [text.replace("if low0_0 <= ", "if False and low0_0 <= ") for text in texts]
    links = [-1]
    assert run(texts, links, 100, 160) == run([LOOP], links, 100, 160) != run(planted, links, 100, 160)


# programs


def test_the_gradient_of_a_tree_in_strips_has_the_references_bits() -> None:
    """On a tree of which some levels are long and some nodes have one leaf; in CPython, and compiled."""
    types = (backend.general(ArrayType("f64", (None,))), REAL, REAL)
    program = calling(parse_text(TREE, "f"), "grad", (0, 1), types)
    right: Any = None
    for target in ("python", "cpu"):
        compiled = backend.compile(program, types, target)
        assert "_late0(" in compiled.code.alone
        for n in (1, 2, 150):
            arguments = (to_value(np.linspace(-1.0, 1.0, n)), 0.6, 0.7)
            right = wanted(program, arguments)
            assert same(compiled(*arguments), right)


def test_failures_are_those_of_turn_after_turn() -> None:
    types = (backend.general(ArrayType("f64", (None,))), REAL, REAL)
    outside = TREE.replace("tree(x, p, q, 0, x.shape[0])", "tree(x, p, q, 0, x.shape[0] + 1)")
    x = to_value(np.linspace(-1.0, 1.0, 150))
    with pytest.raises(Trap):
        backend.runnable(calling(parse_text(outside, "f"), "grad", 0, types), types, "python")(x, 0.6, 0.7)
    with pytest.raises(OutOfFuel):
        backend.compile(calling(parse_text(TREE, "f"), "grad", 0, types), types, "python", budget=700)(x, 0.6, 0.7)
