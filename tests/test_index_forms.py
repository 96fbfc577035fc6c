"""Index forms: sums of products with bound indices mean what they say, whatever is done to them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.smt.index_form import (
    Factor,
    NotReachedError,
    add,
    call,
    constant,
    holds,
    inverse,
    multiply,
    rename,
    scaled,
    single,
    summed,
)
from checkers.smt.index_places import Extent, Place, extent, plus
from checkers.smt.index_values import array

INDICES = ("i", "j")


@st.composite
def forms(draw: st.DrawFn, depth: int = 2):  # type: ignore[no-untyped-def]
    x, y = array("x", "f64", ("n", "n")), array("y", "f64", ("n",))
    if depth == 0:
        i, j = draw(st.sampled_from(INDICES)), draw(st.sampled_from(INDICES))
        delta = single(Factor("delta", "n", (i, j))) if i != j else constant(1)
        term = plus(plus(i, j, draw(st.sampled_from([-1, 1]))), draw(st.integers(-1, 1)))
        condition = holds(draw(st.sampled_from(["eq", "ge"])), term)
        return draw(st.sampled_from([x.at((i, j)), y.at((i,)), delta, condition, constant(draw(st.integers(-2, 2)))]))
    kind = draw(st.sampled_from(["add", "mul", "sum", "call"]))
    a = draw(forms(depth=depth - 1))
    if kind == "sum":
        return summed(a, draw(st.sampled_from(INDICES)), "n")
    if kind == "call":
        return call("sin", a)
    b = draw(forms(depth=depth - 1))
    return add(a, b) if kind == "add" else multiply(a, b)


def _value(form, n: int, at: dict[str, int]):  # type: ignore[no-untyped-def]
    """The form at x[i, j] = 2 i + 3 j + 1, y[i] = i - 1 and a stand-in for sin, in integers."""
    total = 0
    for monomial, coefficient in form.terms:
        for indices in _choices(len(monomial.bound), n):
            known = at | dict(zip((i for i, _ in monomial.bound), indices, strict=True))
            product = coefficient
            for factor in monomial.factors:
                match factor.kind, factor.name:
                    case "entry", "x":
                        product *= 2 * _at(factor.parts[0], known, n) + 3 * _at(factor.parts[1], known, n) + 1
                    case "entry", _:
                        product *= _at(factor.parts[0], known, n) - 1
                    case "delta", _:
                        product *= _at(factor.parts[0], known, n) == _at(factor.parts[1], known, n)
                    case "holds", _:
                        value = _at(factor.parts[0].place, known, n)
                        product *= value == 0 if factor.parts[0].kind == "eq" else value >= 0
                    case "size", _:
                        product *= n
                    case _:
                        product *= _value(factor.parts[0], n, known) ** 2 + 5
            total += product
    return total


def _at(term, known: dict[str, int], n: int) -> int:  # type: ignore[no-untyped-def]
    """An index term in integers; every size is n."""
    if not isinstance(term, Place):
        return known.get(term, term)
    return sum(c * prod(n if isinstance(a, Extent) else known[a] for a in atoms) for atoms, c in term.terms)


def _choices(count: int, n: int) -> Iterator[tuple[int, ...]]:
    return product(range(n), repeat=count)


@given(forms(), forms(), st.integers(1, 2))
def test_forms_keep_their_value(a, b, n: int) -> None:  # type: ignore[no-untyped-def]
    """Soundness of the operations on forms, at small sizes: sums, products and bound indices mean what they say."""
    at = {"i": n - 1, "j": 0}
    try:
        assert _value(add(a, b), n, at) == _value(a, n, at) + _value(b, n, at)
        assert _value(multiply(a, b), n, at) == _value(a, n, at) * _value(b, n, at)
        assert _value(summed(a, "i", "n"), n, at) == sum(_value(a, n, at | {"i": k}) for k in range(n))
        assert _value(summed(summed(a, "i", "n"), "j", "n"), 0, {}) == 0
        assert _value(rename(a, {"i": "j"}), n, at) == _value(a, n, at | {"i": at["j"]})
    except NotReachedError:
        pass


def test_a_sum_with_one_point_is_its_value_there_if_it_is_in_range() -> None:
    y = array("y", "f64", ("n",))
    shifted = plus("i", 1)
    found = summed(multiply(holds("eq", plus("b", shifted, -1)), y.at(("b",))), "b", "n")
    inside = multiply(holds("ge", shifted), holds("ge", plus(plus(extent("n"), 2, -1), "i", -1)))
    assert found == multiply(inside, y.at((shifted,)))
    assert found != y.at((shifted,))


def test_conditions_count_once_and_plain_ones_not_at_all() -> None:
    condition = holds("ge", plus("i", "j", -1))
    assert multiply(condition, condition) == condition
    assert holds("ge", 2) == constant(1)
    assert holds("eq", plus("i", plus("i", 1), -1)) == constant(0)
    assert holds("eq", plus("i", "j", -1)) == holds("eq", plus("j", "i", -1))


def test_a_common_factor_leaves_a_sum_and_cancels() -> None:
    """Softmax adds up to 1, whatever all exponents are shifted by."""
    x, m = array("x", "f64", ("n",)), array("m", "f64", ()).at(())
    terms = call("exp", add(x.at(("i",)), scaled(m, -1)))
    total = summed(terms, "i", "n")
    share = multiply(terms, inverse(total))
    assert share == multiply(call("exp", x.at(("i",))), inverse(summed(call("exp", x.at(("i",))), "i", "n")))
    assert summed(share, "i", "n") == constant(1)
    assert summed(multiply(share, x.at(("i",))), "i", "n") != x.at(("i",))


def test_functions_of_forms_cancel_and_join() -> None:
    x = array("x", "f64", ("n",)).at(("i",))
    y = array("y", "f64", ("n",)).at(("i",))
    assert multiply(call("exp", x), call("exp", y)) == call("exp", add(x, y))
    assert call("exp", call("log", x)) == x
    assert call("log", call("exp", x)) == x
    assert multiply(x, inverse(x)) == constant(1)
    assert inverse(inverse(x)) == x
    assert call("maximum", x, y) == call("maximum", y, x)
    assert call("atan2", x, y) != call("atan2", y, x)
    with pytest.raises(NotReachedError):
        inverse(constant(0))
