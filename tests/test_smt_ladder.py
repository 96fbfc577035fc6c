"""
The ladder of formats on the rules whose verdicts are known: bit-exact, conditional, refuted. In tiny and half precision here; the
wide formats belong to `adjudge prove`.
"""

from __future__ import annotations

import math

import pytest
from rule_controls import EXACT

from checkers.smt.equality import equal_in_ieee, ladder
from checkers.smt.ieee import DOUBLE, HALF, TINY
from checkers.verdict import Passed, Proved, Refuted
from semantics.machine import run
from semantics.values import same
from transforms.patterns.rule import PatternRule, pattern_rule

CONDITIONAL = (
    ("x * 0.0 -> 0.0", "x > 0 and x - x == 0"),
    ("x - x -> 0.0", "x - x == 0"),
    ("x / x -> 1.0", "x - x == 0 and x != 0"),
    ("-(x - y) -> y - x", "x != y"),
    ("x - y == 0.0 -> x == y", "x - x == 0 and y - y == 0"),
)
REFUTED = (
    "x + 0.0 -> x",
    "0.0 - x -> -x",
    "x * 0.0 -> 0.0",
    "x - x -> 0.0",
    "x / x -> 1.0",
    "-(x - y) -> y - x",
    "-(x + y) -> -x - y + 0.0",
    "x / 3.0 -> x * 0.3333333333333333",
    "x * 2.0 / 2.0 -> x",
    "x / 2.0 * 2.0 -> x",
    "x + y - y -> x",
    "x * y / y -> x",
    "x + y + z -> x + (y + z)",
    "x * y * z -> x * (y * z)",
    "x * (y + z) -> x * y + x * z",
    "x / y -> x * (1.0 / y)",
    "1.0 / (1.0 / x) -> x",
    "sqrt(x * x) -> abs(x)",
    "-x if x < 0.0 else x -> abs(x)",
    "not (x < y) -> x >= y",
    "x == x -> True",
    "max(x, y) -> max(y, x)",
)


def rule(text: str, when: str | None = None) -> PatternRule:
    return pattern_rule(text, when=when)


@pytest.mark.parametrize("text", EXACT)
def test_a_bit_exact_rule_is_proved(text: str) -> None:
    assert isinstance(equal_in_ieee(rule(text).left, rule(text).right, TINY), Proved)


@pytest.mark.parametrize("text", EXACT[:12])
def test_what_holds_in_the_screen_holds_in_half_precision(text: str) -> None:
    assert isinstance(equal_in_ieee(rule(text).left, rule(text).right, HALF), Proved)


@pytest.mark.parametrize(("text", "when"), CONDITIONAL)
def test_a_conditional_rule_is_proved_under_its_condition_and_refuted_without(text: str, when: str) -> None:
    found = rule(text, when)
    assert isinstance(equal_in_ieee(found.left, found.right, TINY, found.condition), Proved)
    for format in (TINY, HALF, DOUBLE):
        assert isinstance(equal_in_ieee(found.left, found.right, format), Refuted)


@pytest.mark.parametrize("text", REFUTED)
def test_a_rule_that_loses_bits_is_refuted_by_a_double_that_shows_it(text: str) -> None:
    found = rule(text)
    assert isinstance(equal_in_ieee(found.left, found.right, TINY), Refuted)
    verdict = equal_in_ieee(found.left, found.right, DOUBLE)
    assert isinstance(verdict, Refuted)
    point = verdict.counterexample.inputs.values()
    assert not same(run(found.left, *point), run(found.right, *point))


def test_the_ladder_tells_a_real_identity_from_a_bit_exact_one() -> None:
    real, tiny, half = ladder(rule("x + 0.0 -> x"), (TINY, HALF))
    assert isinstance(real, Proved)
    for verdict in (tiny, half):
        assert isinstance(verdict, Refuted)
        zero = verdict.counterexample.inputs["x"]
        assert zero == 0
        assert math.copysign(1.0, zero) == -1.0


def test_a_wrong_rule_falls_on_the_first_rung() -> None:
    assert all(isinstance(v, Refuted) for v in ladder(rule("x * 2.0 -> x * x"), (TINY,)))


def test_a_function_that_no_standard_fixes_is_run_and_not_proved() -> None:
    found = rule("cos(x) + 0.0 -> cos(x)")
    verdict = equal_in_ieee(found.left, found.right, DOUBLE)
    assert isinstance(verdict, (Passed, Refuted))
    found = rule("cos(-x) -> cos(x)")
    verdict = equal_in_ieee(found.left, found.right, DOUBLE)
    assert isinstance(verdict, Passed)
    assert verdict.n > 20
