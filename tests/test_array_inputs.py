"""The inputs of the array judge: signatures, shapes, attributes, layouts, the pool of cases, and the strategies over the same."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

from checkers.array_audit.attributes import alternatives, swept
from checkers.array_audit.case import leaves
from checkers.array_audit.edges import constants
from checkers.array_audit.layouts import LAYOUTS, laid_out, layouts
from checkers.array_audit.pool import cases, identity
from checkers.array_audit.shapes import arrays_in, groups, reals, resized, varied
from checkers.array_audit.signature import elementwise, leading, misfit, names, read_signature, result_sizes
from checkers.array_audit.signature_shapes import ALL_DIFFERENT, MOST, filled, shapes_for
from checkers.array_audit.strategies import arguments, cotangents
from checkers.array_audit.trial import Trial
from semantics.errors import IllTyped, Malformed

SIGNATURES = (
    "f64[m, n] f64[n, k] -> f64[m, k]",
    "f64[...] -> f64",
    "f64[...] f64[...] -> f64[...]",
    "f64[..., n] f64[n] -> f64[...]",
    "f64[n] i64 -> f64[n]",
    "f32[n] bool[n] -> f32[n]",
    "f64[3] f64 any -> f64[3]",
    "f64[n, n] f64[n] -> f64[n]",
)
signatures = st.sampled_from(SIGNATURES).map(read_signature)


def trial(forward: Any, parameters: str = "x", **more: Any) -> Trial:
    """A trial of forward alone: its backpropagator is not asked."""
    return Trial("f", tuple(parameters.split()), forward, lambda xs, y, d: None, (), **more)


# signatures


@given(signatures, st.integers(0, 3))
def test_every_shape_of_a_signature_fits_it(signature: Any, seed: int) -> None:
    """The arguments fit, none has too many reals, and the result has the size that the signature says."""
    for note, shapes in shapes_for(signature, seed):
        arguments = filled(signature, shapes, random.Random(seed))
        assert misfit(signature, arguments) == ""
        limit = ALL_DIFFERENT if note.startswith("all sizes different") else MOST
        assert max(reals(arguments), *(math.prod(s) for s in result_sizes(signature, shapes))) <= limit


@given(signatures)
def test_every_size_is_once_1_once_none_and_once_more(signature: Any) -> None:
    for letter in names(signature):
        found = set()
        for _, shapes in shapes_for(signature):
            for spec, shape in zip(signature.arguments, shapes, strict=True):
                if shape is not None and letter in spec.dims:
                    found.add(shape[len(shape) - len(spec.dims) + spec.dims.index(letter)])
        assert {0, 1} < found


def test_broadcast_pairs_come_both_ways() -> None:
    pairs = {shapes for _, shapes in shapes_for(elementwise(2))}
    assert {((3,), (2, 3)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (3,)), ((3,), ()), ((), ()), ((0,), (1,))} <= pairs


def test_three_sizes_are_all_different_and_above_1() -> None:
    """Without which a transposed product goes unseen."""
    assert ((2, 3), (3, 4)) in {shapes for _, shapes in shapes_for(read_signature(SIGNATURES[0]))}


def test_a_transposed_argument_does_not_fit() -> None:
    signature = read_signature(SIGNATURES[0])
    assert misfit(signature, (np.ones((2, 3)), np.ones((3, 4)))) == ""
    assert "argument 1" in misfit(signature, (np.ones((2, 3)), np.ones((4, 3))))
    assert misfit(signature, (np.ones((2, 3)), np.ones((3, 4), dtype=np.float32)))
    assert misfit(signature, (np.ones((2, 3)),)) == "1 arguments for 2"


@pytest.mark.parametrize("text", ["f64[n]", "f64[n] ->", "-> f64", "f65[n] -> f64", "f64[n] -> f64[m]", "f64[a b] -> f64", 3])
def test_a_bad_signature_is_refused_with_an_example(text: Any) -> None:
    with pytest.raises((Malformed, IllTyped)) as refusal:
        read_signature(text)
    assert "->" in str(refusal.value.remedy)


def test_sizes_that_are_fixed_and_large_are_refused() -> None:
    with pytest.raises(IllTyped) as refusal:
        shapes_for(read_signature("f64[100] -> f64"))
    assert "name the sizes" in str(refusal.value.remedy)


# shapes of samples


def test_sizes_equal_in_all_samples_vary_together() -> None:
    samples = [(np.ones((2, 3)), np.ones(3)), (np.ones((3, 3)), np.ones(3)), (np.ones((3, 4)), np.ones(4))]
    assert [len(group) for group in groups(samples)] == [1, 2]
    assert [len(group) for group in groups(samples[1:2])] == [3]
    for _, (x, w) in varied(samples, ("x", "w")):
        assert x.shape[1] == w.shape[0]


def test_a_size_of_1_stays() -> None:
    """A function that broadcasts there means something else by another size."""
    found = [x.shape for _, (x, _) in varied([(np.ones((1, 3)), np.ones(3))], ("x", "w"))]
    assert found
    assert {shape[0] for shape in found} == {1}
    assert {0, 1, 2, 5} <= {shape[1] for shape in found}


@given(st.integers(0, 4), st.integers(0, 4), st.integers(0, 4), st.integers(0, 4))
def test_resizing_keeps_what_is_there(m: int, n: int, k: int, j: int) -> None:
    x = np.arange(1.0, m * n + 1).reshape(m, n)
    (found,) = resized((x,), {((0,), 0): k, ((0,), 1): j}, random.Random(0))
    assert found.shape == (k, j)
    if k <= m and j <= n:
        assert (found == x[:k, :j]).all()


def test_nested_arguments_are_resized_in_place() -> None:
    sample = ([np.ones(2), np.ones((2, 3))], "sum")
    for _, ((a, b), how) in varied([sample], ("xs", "how")):
        assert a.shape[0] == b.shape[0]
        assert how == "sum"


# attributes


def test_axes_flags_and_shifts_are_swept() -> None:
    found = [xs[1:] for _, xs in swept([(np.ones((2, 3)), 0, False)], ("x", "axis", "keepdims"))]
    assert {(-1, False), (None, False), ((1, 0), False), (0, True), (1, True)} <= set(found)
    assert (0, False) not in found
    shifts = [xs[1] for _, xs in swept([(np.ones(3), 1)], ("x", "by"))]
    assert {-1, 0, 2, 4} <= set(shifts)


def test_indices_are_repeated_and_counted_from_the_end() -> None:
    found = [v.tolist() for v in alternatives((np.ones(3), np.array([0, 2])), 1, "i")]
    assert [0, 0] in found
    assert [-3, -1] in found
    assert [-3, 2] in found


def test_masks_are_inverted_and_texts_are_left_alone() -> None:
    assert next(v.tolist() for v in alternatives((np.array([True, False]),), 0, "m")) == [False, True]
    assert alternatives(("mean",), 0, "reduction") == ()


def test_only_attributes_that_the_function_takes_are_kept() -> None:
    judged = cases(trial(np.sum, "x axis"), [(np.ones((2, 3)) * 1.5, 0)], seed=0, examples=60)
    axes = {case.arguments[1] for case in judged}
    assert axes == {0, 1, -1, -2, None, (1, 0)}


# layouts


@given(st.lists(st.integers(0, 3), max_size=3).map(tuple), st.sampled_from(list(LAYOUTS)), st.booleans())
def test_a_layout_has_the_same_values(shape: tuple[int, ...], name: str, single: bool) -> None:
    x = np.arange(float(math.prod(shape))).reshape(shape).astype(np.float32 if single else np.float64)
    (found,) = laid_out((x,), LAYOUTS[name])
    assert found.dtype == x.dtype
    assert found.shape == x.shape
    assert (found == x).all()
    assert not np.shares_memory(found, x)
    assert found.flags.writeable == (name != "read-only")


def test_layouts_differ_in_strides() -> None:
    x = np.arange(6.0).reshape(2, 3)
    found = dict(layouts((x,)))
    assert set(found) == set(LAYOUTS)
    strides = {name: xs[0].strides for name, xs in found.items() if name != "read-only"}
    assert len(set(strides.values())) == len(strides)
    assert x.strides not in strides.values()


def test_a_number_has_no_layout_and_a_vector_no_order() -> None:
    assert list(layouts((2.0,))) == []
    assert [name for name, _ in layouts((np.ones(3),))] == ["strided", "reversed strides", "read-only"]


# the pool


def softmax(x: Any) -> Any:
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


POOLS: dict[str, tuple[Trial, list[Any]]] = {
    "softmax": (trial(softmax), [(np.array([1.0, 2.0, 3.0]),)]),
    "log above 0": (trial(np.log, domain=lambda xs: bool((xs[0] > 0).all())), [(np.array([1.0, 2.0]),)]),
    "product": (trial(np.matmul, "a b"), [(np.ones((2, 3)), np.ones((3, 2)))]),
    "a fixed argument": (trial(lambda x, w: x * w, "x w", fixed=frozenset({1})), [(np.ones(3), np.ones(3))]),
    "reals": (trial(lambda x, y: x * y, "x y"), [(2.0, 3.0)]),
    "float32": (trial(np.tanh), [(np.ones(3, dtype=np.float32),)]),
    "a sum along an axis": (trial(np.sum, "x axis"), [(np.ones((2, 2)), 1), (np.ones(3), 0)]),
}


@pytest.mark.parametrize("name", POOLS)
@given(st.integers(0, 5))
def test_every_case_has_a_finite_value_and_is_small_and_new(name: str, seed: int) -> None:
    judged, samples = POOLS[name]
    found = cases(judged, samples, seed=seed, examples=60)
    assert len({identity(case.arguments) for case in found}) == len(found) >= 40
    for case in found:
        assert judged.domain(case.arguments)
        assert all(np.isfinite(leaf).all() for _, leaf in leaves((case.value,)))
        limit = ALL_DIFFERENT if case.origin == "sample" or case.note.startswith("all sizes different") else MOST
        assert case.size <= limit
        assert case.outputs <= limit
        assert case.note


def test_a_seed_says_which_cases() -> None:
    judged, samples = POOLS["softmax"]
    one, same, other = (cases(judged, samples, seed=seed, examples=60) for seed in (1, 1, 2))
    assert [identity(c.arguments) for c in one] == [identity(c.arguments) for c in same]
    assert [identity(c.arguments) for c in one] != [identity(c.arguments) for c in other]


@given(st.integers(0, 5))
def test_random_edge_and_tied_cases_have_outputs(seed: int) -> None:
    """They were once all made from (0, 3) @ (3, 3) + (3,), which has twelve elements and no output."""
    dense = trial(lambda x, w, b: x @ w + b, "x w b")
    found = cases(dense, (), seed=seed, examples=60, signature=read_signature("f64[m, k] f64[k, n] f64[n] -> f64[m, n]"))
    kinds = {"random", "edge", "tie"}
    assert {case.origin for case in found} >= kinds
    assert all(case.outputs for case in found if case.origin in kinds)


def test_a_fixed_argument_is_never_moved() -> None:
    judged, samples = POOLS["a fixed argument"]
    assert {x for case in cases(judged, samples, seed=0, examples=60) for x in case.arguments[1].tolist()} == {1.0}


def test_the_pool_has_ties_zeros_masks_orders_and_layouts() -> None:
    found = cases(*POOLS["softmax"], seed=0, examples=60)
    assert {case.origin for case in found} == {"sample", "shape", "layout", "tie", "edge", "random"}
    notes = [case.note for case in found]
    for wanted in (
        "all equal",
        "the greatest twice",
        "1 of 3 zero in x",
        "2 of 3 zero in x",
        "= -inf",
        "sorted",
        "reversed strides",
    ):
        assert any(wanted in note for note in notes), wanted
    assert not any("= inf" in note for note in notes)


def test_ties_across_arguments() -> None:
    found = cases(trial(np.maximum, "x y"), [(np.array([1.0, 2.0, 3.0]), np.array([3.0, 1.0, 0.5]))], seed=0, examples=60)
    tied = [case for case in found if case.origin == "tie"]
    assert any((case.arguments[0] == case.arguments[1]).all() for case in tied)


def test_constants_of_the_source_and_of_the_domain_are_tried() -> None:
    def clipped(x: Any) -> Any:
        return np.minimum(x, 3.25)

    judged = trial(clipped, forward_source=clipped)
    assert 3.25 in constants(judged)
    assert any(3.25 in case.coordinates for case in cases(judged, [(np.ones(3),)], seed=0, examples=60))


def test_a_sample_that_is_too_large_is_judged_at_other_sizes() -> None:
    found = cases(trial(np.exp), [(np.ones(1000),)], seed=0, examples=60)
    assert found
    assert all(case.size <= ALL_DIFFERENT for case in found)


def test_a_function_of_one_size_is_judged_there() -> None:
    """Where no smaller shape is taken, up to 64 reals are; there are fewer cases then, but of every origin."""

    def convolved(x: Any) -> Any:
        return x.reshape(6, 6).sum(axis=0)

    found = cases(trial(convolved), [(np.linspace(-1.0, 1.0, 36),)], seed=0, examples=60)
    assert {case.size for case in found} == {36}
    assert {case.origin for case in found} == {"sample", "layout", "tie", "edge", "random"}
    assert len(found) < 30


def test_no_case_where_there_is_no_value() -> None:
    assert cases(trial(np.linalg.inv), [(np.ones(2),)], seed=0, examples=60) == ()


# strategies


@given(signatures, st.data())
def test_drawn_arguments_fit_their_signature(signature: Any, data: st.DataObject) -> None:
    found = data.draw(arguments(signature))
    event(f"{len(leading(signature))} open")
    plain = [np.asarray(x) if isinstance(x, np.ndarray) else x for x in found]
    kinds = [x if spec.dtype != "any" else None for x, spec in zip(plain, signature.arguments, strict=True)]
    assert misfit(signature, kinds) == ""


@given(st.data())
def test_arguments_like_samples_have_their_structure(data: st.DataObject) -> None:
    samples = [(np.ones((2, 3)), np.ones(3), 0), (np.ones((4, 2)), np.ones(2), 1)]
    x, w, axis = data.draw(arguments(samples, parameters=("x", "w", "axis"), fixed=frozenset({1})))
    event("resized" if x.shape not in ((2, 3), (4, 2)) else "as given")
    assert x.ndim == 2
    assert x.shape[1] == w.shape[0]
    assert axis in (0, 1, -1, -2, None, (1, 0))
    assert np.isfinite(x).all()


@given(st.data())
def test_cotangents_have_the_shape_of_the_value(data: st.DataObject) -> None:
    value = data.draw(st.sampled_from([np.ones((2, 3)), 1.5, (np.ones(2, dtype=np.float32), 2.0), np.zeros(0), np.ones(())]))
    found = data.draw(cotangents(value))
    for (path, a), (other, b) in zip(leaves((found,)), leaves((value,)), strict=True):
        assert path == other
        assert np.shape(a) == np.shape(b)
        assert np.asarray(a).dtype == np.asarray(b).dtype
        assert not np.isnan(a).any()


@given(cotangents(np.ones(3)))
def test_cotangents_are_of_every_kind(d: Any) -> None:
    """Shown in the statistics; the pools of sizes are checked where they are made."""
    event("zero" if not d.any() else "infinite" if np.isinf(d).any() else "one-hot" if (d != 0).sum() == 1 else "dense")
    assume(d.any())
    assert d.shape == (3,)


def test_a_strategy_of_nothing_is_refused() -> None:
    with pytest.raises(Malformed):
        arguments([])
    with pytest.raises(Malformed):
        arguments([np.ones(2)])  # type: ignore[list-item]


def test_arrays_in_finds_what_is_nested() -> None:
    found = arrays_in((1.0, (np.ones(2), [np.zeros(3)]), np.array([1])))
    assert [path for path, _ in found] == [(1, 0), (1, 1, 0), (2,)]
