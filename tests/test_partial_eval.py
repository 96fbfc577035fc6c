"""Partial evaluation: what is unfolded, what stays, what is kept; budgets, the order of steps, and planted unsoundness."""

from __future__ import annotations

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from optimizer_programs import POINTS, TEXTS, program, programs
from test_failures import FAILING, outcome

from checkers.optimizer_audit import audit
from checkers.verdict import Refuted
from semantics.edit import Edit
from semantics.errors import AdjudgeError, Trap
from semantics.ir import GraphRef, Program
from semantics.machine import run
from semantics.text import read
from semantics.values import same
from semantics.wellformed import check
from transforms import dce, partial_eval
from transforms.failures import keeping
from transforms.gradient_programs import gradient_program
from transforms.parse import parse_text
from transforms.partial_eval import GROWTH, TURNS, unfold, unfoldable
from transforms.pipeline import MIMIR, optimize
from transforms.places import places
from transforms.system import Rewrite, RewriteSystem, rewrite

QUICK = ("translation validation", "order", "recorded and unrecorded", "gradients", "gradients optimized")
SYSTEM = keeping(partial_eval.SYSTEM)

LOOP = "def pow(x, n: int):\n r = 1.0\n while n > 0:\n  r *= x\n  n -= 1\n return r\n"
RECURSION = "def pow(x, n: int):\n return 1.0 if n == 0 else x * pow(x, n - 1)\n"
RANGE = "def pow(x, n: int):\n r = 1.0\n for i in range(n):\n  r *= x\n return r\n"


def called(definition: str, call: str) -> Program:
    return parse_text(f"{definition}\ndef f(x: float, k: int = 1):\n return {call}\n", "f")


def applied(p: Program) -> list[str]:
    """The names of the primitives that are applied, and @ for every other application."""
    callees = [p.callee(n) for n in sorted(p.nodes) if hasattr(p.nodes[n], "inputs")]
    return [getattr(c, "name", "@") for c in callees]


@pytest.mark.parametrize("definition", [LOOP, RECURSION, RANGE], ids=["loop", "recursion", "range"])
def test_a_power_with_a_known_exponent_is_its_products(definition: str) -> None:
    result = optimize(SYSTEM.run(called(definition, "pow(x, 5)")))
    assert applied(result) == ["mul"] * 4
    for x in (2.0, -1.5, float("inf"), -0.0):
        assert same(run(result, x, 1), run(called(definition, "pow(x, 5)"), x, 1))


@pytest.mark.parametrize("definition", [LOOP, RECURSION, RANGE], ids=["loop", "recursion", "range"])
def test_the_gradient_of_a_power_with_a_known_exponent_has_no_call_and_no_closure(definition: str) -> None:
    gradient = gradient_program(called(definition, "pow(x, 5)"))
    result = optimize(SYSTEM.run(optimize(gradient)))
    assert len(result.graphs) == 1
    assert set(applied(result)) <= {"mul", "add"}
    for x in (2.0, -1.5, 0.0, float("inf")):
        assert same(run(result, x, 1), run(gradient, x, 1))


NESTED = "def g(x, n: int, m: int):\n s = 0.0\n for i in range(n):\n  for j in range(m):\n   s = s + x * i\n return s\n"
UNTIL = "def g(x, n: int):\n while n < 100:\n  x = x * 0.5\n  if x < {limit}: return x\n  n = n + 1\n return x\n"


@pytest.mark.parametrize(
    ("definition", "call", "stays"),
    [
        (LOOP, "pow(x, 3)", False),
        (LOOP, "pow(x, k)", True),  # an unknown argument
        (LOOP, f"pow(x, {TURNS - 2})", False),
        (LOOP, f"pow(x, {TURNS + 1})", True),  # the budget
        (RECURSION, "pow(x, 3)", False),
        (RECURSION, "pow(x, -1)", True),  # it never ends
        ("def g(x, n: int):\n return x if x < 1.0 else g(x / 2.0, n)\n", "g(x, 3)", True),  # what is known decides nothing
        ("def g(x, n: int):\n return x if n == 0 else g(x / 2.0, n)\n", "g(x, 3)", True),  # and is not consumed
        ("def g(x, n: int):\n return x if n == 0 else g(x / 2.0, n - 1) + g(x, n - 1)\n", "g(x, 3)", False),
        ("def g(x, n: int):\n return x if n == 0 else g(x / 2.0, n - 1) + g(x, n - 1)\n", "g(x, 9)", True),
        ("def g(x, p):\n return x if p[0] == 0 else g(x * p[1], (p[0] - 1, p[1]))\n", "g(x, (3, x))", False),
        ("def g(x, p):\n return x if p[0] == 0 else g(x * p[1], (p[0] - 1, p[1]))\n", "g(x, (k, x))", True),
        (NESTED, "g(x, 2, 3)", False),
        (NESTED, "g(x, k, 3)", True),
        (UNTIL.format(limit="0.001"), "g(x, 97)", True),  # it may end before
        (UNTIL.format(limit="n"), "g(x, 98)", True),
        (
            "def e(x, n: int):\n return x if n == 0 else o(x, n - 1)\ndef o(x, n: int):\n return -x if n == 0 else e(x, n - 1)\n",
            "e(x, 5)",
            False,
        ),
    ],
)
def test_a_call_is_unfolded_only_if_what_is_known_decides_all_of_its_turns(definition: str, call: str, stays: bool) -> None:
    p = called(definition, call)
    result = SYSTEM.run(p)
    check(result)
    assert ("@" in applied(result)) == stays
    assert SYSTEM.run(result) is result
    if "-1)" not in call and call != "g(x, 3)":
        assert same(run(result, 1.25, 2), run(p, 1.25, 2))


def test_only_the_loops_that_are_known_are_unrolled() -> None:
    p = called(LOOP, "pow(x, 3) + pow(x, k)")
    result = optimize(SYSTEM.run(optimize(p)))
    assert applied(result).count("mul") == 3
    assert applied(result).count("@") > 0
    assert same(run(result, 1.5, 4), 1.5**3 + 1.5**4)


def test_each_call_is_judged_on_its_own_and_unfolded_within_the_bound() -> None:
    p = optimize(called(LOOP, f"pow(x, {TURNS - 2}) + pow(x, 2)"))
    sites = [n for n in places(p) if unfoldable(p, n) is not None]
    assert len(sites) == 2
    result = SYSTEM.run(p)
    assert len(result.nodes) - len(p.nodes) <= GROWTH * len(sites)


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("gradient", [False, True])
def test_the_named_programs_keep_their_values_and_come_to_rest(name: str, gradient: bool) -> None:
    p = gradient_program(program(name)) if gradient else program(name)
    result = SYSTEM.run(p)
    check(result)
    assert SYSTEM.run(result) is result
    refines(p, result)


@pytest.mark.parametrize("name", ["loop", "recursion", "self application in a tuple"])
def test_what_is_recursive_with_known_arguments_is_straight_line_code_afterwards(name: str) -> None:
    assert len(optimize(SYSTEM.run(program(name))).graphs) == 1
    assert len(optimize(program(name)).graphs) > 1


def refines(before: Program, after: Program) -> None:
    for point in POINTS:
        try:
            wanted = run(before, *point, fuel=100_000)
        except AdjudgeError:
            continue
        assert same(run(after, *point), wanted), (point, str(before), str(after))


@given(programs())
def test_partial_evaluation_keeps_every_bit_and_is_idempotent(p: Program) -> None:
    result = SYSTEM.run(p)
    check(result)
    refines(p, result)
    assert SYSTEM.run(result) is result
    event("changed" if result is not p else "unchanged")


STEPS = st.lists(st.sampled_from(["y = y * x", "y = y - i", "y = y + 0.5 * x", "y = -y if y < i else y"]), min_size=1, max_size=1)


@given(st.integers(0, 2), st.integers(0, 1), STEPS, STEPS)
def test_loops_with_known_trip_counts_keep_value_and_gradient(outer: int, inner: int, first: list[str], second: list[str]) -> None:
    lines = [f"  {s}" for s in first] + [f"  for i in range({inner}):"] + [f"   {s}" for s in second]
    p = parse_text("def f(x):\n y = x\n" + f" for i in range({outer}):\n" + "\n".join(lines) + "\n return y\n", "f")
    for before in (p, gradient_program(p)):
        after = SYSTEM.run(before)
        calls = {after.callee(n) for n in after.nodes}
        event("calls left" if any(isinstance(c, GraphRef) for c in calls) else "no call left")
        for x in (0.5, -1.25, 0.0, -0.0):
            assert same(run(after, x), run(before, x))


@pytest.mark.parametrize("name", FAILING)
def test_assertions_are_kept(name: str) -> None:
    p = parse_text(FAILING[name], "f")
    result = SYSTEM.run(p)
    for x in (-1.0, 2.0):
        assert outcome(lambda x: run(result, x), x) == outcome(lambda x: run(p, x), x)


def test_twice_as_many_turns_are_at_most_four_times_the_steps_and_the_growth_is_linear() -> None:
    grown = [len(SYSTEM.run(called(LOOP, f"pow(x, {n})")).nodes) for n in (3, 6, 12, 24)]
    each = (grown[1] - grown[0]) // 3
    assert [n - grown[0] for n in grown] == [0, 3 * each, 9 * each, 21 * each]


# the whole sequence


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("def f(x: float):\n return 5 * x + 3", 0),  # the constant 5
        ("def f(a: float, b: float):\n return (a + b) * b", 0),  # b
        ("def f(x: float, y: float):\n return x**3 * y**4", 4),
        (f"{LOOP}def f(x: float):\n return pow(x, 5)", 9),
        (f"{LOOP}def f(x: float, n: int):\n return pow(x, n)", 30),
    ],
)
def test_the_sequence_of_the_paper_leaves_no_more_than_optimize(text: str, most: int) -> None:
    gradient = gradient_program(parse_text(text, "f"))
    result = MIMIR.run(gradient)
    assert MIMIR.run(result) is result
    assert MIMIR.joint.final(result)
    assert len(applied(result)) <= min(most, len(applied(optimize(gradient))))


@given(programs(sensitivities=False))
def test_the_sequence_of_the_paper_keeps_gradients(p: Program) -> None:
    gradient = gradient_program(p)
    refines(gradient, MIMIR.run(gradient))


# the audit

FAILS = read("""
program @f
@f(%x: f64, %y: f64):
  %c = lt(%x, 0.0)
  %s = switch(%c, @bad, @good)
  %t = %s()
  %r = @loop(2, %y, %t)
  return %r
@bad():
  %e = fail("m")
  return %e
@good():
  return %x
@loop(%n, %acc, %u):
  %d = gt(%n, 0)
  %w = switch(%d, @more, @done)
  %v = %w()
  return %v
@more():
  %m = sub(%n, 1)
  %a = mul(%acc, 2.0)
  %b = @loop(%m, %a, 0.0)
  return %b
@done():
  return %acc
""")
EQUAL = read("""
program @f
@f(%x: f64, %y: f64):
  %p = @g(0.0, %x)
  %q = @g(-0.0, %y)
  %r = sub(%p, %q)
  return %r
@g(%n, %z):
  %a = div(1.0, %n)
  return %a
""")


def test_the_audit_finds_no_fault_in_partial_evaluation() -> None:
    examples = (FAILS, EQUAL, called(LOOP, "pow(x, 3)"), program("loop"), program("recursion"))
    report = audit(SYSTEM, examples=examples, skip=("translation validation", "gradients optimized"))
    assert report.findings == ()


def test_a_failing_argument_that_no_turn_needs_is_kept() -> None:
    kept = SYSTEM.run(FAILS)
    for x in (-1.0, 1.0):
        assert outcome(lambda x: run(kept, x, 2.0), x) == outcome(lambda x: run(FAILS, x, 2.0), x)
    assert outcome(lambda x: run(FAILS, x, 2.0), -1.0) is Trap
    assert not unfold_fires(FAILS)
    assert unfold_fires(read(str(FAILS).replace("@loop(2, %y, %t)", "@loop(2, %t, %t)")))


def unfold_fires(p: Program) -> bool:
    return any(unfold.function(p, place) is not None for place in places(p))


@rewrite
def specialized_by_equality(program: Program, place: int) -> Program | None:
    """@g(c, …), c == d for a known argument d of another call  ⟹  @g(d, …), whose copy is there already"""
    callee = program.callee(place) if place in program.nodes else None
    known = program.constant(program.inputs(place)[1]) if isinstance(callee, GraphRef) else None
    if not isinstance(callee, GraphRef) or type(known) not in (int, float, bool):
        return None
    for use in sorted(program.users(program.inputs(place)[0])):
        other = program.inputs(use.user)[1]
        if use.user < place and other != program.inputs(place)[1] and program.constant(other) == known:
            edit = Edit(program)
            edit.set_inputs(place, (program.inputs(place)[0], other, *program.inputs(place)[2:]))
            return edit.program
    return None


@rewrite
def without_a_look_at_failures(program: Program, place: int) -> Program | None:
    """n = @g(a…), and g does not need one of a…  ⟹  n without it, whether it may fail or not"""
    return dce.unused_parameter.function(program, program.callee(place).graph) if unfoldable(program, place) else None


def caught(planted: Rewrite) -> bool:
    system = RewriteSystem("planted", (planted, unfold), argument="it is not there for long")
    findings = audit(system, examples=(EQUAL,), skip=QUICK).findings
    return any(isinstance(f, Refuted) and f.kind == "fault" for f in findings)


def test_the_audit_catches_copies_shared_between_arguments_that_are_merely_equal() -> None:
    assert caught(specialized_by_equality)


def test_a_variant_that_drops_a_failure_is_told_apart_by_running_it() -> None:
    system = RewriteSystem("planted", (without_a_look_at_failures, *partial_eval.RULES), argument="it removes parameters")
    dropped = system.run(FAILS)
    assert outcome(lambda x: run(FAILS, x, 2.0), -1.0) is Trap
    assert outcome(lambda x: run(dropped, x, 2.0), -1.0) == 8.0
