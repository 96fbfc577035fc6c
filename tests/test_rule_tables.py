"""
Tables of rules with the verdict that each must get: local rules of Myia, the families that compilers apply under "fast math",
the weakest conditions, the gradients that are lost where the value is kept, and what a report shows of a refutation.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

import adjudge as aj
from checkers.optimizer_audit.condition_proofs import Conjunction, proved_under
from checkers.optimizer_audit.divergence import in_the_reals, on_the_machine
from checkers.optimizer_audit.rule_conditions import ALL, WORDS, class_of, says_something, vocabulary, weakest
from checkers.optimizer_audit.rule_gradients import keeps_gradients
from checkers.optimizer_audit.rules import audit_rule
from checkers.verdict import Passed, Proved, Refuted, Report, Verdict
from semantics.errors import Malformed
from semantics.primitives.row import Primitive
from semantics.values import same
from transforms.patterns.rule import PatternRule, pattern_rule

STRUCTURE = ("hits", "subsumption", "critical pairs", "firing", "termination")
inf, nan = math.inf, math.nan


def fused_rows() -> dict[str, Primitive]:
    """x y + z, rounded once."""

    @aj.primitive
    def fma(x, y, z):  # type: ignore[no-untyped-def]
        exact = Fraction(x) * Fraction(y) + Fraction(z) if all(map(math.isfinite, (x, y, z))) else 0
        return float(exact) if exact else x * y + z

    fma.exact(lambda x, y, z: x * y + z)
    fma.z3(lambda x, y, z: x * y + z)
    return {"fma": fma.row}


def made(text: str, domain: str, when: str | None = None) -> PatternRule:
    return pattern_rule(text, domain=domain, when=when, primitives=fused_rows() if "fma" in text else None)


def audited(text: str, domain: str, *skip: str, when: str | None = None, **options: Any) -> Report:
    return audit_rule(made(text, domain, when), 0, (), frozenset((*STRUCTURE, *skip)), **options)


def of_claim(report: Report, claim: str) -> Verdict:
    return next(v for v in report.verdicts if v.claim.startswith(claim))


# Eight local rules of Myia's optimizer: what is proved of each over the reals, and where in IEEE-754 it fails.
MYIA = {
    "0.0 * x -> 0.0": -1.0,
    "x * 1.0 -> x": None,
    "0.0 + x -> x": -0.0,
    "-(-x) -> x": None,
    "-x * y -> -(x * y)": None,
    "x / y / z -> x / (y * z)": (1.0, 1e300, 3.0),
    "x + -y -> x - y": None,
    "x - -y -> x + y": None,
}

# What compilers do under "fast math", each with its smallest counterexample, and one that is exact.
FAMILIES = {
    "x + 0.0 -> x": -0.0,
    "x * 0.0 -> 0.0": -1.0,
    "x - x -> 0.0": inf,
    "x / x -> 1.0": 0.0,
    "(x + y) + z -> x + (y + z)": ...,
    "x * y * z -> x * (y * z)": ...,
    "x * (y + z) -> x * y + x * z": (0.0, 0.0, -1.0),
    "log(exp(x)) -> x": -0.0,
    "sqrt(x ** 2.0) -> abs(x)": 1e300,
    "x * y + z -> fma(x, y, z)": ...,
    "x / 3.0 -> x * (1.0 / 3.0)": 10.0,
    "x / 4.0 -> x * (1.0 / 4.0)": None,
}


@pytest.mark.parametrize(("text", "fails"), [*MYIA.items(), *FAMILIES.items()])
def test_a_known_rule_has_its_verdict_over_the_reals_and_in_ieee(text: str, fails: Any) -> None:
    report = audited(text, "IEEE", "weakest side condition", "proof in f32", "proof in f64")
    assert isinstance(of_claim(report, "equal over the reals"), Proved)
    bits = of_claim(report, "equal in IEEE-754, bit for bit")
    if fails is None:
        assert report.details["summary"] == "proved in IEEE-754, proved over the reals"
        return
    assert report.details["summary"] == "refuted in IEEE-754, proved over the reals"
    assert isinstance(bits, Refuted)
    assert bits.kind == "fault"
    found = bits.counterexample
    assert not same(found.wanted, found.found)
    if fails is not ...:
        assert same(tuple(found.inputs.values()), fails if isinstance(fails, tuple) else (fails,))


@pytest.mark.parametrize("text", ["x / 10.0 -> x * 0.1", "x / 3.0 -> x * 0.3333333333333333"])
def test_a_rounded_reciprocal_is_another_number_over_the_reals_too(text: str) -> None:
    assert isinstance(of_claim(audited(text, "REAL"), "equal over the reals, at points"), Refuted)


# Rules that hold in IEEE-754 under a condition: the weakest of the vocabulary, and how far the solver follows.
CONDITIONAL = {
    "x + 0.0 -> x": "x is not -0.0",
    "x * 0.0 -> 0.0": "x is without a minus sign and x is finite",
    "x - x -> 0.0": "x is finite",
    "x == x -> True": "x is not NaN",
    "x != x -> False": "x is not NaN",
    "not (x < y) -> x >= y": "x is not NaN and y is not NaN",
    "x - y == 0.0 -> x == y": "x is not infinite",
    "where(x < 0.0, -x, x) -> abs(x)": "x is not -0.0",
    "0.0 - x -> -x": "x is not +0.0",
}


@pytest.mark.parametrize(("text", "condition"), CONDITIONAL.items())
def test_the_weakest_condition_is_found_and_proved(text: str, condition: str) -> None:
    report = audited(text, "IEEE", "gradients", "proof over the reals")
    assert report.details["holds when"] == condition
    assert isinstance(of_claim(report, "holds when"), Proved)
    assert "f64" in report.details["holds when, proved"]


@pytest.mark.parametrize(("text", "words"), [("-(x - y) -> y - x", "x != y"), ("x / x -> 1.0", "x is nonzero and x is finite")])
def test_the_weakest_condition_is_proved_as_far_as_the_solver_goes(text: str, words: str) -> None:
    found = made(text, "BITS")
    atoms = {str(a): a for a in vocabulary(tuple(found.variables))}
    chosen = tuple(atoms[part] for part in words.split(" and "))
    verdict, extent = proved_under(found.left, found.right, Conjunction(chosen), exact=False, rlimit=10_000)
    assert extent in ("", "tiny") or "f16" in extent
    assert not isinstance(verdict, Refuted)
    assert not isinstance(verdict, Proved) or "f16" in extent


REAL_CONDITIONS = {
    "sqrt(x * x) -> x": "x is at least 0",
    "sqrt(x * x) -> -x": "x is at most 0",
    "log(x * y) -> log(x) + log(y)": "y is at least 0",
    "min(#c * x, 0.0) -> #c * min(x, 0.0)": "c is at least 0",
    "x + y -> y * (x / y) + y": "y is nonzero",
    "x: i64, y: i64, z: i64 | x // y // z -> x // (y * z)": "z is at least 0",
    "abs(x) -> x": "x is at least 0",
}


@pytest.mark.parametrize(("text", "condition"), REAL_CONDITIONS.items())
def test_the_weakest_condition_over_the_reals_is_found_and_proved(text: str, condition: str) -> None:
    report = audited(text, "REAL", "gradients")
    assert report.details["holds when"] == condition
    assert isinstance(of_claim(report, "holds when"), Proved)


@pytest.mark.parametrize("text", ["(x + y) + z -> x + (y + z)", "x * (y + z) -> x * y + x * z", "x / 3.0 -> x * (1.0 / 3.0)"])
def test_no_condition_is_claimed_where_rounding_is_to_blame(text: str) -> None:
    report = audited(text, "IEEE", "gradients", "proof over the reals")
    assert "holds when" not in report.details
    assert any("no conjunction" in e.skipped for e in report.ledger)


def test_a_condition_that_leaves_only_zeros_and_infinities_says_nothing() -> None:
    at_least, at_most = vocabulary(("x",), ("at least 0", "at most 0"))
    assert says_something([at_least])
    assert not says_something([at_least, at_most])


def test_a_declared_condition_is_needed_weakest_or_neither() -> None:
    weak = audited("sqrt(x * x) -> x", "REAL", when="x >= 0").details
    strong = audited("sqrt(x * x) -> x", "REAL", when="x > 1").details
    idle = audited("x + y -> y + x", "REAL", when="y > 0")
    assert (weak["side condition needed"], weak["side condition weakest"]) == (True, True)
    assert (strong["side condition needed"], strong["side condition weakest"]) == (True, False)
    assert strong["weaker side condition"] == "x is at least 0"
    assert strong["side condition excludes"] == "{'x': 0.0}"
    assert idle.details["side condition needed"] is False
    assert isinstance(of_claim(idle, "holds without the side condition"), Proved)


def test_a_rule_that_fails_under_its_condition_is_given_what_is_missing() -> None:
    report = audited("x * 0.0 -> 0.0", "IEEE", when="x >= 0")
    assert report.exit_code == 1
    assert report.details["holds when"] == "x is not -0.0 and x is not infinite"


# the vocabulary


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.0, {"not -0.0", "not NaN", "not infinite", "without a minus sign", "finite", "at least 0", "at most 0"}),
        (-0.0, {"not +0.0", "not NaN", "not infinite", "finite", "at least 0", "at most 0"}),
        (nan, {"not -0.0", "not +0.0", "not infinite", "nonzero", "without a minus sign"}),
        (-inf, {"not -0.0", "not +0.0", "not NaN", "nonzero", "at most 0", "negative"}),
        (3, set(WORDS) - {"at most 0", "negative"}),
    ],
)
def test_a_number_is_in_one_class_and_words_are_sets_of_them(value: float, words: set[str]) -> None:
    assert {word for word, (classes, _) in WORDS.items() if class_of(value) in classes} == words
    assert class_of(value) in ALL


@pytest.mark.parametrize(
    ("word", "test", "implied"),
    [
        ("positive", "x > 0.0", True),
        ("at least 0", "x > 0.0", False),
        ("at least 0", "x >= 0.0", True),
        ("without a minus sign", "x >= 0.0", False),
        ("without a minus sign", "copysign(1.0, x) >= 1.0", True),
        ("at most 0", "x <= 0.0", True),
        ("negative", "x < 0.0", True),
        ("not NaN", "x == x", True),
        ("not infinite", "x == x", False),
        ("finite", "x - x == 0.0", True),
        ("not infinite", "x - x == 0.0", False),
        ("nonzero", "x != 0.0", True),
        ("not -0.0", "where(x == 0.0, copysign(1.0, x), 1.0) > 0.0", True),
        ("not +0.0", "where(x == 0.0, copysign(1.0, x), 1.0) > 0.0", False),
    ],
)
def test_words_mean_to_the_solver_what_they_mean_at_points(word: str, test: str, implied: bool) -> None:
    """Under the word the test is true, by proof; or by the solver's counterexample it need not be."""
    found = made(f"where({test}, 1.0, 0.0) -> 1.0", "IEEE")
    verdict, extent = proved_under(
        found.left, found.right, Conjunction(tuple(vocabulary(("x",), (word,)))), exact=False, rlimit=500_000
    )
    assert isinstance(verdict, Proved if implied else Refuted), str(verdict)
    assert (extent == "tiny, f16, f32, f64") is implied


def test_the_caller_may_bring_a_vocabulary() -> None:
    report = audited("max(x, y) -> y", "REAL", "gradients", words=("positive", "x <= y", "x < y"))
    assert report.details["holds when"] == "x <= y"
    with pytest.raises(Malformed, match="no word of a vocabulary"):
        vocabulary(("x",), ("even",))
    with pytest.raises(Malformed):
        vocabulary(("x",), ("z > 0",))


def test_the_weakest_keeps_the_most_points_and_then_has_the_fewest_parts() -> None:
    failing = [(-0.0,), (inf,), (-2.0,)]
    chosen = weakest(("x",), failing, [(0.0,), (1.0,), (nan,)])
    assert chosen is not None
    assert [str(a) for a in chosen] == ["x is not infinite", "x is without a minus sign"]


# where both sides part


def test_both_sides_are_printed_node_by_node_with_the_first_divergence_marked() -> None:
    found = made("(x + y) + z -> x + (y + z)", "BITS")
    shown = str(on_the_machine(found.left, found.right, (1e16, 1.0, 1.0)))
    marked = [line.strip() for line in shown.splitlines() if line.strip().startswith(">")]
    assert [line.split("  is ")[1] for line in marked] == ["1e+16", "2.0"]
    assert "%x  is 1e+16" in shown


@pytest.mark.parametrize(
    ("text", "point", "left", "right"),
    [
        ("x + 0.0 -> x", (-0.0,), "add(%x, 0.0)  is 0.0", "return %x  is -0.0"),
        ("x * 0.0 -> 0.0", (inf,), "mul(%x, 0.0)  is nan", "return 0.0  is 0.0"),
        ("x - x -> 0.0", (inf,), "sub(%x, %x)  is nan", "return 0.0  is 0.0"),
    ],
)
def test_at_least_the_results_are_marked(text: str, point: Any, left: str, right: str) -> None:
    found = made(text, "BITS")
    lines = [line for line in str(on_the_machine(found.left, found.right, point)).splitlines() if ">" in line]
    assert lines[0].endswith(left)
    assert lines[1].endswith(right)


def test_over_the_reals_a_pole_is_where_they_part() -> None:
    found = made("x + y -> y * (x / y) + y", "REAL")
    shown = str(in_the_reals(found.left, found.right, (1.0, 0.0)))
    assert "div(%x, %y)  is undefined" in next(line for line in reversed(shown.splitlines()) if ">" in line)


def test_the_report_and_its_json_show_the_divergence() -> None:
    report = audited("x * 0.0 -> 0", "REAL")
    assert "left, node by node" in str(report)
    assert "left, node by node" in report.to_json()


# gradients, also where the value is kept

KEPT = (
    "x * x / x -> x",
    "sqrt(x) * sqrt(x) -> x",
    "sqrt(x * x) -> abs(x)",
    "max(x, 0.0) -> where(x >= 0.0, x, 0.0)",
    "x * x -> abs(x) * abs(x)",
    "(x * x - y * y) / (x - y) -> x + y",
)
LOST = {
    "x * 1.0 -> abs(x) * sign(x)": "fault",
    "x * 1.0 -> where(x == 0.0, 0.0, x)": "fault",
    "x * x -> sqrt(x * x * x * x)": "fault",
    "x * 1.0 -> max(x, 0.0) - max(-x, 0.0)": "fault",
    "where(x == 0.0, 0.0, x) -> x": "convention",
    "abs(x) * sign(x) -> x": "convention",
    "abs(x) -> max(x, -x)": "convention",
    "max(x, 0.0) -> where(x > 0.0, x, 0.0)": "convention",
}


@pytest.mark.parametrize("text", KEPT)
def test_a_gradient_that_is_kept_or_gained_at_a_removed_singularity_is_no_finding(text: str) -> None:
    (verdict,) = keeps_gradients(made(text, "REAL"), 0)
    assert isinstance(verdict, Passed)


@pytest.mark.parametrize(("text", "kind"), LOST.items())
def test_a_gradient_that_is_lost_where_the_value_is_kept_is_found(text: str, kind: str) -> None:
    found = made(text, "REAL")
    (verdict,) = keeps_gradients(found, 0)
    assert isinstance(verdict, Refuted)
    assert (verdict.kind, verdict.counterexample.inputs) == (kind, {"x": 0.0})
    report = audited(text, "REAL")
    assert not isinstance(of_claim(report, "equal over the reals, at points"), Refuted)
