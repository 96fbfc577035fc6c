"""Unsound rules and passes are refuted by `audit`, by running them alone; sound ones are not."""

from __future__ import annotations

from typing import Any

import pytest
from mutants.rewrites import PASS_CONTROLS, PASS_MUTANTS, RULE_CONTROLS, RULE_MUTANTS, STRUCTURED_MUTANTS, Rule

from checkers.optimizer_audit import audit
from checkers.optimizer_audit.blame import first_bad_step
from checkers.optimizer_audit.outcomes import Runner, Value
from checkers.optimizer_audit.rule_structure import instances
from checkers.optimizer_audit.rule_values import Sides, points_of
from checkers.optimizer_audit.samples import types_of
from checkers.optimizer_audit.term_orders import decreasing
from checkers.optimizer_audit.triggers import typed
from checkers.verdict import Refuted
from semantics.edit import Edit
from semantics.ir import Program
from semantics.primitives.table import TABLE
from semantics.type_language import REAL
from transforms.parse import parse_text
from transforms.patterns.rule import PatternRule, pattern_rule
from transforms.system import RewriteSystem

BY_RUNNING = (
    "proof over the reals",
    *(f"proof in {f}" for f in ("tiny", "f16", "f32", "f64")),
    "hits",
    "subsumption",
    "weakest side condition",
    "critical pairs",
)
QUICK = ("translation validation", "order", "recorded and unrecorded")


def name_of(subject: Any) -> str:
    return getattr(subject, "name", None) or getattr(subject, "__name__", str(subject))


@pytest.mark.parametrize("mutant", RULE_MUTANTS, ids=str)
def test_an_unsound_rule_is_a_fault_by_running_it(mutant: Rule) -> None:
    report = audit(mutant.made(), skip=BY_RUNNING)
    assert isinstance(report.verdict, Refuted), mutant.wrong
    assert report.verdict.kind == "fault"


@pytest.mark.parametrize("control", RULE_CONTROLS, ids=str)
def test_a_sound_rule_raises_no_alarm(control: Rule) -> None:
    report = audit(control.made(), skip=("hits", "subsumption", "proof in f32", "proof in f64"))
    assert [f for f in report.findings if f.kind != "convention"] == []
    assert report.exit_code == 0


@pytest.mark.parametrize(("mutant", "claim"), PASS_MUTANTS, ids=[name_of(m) for m, _ in PASS_MUTANTS])
def test_an_unsound_pass_is_a_fault_of_the_check_expected_to_catch_it(mutant: Any, claim: str) -> None:
    report = audit(mutant, skip=(*QUICK, "gradients", "gradients optimized"))
    faults = [f for f in report.findings if f.kind == "fault"]
    assert any(f.claim.startswith(claim) for f in faults), str(report)


def ends(rule: PatternRule) -> bool:
    return decreasing(rule.left_term, rule.right_term) != ""


@pytest.mark.parametrize(("mutant", "control", "source"), STRUCTURED_MUTANTS, ids=[name_of(m) for m, _, _ in STRUCTURED_MUTANTS])
def test_an_unsound_pass_over_data_is_a_fault_and_its_correct_twin_is_not(mutant: Any, control: Any, source: str) -> None:
    example = typed(parse_text(source, "f"))
    skip = (*QUICK, "gradients", "gradients optimized")
    faults = [f for f in audit(mutant, examples=[example], skip=skip).findings if f.kind == "fault"]
    assert any(f.claim.startswith("values") for f in faults)
    assert mutant(example) != example
    if control is not None:
        assert control(example) != example
        assert [f for f in audit(control, examples=[example], skip=skip).findings if f.kind != "convention"] == []


BLAMABLE = [m for m in RULE_MUTANTS if m.domain != "REAL" and "#" not in m.text and ends(m.made())]


@pytest.mark.parametrize("mutant", BLAMABLE, ids=str)
def test_among_sound_rules_the_unsound_one_is_blamed(mutant: Rule) -> None:
    """A run with sound rules before and after the bad one: the first bad step is a step of the bad rule."""
    rule = mutant.made()
    sound = [pattern_rule(text).rewrite for text in ("-(-x) -> x", "x * 1.0 -> x", "x / 1.0 -> x")]
    system = RewriteSystem("with a bug", (*sound, rule.rewrite))
    sides = Sides(rule)
    points = [p for p in points_of(rule, 0) if sides.bits_differ(p)][:3]
    for program in instances(rule, 0):
        if (
            len(types_of(program)) == len(points[0])
            and (found := first_bad_step(system, wrapped(program), points, "BITS")) is not None
        ):
            assert found.rule == rule.name
            return
    pytest.fail("no step is blamed")


def wrapped(program: Program) -> Program:
    """-(-(p * 1.0)) where p is real, so that sound steps surround the bad one."""
    value = Runner(program)(tuple(1.0 if t == REAL else 1 for t in types_of(program)))
    if not isinstance(value, Value) or type(value.value) is not float:
        return program
    edit = Edit(program)
    node = edit.call(program.entry, TABLE["mul"], program.graphs[program.entry].output, edit.constant(1.0))
    edit.output(program.entry, edit.call(program.entry, TABLE["neg"], edit.call(program.entry, TABLE["neg"], node)))
    return edit.program


@pytest.mark.parametrize("control", PASS_CONTROLS, ids=name_of)
def test_a_sound_pass_raises_no_alarm(control: Any) -> None:
    report = audit(control, skip=QUICK)
    assert [f for f in report.findings if f.kind != "convention"] == []


def test_the_suite_is_as_large_as_promised() -> None:
    assert len(RULE_MUTANTS) + len(PASS_MUTANTS) >= 30
    assert len(RULE_CONTROLS) + len(PASS_CONTROLS) >= 20
