"""The trusted base: few, named, executed on numbers, unchanged unless somebody means it; and the normal form it serves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pytest
import z3
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from checkers.smt.enclosures import Undecided, enclose
from checkers.smt.inquiry import Judgment
from checkers.smt.solver import UNSAT, Answer
from checkers.smt.terms import uninterpreted
from checkers.verdict import Unknown
from proofs import TRUSTED, Axiom, Obligation, discharge, obligations
from proofs.calculus import DERIVATIVES
from proofs.certify import read
from proofs.foundations import read_as, rests_on, users
from proofs.normal_form import equal
from proofs.run import chosen, outcome
from proofs.trusted import MOST, failures, listing
from semantics.primitives.table import ROWS

# What is assumed. Change it only together with the axiom, and say why in the change.
_SNAPSHOT = """
slope inverse pieces exp_sum exp_slope exp_positive log_inverse sin_sum cos_sum sin_slope cos_slope circle roots tangent hyperbolic
inverse_hyperbolic shifted logarithm_bases asin_inverse acos_inverse atan_inverse polar erf_integral real_power pi
"""
SNAPSHOT = _SNAPSHOT.split()


def test_the_trusted_base_is_what_it_was() -> None:
    assert [axiom.name for axiom in TRUSTED] == SNAPSHOT
    assert len(TRUSTED) <= MOST == 25


def test_every_axiom_stands_in_numbers() -> None:
    assert failures() == []


def test_a_false_axiom_falls_in_numbers() -> None:
    named = {axiom.name: axiom for axiom in TRUSTED}
    for left, right in (("exp_sum", "sin_sum"), ("circle", "tangent"), ("hyperbolic", "inverse_hyperbolic")):
        mixed = replace(named[left], claims=partial(_crossed, named[left], named[right]))
        assert mixed.failures()


def _crossed(a: Axiom, b: Axiom, at: arb) -> Iterator[tuple[arb, arb]]:
    """The left sides of one axiom with the right sides of another."""
    yield from ((s, t) for (s, _), (_, t) in zip(a.claims(at), b.claims(at), strict=False))


NAMES = {axiom.name for axiom in TRUSTED}


def test_obligations_use_only_axioms_that_exist() -> None:
    found = obligations()
    assert {use for o in found for use in o.uses} <= NAMES
    assert len({o.name for o in found}) == len(found)


def resting(name: str) -> set[str]:
    """The axioms on which an obligation rests."""
    ((family, obligation),) = chosen([name])
    return {*outcome(family, obligation, discharge(obligation)).axioms}


@pytest.mark.parametrize(
    ("name", "axioms"),
    [
        ("backpropagator of mul", "slope"),
        ("backpropagator of exp", "slope exp_sum exp_slope exp_positive"),
        ("backpropagator of log", "slope inverse exp_sum exp_slope log_inverse"),
        ("backpropagator of tan", "slope sin_sum cos_sum sin_slope cos_slope circle tangent"),
        ("backpropagator of asinh", "slope inverse exp_sum exp_slope log_inverse roots inverse_hyperbolic"),
        ("backpropagator of erf", "slope exp_sum exp_slope exp_positive roots erf_integral pi"),
        ("backpropagator of floor", "slope pieces"),
        ("rule x * 1.0 -> x", ""),
        ("rule exp(log(x)) -> x", "exp_sum exp_positive log_inverse"),
        ("rule sqrt(x) * sqrt(x) -> x", "roots"),
    ],
)
def test_an_obligation_rests_on_the_axioms_of_what_it_reads(name: str, axioms: str) -> None:
    assert resting(name) == {*axioms.split()}


def test_an_axiom_that_does_not_exist_is_not_lost() -> None:
    ((_, obligation),) = chosen(["backpropagator of mul"])
    assert "continuum" in rests_on(replace(obligation, uses=("continuum",)), Judgment("mul", "none", Unknown("")))


def test_a_question_that_names_a_function_rests_on_what_is_assumed_of_it() -> None:
    said = Judgment("anything", "z3", Unknown(""), 0.0, (Answer(UNSAT, smt2="(assert (= u_erf!0 (to_int u_sin!1)))"),))
    claim = Obligation("anything", "anything", lambda: said)
    assert {*rests_on(claim, said)} == {"erf_integral", "sin_sum", "circle", "pieces"}
    assert {*rests_on(claim, said, calculus=True)} >= {"slope", "sin_slope", "cos_slope"}


def test_every_function_that_has_a_name_of_its_own_has_an_axiom() -> None:
    spoken = {name for axiom in TRUSTED for name in (*axiom.functions, *axiom.slopes)}
    assert {*DERIVATIVES, "u_pi"} <= spoken
    assert {*DERIVATIVES} <= {name for axiom in TRUSTED for name in axiom.functions}
    defined = {name for axiom in TRUSTED for name in axiom.defines}
    renamed = {p.name for p in ROWS if (found := read_as(p.name)) and f"u_{p.name}" not in found}
    assert renamed <= defined


def test_the_users_of_an_axiom_are_counted() -> None:
    used = users([("a", ("slope", "pi")), ("b", ("slope",))])
    assert used["slope"] == ["a", "b"]
    assert used["pi"] == ["a"]
    assert used["circle"] == []


def test_every_axiom_is_used_by_somebody() -> None:
    certificates, _ = read()
    used = users((c.obligation, c.axioms) for c in certificates)
    assert {name for name, obligations in used.items() if obligations} == NAMES


def test_the_cube_root_of_a_negative_number_is_executed_too() -> None:
    (roots,) = [axiom for axiom in TRUSTED if axiom.name == "roots"]
    assert any(left < 0 for left, _ in roots.claims(arb(8)))


def test_the_command_prints_every_axiom_with_its_users(adjudge) -> None:
    code, out, _ = adjudge("prove", "--trusted")
    assert code == 0
    assert all(axiom.name in out and axiom.statement.split(" ")[0] in out for axiom in TRUSTED)
    rows = json.loads(adjudge("prove", "--trusted", "--json")[1])
    assert [row["name"] for row in rows] == SNAPSHOT
    assert "backpropagator of exp" in next(row["used by"] for row in rows if row["name"] == "exp_slope")


def test_the_listing_has_a_line_per_axiom() -> None:
    assert len(listing().splitlines()) == len(TRUSTED)


# the normal form

x, y, z = z3.Reals("x y z")


def exp(t: z3.ArithRef) -> z3.ArithRef:
    return uninterpreted("u_exp", t)


def sqrt(t: z3.ArithRef) -> z3.ArithRef:
    return uninterpreted("u_sqrt", t)


def log(t: z3.ArithRef) -> z3.ArithRef:
    return uninterpreted("u_log", t)


def sin(t: z3.ArithRef) -> z3.ArithRef:
    return uninterpreted("u_sin", t)


def cos(t: z3.ArithRef) -> z3.ArithRef:
    return uninterpreted("u_cos", t)


EQUAL = [
    ((x + y) * (x - y), x * x - y * y),
    (1 / (1 / x), x),
    (x / y + z / y, (x + z) / y),
    (1 / x - 1 / (x + 1), 1 / (x * (x + 1))),
    (exp(x + y), exp(x) * exp(y)),
    (exp(2 * x - y), exp(x) * exp(x) / exp(y)),
    (exp(x / 2) * exp(y / 2), exp(x / 2 + y / 2)),
    (exp(log(x) + y), x * exp(y)),
    (exp(-3 * log(x)), 1 / (x * x * x)),
    (sqrt(x) * sqrt(x), x),
    (1 / sqrt(x), sqrt(x) / x),
    (sqrt((1 - x) * (1 + x)), sqrt(1 - x * x)),
    (sin(x) * sin(x), 1 - cos(x) * cos(x)),
    (cos(-x), cos(x)),
    (sin(y - x), -sin(x - y)),
    (exp(x) / (exp(x) + exp(y)), 1 / (1 + exp(y - x))),
]
UNEQUAL = [(x, y), (x + 1, x), (exp(x), exp(y)), (sqrt(x * x), x), (sin(x), cos(x)), (x * y, x / y), (exp(x) + exp(y), exp(x + y))]


@pytest.mark.parametrize(("a", "b"), EQUAL, ids=str)
def test_equal_terms_have_one_normal_form(a: z3.ArithRef, b: z3.ArithRef) -> None:
    assert equal(a, b)
    assert not equal(a, b + 1)


@pytest.mark.parametrize(("a", "b"), UNEQUAL, ids=str)
def test_unequal_terms_are_not_called_equal(a: z3.ArithRef, b: z3.ArithRef) -> None:
    assert not equal(a, b)


def test_division_by_zero_proves_nothing() -> None:
    zero = x - x
    assert not equal(1 / zero, 2 / zero)
    assert not equal(x / (sqrt(y) * sqrt(y) - y), z)


LEAVES = st.sampled_from([x, y, z3.RealVal(2), z3.RealVal("1/3"), z3.RealVal(-1)])


def _grow(inner: st.SearchStrategy[z3.ArithRef]) -> st.SearchStrategy[z3.ArithRef]:
    two = st.tuples(inner, inner)
    return st.one_of(
        two.map(lambda p: p[0] + p[1]),
        two.map(lambda p: p[0] * p[1]),
        two.map(lambda p: p[0] - p[1]),
        two.map(lambda p: p[0] / (p[1] * p[1] + 1)),
        inner.map(sin),
        inner.map(cos),
        inner.map(lambda t: sqrt(t * t + 1)),
        inner.map(lambda t: exp(t / 4)),
    )


TERMS = st.recursive(LEAVES, _grow, max_leaves=6)


@given(TERMS, TERMS, st.fractions(-2, 2, max_denominator=8), st.fractions(-2, 2, max_denominator=8))
def test_what_the_normal_form_calls_equal_overlaps_in_numbers(a: z3.ArithRef, b: z3.ArithRef, p: object, q: object) -> None:
    for left, right in ((a, b), ((a + b) * (a - b), a * a - b * b), (a * b - b * a, z3.RealVal(0))):
        if equal(left, right):
            try:
                first, second = (enclose(t, {"x": p, "y": q}) for t in (left, right))  # type: ignore[dict-item]
            except Undecided:
                continue
            assert first.overlaps(second)
