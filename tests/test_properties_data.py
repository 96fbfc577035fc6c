"""The theorems on generated programs over records, lists, dictionaries and memory, with arrays in them; wrong rules for records."""

from __future__ import annotations

import pytest
from claims import costly, holds, judged, note, refuted
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from mutants.arrays import RECORDS, A, Wrong, X, program

from checkers.columns.leaves import coordinates
from checkers.generators.terms import DATA, WholeOptions
from checkers.generators.whole import Whole, directions, wholes
from checkers.properties import adjoint, evaluation, oracles, structured
from semantics.machine import run
from semantics.structured import Record
from semantics.text import read

CARRIERS = frozenset({"reductions", "broadcasting", "loops"})
EXACT = WholeOptions(DATA | CARRIERS, DATA, exact=True, size=4)
SMOOTH = WholeOptions(DATA | CARRIERS, DATA, smooth=True, exact=True, size=2)
V = (A, X)


@given(wholes(EXACT))
def test_t24_the_bits_of_cpython(source: Whole) -> None:
    for feature in sorted(source.used):
        note(feature)
    assert run(source.program(), *source.arguments) == source.python(), source


@given(wholes(EXACT))
def test_t1_t2_t3_t5_evaluators_agree_and_types_are_kept(source: Whole) -> None:
    program = source.program()
    assert read(str(program)) == program
    assert holds(evaluation.determinism(program, source.arguments))
    holds(evaluation.progress(program, source.arguments))
    holds(evaluation.preservation(program, source.arguments))
    assert holds(evaluation.adequacy(program, source.arguments))


@costly(2)
@given(wholes(SMOOTH))
def test_t6_t7_t11_t16_values_traces_types_and_exact_gradients(source: Whole) -> None:
    program, x = source.differentiable()
    assert holds(adjoint.value_is_kept(program, x))
    assert holds(adjoint.tangent_types(program, x))
    assert holds(adjoint.trace_agrees(program, x))
    assert holds(oracles.exact_gradient(program, x))
    note("a record among the arguments" if any(isinstance(a, Record) for a in x) else "none")


@costly(2)
@given(st.data(), wholes(SMOOTH))
def test_t9_t10_t15_directions_captures_and_linearity(data: st.DataObject, source: Whole) -> None:
    program, x = source.differentiable()
    assert holds(structured.adjoint_along(program, x, data.draw(directions(x))))
    assert holds(adjoint.free_variable_is_parameter(program, x))
    assert holds(adjoint.linearity(program, x, 2.0, -0.5))


@costly(4)
@given(st.data(), wholes(WholeOptions(DATA, DATA, smooth=True, exact=True, size=1)))
def test_t18_three_ways_to_the_hessian_and_its_symmetry(data: st.DataObject, source: Whole) -> None:
    program, x = source.differentiable()
    v, u = data.draw(directions(x)), data.draw(directions(x))
    assert holds(structured.hessian_along(program, x, v, u))
    assert holds(structured.hessian_symmetric_along(program, x, v, u))


@pytest.mark.parametrize("feature", sorted(DATA))
def test_every_feature_is_generated(feature: str) -> None:
    quiet = settings(
        max_examples=1000, database=None, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate]
    )
    assert find(wholes(WholeOptions(always=frozenset({feature}))), lambda s: feature in s.used, settings=quiet)


def test_records_lists_dictionaries_and_tuples_are_arguments() -> None:
    quiet = settings(
        max_examples=2000, database=None, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate]
    )
    for kind in ("namedtuple", "dataclass", "list", "dict"):
        found = find(
            wholes(EXACT),
            lambda s, kind=kind: any(isinstance(a, Record) and a.label.kind == kind for a in s.arguments),
            settings=quiet,
        )
        assert len(coordinates(found.arguments)) >= 2
        assert run(found.program(), *found.arguments) == found.python()


@pytest.mark.parametrize("mutant", RECORDS, ids=str)
def test_a_wrong_rule_for_records_is_refuted_by_every_oracle(mutant: Wrong) -> None:
    found = program(mutant.on)
    judged(structured.adjoint_along(found, (A, X), V))
    refuted(structured.adjoint_along(found, (A, X), V, mutant.gradient))
    refuted(oracles.forward_mode_agrees(found, (A, X), mutant.gradient))
    refuted(oracles.trace_reversal_agrees(found, (A, X), mutant.gradient))
