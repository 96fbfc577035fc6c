"""J of the backpropagators of rows on arrays gives their second derivatives; what is right at first order only is found out."""

from __future__ import annotations

from collections import ChainMap
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkers.smt import index_form as forms
from checkers.smt.index_form import Factor, NotReachedError
from checkers.smt.index_places import plus
from checkers.smt.index_values import array
from checkers.verdict import Proved, Refuted, Unknown, Vacuous
from proofs.arrays import bounded_obligations, compositions, judge, obligations, second_order, second_order_claims
from proofs.arrays.adjoints import rule_of
from proofs.arrays.kernel import kernel, settled
from proofs.arrays.kinds import examples
from proofs.arrays.second_order_claims import judge_composed, kinds
from proofs.arrays.second_order_replay import refuted
from proofs.arrays.truths import decided, outcomes, truths
from semantics.ir import Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import ROWS, TABLE
from transforms.backpropagators import NAMES
from transforms.parse import parse_text

EVERY = 1 if settings.get_current_profile_name() == "deep" else 9
ALL_SHAPES = [o.subject for o in second_order_claims.obligations(ROWS) if o.subject not in compositions.SOURCES]
BOUNDED = [o.subject for o in second_order_claims.bounded_obligations(ROWS)]
# elimination on terms takes seconds a row, and so do choices within choices
SLOW = ("pow", "logaddexp", "logsumexp", "solve", "slogdet", "det", "inv", "reduce_prod", "cholesky", "recurrence")
QUICK = [n for n in BOUNDED if EVERY == 1 or n not in SLOW]


@pytest.mark.parametrize("name", [n for n in ALL_SHAPES[4::EVERY] if EVERY == 1 or n not in SLOW])
def test_j_of_a_rule_is_the_second_derivative_for_all_shapes(name: str) -> None:
    verdict = second_order_claims.judge(TABLE[name]).verdict
    assert isinstance(verdict, Proved), verdict


@pytest.mark.parametrize("name", QUICK)
def test_j_of_a_rule_is_the_second_derivative_up_to_the_bound(name: str) -> None:
    verdict = second_order_claims.judge(TABLE[name], up_to_bound=True).verdict
    assert isinstance(verdict, Proved), verdict


@pytest.mark.parametrize("name", compositions.SOURCES)
def test_j_of_the_pullback_of_a_textbook_is_proved_for_every_length(name: str) -> None:
    verdict = judge_composed(name).verdict
    assert isinstance(verdict, Proved), verdict


def test_every_row_that_is_judged_at_first_order_is_judged_at_second() -> None:
    first = {o.subject for o in (*obligations(ROWS), *bounded_obligations(ROWS))}
    second = {o.subject for o in (*second_order_claims.obligations(ROWS), *second_order_claims.bounded_obligations(ROWS))}
    assert first == second


def test_rows_are_judged_up_to_three_axes_but_for_two_that_are_judged_up_to_two() -> None:
    fewer = {name for name in ALL_SHAPES if kinds(name) != examples(name)}
    assert fewer == second_order_claims.MATRICES
    assert {len(e[0].shape) for e in kinds("norm")} == {1, 2}


# wrong rules


def rule(text: str) -> Program:
    return parse_text(text, "wrong", "<wrong>", NAMES)


def with_wrong(name: str, text: str) -> Primitive:
    """A row of the same meaning with another backpropagator."""
    row = TABLE[name]
    return replace(row, columns=ChainMap({"backpropagator": rule(text)}, row.columns))  # type: ignore[arg-type]


def with_row_in_it(name: str, inner: Primitive) -> Program:
    """The shipped rule of a row, with another primitive where it applies one of that name."""
    shipped = rule_of(TABLE[name], len(TABLE[name].parameters))
    constants = {n: c for n, c in shipped.nodes.items() if getattr(c, "value", None) is TABLE[inner.name]}
    assert constants
    return replace(shipped, nodes={**shipped.nodes, **{n: replace(c, value=inner) for n, c in constants.items()}})  # type: ignore[arg-type]


RIGHT_AT_FIRST_ORDER_ONLY = [
    ("reduce_sum", "spread", "def wrong(d, x, axis, keepdims, out, dout):\n    return ZERO, ZERO, ZERO, ZERO\n"),
    ("cumsum", "flip", "def wrong(x, axis, out, dout):\n    return sum_to(dout, x), ZERO\n"),
    ("norm", "div", "def wrong(x, y, out, dout):\n    return sum_to(dout / y, x), ZERO\n"),
    ("mul", "mul", "def wrong(x, y, out, dout):\n    return sum_to(dout * y, x), sum_to(dout * y, y)\n"),
]


@pytest.mark.parametrize(("name", "inner", "text"), RIGHT_AT_FIRST_ORDER_ONLY, ids=[n for n, _, _ in RIGHT_AT_FIRST_ORDER_ONLY])
def test_a_rule_made_of_a_row_whose_own_rule_is_wrong_is_refuted_at_second_order_only(name: str, inner: str, text: str) -> None:
    planted = with_row_in_it(name, with_wrong(inner, text))
    assert isinstance(judge(TABLE[name], planted).verdict, Proved)
    verdict = second_order_claims.judge(TABLE[name], planted).verdict
    assert isinstance(verdict, Refuted), verdict
    assert "is not the second derivative" in verdict.counterexample.cause


WRONG = [
    ("exp", "def wrong(x, out, dout):\n    return (sum_to(dout * x, x),)\n"),
    ("mul", "def wrong(x, y, out, dout):\n    return sum_to(dout * x, x), sum_to(dout * y, y)\n"),
    ("mean", "def wrong(x, axis, keepdims, out, dout):\n    return sum_to(spread(dout, x, axis, keepdims), x), ZERO, ZERO\n"),
    ("norm", "def wrong(x, axis, keepdims, out, dout):\n    return sum_to(spread(dout, x, axis, keepdims) * x, x), ZERO, ZERO\n"),
    ("flip", "def wrong(x, axis, out, dout):\n    return sum_to(dout, x), ZERO\n"),
    ("sort", "def wrong(x, axis, out, dout):\n    return sum_to(reshape(dout, shape(x)), x), ZERO\n"),
]


@pytest.mark.parametrize(("name", "text"), WRONG, ids=[n for n, _ in WRONG])
def test_a_rule_that_is_wrong_at_first_order_is_refuted_by_an_executed_instance(name: str, text: str) -> None:
    verdict = second_order_claims.judge(TABLE[name], rule(text)).verdict
    assert isinstance(verdict, Refuted), verdict
    assert {"x0", "w", "u0"} <= set(verdict.counterexample.inputs)


def test_a_wrong_rule_is_refuted_up_to_the_bound_too() -> None:
    text = "def wrong(t, i, v, out, dout):\n    return put(dout, i, ZERO), ZERO, sum_to(getitem(dout, i), v)\n"
    everywhere, bound = (second_order_claims.judge(TABLE["put"], rule(text), up_to_bound=b).verdict for b in (False, True))
    assert isinstance(everywhere, Proved)  # right wherever no element is written twice
    assert isinstance(bound, Refuted)


@pytest.mark.parametrize("name", ["exp", "log", "getitem", "matmul", "concatenate", "logsumexp", "acosh"])
def test_the_shipped_rule_is_right_where_its_second_order_is_executed(name: str) -> None:
    some = kinds(name)[:4]
    assert refuted(TABLE[name], some, rule_of(TABLE[name], len(some[0]))) is None


def test_nothing_is_claimed_of_no_arguments() -> None:
    assert isinstance(second_order.judge(TABLE["reduce_prod"], []).verdict, Vacuous)


def test_a_rule_that_index_forms_do_not_read_is_unknown() -> None:
    """A range that starts at 1 has no form; the rule is right all the same."""
    text = "def wrong(x, axis, keepdims, out, dout):\n    none = reduce_sum(arange(1, 2, 1) * 0.0, None, False)\n"
    odd = rule(text + "    return none + sum_to(spread(dout, x, axis, keepdims), x), ZERO, ZERO\n")
    assert isinstance(second_order_claims.judge(TABLE["reduce_sum"], odd).verdict, Unknown)


# kernels of three arrays, and comparisons


def test_a_form_that_is_linear_in_three_arrays_has_a_kernel_at_three_places() -> None:
    """Σk w[k] u[k] v[k] and Σk w[k] v[k] u[k] have one kernel, [q = p][r = p]."""
    w, u, v = (array(name, "f64", ("n",)) for name in "wuv")
    sizes = {"p0": "n", "q0": "n", "r0": "n"}
    whole = forms.summed(forms.multiply(forms.multiply(w.at(("k",)), u.at(("k",))), v.at(("k",))), "k", "n")
    found = settled(kernel(whole, {"p": "w", "q": "v", "r": "u"}, sizes))
    first, second = (forms.holds("eq", plus(i, "p0", -1)) for i in ("q0", "r0"))
    (product,), (wanted,) = found.terms, forms.multiply(first, second).terms
    assert {f for f in product[0].factors if f.parts[0].kind == "eq"} == {*wanted[0].factors}
    chained = forms.multiply(forms.holds("eq", plus("q0", "r0", -1)), second)
    assert settled(chained) == forms.multiply(first, second)
    with pytest.raises(NotReachedError, match="linear"):
        kernel(forms.multiply(w.at((0,)), v.at((0,))), {"p": "w", "q": "v", "r": "u"}, sizes)


def test_equations_that_cannot_be_met_leave_nothing() -> None:
    both = forms.multiply(forms.holds("eq", plus("q0", "p0", -1)), forms.holds("eq", plus(plus("q0", 1), "p0", -1)))
    assert not settled(both).terms
    assert settled(forms.holds("eq", plus("q0", "p0", -1))).terms


x, y = (forms.single(Factor("entry", name)) for name in "xy")


def test_of_two_forms_one_relation_holds_at_most_and_numbers_compare_as_they_do() -> None:
    less, more, equal = (Factor("truth", "lt", (x, y)), Factor("truth", "lt", (y, x)), Factor("truth", "eq", (x, y)))
    found = [tuple(o.values()) for o in outcomes([less, more, equal])]
    assert sorted(found) == [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0)]
    number = Factor("truth", "eq", (forms.constant(1), forms.constant(2)))
    assert [tuple(o.values()) for o in outcomes([number])] == [(0,)]


def test_a_comparison_of_what_another_chooses_turns_out_as_that_does() -> None:
    """[(1 if x = 0 else x) = y] is [1 = y] where x is 0, and [x = y] elsewhere."""
    zero = Factor("truth", "eq", tuple(sorted((x, forms.constant(0)), key=repr)))
    chosen = forms.add(forms.single(zero), x, forms.scaled(forms.multiply(forms.single(zero), x), -1))
    nested, plain = (Factor("truth", "eq", tuple(sorted((a, y), key=repr))) for a in (chosen, x))
    found = [tuple(o.values()) for o in outcomes([zero, nested, plain])]
    assert (0, 1, 1) in found
    assert not {(0, 0, 1), (0, 1, 0)} & set(found)


@given(st.lists(st.tuples(st.sampled_from(["lt", "eq"]), st.booleans()), min_size=1, max_size=3, unique=True))
def test_a_form_whose_comparisons_are_decided_has_none(chosen: list[tuple[str, bool]]) -> None:
    form = x
    for name, swapped in chosen:
        parts = (y, x) if swapped else (x, y)
        form = forms.add(forms.multiply(forms.single(Factor("truth", name, parts)), y), forms.call("exp", form))
    for values in outcomes(sorted(truths(form), key=repr)):
        assert not truths(decided(form, values))
