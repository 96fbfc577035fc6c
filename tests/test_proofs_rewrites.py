"""The rules of simplify keep what they claim, and planted wrong rules do not."""

from __future__ import annotations

import pytest

from checkers.smt.equality import judge_in_ieee
from checkers.smt.ieee import DOUBLE, TINY
from checkers.verdict import OutOfScope, Passed, Proved, Refuted, Unknown
from proofs import prove
from proofs.rewrites import assignments, claim, in_format, judge, over_reals
from semantics.machine import run
from semantics.values import same
from transforms.patterns.rule import PatternRule, pattern_rule
from transforms.simplify import EXACT_RULES, FAST_RULES, ZERO_RULES

EXECUTED = ("**",)  # pow is no operation of the standard: its rules are run on awkward numbers in a format


@pytest.mark.parametrize("rule", [*EXACT_RULES, *ZERO_RULES], ids=str)
def test_a_shipped_bit_exact_rule_is_proved_in_the_screen(rule: PatternRule) -> None:
    verdict = claim(rule, (TINY,)).verdict
    allowed: tuple[type, ...] = (Proved, Passed) if any(s in rule.text for s in EXECUTED) else (Proved,)
    assert isinstance(verdict, allowed), verdict


@pytest.mark.parametrize("rule", FAST_RULES, ids=str)
def test_a_shipped_fast_rule_is_proved_over_the_reals(rule: PatternRule) -> None:
    verdict = over_reals(rule).verdict
    assert isinstance(verdict, Proved), verdict


def test_a_rule_of_the_reals_comes_with_the_double_that_tells_it_apart() -> None:
    rule = pattern_rule("x * y / y -> x", when="y != 0", domain="REAL")
    real, double = prove(rule)
    assert isinstance(real, Proved)
    assert isinstance(double, Refuted)
    assert double.kind == "convention"  # it never claimed the bits
    point = double.counterexample.inputs.values()
    assert not same(run(rule.left, *point), run(rule.right, *point))


WRONG = (
    ("x + 0.0 -> x", "BITS", None),
    ("x: number | x + 0 -> x", "BITS", None),  # right on integers, wrong on -0.0
    ("x * 0.0 -> 0.0", "IEEE", None),
    ("x * 0.0 -> 0", "REAL", None),
    ("x: any | not (not x) -> not x", "BITS", None),
    ("x: i64 | x // 2 * 2 -> x", "BITS", None),
    ("x: i64, y: i64 | x % y -> x - y", "BITS", "y != 0"),
    ("sqrt(x * x) -> x", "REAL", None),
    ("x / y * y -> x", "IEEE", "y != 0"),
    ("where(x < 0.0, y, x) -> where(x > 0.0, x, y)", "BITS", None),
    ("log(x / y) -> log(x) - log(y)", "REAL", "x * y > 0"),  # both may be negative
    ("min(2.0 * x, 0.0) -> 2.0 * min(-x, 0.0)", "REAL", None),
    ("d: any, e: any | gadd(d, e) -> d", "BITS", None),
)


@pytest.mark.parametrize(("text", "domain", "when"), WRONG)
def test_a_wrong_rule_is_refuted(text: str, domain: str, when: str | None) -> None:
    verdict = claim(pattern_rule(text, domain=domain, when=when), (TINY,)).verdict
    assert isinstance(verdict, Refuted), verdict
    assert verdict.kind == "fault"


def test_a_condition_is_needed_and_used() -> None:
    assert isinstance(over_reals(pattern_rule("x / x -> 1.0", domain="REAL")).verdict, Proved)  # the left side is undefined at 0
    assert isinstance(over_reals(pattern_rule("x * 1.0 -> x * x / x", domain="REAL")).verdict, Refuted)
    fixed = pattern_rule("x * 1.0 -> x * x / x", domain="REAL", when="x != 0")
    assert isinstance(over_reals(fixed).verdict, Proved)


def test_a_number_is_tried_as_a_real_and_as_an_integer() -> None:
    rule = pattern_rule("x: number | x - 0 -> x")
    assert assignments(rule) == [("real",), ("integer",)]
    halved = pattern_rule("x: number | x // 1 -> x")  # right on integers, wrong on 0.5
    assert isinstance(over_reals(halved).verdict, Refuted)


def test_integers_need_no_format() -> None:
    rule = pattern_rule("x: i64 | x * 0 -> 0")
    assert isinstance(in_format(rule, DOUBLE).verdict, OutOfScope)
    assert isinstance(claim(rule, (TINY,)).verdict, Proved)


def test_every_rung_has_its_evidence() -> None:
    for judgment in judge(pattern_rule("x * y -> y * x"), (TINY,)):
        assert isinstance(judgment.verdict, Proved)
        assert judgment.seconds > 0
    assert judge(pattern_rule("x * y -> y * x"), (TINY,))[1].rlimit > 0


def test_a_budget_too_small_is_unknown() -> None:
    rule = pattern_rule("x / 2.0 / 2.0 -> x / 4.0")
    alone = judge_in_ieee(rule.left, rule.right, TINY, rlimit=10, others=())
    assert isinstance(alone.verdict, Unknown)
    assert isinstance(judge_in_ieee(rule.left, rule.right, TINY, others=()).verdict, Proved)
