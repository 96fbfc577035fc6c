"""Each pass as a whole: values kept bit for bit, both ways of running it agree, it ends, it is final, it replays."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import event, given
from optimizer_programs import POINTS, TEXTS, program, programs

from semantics.derivation import replay
from semantics.errors import AdjudgeError, Malformed
from semantics.ir import Program
from semantics.machine import run
from semantics.values import same
from semantics.wellformed import check
from transforms import simplify
from transforms.gradient_programs import gradient_program
from transforms.pipeline import OPTIMIZE, ORDER, PASSES, derive_pipeline, optimize, passes, run_pipeline
from transforms.system import RewriteSystem, nothing_decreases

SYSTEMS = {system.name: system for system in ORDER}


def value(p: Program, point: tuple[float, ...]) -> Any:
    """The value, or the class of the error."""
    try:
        return run(p, *point, fuel=100_000)
    except (AdjudgeError, OverflowError) as error:
        return type(error)


def refines(before: Program, after: Program) -> None:
    """Where `before` has a value, `after` has the same one, in BITS."""
    for point in POINTS:
        wanted = value(before, point)
        if not isinstance(wanted, type):
            assert same(value(after, point), wanted), (point, str(before), str(after))


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)
def test_both_ways_of_running_a_pass_end_in_the_same_final_program(system: RewriteSystem, name: str) -> None:
    derivation = system.derive(program(name))
    result = system.run(program(name))
    assert result == derivation.result
    assert system.final(result)
    refines(program(name), result)


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)
def test_the_measure_decreases_with_every_step_or_its_ending_is_argued(system: RewriteSystem, name: str) -> None:
    if system.measure is nothing_decreases:
        assert system.argument
        return
    for step in system.derive(program(name)).steps:
        assert system.measure(step.after) < system.measure(step.before), step.rule


@given(programs())
def test_passes_refine_and_measures_decrease_on_generated_programs(p: Program) -> None:
    current = p
    for system in (*ORDER, *ORDER):
        derivation = system.derive(current)
        for step in derivation.steps:
            event(f"{system.name}/{step.rule}")
            if system.measure is not nothing_decreases:
                assert system.measure(step.after) < system.measure(step.before), (step.rule, str(step.before), str(step.after))
        assert system.run(current) == derivation.result, (system.name, str(current))
        refines(current, derivation.result)
        current = derivation.result


@given(programs())
def test_optimizing_refines_and_is_idempotent(p: Program) -> None:
    result = optimize(p)
    check(result)
    refines(p, result)
    assert optimize(result) is result
    assert OPTIMIZE.joint.final(result)


@pytest.mark.parametrize("name", TEXTS)
def test_the_optimizer_ends_with_a_joint_fixpoint_of_the_same_value(name: str) -> None:
    result = optimize(program(name))
    assert all(system.final(result) for system in ORDER)
    refines(program(name), result)
    assert len(result.nodes) <= 3 * len(program(name).nodes)


@pytest.mark.parametrize("name", ["straight", "branch", "functions in branches", "sensitivities"])
def test_a_recorded_pipeline_ends_where_the_unrecorded_one_does_and_replays(name: str) -> None:
    derivation = derive_pipeline(program(name), ["optimize"])
    assert derivation.result == optimize(program(name))
    assert replay(OPTIMIZE.joint, program(name), derivation.to_json()).result == derivation.result
    assert all("/" in rule for rule in derivation.coverage())
    assert all(after.before is before.after for before, after in zip(derivation.steps, derivation.steps[1:], strict=False))


def test_a_pipeline_runs_its_passes_in_order() -> None:
    names = ["inline", "tuples", "cse", "dce"]
    recorded = derive_pipeline(program("calls"), names)
    assert recorded.result == run_pipeline(program("calls"), names)
    order = [rule.split("/")[0] for rule in (s.rule for s in recorded.steps)]
    assert order == sorted(order, key=names.index)
    assert recorded.system == "inline tuples cse dce"


def test_an_unknown_pass_is_malformed_with_the_known_names() -> None:
    with pytest.raises(Malformed, match="no pass is called 'inlin'") as caught:
        passes(["inlin"])
    assert "inline" in caught.value.remedy
    assert {"inline", "cse", "dce", "fold", "simplify", "tuples", "branches", "optimize"} <= set(PASSES)


def test_fast_algebra_is_off_unless_asked_for() -> None:
    from semantics.text import read

    p = read("program @f\n@f(%x: f64):\n  %a = sub(%x, %x)\n  %b = mul(%a, 3.0)\n  return %b")
    assert optimize(p) == p
    assert str(optimize(p, fast=True)).endswith("return 0.0")
    assert simplify.FAST.domain == "REAL"


# gradients


def closures_left(p: Program) -> list[str]:
    """The graphs that are used otherwise than as a branch of a switch."""
    left = []
    for graph, found in p.graphs.items():
        reference = p.reference(graph)
        if reference is None:
            continue
        for use in p.users(reference):
            if getattr(p.callee(use.user), "name", "") != "switch":
                left.append(found.name)
    return left


@pytest.mark.parametrize("name", ["straight", "calls", "branch", "functions in branches", "twice over"])
@pytest.mark.parametrize("wrt", [0, 1])
def test_the_gradient_of_a_loop_free_program_is_optimized_to_code_without_closures(name: str, wrt: int) -> None:
    gradient = gradient_program(program(name), wrt)
    result = optimize(gradient)
    refines(gradient, result)
    assert not closures_left(result)
    assert {"gadd", "inject", "make_tuple", "instantiate", "seed", "J"}.isdisjoint(str(result).replace("(", " ").split())


@given(programs(sensitivities=False))
def test_optimizing_a_gradient_refines_it(p: Program) -> None:
    """eval ∘ opt = eval on J's output; whether the closures are gone is counted, since a budget may keep some."""
    gradient = gradient_program(p)
    result = optimize(gradient)
    refines(gradient, result)
    event("closures left" if closures_left(result) else "no closure left")


@given(programs(sensitivities=False))
def test_the_gradient_of_the_optimized_program_is_as_defined_as_the_gradient(p: Program) -> None:
    """grad ∘ opt against grad: rounding may differ, since contributions are added in another order, but not the kind of result."""
    before, after = gradient_program(p), gradient_program(optimize(p))
    for point in POINTS:
        wanted, found = value(before, point), value(after, point)
        assert isinstance(wanted, type) or type(found) is type(wanted)


@pytest.mark.parametrize("name", ["loop", "recursion"])
def test_the_gradient_of_a_loop_keeps_its_value(name: str) -> None:
    for wrt in (0, 1):
        gradient = gradient_program(program(name), wrt)
        refines(gradient, optimize(gradient))


def test_the_gradient_of_a_cube_is_what_one_writes_by_hand() -> None:
    from semantics.text import read

    cube = read("program @f\n@f(%x: f64):\n  %a = mul(%x, %x)\n  %b = mul(%a, %x)\n  return %b")
    by_hand = read(
        "program @g\n@g(%x: f64):\n  %a = mul(%x, %x)\n  %b = mul(%x, %x)\n  %c = add(%a, %b)\n  %d = add(%c, %b)\n  return %d"
    )
    result = optimize(gradient_program(cube))
    assert result == optimize(by_hand)
    assert len([n for n in result.nodes.values() if hasattr(n, "inputs")]) == 3
