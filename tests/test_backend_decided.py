"""Choices that an earlier choice has decided: the same values, and one choice where there were several."""

from __future__ import annotations

import ast

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from loop_texts import bits, executed
from test_backend_begun import SPECIAL

from backend.arrays import decided as module
from backend.arrays.decided import decided
from backend.arrays.guards import sized

FIRST = """if b1:
    x1 = a0[0] * 2.0
    a2_ = _empty((a0.shape[0],), _f64)
    for k1 in range(a0.shape[0]):
        a2_[k1] = a0[k1] + x1
    i3, a4_ = (0 if True else 1, a2_)
else:
    i3, a4_ = (0 if False else 1, _empty((0,), _f64))"""
SECOND = """if i3 == 0:
    x5 = a4_[0] + x8
else:
    x5 = x8"""


def text(*parts: str, first: str = FIRST, between: str = "x8 = a1[0]", second: str = SECOND, after: str = "pass") -> str:
    lines = [line for part in (first, between, second, *parts, after) for line in part.splitlines()]
    body = "\n".join(f"    {line}" for line in ["b1 = a0[0] > 0.0", "x7 = 0.0", "x9 = 0.0", *lines])
    return f"def kernel(a0, a1, fuel, one):\n{body}\n    return (x5, x7, x9)\n"


def one(source: str) -> str:
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    decided(function)
    return ast.unparse(ast.fix_missing_locations(function))


CHAIN = "if i3 == 0:\n    a10_ = _empty((1,), _f64)\n    a10_[0] = a4_[0]\n    i6, a7_ = (0, a10_)\nelse:\n    i6, a7_ = (1, a1)"
FIRES = {
    "the next": text(between="x8 = 1.0"),
    "behind what does not matter": text(),
    "behind a test that all runs again for": text(between="x8 = a1[0]\nif a0.shape[0] > 9:\n    return (x7, x7, 16)"),
    "the other way round": text(second="if i3 == 1:\n    x5 = x8\nelse:\n    x5 = a4_[0]"),
    "three": text(between=f"x8 = 0.5\n{CHAIN}", second="if i6 == 0:\n    x5 = a7_[0]\nelse:\n    x5 = a7_[1]"),
    "only one that does anything": text(second="if i3 == 0:\n    x7 = a4_[1]", after="x5 = x7"),
}
NEAR = {
    "more asks": text(after="x9 = x9 + i3"),
    "another array is read": text(after="if b1:\n    x9 = a4_[0]"),
    "the test changes": text(between="x8 = a1[0]\nb1 = x8 > 0.0"),
    "what the first reads is written": text(between="x8 = a1[0]\na0[0] = x8"),
    "what the first writes is read": text(first="x1 = 0.0\n" + FIRST, between="x8 = x1"),
    "a jump between": text(
        between="x8 = 1.0\nwhile True:\n    break",
        second=f"while True:\n    {SECOND.replace(chr(10), chr(10) + '    ')}\n    break",
    ),
    "the same number twice": text(first=FIRST.replace("if False else 1", "if True else 1")),
    "another number": text(second=SECOND.replace("== 0", "== 2")),
    "a test of something else as well": text(second=SECOND.replace("i3 == 0", "i3 == 0 and b1")),
    "a name that changes in between": text(between="x8 = a1[0]\na2_ = a1", second=SECOND),
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_the_later_choice_is_made_with_the_first(source: str) -> None:
    found = one(source)
    assert found.count("if i") == 0
    assert found.count("if b1") == 1
    for x in ([1.0, 2.0], [-1.0, 2.0]):
        values = executed(source, np.array(x), 0.5 + np.array(x))
        assert bits(executed(found, np.array(x), 0.5 + np.array(x))) == bits(values)


@pytest.mark.parametrize("near", NEAR)
def test_else_all_stays(near: str) -> None:
    assert one(NEAR[near]) == ast.unparse(ast.parse(NEAR[near]))


@st.composite
def functions(draw: st.DrawFn) -> str:
    """Choices that give a number and an array, what stands between them, and choices by that number."""
    parts, flags, at = [], [("b1", "a0")], 0
    for at in range(10, 10 + draw(st.integers(2, 5))):
        flag, array = draw(st.sampled_from(flags))
        test = "b1" if flag == "b1" else f"{flag} == {draw(st.sampled_from((0, 0, 1)))}"
        new = f"a{at}2_ = _empty((2,), _f64)\n    a{at}2_[0] = {array}[1] + x7\n    a{at}2_[1] = a1[0]"
        numbers = draw(st.sampled_from(((0, 1), (0, 1), (1, 0), (0, 0))))
        given = [f"i{at}, a{at}_ = ({number}, {v})" for number, v in zip(numbers, (f"a{at}2_", "a1"), strict=True)]
        parts.append(f"if {test}:\n    {new}\n    {given[0]}\nelse:\n    {given[1]}")
        parts.append(draw(st.sampled_from(("pass", "x7 = x7 + 1.0", "x9 = x9 * 2.0", "b1 = x9 > 1.0", "a1[0] = x9", "x9 = a0[1]"))))
        flags.append((f"i{at}", f"a{at}_"))
    parts.append(
        f"x5 = a{at}_[0]\nif i{at} == 0:\n    x9 = a{at}_[1]" if draw(st.booleans()) else f"if i{at} == 0:\n    x7 = a{at}_[1]"
    )
    return text(*parts, first="x5 = a0[0]", between="x8 = 1.0", second="pass")


@given(functions(), st.lists(st.sampled_from(SPECIAL), min_size=4, max_size=4))
def test_what_is_computed_is_the_same(source: str, numbers: list[float]) -> None:
    found = one(source)
    event(f"choices left out: {source.count('if ') - found.count('if ')}")
    first, second = np.array(numbers[:2]), np.array(numbers[2:])
    assert bits(executed(found, first.copy(), second.copy())) == bits(executed(source, first, second))


def test_a_choice_that_goes_past_what_matters_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    source = NEAR["what the first reads is written"]
    monkeypatch.setattr(module, "conflict", lambda one, other: False)
    values = [executed(t, np.array([1.0, 2.0]), np.array([3.0, 4.0])) for t in (one(source), source)]
    assert bits(values[0]) != bits(values[1])


def test_sizes_that_an_array_was_given_are_not_asked() -> None:
    source = """def kernel(a0, n):
    a1_ = _empty((a0.shape[0], 2), _f64)
    a2_ = _empty((n, 2), _f64)
    a3_ = a1_
    if a0.shape[0] != a1_.shape[0]:
        return (a0, 16)
    if a1_.shape[1] != a2_.shape[1]:
        return (a0, 16)
    if a1_.shape[0] != a2_.shape[0]:
        return (a0, 16)
    for k in range(a3_.shape[0]):
        if a1_.shape[1] != 2:
            return (a0, 16)
    return (a1_, 0)
"""
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    sized(function)
    tests = [ast.unparse(n.test) for n in ast.walk(function) if isinstance(n, ast.If)]
    assert tests == ["2 != a2_.shape[1]", "a0.shape[0] != a2_.shape[0]"]
    compile(ast.unparse(ast.fix_missing_locations(function)), "text", "exec")
