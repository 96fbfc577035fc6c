"""Rules about arrays judged: proved for all shapes where they hold, refuted at the smallest shape where they do not."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest

import adjudge as aj
from checkers.optimizer_audit import audit
from checkers.optimizer_audit.array_instances import Elementwise, instances_of
from checkers.optimizer_audit.array_proofs import by_index_forms, elementwise_rule, only_moves
from checkers.optimizer_audit.array_rules import ON_THE_MACHINE, audit_array_rule
from checkers.optimizer_audit.outcomes import on_a_kink
from checkers.optimizer_audit.rule_kinds import proved_in_every_kind
from checkers.optimizer_audit.samples import edge_samples, shrink
from checkers.smt import equal_over_reals
from checkers.verdict import Proved, Refuted, Report, Vacuous
from semantics.arrays import Array
from semantics.text import read
from semantics.type_language import ArrayType
from semantics.values import same
from transforms.patterns.rule import pattern_rule

GRADIENTS_ONLY = ("proof over the reals", "values over the reals", "values in IEEE-754", "proof in IEEE-754", "types", "firing")


def judged(text: str, domain: str = "REAL", skip: tuple[str, ...] = ()) -> Report:
    return audit_array_rule(aj.rule(text, domain=domain), 0, frozenset(skip))


def claims(report: Report) -> list[str]:
    return [v.claim for v in report.verdicts if isinstance(v, Proved)]


# verdicts

SOUND = [
    ("x: f64[m, n] | transpose(transpose(x)) -> x", "BITS"),
    ("x: f64[m, n] | transpose(transpose(x, #p), #p) -> x", "BITS"),
    ("x: f64[...] | reshape(reshape(x, #s), #t) -> reshape(x, #t)", "BITS"),
    ("x: f64[m, k], y: f64[k, n] | (x @ y).T -> y.T @ x.T", "BITS"),
    ("x: f64[m, k], y: f64[k, n], z: f64[n, p] | (x @ y) @ z -> x @ (y @ z)", "REAL"),
    ("x: f64[m, n], y: f64[m, n] | sum(x + y) -> sum(x) + sum(y)", "REAL"),
    ("x: f64[m, n], y: f64[m, n] | sum(x + y, axis=#a) -> sum(x, axis=#a) + sum(y, axis=#a)", "REAL"),
    ("x: f64[l, m, n] | sum(sum(x, #a), #b) -> sum(sum(x, #b), #a - 1) when b >= 0 and a > b", "REAL"),
    ("x: f64[m, n] | sum(sum(x, 1), 0) -> sum(x)", "REAL"),
    ("x: f64[...], y: f64[...] | exp(x) * exp(y) -> exp(x + y)", "REAL"),
    ("x: f64[m, n] | x * np.ones((m, n)) -> x", "REAL"),
    ("x: f64[m], y: f64[n] | concatenate((x, y))[:m] -> x", "BITS"),
    ("x: f64[...] | x - 0.0 -> x", "BITS"),
    ("x: f64[n, n] | np.eye(n) @ x -> x", "REAL"),
    ("a: f64[m, n], b: f64[n, m] | np.trace(a @ b) -> np.trace(b @ a)", "REAL"),
    ("x: f64[m, n] | np.mean(x, axis=0) -> sum(x, axis=0) / m", "REAL"),
    ("x: i64[n] | x + x -> 2 * x", "BITS"),
    ("b: bool[n] | np.logical_not(np.logical_not(b)) -> b", "BITS"),
    ("make_tuple(x, y)[#i] -> x when i == 0", "BITS"),
    ("x: f64[n] | np.flip(np.flip(x)) -> x", "BITS"),
    ("x: f64[...], y: f64[...] | x * y -> y * x", "BITS"),
]


@pytest.mark.parametrize(("text", "domain"), SOUND)
def test_a_sound_rule_about_arrays_is_not_refuted(text: str, domain: str) -> None:
    report = judged(text, domain, ("gradients", "proof in IEEE-754"))
    assert [f for f in report.findings if f.kind == "fault"] == []
    assert any(claim.startswith("equal over the reals, for ") for claim in claims(report)), str(report)
    assert not any(isinstance(v, Vacuous) for v in report.verdicts)


WRONG = [
    ("x: f64[m, n] | transpose(x) -> x", "BITS", {"x": (0, 1)}),
    ("x: f64[l, m, n] | transpose(transpose(x, #p), #p) -> x", "BITS", None),
    ("x: f64[...], y: f64[...] | sum(x + y) -> sum(x) + sum(y)", "REAL", {"x": (0,), "y": (1,)}),
    ("x: f64[m, n] | sum(x, axis=#a) -> sum(x)", "REAL", None),
    ("x: f64[m, n], y: f64[m, n] | sum(x * y) -> sum(x) * sum(y)", "REAL", {"x": (1, 2), "y": (1, 2)}),
    ("x: f64[n, n], y: f64[n, n] | x @ y -> y @ x", "REAL", {"x": (2, 2), "y": (2, 2)}),
    ("x: f64[m, n] | np.mean(x, axis=1) -> sum(x, axis=1) / m", "REAL", None),
    ("x: f64[...] | x - x -> 0.0", "REAL", None),
    ("x: f64[m], y: f64[n] | concatenate((x, y))[:m] -> y[:m]", "BITS", None),
    ("make_tuple(x, y)[#i] -> x", "BITS", None),
    ("x: f64[...] | x + 0.0 -> x", "BITS", {"x": (1,)}),
    ("x: f64[...] | reshape(x, #s) -> x", "BITS", None),
    ("x: f64[n] | np.flip(x) -> x", "BITS", {"x": (2,)}),
    ("x: i64[n] | x * 0 -> x", "BITS", {"x": (1,)}),
    ("x: f64[n] | sum(x) + 0.0 -> sum(x + 0.0 / sum(x)) * 1.0", "REAL", None),
    ("x: f64[m, n] | np.max(x) + 0.0 -> np.max(np.max(x, axis=0)) * 0.0 + x[0, 0]", "REAL", {"x": (1, 2)}),
]


@pytest.mark.parametrize(("text", "domain", "shapes"), WRONG)
def test_a_wrong_rule_is_refuted_at_the_smallest_shape(text: str, domain: str, shapes: dict[str, tuple[int, ...]] | None) -> None:
    report = judged(text, domain, ("gradients",))
    (first, *_) = [f for f in report.findings if f.kind == "fault"]
    inputs = first.counterexample.inputs
    if shapes is not None:
        assert {n: inputs[n].shape for n in shapes} == shapes
    assert "equal over the reals, for all shapes" not in claims(report) or domain == "BITS"


def test_associativity_of_products_is_proved_over_the_reals_and_refuted_on_the_machine() -> None:
    report = judged("x: f64[m, k], y: f64[k, n], z: f64[n, p] | (x @ y) @ z -> x @ (y @ z)", "REAL")
    assert report.details["summary"] == "refuted in IEEE-754, proved over the reals"
    assert "equal over the reals, for all shapes" in claims(report)
    assert {f.kind for f in report.findings} == {"convention"}


def test_the_audit_judges_array_rules_and_orders_them_among_others() -> None:
    report = audit(aj.rule("x: f64[m, n] | transpose(transpose(x)) -> x", domain="BITS"), skip=("critical pairs", "gradients"))
    assert "equal over the reals, for all shapes" in claims(report)
    assert any(c.startswith("ends") for c in claims(report))


def test_what_only_moves_entries_is_proved_bit_for_bit_for_all_shapes() -> None:
    report = judged("x: f64[m, n] | transpose(transpose(x)) -> x", "BITS")
    assert "bit-equal in every format, for all shapes" in claims(report)
    assert not only_moves(pattern_rule("x: f64[m, n] | transpose(transpose(x)) -> x"), ())
    times_one = pattern_rule("x: f64[m, n] | x * 1.0 -> x")
    assert not only_moves(times_one, instances_of(times_one).found)


def test_an_elementwise_rule_has_the_ladder_of_its_scalars() -> None:
    report = judged("x: f64[...] | x * 2.0 -> x + x", "BITS", ("gradients",))
    assert any(c == "bit-equal in f64, at every element, for all shapes" or ("f64" in c and "element" in c) for c in claims(report))


def test_a_counterexample_names_the_attribute_and_its_script_fails_alone() -> None:
    report = judged("x: f64[m, n] | sum(-x, axis=#a) -> -sum(x, axis=0)", "BITS", ("gradients",))
    fault = next(f for f in report.findings if f.claim.startswith("equal in IEEE"))
    assert fault.counterexample.inputs["a"] != 0
    ended = subprocess.run([sys.executable, "-c", fault.counterexample.script], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stdout.startswith("wanted")


def test_gradients_of_array_rules_are_compared() -> None:
    kept = judged("x: f64[n] | x * 2.0 -> x + x", "REAL", GRADIENTS_ONLY)
    assert [f for f in kept.findings if f.claim == "the gradient is kept"] == []
    lost = judged("x: f64[n] | x * 1.0 -> np.maximum(x, 0.0) - np.maximum(-x, 0.0)", "REAL", GRADIENTS_ONLY)
    (fault,) = [f for f in lost.findings if f.claim == "the gradient is kept"]
    assert fault.kind == "fault"
    assert fault.counterexample.inputs["x"].items == (0.0,)
    tie = judged("x: f64[n], y: f64[n] | np.maximum(x, y) -> (x + y + abs(x - y)) / 2.0", "REAL", GRADIENTS_ONLY)
    assert [f.kind for f in tie.findings if f.claim == "the gradient is kept"] == ["convention"]


def test_a_condition_on_arrays_holds_at_every_element() -> None:
    needed = judged("x: f64[n], y: f64[n] | np.log(x * y) -> np.log(x) + np.log(y) when x > 0 and y > 0", "REAL", ("gradients",))
    assert needed.exit_code == 0
    bare = judged("x: f64[n], y: f64[n] | np.log(x * y) -> np.log(x) + np.log(y)", "REAL", ("gradients",))
    assert bare.exit_code == 1


def test_the_prover_takes_array_rules() -> None:
    real, moved = aj.prove(aj.rule("x: f64[m, n] | transpose(transpose(x)) -> x", domain="BITS"))
    assert isinstance(real, Proved)
    assert isinstance(moved, Proved)
    (wrong,) = aj.prove(aj.rule("x: f64[m, n] | transpose(x) -> x"))
    assert isinstance(wrong, Refuted)
    (none,) = aj.prove(aj.rule("x: f64[m, n] | sum(x, axis=#a) -> sum(x) when a > 7"))
    assert isinstance(none, Vacuous)


def test_the_weakest_side_condition_is_one_on_the_elements() -> None:
    report = judged("x: f64[...] | x + 0.0 -> x", "BITS", ("gradients", "types"))
    assert report.details["holds when"] == "x is not -0.0"
    assert "holds when" not in judged("x: f64[n] | np.flip(x) -> x", "BITS", ("gradients", "types")).details


def test_no_instance_is_vacuous() -> None:
    report = judged("x: f64[m, n] | sum(x, axis=#a) -> sum(x) when a > 7", "REAL")
    assert isinstance(report.verdicts[0], Vacuous)
    assert report.exit_code == 3


# integers and booleans, proved


@pytest.mark.parametrize(
    "text",
    ["x: number | x * 1 -> x", "x: i64 | (x * 2) // 2 -> x", "b: bool | not (not b) -> b", "d: any | gadd(d, ZERO) -> d"],
)
def test_rules_about_integers_booleans_and_several_kinds_are_proved(text: str) -> None:
    assert isinstance(proved_in_every_kind(pattern_rule(text), 1_500_000), Proved)


def test_a_rule_that_fails_of_one_kind_only_is_refuted() -> None:
    """`x // 1` is x of integers, not of 0.5."""
    assert isinstance(proved_in_every_kind(pattern_rule("x: number | x // 1 -> x"), 1_500_000), Refuted)
    assert isinstance(proved_in_every_kind(pattern_rule("x: i64 | x // 1 -> x"), 1_500_000), Proved)


# instances


def test_sizes_run_over_all_up_to_the_bound_and_some_larger() -> None:
    found = instances_of(pattern_rule("x: f64[m, n] | x.T -> x"))
    sizes = {(i.sizes["m"], i.sizes["n"]) for i in found.found}
    assert {(m, n) for m in range(4) for n in range(4)} <= sizes
    assert max(max(s) for s in sizes) > 3
    assert found.scope(found.found) == "all shapes up to 3"
    assert found.scope(found.found[:3]) == "3 choices of shapes and attributes"
    weights = [i.weight for i in found.found]
    assert weights == sorted(weights)


def test_arrays_of_any_rank_meet_partners_that_broadcast() -> None:
    found = instances_of(pattern_rule("x: f64[...], y: f64[...] | x + y -> y + x")).found
    shapes = {tuple(t.dims for t in i.variables.values()) for i in found}
    assert any(len(a) != len(b) for a, b in shapes)
    assert any(a != b and len(a) == len(b) for a, b in shapes)
    assert all(a and b for a, b in shapes)


def test_attributes_are_varied_over_what_the_left_side_accepts() -> None:
    found = instances_of(pattern_rule("x: f64[m, n] | sum(x, axis=#a) -> sum(x)")).found
    axes = {str(i.attributes["a"]) for i in found}
    assert {"None", "0", "1", "-1", "-2", "(0, 1)", "(1, 0)", "(0,)", "()"} <= axes
    assert "2" not in axes
    permutations = {i.attributes["p"] for i in instances_of(pattern_rule("x: f64[l, m, n] | transpose(x, #p) -> x")).found}
    assert {None, (0, 1, 2), (2, 0, 1), (1, 2, 0), (2, 1, 0)} <= permutations


def test_a_condition_is_read_element_by_element_with_broadcasting() -> None:
    condition = Elementwise("x > c and n > 1", {"n": 2})
    assert condition.holds({"x": Array("f64", (2,), (1.0, 2.0)), "c": 0.0})
    assert not condition.holds({"x": Array("f64", (2,), (1.0, -2.0)), "c": 0.0})
    assert not Elementwise("n > 1", {"n": 1}).holds({"x": Array("f64", (0,), ())})


def test_array_samples_hold_special_entries_and_shrink() -> None:
    points = edge_samples((ArrayType("f64", (2,)),))
    entries = [v for (x,) in points for v in x.items]
    assert any(same(v, -0.0) for v in entries)
    assert any(math.isnan(v) for v in entries)
    assert any(same(x.items[0], x.items[1]) for (x,) in points)
    assert {x.shape for (x,) in points} == {(2,)}
    assert all(-(2**63) <= v < 2**63 for (x,) in edge_samples((ArrayType("i64", (3,)),)) for v in x.items)
    start = (Array("f64", (3,), (0.75, -7.25, 2.5)),)
    assert shrink(start, lambda p: any(v < 0 for v in p[0].items))[0].items == (0.0, 0.0, -1.0)


def test_kinks_are_seen_in_the_entries_of_arrays() -> None:
    absolute = read("program @f\n@f(%x: f64[2]):\n  %r = abs(%x)\n  return %r")
    largest = read("program @f\n@f(%x: f64[2]):\n  %r = reduce_max(%x, None, False)\n  return %r")
    total = read("program @f\n@f(%x: f64[2]):\n  %r = reduce_sum(%x, None, False)\n  return %r")
    off, on = Array("f64", (2,), (1.0, -1.0)), Array("f64", (2,), (1.0, 0.0))
    assert on_a_kink(absolute, (on,))
    assert not on_a_kink(absolute, (off,))
    assert on_a_kink(largest, (off,))  # which entry is largest is not looked at
    assert not on_a_kink(total, (on,))


# index forms


REACHED = [text for text, _ in SOUND if "f64[" in text and not any(w in text for w in ("flip", "concatenate", "...", "when"))]


@pytest.mark.parametrize("text", REACHED)
def test_index_forms_decide_linear_algebra_for_all_shapes(text: str) -> None:
    rule = pattern_rule(text)
    assert by_index_forms(rule, instances_of(rule).found).same


@pytest.mark.parametrize("text", [text for text, domain, _ in WRONG if "f64[" in text])
def test_index_forms_prove_no_wrong_rule(text: str) -> None:
    rule = pattern_rule(text)
    if text.startswith("x: f64[...] | x + 0.0"):
        return  # right over the reals
    assert not by_index_forms(rule, instances_of(rule).found).same
    scalars = elementwise_rule(rule)
    assert scalars is None or not isinstance(equal_over_reals(scalars.left, scalars.right), Proved)


def test_a_side_that_is_defined_in_fewer_places_is_not_proved() -> None:
    rule = pattern_rule("x: f64[n], y: f64[n] | x + y -> x / y * y + y")
    found = by_index_forms(rule, instances_of(rule).found)
    assert not found.same
    assert found.why == "the right side may be undefined where the left is not"
    back = pattern_rule("x: f64[n], y: f64[n] | x / y * y + y -> x + y")
    assert by_index_forms(back, instances_of(back).found).same


def test_the_elementwise_lemma_is_not_used_where_an_empty_array_makes_a_difference() -> None:
    """x / y of an empty x needs nothing of y; 1 / y does."""
    assert elementwise_rule(pattern_rule("x: f64[...], y: f64[...] | x / y -> x * (1.0 / y)")) is None
    report = judged("x: f64[...], y: f64[...] | x / y -> x * (1.0 / y)", "REAL", ("gradients", "types"))
    assert "equal over the reals, for all shapes" not in claims(report)
    assert elementwise_rule(pattern_rule("x: f64[] | x * 1.0 -> x")) is None
    assert elementwise_rule(pattern_rule("x: f64[...], y: f64[...] | x + y - y -> x")) is None


def test_shapes_of_arrays_of_any_rank_are_not_confused() -> None:
    """Of two shapes without a known rank nothing is the same: a proof that took their first sizes for one would be wrong."""
    rule = pattern_rule("x: f64[...], y: f64[...] | np.sum(x) * 0.0 + np.shape(x)[0] + np.sum(y) -> np.sum(y) + np.shape(y)[0]")
    assert not by_index_forms(rule, instances_of(rule).found).same
    sizes = pattern_rule("x: f64[m], y: f64[n] | np.sum(x) * 0.0 + m + np.sum(y) -> np.sum(y) + n")
    assert not by_index_forms(sizes, instances_of(sizes).found).same


@pytest.mark.parametrize("text", ["x: f64[n] | sum(x * 2.0) -> sum(x) * 2.0", "x: f64[n] | sum(x * 0.5) -> sum(x) * 0.5"])
def test_what_a_tiny_format_refutes_is_tried_in_the_last_binades_of_doubles(text: str) -> None:
    """Wrong where a product overflows, or is rounded to 0: no point of the pool showed it, and what did was called a convention."""
    faults = [v for v in of_bits(text) if v.kind == "fault"]
    assert [v.claim for v in faults] == [ON_THE_MACHINE]


def test_a_difference_that_only_a_tiny_format_has_is_no_fault() -> None:
    """8 + 0.5 + 0.5 is 8 with four bits of significand, and 9 with more."""
    (found,) = of_bits("x: f64[n] | sum(x * 0.0) + 8.0 + 0.5 + 0.5 -> sum(x * 0.0) + 8.0 + 1.0")
    assert (found.kind, "tiny" in found.claim) == ("convention", True)


def of_bits(text: str) -> list[Refuted]:
    """What is refuted of a rule that claims all bits."""
    report = audit_array_rule(pattern_rule(text, domain="BITS"), 0, frozenset({"gradients", "firing"}))
    return [v for v in report.verdicts if isinstance(v, Refuted)]
