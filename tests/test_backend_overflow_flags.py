"""Sums, differences and products of integers in compiled code: what the processor says of overflow is what the reference says."""

from __future__ import annotations

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

import backend
from backend.ways_in.entry import entry_source, flagged
from semantics.type_language import INTEGER
from transforms.parse import parse_text

LARGE, SMALL = (1 << 63) - 1, -(1 << 63)
SUM = "if (i2 > 0 and i1 > _MAX - i2) or (i2 < 0 and i1 < _MIN - i2):"
DIFFERENCE = "if i2 < 0 and i1 > _MAX + i2 or (i2 > 0 and i1 < _MIN + i2):"
PROGRAMS = {
    "sum": ("def f(i: int, j: int):\n    return i + j\n", lambda i, j: i + j, "_sum_overflows"),
    "difference": ("def f(i: int, j: int):\n    return i - j\n", lambda i, j: i - j, "_difference_overflows"),
    "product": ("def f(i: int, j: int):\n    return i * j\n", lambda i, j: i * j, "_product_overflows"),
}
COMPILED = {name: backend.compile(parse_text(text, "f"), (INTEGER, INTEGER), "cpu") for name, (text, _, _) in PROGRAMS.items()}


def test_a_test_of_two_integers_asks_the_processor() -> None:
    assert flagged(SUM) == "if _sum_overflows(i1, i2):"
    assert flagged(DIFFERENCE) == "if _difference_overflows(i1, i2):"
    assert flagged("if _mul_overflows(2, i1):") == "if _product_overflows(2, i1):"


def test_what_computes_whether_a_product_overflows_is_left_out() -> None:
    source = entry_source(COMPILED["product"].code)
    assert "_mul_overflows" in COMPILED["product"].code.alone
    assert "_mul_overflows" not in source
    assert "_product_overflows(a0, a1)" in source


@pytest.mark.parametrize(
    "text",
    [
        *(SUM.replace(old, new, 1) for old, new in (("i1 <", "i3 <"), ("_MAX - i2", "_MAX - i3"), ("i2 > 0", "i2 >= 0"))),
        *(SUM.replace("i2", "1"), SUM.replace(":", " or i3 < 0:"), SUM.replace("_MAX -", "_MAX +")),
        DIFFERENCE.replace("i2 < 0", "i2 > 0"),
        "if i2 > 0 and i1 > _MAX - i2:",
    ],
)
def test_other_tests_stay_as_they_are(text: str) -> None:
    assert flagged(text) == text


NUMBERS = st.one_of(st.integers(SMALL, LARGE), st.integers(-3, 3), st.integers(0, 3).map(lambda n: LARGE - n))


@pytest.mark.parametrize("name", PROGRAMS)
@given(NUMBERS, st.one_of(NUMBERS, st.integers(0, 3).map(lambda n: SMALL + n)))
@example(LARGE, 1)
@example(SMALL, -1)
@example(SMALL, 1)
@example(-1, SMALL)
@example(0, SMALL)
@example(-2, LARGE)
@example(1 << 32, 1 << 31)
@example(-(1 << 32), 1 << 31)
@example((1 << 32) + 1, (1 << 31) - 1)
def test_overflow_ends_compiled_code_where_64_bits_do_not_hold_the_result(name: str, i: int, j: int) -> None:
    _, meaning, asked = PROGRAMS[name]
    compiled = COMPILED[name]
    assert asked in entry_source(compiled.code)
    value, status = compiled.entrance.status(i, j)
    fits = SMALL <= meaning(i, j) <= LARGE
    event("fits" if fits else "overflows")
    assert (status == 0) == fits
    assert not fits or value == meaning(i, j)
