"""
Sixty questions about floating-point algebra, whose answers are known: which identities keep every bit, under which condition, and
which do not. Every solver must give these answers in the tiny format. Wider ones are asked where that is quick, and all of them
with `--hypothesis-profile=deep`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import z3
from hypothesis import settings

from checkers.smt import inquiry as asking
from checkers.smt.ieee import DOUBLE, HALF, SINGLE, TINY, Format
from checkers.smt.ieee_equality import judge_in_ieee
from checkers.smt.inquiry import Inquiry, question
from checkers.smt.solver import SAT, UNKNOWN, UNSAT, Answer, second_opinion, solve
from checkers.verdict import OutOfScope, Passed, Proved, Refuted, Unknown
from proofs.rewrites import in_ieee
from transforms.patterns.rule import pattern_rule

DEEP = settings.get_current_profile_name() == "deep"

EXACT = """
x * 1.0 -> x
x / 1.0 -> x
x * -1.0 -> -x
x + -0.0 -> x
x - 0.0 -> x
-0.0 - x -> -x
-(-x) -> x
x - y -> x + -y
x + y -> y + x
abs(-x) -> abs(x)
x * y -> y * x
-x * y -> -(x * y)
-x * -y -> x * y
-x / y -> -(x / y)
x * 2.0 -> x + x
x * 3.0 -> x + x + x
x * 4.0 -> (x + x) + (x + x)
x / 2.0 -> x * 0.5
x / 4.0 -> x * 0.25
x * 2.0 * 3.0 -> x * 6.0
x / 2.0 / 2.0 -> x / 4.0
abs(x * y) -> abs(x) * abs(y)
x * x * x -> x * (x * x)
x < y -> y > x
x < y -> x - y < 0.0
"""
# the condition of being finite, in the arithmetic of the format: x - x is a NaN where x is not
CONDITIONAL = {
    "x + 0.0 -> x": "x != 0",
    "x * 0.0 -> 0.0": "x > 0 and x - x == 0",
    "x - x -> 0.0": "x - x == 0",
    "x / x -> 1.0": "x - x == 0 and x != 0",
    "x - y == 0.0 -> x == y": "x - x == 0 and y - y == 0",
    "-(x - y) -> y - x": "x != y",
    "x + z <= y + z -> True": "x <= y and x - x == 0 and y - y == 0 and z - z == 0",
}
WRONG = """
x + 0.0 -> x
0.0 - x -> -x
x * 0.0 -> 0.0
x - x -> 0.0
x / x -> 1.0
-(x - y) -> y - x
-(x + y) -> -x - y
x / 3.0 -> x * 0.3333333333333333
x * 3.0 * 5.0 -> x * 15.0
x * 2.0 / 2.0 -> x
x / 2.0 * 2.0 -> x
x + y - y -> x
x * y / y -> x
x + y + z -> x + (y + z)
x * y * z -> x * (y * z)
x * (y + z) -> x * y + x * z
2.0 * (y + z) -> 2.0 * y + 2.0 * z
x / y -> x * (1.0 / y)
1.0 / (1.0 / x) -> x
sqrt(x * x) -> abs(x)
x * x * x * x -> (x * x) * (x * x)
where(x < 0.0, -x, x) -> abs(x)
where(x > 0.0, x, 0.0) -> maximum(x, 0.0)
not (x < y) -> x >= y
x == x -> True
"""
HOLDS = [(text, None) for text in EXACT.strip().splitlines()] + list(CONDITIONAL.items())
FAILS = WRONG.strip().splitlines()
# not decided in f16 within a second: they take a minute or more
SLOW_IN_HALF = ("x + z <= y + z -> True", "x * 2.0 * 3.0 -> x * 6.0", "x / x -> 1.0", "-(x - y) -> y - x", "x * 3.0 -> x + x + x")


def verdict_on(text: str, when: str | None, format: Format, **options: Any) -> Any:
    rule = pattern_rule(text, domain="IEEE", when=when)
    return judge_in_ieee(rule.left, rule.right, format, rule.condition, **options).verdict


@pytest.mark.parametrize(("text", "when"), HOLDS, ids=[t for t, _ in HOLDS])
def test_what_keeps_every_bit_is_proved_in_the_tiny_format(text: str, when: str | None) -> None:
    assert isinstance(verdict_on(text, when, TINY), Proved)


@pytest.mark.parametrize("text", FAILS)
def test_what_moves_a_bit_is_refuted_in_the_tiny_format(text: str) -> None:
    found = verdict_on(text, None, TINY)
    assert isinstance(found, Refuted), found


@pytest.mark.parametrize(("text", "when"), HOLDS, ids=[t for t, _ in HOLDS])
def test_what_keeps_every_bit_is_proved_in_f16_by_two_solvers(text: str, when: str | None) -> None:
    if text in SLOW_IN_HALF and not DEEP:
        pytest.skip("a minute or more: --hypothesis-profile=deep")
    budget = {"rlimit": 400_000_000} if text in SLOW_IN_HALF else {}
    assert isinstance(verdict_on(text, when, HALF, first="bitwuzla", **budget), Proved)


@pytest.mark.parametrize("text", FAILS)
def test_what_moves_a_bit_is_refuted_in_f16(text: str) -> None:
    found = verdict_on(text, None, HALF)
    assert isinstance(found, Refuted), found


@pytest.mark.skipif(not DEEP, reason="minutes: --hypothesis-profile=deep")
@pytest.mark.parametrize("format", [SINGLE, DOUBLE], ids=lambda f: f.name)
@pytest.mark.parametrize(("text", "when"), HOLDS, ids=[t for t, _ in HOLDS])
def test_no_wider_format_contradicts(text: str, when: str | None, format: Format) -> None:
    found = verdict_on(text, when, format, first="bitwuzla")
    assert isinstance(found, (Proved, Unknown)), found


@pytest.mark.skipif(not DEEP, reason="minutes: --hypothesis-profile=deep")
@pytest.mark.parametrize("format", [SINGLE, DOUBLE], ids=lambda f: f.name)
@pytest.mark.parametrize("text", FAILS)
def test_what_moves_a_bit_is_refuted_in_wider_formats(text: str, format: Format) -> None:
    assert isinstance(verdict_on(text, None, format), Refuted)


# fused multiplication: no primitive of the language, so the question is put as a term


def fused(format: Format, y: Any, z: Any, other: Any) -> str:
    """Whether fma(x, y, z) can differ from `other`."""
    x = z3.FP("x", format.sort)
    y, z = (v if z3.is_fp(v) else z3.FPVal(v, format.sort) for v in (y, z))
    return question([z3.Not(z3.fpFMA(z3.RNE(), x, y, z) == other(x, y, z))], pure=False)


def product_plus(x: Any, y: Any, z: Any) -> Any:
    return z3.fpAdd(z3.RNE(), z3.fpMul(z3.RNE(), x, y), z)


@pytest.mark.parametrize(
    ("name", "wanted", "text"),
    [
        ("contraction", SAT, fused(TINY, z3.FP("y", TINY.sort), z3.FP("z", TINY.sort), product_plus)),
        ("times one", UNSAT, fused(TINY, 1.0, z3.FP("z", TINY.sort), lambda x, _, z: z3.fpAdd(z3.RNE(), x, z))),
        ("plus -0", UNSAT, fused(TINY, z3.FP("y", TINY.sort), -0.0, lambda x, y, _: z3.fpMul(z3.RNE(), x, y))),
    ],
)
def test_fused_multiplication(name: str, wanted: str, text: str) -> None:
    assert solve(text).status == wanted
    assert second_opinion(text, "cvc5", wall=20.0).status in (wanted, UNKNOWN)


# two solvers


def test_two_solvers_in_contradiction_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "second_opinion", lambda text, solver, **_: Answer(SAT, smt2=text, solver=solver))
    found = verdict_on("x * 2.0 -> x + x", None, HALF, first="bitwuzla")
    assert isinstance(found, Unknown)
    assert "bitwuzla says sat, z3 unsat" in found.reason


def test_the_first_solver_decides_where_z3_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "second_opinion", lambda text, solver, **_: Answer(UNSAT, smt2=text, solver=solver))
    x = z3.Real("x")
    known = Inquiry(rlimit=1, first="cvc5").ask([x * x * x == 2])
    assert (known.status, known.solver) == (UNSAT, "cvc5")
    assert Inquiry(rlimit=1).ask([x * x * x == 2]).status == UNKNOWN


# the ladder


def test_a_rule_climbs_as_far_as_it_is_decided() -> None:
    assert in_ieee(pattern_rule("x * 2.0 -> x + x"), (TINY, HALF)).verdict == Proved("bit-exact to f16", "bits of x * 2.0 -> x + x")


def test_the_climb_says_how_far_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    from proofs import rewrites

    rule, climb = pattern_rule("x * 2.0 -> x + x"), rewrites.in_format

    def stops(found: Any, format: Format, rlimit: int) -> Any:
        judged = climb(found, format, rlimit)
        return judged if format == TINY else replace(judged, verdict=Unknown("out of steps"))

    monkeypatch.setattr(rewrites, "in_format", stops)
    found = in_ieee(rule, (TINY, HALF)).verdict
    assert isinstance(found, Unknown)
    assert found.reason == "bit-exact to tiny; f16 not decided: out of steps"


def test_a_rule_of_the_reals_is_told_where_it_differs_and_not_blamed() -> None:
    found = in_ieee(pattern_rule("x + 0.0 -> x", domain="REAL"), (TINY, HALF)).verdict
    assert isinstance(found, OutOfScope)
    assert found.why == "it claims the reals only; in f16 the sides differ at x = -0.0 (-0x0.0p+0)"
    assert isinstance(in_ieee(pattern_rule("x + 0.0 -> x"), (TINY, HALF)).verdict, Refuted)


def test_a_function_that_no_standard_fixes_is_executed_and_not_proved() -> None:
    assert isinstance(in_ieee(pattern_rule("x ** 1.0 -> x"), (TINY, HALF)).verdict, Passed)
