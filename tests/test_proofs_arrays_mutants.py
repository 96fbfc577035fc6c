"""Wrong backpropagators of rows on arrays are refuted at a small shape that is executed, and the shipped ones are not."""

from __future__ import annotations

import pytest
from mutants.arrays import MUTANTS, Wrong

from checkers.verdict import Proved, Refuted, Vacuous
from proofs.arrays import bounded, judge
from proofs.arrays.adjoints import rule_of
from proofs.arrays.kinds import examples
from proofs.arrays.replay import refutation
from semantics.primitives.table import TABLE
from transforms.backpropagators import NAMES
from transforms.parse import parse_text


def judged(name: str, text: str):  # type: ignore[no-untyped-def]
    """The verdicts on a rule as Python, for all shapes and up to the bound, where the row is judged so."""
    rule = parse_text(text, "wrong", "<wrong>", NAMES)
    row = TABLE[name]
    found = [judge(row, rule).verdict] if examples(name) else []
    return [*found, *([judge(row, rule, up_to_bound=True).verdict] if name in bounded.EXAMPLES else [])]


@pytest.mark.parametrize("wrong", MUTANTS, ids=str)
def test_a_planted_bug_is_refuted_by_an_executed_instance(wrong: Wrong) -> None:
    verdicts = judged(wrong.row, wrong.text)
    refuted = [v for v in verdicts if isinstance(v, Refuted)]
    assert refuted, verdicts
    assert all(v.counterexample.inputs for v in refuted)


def test_a_repeated_index_is_judged_up_to_the_bound_only() -> None:
    """Right wherever no element is written twice: only the bounded claim, which repeats indices, can refute it."""
    text = "def wrong(t, i, v, out, dout):\n    return put(dout, i, ZERO), ZERO, sum_to(getitem(dout, i), v)\n"
    everywhere, bound = judged("put", text)
    assert isinstance(everywhere, Proved)
    assert isinstance(bound, Refuted)


SUBTLE = {
    "a boundary": ("cumsum", "x, axis", "sum_to(flip(cumsum(flip(dout, axis), axis), axis) - dout, x), ZERO"),
    "the other triangle": ("tril", "x, k", "sum_to(triu(dout, k), x), ZERO"),
    "the next diagonal": ("tril", "x, k", "sum_to(tril(dout, k + 1), x), ZERO"),
    "the way of a roll": ("roll", "x, by, axis", "sum_to(roll(dout, by, axis), x), ZERO, ZERO"),
    "no renormalisation": ("logsumexp", "x, axis, keepdims", "sum_to(spread(dout, x, axis, keepdims) * x, x), ZERO, ZERO"),
    "the length forgotten": ("norm", "x, axis, keepdims", "sum_to(spread(dout, x, axis, keepdims) * x, x), ZERO, ZERO"),
    "the smallest": (
        "reduce_max",
        "x, axis, keepdims",
        "returned(dout, take_along(grouped(places(x), axis), expand_dims(argmin(grouped(x, axis), -1), -1), -1), x), ZERO, ZERO",
    ),
}


@pytest.mark.parametrize("name", SUBTLE)
def test_a_subtle_bug_is_refuted(name: str) -> None:
    row, parameters, result = SUBTLE[name]
    (verdict,) = judged(row, f"def wrong({parameters}, out, dout):\n    return {result}\n")
    assert isinstance(verdict, Refuted), verdict


@pytest.mark.parametrize("name", ["reduce_sum", "getitem", "concatenate", "matmul", "sort", "logsumexp"])
def test_the_shipped_rule_is_right_where_it_is_executed(name: str) -> None:
    """The hypotheses of the proof are met there: a counterexample would be found if there were one."""
    kinds = examples(name)
    assert refutation(TABLE[name], kinds, rule_of(TABLE[name], len(kinds[0]))) is None


def test_nothing_is_claimed_of_no_arguments() -> None:
    assert isinstance(judge(TABLE["reduce_prod"]).verdict, Vacuous)
