"""The engine of transforms: its two ways of running, its records, its refusals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from optimizer_programs import program, programs

from semantics.derivation import first, replay, seeded, why_not
from semantics.edit import Edit
from semantics.errors import Crash, Malformed, OutOfFuel
from semantics.ir import NOT_CONSTANT, Apply, Program
from semantics.primitives.table import TABLE
from semantics.text import read
from transforms import cse, dce, fold, inline, simplify, tuples
from transforms.agenda import AtWork, changed
from transforms.agenda_system import AgendaSystem, agenda_rule
from transforms.pipeline import ORDER
from transforms.surgery import application, become
from transforms.system import Rewrite, RewriteSystem, describe_place, places, rewrite, rewrite_of

ADD, MUL = TABLE["add"], TABLE["mul"]


@rewrite
def add_to_mul(program: Program, place: int) -> Program | None:
    """a + b  ⟹  a * b"""
    found = application(program, place, ADD)
    if found is None:
        return None
    edit = Edit(program)
    return become(edit, place, edit.call(found.graph, MUL, *found.arguments))


@rewrite_of("mul")
def mul_to_add(program: Program, place: int) -> Program | None:
    """a * b  ⟹  a + b"""
    found = application(program, place, MUL)
    if found is None:
        return None
    edit = Edit(program)
    return become(edit, place, edit.call(found.graph, ADD, *found.arguments))


SUM = read("program @f\n@f(%x: f64):\n  %a = add(%x, %x)\n  %b = add(%a, %x)\n  return %b")


def count_adds(p: Program) -> tuple[int, ...]:
    return (sum(p.callee(n) is ADD for n in p.nodes),)


ONCE = RewriteSystem("once", (add_to_mul,), measure=count_adds)
FOREVER = RewriteSystem("forever", (add_to_mul, mul_to_add))


def test_a_rule_without_a_law_is_refused() -> None:
    def nolaw(program: Program, place: int) -> Program | None:
        return None

    with pytest.raises(Malformed, match="rule nolaw states no law"):
        rewrite(nolaw)


def test_run_and_derive_take_the_same_steps() -> None:
    derivation = ONCE.derive(SUM)
    assert len(derivation) == 2
    assert derivation.result == ONCE.run(SUM)
    assert ONCE.final(derivation.result)
    assert not ONCE.final(SUM)
    assert [s.rule for s in ONCE.enabled(SUM)] == ["add_to_mul", "add_to_mul"]
    assert all(after.before is before.after for before, after in pairwise(derivation.steps))


def test_the_measure_is_checked_by_anyone_who_asks() -> None:
    assert [ONCE.measure(s.before) > ONCE.measure(s.after) for s in ONCE.derive(SUM).steps] == [True, True]


def test_a_system_that_does_not_end_runs_out_of_fuel_either_way() -> None:
    with pytest.raises(OutOfFuel) as caught:
        FOREVER.run(SUM, fuel=50)
    assert caught.value.remedy == "raise fuel"
    with pytest.raises(OutOfFuel):
        FOREVER.derive(SUM, fuel=50)


def test_every_strategy_reaches_a_final_program() -> None:
    for strategy in (first, seeded(1), seeded(2)):
        assert ONCE.derive(SUM, strategy=strategy).result == ONCE.run(SUM)


@given(programs())
@settings(max_examples=10)
def test_dead_code_elimination_ends_in_the_same_program_in_any_order(p: Program) -> None:
    results = [dce.SYSTEM.derive(p, strategy=seeded(n)).result for n in range(3)]
    assert all(r == results[0] for r in results)
    assert {len(r.nodes) for r in results} == {len(results[0].nodes)}


def test_a_rule_that_breaks_a_program_is_named() -> None:
    @rewrite
    def tie_a_knot(program: Program, place: int) -> Program | None:
        """n = f(a)  ⟹  n = f(n)"""
        found = application(program, place, TABLE["sin"])
        if found is None or found.inputs[1] == place:
            return None
        edit = Edit(program)
        edit.set_inputs(place, (found.inputs[0], place))
        return edit.program

    broken = RewriteSystem("broken", (tie_a_knot,))
    p = read("program @f\n@f(%x: f64):\n  %a = sin(%x)\n  return %a")
    with pytest.raises(Crash) as caught:
        broken.derive(p)
    assert caught.value.rule == "tie_a_knot"
    assert broken.derive(p, checked=False).result is not p


def test_a_derivation_replays_and_a_forged_one_does_not() -> None:
    derivation = simplify.SYSTEM.derive(program("straight"))
    assert len(derivation) > 1
    record = derivation.to_json()
    assert replay(simplify.SYSTEM, program("straight"), record).result == derivation.result
    with pytest.raises(Malformed):
        replay(fold.SYSTEM, program("straight"), record)
    with pytest.raises(Malformed):
        replay(simplify.SYSTEM, program("calls"), record)


def test_why_not_says_what_is_enabled_instead() -> None:
    assert "is enabled at" in why_not(ONCE, SUM, "add_to_mul")
    assert "enabled instead: nothing" in why_not(ONCE, ONCE.run(SUM), "add_to_mul")
    with pytest.raises(Malformed, match="has no rule"):
        why_not(ONCE, SUM, "add_to_mull")


def test_a_rule_with_heads_is_tried_at_those_only() -> None:
    tried: list[str] = []

    def look(p: Program, place: int) -> Program | None:
        tried.append(describe_place(p, place))

    RewriteSystem("looking", (Rewrite("look", "law", look, heads=(MUL,)),)).run(ONCE.run(SUM))
    assert tried
    assert all("mul(" in place for place in tried)


def test_a_rule_of_computed_functions_is_tried_at_those_only() -> None:
    tried: list[int] = []

    def look(p: Program, place: int) -> Program | None:
        tried.append(place)

    system = RewriteSystem("looking", (Rewrite("look", "law", look, computed=True),))
    system.run(SUM)
    assert not tried, "all that is applied is a primitive"
    choosing = program("functions in branches")
    system.run(choosing)
    computed = {n for n in choosing.nodes if choosing.apply(n) and choosing.callee(n) is NOT_CONSTANT}
    assert computed
    assert set(tried) == computed


def test_places_are_the_graphs_and_nodes_in_order() -> None:
    found = places(SUM)
    assert found == sorted({*SUM.graphs, *SUM.nodes})
    assert describe_place(SUM, SUM.entry) == "graph @f"


def test_every_rule_answers_none_at_every_place_that_is_not_its_own() -> None:
    """A rule may be asked anywhere, a graph or a removed node included."""
    p = program("functions in branches")
    for system in ORDER:
        for rule in system.rules:
            assert rule.function(p, 10**9) is None
            for place in places(p):
                after = rule.function(p, place)
                assert after is None or isinstance(after, Program)


# agendas


@agenda_rule
def count_down(state: int) -> int | None:
    """n > 0  ⟹  n - 1"""
    return state - 1 if state > 0 else None


@agenda_rule
def skip_even(state: int) -> int | None:
    """n even  ⟹  n - 2"""
    return state - 2 if state > 0 and state % 2 == 0 else None


def agenda(*rules: object) -> AgendaSystem[int, Program]:
    return AgendaSystem("countdown", rules, lambda n: n == 0, str, str, lambda n: SUM)  # type: ignore[arg-type]


def test_an_agenda_runs_to_its_end_recorded_or_not() -> None:
    system = agenda(count_down)
    assert len(system.derive(3)) == 3
    assert system.run(3) is SUM
    with pytest.raises(OutOfFuel):
        system.run(3, fuel=2)


def test_two_enabled_rules_of_an_agenda_are_an_error_that_names_both() -> None:
    with pytest.raises(Crash, match="count_down, skip_even"):
        agenda(count_down, skip_even).derive(2)
    with pytest.raises(Crash, match="stuck"):
        agenda(skip_even).run(3)


def test_rules_that_have_applied_to_such_a_state_are_tried_first_and_the_others_after_them() -> None:
    tried: list[str] = []

    def told(name: str, applies: Callable[[int], bool]) -> Any:
        def rule(state: int) -> int | None:
            """n  ⟹  n - 1"""
            tried.append(name)
            return state - 1 if applies(state) else None

        return agenda_rule(rule)

    above, high = told("above", lambda n: n > 20), told("high", lambda n: 20 >= n > 10)
    odd, even = told("odd", lambda n: n <= 10 and n % 2 == 1), told("even", lambda n: n <= 10 and n % 2 == 0)
    plain = agenda(above, high, odd, even)
    by_kind = replace(plain, kind=lambda n: n > 10)
    for system, tries in ((plain, 10 + 20 + 15 + 20), (by_kind, 10 + 1 + 20 + 4 + 4 + 12)):
        tried.clear()
        assert system.run(30) is SUM
        assert len(tried) == tries
    tried.clear()
    assert by_kind.run(2) is SUM
    assert tried == ["even", "even", "odd"]


def test_the_first_of_the_rules_says_what_is_wrong_whatever_was_tried_before() -> None:
    def refusing(what: str, refuses: Callable[[int], bool], above: int) -> Any:
        def rule(state: int) -> int | None:
            """n  ⟹  n - 1, or it is refused"""
            if refuses(state):
                raise Malformed(what)
            return state - 1 if state > above else None

        return agenda_rule(rule)

    rules = refusing("five", lambda n: n == 5, 99), refusing("below eight", lambda n: n < 8, 7)
    system = replace(agenda(*rules), kind=lambda _: None)
    with pytest.raises(Malformed, match="below eight"):
        system.run(30)
    with pytest.raises(Malformed, match="five"):
        system.run(5)


# cost


def chain(length: int) -> Program:
    """A straight line with something to do for every pass, about six nodes a link."""
    lines, last = [], "%x"
    for i in range(length):
        lines += [f"  %a{i} = mul({last}, 1)", f"  %b{i} = sin(%a{i})", f"  %c{i} = sin({last})", f"  %d{i} = @sq(%b{i})"]
        lines += [f"  %k{i} = add({i}.0, 0.5)", f"  %t{i} = make_tuple(%d{i}, %c{i})", f"  %u{i} = getitem(%t{i}, 1)"]
        lines += [f"  %v{i} = mul(%u{i}, %k{i})"]
        last = f"%v{i}"
    text = "\n".join(lines)
    return read(f"program @f\n@f(%x: f64):\n{text}\n  return {last}\n@sq(%y):\n  %z = mul(%y, %y)\n  return %z")


@pytest.mark.parametrize(
    "system", [inline.SYSTEM, tuples.SYSTEM, simplify.SYSTEM, fold.SYSTEM, cse.SYSTEM, dce.SYSTEM], ids=lambda s: s.name
)
def test_the_work_of_a_pass_grows_in_proportion_to_the_program(system: RewriteSystem) -> None:
    """The number of times that a rule is tried, at ten times the length, is at most eleven times as large."""
    tries = [0]

    def counted(rule: Rewrite) -> Rewrite:
        def function(p: Program, place: int) -> Program | None:
            tries[0] += 1
            return rule.function(p, place)

        return Rewrite(rule.name, rule.law, function, heads=rule.heads)

    counts = []
    for length in (20, 200):
        tries[0] = 0
        result = RewriteSystem(system.name, tuple(counted(r) for r in system.rules)).run(chain(length))
        assert any(isinstance(n, Apply) for n in result.nodes.values())
        counts.append(tries[0])
    assert counts[1] <= 11 * counts[0]


def test_a_recorded_worklist_takes_the_steps_of_the_checked_run() -> None:
    """`record` is what `transform` uses; on a program whose rules act nearby it is `derive`, step by step."""
    recorded, derived = ONCE.record(SUM), ONCE.derive(SUM)
    assert [(s.rule, s.place) for s in recorded.steps] == [(s.rule, s.place) for s in derived.steps]
    assert recorded.result == derived.result == ONCE.run(SUM)


@dataclass(frozen=True)
class Moving(AtWork[Any]):
    agenda: Any
    done: int = 0


def test_a_state_is_changed_as_a_dataclass_is_replaced() -> None:
    state = Moving(((1, 2), ("next", None)))
    for changes in ({}, {"done": 3}, {"done": 4, "agenda": None}):
        assert changed(state, **changes) == replace(state, **changes)
    assert state == Moving(((1, 2), ("next", None)))
    assert state.then(done=1) == Moving(("next", None), 1)


def test_a_field_that_a_state_does_not_have_is_refused() -> None:
    with pytest.raises(AssertionError, match="no such field"):
        changed(Moving(None), other=1)
