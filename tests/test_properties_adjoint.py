"""T6 to T17 on generated programs; and each property on a J that is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from claims import costly, holds, judged, refuted
from hypothesis import given

from checkers.generators import EVERYTHING, Options, Source, exhaustive, points, sources
from checkers.generators.inputs import ORDINARY
from checkers.properties import adjoint, oracles
from checkers.properties.adjoint import exchanged
from checkers.verdict import OutOfScope, Vacuous, Verdict
from semantics.edit import Edit
from semantics.ir import Program
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO
from semantics.text import read
from transforms.gradient_programs import gradient_program, value_and_grad_program

SMALL = Options(size=2)
RATIONAL = Options(rational_only=True, size=3)

FAN_OUT = read(
    "program @f\n@f(%x: f64):\n  %a = mul(%x, %x)\n  %b = @g(%a)\n  %c = add(%b, %x)\n  return %c\n"
    "@g(%y):\n  %d = mul(%y, %x)\n  %e = add(%d, %a)\n  return %e"
)
SINE = read("program @f\n@f(%x: f64):\n  %y = sin(%x)\n  return %y")


@costly(4)
@given(sources(SMALL), points(2))
def test_t6_trace_agrees(source: Source, x: tuple[float, ...]) -> None:
    holds(adjoint.trace_agrees(source.program(), x))
    holds(oracles.trace_reversal_agrees(source.program(), x))


@costly(4)
@given(sources(Options(features=EVERYTHING - {"nested_grad"}, size=4)), points(2))
def test_t7_the_value_is_kept(source: Source, x: tuple[float, ...]) -> None:
    holds(adjoint.value_is_kept(source.program(), x))


@costly(8)
@given(sources(Options(size=2, parameters=1)), sources(SMALL), points(2))
def test_t8_functoriality(outer: Source, inner: Source, x: tuple[float, ...]) -> None:
    holds(adjoint.functoriality(outer.program(), inner.program(), x))


@costly(4)
@given(sources(SMALL))
def test_t8_j_commutes_with_renaming(source: Source) -> None:
    holds(adjoint.commutes_with_renaming(source.program()))


@costly(4)
@given(sources(RATIONAL), points(2))
def test_t9_a_free_variable_is_an_explicit_parameter(source: Source, x: tuple[float, ...]) -> None:
    holds(adjoint.free_variable_is_parameter(source.program(), x))


@costly(4)
@given(sources(SMALL), points(2), points(2), ORDINARY)
def test_t10_logical_relation(source: Source, x: tuple[float, ...], v: tuple[float, ...], w: float) -> None:
    holds(adjoint.logical_relation(source.program(), x, v, w))


@costly(8)
@given(sources(Options(size=2, always=frozenset({"higher_order", "functions_in_tuples", "captured_call"}))), points(2))
def test_t10_reverse_is_forward_with_functions_as_arguments(source: Source, x: tuple[float, ...]) -> None:
    holds(oracles.forward_mode_agrees(source.program(), x))


@costly(6)
@given(sources(SMALL), points(2), ORDINARY, ORDINARY)
def test_t15_backpropagators_are_linear(source: Source, x: tuple[float, ...], a: float, b: float) -> None:
    holds(adjoint.linearity(source.program(), x, a, b))
    holds(adjoint.reusable(source.program(), x, a, b))


@costly(4)
@given(sources(SMALL), points(2))
def test_t16_tangent_types(source: Source, x: tuple[float, ...]) -> None:
    holds(adjoint.tangent_types(source.program(), x))


@costly(20)
@given(sources(Options(rational_only=True, size=1)), points(2))
def test_t17_perturbations_are_kept_apart(source: Source, x: tuple[float, ...]) -> None:
    holds(adjoint.perturbations_kept_apart(source.program(), x))
    holds(adjoint.inner_is_outer(source.program(), x))


def test_t6_t7_t9_t15_t16_on_small_programs() -> None:
    for program in exhaustive(1):
        x = (1.5,)
        for theorem in (adjoint.trace_agrees, adjoint.value_is_kept, adjoint.free_variable_is_parameter, adjoint.tangent_types):
            holds(theorem(program, x))
        holds(adjoint.linearity(program, x, 2.0, -0.5))


# planted bugs: a J that is wrong, for each property a program on which it must be found


def overwriting(derive: Callable[..., Program]) -> Callable[..., Program]:
    """A J that overwrites a sensitivity where it should add to it."""

    def wrong(*arguments: Any) -> Program:
        program = derive(*arguments)
        edit = Edit(program)
        for node in sorted(n for n in program.nodes if n not in program.graphs and program.callee(n) is TABLE["gadd"]):
            edit.replace(node, program.inputs(node)[2])
        return edit.program

    return wrong


def taking(old: str, new: str, derive: Callable[..., Program]) -> Callable[..., Program]:
    """A J whose result has one primitive for another."""
    return lambda *arguments: exchanged(derive(*arguments), TABLE[old], TABLE[new]) or derive(*arguments)


WRONG_ON_FAN_OUT: tuple[tuple[str, Callable[[Callable[..., Program]], Verdict]], ...] = (
    ("trace_agrees", lambda j: adjoint.trace_agrees(FAN_OUT, (1.5,), j(gradient_program))),
    ("functoriality", lambda j: adjoint.functoriality(SINE, FAN_OUT, (1.5,), j(gradient_program))),
    ("free_variable", lambda j: adjoint.free_variable_is_parameter(FAN_OUT, (1.5,), j(gradient_program))),
    ("logical_relation", lambda j: adjoint.logical_relation(FAN_OUT, (1.5,), (2.0,), 3.0, j(adjoint.pullback_program))),
    ("perturbations", lambda j: adjoint.perturbations_kept_apart(FAN_OUT, (1.5,), j(gradient_program))),
    ("exact_gradient", lambda j: oracles.exact_gradient(FAN_OUT, (1.5,), j(gradient_program))),
    ("forward_mode", lambda j: oracles.forward_mode_agrees(FAN_OUT, (1.5,), j(gradient_program))),
    ("trace_reversal", lambda j: oracles.trace_reversal_agrees(FAN_OUT, (1.5,), j(gradient_program))),
    ("ball_differences", lambda j: oracles.ball_differences_agree(FAN_OUT, (1.5,), 0, j(gradient_program))),
)


@pytest.mark.parametrize(("name", "theorem"), WRONG_ON_FAN_OUT, ids=[n for n, _ in WRONG_ON_FAN_OUT])
def test_a_j_that_overwrites_where_it_should_add_is_found(name: str, theorem: Callable[..., Verdict]) -> None:
    judged(theorem(lambda derive: derive))
    refuted(theorem(overwriting))


def test_a_wrong_column_of_backpropagators_is_found() -> None:
    judged(oracles.ball_differences_agree(SINE, (1.5,)))
    wrong = taking("cos", "sin", gradient_program)
    refuted(oracles.ball_differences_agree(SINE, (1.5,), 0, wrong))
    refuted(oracles.forward_mode_agrees(SINE, (1.5,), wrong))


def test_a_j_that_changes_the_value_is_found() -> None:
    judged(adjoint.value_is_kept(SINE, (1.5,)))
    refuted(adjoint.value_is_kept(SINE, (1.5,), taking("sin", "tan", value_and_grad_program)))
    plus_zero = read("program @f\n@f(%x: f64):\n  %v = add(%x, 0.0)\n  %t = make_tuple(%v, 1.0)\n  return %t")
    identity = read("program @f\n@f(%x: f64):\n  return %x")
    judged(adjoint.value_is_kept(identity, (0.0,), lambda p: plus_zero))
    refuted(adjoint.value_is_kept(identity, (-0.0,), lambda p: plus_zero))


def test_a_j_that_looks_at_names_is_found() -> None:
    def nosy(program: Program) -> Program:
        found = gradient_program(program)
        edit = Edit(found)
        if any(g.name == "g" for g in program.graphs.values()):
            edit.output(found.entry, edit.constant(0.0))
        return edit.program

    judged(adjoint.commutes_with_renaming(FAN_OUT))
    refuted(adjoint.commutes_with_renaming(FAN_OUT, nosy))


def test_a_backpropagator_that_is_not_linear_is_found() -> None:
    affine = "program @b\n@b(%x: f64, %d: f64):\n  %s = BODY\n  %t = make_tuple(%s)\n  return %t"
    for body in ("mul(%d, %d)", "add(%d, 1.0)", "abs(%d)"):
        refuted(adjoint.linearity(SINE, (1.5,), 1.0, -0.5, lambda p, body=body: read(affine.replace("BODY", body))))
    judged(adjoint.linearity(SINE, (1.5,), 1.0, -0.5, lambda p: read(affine.replace("BODY", "mul(%d, %x)"))))


def test_a_gradient_of_the_wrong_type_is_found() -> None:
    judged(adjoint.tangent_types(SINE, (1.5,)))
    for result in ("ZERO", "1", "None", "1.0"):
        wrong = read(f"program @g\n@g(%x: f64):\n  %t = make_tuple({result})\n  return {'%t' if result != '1.0' else '1.0'}")
        refuted(adjoint.tangent_types(SINE, (1.5,), lambda p, w, wrong=wrong: wrong))


def test_an_addition_that_is_no_monoid_is_found() -> None:
    judged(adjoint.monoid(1.0, 2.0, ZERO))
    refuted(adjoint.monoid(1.0, 2.0, 3.0, lambda a, b: a - b))
    refuted(adjoint.monoid(1.0, 2.0, 3.0, lambda a, b: (a + b) / 2))


def test_a_claim_is_out_of_scope_where_there_is_no_reference() -> None:
    trap = read("program @f\n@f(%x: f64):\n  %k = mod(1, 0)\n  %y = mul(%x, %k)\n  return %y")
    for theorem in (adjoint.trace_agrees, adjoint.value_is_kept, oracles.forward_mode_agrees, oracles.exact_gradient):
        assert isinstance(theorem(trap, (1.0,)), OutOfScope)
    assert not isinstance(oracles.exact_gradient(SINE, (1.0,)), Vacuous)


def test_confused_perturbations_are_found() -> None:
    """x · D(y ↦ x + y) is x, with derivative 1; confusing x with y gives 2x, with derivative 2."""
    confused = read("program @f\n@f(%x: f64):\n  %r = add(1.0, 1.0)\n  %t = make_tuple(%r)\n  return %t")
    identity = read("program @f\n@f(%x: f64):\n  return %x")
    judged(adjoint.perturbations_kept_apart(identity, (3.0,)))
    refuted(adjoint.perturbations_kept_apart(identity, (3.0,), lambda p, w: confused))


def test_a_kink_without_declaration_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """T13: `abs` at 0, as if its row declared no kink."""
    text = "program @f\n@f(%x: f64):\n  %y = abs(%x)\n  return %y"
    judged(oracles.mismatches_on_boundaries(read(text), (0.0,)))
    monkeypatch.setattr(oracles, "boundaries_met", lambda program, arguments: [])
    judged(oracles.mismatches_on_boundaries(read(text), (1.0,)))
    refuted(oracles.mismatches_on_boundaries(read(text), (0.0,)))
