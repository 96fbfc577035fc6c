"""
Local pullbacks, program by program: the closed forms of the corpus, and J's gradient on every construct of the language.

On fractions where the program is rational, else on enclosures of 400 bits. The default profile takes every program of the corpus at
first order and a part of the rest, `deep` takes all.
"""

from __future__ import annotations

from functools import cache

import pytest
from claims import costly, examples
from corpus import BITS, CASES, FOLDER, Case
from hypothesis import assume, given
from language import CASES as LANGUAGE
from language import Case as Construct
from test_gradients import OF_HIGH_ORDER, agree, at
from test_language import differentiable

from checkers.columns.ball import balls
from checkers.generators import Whole, wholes
from checkers.properties.agreement import differ, is_rational, point
from semantics.denotation import FRACTIONS, Reading, denote
from semantics.errors import IllTyped, Trap
from semantics.ir import Program
from semantics.wellformed import check
from transforms.gradient_programs import gradient_program
from transforms.nested_grad import expand
from transforms.parse import parse_file

DEEP = examples() > 1000
FIRST = [c for c in CASES if DEEP or c.name != "third_derivative_of_sine"]
SECOND = [c for i, c in enumerate(CASES) if (DEEP or i % 5 == 0) and c.name not in OF_HIGH_ORDER]
CONSTRUCTS = [c for i, c in enumerate(LANGUAGE) if DEEP or i % 5 == 0]


@cache
def derivative_of(case: Case, order: int) -> Program:
    """All derivatives by local pullbacks, those in the program too."""
    if order == 0:
        return expand(parse_file(FOLDER / f"{case.file}.py", case.name), "pullback")
    program = gradient_program(derivative_of(case, order - 1), mode="pullback")
    check(program)
    return program


def reading_of(case: Case) -> Reading:
    return FRACTIONS if case.rational and is_rational(derivative_of(case, 1)) else balls(BITS)


@pytest.mark.parametrize("case", FIRST, ids=lambda c: c.name)
def test_the_first_derivative_is_the_closed_form(case: Case) -> None:
    for x in case.points:
        agree(denote(derivative_of(case, 1), at(reading_of(case), x), reading_of(case)), case.exact(case.first, x))


@pytest.mark.parametrize("case", SECOND, ids=lambda c: c.name)
def test_the_second_derivative_by_pullbacks_of_pullbacks_is_the_closed_form(case: Case) -> None:
    for x in case.points[: None if DEEP else 1]:
        agree(denote(derivative_of(case, 2), at(reading_of(case), x), reading_of(case)), case.exact(case.second, x))


@pytest.mark.parametrize("case", CONSTRUCTS, ids=str)
def test_the_gradient_of_every_construct_is_that_of_j(case: Construct) -> None:
    wrt, types = differentiable(case), case.types()
    by_pullback = gradient_program(expand(case.program(), "pullback"), wrt, types, mode="pullback")
    by_j = gradient_program(expand(case.program()), wrt, types)
    here = point(by_j, case.values())
    assert differ(here.value(by_pullback), here.value(by_j)) is None


@costly(2)
@given(wholes())
def test_the_gradient_of_generated_programs_over_arrays_records_and_memory_is_that_of_j(whole: Whole) -> None:
    program = whole.program()
    by_j = gradient_program(program, whole.real, whole.types)
    here = point(by_j, whole.arguments)
    try:
        wanted = here.value(by_j)
    except (IllTyped, Trap):
        assume(False)
    assert differ(here.value(gradient_program(program, whole.real, whole.types, mode="pullback")), wanted) is None
