"""Wrong backpropagators are refuted by `check`; right ones, whatever their formula and their convention at a kink, are not."""

from __future__ import annotations

import pytest
from mutants.primitives import CONTROLS, MUTANTS, Case

from checkers.primitive_audit import check
from checkers.verdict import Refuted

FEW = 40
ON_ARRAYS = ("shapes", "large arrays")
"""Checks that have tests of their own, on rules of arrays."""


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_a_wrong_backpropagator_is_a_fault(mutant: Case) -> None:
    report = check(mutant.made(), examples=FEW, skip=("composition", "vacuity", *ON_ARRAYS))
    assert isinstance(report.verdict, Refuted), mutant.wrong
    assert report.verdict.kind == "fault"
    assert report.verdict.counterexample.inputs


@pytest.mark.parametrize("control", CONTROLS, ids=str)
def test_a_right_backpropagator_raises_no_alarm(control: Case) -> None:
    report = check(control.made(), examples=FEW, skip=("vacuity", *ON_ARRAYS))
    assert [f for f in report.findings if f.kind != "convention"] == []
    assert report.exit_code == 0


def test_the_suite_is_as_large_as_promised() -> None:
    assert len(MUTANTS) >= 10
    assert len(CONTROLS) >= 10
