"""Translation validation, step by step: what is proved holds, what does not hold is never proved, and the step is named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mutants.gradients import hoists
from mutants.rewrites import exchanges_branches, inlines_backwards

from checkers.optimizer_audit import audit
from checkers.optimizer_audit.blame import first_bad_step
from checkers.optimizer_audit.obligations import StepRelation, conditions
from checkers.optimizer_audit.outcomes import Runner, Value
from checkers.optimizer_audit.pass_values import compare, points_for
from checkers.optimizer_audit.subjects import as_pass
from checkers.optimizer_audit.term_equality import OPEN, PROVED, REFUTED, SCREENED
from checkers.optimizer_audit.trigger_sources import generated_wholes, sourced, unreachable
from checkers.optimizer_audit.triggers import triggers
from checkers.optimizer_audit.typed_steps import differs, result_type, typed
from checkers.optimizer_audit.validation import TESTED, Judged, Validator, validated
from checkers.verdict import Passed, Proved, Refuted, Vacuous
from semantics.derivation import Step
from semantics.edit import Edit
from semantics.errors import Malformed
from semantics.ir import Apply, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.scope import scopes
from semantics.text import read
from semantics.type_language import REAL
from semantics.wellformed import problems
from transforms import cse, dce, fold, inline, tuples
from transforms.patterns.rule import pattern_rule
from transforms.pipeline import OPTIMIZE
from transforms.system import RewriteSystem

SHAPES = {t.name: t.program for t in (*triggers(), *sourced())}


def program(*lines: str) -> Program:
    return read("program @f\n@f(%x: f64, %y: f64):\n" + "\n".join(f"  {line}" for line in lines))


def judged(before: Program, after: Program, domain: str = "BITS") -> Judged:
    return Validator(domain).step(before, after)


def by_rule(text: str, before: Program, domain: str = "BITS") -> Judged:
    system = RewriteSystem("one", (pattern_rule(text, domain=domain).rewrite,), domain=domain)
    (step,) = system.record(before).steps
    return judged(step.before, step.after, domain)


def test_a_sound_rule_is_proved_in_doubles_whatever_stands_below() -> None:
    found = by_rule("x / 2.0 -> x * 0.5", program("%a = exp(%x)", "%b = div(%a, 2.0)", "return %b"))
    assert (found.status, found.how) == (PROVED, "z3, f64")


def test_what_is_equal_only_over_the_reals_is_proved_there_and_refuted_in_bits() -> None:
    assert by_rule("x + 0.0 -> x", program("%b = add(%x, 0.0)", "%c = div(%y, %b)", "return %c"), "REAL").status == PROVED
    assert by_rule("x + 0.0 -> x", program("%b = add(%x, 0.0)", "%c = div(%y, %b)", "return %c")).status == REFUTED


def test_a_step_that_fails_alone_and_holds_where_it_is_taken_is_only_tested() -> None:
    squared = program("%s = erf(%x)", "%a = abs(%s)", "%t = exp(%a)", "%b = add(%t, 0.0)", "return %b")
    found = by_rule("x + 0.0 -> x", squared)
    assert (found.status, found.how) == (TESTED, "alone it fails, tiny")


def test_structural_steps_are_equal_terms() -> None:
    for system, name in ((inline.SYSTEM, "order of arguments"), (cse.SYSTEM, "same expression in two functions"),
                         (dce.SYSTEM, "unread parameter"), (tuples.SYSTEM, "tuples"), (fold.SYSTEM, "one and one"),
                         (inline.SYSTEM, "capture of a parameter"), (inline.SYSTEM, "loop, twice")):  # fmt: skip
        steps = system.record(SHAPES[name]).steps
        assert steps, name
        assert {(j.status, j.how) for j in Validator("BITS").run(steps)} == {(PROVED, "equal terms")}, name


def test_a_step_inside_a_loop_is_proved_by_the_induction_on_its_run() -> None:
    before = SHAPES["loop"]
    edit = Edit(before)
    (node,) = (n for n in before.nodes if before.callee(n) is TABLE["mul"])
    _, v, half = before.inputs(node)
    edit.set_inputs(node, (edit.constant(TABLE["mul"]), half, v))
    assert judged(before, edit.program).status == PROVED
    edit.set_inputs(node, (edit.constant(TABLE["mul"]), edit.constant(0.25), v))
    assert judged(before, edit.program).status == REFUTED


def test_a_trap_that_is_moved_before_the_test_is_not_proved() -> None:
    before = SHAPES["a trap that does not run"]
    after = hoists(before)
    assert after != before
    assert judged(before, after).status in (TESTED, REFUTED, OPEN)


def test_what_is_known_in_a_branch_is_used_and_only_there() -> None:
    before = read("""program @f
@f(%x: f64):
  %c = lt(%x, 1.0)
  %t = switch(%c, @a, @b)
  %r = %t()
  return %r
@a():
  %s = switch(%c, 2.0, %x)
  return %s
@b():
  %u = switch(%c, %x, 3.0)
  return %u""")
    graphs = {g.name: k for k, g in before.graphs.items()}
    assert list(conditions(before, graphs["a"]).values()) == [True]
    assert list(conditions(before, graphs["b"]).values()) == [False]
    edit = Edit(before)
    edit.output(graphs["a"], edit.constant(2.0))
    assert judged(before, edit.program).status == PROVED
    edit.output(graphs["b"], edit.constant(2.0))
    assert judged(before, edit.program).status == REFUTED


def test_another_entry_is_not_related() -> None:
    relation = StepRelation(SHAPES["loop"], SHAPES["branches"])
    assert relation.why or not relation.ordered() or list(relation.pairs())


CHANGES = {"add": "sub", "sub": "add", "mul": "div", "div": "mul", "lt": "le", "floordiv": "mod", "min": "max", "max": "min"}


def changed(found: Program, choose: int) -> Program | None:
    """The program with one primitive for another, two arguments exchanged, or an argument taken from elsewhere in the graph."""
    needed = {n for g, nodes in scopes(found).needed.items() for n in nodes if found.owner(n) == g}
    nodes = sorted(n for n in needed if isinstance(found.nodes[n], Apply) and len(found.inputs(n)) > 1)
    if not nodes:
        return None
    node = nodes[choose % len(nodes)]
    function, *arguments = found.inputs(node)
    callee, edit = found.callee(node), Edit(found)
    if choose % 3 == 0 and isinstance(callee, Primitive) and callee.name in CHANGES:
        edit.set_inputs(node, (edit.constant(TABLE[CHANGES[callee.name]]), *arguments))
    elif choose % 3 == 1 and len(arguments) > 1:
        edit.set_inputs(node, (function, *arguments[1:], arguments[0]))
    else:
        others = [n for n in nodes if found.owner(n) == found.owner(node) and n < node] or arguments
        edit.set_inputs(node, (function, others[choose % len(others)], *arguments[1:]))
    return None if next(iter(problems(edit.program)), None) else edit.program


RUNS = [OPTIMIZE.record(p).steps for name, p in list(SHAPES.items())[:60] if name not in ("zeros side by side",)]
STEPS = [step for steps in RUNS for step in steps]


@given(st.integers(0, len(STEPS) - 1), st.integers(0, 10_000))
def test_validation_is_sound(which: int, choose: int) -> None:
    """A step that was tampered with so that some value changes is never proved, nor screened."""
    step = STEPS[which]
    after = changed(step.after, choose)
    if after is None or compare(step.before, after, points_for(step.before, "BITS", 0), "BITS")[0] is None:
        return
    assert judged(step.before, after).status not in (PROVED, SCREENED)


def test_most_steps_of_the_optimizer_on_the_shapes_are_proved() -> None:
    (verdict,), tally = validated(RUNS, "BITS")
    assert isinstance(verdict, (Proved, Passed))
    assert tally.statuses[PROVED] > 0.95 * tally.statuses.total()


def test_a_run_of_hundreds_of_steps_on_a_large_program_is_validated() -> None:
    lines, last = [], "%x"
    for i in range(300):
        lines += [f"%a{i} = mul({last}, 1.0)", f"%b{i} = sin(%a{i})", f"%c{i} = add(%b{i}, %y)"]
        last = f"%c{i}"
    system = RewriteSystem("ones", (pattern_rule("x * 1.0 -> x").rewrite,))
    steps = system.record(program(*lines, f"return {last}")).steps
    (verdict,), tally = validated([steps], "BITS")
    assert len(steps) == 300
    assert isinstance(verdict, Proved)
    assert tally.methods == {"z3, f64": 300}


def test_the_step_that_is_wrong_is_named() -> None:
    before = program("%a = add(%x, 0.0)", "%b = div(%y, %a)", "return %b")
    steps = RewriteSystem("bad", (pattern_rule("x + 0.0 -> x").rewrite,)).record(before).steps
    verdict = validated([steps], "BITS")[0][0]
    assert isinstance(verdict, Refuted)
    assert verdict.counterexample.cause == "rule x + 0.0 -> x"


def test_no_step_is_vacuous() -> None:
    assert isinstance(validated([], "BITS")[0][0], Vacuous)


# typed


def test_a_step_that_makes_a_program_ill_typed_is_named() -> None:
    before = program("%a = mul(%x, %y)", "%t = make_tuple(%a, %y)", "%r = getitem(%t, 0)", "return %r")
    edit = Edit(before)
    (node,) = (n for n in before.nodes if before.callee(n) is TABLE["getitem"])
    edit.set_inputs(node, (edit.constant(TABLE["add"]), *before.inputs(node)[1:]))
    verdict = typed([(Step("adds a tuple", "here", before, edit.program),)])
    assert isinstance(verdict, Refuted)
    assert verdict.counterexample.cause == "rule adds a tuple"
    assert isinstance(typed([(Step("nothing", "here", before, before),)]), Passed)


def test_another_type_is_found_and_a_more_precise_one_is_none() -> None:
    integer = read("program @f\n@f(%x: f64):\n  return 0")
    assert differs(integer, REAL) is not None
    assert differs(program("return %x"), REAL) is None
    assert result_type(integer) != REAL


# passes in a row


def test_of_passes_in_a_row_the_wrong_one_is_blamed() -> None:
    subject = as_pass(["cse", exchanges_branches, "dce"], None)
    before = SHAPES["values through a switch"]
    blame = first_bad_step(subject, before, points_for(before, "BITS", 0), "BITS")
    assert blame is not None
    assert blame.rule == "exchanges_branches"
    assert first_bad_step(as_pass(["cse", "dce"], None), before, points_for(before, "BITS", 0), "BITS") is None


def test_audit_takes_passes_in_a_row_and_says_which_is_wrong() -> None:
    skip = ("gradients", "gradients optimized", "translation validation", "cost", "idempotence")
    finding = audit(["cse", exchanges_branches, "dce"], skip=skip).findings[0]
    assert finding.counterexample.cause == "pass exchanges_branches"
    assert audit(["cse", "dce"], skip=skip).findings == ()
    with pytest.raises(Malformed):
        audit([])


def test_triggers_over_data_have_values_and_repeat() -> None:
    for found in (*(t.program for t in sourced()), *unreachable(), *generated_wholes(0, 2)):
        assert next(iter(problems(found)), None) is None
        assert any(isinstance(Runner(found)(p), Value) for p in points_for(found, "BITS", 0)) or found in unreachable()
    assert [str(p) for p in generated_wholes(1, 2)] == [str(p) for p in generated_wholes.__wrapped__(1, 2)]


@pytest.mark.parametrize("wrong", [exchanges_branches, inlines_backwards])
def test_a_function_is_a_step_of_its_own(wrong: object) -> None:
    subject = as_pass(wrong, None)
    assert all(len(subject.steps(p)) <= 1 for p in list(SHAPES.values())[:5])
