"""`audit` on a pass: small counterexamples, blame on the first bad step, and what it cannot see said aloud."""

from __future__ import annotations

import pytest
from mutants.rewrites import UNSOUND, exchanges_branches, identity, recurses, removes_a_used_node

from checkers.optimizer_audit import audit
from checkers.optimizer_audit.blame import first_bad_step
from checkers.optimizer_audit.reduction import live, reduce, size
from checkers.optimizer_audit.triggers import called_twice, generated, triggers
from checkers.optimizer_audit.validation import loop_free
from checkers.verdict import Refuted, Report, Vacuous
from semantics.edit import Edit
from semantics.errors import Malformed
from semantics.ir import Apply, Program
from semantics.machine import run
from semantics.primitives.table import TABLE
from semantics.text import read
from semantics.values import same
from semantics.wellformed import check
from transforms import fold
from transforms.patterns.rule import pattern_rule
from transforms.system import RewriteSystem

QUICK = ("translation validation", "order", "recorded and unrecorded", "gradients", "gradients optimized")

LONG = read("""program @f
@f(%x: f64, %y: f64):
  %a = mul(%x, %y)
  %b = add(%a, 0.0)
  %c = sin(%b)
  %d = mul(%c, 1.0)
  %e = sub(%d, %y)
  %r = div(%e, %b)
  return %r""")


def fault(report: Report, claim: str) -> Refuted:
    return next(f for f in report.findings if f.kind == "fault" and f.claim.startswith(claim))


def test_the_first_bad_step_is_named_with_the_program_before_and_after() -> None:
    found = fault(audit(UNSOUND, skip=QUICK), "values").counterexample
    assert found.cause == "rule x + 0.0 -> x"
    assert "before:" in found.note
    assert "add(%x, 0.0)" in found.note
    assert [same(v, -0.0) for v in found.inputs.values()] == [True]


def test_bisection_finds_the_bad_step_among_good_ones_and_shrinks_the_program() -> None:
    blame = first_bad_step(UNSOUND, LONG, [(-0.0, 1.0), (2.0, 3.0)], "BITS")
    assert blame is not None
    assert blame.rule == "x + 0.0 -> x"
    assert size(blame.before) < size(LONG)
    assert first_bad_step(fold.SYSTEM, LONG, [(-0.0, 1.0)], "BITS") is None


def test_a_function_is_blamed_by_a_small_program() -> None:
    found = fault(audit(exchanges_branches, skip=QUICK), "values").counterexample
    before = read(found.note.split("before:\n")[1].split("\nafter:\n")[0])
    assert size(before) <= 4
    point = tuple(found.inputs.values())
    assert not same(run(before, *point), run(exchanges_branches(before), *point))


def test_an_ill_formed_result_and_a_crash_are_faults_with_their_programs() -> None:
    assert "node" in fault(audit(removes_a_used_node, skip=QUICK), "well-formed").counterexample.cause
    assert "KeyError" in fault(audit(recurses, skip=QUICK), "every program").counterexample.found


def test_a_pass_that_does_nothing_is_vacuous_and_no_fault() -> None:
    report = audit(identity, skip=QUICK)
    assert report.findings == ()
    assert any(isinstance(v, Vacuous) for v in report.verdicts)


def test_a_measure_that_does_not_decrease_is_a_fault_and_one_that_does_is_none() -> None:
    rules = (pattern_rule("x - 0.0 -> x").rewrite,)
    stuck, falling = (
        RewriteSystem("stuck", rules, measure=lambda p: (1,)),
        RewriteSystem("falling", rules, measure=lambda p: (len(p.nodes),)),
    )
    assert fault(audit(stuck, skip=QUICK), "the measure").counterexample.cause == "rule x - 0.0 -> x"
    assert audit(falling, skip=QUICK).findings == ()


def test_rules_that_never_fire_are_listed() -> None:
    system = RewriteSystem(
        "rare", (pattern_rule("x - 0.0 -> x").rewrite, pattern_rule("erfc(x) * 17.25 -> 17.25 * erfc(x)").rewrite)
    )
    details = audit(system, skip=QUICK).details
    assert details["rules that never fired"] == []
    never = RewriteSystem("never", (*system.rules[:1], pattern_rule("x / y -> y / x", when="x == 1 and x == 2").rewrite))
    assert audit(never, skip=QUICK).details["rules that never fired"] == ["x / y -> y / x"]


def test_gradients_are_compared_where_values_agree() -> None:
    slope = pattern_rule("x - 0.0 -> max(x, 0.0) - max(-x, 0.0)", domain="REAL")
    system = RewriteSystem("slope", (slope.rewrite,), domain="REAL")
    found = fault(audit(system, skip=("translation validation", "order", "recorded and unrecorded")), "gradients are kept")
    assert found.counterexample.inputs == {"x": 0.0}


def test_what_the_pass_raises_on_our_gradients_is_a_fault() -> None:
    def only_first_order(program: object) -> object:
        if "▶" in str(program):
            raise ValueError("a gradient")
        return program

    assert "ValueError" in fault(audit(only_first_order, skip=QUICK[:3]), "the optimized gradient").counterexample.found


def test_an_unknown_domain_or_example_is_malformed() -> None:
    with pytest.raises(Malformed):
        audit(identity, domain="F64")
    with pytest.raises(Malformed):
        audit(identity, examples=["x"])  # type: ignore[list-item]


def test_constants_folded_with_rounding_are_no_fault_over_the_reals_and_wrong_ones_are() -> None:
    def third(program: Program) -> Program:
        """0.1 + 0.2 is folded to a third."""
        edit = Edit(program)
        for node, found in program.nodes.items():
            if isinstance(found, Apply) and program.callee(node) is TABLE["add"] and edit.constant(0.1) in found.inputs:
                edit.replace(node, edit.constant(1.0 / 3.0))
        return edit.program

    assert audit(fold.SYSTEM, domain="REAL", skip=QUICK).findings == ()
    assert fault(audit(third, domain="REAL", skip=QUICK), "values").kind == "fault"


@pytest.mark.parametrize("name", ["optimize", "optimize_fast"])
def test_the_shipped_pipelines_are_sound(name: str) -> None:
    report = audit(name, skip=QUICK[:3])
    assert [f for f in report.findings if f.kind == "fault"] == []
    assert report.details["programs changed"] > 100


# the parts


def test_triggers_are_well_formed_and_distinct_in_name() -> None:
    found = triggers()
    for trigger in found:
        check(trigger.program)
    assert len({t.name for t in found}) == len(found)


def test_generated_programs_repeat_for_a_seed() -> None:
    assert [str(p) for p in generated(3, 4)] == [str(p) for p in generated.__wrapped__(3, 4)]


def test_calling_twice_triples_the_value() -> None:
    program = read("program @f\n@f(%x: f64):\n  %r = mul(%x, %x)\n  return %r")
    assert run(called_twice(program), 3.0) == 27.0


def test_reduction_keeps_the_failure_and_drops_the_rest() -> None:
    small = reduce(LONG, lambda p: any(p.callee(n) is TABLE["sin"] for n in live(p).nodes))
    assert size(small) == 2


def test_loops_are_told_from_straight_code() -> None:
    by_name = {t.name: t.program for t in triggers()}
    assert not loop_free(by_name["loop"])
    assert loop_free(by_name["branches"])
