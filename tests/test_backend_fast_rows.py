# ruff: noqa: PLW0108 - what is parsed needs a source
"""Fast code, row by row: what it adds in any order has a bound, around the reference's value, and what it does not has none."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjudge as aj
import backend
from adjudge.functions import parse
from adjudge.values import to_value
from backend.crosscheck import inside
from backend.fast.bounds import bounds
from backend.running_error import Bounded
from semantics.machine import Machine
from semantics.type_language import type_of
from semantics.values import over_leaves, same
from transforms.nested_grad import expand

SOURCE = np.random.default_rng(11)
X, HUGE = SOURCE.normal(size=(20, 20)), np.array([2**53, *[1] * 50])

IN_ANY_ORDER = {
    "norm": (lambda x: np.linalg.norm(x), X),
    "norm along an axis": (lambda x: np.linalg.norm(x, axis=1), X),
    "norm of integers": (lambda n: np.linalg.norm(n), HUGE),
    "mean of integers": (lambda n: np.mean(n), HUGE),
    "logsumexp": (lambda x: aj.logsumexp(x, axis=1), X),
    "trace": (lambda x: np.trace(x), X),
    "einsum, a product": (lambda x: np.einsum("ij,jk->ik", x, x), X),
    "einsum, an inner product": (lambda x: np.einsum("i,i->", x, x), X.ravel()),
    "tensordot": (lambda x: np.tensordot(x, x, axes=1), X),
    "matmul": (lambda x: x @ x, X),
}
IN_ORDER = {
    "einsum of three": (lambda x: np.einsum("ij,jk,kl->il", x, x, x), X[:4, :4]),
    "einsum of stacks": (lambda x: np.einsum("bij,bjk->bik", x, x), X.reshape(4, 10, 10)),
    "cumsum": (lambda x: np.cumsum(x), X),
    "prod": (lambda x: np.prod(x), X),
    "det": (lambda x: np.linalg.det(x), X),
    "norm of float32": (lambda x: np.linalg.norm(x), X.astype(np.float32)),
}


def judged(function: Any, argument: Any) -> tuple[Any, Any]:
    """The result of the cross-check of fast code on the CPU, and the bounds."""
    program, values = expand(parse(function)), [to_value(argument)]
    types = [backend.general(type_of(v)) for v in values]
    (found,) = backend.crosscheck(program, types, [values], lambda *a: Machine(program).run(a).value, ["cpu"], "fast")
    return found, bounds(program, values)


def errors(value: Any) -> list[float]:
    items = value.items if hasattr(value, "items") else [value]
    return [v.bound if isinstance(v, Bounded) else 0.0 for v in items]


@pytest.mark.parametrize("name", IN_ANY_ORDER)
def test_a_row_whose_sums_go_in_any_order_is_within_a_bound_around_the_reference(name: str) -> None:
    """Norms, einsums and tensordots had none, and a mean of integers was that of their exact sum."""
    function, argument = IN_ANY_ORDER[name]
    found, bounded = judged(function, argument)
    assert (found.mismatches, found.bitwise + found.within) == ((), 1)
    assert 0.0 < max(errors(bounded)) < 1e-10 * float(np.max(np.abs(argument)))
    values = over_leaves(lambda v: v.value, bounded) if not isinstance(bounded, Bounded) else bounded.value
    assert same(to_value(values), to_value(aj.run(function, argument)))


@pytest.mark.parametrize("name", IN_ORDER)
def test_a_row_whose_sums_stay_in_order_has_the_bits_of_the_reference(name: str) -> None:
    found, bounded = judged(*IN_ORDER[name])
    assert found.bitwise == 1
    assert set(errors(bounded)) == {0.0}


def test_an_array_of_more_elements_than_are_boxed_at_once_is_compared_element_by_element() -> None:
    """Elements that NumPy holds were no tuple, so that every such result was a mismatch."""
    _, bounded = judged(*IN_ANY_ORDER["matmul"])
    product = X @ X
    assert inside(bounded, to_value(np.ascontiguousarray(product), atom=lambda x, _: backend_array(x)))
    product[3, 3] += 1e-9
    assert not inside(bounded, to_value(np.ascontiguousarray(product), atom=lambda x, _: backend_array(x)))


def backend_array(x: Any) -> Any:
    """An array as generated code gives it, its elements held by NumPy."""
    from transforms.parse.numpy_names import of_numpy

    return of_numpy(x, lazily=True)


PAIRS = st.lists(st.tuples(st.floats(-1e5, 1e5), st.floats(-1e5, 1e5)), min_size=1, max_size=12)


@given(PAIRS, st.randoms(use_true_random=False))
def test_an_einstein_sum_with_products_rounded_or_not_is_within_the_bound(pairs: list[Any], source: Any) -> None:
    a, b = (np.array([p[i] for p in pairs]) for i in (0, 1))
    found = bounds(expand(parse(inner)), [to_value(a), to_value(b)])
    result = 0.0
    for x, y in source.sample(pairs, len(pairs)):
        result = float(Fraction(x) * Fraction(y) + Fraction(result)) if source.random() < 0.5 else x * y + result
    assert same(found.value, aj.run(inner, a, b))
    assert abs(result - found.value) <= found.bound


def inner(a, b):  # type: ignore[no-untyped-def]
    return np.einsum("i,i->", a, b)
