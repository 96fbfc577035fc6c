"""
The corpus: every program against CPython, its first and second derivative against a closed form, and against three oracles.

Rational programs are compared on fractions, the others on enclosures of 400 bits. Differences in ball arithmetic see every
program that CPython can run.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from claims import examples, holds, judged
from corpus import BITS, CASES, FOLDER, Case, ball

from checkers import ball_differences, forward_mode, trace_reversal
from checkers.columns.ball import balls
from checkers.properties.agreement import differ, is_rational
from checkers.properties.evaluation import simulation
from checkers.properties.oracles import ball_differences_agree
from semantics.denotation import FRACTIONS, Reading, denote
from semantics.ir import Program
from semantics.machine import run
from transforms.gradient_programs import gradient_program
from transforms.nested_grad import expand
from transforms.parse import parse_file

CASE = pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
OF_HIGH_ORDER = ("third_derivative_of_sine", "nested_three_deep", "second_derivative", "grad_in_a_loop")
RUNS_IN_PYTHON = [c for c in CASES if not c.value]


@cache
def program_of(case: Case) -> Program:
    return expand(parse_file(FOLDER / f"{case.file}.py", case.name))


@cache
def derivative_of(case: Case, order: int) -> Program:
    return gradient_program(program_of(case) if order == 1 else derivative_of(case, order - 1))


def reading_of(case: Case) -> Reading:
    return FRACTIONS if case.rational and is_rational(derivative_of(case, 1)) else balls(BITS)


def at(reading: Reading, x: Fraction) -> tuple[Any, ...]:
    return (x if reading is FRACTIONS else ball(x),)


def agree(found: Any, wanted: Any) -> None:
    wanted = ball(wanted) if isinstance(wanted, Fraction) and not isinstance(found, Fraction) else wanted
    assert differ(found, wanted) is None


@CASE
def test_the_value_is_cpythons_or_the_closed_form(case: Case) -> None:
    for x in case.points:
        if case.value:
            reading = reading_of(case)
            agree(denote(program_of(case), at(reading, x), reading), case.exact(case.value, x))
        else:
            judged(simulation(program_of(case), case.python(), (float(x),)))


@CASE
def test_the_first_derivative_is_the_closed_form(case: Case) -> None:
    reading = reading_of(case)
    for x in case.points:
        agree(denote(derivative_of(case, 1), at(reading, x), reading), case.exact(case.first, x))


@CASE
def test_the_second_derivative_is_the_closed_form(case: Case) -> None:
    """By J of J; where the program itself holds derivatives of second order or more, by forward mode over J but in `deep`."""
    reading = reading_of(case)
    again = case.name not in OF_HIGH_ORDER or examples() > 1000
    for x in case.points:
        if again:
            agree(denote(derivative_of(case, 2), at(reading, x), reading), case.exact(case.second, x))
        agree(forward_mode.derivative(derivative_of(case, 1), at(reading, x), 0, reading), case.exact(case.second, x))


@CASE
def test_forward_mode_and_trace_reversal_agree_with_the_closed_form(case: Case) -> None:
    reading = reading_of(case)
    for x in case.points:
        arguments = at(reading, x)
        agree(forward_mode.derivative(program_of(case), arguments, 0, reading), case.exact(case.first, x))
        agree(trace_reversal.gradient(program_of(case), arguments, reading)[0], case.exact(case.first, x))
        agree(forward_mode.second_derivative(program_of(case), arguments, 0, 0, reading), case.exact(case.second, x))


@pytest.mark.parametrize("case", RUNS_IN_PYTHON, ids=lambda c: c.name)
def test_ball_differences_enclose_the_derivative(case: Case) -> None:
    x = float(case.points[0])
    holds(ball_differences_agree(program_of(case), (x,), 0, lambda program, wrt: derivative_of(case, 1)))
    holds(ball_differences.agrees(program_of(case), derivative_of(case, 2), (x,), 0, j=0))


def test_the_corpus_has_at_least_sixty_programs_and_every_file_is_in_it() -> None:
    assert len(CASES) >= 60
    assert {c.file for c in CASES} == {p.stem for p in FOLDER.glob("*.py")} - {"__init__"}


def test_a_wrong_closed_form_is_told_apart() -> None:
    case = next(c for c in CASES if c.name == "sine")
    reading = reading_of(case)
    x = case.points[0]
    found = denote(derivative_of(case, 1), at(reading, x), reading)
    assert differ(found, case.exact("cos(x) + exp(-200)", x)) is not None
    assert differ(found, case.exact("cos(x)", x)) is None


def test_the_double_gradient_of_a_polynomial_on_whole_numbers_is_exact() -> None:
    case = next(c for c in CASES if c.name == "fibonacci")
    assert run(derivative_of(case, 1), 3.0) == 240.0
    assert math.isclose(run(derivative_of(case, 2), 3.0), 80.0, rel_tol=0)
