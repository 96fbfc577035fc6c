"""The machine, the denotation and derivations: each rule where it fires and where it must not, and that the two agree."""

from __future__ import annotations

import math

import pytest
from hypothesis import event, given

from checkers.generators import edge_points, graphs, points
from semantics import machine
from semantics.columns.exact import lift
from semantics.denotation import FRACTIONS, Reading, denote
from semantics.derivation import derive, replay, seeded, why_not
from semantics.errors import Crash, IllTyped, Malformed, OutOfFuel, Trap
from semantics.machine import Machine, State, depth, evaluate, run
from semantics.primitives.row import Column, Hole
from semantics.text import read
from semantics.values import Closure, Unbound, same

SQUARE = read("program @f\n@f(%x: f64):\n  %y = mul(%x, %x)\n  return %y")
CALLS = read(
    """program @f
@f(%x: f64):
  %a = @g(%x)
  %b = add(%a, 1.0)
  return %b
@g(%y):
  %c = mul(%y, %x)
  return %c
"""
)
COUNT = """program @f
@f(%x: f64):
  %r = @loop(0, %x)
  return %r
@loop(%i, %v):
  %c = lt(%i, TURNS)
  %t = switch(%c, @body, @done)
  %u = %t()
  return %u
@body():
  %j = add(%i, 1)
  %w = add(%v, 1.0)
  %q = @loop(%j, %w)
  return %q
@done():
  return %v
"""


def rules_of(text: str, *arguments: object) -> list[str]:
    """The rules that a run uses, in order."""
    return [s.rule for s in evaluate(read(text), *arguments).steps]


def test_primitive_fires_on_an_application_of_a_primitive() -> None:
    assert [s.rule for s in evaluate(SQUARE, 3.0).steps] == ["primitive"]


def test_primitive_does_not_fire_on_an_application_of_a_closure() -> None:
    assert rules_of("program @f\n@f(%x):\n  %y = @g(%x)\n  return %y\n@g(%z):\n  return %z", 3.0) == ["close", "tail_call"]


def test_close_captures_the_values_of_the_free_variables() -> None:
    step = evaluate(CALLS, 3.0).steps[0]
    assert step.rule == "close"
    closure = next(v for v in step.after.environment.values() if isinstance(v, Closure))
    assert closure.captured == (3.0,)


def test_close_does_not_fire_where_a_graph_is_only_called_through_a_value() -> None:
    assert rules_of("program @f\n@f(%x):\n  return %x", 1.0) == []


def test_call_keeps_the_caller_and_give_back_returns_to_it() -> None:
    assert [s.rule for s in evaluate(CALLS, 3.0).steps] == ["close", "call", "primitive", "give_back", "primitive"]


def test_tail_call_gives_up_the_frame_and_so_nothing_is_given_back() -> None:
    found = rules_of(COUNT.replace("TURNS", "2"), 0.5)
    assert "call" not in found
    assert "give_back" not in found
    assert found.count("tail_call") == 1 + 2 * 2 + 1


def test_a_node_that_nothing_needs_is_never_evaluated() -> None:
    assert run(read("program @f\n@f(%x):\n  %t = floordiv(1, 0)\n  return %x"), 2.0) == 2.0


def test_a_node_used_twice_is_evaluated_once() -> None:
    found = rules_of("program @f\n@f(%x):\n  %y = sin(%x)\n  %z = add(%y, %y)\n  return %z", 1.0)
    assert found == ["primitive", "primitive"]


def test_a_loop_runs_in_constant_continuation_space() -> None:
    program = Machine(read(COUNT.replace("TURNS", "200")))
    state, deepest = program.initial((0.0,)), 0
    while (after := program.step(state)) is not None:
        state = after
        deepest = max(deepest, depth(state))
    assert deepest == 0
    assert program.value(state) == 200.0


def test_a_recursion_deeper_than_pythons_stack_runs_in_both_evaluators() -> None:
    text = """program @f
@f(%x: f64):
  %r = @down(100000, %x)
  return %r
@down(%n, %v):
  %c = le(%n, 0)
  %t = switch(%c, @stop, @more)
  %u = %t()
  return %u
@stop():
  return %v
@more():
  %m = sub(%n, 1)
  %q = @down(%m, %v)
  %s = add(%q, 1.0)
  return %s
"""
    assert run(read(text), 0.0) == 100000.0
    assert denote(read(text), (0.0,)) == 100000.0


@given(graphs(), edge_points(2))
def test_determinism_one_rule_is_enabled_until_the_end_and_the_quick_step_takes_it(
    program: machine.Program, x: tuple[float, ...]
) -> None:
    running = Machine(program)
    state = running.initial(x)
    while not running.final(state):
        (step,) = running.enabled(state)
        quick = running.step(state)
        assert quick is not None
        assert (quick.code.graph, quick.position, depth(quick)) == (step.after.code.graph, step.after.position, depth(step.after))
        assert set(quick.environment) == set(step.after.environment)
        assert all(same(v, step.after.environment[n]) for n, v in quick.environment.items())
        state = step.after
    assert running.enabled(state) == []
    event(f"{len(program.graphs)} graphs")
    assert same(running.value(state), run(program, *x))


@given(graphs(), edge_points(2))
def test_adequacy_the_machine_and_the_denotation_agree_in_every_bit(program: machine.Program, x: tuple[float, ...]) -> None:
    assert same(run(program, *x), denote(program, x))


def test_two_rules_enabled_at_once_are_an_error_that_names_both(monkeypatch: pytest.MonkeyPatch) -> None:
    again = machine.MachineRule("again", "the same", machine.primitive.function)
    monkeypatch.setattr(machine, "RULES", (*machine.RULES, again))
    running = Machine(SQUARE)
    with pytest.raises(Crash, match="primitive, again"):
        running.enabled(running.initial((1.0,)))
    doubled = Machine(SQUARE)
    state = doubled.initial((1.0,))
    task = state.task._replace(rules=state.task.rules * 2)
    with pytest.raises(Crash, match="two rules"):
        doubled.step(state._replace(code=state.code._replace(tasks=(task, *state.code.tasks[1:]))))


def test_a_missing_rule_leaves_the_machine_stuck_which_is_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "RULES", tuple(r for r in machine.RULES if r.name != "give_back"))
    with pytest.raises(Crash, match="stuck"):
        evaluate(CALLS, 1.0)


def test_fuel_bounds_both_evaluators() -> None:
    endless = read("program @f\n@f(%x):\n  %y = @f(%x)\n  return %y")
    with pytest.raises(OutOfFuel):
        Machine(endless).run((1.0,), fuel=1000)
    with pytest.raises(OutOfFuel):
        denote(endless, (1.0,), fuel=1000)
    with pytest.raises(OutOfFuel):
        evaluate(endless, 1.0, fuel=100)


@pytest.mark.parametrize(
    ("text", "arguments", "kind", "what"),
    [
        ("@f(%x: f64):\n  return %x", (1,), IllTyped, "wants f64"),
        ("@f(%x):\n  return %x", (1.0, 2.0), IllTyped, "takes 1 argument, 2 given"),
        ("@f(%x):\n  %y = %x(%x)\n  return %y", (1.0,), IllTyped, "not a function"),
        ("@f(%x):\n  %y = add(%x)\n  return %y", (1.0,), IllTyped, "add takes 2 arguments, 1 given"),
        ("@f(%x):\n  %y = add(%x, True)\n  return %y", (1.0,), IllTyped, "boolean"),
        ("@f(%x):\n  %y = switch(%x, 1, 2)\n  return %y", (1.0,), IllTyped, "boolean"),
        ("@f(%x):\n  %y = floordiv(%x, 0)\n  return %y", (1,), Trap, "division by zero"),
        ("@f(%x):\n  %t = make_tuple(%x)\n  %y = getitem(%t, 1)\n  return %y", (1.0,), Trap, "outside"),
        ("@f(%x):\n  %y = add(%x, unbound(v))\n  return %y", (1.0,), Trap, "used before it is assigned"),
    ],
)
def test_what_goes_wrong_is_one_of_the_five_errors(text: str, arguments: tuple[object, ...], kind: type, what: str) -> None:
    with pytest.raises(kind, match=what):
        run(read("program @f\n" + text), *arguments)


@given(graphs(), points(2))
def test_errors_and_values_are_the_same_with_holes_in_a_column(program: machine.Program, x: tuple[float, ...]) -> None:
    """In a column with holes both evaluators refuse the same programs, with the reason of the hole."""
    cells = {**machine.MEANING.cells, "sin": Hole("no sine here"), "tanh": Hole("no tanh here")}
    column = Column("meaning", cells)

    def outcome(evaluator: object) -> object:
        try:
            return evaluator()  # type: ignore[operator]
        except IllTyped as error:
            return error.what

    left = outcome(lambda: run(program, *x, column=column))
    right = outcome(lambda: denote(program, x, Reading(column)))
    assert left == right if isinstance(left, str) or isinstance(right, str) else same(left, right)


def test_the_exact_reading_of_a_rational_program_is_a_fraction_and_of_sin_a_located_error() -> None:
    assert denote(SQUARE, (lift(0.5),), FRACTIONS) == lift(0.25)
    with pytest.raises(IllTyped, match="irrational"):
        denote(read("program @f\n@f(%x):\n  %y = sin(%x)\n  return %y"), (lift(0.5),), FRACTIONS)


def test_observe_sees_every_application_of_a_primitive_in_order() -> None:
    seen: list[str] = []
    denote(CALLS, (3.0,), Reading(machine.MEANING, observe=lambda p, n, f, a, v: seen.append(f.name)))
    assert seen == ["mul", "add"]


# derivations


@given(graphs(size=4), points(2))
def test_a_saved_run_replays_to_the_same_derivation(program: machine.Program, x: tuple[float, ...]) -> None:
    recorded = evaluate(program, *x)
    running = Machine(program)
    again = replay(running, running.initial(x), recorded.to_json())
    assert [(s.rule, s.place) for s in again.steps] == [(s.rule, s.place) for s in recorded.steps]
    assert same(running.value(again.result), running.value(recorded.result))


def test_replay_refuses_another_start_another_rule_another_place_and_another_state() -> None:
    running, recorded = Machine(CALLS), evaluate(CALLS, 3.0).to_json()
    with pytest.raises(Malformed, match="starts from another state"):
        replay(running, running.initial((4.0,)), recorded)
    with pytest.raises(Malformed, match="step 1: call is not enabled"):
        replay(running, running.initial((3.0,)), recorded.replace('"close"', '"call"'))
    with pytest.raises(Malformed, match="another state than recorded"):
        replay(running, running.initial((3.0,)), recorded.replace("9.0", "8.0"))
    with pytest.raises(Malformed, match="not a saved derivation"):
        replay(running, running.initial((3.0,)), "{}")


def test_coverage_counts_rules_and_the_machine_has_no_rule_that_small_programs_do_not_reach() -> None:
    found = evaluate(CALLS, 3.0).coverage() + evaluate(read(COUNT.replace("TURNS", "1")), 0.0).coverage()
    assert set(found) == {r.name for r in machine.RULES}
    assert found["give_back"] == 1


def test_why_not_says_that_a_rule_fires_what_fires_instead_or_that_there_is_no_such_rule() -> None:
    running = Machine(CALLS)
    state = running.initial((3.0,))
    assert why_not(running, state, "close").startswith("close is enabled at")
    explained = why_not(running, state, "primitive")
    assert "does not fire here" in explained
    assert "close at" in explained
    with pytest.raises(Malformed) as caught:
        why_not(running, state, "primitiv")
    assert "primitive" in caught.value.remedy


def test_the_printed_run_shows_the_rule_the_place_and_the_change() -> None:
    assert str(evaluate(SQUARE, 3.0)).splitlines() == [
        "evaluate: 1 steps",
        "    in @f, next %y = mul(%x, %x), 0 waiting",
        "      %x = 3.0",
        "   1  primitive  at %y = mul(%x, %x)",
        "      - in @f, next %y = mul(%x, %x), 0 waiting",
        "      + in @f, next the end of @f, 0 waiting",
        "      +   %y = 9.0",
    ]


def test_a_seeded_strategy_makes_the_same_run_for_the_same_seed() -> None:
    running = Machine(CALLS)
    first, second = (derive(running, running.initial((3.0,)), strategy=seeded(7)) for _ in range(2))
    assert [s.rule for s in first.steps] == [s.rule for s in second.steps]


def test_a_rule_without_a_law_is_refused_when_it_is_defined() -> None:
    def silent(running: Machine, state: State) -> State | None:
        return None

    with pytest.raises(Malformed, match="states no law"):
        machine.rule(silent)


def test_laws_are_data() -> None:
    assert all(r.law for r in machine.RULES)
    assert machine.close.law.startswith("ρ, @g")


def test_a_value_that_no_path_assigned_is_unbound_and_passing_it_on_does_not_trap() -> None:
    program = read("program @f\n@f(%x):\n  %t = make_tuple(%x, unbound(v))\n  %y = getitem(%t, 0)\n  return %y")
    assert run(program, 1.0) == 1.0
    assert isinstance(run(read("program @f\n@f():\n  return unbound(v)")), Unbound)


def test_infinities_and_nans_are_values() -> None:
    program = read("program @f\n@f(%x):\n  %y = div(1.0, %x)\n  return %y")
    assert run(program, 0.0) == math.inf
    assert run(program, -0.0) == -math.inf
    assert math.isnan(run(program, math.nan))
