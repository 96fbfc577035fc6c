"""T1, T2, T3, T5, T24, T25 on generated and on all small programs; and each property on a planted bug."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from claims import costly, holds, judged, refuted
from hypothesis import given

from checkers.generators import EVERYTHING, Options, Source, edge_points, exhaustive, graphs, points, sources
from checkers.properties.adjoint import exchanged
from checkers.properties.evaluation import (
    adequacy,
    determinism,
    inhabits,
    preservation,
    progress,
    simulation,
    unreachable_branches,
)
from checkers.verdict import OutOfScope, Vacuous
from semantics import machine
from semantics.columns.types import Literal, join
from semantics.denotation import denote
from semantics.infer import infer
from semantics.ir import Program
from semantics.machine import run
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO
from semantics.text import read
from semantics.type_language import BOOLEAN, INTEGER, REAL, UNIT, FunctionType, TupleType
from semantics.values import Closure
from transforms.gradient_programs import gradient_program

SMALL_POINTS = (0.0, -0.0, 1.5, float("inf"))
BRANCH = read(
    "program @f\n@f(%x: f64):\n  %c = lt(%x, 0.0)\n  %t = switch(%c, @a, @b)\n  %r = %t()\n  return %r\n"
    "@a():\n  %s = sin(%x)\n  return %s\n@b():\n  %m = mul(%x, %x)\n  return %m"
)


@given(graphs(), edge_points(2))
def test_t1_determinism(program: Program, x: tuple[float, ...]) -> None:
    holds(determinism(program, x))


@given(sources(), points(2))
def test_t1_determinism_of_sources(source: Source, x: tuple[float, ...]) -> None:
    holds(determinism(source.program(), x))


@given(sources(), edge_points(2))
def test_t2_t3_progress_and_preservation(source: Source, x: tuple[float, ...]) -> None:
    program = source.program()
    holds(progress(program, x))
    holds(preservation(program, x))


@costly(10)
@given(sources(Options(size=2)), points(2))
def test_t2_t3_of_gradients(source: Source, x: tuple[float, ...]) -> None:
    program = gradient_program(source.program())
    holds(progress(program, x))
    holds(preservation(program, x))


@given(sources(), edge_points(2))
def test_t5_adequacy(source: Source, x: tuple[float, ...]) -> None:
    holds(adequacy(source.program(), x))


@costly(4)
@given(sources(Options(size=4)), points(2))
def test_t5_adequacy_of_gradients(source: Source, x: tuple[float, ...]) -> None:
    holds(adequacy(gradient_program(source.program(), (0, 1)), x))


@given(sources(Options(features=EVERYTHING - {"nested_grad"}, size=10)), edge_points(2))
def test_t24_parse_against_cpython(source: Source, x: tuple[float, ...]) -> None:
    holds(simulation(source.program(), source.python(), x))


@costly(10)
@given(sources(Options(size=2, always=frozenset({"branch", "early_return"}))), points(2))
def test_t25_unreachable_branches(source: Source, x: tuple[float, ...]) -> None:
    holds(unreachable_branches(source.program(), x))
    if len(source.text) < 300:
        holds(unreachable_branches(source.program(), x, lambda p: gradient_program(p, (0, 1))))


def test_t1_t2_t3_t5_on_every_small_program() -> None:
    for program in exhaustive(1):
        for x in SMALL_POINTS:
            for theorem in (determinism, progress, preservation, adequacy):
                judged(theorem(program, (x,)))


# planted bugs


def test_determinism_finds_two_rules_for_one_state(monkeypatch: pytest.MonkeyPatch) -> None:
    again = machine.MachineRule("again", "the same", machine.primitive.function)
    judged(determinism(BRANCH, (1.0,)))
    monkeypatch.setattr(machine, "RULES", (*machine.RULES, again))
    refuted(determinism(BRANCH, (1.0,)))


def test_determinism_is_out_of_scope_where_the_program_traps() -> None:
    assert isinstance(determinism(read("program @f\n@f(%x):\n  %y = mod(1, 0)\n  return %y"), (1.0,)), OutOfScope)


def test_progress_finds_a_type_given_to_a_program_that_gets_stuck() -> None:
    stuck = read("program @f\n@f(%x: f64):\n  %y = %x(%x)\n  return %y")
    assert isinstance(progress(stuck, (1.0,)), OutOfScope)
    refuted(progress(stuck, (1.0,), lambda p, t: infer(BRANCH, [REAL])))


def test_preservation_finds_a_wrong_type() -> None:
    judged(preservation(BRANCH, (1.0,)))
    for wrong in (INTEGER, TupleType((REAL,)), BOOLEAN, UNIT):
        refuted(preservation(BRANCH, (1.0,), lambda p, t, wrong=wrong: replace(infer(p, t), result=wrong)))


@pytest.mark.parametrize(
    ("value", "t", "wanted"),
    [
        (1.0, REAL, True),
        (1, REAL, False),
        (True, INTEGER, False),
        (None, UNIT, True),
        (ZERO, REAL, False),
        (2, Literal(INTEGER, 2), True),
        (3, Literal(INTEGER, 2), False),
        ((1.0, 2), TupleType((REAL, INTEGER)), True),
        ((1.0,), TupleType((REAL, INTEGER)), False),
        (Closure(3, (1.0,)), FunctionType(3, (REAL,)), True),
        (Closure(3, (1,)), FunctionType(3, (REAL,)), False),
        (Closure(4, (1.0,)), FunctionType(3, (REAL,)), False),
        (TABLE["sin"], FunctionType(TABLE["sin"]), True),
        (TABLE["sin"], FunctionType(TABLE["cos"]), False),
        (1, join(REAL, INTEGER), True),
        (True, join(REAL, INTEGER), False),
    ],
)
def test_a_type_has_its_values_and_no_others(value: Any, t: Any, wanted: bool) -> None:
    assert inhabits(value, t) is wanted


def test_adequacy_finds_an_evaluator_that_takes_cos_for_sin() -> None:
    def wrong(program: Program, arguments: Any) -> Any:
        return denote(exchanged(program, TABLE["sin"], TABLE["cos"]) or program, arguments)

    judged(adequacy(BRANCH, (1.0,), wrong))
    refuted(adequacy(BRANCH, (-1.0,), wrong))


def test_adequacy_compares_errors_too() -> None:
    trap = read("program @f\n@f(%x):\n  %y = mod(1, 0)\n  return %y")
    judged(adequacy(trap, (1.0,)))
    refuted(adequacy(trap, (1.0,), lambda p, a: 0.0))
    refuted(adequacy(BRANCH, (1.0,), lambda p, a: denote(trap, a)))


def test_simulation_finds_a_program_that_is_not_the_function() -> None:
    program = read("program @f\n@f(%x: f64):\n  %y = add(%x, 0.0)\n  return %y")
    judged(simulation(program, lambda x: x + 0.0, (-0.0,)))
    refuted(simulation(program, lambda x: x, (-0.0,)))
    assert isinstance(simulation(program, lambda x: 1 / 0, (1.0,)), OutOfScope)


def test_unreachable_branches_finds_a_derivative_that_looks_at_them() -> None:
    def size_as_derivative(program: Program) -> Program:
        return read(f"program @g\n@g(%x: f64):\n  return {float(len(str(program)))!r}")

    judged(unreachable_branches(BRANCH, (1.0,), gradient_program))
    refuted(unreachable_branches(BRANCH, (1.0,), size_as_derivative))
    assert isinstance(unreachable_branches(read("program @f\n@f(%x):\n  return %x"), (1.0,)), Vacuous)
    assert run(BRANCH, 1.0) == 1.0
