"""T20 by measured work: one constant bounds the gradient of every family, and dense cotangents of projections break it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from claims import judged, refuted
from immutables import Map
from typer.testing import CliRunner

from adjudge.cli import app
from checkers import costs
from checkers.cost_families import Family
from checkers.costs import CONSTANT, FAMILIES, Cost, cost
from checkers.verdict import Vacuous
from checkers.work import size, touched, work
from semantics import tangents
from semantics.arrays import Array
from semantics.columns.meaning import MEANING
from semantics.machine import run
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO, Sparse, SparseArray, dense, gadd, inject
from semantics.text import read
from semantics.type_language import type_of
from semantics.values import same
from transforms.gradient_programs import gradient_program

BY_NAME = {family.name: family for family in FAMILIES}
DENSE = replace(MEANING, cells={**MEANING.cells, "inject": lambda t, i, d: dense(inject(t, i, d))})


@pytest.mark.parametrize("family", FAMILIES, ids=BY_NAME)
def test_t20_one_constant_bounds_the_work_of_every_family(family: Family) -> None:
    judged(cost(family, (8, 32)).verdict)


@pytest.mark.parametrize(
    "name",
    [
        *("multiplications", "closures_in_a_loop", "projections_in_a_loop", "nested_tuples"),
        *("elements_by_index", "rows", "memory_stack"),
    ],
)
def test_t20_the_constant_does_not_grow_with_the_size(name: str) -> None:
    """These families do the same in every turn, so from size to size value and gradient grow by the same: equal fractions."""
    (_, u, f), (_, v, g), (_, w, h) = cost(BY_NAME[name], (8, 16, 32)).measured
    assert Fraction(h - g, w - v) == Fraction(g - f, v - u)


# planted bugs


def test_a_dense_one_hot_cotangent_of_a_projection_in_a_loop_is_found() -> None:
    """The gradient is the same, and its work grows with the square of the size."""
    family = BY_NAME["projections_of_an_argument"]
    gradient = gradient_program(family.program(3), types=[type_of(a) for a in family.arguments(3)])
    assert same(run(gradient, *family.arguments(3), column=DENSE), run(gradient, *family.arguments(3)))
    refuted(cost(family, (64, 256), column=DENSE).verdict)
    judged(cost(family, (64, 256)).verdict)


def test_a_sum_that_writes_small_sensitivities_out_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop over x[i], and sum(x) before and after it: dense sums add n elements in every one of n turns."""
    family = BY_NAME["elements_and_whole"]
    judged(cost(family, (64, 256)).verdict)
    monkeypatch.setattr(tangents, "_opened", lambda a, b: a)
    refuted(cost(family, (256, 1024)).verdict)


def test_a_family_whose_value_does_not_grow_proves_nothing() -> None:
    assert isinstance(Cost("idle", ((8, 5, 100), (32, 5, 100))).verdict, Vacuous)


def test_a_cost_above_the_bound_is_refuted_and_one_at_the_bound_is_not() -> None:
    judged(Cost("at", ((8, 10, 10), (9, 11, 10 + int(CONSTANT)))).verdict)
    refuted(Cost("above", ((8, 10, 10), (9, 11, 11 + int(CONSTANT)))).verdict)


# what work counts


def test_work_is_a_step_for_a_scalar_the_length_for_a_tuple_and_nothing_more_for_handing_on() -> None:
    scalar = read("program @f\n@f(%x: f64):\n  %y = mul(%x, %x)\n  return %y")
    made = read("program @f\n@f(%x: f64):\n  %t = make_tuple(%x, %x, %x)\n  %y = getitem(%t, 1)\n  return %y")
    assert (work(scalar, (2.0,)), work(made, (2.0,))) == (1, 4)


def test_a_sum_of_sparse_sensitivities_costs_the_smaller_one() -> None:
    few, many = Sparse(9, Map({3: 1.0})), Sparse(9, Map(dict.fromkeys(range(7), 1.0)))
    assert [touched(TABLE["gadd"], pair, None) for pair in ((few, many), (many, few), (many, dense(few)), (few, ZERO))] == [
        1,
        1,
        9,
        0,
    ]


def test_a_dense_sum_meets_a_small_sparse_one_with_every_element_and_a_large_one_as_it_is() -> None:
    whole = Array("f64", (8,), tuple(map(float, range(8))))
    small, large = (SparseArray("f64", (8,), Map(dict.fromkeys(range(n), 0.5))) for n in (2, 3))
    for a, b in ((whole, small), (small, whole)):
        found = gadd(a, b)
        assert isinstance(found, SparseArray)
        assert len(found.entries) == 8
        assert same(dense(found), whole.with_items((0.5, 1.5, *whole.items[2:])))
    assert isinstance(gadd(whole, large), Array)
    items = whole.items
    assert isinstance(gadd(items, Sparse(8, Map({7: 1.0}))), Sparse)
    assert dense(gadd(items, Sparse(8, Map({7: 1.0})))) == (*items[:7], 8.0)
    assert gadd((1.0, 2.0), Sparse(2, Map({0: 1.0}))) == (2.0, 2.0)


def test_arrays_count_their_elements() -> None:
    array = Array("f64", (2, 2), (1.0, 2.0, 3.0, 4.0))
    assert size(array) == 4
    assert touched(TABLE["add"], (array, array), array.with_items((2.0, 4.0, 6.0, 8.0))) == 12
    assert touched(TABLE["switch"], (True, array, array), array) == 0


# the command


def test_about_costs_prints_the_table_and_fails_if_one_family_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "costs", lambda: [cost(BY_NAME["for_loop"], (8, 16))])
    passed = CliRunner().invoke(app, ["about", "--costs", "--json"])
    assert (passed.exit_code, '"family": "for_loop"' in passed.output, '"verdict": "passed"' in passed.output) == (0, True, True)
    monkeypatch.setattr(costs, "costs", lambda: [cost(BY_NAME["projections_of_an_argument"], (64, 256), column=DENSE)])
    failed = CliRunner().invoke(app, ["about", "--costs"])
    assert (failed.exit_code, "refuted" in failed.output) == (1, True)
