"""`audit(…, claims="gradient")`: wrong gradients are refuted, with what is left of the program; the reverse modes are not."""

from __future__ import annotations

import pytest
from mutants.gradients import WRONG_GRADIENTS, Transform, by_all
from mutants.transform import MUTANTS, Variant

from checkers.optimizer_audit import audit
from checkers.optimizer_audit.gradient_claims import Claimed, constructs, first_of
from checkers.optimizer_audit.rule_gradients import reals_of
from checkers.optimizer_audit.samples import types_of
from checkers.optimizer_audit.subjects import as_pass
from checkers.verdict import Report, Vacuous
from semantics.errors import Malformed
from semantics.machine import run
from semantics.text import read
from transforms.gradient_programs import gradient_program

FIRST = ("second order", "repeatable", "trace reversal")
NAMED = {
    "captures forgotten": "captured variables",
    "fan-out overwrites": "a variable used twice",
    "wrong element of a tuple": "getitem",
    "perturbation confusion": "grad",
    "both branches of a switch": "switch",
}


def faults(report: Report) -> list[str]:
    return [f.claim for f in report.findings if f.kind == "fault"]


@pytest.mark.parametrize("mutant", [m for m in MUTANTS if m.name in NAMED], ids=str)
def test_a_bug_in_j_is_blamed_on_the_construct(mutant: Variant) -> None:
    def claimed(program: object) -> object:
        return mutant.gradient(program, reals_of(types_of(program)))  # type: ignore[arg-type]

    finding = audit(claimed, claims="gradient", skip=FIRST).findings[0]
    assert NAMED[mutant.name] in finding.counterexample.cause
    assert "program @" in finding.counterexample.note


@pytest.mark.parametrize(("transform", "claim"), WRONG_GRADIENTS, ids=[t.__name__ for t, _ in WRONG_GRADIENTS])
def test_a_wrong_gradient_is_refuted_by_the_check_expected_to_catch_it(transform: Transform, claim: str) -> None:
    others = {"the gradient of": ("second order", "repeatable"), "second order": ("forward mode", "repeatable")}
    skip = others.get(claim, ("forward mode", "second order"))
    report = audit(transform, claims="gradient", skip=("trace reversal", *skip))
    assert any(c.startswith(claim) for c in faults(report)), str(report)


@pytest.mark.parametrize("mode", ["J", "ssa", "pullback"])
def test_the_reverse_modes_raise_no_alarm(mode: str) -> None:
    report = audit(lambda p: gradient_program(p, mode=mode), claims="gradient", skip=("second order", "repeatable"))
    assert report.findings == ()
    assert report.details["programs"] > 50


def test_a_tuple_of_all_derivatives_is_a_gradient_too() -> None:
    assert audit(by_all, claims="gradient", skip=FIRST).findings == ()


def test_a_refusal_is_no_fault_and_is_said() -> None:
    def refuses(program: object) -> object:
        raise Malformed("not today")

    report = audit(refuses, claims="gradient")
    assert report.findings == ()
    assert any("refused" in e.skipped for e in report.ledger)


def test_nobody_claims_anything_else() -> None:
    with pytest.raises(Malformed):
        audit(by_all, claims="hessian")


# the parts


def test_only_smooth_points_of_real_programs_are_cases() -> None:
    claimed = Claimed(as_pass(by_all, "REAL"))
    claimed.add(read("program @f\n@f(%x: f64):\n  %r = abs(%x)\n  return %r"))
    claimed.add(read("program @f\n@f(%x: f64):\n  %r = lt(%x, 0.0)\n  return %r"))
    claimed.add(read("program @f\n@f(%n: i64):\n  return %n"))
    ((_, points),) = claimed.cases
    assert all(x != 0.0 for (x,) in points)


def test_constructs_name_what_a_program_is_made_of() -> None:
    program = read("program @f\n@f(%x: f64):\n  %r = @g()\n  return %r\n@g():\n  %s = mul(%x, %x)\n  return %s")
    assert constructs(program) == "a call, mul, captured variables, a variable used twice"


def test_the_first_of_a_tuple() -> None:
    program = read("program @f\n@f(%x: f64):\n  %r = make_tuple(%x, 2.0)\n  return %r")
    assert run(first_of(program), 3.0) == 3.0


def test_nothing_to_compare_is_vacuous() -> None:
    report = audit(lambda p: p if len(p.nodes) < 0 else None, claims="gradient", skip=("second order", "repeatable"))
    assert any(isinstance(v, Vacuous) for v in report.verdicts)
