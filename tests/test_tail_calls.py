"""Tail calls: static arguments bound outside the loop, and sole and leaf calls unfolded where inlining refuses."""

from __future__ import annotations

import pytest
from claims import costly, holds
from corpus import CASES, FOLDER
from hypothesis import given

from checkers.generators import Options, Source, edge_points, points, sources
from checkers.optimizer_audit import audit
from checkers.properties import rewriting
from checkers.verdict import Refuted
from semantics.errors import Trap
from semantics.ir import Apply, Program
from semantics.machine import run
from semantics.text import read
from semantics.values import same
from transforms import inline, tail_calls
from transforms.failures import keeping
from transforms.gradient_programs import gradient_program
from transforms.parse import parse_file
from transforms.pipeline import ORDER, Rounds, optimize
from transforms.tail_calls import SYSTEM

WITH_OPTIMIZE = Rounds("with_optimize", (keeping(SYSTEM), *ORDER))

# what the turn passes for %k and for %y
LOOP = """
program @f
@f(%x: f64, %k0: f64):
  %p = @g(%x, 3, {first})
  %q = @g(%p, 2, %x)
  return %q
@g(%y, %n, %k):
  %c = gt(%n, 0)
  %s = switch(%c, @more, @done)
  %t = %s()
  return %t
@more():
  %z = mul(%y, %k)
  %m = sub(%n, 1)
  %u = @g({turn}, {kept})
  return %u
@done():
  return %y
"""
STATIC = read(LOOP.format(first="%k0", turn="%z, %m", kept="%k"))
CHANGED = read(LOOP.format(first="%k0", turn="%z, %m", kept="%z"))
TWO_TURNS = LOOP.replace("  %u = @g(", "  %i = @g(%z, %m, %k)\n  %u = @g(")
BOTH_STATIC = read(TWO_TURNS.format(first="%k0", turn="%i, %m", kept="%k"))
ONE_CHANGES = read(TWO_TURNS.format(first="%k0", turn="%i, %m", kept="%z"))
SWAPPED = read(LOOP.format(first="%k0", turn="%k, %m", kept="%y"))
ENTRY = read(LOOP[LOOP.index("@g(%y, %n, %k)") :].replace("@g(%y", "program @g\n@g(%y", 1).format(turn="%z, %m", kept="%k"))

# a function passed through a loop in continuation-passing style: (x^n, then what k does)
PASSING = read("""
program @f
@f(%x: f64):
  %r = @power(%x, 4, 1.0, @half)
  %s = @power(%x, 2, 1.0, @twice)
  %t = add(%r, %s)
  return %t
@power(%b, %n, %acc, %k):
  %c = gt(%n, 0)
  %choice = switch(%c, @more, @done)
  %v = %choice()
  return %v
@more():
  %a = mul(%acc, %b)
  %m = sub(%n, 1)
  %u = @power(%b, %m, %a, %k)
  return %u
@done():
  %w = %k(%acc)
  return %w
@half(%h):
  %h2 = mul(%h, 0.5)
  return %h2
@twice(%d):
  %d2 = mul(%d, 2.0)
  return %d2
""")

# each calls the other; {again} is a second caller of @odd
MUTUAL = """
program @f
@f(%x: f64):
  %p = @even(%x, 5)
  %q = @even(%p, 2){again}
  return %q
@even(%a, %n):
  %c = gt(%n, 0)
  %s = switch(%c, @e_more, @e_done)
  %t = %s()
  return %t
@e_more():
  %b = sin(%a)
  %m = sub(%n, 1)
  %u = @odd(%b, %m)
  return %u
@e_done():
  return %a
@odd(%a2, %n2):
  %c2 = gt(%n2, 0)
  %s2 = switch(%c2, @o_more, @o_done)
  %t2 = %s2()
  return %t2
@o_more():
  %b2 = mul(%a2, 0.5)
  %m2 = sub(%n2, 1)
  %u2 = @even(%b2, %m2)
  return %u2
@o_done():
  %z = neg(%a2)
  return %z
"""
SOLE = read(MUTUAL.format(again=""))
SHARED = read(MUTUAL.format(again="").replace("%q = @even(%p, 2)", "%q = @odd(%p, 2)"))

# a choice of two functions, handed on by a function that {does} with them
CHOICE = """
program @f
@f(%x: f64):
  %r = @g(%x, 3)
  %s = @g(%r, 1)
  return %s
@g(%y, %n):
  %c = gt(%n, 0)
  %h = @choose(%c, @more, @done)
  %t = %h()
  return %t
@more():
  %c2 = lt(%y, 1.0)
  %h2 = @choose(%c2, @down, @done)
  %z = %h2()
  return %z
@down():
  %m = sub(%n, 1)
  %v = sin(%y)
  %u = @g(%v, %m)
  return %u
@done():
  return %y
@choose(%b, %p, %q):
  %o = switch(%b, %p, %q)
  {does}
"""
LEAF = read(CHOICE.format(does="return %o"))
NO_LEAF = read(
    CHOICE.replace("%t = %h()", "%t = neg(%h)").replace("%z = %h2()", "%z = neg(%h2)").format(does="%w = %o()\n  return %w")
)

FIRING = [
    ("static_argument", STATIC, CHANGED),
    ("static_argument", BOTH_STATIC, ONE_CHANGES),
    ("static_argument", PASSING, SWAPPED),
    ("sole_call", SOLE, SHARED),
    ("leaf_call", LEAF, NO_LEAF),
]
PROGRAMS = {
    "static": STATIC,
    "passing": PASSING,
    "sole": SOLE,
    "shared": SHARED,
    "leaf": LEAF,
    "no leaf": NO_LEAF,
    "two turns": BOTH_STATIC,
    "one changes": ONE_CHANGES,
}


def rules_at(program: Program) -> set[str]:
    """The rules that apply somewhere."""
    return {step.rule for step in SYSTEM.enabled(program)}


@pytest.mark.parametrize(("rule", "hit", "miss"), FIRING)
def test_a_rule_fires_where_its_left_side_stands_and_not_beside_it(rule: str, hit: Program, miss: Program) -> None:
    assert rule in rules_at(hit)
    assert rule not in rules_at(miss)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("x", [0.5, -0.0, 2.0])
def test_values_and_gradients_are_kept(name: str, x: float) -> None:
    program = PROGRAMS[name]
    point = (x, 1.25)[: len(program.graphs[program.entry].parameters)]
    holds(rewriting.refines(SYSTEM, program, point))
    holds(rewriting.gradient_commutes(SYSTEM.run, program, point))
    holds(rewriting.every_step_is_well_formed(SYSTEM, program))
    holds(rewriting.engines_agree(SYSTEM, program))
    holds(rewriting.result_is_fixpoint(SYSTEM, program))


def test_a_continuation_that_a_loop_passes_on_is_called_by_its_name_after_inlining() -> None:
    """Each call of @power has its own continuation, so none is called as a value, and none is passed."""
    assert "%k(" in str(optimize(PASSING))
    after = WITH_OPTIMIZE.run(PASSING)
    assert "@half" not in str(after)
    assert "%k" not in str(after)
    assert all(same(run(after, x), run(PASSING, x)) for x in (0.5, -3.0))


def test_two_functions_that_call_each_other_become_one_loop() -> None:
    after = SYSTEM.run(SOLE)
    assert len(after.graphs) == len(SOLE.graphs) - 1
    assert len(SYSTEM.run(SHARED).graphs) == len(SHARED.graphs)


def test_an_entry_that_calls_itself_keeps_its_parameters() -> None:
    after = SYSTEM.run(ENTRY)
    assert len(after.graphs[after.entry].parameters) == 3
    assert same(run(after, 0.5, 4, 3.0), run(ENTRY, 0.5, 4, 3.0))


def test_a_failure_among_the_arguments_of_a_sole_call_is_kept() -> None:
    program = read('program @f\n@f(%x: f64):\n  %m = fail("m")\n  %r = @g(%x, %m)\n  return %r\n@g(%y, %z):\n  return %y')
    assert "sole_call" in rules_at(program)
    assert keeping(SYSTEM).final(program)
    with pytest.raises(Trap):
        run(keeping(SYSTEM).run(program), 1.0)


def applications(program: Program) -> int:
    return sum(isinstance(node, Apply) for node in program.nodes.values())


@pytest.mark.parametrize("case", [c for c in CASES if c.file == "loops"], ids=lambda c: c.name)
def test_the_gradient_of_every_loop_of_the_corpus_loses_a_third_of_its_applications(case: object) -> None:
    program = optimize(gradient_program(parse_file(FOLDER / f"{case.file}.py", case.name)))  # type: ignore[attr-defined]
    after = WITH_OPTIMIZE.run(program)
    assert 3 * applications(after) <= 2 * applications(program)
    assert "▶switch" not in str(after)
    for x in case.points:  # type: ignore[attr-defined]
        assert same(run(after, float(x)), run(program, float(x)))


# on generated programs

SMALL = Options(size=2, always=frozenset({"recursion", "captured_call"}))


@costly(2)
@given(source=sources(SMALL), x=edge_points(2))
def test_t22_evaluation_commutes(source: Source, x: tuple[float, ...]) -> None:
    holds(rewriting.keeps_bits(SYSTEM.run, source.program(), x))
    holds(rewriting.keeps_bits(WITH_OPTIMIZE.run, source.program(), x))


@costly(4)
@given(source=sources(SMALL), x=points(2))
def test_t23_every_step_refines_and_both_engines_agree(source: Source, x: tuple[float, ...]) -> None:
    program = source.program()
    holds(rewriting.refines(SYSTEM, program, x))
    holds(rewriting.every_step_is_well_formed(SYSTEM, program))
    holds(rewriting.engines_agree(SYSTEM, program))
    holds(rewriting.result_is_fixpoint(SYSTEM, program))


@costly(4)
@given(source=sources(Options(size=1)), x=points(2))
def test_t22_gradients_commute(source: Source, x: tuple[float, ...]) -> None:
    holds(rewriting.gradient_commutes(SYSTEM.run, source.program(), x))


# the audit

QUICK = ("translation validation", "order")


def test_the_audit_finds_no_fault_and_every_rule_fires() -> None:
    report = audit(SYSTEM, examples=tuple(PROGRAMS.values()), skip=QUICK)
    assert [f for f in report.findings if f.kind == "fault"] == []
    assert report.details["rules that never fired"] == []


def test_the_audit_finds_a_static_argument_that_a_turn_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = tail_calls.changed
    monkeypatch.setattr(tail_calls, "changed", lambda program, graph, turns: sound(program, graph, turns[:1]))
    example = read(
        "program @f\n@f(%x: f64):\n  %p = @g(%x, True, 2.0)\n  return %p\n"
        "@g(%y, %b, %k):\n  %s = switch(%b, @more, @done)\n  %t = %s()\n  return %t\n@done():\n  %w = mul(%y, %k)\n  return %w\n"
        "@more():\n  %i = @g(%y, False, %k)\n  %u = @g(%i, False, 3.0)\n  return %u"
    )
    report = audit(SYSTEM, examples=(example,), skip=(*QUICK, "gradients", "gradients optimized"))
    assert isinstance(report.verdict, Refuted)


def test_the_audit_finds_a_call_with_too_many_arguments_that_is_unfolded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tail_calls, "_fits", lambda program, place, target: target != program.entry)
    example = read("program @f\n@f(%x: f64):\n  %r = @g(%x, %x)\n  return %r\n@g(%y):\n  return %y")
    report = audit(SYSTEM, examples=(example,), skip=(*QUICK, "gradients", "gradients optimized"))
    assert isinstance(report.verdict, Refuted)


def test_inlining_alone_leaves_these_calls() -> None:
    for program in (SOLE, LEAF):
        assert inline.SYSTEM.final(program)


@pytest.mark.parametrize("count", [10, 100, 1000])
def test_steps_grow_with_the_program_and_no_faster(count: int) -> None:
    """A cycle of functions, each with one caller: every one moves once."""
    turns = "".join(f"@g{i}(%a{i}):\n  %q{i} = @g{i + 1}(%a{i})\n  return %q{i}\n" for i in range(1, count))
    last = f"@g{count}(%a):\n  %z = gt(%a, 1.0)\n  %s = switch(%z, @h, @k)\n  %r = %s()\n  return %r\n"
    arms = "@h():\n  %p = mul(%a, 0.5)\n  %q = @g1(%p)\n  return %q\n@k():\n  return %a\n"
    program = read("program @f\n@f(%x: f64):\n  %y = @g1(%x)\n  %w = @g1(%y)\n  return %w\n" + turns + last + arms)
    recorded = SYSTEM.record(program)
    assert len(recorded.steps) == count - 1
    assert same(run(recorded.result, 5.0), 0.625)
