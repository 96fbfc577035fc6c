"""Of every proved backpropagator at least three mechanically made variants are refuted by execution, and none is wrongly proved."""

from __future__ import annotations

import math
from typing import Any

import pytest

from checkers.smt.replay import floats
from checkers.verdict import Proved, Refuted
from proofs.cases import cases
from proofs.variants import ENOUGH, judged_variants, refuted_variants, variants
from semantics.columns.meaning import MEANING
from semantics.primitives.row import Primitive
from semantics.primitives.table import ROWS, TABLE
from semantics.tangents import ZERO
from transforms.backpropagators import backpropagator

PROVABLE = [p for p in ROWS if cases(p)]
# rows all of whose variants are judged: the others are judged until three are refuted
THROUGHOUT = ("add", "sub", "mul", "neg", "exp", "sin", "sqrt", "atan", "log1p", "floordiv", "floor")
POINTS = ((0.5, 0.75, 1.0), (1.5, 0.25, -2.0), (0.875, 2.5, 0.5))


def as_numbers(value: Any) -> Any:
    """Cotangents with 0.0 for ZERO."""
    return tuple(0.0 if v is ZERO else v for v in value) if isinstance(value, tuple) else value


@pytest.mark.parametrize("primitive", PROVABLE, ids=lambda p: p.name)
def test_three_variants_of_every_backpropagator_are_refuted(primitive: Primitive) -> None:
    found = refuted_variants(primitive)
    assert len(found) >= ENOUGH
    programs = dict(variants(primitive))
    for judgment in found:
        verdict = judgment.verdict
        assert isinstance(verdict, Refuted)
        if not verdict.counterexample.inputs:
            continue
        *inputs, dout = (v if isinstance(v, (bool, int)) else float(v) for v in verdict.counterexample.inputs.values())
        given = [*inputs, MEANING[primitive](*inputs), float(dout)]
        program = programs[judgment.name.removeprefix(f"{primitive.name}, ")]
        assert as_numbers(floats(program, given)) != as_numbers(floats(backpropagator(primitive), given))


@pytest.mark.parametrize("name", THROUGHOUT)
def test_a_variant_that_is_proved_is_no_mutant(name: str) -> None:
    """What is proved agrees with the shipped rule on the machine, at points where the two would show a difference."""
    primitive = TABLE[name]
    programs = dict(variants(primitive))
    for judgment in judged_variants(primitive):
        if not isinstance(judgment.verdict, Proved):
            continue
        for *point, dout in POINTS:
            inputs = point[: len(primitive.parameters)]
            given = [*inputs, MEANING[primitive](*inputs), dout]
            found = as_numbers(floats(programs[judgment.name.removeprefix(f"{name}, ")], given))
            wanted = as_numbers(floats(backpropagator(primitive), given))
            # a few operations on numbers below 2^4: each rounds by less than 2^-49
            assert all(math.isclose(a, b, rel_tol=0.0, abs_tol=2.0**-44) for a, b in zip(found, wanted, strict=True)), judgment.name


def test_variants_of_a_row_have_different_names_and_are_programs_of_its_arity() -> None:
    found = variants(TABLE["hypot"])
    assert len({name for name, _ in found}) == len(found) > 10
    assert all(len(program.graphs[program.entry].parameters) == 4 for _, program in found)


def test_only_rules_with_operations_have_variants_inside() -> None:
    assert any(":" in name for name, _ in variants(TABLE["atan"]))
    assert not any(":" in name for name, _ in variants(TABLE["add"]))
