"""Equality over the reals and in formats: right rules are proved, wrong ones refuted by an input that the machine confirms."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
import z3
from flint import arb

from checkers.smt import equality as smt_equality
from checkers.smt.enclosures import Undecided, ball, enclose
from checkers.smt.ieee import DOUBLE, HALF, TINY
from checkers.smt.inquiry import conflicts, recheck
from checkers.smt.paths import Run, explore
from checkers.smt.real import Z3_REAL, reading
from checkers.smt.real_equality import POOL
from checkers.smt.sides import BUG, parameter_names
from checkers.verdict import OutOfScope, Proved, Refuted, Unknown, Vacuous
from semantics.columns.meaning import MEANING
from semantics.ir import Program
from semantics.machine import run
from semantics.primitives.row import Hole, Primitive, row
from semantics.primitives.table import ARITHMETIC, ELEMENTARY, TABLE
from semantics.text import read
from transforms.patterns.rule import pattern_rule


def rule(text: str, when: str | None = None) -> Any:
    return pattern_rule(text, when=when, domain="REAL")


def over_reals(text: str, when: str | None = None) -> Any:
    found = rule(text, when)
    return smt_equality.equal_over_reals(found.left, found.right, None, found.condition)


def in_format(text: str, format: Any, when: str | None = None) -> Any:
    found = rule(text, when)
    return smt_equality.equal_in_ieee(found.left, found.right, format, found.condition)


RIGHT = [
    ("x * 1.0 -> x", None),
    ("(x + y) * (x - y) -> x * x - y * y", None),
    ("x / x -> 1.0", None),
    ("x * y / y -> x", None),
    ("exp(x) * exp(y) -> exp(x + y)", None),
    ("log(x) + log(y) -> log(x * y)", None),
    ("log(x) - log(y) -> log(x / y)", "x > 0 and y > 0"),
    ("sin(x) * sin(x) + cos(x) * cos(x) -> 1.0", None),
    ("sin(-x) -> -sin(x)", None),
    ("sqrt(x * x) -> abs(x)", None),
    ("abs(x) -> x", "x >= 0"),
    ("max(x, y) + min(x, y) -> x + y", None),
    ("max(x, y) -> (x + y + abs(x - y)) / 2.0", None),
    ("x ** 3 -> x * x * x", None),
    ("x ** 0.5 -> sqrt(x)", None),
    ("tanh(x) -> (exp(x) - exp(-x)) / (exp(x) + exp(-x))", None),
    ("x if x > 0.0 else -x -> abs(x)", None),
    ("n: i64, m: i64 | n // m * m + n % m -> n", "m != 0"),
]


@pytest.mark.parametrize(("text", "when"), RIGHT)
def test_a_true_identity_is_proved_over_the_reals(text: str, when: str | None) -> None:
    assert isinstance(over_reals(text, when), Proved)


WRONG = [
    ("x * y -> x + y", None),
    ("sqrt(x * x) -> x", None),
    ("abs(x) -> x", "x >= -1"),
    ("exp(x) + exp(y) -> exp(x + y)", None),
    ("sin(x) -> cos(x)", None),
    ("x / y -> y / x", "x != 0 and y != 0"),
    ("max(x, y) -> x", None),
    ("x ** 2 -> 2.0 * x", None),
    ("x * 0.0 -> 0", None),  # the right number and the wrong type
    ("n: i64 | n * 2 -> n + 3", None),
    ("log(x) / log(y) -> log(x / y)", "x > 0 and y > 1"),
    ("where(x < y, x, y) -> max(x, y)", None),
    ("x > 0.0 -> x >= 0.0", None),
]


@pytest.mark.parametrize(("text", "when"), WRONG)
def test_a_false_identity_is_refuted_by_an_input_that_the_machine_tells_apart(text: str, when: str | None) -> None:
    verdict = over_reals(text, when)
    assert isinstance(verdict, Refuted)
    found = rule(text, when)
    point = [float(v) if isinstance(v, Fraction) else v for v in verdict.counterexample.inputs.values()]
    left, right = run(found.left, *point), run(found.right, *point)
    assert type(left) is not type(right) or left != right


def test_a_rewrite_that_adds_a_pole_is_refuted_at_the_pole() -> None:
    source, target = (
        read("program @f\n@f(%y: f64, %x: f64):\n  return %y"),
        read("program @f\n@f(%y: f64, %x: f64):\n  %a = mul(%y, %x)\n  %b = div(%a, %x)\n  return %b"),
    )
    verdict = smt_equality.equal_over_reals(source, target)
    assert isinstance(verdict, Refuted)
    assert verdict.counterexample.inputs["x"] == 0
    assert isinstance(smt_equality.equal_over_reals(target, source), Proved)


def test_a_pole_hidden_behind_a_branch_is_found() -> None:
    source = read("program @f\n@f(%x: f64):\n  return %x")
    target = read(
        "program @f\n@f(%x: f64):\n  %i = div(1.0, %x)\n  %c = gt(%i, 0.0)\n  %r = switch(%c, %x, %x)\n  return %r",
    )
    verdict = smt_equality.equal_over_reals(source, target)
    assert isinstance(verdict, Refuted)
    assert verdict.counterexample.inputs["x"] == 0


def test_the_declared_domain_of_a_users_primitive_is_respected() -> None:
    """A user's term for 1/x does not say where it is defined; the row does."""
    bare = row("recip", "x", "real -> real", domain="x != 0")
    columns = {"meaning": lambda x: 1 / x if x else math.nan, "z3_real": lambda x: 1 / x}
    recip = Primitive(bare.name, bare.parameters, bare.signature, bare.result, bare.domain, columns=columns)
    table = {**TABLE, "recip": recip}
    plain = read("program @f\n@f(%x: f64):\n  return 1.0")
    product = read("program @f\n@f(%x: f64):\n  %a = recip(%x)\n  %b = mul(%a, %x)\n  return %b", table)
    assert isinstance(smt_equality.equal_over_reals(product, plain), Proved)
    assert not isinstance(smt_equality.equal_over_reals(plain, product), Proved)


def test_hypotheses_that_nothing_satisfies_prove_nothing() -> None:
    assert isinstance(over_reals("x + 1.0 -> x * 2.0", "x > 1 and x < 0"), Vacuous)
    assert isinstance(in_format("x + 1.0 -> x * 2.0", HALF, "x > 1 and x < 0"), Vacuous)
    assert isinstance(over_reals("sqrt(x) -> x", "x < 0"), Vacuous)  # the left side is nowhere defined


def test_an_unbounded_loop_is_unknown_and_a_bounded_one_is_unrolled() -> None:
    text = """program @f
@f(%x: f64, %n: i64):
  %r = @loop(%x, LIMIT)
  return %r
@loop(%y, %m):
  %c = gt(%m, 0)
  %t = switch(%c, @go, @end)
  %s = %t()
  return %s
@go():
  %z = mul(%y, %x)
  %k = sub(%m, 1)
  %u = @loop(%z, %k)
  return %u
@end():
  return %y"""
    bounded = read(text.replace("LIMIT", "3"))
    wanted = read("program @f\n@f(%x: f64, %n: i64):\n  %a = pow(%x, 4)\n  return %a")
    assert isinstance(smt_equality.equal_over_reals(bounded, wanted), Proved)
    unbounded = read(text.replace("LIMIT", "%n"))
    assert isinstance(smt_equality.equal_over_reals(unbounded, wanted), Unknown)


def test_a_primitive_without_a_reading_is_out_of_scope() -> None:
    macro = read("program @f\n@f(%x: f64):\n  %g = grad(@h, 0)\n  %a = %g(%x)\n  return %a\n@h(%y):\n  return %y")
    assert isinstance(smt_equality.equal_over_reals(macro, macro), OutOfScope)


def test_an_encoder_that_lies_is_caught_by_execution(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted bug: the reading of mul adds. The solver then refutes a true rule, and the replay does not believe it."""
    from checkers.smt import real as module

    monkeypatch.setitem(module.CELLS, "mul", lambda course, a, b: a + b)
    verdict = over_reals("x * 2.0 -> x + x")
    assert isinstance(verdict, Unknown)
    assert verdict.reason == BUG


def test_an_ieee_encoder_that_lies_is_caught_by_execution(monkeypatch: pytest.MonkeyPatch) -> None:
    from checkers.smt import ieee as module

    monkeypatch.setitem(module.CELLS, "neg", lambda run, a: a)
    verdict = in_format("-(-x) -> -x * -1.0", TINY)
    assert isinstance(verdict, Unknown)
    assert verdict.reason == BUG


@pytest.mark.parametrize("text", ["x * 2.0 -> x + x", "x * y -> y * x", "x < y -> y > x", "-(-x) -> x"])
def test_a_bit_exact_rule_is_proved_in_small_formats(text: str) -> None:
    for format in (TINY, HALF):
        assert isinstance(in_format(text, format), Proved)


def test_another_solver_does_not_contradict_the_evidence() -> None:
    found = rule("x * 2.0 -> x + x")
    judgment = smt_equality.judge_in_ieee(found.left, found.right, TINY, name="doubling")
    assert judgment.answers
    assert "(check-sat)" in judgment.smt2
    for solver in ("cvc5", "bitwuzla"):
        assert conflicts(judgment, recheck(judgment, solver)) == []
    lie = replace(judgment, answers=tuple(replace(a, status="sat") for a in judgment.answers))
    decided = [o for o in recheck(judgment, "bitwuzla") if o.status == "unsat"]
    assert len(conflicts(lie, recheck(judgment, "bitwuzla"))) == len(decided)


# the reading against the meaning

# The GNU C library's table of known errors puts these functions at 3 ulp or better in double precision; rounding the enclosure's
# midpoint to a double adds at most one.
ULPS = 4


@pytest.mark.parametrize("primitive", [*ARITHMETIC, *ELEMENTARY], ids=lambda p: p.name)
def test_the_terms_of_a_primitive_enclose_what_the_machine_computes(primitive: Any) -> None:
    cell = Z3_REAL.find(primitive)
    assert not isinstance(cell, Hole)
    tried = 0
    conditions = primitive.signature.count("boolean")
    for i, a in enumerate(POOL):
        arguments = ((i % 2 == 0,) * conditions + (a, POOL[(5 * i + 3) % len(POOL)]))[: len(primitive.signature)]
        if not primitive.in_domain(*arguments) or primitive.on_kink(*arguments):
            continue
        course = Run()
        term = reading(course).column[primitive](*(z3.BoolVal(v) if isinstance(v, bool) else z3.RealVal(str(v)) for v in arguments))
        try:
            wanted = enclose(term, {})
        except Undecided:
            continue
        found = MEANING[primitive](*(v if isinstance(v, bool) else float(v) for v in arguments))
        bound = ball(Fraction(math.ulp(found)) * ULPS)
        assert abs(ball(Fraction(found)) - wanted) <= bound + arb("1e-60")  # 1e-60: the radius of the enclosure at 300 bits
        tried += 1
    assert tried >= 3


def test_paths_cover_and_are_disjoint() -> None:
    program = rule("(1.0 if x > y else 2.0) + (10.0 if y > 0.0 else 20.0) -> x").left
    inputs = [z3.Real("x"), z3.Real("y")]
    chosen = read(
        "program @f\n@f(%x: f64, %y: f64):\n  %c = gt(%x, %y)\n  %a = switch(%c, 1.0, 2.0)\n  %d = gt(%y, 0.0)\n"
        "  %b = switch(%d, 10.0, 20.0)\n  %r = add(%a, %b)\n  return %r"
    )
    for tree in (program, chosen):
        paths = explore(tree, inputs, reading)
        for point in ((a, b) for a in POOL for b in POOL):
            env = dict(zip(("x", "y"), point, strict=True))
            assert sum(all(enclose(c, env) for c in p.conditions) for p in paths) == 1
    assert len(explore(chosen, inputs, reading)) == 4


def test_parameters_of_one_name_are_kept_apart() -> None:
    program = read("program @f\n@f(%x: f64, %x.2: f64):\n  %a = sub(%x, %x.2)\n  return %a")
    assert len(set(parameter_names(program))) == 2
    zero: Program = read("program @f\n@f(%x: f64, %x.2: f64):\n  return 0.0")
    assert isinstance(smt_equality.equal_over_reals(program, zero), Refuted)


def test_nothing_is_claimed_beyond_doubles_for_a_screen() -> None:
    verdict = in_format("x * y -> y * x", TINY)
    assert isinstance(verdict, Proved)
    assert "screen" in verdict.by
    assert isinstance(in_format("x + y - y -> x", DOUBLE), Refuted)
