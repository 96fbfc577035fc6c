"""Trials of rows and of black boxes: what is read from what an author gives, what is refused, and that rules run as they should."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import adjudge as aj
from checkers.array_audit.build import domain_of, of_functions, of_row, operations
from checkers.array_audit.given import read_samples
from checkers.array_audit.machine_arrays import inside, like, outside
from checkers.array_audit.readings import read_program
from checkers.array_audit.row_samples import array_examples
from checkers.array_audit.signature import misfit, read_signature
from checkers.array_audit.trial import DOUBLE, SINGLE, Trial
from semantics.arrays import Array
from semantics.errors import AdjudgeError, IllTyped, Malformed
from semantics.ir import Program
from semantics.primitives.row import Hole
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO
from semantics.values import same
from transforms.backpropagators import find

ROWS = [name for name in TABLE if array_examples(name)]
THRESHOLD = 2.0


def softplus(x: Any) -> Any:
    return np.logaddexp(0.0, x)


def softplus_pullback(xs: Any, y: Any, d: Any) -> Any:
    return (d / (1 + np.exp(-xs[0])),)


def product(a: Any, b: Any) -> Any:
    return a @ b


def product_pullback(a: Any, b: Any, y: Any, d: Any) -> Any:
    return (d @ b.T, a.T @ d)


def above(x: Any) -> Any:
    return np.where(x > THRESHOLD, x, 0.0)


def answers(trial: Trial) -> set[str]:
    """What is wrong with the answers to a cotangent of ones, over all cases."""
    found = (trial.pulled(case, np.ones(case.outputs)) for case in trial.cases)
    return {pulled.raised or pulled.why for pulled in found if pulled.cotangents is None}


# rows


@pytest.mark.parametrize("name", ROWS)
def test_every_row_on_arrays_has_a_trial_whose_rule_answers(name: str) -> None:
    """Each case has a value, and the rule a cotangent for every leaf, of its shape."""
    trial = of_row(TABLE[name], examples=24)
    assert trial.cases
    assert answers(trial) == set()
    assert trial.rule is not None
    assert all(trial.domain(case.arguments) for case in trial.cases)


@pytest.mark.parametrize("name", ["matmul", "reduce_max", "getitem", "logsumexp", "concatenate"])
def test_the_jacobian_of_a_row_is_that_of_its_references(name: str) -> None:
    """At the first samples; everywhere is the judge's own business. Room: 4 ulp for each operation."""
    trial = of_row(TABLE[name], examples=24)
    compared = 0
    for case in trial.cases[:8]:
        found, wanted = trial.jacobian(case), trial.reference(case)
        assert found is not None
        room = 4 * trial.operations * DOUBLE * wanted.size
        assert (wanted.distance(found)[wanted.known] <= room[wanted.known]).all()
        compared += int(wanted.known.sum())
    assert compared > 0


def test_a_planted_rule_of_a_row_is_seen_by_the_trial() -> None:
    """The pull of a trial is the program that the row has, whatever that is."""
    right = of_row(TABLE["roll"], examples=24)
    wrong = of_row(TABLE["roll"], examples=24)
    flipped = find(TABLE["flip"])
    assert isinstance(flipped, Program)
    wrong.pull = lambda xs, y, d: (np.flip(np.asarray(d)), None, None)
    case = next(c for c in right.cases if c.size > 2)
    assert not np.array_equal(right.jacobian(case), wrong.jacobian(case))  # type: ignore[arg-type]


@pytest.mark.parametrize("arity", [2, 3, 4])
def test_a_row_of_any_number_of_arguments_is_judged_at_each(arity: int) -> None:
    trial = of_row(TABLE["einsum"], examples=24, arity=arity)
    assert {len(case.arguments) for case in trial.cases} == {arity}
    assert answers(trial) == set()


def test_a_row_that_never_reads_arrays_is_refused() -> None:
    with pytest.raises(IllTyped):
        of_row(TABLE["make_tuple"])


def test_a_domain_holds_for_every_element() -> None:
    holds = domain_of(TABLE["log"])
    assert holds((np.array([1.0, 2.0]),))
    assert not holds((np.array([1.0, -2.0]),))
    assert holds((np.zeros(0),))


@given(st.sampled_from(ROWS), st.data())
def test_values_cross_the_boundary_both_ways(name: str, data: st.DataObject) -> None:
    example = data.draw(st.sampled_from(array_examples(name)))
    for argument in example.arguments:
        assert same(inside(outside(argument)), argument)


def test_zero_is_spelled_out_at_the_boundary() -> None:
    x, w = np.ones((2, 3)), (np.ones(2, dtype=np.float32), 1.5)
    assert like(ZERO, x).shape == (2, 3)
    a, b = like(ZERO, w)
    assert a.dtype == np.float32
    assert b == 0.0
    assert like(Array("f64", (2,), (ZERO, 1.5)), np.ones(2)).tolist() == [0.0, 1.5]


# a user's primitives


def test_a_primitive_with_a_signature_is_tried_at_its_shapes() -> None:
    @aj.primitive(signature="f64[m, n] f64[n, k] -> f64[m, k]")
    def multiplied(a, b):  # type: ignore[no-untyped-def]
        return a @ b

    @multiplied.backpropagator
    def _(a, b, out, dout):  # type: ignore[no-untyped-def]
        return (dout @ b.T, a.T @ dout)

    trial = of_row(multiplied.row)
    signature = read_signature("f64[m, n] f64[n, k] -> f64[m, k]")
    assert {misfit(signature, case.arguments) for case in trial.cases} == {""}
    assert ((2, 3), (3, 4)) in {tuple(x.shape for x in case.arguments) for case in trial.cases}
    assert answers(trial) == set()


def test_an_attribute_of_any_kind_is_found_and_swept() -> None:
    @aj.primitive(signature="f64[n] any -> f64[n]")
    def rolled(x, by):  # type: ignore[no-untyped-def]
        return np.roll(x, by)

    @rolled.backpropagator
    def _(x, by, out, dout):  # type: ignore[no-untyped-def]
        return (np.roll(dout, -by), None)

    trial = of_row(rolled.row)
    assert {case.arguments[1] for case in trial.cases} >= {0, 1, -1}


def test_a_primitive_without_a_signature_is_tried_on_arrays_of_any_shape() -> None:
    @aj.primitive(domain="x > 0")
    def root(x):  # type: ignore[no-untyped-def]
        return np.sqrt(x)

    @root.backpropagator
    def _(x, out, dout):  # type: ignore[no-untyped-def]
        return (dout / (2 * out),)

    trial = of_row(root.row)
    assert {np.ndim(case.arguments[0]) for case in trial.cases} >= {0, 1, 2, 3}
    assert all((case.arguments[0] > 0).all() for case in trial.cases)
    assert answers(trial) == set()


def test_a_primitive_that_refuses_arrays_is_refused_with_what_it_raised() -> None:
    @aj.primitive
    def branching(x):  # type: ignore[no-untyped-def]
        return np.exp(x) if x > 0 else x

    @branching.backpropagator
    def _(x, out, dout):  # type: ignore[no-untyped-def]
        return (dout * out,)

    with pytest.raises(IllTyped) as refusal:
        of_row(branching.row)
    assert "refuses arrays" in refusal.value.what
    assert "truth value" in refusal.value.what


def test_a_primitive_without_a_rule_is_refused() -> None:
    @aj.primitive
    def bare(x):  # type: ignore[no-untyped-def]
        return np.exp(x)

    with pytest.raises(IllTyped):
        of_row(bare.row)


# black boxes


def test_a_black_box_of_numpy_is_read_where_it_is_in_the_language() -> None:
    trial = of_functions(softplus, softplus_pullback, [np.array([0.5, -1.0, 2.0])])
    assert trial.name == "softplus"
    assert trial.parameters == ("x",)
    assert trial.program is not None
    assert not trial.spread
    assert trial.unit == DOUBLE
    assert answers(trial) == set()
    assert [r.name for r in trial.references]


@pytest.mark.parametrize(
    ("pullback", "spread"),
    [
        (softplus_pullback, False),
        (lambda x, y, d: (d / (1 + np.exp(-x)),), True),
        (lambda xs, y, d: (d * 2,), False),
        (lambda primals, y, d: (d[:1],), False),
        (lambda x, y, d: (d.reshape(x.shape),), True),
    ],
)
def test_the_form_of_a_pullback_is_found_out(pullback: Any, spread: bool) -> None:
    assert of_functions(softplus, pullback, [np.array([0.5, -1.0, 2.0])]).spread == spread


def test_several_arguments_may_be_spread() -> None:
    samples = [(np.ones((2, 3)), np.ones((3, 2)))]
    for pullback, spread in ((product_pullback, True), (lambda xs, y, d: product_pullback(*xs, y, d), False)):
        trial = of_functions(product, pullback, samples)
        assert trial.spread == spread
        assert answers(trial) == set()


def test_a_fixed_argument_is_no_coordinate() -> None:
    def weighed(x: Any, w: Any) -> Any:
        return np.sum(x * w)

    pullback = lambda x, w, y, d: (d * w, None)  # noqa: E731
    for fixed in ((1,), (-1,), 1, "w", ("w",)):
        trial = of_functions(weighed, pullback, [(np.ones(3), np.array([1.0, 2.0, 3.0]))], fixed=fixed)
        assert trial.fixed == {1}
        assert {case.size for case in trial.cases if case.origin == "sample"} == {3}
        assert answers(trial) == set()


def test_single_precision_is_seen_in_the_samples() -> None:
    assert of_functions(softplus, softplus_pullback, [np.ones(3, dtype=np.float32)]).unit == SINGLE
    assert of_functions(softplus, softplus_pullback, [np.ones(3)], unit=SINGLE).unit == SINGLE


def test_the_domain_is_that_of_the_author() -> None:
    trial = of_functions(np.log, lambda x, y, d: (d / x,), [np.array([3.0, 4.0])], domain=lambda x: bool((x > 2).all()))
    assert trial.cases
    assert all((case.arguments[0] > 2).all() for case in trial.cases)


def test_a_program_that_answers_something_else_is_not_believed() -> None:
    """As when the function looks at more than the values of its arguments; or when the parser is mistaken."""
    samples = read_samples([np.array([1.0, 2.5, 3.5])])
    assert isinstance(read_program(above, samples), Program)

    def changed(x: Any) -> Any:
        return above(x) + (0.25 if type(x) is np.ndarray else 0.0)

    found = read_program(changed, samples)
    assert isinstance(found, Hole)


def test_what_is_lost_is_said() -> None:
    table = {1: np.exp}

    def looked_up(x: Any) -> Any:
        return table[1](x)

    trial = of_functions(looked_up, lambda x, y, d: (looked_up(x) * d,), [np.ones(2), np.array([0.25])])
    assert trial.rule is None
    assert trial.program is None
    assert any("proof is lost" in line for line in trial.lost)
    assert any("second order" in line for line in trial.lost)


def test_samples_that_are_not_judged_are_counted() -> None:
    trial = of_functions(np.log, lambda x, y, d: (d / x,), [np.ones(2), -np.ones(2), np.ones(2), np.ones(500)])
    assert any("3 of 4 samples" in line for line in trial.lost)


@pytest.mark.parametrize(
    ("samples", "error", "said"),
    [
        ([], Malformed, "empty"),
        (np.ones(3), Malformed, "one array"),
        ("text", Malformed, "no list"),
        ([[1.0, 2.0]], Malformed, "a list"),
        ([(1.0,), (1.0, 2.0)], Malformed, "length"),
        ([()], Malformed, "length"),
        ([(np.ones(3, dtype=complex),)], IllTyped, "complex128"),
        ([(np.ones(3, dtype=np.float16),)], IllTyped, "float16"),
        ([(np.array([1, "a"], dtype=object),)], IllTyped, "object"),
        ([(np.arange(3), 2)], IllTyped, "no argument"),
        ([(np.ones(3), {"a": 1})], IllTyped, "dict"),
        ([(1j,)], IllTyped, "complex"),
        ([(np.ma.ones(3),)], IllTyped, "MaskedArray"),
    ],
)
def test_bad_samples_are_refused_with_a_remedy(samples: Any, error: type[AdjudgeError], said: str) -> None:
    with pytest.raises(error) as refusal:
        of_functions(lambda *xs: xs[0], lambda xs, y, d: (d,), samples)
    assert said in refusal.value.what
    assert refusal.value.remedy


@pytest.mark.parametrize("fixed", [3, -3, "z", (0, 5), 1.5, None, True])
def test_a_position_that_is_not_there_is_refused(fixed: Any) -> None:
    with pytest.raises(Malformed) as refusal:
        of_functions(product, product_pullback, [(np.ones((2, 3)), np.ones((3, 2)))], fixed=fixed)
    assert refusal.value.remedy


def test_a_function_without_a_value_is_refused_with_what_it_raised() -> None:
    with pytest.raises(Malformed) as refusal:
        of_functions(product, product_pullback, [(np.ones((2, 3)), np.ones((2, 3)))])
    assert "ValueError" in refusal.value.what
    with pytest.raises(IllTyped):
        of_functions(3, softplus_pullback, [np.ones(2)])  # type: ignore[arg-type]


@pytest.mark.parametrize("result", [lambda x: x > 0, lambda x: x * 1j, lambda x: "text", lambda x: None, np.argmax])
def test_a_function_that_returns_no_reals_is_refused(result: Any) -> None:
    """Nothing would be compared, and nothing found."""
    with pytest.raises(IllTyped) as refusal:
        of_functions(result, lambda xs, y, d: (xs[0],), [np.array([1.0, 2.0])])
    assert "no reals" in refusal.value.what


JUNK = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=3),
        st.complex_numbers(),
        st.sampled_from(
            [np.ones(2), np.ones((0, 2)), np.array(1.5), np.arange(3), np.float32(2), np.bool_(True), slice(1), dict, b"x"]
        ),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.lists(inner, max_size=3).map(tuple), st.dictionaries(st.text(), inner)),
    max_leaves=6,
)


@given(JUNK, st.sampled_from([(), (0,), 0, "x0", {1}, 2.5]))
def test_whatever_is_given_is_judged_or_refused(samples: Any, fixed: Any) -> None:
    """With one of the five errors, and what to do."""
    try:
        trial = of_functions(lambda *xs: xs[0], lambda xs, y, d: (d, *xs[1:]), samples, fixed=fixed, examples=8)
        event("judged")
        assert any(case.size for case in trial.cases)
    except AdjudgeError as error:
        event("refused")
        assert error.remedy  # noqa: PT017


def test_lists_of_arrays_are_read_by_the_machine_too() -> None:
    samples = [([np.ones(2), np.array([0.5])],)]

    def joined(xs: Any) -> Any:
        return np.concatenate(xs)

    trial = of_functions(joined, lambda args, y, d: ([d[:-1], d[-1:]],), samples)
    assert trial.program is not None
    assert {type(case.arguments[0]) for case in trial.cases} == {list}


def test_a_large_sample_is_kept_for_those_who_can_judge_it() -> None:
    trial = of_functions(np.exp, lambda xs, y, d: (y * d,), [np.linspace(0.0, 1.0, 1_000_000)])
    assert trial.samples[0][0].size == 1_000_000
    assert max(case.size for case in trial.cases) <= 24


def test_samples_are_copied() -> None:
    x = np.ones(3)
    (sample,) = read_samples([x])
    assert not np.shares_memory(sample[0], x)


def test_operations_grow_with_what_a_rule_does() -> None:
    small = of_row(TABLE["neg"], examples=24)
    assert operations(small.rule, small.cases) < operations(None, small.cases)
    assert operations(None, ()) == 72
