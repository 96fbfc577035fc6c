"""Unsound rules and passes are refuted by `audit`, by running them alone; sound ones are not."""

from __future__ import annotations

from typing import Any

import pytest
from mutants.rewrites import PASS_CONTROLS, PASS_MUTANTS, RULE_CONTROLS, RULE_MUTANTS, Rule

from checkers.optimizer_audit import audit
from checkers.verdict import Refuted

BY_RUNNING = ("proof over the reals", *(f"proof in {f}" for f in ("tiny", "f16", "f32", "f64")), "hits", "subsumption")
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


@pytest.mark.parametrize("control", PASS_CONTROLS, ids=name_of)
def test_a_sound_pass_raises_no_alarm(control: Any) -> None:
    report = audit(control, skip=QUICK)
    assert [f for f in report.findings if f.kind != "convention"] == []


def test_the_suite_is_as_large_as_promised() -> None:
    assert len(RULE_MUTANTS) + len(PASS_MUTANTS) >= 30
    assert len(RULE_CONTROLS) + len(PASS_CONTROLS) >= 20
