"""Backpropagators of rows on arrays are proved for all shapes, or up to a bound; what that rests on is proved by induction."""

from __future__ import annotations

import pytest
import z3
from hypothesis import settings

from checkers.smt import index_form as forms
from checkers.smt.index_form import NotReachedError
from checkers.smt.index_places import Lookup, extent, plus
from checkers.smt.index_values import array, number
from checkers.smt.solver import UNSAT, solve
from checkers.verdict import Proved, Unknown
from proofs.arrays import LEMMAS, adjoints, bounded, bounded_obligations, compositions, judge, obligations
from proofs.arrays.course import Course, positive
from proofs.arrays.kernel import Comparison, derivative, kernel, possible, settled
from proofs.arrays.kinds import examples
from proofs.arrays.reading import read
from semantics.primitives.row import Hole
from semantics.primitives.table import ELEMENTWISE, ROWS, TABLE
from semantics.text import read as read_text
from transforms.backpropagators import find

EVERY = 1 if settings.get_current_profile_name() == "deep" else 9
ALL_SHAPES = [row.name for row in ROWS if examples(row.name) and not isinstance(find(row), Hole)]
# elimination on terms takes seconds a row
QUICK = [n for n in bounded.EXAMPLES if EVERY == 1 or n not in ("solve", "slogdet", "det", "inv", "reduce_prod")]


@pytest.mark.parametrize("name", ALL_SHAPES[3::EVERY])
def test_a_rule_is_the_adjoint_for_all_shapes(name: str) -> None:
    judgment = judge(TABLE[name])
    assert isinstance(judgment.verdict, Proved), judgment.verdict


@pytest.mark.parametrize("name", QUICK)
def test_a_rule_is_the_adjoint_up_to_the_bound(name: str) -> None:
    judgment = judge(TABLE[name], up_to_bound=True)
    assert isinstance(judgment.verdict, Proved), judgment.verdict


@pytest.mark.parametrize("lemma", LEMMAS, ids=lambda o: o.name)
def test_what_index_forms_rest_on_is_proved(lemma) -> None:  # type: ignore[no-untyped-def]
    judgment = lemma.judge()
    assert isinstance(judgment.verdict, Proved), judgment
    assert "(check-sat)" in judgment.smt2


def test_every_row_that_takes_arrays_and_has_a_rule_is_judged() -> None:
    """What is left has no sensitivity: attributes, orders and conditions."""
    judged = {o.subject for o in (*obligations(ROWS), *bounded_obligations(ROWS))}
    left = {p.name for p in ROWS if {"array"} & {*p.signature, p.result} and not isinstance(find(p), Hole)} - judged
    attributes = {"shape", "dtype", "array_size", "tensordot_subscripts", "arange", "eye"}
    assert left <= attributes | {"reduce_all", "reduce_any", "argmax", "argmin", "argsort"}
    assert {p for p in ELEMENTWISE if {"real", "number"} & {*TABLE[p].signature}} <= judged


# derivatives and kernels of forms


def test_the_derivative_of_a_sum_of_squares() -> None:
    x = array("x", "f64", ("n",))
    squares = forms.summed(forms.multiply(x.at(("i",)), x.at(("i",))), "i", "n")
    v = array("v", "f64", ("n",))
    wanted = forms.scaled(forms.summed(forms.multiply(x.at(("i",)), v.at(("i",))), "i", "n"), 2)
    assert derivative(squares, {"x": "v"}) == wanted
    assert derivative(forms.call("exp", squares), {"x": "v"}) == forms.multiply(wanted, forms.call("exp", squares))
    assert derivative(forms.inverse(squares), {"x": "v"}) == forms.scaled(
        forms.multiply(wanted, forms.multiply(forms.inverse(squares), forms.inverse(squares))), -1
    )
    assert not derivative(squares, {"y": "v"}).terms


def test_what_has_no_derivative_by_these_rules_is_not_reached() -> None:
    x = number("x")
    with pytest.raises(NotReachedError, match="derivative of sin"):
        derivative(forms.call("sin", x), {"x": "v"})


def test_a_form_that_is_not_linear_has_no_kernel() -> None:
    v, w = number("v"), number("w")
    for form in (v, forms.multiply(v, forms.multiply(v, w)), forms.multiply(forms.call("exp", v), w)):
        with pytest.raises(NotReachedError, match="linear"):
            kernel(form, {"p": "w", "q": "v"}, {})


def _differ(left, right, sizes) -> bool:  # type: ignore[no-untyped-def]
    """Whether z3 finds that two kernels may differ."""
    asked = list(Comparison(sizes).questions(settled(left), settled(right)))
    return any(solve("(set-logic ALL)\n" + _text(q)).status != UNSAT for q in asked)


def _text(assertions: list[z3.BoolRef]) -> str:
    solver = z3.Solver()
    solver.add(*assertions)
    return solver.to_smt2().replace("; benchmark generated from python API\n", "")


def test_kernels_are_compared_for_all_sizes() -> None:
    """[p = n - 1 - q] is [q = n - 1 - p], and not [p = q]."""
    sizes = {"p0": "n", "q0": "n"}
    back = plus(plus(extent("n"), 1, -1), "q0", -1)
    one, other = forms.holds("eq", plus("p0", back, -1)), forms.holds("eq", plus(back, "p0", -1))
    assert not _differ(one, other, sizes)
    assert _differ(one, forms.holds("eq", plus("p0", "q0", -1)), sizes)


def test_equal_places_of_an_array_of_indices_hold_equal_indices() -> None:
    sizes = {"p0": "k", "q0": "k", "q1": "n"}
    here, there = (Lookup("i", (at,), extent("n")) for at in ("p0", "q0"))
    same = forms.holds("eq", plus("p0", "q0", -1))
    left, right = (forms.multiply(same, forms.holds("eq", plus(i, "q1", -1))) for i in (here, there))
    assert not _differ(left, right, sizes)
    other = forms.holds("eq", plus(Lookup("j", ("q0",), extent("n")), "q1", -1))
    assert _differ(left, forms.multiply(same, other), sizes)


def test_facts_that_cannot_be_met_are_noticed() -> None:
    n, p = z3.Int("size_n"), z3.Int("p0")
    assert possible([p >= 0, p < n])
    assert not possible([p >= 0, p < n, n < 0])


# the reading


def test_a_sum_of_exponentials_is_positive_and_a_difference_is_not_known_to_be() -> None:
    x = array("x", "f64", ("n",)).at(("i",))
    total = forms.summed(forms.call("exp", x), "i", "n")
    assert positive(total)
    assert positive(forms.inverse(total))
    assert not positive(forms.add(total, forms.constant(-1)))
    assert not positive(x)
    assert not positive(forms.constant(0))


def test_a_choice_of_equal_sides_is_no_choice_and_zero_is_a_zero() -> None:
    program = read_text(
        "program @f\n@f(%c, %x):\n  %a = where(%c, %x, %x)\n  %b = where(%c, %x, ZERO)\n  %r = make_tuple(%a, %b)\n  return %r"
    )
    c, x = array("c", "bool", ("n",)), array("x", "f64", ("n",))
    same, kept = read(program, [c, x])
    assert same.at(("i",)) == x.at(("i",))
    assert kept.at(("i",)) == forms.multiply(c.at(("i",)), x.at(("i",)))


def test_a_distance_that_may_exceed_the_size_is_not_rolled() -> None:
    program = read_text("program @f\n@f(%x):\n  %r = roll(%x, 1, 0)\n  return %r")
    with pytest.raises(NotReachedError, match="below the size"):
        read(program, [array("x", "f64", ("n",))], Course())


def test_a_rule_that_needs_more_than_its_row_is_not_proved() -> None:
    """x / x is 1 only where x is not 0, and reduce_sum has a value everywhere."""
    text = "program @p\n@p(%x, %axis, %keep, %out, %d):\n  %s = spread(%d, %x, %axis, %keep)\n  %q = div(%x, %x)\n"
    rule = read_text(text + "  %m = mul(%s, %q)\n  %r = make_tuple(%m, ZERO, ZERO)\n  return %r")
    verdict = judge(TABLE["reduce_sum"], rule).verdict
    assert isinstance(verdict, Unknown)
    assert "undefined where the row is not" in verdict.reason


# functions made of rows


@pytest.mark.parametrize("name", compositions.SOURCES)
def test_the_pullback_of_a_textbook_is_proved_for_every_length(name: str) -> None:
    verdict = compositions.judge(name).verdict
    assert isinstance(verdict, Proved), verdict


def test_a_softmax_that_forgets_its_own_value_is_not_proved() -> None:
    function, _ = compositions.composed("softmax")
    wrong = compositions.program("wrong", "x, axis, out, dout", ("return out * (dout - reduce_sum(dout, axis, True)), ZERO",))
    assert isinstance(adjoints.judge(function, compositions.KINDS, wrong).verdict, Unknown)
