"""Values and sensitivities: sameness in bits, the monoid of sensitivities, sparse against dense."""

from __future__ import annotations

import math
import struct
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from immutables import Map

from semantics.arrays import Array
from semantics.columns.structure import getitem, instantiate
from semantics.errors import IllTyped
from semantics.structured import Slice
from semantics.tangents import ZERO, Sparse, dense, gadd, inject
from semantics.type_language import REAL, UNIT, FunctionType, TupleType, tangent, type_of
from semantics.values import Closure, Unbound, bits, flatten, same, ulp_distance

FLOATS = st.floats(allow_nan=True)
ATOMS = st.one_of(FLOATS, st.integers(-3, 3), st.booleans(), st.none())
VALUES = st.recursive(
    ATOMS,
    lambda v: st.one_of(st.lists(v, max_size=3).map(tuple), st.lists(v, max_size=2).map(lambda c: Closure(4, tuple(c)))),
    max_leaves=8,
)
# whole numbers: their sums are exact, so the monoid laws hold without a tolerance
WHOLE = st.integers(-1000, 1000).map(float)


@st.composite
def sensitivities(draw: Any, count: int) -> tuple[Any, ...]:
    """`count` sensitivities of one value: reals and tuples, parts of which may be ZERO or sparse."""

    def one(shape: Any) -> Any:
        if draw(st.integers(0, 4)) == 0:
            return ZERO
        if shape is None:
            return draw(WHOLE)
        parts = [one(s) for s in shape]
        if parts and draw(st.booleans()):
            return Sparse(len(parts), Map({i: p for i, p in enumerate(parts) if p is not ZERO}))
        return tuple(parts)

    shape = draw(st.recursive(st.none(), lambda s: st.lists(s, min_size=1, max_size=3), max_leaves=6))
    return tuple(one(shape) for _ in range(count))


def plain(d: Any) -> Any:
    """The sensitivity with nothing sparse left; ZERO stays, and a tuple of ZERO alone is ZERO."""
    if isinstance(d, (Sparse, tuple)):
        parts = tuple(plain(x) for x in dense(d))
        return ZERO if all(p is ZERO for p in parts) else parts
    return d


@given(sensitivities(2))
def test_gadd_commutes(pair: tuple[Any, Any]) -> None:
    a, b = pair
    assert plain(gadd(a, b)) == plain(gadd(b, a))


@given(sensitivities(3))
def test_gadd_associates(triple: tuple[Any, Any, Any]) -> None:
    a, b, c = triple
    assert plain(gadd(gadd(a, b), c)) == plain(gadd(a, gadd(b, c)))


@given(sensitivities(1))
def test_zero_is_neutral(single: tuple[Any]) -> None:
    (a,) = single
    assert gadd(a, ZERO) is a
    assert gadd(ZERO, a) is a


@given(sensitivities(2))
def test_a_sparse_sum_is_the_sum_of_the_dense(pair: tuple[Any, Any]) -> None:
    def all_dense(d: Any) -> Any:
        return tuple(all_dense(x) for x in dense(d)) if isinstance(d, (Sparse, tuple)) else d

    a, b = pair
    assert plain(gadd(a, b)) == plain(gadd(all_dense(a), all_dense(b)))


def test_zero_absorbs_what_a_number_does_not() -> None:
    assert ZERO * math.inf is ZERO
    assert math.inf * ZERO is ZERO
    assert ZERO / 0.0 is ZERO
    assert ZERO + 2.0 == 2.0
    assert 2.0 - ZERO == 2.0
    assert -ZERO is ZERO
    assert math.isnan(0.0 * math.inf)


def test_gadd_refuses_two_structures() -> None:
    with pytest.raises(IllTyped, match="of one value"):
        gadd((1.0,), 1.0)
    with pytest.raises(IllTyped, match="one length"):
        gadd((1.0,), (1.0, 2.0))
    with pytest.raises(IllTyped, match="one length"):
        gadd(Sparse(2, Map({0: 1.0})), (1.0,))


@given(st.integers(1, 6), st.integers(-6, 5), WHOLE)
def test_inject_is_the_adjoint_of_getitem(size: int, index: int, d: float) -> None:
    assume(-size <= index < size)
    sent = inject((0.5,) * size, index, d)
    assert [getitem(sent, i) for i in range(size)] == [d if i == index % size else ZERO for i in range(size)]
    assert inject((0.5,) * size, index, ZERO) is ZERO
    assert inject(ZERO, index, d) is ZERO


def test_gadd_and_instantiate_do_not_recur_on_deep_tuples() -> None:
    deep: Any = 1.0
    for _ in range(50_000):
        deep = (deep,)
    total = gadd(deep, deep)
    shown = instantiate(total, deep)
    for _ in range(50_000):
        (shown,) = shown
    assert shown == 2.0
    assert same(deep, deep)


def test_instantiate_gives_the_structure_of_the_primal() -> None:
    primal = (1.0, 2, (3.0, True), Closure(0, (4.0, "s")), None)
    assert instantiate(ZERO, primal) == (0.0, None, (0.0, None), (0.0, None), None)
    assert instantiate((5.0, None, ZERO, ZERO, None), primal) == (5.0, None, (0.0, None), (0.0, None), None)
    assert instantiate(Sparse(5, Map({2: inject((3.0, True), 0, 7.0)})), primal) == (0.0, None, (7.0, None), (0.0, None), None)


def test_a_primal_that_is_a_sparse_sensitivity_is_what_it_is_written_out() -> None:
    primal = Sparse(3, Map({1: 2.0, 2: 4}))
    for d in (ZERO, (ZERO, 5.0, ZERO), Sparse(3, Map({1: 5.0}))):
        assert instantiate(d, primal) == instantiate(d, dense(primal))
    assert instantiate(Sparse(3, Map({1: 5.0})), primal) == (None, 5.0, None)
    assert instantiate(5.0, 2.0) == 5.0


# sameness


@given(VALUES, VALUES)
def test_same_is_an_equivalence_that_tokens_decide(a: Any, b: Any) -> None:
    assert same(a, a)
    assert same(a, b) == same(b, a)
    assert same(a, b) == (list(flatten(a)) == list(flatten(b)))


@given(FLOATS, FLOATS)
def test_two_reals_are_the_same_when_their_bits_are_or_both_are_nan(a: float, b: float) -> None:
    wanted = struct.pack("d", a) == struct.pack("d", b) or (math.isnan(a) and math.isnan(b))
    assert same(a, b) == wanted
    assert (bits(a) == bits(b)) == wanted


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (0.0, -0.0),
        (1, 1.0),
        (1, True),
        (0.0, None),
        ((), None),
        ((1.0,), 1.0),
        ((1.0, 2.0), ((1.0, 2.0),)),
        (((1.0,), 2.0), ((1.0, 2.0),)),
        (Closure(1, (1.0,)), Closure(1, (2.0,))),
        (Closure(1, ()), Closure(2, ())),
        (Unbound("a"), Unbound("b")),
        (1.0, math.nextafter(1.0, 2.0)),
    ],
)
def test_values_that_differ_are_told_apart(a: Any, b: Any) -> None:
    assert not same(a, b)


def test_a_name_is_no_part_of_a_closure_and_a_sparse_tuple_is_a_tuple() -> None:
    assert same(Closure(1, (2.0,), "f"), Closure(1, (2.0,), "g"))
    assert same(Sparse(2, Map({1: 3.0})), (ZERO, 3.0))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_neighbouring_doubles_are_one_ulp_apart(x: float) -> None:
    assert ulp_distance(x, math.nextafter(x, math.inf)) == 1.0
    assert ulp_distance(x, x) == 0.0


def test_ulp_distance_of_zeros_and_nans() -> None:
    assert ulp_distance(0.0, -0.0) == 0.0
    assert ulp_distance(5e-324, -5e-324) == 2.0
    assert ulp_distance(math.nan, 1.0) == math.inf
    assert ulp_distance(math.nan, -math.nan) == 0.0


LINE, MATRIX = Array("f64", (3,), (1.0, 2.0, 3.0)), Array("f64", (2, 3), (1.0,) * 6)
PAIR, TUPLE = Array("f64", (2,), (1.0, 2.0)), (1.0, 2.0)
OF_ANOTHER_SIZE = [(LINE, Slice(None, 2), LINE), (MATRIX, 1, PAIR), (LINE, 1, LINE), (TUPLE, Slice(), (3.0,))]


@pytest.mark.parametrize(("whole", "index", "part"), OF_ANOTHER_SIZE)
def test_a_part_takes_as_many_sensitivities_as_it_has_elements(whole: Any, index: Any, part: Any) -> None:
    with pytest.raises(IllTyped, match="sensitivities for a part of"):
        inject(whole, index, part)


def test_a_part_takes_the_sensitivities_of_its_elements() -> None:
    assert dense(inject(LINE, Slice(None, 2), Array("f64", (2,), (4.0, 5.0)))).items == (4.0, 5.0, ZERO)
    assert dense(inject(LINE, 1, Array("f64", (), (4.0,)))).items == (ZERO, 4.0, ZERO)


# types


def test_the_tangent_of_a_closure_is_the_tuple_of_its_captured_tangents() -> None:
    t = type_of((1.0, 2, Closure(3, (1.0, True))))
    assert t == TupleType((REAL, type_of(2), FunctionType(3, (REAL, type_of(True)))))
    assert tangent(t) == TupleType((REAL, UNIT, TupleType((REAL, UNIT))))


@given(VALUES)
def test_a_zero_sensitivity_made_dense_has_the_tangent_type(value: Any) -> None:
    assert type_of(instantiate(ZERO, value)) == tangent(type_of(value))
