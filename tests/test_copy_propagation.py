"""Copy propagation: what a parameter is at every call it is everywhere, and known values have copies of their own."""

from __future__ import annotations

import pytest
from claims import costly, holds
from hypothesis import given

from checkers.generators import Options, Source, edge_points, points, sources
from checkers.optimizer_audit import audit
from checkers.properties import rewriting
from checkers.verdict import Refuted
from semantics.errors import Trap
from semantics.ir import Program
from semantics.machine import run
from semantics.text import read
from semantics.values import same
from transforms import copy_propagation
from transforms.copy_propagation import SYSTEM
from transforms.failures import keeping
from transforms.gradient_programs import gradient_program
from transforms.inline import LIMIT
from transforms.pipeline import ORDER, Rounds

CALLS = """
program @f
@f(%x: f64, %y: f64):
  %z = add(%x, %y)
  %p = @g(%x, {first})
  %q = @g(%p, {second})
  %r = {result}
  return %r
@g(%a, %k):
  %b = {body}
  return %b
@h(%u):
  %v = mul(%u, {captured})
  return %v
"""


def calls(first: str, second: str, body: str = "mul(%a, %k)", result: str = "sub(%p, %q)", captured: str = "2.0") -> Program:
    return read(CALLS.format(first=first, second=second, body=body, result=result, captured=captured))


# a loop that calls %k at every turn; {first} and {second} are what the two outer calls pass, {turn} what the inner one does
LOOP = """
program @f
@f(%x: f64, %y: f64):
  %p = @g(%x, 3, {first})
  %q = @g(%p, 2, {second})
  return %q
@g(%a, %n, %k):
  %c = gt(%n, 0)
  %s = switch(%c, @more, @done)
  %t = %s()
  return %t
@more():
  %b = %k(%a)
  %m = sub(%n, 1)
  %u = @g(%b, %m, {turn})
  return %u
@done():
  return %a
@half(%v):
  %w = mul(%v, %y)
  return %w
"""


def loop(first: str, second: str, turn: str = "%k") -> Program:
    return read(LOOP.format(first=first, second=second, turn=turn))


ONE = {
    "a constant": calls("0.5", "0.5"),
    "a node": calls("%z", "%z"),
    "a parameter of the caller": calls("%y", "%y"),
    "a primitive": calls("sin", "sin", body="%k(%a)"),
    "a function": calls("@h", "@h", body="%k(%a)"),
    "a closure": calls("@h", "@h", body="%k(%a)", captured="%y"),
    "a loop that passes it on": loop("sin", "sin"),
    "a loop with a closure": loop("@half", "@half"),
}
SPLIT = {
    "two constants": calls("0.5", "2.0"),
    "two zeros": calls("0.0", "-0.0", body="div(%a, %k)"),
    "an integer and a real": calls("1", "1.0"),
    "two functions": loop("sin", "cos"),
    "a function and a closure": loop("sin", "@half"),
    "a constant and a node": calls("0.5", "%z"),
}
NEITHER = {
    "two nodes": calls("%y", "%z"),
    "used as a value": calls("0.5", "0.5", result="make_tuple(%p, %q, @g)"),
    "a turn that changes it": loop("sin", "cos", turn="exp"),
    "a number of arguments that does not fit": calls("0.5, 1.0", "0.5"),
    "given to another function": calls("0.5", "2.0", body="@h(%k)"),
}


def rules_at(program: Program) -> set[str]:
    """The rules that apply somewhere."""
    return {step.rule for step in SYSTEM.enabled(program)}


def g_rules(program: Program) -> list[str]:
    """The rules that apply at @g."""
    return [step.rule for step in SYSTEM.enabled(program) if str(step.place) == "graph @g"]


@pytest.mark.parametrize("name", ONE)
def test_a_parameter_with_one_value_is_that_value(name: str) -> None:
    assert g_rules(ONE[name]) == ["one_value"]


@pytest.mark.parametrize("name", SPLIT)
def test_a_known_value_among_others_has_a_copy_of_the_function(name: str) -> None:
    program = SPLIT[name]
    assert g_rules(program) == ["specialized"]
    after = SYSTEM.run(program)
    graphs = [g for g in after.graphs.values() if g.name == "g"]
    assert len(graphs) == 2
    assert min(len(g.parameters) for g in graphs) < len(next(g for g in program.graphs.values() if g.name == "g").parameters)


@pytest.mark.parametrize("name", NEITHER)
def test_other_parameters_stay(name: str) -> None:
    assert g_rules(NEITHER[name]) == []


PROGRAMS = {**ONE, **SPLIT, **NEITHER}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("point", [(0.5, 2.0), (-0.0, 0.25), (-1.25, 3.0)])
def test_values_and_gradients_are_kept(name: str, point: tuple[float, float]) -> None:
    program = PROGRAMS[name]
    holds(rewriting.refines(SYSTEM, program, point))
    holds(rewriting.every_step_is_well_formed(SYSTEM, program))
    holds(rewriting.engines_agree(SYSTEM, program))
    holds(rewriting.result_is_fixpoint(SYSTEM, program))
    if name not in ("used as a value", "a number of arguments that does not fit"):
        holds(rewriting.keeps_bits(SYSTEM.run, gradient_program(program), point))
        holds(rewriting.gradient_commutes(SYSTEM.run, program, point))


def test_no_call_is_unknown_where_every_function_is_known() -> None:
    for program in (SPLIT["two functions"], SPLIT["a function and a closure"]):
        assert "%k(" in str(program)
        assert "%k(" not in str(SYSTEM.run(program))


def test_zeros_of_both_signs_and_true_and_one_are_different_values() -> None:
    program = calls("0.0", "-0.0", body="div(%a, %k)", result="make_tuple(%p, %q)")
    assert same(run(SYSTEM.run(program), 1.0, 1.0), run(program, 1.0, 1.0))
    program = calls("1", "True", body="make_tuple(%a, %k)", result="make_tuple(%q, 0)")
    assert same(run(SYSTEM.run(program), 1.0, 1.0), run(program, 1.0, 1.0))


def test_a_failure_that_is_passed_to_a_function_that_drops_it_is_kept() -> None:
    text = 'program @f\n@f(%x: f64):\n  %m = fail("m")\n  %r = @g(%x, %m)\n  return %r\n@g(%y, %z):\n  %w = @g2(%y)\n  return %w\n'
    program = read(text + "@g2(%v):\n  return %v")
    kept = keeping(SYSTEM)
    with pytest.raises(Trap):
        run(kept.run(program), 1.0)


def test_a_loop_keeps_the_value_of_its_own_activation() -> None:
    """@outer calls itself from its loop: the loop that was begun first still multiplies by what it was begun with."""
    program = read("""
        program @f
        @f(%x: f64, %y: f64):
          %r = @outer(%x, 2)
          return %r
        @outer(%a, %d):
          %v = mul(%a, 3.0)
          %o = @loop(2, %a, %v)
          return %o
        @loop(%n, %acc, %k):
          %c = gt(%n, 0)
          %s = switch(%c, @more, @done)
          %t = %s()
          return %t
        @more():
          %e = gt(%d, 0)
          %s2 = switch(%e, @deeper, @flat)
          %b = %s2()
          %m = sub(%n, 1)
          %b2 = mul(%b, %k)
          %u = @loop(%m, %b2, %k)
          return %u
        @deeper():
          %d2 = sub(%d, 1)
          %i = @outer(%acc, %d2)
          return %i
        @flat():
          return %acc
        @done():
          return %acc
    """)
    assert "one_value" in rules_at(program)
    holds(rewriting.refines(SYSTEM, program, (0.75, 1.0)))
    assert "%k" not in str(SYSTEM.run(program))


def test_copies_are_no_more_than_the_known_values_of_the_calls() -> None:
    """@g2 is called in both copies of @g1, with the same two values."""
    program = read(
        "program @f\n@f(%x: f64):\n  %a = @g1(%x, 1.5)\n  %b = @g1(%a, 2.5)\n  return %b\n"
        "@g1(%u, %k):\n  %c = @g2(%u, 3.5)\n  %d = @g2(%c, 4.5)\n  %e = mul(%d, %k)\n  return %e\n"
        "@g2(%v, %l):\n  %w = sub(%v, %l)\n  return %w"
    )
    after = SYSTEM.run(program)
    assert sorted(g.name for g in after.graphs.values()) == ["f", "g1", "g1", "g2", "g2"]


@pytest.mark.parametrize(("size", "copied"), [(LIMIT, True), (LIMIT + 1, False)])
def test_only_what_is_small_enough_to_inline_is_copied(size: int, copied: bool) -> None:
    body = "".join(f"  %a{i} = sin(%a{i - 1})\n" for i in range(2, size + 1))
    calls = "  %p = @g(%x, 1.5)\n  %q = @g(%p, 2.5)\n"
    program = read(f"program @f\n@f(%x: f64):\n{calls}  return %q\n@g(%a0, %k):\n  %a1 = mul(%a0, %k)\n{body}  return %a{size}")
    assert ("specialized" in rules_at(program)) is copied


def test_what_is_nested_is_split_before_what_it_is_nested_in() -> None:
    program = read(
        "program @f\n@f(%x: f64):\n  %p = @g(%x, 1.5)\n  %q = @g(%p, 2.5)\n  return %q\n"
        "@g(%a, %k):\n  %b = @h(sin)\n  %c = @h(cos)\n  %d = mul(%b, %c)\n  %e = mul(%d, %k)\n  return %e\n"
        "@h(%s):\n  %t = %s(%a)\n  return %t"
    )
    assert [str(step.place) for step in SYSTEM.enabled(program)] == ["graph @h"]
    holds(rewriting.refines(SYSTEM, program, (0.5,)))
    assert "%s(" not in str(SYSTEM.run(program))


def test_with_the_other_passes_the_loop_calls_its_function_by_name() -> None:
    after = Rounds("rounds", (keeping(SYSTEM), *ORDER)).run(SPLIT["a function and a closure"])
    assert "%k" not in str(after)
    assert same(run(after, 0.5, 3.0), run(SPLIT["a function and a closure"], 0.5, 3.0))


# on generated programs

CALLING = Options(size=3, always=frozenset({"definition", "recursion", "higher_order", "captured_call"}))


@costly(2)
@given(source=sources(CALLING), x=edge_points(2))
def test_t22_evaluation_commutes(source: Source, x: tuple[float, ...]) -> None:
    holds(rewriting.keeps_bits(SYSTEM.run, source.program(), x))


@costly(4)
@given(source=sources(CALLING), x=points(2))
def test_t23_every_step_refines_and_both_engines_agree(source: Source, x: tuple[float, ...]) -> None:
    program = source.program()
    holds(rewriting.refines(SYSTEM, program, x))
    holds(rewriting.every_step_is_well_formed(SYSTEM, program))
    holds(rewriting.engines_agree(SYSTEM, program))
    holds(rewriting.result_is_fixpoint(SYSTEM, program))


@costly(4)
@given(source=sources(Options(size=1, always=CALLING.always)), x=points(2))
def test_t22_gradients_commute(source: Source, x: tuple[float, ...]) -> None:
    holds(rewriting.gradient_commutes(SYSTEM.run, source.program(), x))


# the audit

QUICK = ("translation validation", "order")


def test_the_audit_finds_no_fault_and_every_rule_fires() -> None:
    report = audit(SYSTEM, examples=tuple(PROGRAMS.values()), skip=QUICK)
    assert [f for f in report.findings if f.kind == "fault"] == []
    assert report.details["rules that never fired"] == []


@pytest.mark.parametrize(("first", "second"), [("0.0", "-0.0"), ("1", "True"), ("2", "2.0")])
def test_the_audit_finds_constants_compared_by_equality(monkeypatch: pytest.MonkeyPatch, first: str, second: str) -> None:
    sound = copy_propagation._values

    def careless(program: Program, calls: tuple[object, ...], index: int, x: int) -> list[int]:
        values = sound(program, calls, index, x)  # type: ignore[arg-type]
        constants = [program.constant(v) for v in values]
        return [v for i, v in enumerate(values) if constants[i] not in constants[:i]]

    monkeypatch.setattr(copy_propagation, "_values", careless)
    example = calls(first, second, body="make_tuple(%k, %k)", result="make_tuple(%p, %q)")
    report = audit(SYSTEM, examples=(example,), skip=(*QUICK, "gradients", "gradients optimized"))
    assert isinstance(report.verdict, Refuted)


def test_the_audit_finds_a_value_captured_from_a_graph_that_does_not_enclose(monkeypatch: pytest.MonkeyPatch) -> None:
    """One call decides for all: @g captures what only its first caller has."""
    sound = copy_propagation._values
    monkeypatch.setattr(copy_propagation, "_values", lambda *found: sound(*found)[:1])
    example = read(
        "program @f\n@f(%x: f64):\n  %a = @p(%x)\n  %b = @q(%x)\n  %r = sub(%a, %b)\n  return %r\n"
        "@p(%u):\n  %c = sin(%u)\n  %d = @g(%c)\n  return %d\n@q(%v):\n  %e = cos(%v)\n  %h = @g(%e)\n  return %h\n"
        "@g(%k):\n  %w = neg(%k)\n  return %w"
    )
    report = audit(SYSTEM, examples=(example,), skip=(*QUICK, "gradients", "gradients optimized"))
    assert isinstance(report.verdict, Refuted)


@pytest.mark.parametrize("count", [10, 100, 1000])
def test_steps_grow_with_the_program_and_no_faster(count: int) -> None:
    """As many functions, each with one value for two parameters and many for a third."""
    lines = "".join(f"  %v{i} = @g{i}(%v{i - 1}, 3, %x)\n" for i in range(1, count + 1))
    graphs = "".join(f"@g{i}(%a{i}, %b{i}, %c{i}):\n  %p{i} = mul(%a{i}, %b{i})\n  return %p{i}\n" for i in range(1, count + 1))
    program = read(f"program @f\n@f(%x: f64, %v0: f64):\n{lines}  return %v{count}\n{graphs}")
    assert len(SYSTEM.record(program).steps) == 3 * count
