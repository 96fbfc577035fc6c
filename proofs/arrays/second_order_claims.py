"""
What is claimed of second derivatives on arrays: of every row that is judged at first order, by the same kinds of arguments.

    judge(row, rule)             J of any rule for a row: Proved, Refuted by an executed instance, or Unknown; for all shapes
    obligations(rows)            one claim for each row, and for the pullbacks of softmax and its kin, for all shapes
    bounded_obligations(rows)    one claim for each row that index forms do not reach, up to the bound
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from checkers.smt.inquiry import Judgment
from checkers.verdict import Proved, Refuted
from proofs.arrays import bounded, compositions, second_order, second_order_bounded
from proofs.arrays.adjoints import USES, rule_of
from proofs.arrays.instances import A, Example
from proofs.arrays.kinds import examples
from proofs.arrays.second_order_replay import refuted
from proofs.obligation import Obligation
from semantics.ir import Program
from semantics.primitives.row import Primitive

MATRICES = frozenset({"logsumexp", "norm"})
"""Rows judged up to two axes: with three, their second derivatives are sums over more indices than a form has names for."""


def kinds(name: str) -> list[Example]:
    """The kinds of arguments at which the second order of a row is judged; those of the first order, for a few up to two axes."""
    found = examples(name)
    if name not in MATRICES:
        return found
    return [e for e in found if not any(isinstance(a, A) and len(a.shape) > 2 for a in e)]


def bounded_kinds(name: str) -> list[Example]:
    """Those up to the bound: of solve a vector alone, since a matrix of one column has the same entries."""
    return [e for e in bounded.EXAMPLES[name] if name != "solve" or e[1] == bounded.VECTOR]


def judge(row: Primitive, rule: Program | None = None, up_to_bound: bool = False) -> Judgment:
    """Whether J of a rule, the shipped one if none is given, is the second derivative of its row."""
    chosen = bounded_kinds(row.name) if up_to_bound else kinds(row.name)
    found = second_order_bounded.judge(row, chosen, rule) if up_to_bound else second_order.judge(row, chosen, rule)
    if isinstance(found.verdict, Proved) or not chosen:
        return found
    counterexample = refuted(row, chosen, rule or rule_of(row, len(chosen[0])))
    if counterexample is None:
        return found
    return replace(found, method="executed", verdict=Refuted(counterexample, claim=found.name))


def judge_composed(name: str) -> Judgment:
    """The same of a textbook's pullback of a function that is a program of rows."""
    function, back = compositions.composed(name)
    return second_order.judge(function, compositions.KINDS, back)


def obligations(rows: Iterable[Primitive]) -> list[Obligation]:
    """The claims for all shapes."""
    found = [
        Obligation(second_order.claim(row), row.name, partial(judge, row), USES.get(row.name, ("slope",)))
        for row in rows
        if kinds(row.name)
    ]
    composed = [
        Obligation(second_order.claim(compositions.composed(o.subject)[0]), o.subject, partial(judge_composed, o.subject), o.uses)
        for o in compositions.OBLIGATIONS
    ]
    return [*found, *composed]


def bounded_obligations(rows: Iterable[Primitive]) -> list[Obligation]:
    """The claims up to the bound."""
    return [
        Obligation(second_order_bounded.claim(row), row.name, partial(judge, row, up_to_bound=True), USES.get(row.name, ("slope",)))
        for row in rows
        if row.name in bounded.EXAMPLES
    ]
