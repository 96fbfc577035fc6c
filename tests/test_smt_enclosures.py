"""Enclosures of z3 terms: values, what is undecided, and that a term read once is never taken for another."""

from __future__ import annotations

import gc
from fractions import Fraction

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from checkers.smt import enclosures
from checkers.smt.enclosures import Undecided, apart, enclose, enclosed, holds
from checkers.smt.terms import real, uninterpreted

x, y = z3.Real("x"), z3.Real("y")
AT = {"x": Fraction(3, 2), "y": Fraction(-2)}
NUMBERS = st.fractions(-9, 9, max_denominator=8)
TERMS = st.recursive(
    st.one_of(st.sampled_from([("x", x), ("y", y)]), NUMBERS.map(lambda c: (f"Fraction({str(c)!r})", real(c)))),
    lambda parts: st.builds(
        lambda op, a, b: (f"({a[0]} {op} {b[0]})", {"+": a[1] + b[1], "-": a[1] - b[1], "*": a[1] * b[1]}[op]),
        st.sampled_from("+-*"),
        parts,
        parts,
    ),
    max_leaves=12,
)


@given(TERMS, NUMBERS, NUMBERS)
def test_a_polynomial_has_its_value(pair, at_x, at_y):
    text, term = pair
    wanted = eval(text, {"Fraction": Fraction, "x": at_x, "y": at_y})
    point = {"x": at_x, "y": at_y}
    assert enclose(term, point).overlaps(enclosures.ball(wanted))
    assert holds([term == real(wanted)], point) or not enclose(term, point).is_exact()
    assert not holds([term != real(wanted)], point)


def test_terms_that_are_gone_are_not_taken_for_those_in_their_place():
    """z3 gives the id of a term that is gone to the next one: what is known of a term has to hold it."""
    seen = set()
    for i in range(200):
        term = x * real(i) + y
        seen.add(term.get_id())
        assert holds([term == real(AT["x"] * i + AT["y"])], AT)
        del term
        gc.collect(0)
    assert len(seen) == 200


def test_terms_of_another_context_are_others():
    other = z3.Context()
    for i in range(50):
        here, there = x + real(i), z3.Real("x", other) - z3.RealVal(i, other)
        assert holds([here == real(AT["x"] + i)], AT)
        assert enclose(there, AT) == enclosures.ball(AT["x"] - i)


def test_of_an_if_only_the_branch_that_is_taken_is_evaluated():
    fails = 1 / (x - x)
    assert enclose(z3.If(x > y, x, fails), AT) == enclosures.ball(AT["x"])
    with pytest.raises(Undecided):
        enclose(z3.If(x < y, x, fails), AT)


def test_conditions_after_one_that_fails_are_not_evaluated():
    fails = 1 / (x - x) > 0
    assert enclosed([x > y, x < y, fails], AT, until=False) == [True, False]
    assert not holds([fails, x < y], AT)


@pytest.mark.parametrize(
    "term",
    [uninterpreted("u_log", y), uninterpreted("u_unheard_of", x), 1 / (x - x), z3.ForAll([y], y > x), x**y],
    ids=["outside its domain", "unknown function", "division by zero", "a quantifier", "unknown operator"],
)
def test_what_has_no_value_is_undecided(term):
    with pytest.raises(Undecided):
        enclose(term, AT)
    assert not holds([term] if z3.is_bool(term) else [term == 0], AT)


def test_terms_that_differ_are_apart_and_equal_ones_are_not():
    assert apart(x + y, x - y, AT) is not None
    assert apart((x + y) * (x - y), x * x - y * y, AT) is None
    assert apart(x > y, x < y, AT) == (True, False)


def test_everything_is_forgotten_when_there_is_too_much(monkeypatch):
    monkeypatch.setattr(enclosures, "MOST_NODES", 50)
    for i in range(100):
        assert holds([x + real(i) == real(AT["x"] + i)], AT)
        assert len(enclosures._read) <= 50 + 7
