"""Rewrites of integers in words that trap: proved, or refuted by integers that Python computes, each operation tested."""

from __future__ import annotations

from typing import Any

import pytest
import z3

from checkers.smt.inquiry import Inquiry
from checkers.smt.word_equality import checked, judge_in_words, proved_in_integers
from checkers.smt.words import Words
from checkers.verdict import OutOfScope, Proved, Refuted, Unknown, Vacuous
from proofs.families import by_family
from proofs.rewrites import WIDTHS, in_all_widths, in_words, word_obligations
from semantics.denotation import denote
from semantics.errors import Trap
from semantics.primitives.table import TABLE
from transforms.patterns.rule import pattern_rule
from transforms.simplify import EXACT_RULES

SAFE = """
x: i64 | 0 - x -> x * -1
x: i64 | -(-x) -> x
x: i64, y: i64 | x - -y -> x + y
x: i64, y: i64 | x - y -> -(y - x) when x > y
x: i64, y: i64 | x // y * y + x % y -> x when y > 0
x: i64 | x * 2 // 2 -> x
x: i64 | x ** 2 -> x * x
x: i64, y: i64 | max(x, y) -> max(y, x)
x: i64, y: i64 | not (x < y) -> x >= y
x: i64 | abs(abs(x)) -> abs(x)
x: i64, b: bool | not (b == (x < 0)) -> b != (x < 0)
"""
# each with what tells the sides apart: a trap on the right only, or another value
UNSAFE = {
    "x: i64, y: i64 | x + 0 * y -> x + y - y": "overflow",
    "x: i64, y: i64, z: i64 | x + y + z -> x + (y + z)": "overflow",
    "x: i64, y: i64, z: i64 | x * (y + z) -> x * y + x * z": "overflow",
    "x: i64, y: i64 | x - y -> -(y - x)": "overflow",
    "x: i64 | x // 2 * 2 -> x": "value",
    "x: i64, y: i64 | -(x // y) -> -x // y": "value or trap",
    "x: i64, y: i64 | x % y -> x - y": "value or trap",
    "y: i64 | 0 * y -> 0 // y": "division",
    "x: i64 | abs(x) -> -x": "value or trap",
}


def rule(text: str) -> Any:
    body, _, when = text.partition(" when ")
    return pattern_rule(body, when=when or None)


@pytest.mark.parametrize("text", SAFE.strip().splitlines())
def test_a_safe_rewrite_is_proved(text: str) -> None:
    found = in_words(rule(text), 8).verdict
    assert isinstance(found, Proved), found


@pytest.mark.parametrize("text", UNSAFE)
def test_an_unsafe_rewrite_is_refuted_by_integers_that_python_computes(text: str) -> None:
    found, of = in_words(rule(text), 8).verdict, rule(text)
    assert isinstance(found, Refuted), found
    point = list(found.counterexample.inputs.values())
    wanted = denote(of.left, point, checked(8))
    try:
        assert denote(of.right, point, checked(8)) != wanted
    except Trap:
        assert UNSAFE[text] != "value"


DIVIDES = ("//", "%")


@pytest.mark.parametrize("text", [*SAFE.strip().splitlines(), *UNSAFE])
def test_integers_within_a_range_say_what_words_say_or_nothing(text: str) -> None:
    of, kinds = rule(text), ["boolean" if t == "bool" else "integer" for t in rule(text).variables.values()]
    found = proved_in_integers(of.left, of.right, 8, of.condition, kinds, Inquiry())
    assert not found or text in SAFE
    assert found or text in UNSAFE or any(sign in text for sign in DIVIDES)


def test_a_choice_between_words_is_read_and_one_between_functions_is_not() -> None:
    x, c = z3.BitVec("x", 8), z3.Bool("c")
    run = Words(8)
    assert z3.is_bv(run.reading.column[TABLE["switch"]](c, x, 3))
    with pytest.raises(Trap):
        run.reading.column[TABLE["switch"]](c, TABLE["add"], TABLE["mul"])


def test_a_product_of_variables_is_decided_in_64_bits() -> None:
    assert in_all_widths(rule("x: i64, y: i64 | -x * -y -> x * y")).verdict.by == "safe in 64 bits"  # type: ignore[union-attr]


def test_a_rule_about_booleans_alone_has_no_words() -> None:
    subjects = {o.subject for o in word_obligations(EXACT_RULES)}
    assert "b: any | not (not b) -> b" not in subjects
    assert "b: any, x: any | where(b, x, x) -> x" in subjects


def test_overflow_is_seen_at_64_bits() -> None:
    found = in_words(rule("x: i64, y: i64, z: i64 | x + y + z -> x + (y + z)"), 64).verdict
    assert isinstance(found, Refuted)
    assert "does not fit into 64 bits" in str(found.counterexample.found)
    assert found.counterexample.note == "in words of 64 bits"


def test_a_left_side_that_always_traps_is_vacuous() -> None:
    assert isinstance(in_words(rule("x: i64 | x // 0 -> x"), 8).verdict, Vacuous)


def test_what_words_do_not_read_is_out_of_scope() -> None:
    assert isinstance(in_words(rule("x: i64 | float(x) -> 1.0 * x"), 8).verdict, OutOfScope)
    assert isinstance(in_words(rule("x: f64 | x + x -> 2.0 * x"), 8).verdict, OutOfScope)


def test_a_budget_too_small_is_unknown() -> None:
    of = rule("x: i64, y: i64 | -x * -y -> x * y")
    assert isinstance(judge_in_words(of.left, of.right, 16, kinds=("integer", "integer"), rlimit=10).verdict, Unknown)


def test_a_rule_climbs_to_64_bits_or_says_how_far_it_came() -> None:
    assert WIDTHS[-1] == 64
    assert in_all_widths(rule("x: i64 | x - x -> 0")).verdict.by == "safe in 64 bits"  # type: ignore[union-attr]
    stopped = in_all_widths(rule("x: i64, y: i64 | -x * -y -> x * y"), rlimit=1_000).verdict
    assert isinstance(stopped, Unknown)
    assert "not decided" in stopped.reason


def test_every_shipped_rule_of_integers_has_an_obligation() -> None:
    integers = {r.name for r in EXACT_RULES if "i64" in r.variables.values()}
    assert integers <= {o.subject for o in word_obligations(EXACT_RULES)}
    assert "words" in by_family(())
