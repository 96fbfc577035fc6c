"""Rows that are known by an equation are proved for all sizes, from the equation; and rules that use another one are refuted."""

from __future__ import annotations

import pytest

from checkers.verdict import Proved, Refuted
from proofs.arrays.bilinear import inner, named, same, times
from proofs.arrays.by_equation import KINDS, OBLIGATIONS, judge
from proofs.arrays.kernel import possible
from semantics.primitives.table import TABLE
from transforms.backpropagators import NAMES
from transforms.parse import parse_text


@pytest.mark.parametrize("obligation", OBLIGATIONS, ids=lambda o: o.subject)
def test_every_row_with_an_equation_is_proved(obligation) -> None:
    verdict = obligation.judge().verdict
    assert isinstance(verdict, Proved), verdict


SOLVED = "t = swap_last(out)\n    s = swap_last(solve(t, swap_last(solve(t, {}))))\n    "
ARRIVING = "s = solve({}, dout) if ndim(b) > 1 else squeeze(solve({}, expand_dims(dout, -1)), -1)\n    return ZERO, sum_to(s, b)"
WRONG = {
    "inv": {
        "the sign": "return (matmul(matmul(swap_last(out), dout), swap_last(out)),)",
        "no transpose": "return (-matmul(matmul(out, dout), out),)",
        "one factor": "return (-matmul(swap_last(out), dout),)",
    },
    "cholesky": {
        "the diagonal whole": SOLVED.format("tril(matmul(t, tril(dout, 0)), 0)") + "return (tril(s + swap_last(s), 0),)",
        "no triangle": SOLVED.format("matmul(t, dout)") + "return (s + swap_last(s),)",
        "one solve": "t = swap_last(out)\n    return (tril(solve(t, tril(matmul(t, tril(dout, 0)), 0)), 0),)",
    },
    "recurrence": {
        "the same direction": "s = recurrence(dout, c, axis, reverse)\n    return s, s * shift(out, 1, axis, 0), ZERO, ZERO",
        "not shifted": "s = recurrence(dout, c, axis, not reverse)\n    return s, s * out, ZERO, ZERO",
        "what flows is not added up": "return dout, dout * shift(out, 1, axis, 0), ZERO, ZERO",
    },
    "cumprod": {
        "0 in front": "s = recurrence(dout, x, axis, True)\n    return s * shift(out, 1, axis, 0), ZERO",
        "forwards": "s = recurrence(dout, x, axis, False)\n    return s * shift(out, 1, axis, 1), ZERO",
        "its own factor": "s = recurrence(dout, x, axis, True)\n    return s * out, ZERO",
    },
    "reduce_prod": {
        "all factors": "return spread(dout, x, axis, keepdims) * spread(out, x, axis, keepdims), ZERO, ZERO",
        "the factors before": "return spread(dout, x, axis, keepdims) * shift(cumprod(x, -1), 1, -1, 1), ZERO, ZERO",
        "one": "return spread(dout, x, axis, keepdims), ZERO, ZERO",
    },
    "solve": {
        "no transpose": ARRIVING.format("a", "a"),
        "the matrix has none": ARRIVING.format("swap_last(a)", "swap_last(a)"),
        "nothing is solved": "return ZERO, sum_to(dout, b)",
    },
}


@pytest.mark.parametrize(("name", "fault"), [(name, fault) for name, faults in WRONG.items() for fault in faults])
def test_a_rule_that_uses_another_equation_is_refuted(name: str, fault: str) -> None:
    parameters = ", ".join([*TABLE[name].parameters, "out", "dout"])
    rule = parse_text(f"def wrong({parameters}):\n    {WRONG[name][fault]}\n", "wrong", "<wrong>", NAMES)
    verdict = judge(TABLE[name], rule).verdict
    assert isinstance(verdict, Refuted), verdict
    assert verdict.counterexample.found != verdict.counterexample.wanted


def test_every_row_is_judged_at_several_kinds_of_arguments() -> None:
    assert {name: len(kinds) >= 2 for name, kinds in KINDS.items()} == dict.fromkeys(KINDS, True)


def test_forms_that_differ_leave_a_question_open() -> None:
    x, y, c = (named(name, ("n", "n")) for name in "xyc")
    of_x, of_y = ("x", x.shape), ("y", y.shape)
    assert list(same(inner(times(c, x), y), inner(x, times(c, y)), of_x, of_y)) == []
    found = list(same(inner(times(c, x), y), inner(x, times(times(c, c), y)), of_x, of_y))
    assert found
    assert all(map(possible, found))
