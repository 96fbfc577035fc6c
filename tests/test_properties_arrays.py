"""The theorems on generated programs over arrays, and J with a wrong rule for one row: every such bug is found."""

from __future__ import annotations

from typing import Any

import pytest
from claims import costly, examples, holds, judged, note, refuted
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from mutants.arrays import MUTANTS, PROGRAMS, A, Wrong, X, program

from checkers import ball_differences
from checkers.columns.leaves import at_path, coordinates
from checkers.generators.terms import DATA, EVERYTHING, LIMIT, WholeOptions
from checkers.generators.whole import Whole, directions, wholes
from checkers.properties import adjoint, evaluation, oracles, structured
from checkers.properties.agreement import differ
from checkers.verdict import Refuted
from semantics.arrays import Array
from semantics.edit import Edit
from semantics.ir import Program
from semantics.machine import run
from semantics.primitives.table import TABLE
from semantics.text import read
from semantics.values import same
from transforms.gradient_programs import gradient_program

FEATURES = EVERYTHING - DATA
ANY = WholeOptions(FEATURES, size=4)
EXACT = WholeOptions(FEATURES, exact=True, size=4)
SMOOTH = WholeOptions(FEATURES, smooth=True, size=3)
SMALL = WholeOptions(FEATURES, smooth=True, exact=True, size=1)


def labelled(source: Whole) -> Whole:
    for feature in sorted(source.used):
        note(feature)
    return source


@given(wholes(EXACT))
def test_t24_a_program_that_rounds_nowhere_has_the_bits_of_numpy(source: Whole) -> None:
    found, wanted = run(labelled(source).program(), *source.arguments), source.python()
    assert found == wanted, source
    assert abs(found) <= LIMIT


@given(wholes(ANY))
def test_t24_a_program_that_rounds_lies_where_numpy_does(source: Whole) -> None:
    """Both lie in the enclosure at 40 bits, which is wide enough for any order of a sum of 64 terms (`test_language`)."""
    program, arguments = labelled(source).differentiable()
    found, wanted = run(program, *arguments), source.python()
    if not same(found, wanted):
        loose = ball_differences.enclosure(program, arguments, 40)
        assert loose.contains(found), source
        assert loose.contains(wanted), source


@given(wholes(ANY))
def test_t1_t2_t3_t5_evaluators_agree_and_types_are_kept(source: Whole) -> None:
    program = source.program()
    assert read(str(program)) == program
    assert holds(evaluation.determinism(program, source.arguments))
    assert holds(evaluation.progress(program, source.arguments))
    assert holds(evaluation.preservation(program, source.arguments))
    assert holds(evaluation.adequacy(program, source.arguments))


@costly(2)
@given(wholes(SMOOTH))
def test_t6_t7_t16_values_traces_and_types_of_j(source: Whole) -> None:
    program, x = source.differentiable()
    assert holds(adjoint.value_is_kept(program, x))
    assert holds(adjoint.tangent_types(program, x))
    assert holds(adjoint.trace_agrees(program, x))
    holds(adjoint.linearity(program, x, 2.0, -0.5))


@costly(2)
@given(wholes(WholeOptions(FEATURES, smooth=True, exact=True, size=3)))
def test_t11_the_gradient_is_exact(source: Whole) -> None:
    assert holds(oracles.exact_gradient(*source.differentiable()))


@costly(2)
@given(st.data(), wholes(ANY))
def test_t10_reverse_mode_is_forward_mode_and_trace_reversal(data: st.DataObject, source: Whole) -> None:
    program, x = source.differentiable()
    holds(structured.adjoint_along(program, x, data.draw(directions(x))))
    holds(oracles.trace_reversal_agrees(program, x))
    holds(adjoint.free_variable_is_parameter(program, x))


@costly(2)
@given(st.data(), wholes(SMOOTH))
def test_t12_ball_differences(data: st.DataObject, source: Whole) -> None:
    program, x = source.differentiable()
    path = data.draw(st.sampled_from(coordinates(x)))
    gradient = gradient_program(program, adjoint.all_arguments(program))
    assert holds(ball_differences.agrees(program, gradient, x, path, lambda g: at_path(g, path)))


@costly(4)
@given(st.data(), wholes(WholeOptions(FEATURES, smooth=True, size=1)))
def test_t18_three_ways_to_the_hessian_and_its_symmetry(data: st.DataObject, source: Whole) -> None:
    program, x = source.differentiable()
    v, u = data.draw(directions(x)), data.draw(directions(x))
    assert holds(structured.hessian_along(program, x, v, u))
    assert holds(structured.hessian_symmetric_along(program, x, v, u))


@settings(max_examples=max(2, examples() // 10))
@given(st.data(), wholes(SMALL))
def test_t19_the_third_derivative(data: st.DataObject, source: Whole) -> None:
    program, x = source.differentiable()
    assert holds(structured.third_derivative_along(program, x, data.draw(directions(x))))


@pytest.mark.parametrize("feature", sorted(FEATURES))
def test_every_feature_is_generated(feature: str) -> None:
    quiet = settings(
        max_examples=1000, database=None, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate]
    )
    options = WholeOptions(always=frozenset({feature}), exact=feature == "single", size=4)
    assert find(wholes(options), lambda s: feature in s.used, settings=quiet)


def test_directions_have_the_structure_of_the_arguments() -> None:
    x = (Array("f64", (2,), (1.0, 2.0)), Array("i64", (1,), (3,)), (0.5, 1.0))
    found = find(directions(x), lambda v: v[2][0] == 2.0, settings=settings(database=None, max_examples=5000))
    assert differ(found, (Array("f64", (2,), (0.0, 0.0)), Array("i64", (1,), (3,)), (2.0, 0.0))) is None


# planted bugs


V = (Array("f64", (2, 2), (1.0, -1.0, 0.5, 2.0)), Array("f64", (2,), (-1.0, 0.5)))


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_a_wrong_backpropagator_is_refuted_by_every_oracle(mutant: Wrong) -> None:
    found = program(mutant.on)
    refuted(structured.adjoint_along(found, (A, X), V, mutant.gradient))
    refuted(oracles.forward_mode_agrees(found, (A, X), mutant.gradient))
    refuted(oracles.trace_reversal_agrees(found, (A, X), mutant.gradient))
    refuted(oracles.exact_gradient(found, (A, X), mutant.gradient))


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_right_backpropagators_raise_no_alarm(name: str) -> None:
    found = program(name)
    judged(structured.adjoint_along(found, (A, X), V))
    judged(oracles.forward_mode_agrees(found, (A, X)))
    judged(oracles.trace_reversal_agrees(found, (A, X)))
    judged(oracles.exact_gradient(found, (A, X)))
    judged(adjoint.trace_agrees(found, (A, X)))
    judged(structured.hessian_along(found, (A, X), V, V))


def test_a_j_that_forgets_to_sum_over_broadcast_axes_is_found() -> None:
    """`sum_to(d, x)` read as `d`, one at a time: each is needed."""
    found = program("kept")
    derivative = gradient_program(found, (0, 1))
    places = [n for n in sorted(derivative.nodes) if n not in derivative.graphs and derivative.callee(n) is TABLE["sum_to"]]
    verdicts = []
    for place in places:
        edit = Edit(derivative)
        edit.replace(place, derivative.inputs(place)[1])
        verdicts.append(oracles.forward_mode_agrees(found, (A, X), lambda p, wrt, edit=edit: edit.program))
    assert any(isinstance(v, Refuted) for v in verdicts)


def test_a_hessian_that_is_not_symmetric_is_found() -> None:
    """The derivative of Σ M∘aᵀ∘a without the transposition of its sensitivity is M∘a + M∘aᵀ, and M is not symmetric."""
    mutant, found = next(m for m in MUTANTS if m.row == "transpose"), program("transposed")
    v, u = ((Array("f64", (2, 2), e), Array("f64", (2,), (0.0, 0.0))) for e in ((0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0)))

    def twice(p: Program) -> Program:
        """The inner gradient by the wrong rule, the outer one by the right one."""
        orders = [gradient_program, mutant.gradient]

        def derive(*arguments: Any) -> Program:
            return orders.pop()(*arguments)

        return structured.twice_along_program(p, derive)

    judged(structured.hessian_symmetric_along(found, (A, X), v, u))
    refuted(structured.hessian_symmetric_along(found, (A, X), v, u, twice))
    refuted(structured.hessian_along(found, (A, X), v, u, mutant.gradient))
