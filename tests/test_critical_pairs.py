"""The structure of rules: unification and matching, critical pairs, orders that prove termination, instances."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.optimizer_audit.critical_pairs import confluent, normal_form, overlaps, pairs, peaks
from checkers.optimizer_audit.rule_structure import instance_in
from checkers.optimizer_audit.rules import audit_rule, shipped
from checkers.optimizer_audit.term_orders import decreasing, greater, precedences
from checkers.optimizer_audit.unification import match, positions, renamed, same, substituted, unify
from checkers.verdict import Passed, Proved, Refuted, Unknown, Vacuous
from semantics.primitives.table import TABLE
from transforms.patterns.rule import PatternRule, pattern_rule
from transforms.patterns.text import Call, Literal, Term, Variable
from transforms.system import RewriteSystem


def term(text: str) -> Term:
    return pattern_rule(f"{text} -> 0.0").left_term


def rules(*texts: str, domain: str = "BITS") -> list[PatternRule]:
    return [pattern_rule(text, domain=domain) for text in texts]


TERMS = st.recursive(
    st.sampled_from([Variable("x"), Variable("y"), Variable("c", literal=True), Literal(0.0), Literal(-0.0), Literal(1)]),
    lambda t: st.builds(lambda p, a, b: Call(TABLE[p], (a, b)), st.sampled_from(["add", "mul"]), t, t),
    max_leaves=6,
)


@given(TERMS, TERMS)
def test_a_unifier_makes_the_terms_one(a: Term, b: Term) -> None:
    found = unify(a, b := renamed(b, "2"))
    if found is not None:
        assert same(substituted(a, found), substituted(b, found))


@given(TERMS, TERMS)
def test_what_matches_unifies(pattern: Term, instance: Term) -> None:
    found = match(pattern, instance)
    if found is not None:
        assert same(substituted(renamed(pattern, "1"), {f"{x}1": t for x, t in found.items()}), instance)
        assert unify(renamed(pattern, "1"), instance) is not None


@given(TERMS)
def test_a_term_matches_and_unifies_with_itself(t: Term) -> None:
    assert match(t, t) is not None
    assert unify(t, renamed(t, "2")) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x + 0.0", "y + -0.0"),
        ("x + x", "y + (y + 1.0)"),
        ("x + y", "x * y"),
        ("#c * x", "(y + z) * 2.0"),
        ("x + 0.0", "y + 0"),
    ],
)
def test_terms_that_do_not_unify(one: str, other: str) -> None:
    """Two zeros, a term inside itself, two primitives, a literal and a sum, a real and an integer."""
    assert unify(term(one), renamed(term(other), "2")) is None


def test_positions_are_applications_outermost_first() -> None:
    assert [path for path, _ in positions(term("-(x + 1.0) * exp(y)"))] == [(), (0,), (0, 0), (1,)]


# critical pairs


def test_a_double_negation_overlaps_with_itself_and_joins() -> None:
    (rule,) = rules("-(-x) -> x")
    assert [o.path for o in overlaps(rule, rule)] == [(0,)]
    found = pairs(rule, (), ())
    assert (found.joined, found.apart, found.undecided) == (1, [], [])


def test_two_rules_at_one_place_that_differ_do_not_join() -> None:
    first, second = rules("x * 0.0 -> 0.0", "1.0 * x -> x + 1.0")
    verdict = confluent(first, (first, second), ())
    assert isinstance(verdict, Refuted)
    assert verdict.kind == "convention"
    shown = verdict.counterexample
    assert "mul(1.0, 0.0)" in shown.inputs["program"]
    assert ("return 0.0" in shown.wanted, "return 1.0" in shown.found) in ((True, True), (False, False))
    assert shown.wanted != shown.found
    assert "1 of 1 pairs stay apart" in shown.note


def test_a_group_that_is_not_complete_is_found_and_the_missing_rule_closes_it() -> None:
    """(x - y) + y meets x - 0.0 -> x at y = 0.0: x + 0.0 is left, until x + 0.0 -> x is there (Knuth and Bendix, 1970)."""
    open_set = rules("x - y + y -> x", "x - 0.0 -> x", domain="REAL")
    closed = [*open_set, *rules("x + 0.0 -> x", domain="REAL")]
    assert isinstance(confluent(open_set[0], open_set, ()), Refuted)
    assert isinstance(confluent(closed[0], closed, ()), Passed)


def test_an_overlap_whose_types_keep_a_rule_from_firing_is_none() -> None:
    (real,), (whole,) = rules("x + -y -> x - y"), rules("x: i64 | x + 0 -> x")
    assert [p for o in overlaps(real, whole) for p in peaks(o)] == []
    assert isinstance(confluent(whole, (real, whole), ()), Vacuous)


def test_an_overlap_inside_is_rewritten_inside() -> None:
    first, second = rules("exp(log(x)) -> x", "log(x * y) -> log(x) + log(y)", domain="REAL")
    (peak,) = [p for o in overlaps(first, second) for p in peaks(o)]
    assert peak.overlap.path == (0,)
    assert "add" in str(peak.by_inner)
    assert "add" not in str(peak.by_outer)


def test_literals_in_a_peak_are_numbers_and_fold() -> None:
    first, second = rules("x * #a * #b -> x * (#a * #b)", "x * 1.0 -> x", domain="REAL")
    assert isinstance(confluent(first, (first, second), ()), Passed)


def test_a_set_that_does_not_end_is_not_decided() -> None:
    (rule,) = rules("x + y -> y + x")
    other = rules("(x + y) * 2.0 -> x * 2.0 + y * 2.0")[0]
    assert isinstance(confluent(other, (rule, other), ()), Unknown)


def test_over_the_reals_there_is_one_zero() -> None:
    first, second = rules("x + 0.0 -> x", "-0.0 + x -> x", domain="REAL")
    assert isinstance(confluent(first, (first, second), ()), Passed)
    first, second = rules("x + 0.0 -> x", "-0.0 + x -> x", domain="BITS")
    assert isinstance(confluent(first, (first, second), ()), Refuted)


def test_every_peak_of_the_shipped_rules_fires_both_ways_to_well_formed_programs() -> None:
    known, rewrites = shipped("BITS")
    system = RewriteSystem("shipped", rewrites)
    count = 0
    for rule in known[::4]:
        for other in known:
            for peak in (p for o in overlaps(rule, other) for p in peaks(o)):
                count += 1
                assert normal_form(system, peak.by_outer, real=False) is not None
                assert normal_form(system, peak.by_inner, real=False) is not None
    assert count > 20


def test_the_audit_judges_pairs_with_the_rules_it_is_given() -> None:
    first, second = rules("x * 1.0 -> x", "y * 1.0 -> y + 0.0", domain="REAL")
    skip = frozenset({"proof over the reals", "hits"})
    with_it, alone = (audit_rule(first, 0, (), skip, others=others) for others in ((first, second), (first,)))
    assert [f.claim for f in with_it.findings if f.claim.startswith("critical")]
    assert [f.claim for f in alone.findings if f.claim.startswith("critical")] == []


# termination

ORIENTED = (
    "-(-x) -> x",
    "x * 2.0 -> x + x",
    "(x + y) + z -> x + (y + z)",
    "x * (y + z) -> x * y + x * z",
    "x - y -> x + -y",
    "#a * (x * #b) -> x * (#a * #b)",
    "x ** 2.0 -> x * x",
)
NOT_ORIENTED = ("x + y -> y + x", "x * 1.0 -> x * 1.0 * 1.0", "exp(x) -> exp(x + 0.0)", "x / y -> x * (1.0 / y)")


@pytest.mark.parametrize("text", ORIENTED)
def test_a_rule_that_an_order_orients_is_proved_to_end(text: str) -> None:
    assert decreasing(pattern_rule(text).left_term, pattern_rule(text).right_term)


@pytest.mark.parametrize("text", NOT_ORIENTED)
def test_a_rule_that_no_order_orients_is_not(text: str) -> None:
    assert decreasing(pattern_rule(text).left_term, pattern_rule(text).right_term) == ""


def test_the_audit_says_which_order_proves_it() -> None:
    skip = frozenset({"proof over the reals", "hits", "critical pairs", "subsumption"})
    proofs = [v for v in audit_rule(pattern_rule("x * 2.0 -> x + x", domain="REAL"), 0, (), skip).verdicts if isinstance(v, Proved)]
    assert [(v.claim, v.by) for v in proofs] == [
        ("ends, used alone, on every program", "lexicographic path order with mul > add"),
    ]


@given(TERMS, TERMS)
def test_no_order_has_a_cycle_and_parts_are_less(a: Term, b: Term) -> None:
    for precedence in precedences(a, b):
        assert not (greater(a, b, precedence) and greater(b, a, precedence))
        assert not greater(a, a, precedence)
        assert all(same(p, a) or greater(a, p, precedence) for _, p in positions(a))


# subsumption


@pytest.mark.parametrize(
    ("text", "when", "general"),
    [
        ("(x * y) * 1.0 -> x * y", None, ["x * 1.0 -> x"]),
        ("y * 1.0 -> y", None, ["x * 1.0 -> x"]),
        ("x: i64 | x * 1 -> x", None, ["x: any | x * 1 -> x"]),
        ("sin(y) / sin(y) -> 1.0", None, []),
        ("z / z -> 1.0", "z != 0 and z > -5", ["x / x -> 1.0"]),
        ("z / z -> 1.0", "z > 1", []),
        ("x * 1.0 -> 1.0 * x", None, []),
    ],
)
def test_an_instance_of_a_known_rule_is_named(text: str, when: str | None, general: list[str]) -> None:
    known = [
        *rules("x * 1.0 -> x", "x: any | x * 1 -> x", domain="REAL"),
        pattern_rule("x / x -> 1.0", when="x != 0", domain="REAL"),
    ]
    rule = pattern_rule(text, when=when, domain="REAL", name="mine")
    assert instance_in(rule, known) == general
