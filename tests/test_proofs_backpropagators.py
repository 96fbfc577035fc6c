"""Every shipped backpropagator is proved; planted bugs are refuted by an executed counterexample or at least not proved."""

from __future__ import annotations

import math
from typing import Any

import pytest
import z3
from written_rules import pullback

from checkers.smt.terms import uninterpreted
from checkers.verdict import OutOfScope, Proved, Refuted, Unknown, Vacuous
from proofs import judge, prove, totals
from proofs.backpropagators import judge as judge_rule
from proofs.calculus import DERIVATIVES, derivative
from proofs.cases import cases
from proofs.kinds import ARRAY, NONE, SCALAR, STRUCTURE, kind_of
from proofs.lemmas import LEMMAS
from proofs.obligation import discharge
from proofs.slopes import SLOPES
from semantics.conditions import Condition
from semantics.errors import Malformed
from semantics.ir import Program
from semantics.machine import run
from semantics.primitives.row import Primitive, row
from semantics.primitives.table import ROWS, TABLE
from semantics.text import read
from transforms.backpropagators import backpropagator

PROVABLE = [p for p in ROWS if cases(p)]


@pytest.mark.parametrize("primitive", PROVABLE, ids=lambda p: p.name)
def test_every_backpropagator_is_right_over_the_reals(primitive: Primitive) -> None:
    verdict = judge_rule(primitive).verdict
    assert isinstance(verdict, Proved), verdict


def test_nothing_with_a_derivative_is_left_out() -> None:
    real = {p.name for p in ROWS if p.signature and {*p.signature, p.result} <= {"real", "number"}}
    assert real <= {p.name for p in PROVABLE}


def test_the_derivatives_of_named_functions_follow_from_the_axioms() -> None:
    for judgment in map(discharge, LEMMAS):
        assert isinstance(judgment.verdict, Proved), judgment
        assert "(check-sat)" in judgment.smt2


MUTANTS: list[tuple[str, str, Program]] = [
    ("mul", "arguments exchanged", pullback("x y", "%a = mul(%dout, %x)", "%b = mul(%dout, %y)", "%a, %b")),
    ("mul", "a factor forgotten", pullback("x y", "%a = mul(%dout, %y)", "%a, %dout")),
    ("sub", "a sign forgotten", pullback("x y", "%dout, %dout")),
    (
        "div",
        "the denominator not squared",
        pullback("x y", "%a = div(%dout, %y)", "%o = mul(%dout, %out)", "%b = neg(%o)", "%a, %b"),
    ),
    ("sqrt", "a constant forgotten", pullback("x", "%a = div(%dout, %out)", "%a")),
    ("cos", "a sign forgotten", pullback("x", "%s = sin(%x)", "%a = mul(%dout, %s)", "%a")),
    ("exp", "the derivative of expm1's argument", pullback("x", "%e = add(%out, 1.0)", "%a = mul(%dout, %e)", "%a")),
    ("tanh", "1 + out² for 1 - out²", pullback("x", "%s = mul(%out, %out)", "%o = add(1.0, %s)", "%a = mul(%dout, %o)", "%a")),
    ("log2", "the base forgotten", pullback("x", "%a = div(%dout, %x)", "%a")),
    ("atan", "1 - x² for 1 + x²", pullback("x", "%s = mul(%x, %x)", "%o = sub(1.0, %s)", "%a = div(%dout, %o)", "%a")),
    (
        "erf",
        "the constant of the density",
        pullback("x", "%s = mul(%x, %x)", "%n = neg(%s)", "%e = exp(%n)", "%a = mul(%dout, %e)", "%a"),
    ),
    ("abs", "no sign", pullback("x", "%dout")),
    ("neg", "dout twice", pullback("x", "%s = mul(%dout, %dout)", "%a = neg(%s)", "%a")),
    ("asinh", "a root forgotten", pullback("x", "%s = mul(%x, %x)", "%o = add(1.0, %s)", "%a = div(%dout, %o)", "%a")),
    (
        "atan2",
        "arguments exchanged",
        pullback(
            "y x",
            "%r = hypot(%x, %y)",
            "%a = div(%x, %r)",
            "%b = div(%a, %r)",
            "%c = mul(%dout, %b)",
            "%d = div(%y, %r)",
            "%e = div(%d, %r)",
            "%g = mul(%dout, %e)",
            "%g, %c",
        ),
    ),
    (
        "max",
        "all to the smaller",
        pullback("x y", "%c = gt(%x, %y)", "%a = switch(%c, 0.0, %dout)", "%b = switch(%c, %dout, 0.0)", "%a, %b"),
    ),
    (
        "minimum",
        "all to the larger",
        pullback("x y", "%c = lt(%x, %y)", "%a = switch(%c, 0.0, %dout)", "%b = switch(%c, %dout, 0.0)", "%a, %b"),
    ),
    (
        "logaddexp",
        "shares exchanged",
        pullback(
            "x y",
            *("%a = sub(%y, %out)", "%b = exp(%a)", "%c = mul(%dout, %b)"),
            *("%d = sub(%x, %out)", "%e = exp(%d)", "%f = mul(%dout, %e)", "%c, %f"),
        ),
    ),
    ("sin", "right only for positive dout", pullback("x", "%c = cos(%x)", "%s = abs(%dout)", "%a = mul(%s, %c)", "%a")),
    ("add", "a bias of 1e-7", pullback("x y", "%a = add(%dout, 1e-7)", "%a, %dout")),
    ("pow", "the exponent not lowered", pullback("x y", "%p = mul(%y, %out)", "%a = mul(%dout, %p)", "%a, 0.0")),
]


@pytest.mark.parametrize(("name", "bug", "rule"), MUTANTS, ids=[f"{n}: {b}" for n, b, _ in MUTANTS])
def test_a_planted_bug_is_refuted_and_the_machine_confirms_it(name: str, bug: str, rule: Program) -> None:
    verdict = judge_rule(TABLE[name], rule).verdict
    assert isinstance(verdict, Refuted), (bug, verdict)
    *inputs, dout = (float(v) if not isinstance(v, int) else v for v in verdict.counterexample.inputs.values())
    out = run(_applied(TABLE[name], len(inputs)), *inputs)
    wrong, right = run(rule, *inputs, out, dout), run(backpropagator(TABLE[name]), *inputs, out, dout)
    # a bug of 1e-7 is the smallest planted; at |dout| ≤ 2 and inputs below 2^10, rounding stays below 2^10 * 2^-50 < 1e-10
    assert any(abs(a - b) > 1e-10 for a, b in zip(wrong, right, strict=True) if isinstance(a, float) and isinstance(b, float))


def _applied(primitive: Primitive, arity: int) -> Program:
    names = [f"%a{i}" for i in range(arity)]
    return read(f"program @f\n@f({', '.join(names)}):\n  %r = {primitive.name}({', '.join(names)})\n  return %r")


def test_a_choice_is_proved_for_each_of_its_conditions() -> None:
    """A rule that is right where the condition holds and wrong where it does not is refuted, at a condition that is False."""
    assert [case.arguments[0] for case in cases(TABLE["where"])] == [True, False]
    verdict = judge_rule(TABLE["where"], pullback("c x y", "ZERO, %dout, ZERO")).verdict
    assert isinstance(verdict, Refuted)
    assert verdict.counterexample.inputs["c"] is False


def test_too_few_cotangents_are_refuted() -> None:
    verdict = judge_rule(TABLE["mul"], pullback("x y", "%a = mul(%dout, %y)", "%a")).verdict
    assert isinstance(verdict, Refuted)
    assert "1 cotangents for 2" in verdict.counterexample.cause


def test_a_rule_undefined_inside_the_domain_is_refuted() -> None:
    rule = pullback("x y", "%p = mul(%out, %dout)", "%a = div(%p, %x)", "%b = mul(%dout, %x)", "%a, %b")  # (x y) d / x at x = 0
    verdict = judge_rule(TABLE["mul"], rule).verdict
    assert isinstance(verdict, Refuted)
    assert verdict.counterexample.inputs["x"] == 0


def test_ones_to_both_arguments_at_a_tie_are_no_subgradient() -> None:
    rule = pullback(
        "x y", "%c = ge(%x, %y)", "%d = ge(%y, %x)", "%a = switch(%c, %dout, 0.0)", "%b = switch(%d, %dout, 0.0)", "%a, %b"
    )
    verdict = judge_rule(TABLE["max"], rule).verdict
    assert isinstance(verdict, Refuted)
    assert verdict.kind == "convention"


def test_half_to_each_argument_at_a_tie_is_a_subgradient() -> None:
    rule = pullback(
        "x y",
        "%t = eq(%x, %y)",
        "%c = gt(%x, %y)",
        "%h = mul(%dout, 0.5)",
        "%p = switch(%c, %dout, 0.0)",
        "%q = switch(%c, 0.0, %dout)",
        "%a = switch(%t, %h, %p)",
        "%b = switch(%t, %h, %q)",
        "%a, %b",
    )
    assert isinstance(judge_rule(TABLE["max"], rule).verdict, Proved)


def test_a_domain_that_holds_no_point_is_vacuous() -> None:
    """x·x on x > 0 and x < 0 with a wrong rule: nothing is proved of it, and nothing refuted."""
    bare = row("nowhere", "x", "real -> real", domain="x > 0; x < 0")
    columns = {"meaning": lambda x: x * x, "z3_real": lambda x: x * x, "backpropagator": pullback("x", "%dout")}
    nowhere = Primitive(bare.name, bare.parameters, bare.signature, bare.result, bare.domain, columns=columns)
    assert isinstance(judge_rule(nowhere).verdict, Vacuous)
    everywhere = Primitive(bare.name, bare.parameters, bare.signature, bare.result, columns=columns)
    assert isinstance(judge_rule(everywhere).verdict, Refuted)


def test_a_domain_all_of_whose_points_are_kinks_is_vacuous() -> None:
    bare = row("pointwise", "x", "real -> real", domain="x >= 0; x <= 0", kinks="x == 0")
    columns = {"meaning": abs, "z3_real": lambda x: z3.If(x < 0, -x, x), "backpropagator": pullback("x", "%dout")}
    found = Primitive(bare.name, bare.parameters, bare.signature, bare.result, bare.domain, bare.kinks, columns=columns)
    assert isinstance(judge_rule(found).verdict, Vacuous)


def test_a_rule_whose_constant_is_rounded_is_an_accuracy_finding() -> None:
    """0.3 is not three tenths: over the reals the rule is wrong by less than 2^-53, which is no fault; 0.3001 is one."""
    bare = row("tenths", "x", "real -> real")
    for constant, kind in (("0.3", "accuracy"), ("0.3001", "fault")):
        rule = pullback("x", f"%a = mul(%dout, {constant})", "%a")
        columns = {"meaning": lambda x: 0.3 * x, "z3_real": lambda x: x * 3 / 10, "backpropagator": rule}
        verdict = judge_rule(Primitive(bare.name, bare.parameters, bare.signature, bare.result, columns=columns)).verdict
        assert isinstance(verdict, Refuted)
        assert verdict.kind == kind


# total differentials


@pytest.mark.parametrize("primitive", [p for p in ROWS if totals.of_several(p)], ids=lambda p: p.name)
def test_partial_derivatives_make_up_a_total_differential(primitive: Primitive) -> None:
    verdict = totals.judge(primitive).verdict
    assert isinstance(verdict, Proved), verdict


def test_wrong_slopes_make_up_no_total_differential(monkeypatch: pytest.MonkeyPatch) -> None:
    """The slopes of mul exchanged: each alone is no slope, and together they are none either."""
    monkeypatch.setitem(SLOPES, "mul", SLOPES["mul"][::-1])  # type: ignore[misc]
    assert isinstance(totals.judge(TABLE["mul"]).verdict, Unknown)
    assert isinstance(judge_rule(TABLE["mul"]).verdict, Unknown)


# the table


def test_every_row_is_of_one_kind() -> None:
    kinds = {p.name: kind_of(p) for p in ROWS}
    assert set(kinds.values()) == {SCALAR, ARRAY, STRUCTURE, NONE}
    assert {kinds[n] for n in ("add", "erf", "pow", "where")} == {SCALAR}
    assert {kinds[n] for n in ("matmul", "einsum", "take", "solve")} == {ARRAY}
    assert {kinds[n] for n in ("lt", "shape", "argmax", "grad", "fail")} == {NONE}
    assert {kinds[n] for n in ("switch", "make_tuple", "gadd", "load")} == {STRUCTURE}
    assert {n for n, kind in kinds.items() if kind == SCALAR} == {p.name for p in PROVABLE}


# a user's primitive


def squared_hinge(rule: Program, kinks: str = "") -> Primitive:
    bare = row("squared_hinge", "x", "real -> real")

    def meaning(x: float) -> float:
        return x * x if x > 0 else 0.0

    def term(x: Any) -> Any:
        return z3.If(x > 0, x * x, 0)

    columns = {"meaning": meaning, "z3_real": term, "backpropagator": rule}
    conditions = (Condition(kinks),) if kinks else ()
    return Primitive(bare.name, bare.parameters, bare.signature, bare.result, (), conditions, columns=columns)


HINGE = ("%c = gt(%x, 0.0)", "%t = mul(2.0, %x)", "%s = switch(%c, %t, 0.0)", "%a = mul(%dout, %s)", "%a")


def test_a_users_primitive_with_a_z3_column_is_proved_or_refuted() -> None:
    (verdict,) = prove(squared_hinge(pullback("x", *HINGE)))
    assert isinstance(verdict, Proved)
    wrong = [line.replace("2.0", "3.0") for line in HINGE]
    (verdict,) = prove(squared_hinge(pullback("x", *wrong)))
    assert isinstance(verdict, Refuted)


def with_term(term: Any, meaning: Any, rule: Program, domain: str = "") -> Primitive:
    bare = row("custom", "x", "real -> real", domain=domain)
    columns = {"meaning": meaning, "z3_real": term, "backpropagator": rule}
    return Primitive(bare.name, bare.parameters, bare.signature, bare.result, bare.domain, columns=columns)


def test_a_branch_that_is_not_taken_does_not_narrow_the_proof() -> None:
    """sqrt(x) for x > 0 and -sqrt(-x) for x < 0: each root is defined on its own side only; a rule right for x > 0 is refuted."""

    def term(x: Any) -> Any:
        return z3.If(x > 0, uninterpreted("u_sqrt", x), z3.If(x < 0, -uninterpreted("u_sqrt", -x), 0))

    def meaning(x: float) -> float:
        return math.copysign(math.sqrt(abs(x)), x)

    right = pullback("x", "%s = abs(%out)", "%t = mul(2.0, %s)", "%a = div(%dout, %t)", "%a")
    half = pullback("x", "%t = mul(2.0, %out)", "%a = div(%dout, %t)", "%a")
    assert not isinstance(prove(with_term(term, meaning, half))[0], Proved)
    assert isinstance(prove(with_term(term, meaning, half))[0], Refuted)
    (verdict,) = prove(with_term(term, meaning, right))
    assert isinstance(verdict, Proved)
    assert "boundaries" in verdict.by


def test_an_undeclared_singularity_is_said_to_be_left_out() -> None:
    def term(x: Any) -> Any:
        return uninterpreted("u_sqrt", x * x * x)

    rule = pullback("x", "%r = sqrt(%x)", "%s = mul(1.5, %r)", "%a = mul(%dout, %s)", "%a")
    (verdict,) = prove(with_term(term, lambda x: x**1.5, rule, "x >= 0"))
    assert isinstance(verdict, (Proved, Unknown))
    if isinstance(verdict, Proved):
        assert "where the formula of its derivative is defined" in verdict.by


def test_a_guarded_division_does_not_narrow_the_proof() -> None:
    def term(x: Any) -> Any:
        return z3.If(x > 1, 1 / (x - 1), x)

    def meaning(x: float) -> float:
        return 1 / (x - 1) if x > 1 else x

    rule = ("%c = gt(%x, 1.0)", "%s = mul(%out, %out)", "%n = neg(%s)", "%k = switch(%c, %n, 1.0)", "%a = mul(%dout, %k)", "%a")
    wrong = [line.replace("%n, 1.0", "%n, 2.0") for line in rule]
    assert isinstance(prove(with_term(term, meaning, pullback("x", *rule)))[0], Proved)
    assert isinstance(prove(with_term(term, meaning, pullback("x", *wrong)))[0], Refuted)


def test_without_a_z3_column_nothing_is_claimed() -> None:
    bare = row("mystery", "x", "real -> real")
    columns = {"meaning": math.sin, "backpropagator": pullback("x", "%dout")}
    mystery = Primitive(bare.name, bare.parameters, bare.signature, bare.result, columns=columns)
    assert isinstance(judge(mystery)[0].verdict, OutOfScope)
    assert isinstance(judge(bare)[0].verdict, OutOfScope)  # no backpropagator at all


def test_what_can_be_proved_is_a_primitive_or_a_rule() -> None:
    with pytest.raises(Malformed, match="neither a primitive nor a rewrite rule"):
        prove(3)  # type: ignore[arg-type]


# the calculus itself


def test_a_wrong_derivative_table_fails_its_lemma(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DERIVATIVES, "u_atan", lambda x: (1 / (1 - x * x),))  # type: ignore[misc]
    verdicts = {j.name: j.verdict for j in map(discharge, LEMMAS)}
    assert isinstance(verdicts["asin', acos', atan'"], Unknown)


def test_differentiation_is_linear_in_shared_terms() -> None:
    x = z3.Real("x")
    term = x
    for _ in range(200):
        term = term * term + x
    assert len(derivative(term, x).children()) > 0  # 2^200 steps if shared terms were walked twice
