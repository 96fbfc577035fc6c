"""Planted bugs in J are caught by the properties, and correct variants of J raise no alarm."""

from __future__ import annotations

import pytest
from mutants.gradients import WRONG_PASSES, Transform
from mutants.judging import programs, refutations
from mutants.transform import CONTROLS, MUTANTS, Variant

from checkers.optimizer_audit import audit

QUIET = ("forward mode", "tangent types", "perturbations kept apart")

SLOW = ("translation validation", "gradients", "gradients optimized", "idempotence", "cost")


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_a_bug_in_j_is_refuted_by_the_property_expected_to_catch_it(mutant: Variant) -> None:
    assert all(next(refutations(judge, mutant.gradient), None) is not None for judge in mutant.caught)


@pytest.mark.parametrize("control", CONTROLS, ids=str)
def test_a_correct_variant_of_j_raises_no_alarm(control: Variant) -> None:
    few = programs()[:: 3 if control.rules or control.patches else 1]
    assert [found for judge in QUIET for found in refutations(judge, control.gradient, few)] == []


@pytest.mark.parametrize("name", ["seed 2.0", "second use dropped", "captures forgotten", "backward pass not reversed"])
@pytest.mark.parametrize("judge", ["exact gradient", "trace reversal", "ball differences"])
def test_the_other_oracles_catch_it_as_well(name: str, judge: str) -> None:
    mutant = next(m for m in MUTANTS if m.name == name)
    assert next(refutations(judge, mutant.gradient), None) is not None


@pytest.mark.parametrize(("mutant", "claim"), WRONG_PASSES, ids=[t.__name__ for t, _ in WRONG_PASSES])
def test_a_pass_with_the_bug_of_a_transform_is_refuted_with_a_small_program(mutant: Transform, claim: str) -> None:
    finding = audit(mutant, skip=SLOW).findings[0]
    assert finding.claim.startswith(claim)
    assert mutant.__name__ in finding.counterexample.note


def test_a_planted_bug_is_gone_when_its_block_ends() -> None:
    with MUTANTS[0].planted():
        pass
    assert list(refutations("exact gradient", CONTROLS[0].gradient, programs()[:6])) == []


def test_the_suite_is_as_large_as_promised() -> None:
    assert len(MUTANTS) >= 20
    assert len(CONTROLS) >= 10
