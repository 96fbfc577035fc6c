"""
Forward mode on the programs of the language: the value and its tangent are those of dual numbers, and so is the second derivative,
whichever two of forward and reverse are nested. Without tolerance, as in `test_language`.
"""

from __future__ import annotations

from typing import Any

import pytest
from claims import examples
from language import CASES, Case
from test_language import along, differentiable, direction, expanded, gradient_of

from checkers import forward_mode
from checkers.columns.leaves import map_leaves
from checkers.properties.agreement import Point, differ, point
from semantics.edit import Edit
from semantics.ir import Program
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO
from transforms.gradient_programs import calling, differentiated
from transforms.nested_grad import expand

NESTINGS = ("forward over reverse", "reverse over forward", "forward over forward")
NESTED = [(case, nesting) for case in CASES for nesting in NESTINGS]
CHOSEN = NESTED if examples() > 1000 else NESTED[::11]  # prime to 3: of each third program one nesting, of all nestings as many


def directed(case: Case, at: Point) -> tuple[Any, ...]:
    """The fixed direction; ZERO where there is no real."""
    return tuple(map_leaves(lambda _, d: ZERO if d is None else at.reading.lift(d), direction(case)))


def pushed(program: Program) -> Program:
    """(x…, δx…) to the value and its tangent."""
    return expand(calling(program, "jvp", types=[None] * len(program.graphs[program.entry].parameters)))


def tangent_of(program: Program) -> Program:
    """(x…, δx…) to the tangent alone."""
    edit = Edit(pushed(program))
    edit.output(edit.entry, edit.call(edit.entry, TABLE["getitem"], edit.graphs[edit.entry].output, edit.constant(1)))
    return edit.program


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_tangent_is_that_of_dual_numbers(case: Case) -> None:
    at = point(expanded(case), case.values())
    along_it = map_leaves(lambda _, leaf: None if leaf is None else at.reading.lift(leaf), direction(case))
    wanted = forward_mode.jvp(expanded(case), at.arguments, along_it, at.reading)
    assert differ(at.value(pushed(expanded(case)), *directed(case, at)), wanted) is None


@pytest.mark.parametrize(("case", "nesting"), CHOSEN, ids=str)
def test_the_second_derivative_is_that_of_dual_numbers(case: Case, nesting: str) -> None:
    at = point(expanded(case), case.values())
    v = directed(case, at)
    if nesting == "forward over forward":
        twice = tangent_of(tangent_of(expanded(case)))
        wanted = forward_mode.second_along(expanded(case), at.arguments, direction(case), direction(case), at.reading)
        assert differ(at.value(twice, *v, *v, *map_leaves(lambda *_: ZERO, v)), wanted) is None
        return
    if nesting == "forward over reverse":
        product = tangent_of(gradient_of(case))
    else:
        types = (*case.types(), *[None] * len(v))
        product = expand(differentiated(tangent_of(expanded(case)), differentiable(case), types=types))
    assert differ(at.value(product, *v), along(case, at)) is None
