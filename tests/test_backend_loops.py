"""The passes over generated code with arrays: what they do, what they must not, and that no bit changes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from loop_texts import bits, executed, functions

from backend.arrays import contraction, fusion, needed
from backend.arrays.effects import Effects
from backend.arrays.needed import _made
from backend.arrays.tightening import tightened

X, Y = np.array([1.5, -0.0, 2.0, -7.25]), np.array([0.1, 3.0, -2.0, 5.0])


def kernel(*lines: str) -> str:
    return "\n".join(["def kernel(a0, a1, fuel, one):", *(f"    {line}" for line in lines)])


def unchanged(text: str) -> str:
    """The text after all passes, once it has been seen to give the same bits."""
    found = tightened(text)
    assert bits(executed(found, X.copy(), Y.copy())) == bits(executed(text, X.copy(), Y.copy())), found
    return found


def in_full(text: str) -> str:
    """The text with the names of sizes as what they are."""
    return re.sub(r"\bn_(a\d)_(\d)\b", r"\1.shape[\2]", text)


@given(functions())
def test_no_bit_changes_and_no_argument(text: str) -> None:
    x, y = X.copy(), Y.copy()
    found = tightened(text)
    wanted = bits(executed(text, x, y))
    assert bits(executed(found, x, y)) == wanted
    assert (x.tobytes(), y.tobytes()) == (X.tobytes(), Y.tobytes())
    event(f"{text.count('for ') - found.count('for ')} loops fewer")


ROW = ("b = _empty((a0.shape[0],), _f64)", "for k1 in range(a0.shape[0]):", "    b[k1] = a0[k1] * 2.0")


def test_a_loop_joins_one_whose_elements_it_reads_and_the_array_between_is_a_number() -> None:
    text = unchanged(kernel(*ROW, "s = -0.0", "for k2 in range(a0.shape[0]):", "    s = s + b[k2]", "return (s, fuel, 0)"))
    assert text.count("for ") == 1
    assert "_empty" not in text


@pytest.mark.parametrize(
    "lines",
    [
        (*ROW, "s = -0.0", "for k2 in range(a0.shape[0]):", "    s = s + b[a0.shape[0] - 1 - k2]", "return (s, fuel, 0)"),
        (*ROW, "s = b[0]", "for k2 in range(a0.shape[0]):", "    s = s + b[k2]", "return (s, fuel, 0)"),
        (
            "s = -0.0",
            *ROW[:2],
            "    s = s + a0[k1]",
            "t = -0.0",
            "for k2 in range(a0.shape[0]):",
            "    t = t + s",
            "return (t, fuel, 0)",
        ),
        (
            *ROW,
            "c = _reshape(b, (2, 2))",
            "s = -0.0",
            "for k2 in range(a0.shape[0]):",
            "    s = s + c[1, 0]",
            "return (s, fuel, 0)",
        ),
        (*ROW, "s = -0.0", "for k2 in range(a1.shape[0]):", "    s = s + b[k2]", "return (s, fuel, 0)"),
    ],
    ids=["backwards", "an element between", "a sum between", "another view", "another size"],
)
def test_a_loop_joins_none_of_which_it_needs_more(lines: tuple[str, ...]) -> None:
    assert unchanged(kernel(*lines)).count("for ") == 2


MATRIX = (
    "b = _empty((a0.shape[0], a1.shape[0]), _f64)",
    "s = -0.0",
    "for i in range(a0.shape[0]):",
    "    for j in range(a1.shape[0]):",
    "        b[i, j] = a0[i] - a1[j]",
)


@pytest.mark.parametrize(("called", "beside"), [("_tanh", "2.0 *"), ("_cosh", "2.0 *"), ("_exp", "2.0 *"), ("_tanh", "_tanh")])
def test_a_loop_whose_function_takes_vectors_joins_no_nest(called: str, beside: str) -> None:
    row = ["b_ = _empty((a0.shape[0],), _f64)", "for k in range(a0.shape[0]):", f"    b_[k] = {called}(float(a0[k]))"]
    nest = [
        "c_ = _empty((a0.shape[0], 2), _f64)",
        "for i in range(a0.shape[0]):",
        "    for j in range(2):",
        "        c_[i, j] = a0[i]",
    ]
    vector = ["d_ = _empty((a0.shape[0],), _f64)", "for n in range(a0.shape[0]):", f"    d_[n] = {beside}(float(a0[n]))"]
    apart = called != "_exp"
    for first, second in ((row, nest), (nest, row)):
        assert unchanged(kernel(*first, *second, "return (b_, c_)")).count("for ") == 2 + apart
    assert unchanged(kernel(*row, *vector, "return (b_, d_)")).count("for ") == 1, "no nest: they are one"


def test_a_turn_that_reads_only_what_it_wrote_needs_the_memory_of_one_turn() -> None:
    both = (*MATRIX, "    for l in range(a1.shape[0]):", "        s = s + b[i, l] * b[i, 0]", "return (s, fuel, 0)")
    text = in_full(unchanged(kernel(*both)))
    assert "b = _empty((a1.shape[0],), _f64)" in text
    assert "b[0]" in text


@pytest.mark.parametrize(
    "lines",
    [
        (*MATRIX, "        s = s + b[i, 0]", "return (s, b, fuel, 0)"),
        (
            *MATRIX[:2],
            "for i in range(a0.shape[0]):",
            "    if s > 0.0:",
            "        b[i, 0] = 1.0",
            "    s = s + b[i, 0]",
            "return (s, fuel, 0)",
        ),
        (*MATRIX, "        s = s + b[0, j]", "return (s, fuel, 0)"),
    ],
    ids=["given out", "perhaps not written", "the part of another turn"],
)
def test_other_arrays_keep_their_sizes(lines: tuple[str, ...]) -> None:
    assert "_empty((a0.shape[0], a1.shape[0]), _f64)" in in_full(tightened(kernel(*lines)))


def test_tests_of_sizes_come_first_and_give_one_name_to_each() -> None:
    test = ("if a0.shape[0] != a1.shape[0]:", "    return (a0, fuel, 16)")
    loop = ("c = _empty((a1.shape[0],), _f64)", "for k2 in range(a1.shape[0]):", "    c[k2] = b[k2] + a1[k2]")
    text = unchanged(kernel(*ROW, *test, *loop, "return (c, fuel, 0)"))
    assert text.index("!=") < text.index("_empty")
    assert text.count("for ") == 1
    other = (test[0], "    return (a0, fuel, 1)")  # of another status the order matters
    assert unchanged(kernel(*ROW, *other, *loop, "return (c, fuel, 0)")).count("for ") == 2


@pytest.mark.parametrize("change", ["b.T[0] = 7.0", "b.fill(7.0)", "_reshape(b, (2, 2))[1, 1] = 7.0"])
def test_an_array_may_be_written_to_in_other_ways(change: str) -> None:
    lines = (*ROW, change, "s = 0.0", "for k2 in range(a0.shape[0]):", "    s = s + b[k2]", "return (s, fuel, 0)")
    assert unchanged(kernel(*lines)).count("for ") == 2


def test_what_nothing_needs_is_left_out() -> None:
    text = unchanged(kernel(*ROW, "s = -0.0", "for k2 in range(a0.shape[0]):", "    s = s + b[k2]", "return (a1, fuel, 0)"))
    assert "for " not in text
    assert "for " in unchanged(kernel(*ROW, "c = _reshape(b, (2, 2))", "return (c, fuel, 0)"))


CARRIED = (
    "g, h = (_full((a0.shape[0],), 2.0, _f64), _full((a0.shape[0],), 3.0, _f64))",
    "b, c, k1, s = (g, h, 0, -0.0)",
    "while True:",
    "    if k1 >= a0.shape[0]:",
    "        break",
    "    m = _full((a0.shape[0],), False, _bool)",
    "    m[k1] = True",
    "    d = _empty((b.shape[0],), _f64)",
    "    for k2 in range(b.shape[0]):",
    "        if m[k2]:",
    "            d[k2] = b[k2] + 1.0",
    "        else:",
    "            d[k2] = b[k2]",
    "    b, c, k1, s = (d, b, k1 + 1, s + a0[k1])",
)


@pytest.mark.parametrize(("name", "kept"), [("f0__g", True), ("kernel", False)])
def test_what_a_function_keeps_for_another_is_needed(name: str, kept: bool) -> None:
    """One that fills no stack with arrays does not ask how much memory there is, and may read nothing of it."""
    lines = (*ROW, "s = -0.0", "for k2 in range(a0.shape[0]):", "    s = s + b[k2]", "reals[3] = s", "return (fuel, 0)")
    text = kernel(*lines).replace("kernel(a0, a1", f"{name}(a0, reals, integers")
    assert ("reals[3] = s" in tightened(text)) == kept


def test_an_array_whose_sizes_alone_are_needed_is_carried_and_never_filled() -> None:
    text = unchanged(kernel(*CARRIED, "return (s, b.shape[0], fuel, 0)"))
    assert "for " not in text
    assert "_bool" not in text
    assert "b, k1, s = " in text
    text = unchanged(kernel(*ROW, "c = _full((3,), 0.0, _f64)", "d = _reshape(c, (3, 1))", "return (d.shape[0], fuel, 0)"))
    assert "c = _empty((3,), _f64)" in text


@pytest.mark.parametrize("result", ["b[0]", "c[0]", "_reshape(b, (2, 2))", "b", "1 if b[0] > 0.0 else 2"])
def test_an_array_of_which_an_element_is_needed_is_filled(result: str) -> None:
    assert "for " in unchanged(kernel(*CARRIED, f"r = {result}", "return (r, fuel, 0)"))


def _names(its: Effects) -> frozenset[tuple[str, str]]:
    return frozenset(("name", name) for name in its.reads)


PLANTED: list[tuple[Any, str, Any]] = [
    (fusion, "parts_apart", lambda *_: True),
    (fusion, "conflict", lambda *_: False),
    (contraction, "_covers", lambda *_: True),
    (needed, "_part", lambda node, its, effects, around=(): needed.Part(_made(node, its), _names(its))),
]


@pytest.mark.parametrize(("module", "name", "fault"), PLANTED, ids=[name for _, name, _ in PLANTED])
def test_a_pass_without_one_of_its_conditions_is_caught(
    module: Any, name: str, fault: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, fault)
    guilty = 0
    for lines in (
        (*ROW, "s = -0.0", "for k2 in range(a0.shape[0]):", "    s = s + b[a0.shape[0] - 1 - k2]", "return (s, fuel, 0)"),
        (*ROW, "b[0] = 7.0", "s = 0.0", "for k2 in range(a0.shape[0]):", "    s = s + b[k2]", "return (s, fuel, 0)"),
        (
            *ROW[:1],
            "s = 0.0",
            "for t in range(a1.shape[0]):",
            "    for k in range(a0.shape[0]):",
            "        if t > 0:",
            "            s = s + b[k]",
            "        b[k] = a0[k] + s",
            "return (s, fuel, 0)",
        ),
    ):
        try:
            unchanged(kernel(*lines))
        except (AssertionError, UnboundLocalError):
            guilty += 1
    assert guilty
