"""`audit` on one rule: both questions answered, counterexamples small, side conditions found, gradients and types looked at."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest

import adjudge as aj
from checkers.optimizer_audit import audit
from checkers.optimizer_audit.outcomes import Runner, Stopped, Value, agree, on_a_kink, over_the_reals
from checkers.optimizer_audit.rule_conditions import in_words, weakest
from checkers.optimizer_audit.samples import edge_samples, shrink, star_points
from checkers.verdict import Passed, Proved, Refuted, Report, Vacuous
from semantics.errors import Malformed
from semantics.text import read
from semantics.type_language import BOOLEAN, INTEGER, REAL
from semantics.values import same

QUICK = ("hits", "subsumption", "proof in f32", "proof in f64")


def found(report: Report, claim: str) -> list[Refuted]:
    return [f for f in report.findings if f.claim.startswith(claim)]


def test_dropping_a_zero_is_refuted_in_ieee_and_proved_over_the_reals() -> None:
    report = audit(aj.rule("x + 0.0 -> x", domain="IEEE"))
    assert isinstance(report.verdict, Refuted)
    assert report.verdict.kind == "fault"
    (x,) = report.verdict.counterexample.inputs.values()
    assert same(x, -0.0)
    assert any(isinstance(v, Proved) and v.claim == "equal over the reals" for v in report.verdicts)
    assert report.details["summary"] == "refuted in IEEE-754, proved over the reals"
    assert report.details["holds when"] == "x is not -0.0"
    assert report.exit_code == 1


def test_a_counterexample_comes_with_a_script_that_fails_alone() -> None:
    script = audit(aj.rule("x * 0.0 -> 0.0", domain="IEEE"), skip=QUICK).verdict.counterexample.script  # type: ignore[union-attr]
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stdout.startswith("wanted")


def test_the_same_rule_declared_over_the_reals_is_sound_and_its_ieee_difference_a_convention() -> None:
    report = audit(aj.rule("x + 0.0 -> x"), skip=QUICK)
    assert report.exit_code == 0
    assert {f.kind for f in report.findings} == {"convention"}


def test_doubling_is_proved_on_the_whole_ladder() -> None:
    report = audit(aj.rule("x * 2.0 -> x + x", domain="BITS"))
    proved = [v.claim for v in report.verdicts if isinstance(v, Proved)]
    assert report.findings == ()
    assert any("f64" in claim for claim in proved)


@pytest.mark.parametrize(
    ("text", "when", "needed"),
    [("x / x -> 1.0", "x != 0", "defined"), ("sqrt(x) * sqrt(x) -> x", None, ""), ("x * y / y -> x", "y != 0", "")],
)
def test_algebra_of_the_reals_is_no_fault_over_the_reals(text: str, when: str | None, needed: str) -> None:
    report = audit(aj.rule(text, when=when), skip=QUICK)
    assert report.exit_code == 0


def test_a_rule_that_adds_a_pole_is_a_fault_over_the_reals() -> None:
    report = audit(aj.rule("x + y -> y * (x / y) + y"), skip=QUICK)
    (fault,) = found(report, "equal over the reals, at points")
    assert "pole" in fault.counterexample.cause
    assert fault.counterexample.inputs["y"] == 0.0


def test_a_rule_that_removes_a_pole_is_allowed_and_noted() -> None:
    report = audit(aj.rule("x / x -> 1.0"), skip=QUICK)
    assert report.exit_code == 0
    assert "0.0" in report.details["defined only on the right"]


def test_another_subgradient_at_a_tie_is_a_convention() -> None:
    report = audit(aj.rule("max(x, y) -> (x + y + abs(x - y)) / 2.0"), skip=QUICK)
    (finding,) = found(report, "the gradient is kept")
    assert finding.kind == "convention"
    assert finding.counterexample.inputs["x"] == finding.counterexample.inputs["y"]


def test_a_smooth_slope_that_is_lost_is_a_fault() -> None:
    report = audit(aj.rule("x * 1.0 -> max(x, 0.0) - max(-x, 0.0)"), skip=QUICK)
    (finding,) = found(report, "the gradient is kept")
    assert finding.kind == "fault"
    assert finding.counterexample.inputs == {"x": 0.0}
    assert (finding.counterexample.wanted, finding.counterexample.found) == ((1.0,), (2.0,))


def test_an_integer_for_a_real_is_a_fault_in_every_domain() -> None:
    for domain in ("REAL", "IEEE", "BITS"):
        assert found(audit(aj.rule("x * 0.0 -> 0", domain=domain), skip=QUICK), "the type of the value")[0].kind == "fault"


def test_a_rule_that_undoes_itself_does_not_end_and_one_that_shrinks_does() -> None:
    looping, ending = (audit(aj.rule(text, domain="BITS"), skip=QUICK) for text in ("x + y -> y + x", "-(-x) -> x"))
    assert [f.kind for f in found(looping, "ends")] == ["convention"]
    assert found(ending, "ends") == []


def test_a_needed_side_condition_and_one_that_is_not_are_told_apart() -> None:
    needed, idle = (audit(aj.rule(text, when="y > 0"), skip=QUICK) for text in ("log(x * y) -> log(x) + log(y)", "x + y -> y + x"))
    assert needed.details["side condition needed"] is True
    assert idle.details["side condition needed"] is False


def test_a_side_condition_that_nothing_satisfies_is_vacuous() -> None:
    report = audit(aj.rule("x / x -> 2.0", when="x > 1 and x < 0"), skip=QUICK)
    assert any(isinstance(v, Vacuous) for v in report.verdicts)
    assert report.findings == ()


def test_a_shipped_rule_subsumes_its_own_special_case_and_not_a_new_one() -> None:
    assert audit(aj.rule("(x * y) * 1.0 -> x * y", domain="BITS")).details["subsumed by"] == ["x * 1.0 -> x"]
    assert audit(aj.rule("x * 3.0 -> x + x + x")).details["subsumed by"] == []


def test_the_report_says_what_was_left_out_and_why() -> None:
    ledger = {e.check: e.skipped for e in audit(aj.rule("x - 0.0 -> x"), skip="gradients").ledger}
    assert ledger["gradients"] == "the caller asked to skip it"
    assert "reals only" in ledger["proof in IEEE-754"]


def test_reports_repeat_but_for_the_seconds() -> None:
    first, second = (audit(aj.rule("x / y -> x * (1.0 / y)", domain="BITS"), seed=5, skip=QUICK) for _ in range(2))
    assert [str(v) for v in first.verdicts] == [str(v) for v in second.verdicts]
    assert first.seed == 5


@pytest.mark.parametrize("bad", [17, None, object()])
def test_what_is_no_rule_and_no_pass_is_malformed(bad: object) -> None:
    with pytest.raises(Malformed):
        audit(bad)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("x + 0.0", {}),
        ("x + 0.0 -> z", {}),
        ("x + -> x", {}),
        ("x + 0.0 -> x", {"domain": "FLOAT"}),
        ("x + 0.0 -> x", {"when": "y > 0"}),
        ("x + 0.0 -> x", {"when": 3}),
        (3, {}),
    ],
)
def test_a_rule_that_cannot_be_read_is_malformed(text: object, arguments: dict[str, object]) -> None:
    with pytest.raises(Malformed):
        aj.rule(text, **arguments)  # type: ignore[arg-type]


def test_a_text_is_audited_as_a_rule_and_an_unknown_name_is_malformed() -> None:
    assert audit("x + 0.0 -> x", domain="IEEE", skip=QUICK).exit_code == 1
    with pytest.raises(Malformed, match="no pass"):
        audit("x + 0.0")


# the parts


def test_samples_hold_what_rewrites_forget() -> None:
    xs = [p[0] for p in edge_samples((REAL,), (0.1,))]
    assert any(same(x, -0.0) for x in xs)
    assert any(math.isnan(x) for x in xs)
    assert math.nextafter(0.1, 1.0) in xs
    assert {type(p[0]) for p in edge_samples((INTEGER,))} == {int}
    assert {p[0] for p in edge_samples((BOOLEAN,))} == {True, False}
    pairs = edge_samples((REAL, REAL))
    assert any(same(a, b) for a, b in pairs)
    assert any(same(a, 0.0) and same(b, -0.0) for a, b in pairs)
    assert edge_samples((REAL, INTEGER), seed=1) == edge_samples((REAL, INTEGER), seed=1)


def test_star_points_put_every_special_value_beside_ordinary_ones() -> None:
    points = star_points((REAL, REAL))
    assert any(math.isnan(x) and y == -1.25 for x, y in points)
    assert any(x == 0.75 and math.isnan(y) for x, y in points)


def test_shrinking_ends_at_the_simplest_point_that_fails() -> None:
    assert shrink((1234.5, -7.25), lambda p: p[0] > 100 and p[1] < 0) == (1e300, -1.0)
    assert shrink((17, 40), lambda p: p[0] + p[1] >= 2) == (0, 2)


def test_the_weakest_condition_excludes_all_that_fails_and_little_else() -> None:
    points = [(x,) for x in (0.0, -0.0, 1.0, -1.0, math.inf, math.nan)]
    failing = [p for p in points if p[0] == 0]
    chosen = weakest(("x",), failing, [p for p in points if p not in failing])
    assert chosen is not None
    assert in_words(chosen) == "x is nonzero"
    assert weakest(("x",), points, []) is None


def test_over_the_reals_a_value_is_exact_enclosed_or_none() -> None:
    third = read("program @f\n@f(%x: f64):\n  %r = div(1.0, %x)\n  return %r")
    sine = read("program @f\n@f(%x: f64):\n  %r = sin(%x)\n  return %r")
    assert isinstance(over_the_reals(third, (0.0,)), Stopped)
    exact, enclosed = over_the_reals(third, (3.0,)), over_the_reals(sine, (3.0,))
    assert isinstance(exact, Value)
    assert isinstance(enclosed, Value)
    assert exact.value * 3 == 1
    assert agree(enclosed.value, enclosed.value)
    assert not agree(enclosed.value, exact.value)
    assert isinstance(Runner(third)((0.0,)), Value)


def test_kinks_are_seen_and_smooth_powers_are_none() -> None:
    absolute = read("program @f\n@f(%x: f64):\n  %r = abs(%x)\n  return %r")
    square = read("program @f\n@f(%x: f64):\n  %r = pow(%x, 2)\n  return %r")
    assert on_a_kink(absolute, (0.0,))
    assert not on_a_kink(absolute, (1.0,))
    assert not on_a_kink(square, (0.0,))


def test_a_passed_verdict_counts_the_points_it_tried() -> None:
    report = audit(aj.rule("-(-x) -> x", domain="BITS"), skip=QUICK)
    (bits,) = (v for v in report.verdicts if v.claim == "equal in IEEE-754, bit for bit")
    assert isinstance(bits, Passed)
    assert bits.n >= 30
