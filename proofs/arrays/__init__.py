"""
Backpropagators of rows on arrays: <w, D f v> = <rule(w), v> for all shapes, from a formula for the row or from an equation that it
solves (`by_equation`), or where index forms do not reach up to a stated bound.

    LEMMAS              what index forms rest on, by induction over sizes
    obligations(rows)   one claim for each row, for all shapes; and for the pullbacks of softmax and its kin
    bounded_obligations(rows)    one claim for each row that is judged up to a bound
    judge(row, rule)    the same of any rule for a row of the table: Proved, Refuted by an executed instance, or Unknown

Second derivatives are in `second_order_claims`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from checkers.smt.inquiry import Judgment
from checkers.verdict import Proved, Refuted
from proofs.arrays import adjoints, bounded, by_equation, compositions
from proofs.arrays.adjoints import USES, rule_of
from proofs.arrays.kinds import examples
from proofs.arrays.lemmas import LEMMAS
from proofs.arrays.replay import refutation
from proofs.obligation import Obligation
from semantics.ir import Program
from semantics.primitives.row import Primitive

__all__ = ["LEMMAS", "bounded_obligations", "judge", "obligations"]


def judge(row: Primitive, rule: Program | None = None, up_to_bound: bool = False) -> Judgment:
    """The adjoint identity of one rule, the shipped one if none is given: for all shapes, or up to the bound."""
    kinds = bounded.EXAMPLES[row.name] if up_to_bound else examples(row.name)
    found = bounded.judge(row, kinds, rule) if up_to_bound else adjoints.judge(row, kinds, rule)
    if isinstance(found.verdict, Proved) or not kinds:
        return found
    counterexample = refutation(row, kinds, rule or rule_of(row, len(kinds[0])))
    if counterexample is None:
        return found
    return replace(found, method="executed", verdict=Refuted(counterexample, claim=found.name))


def obligations(rows: Iterable[Primitive]) -> list[Obligation]:
    """The claims for all shapes, about the rows that have an array among the arguments at which they are judged."""
    found = [
        Obligation(f"{row.name} on arrays: adjoint, all shapes", row.name, partial(judge, row), USES.get(row.name, ("slope",)))
        for row in rows
        if examples(row.name)
    ]
    return [*found, *by_equation.OBLIGATIONS, *compositions.OBLIGATIONS]


def bounded_obligations(rows: Iterable[Primitive]) -> list[Obligation]:
    """The claims up to a bound."""
    name = "{} on arrays: adjoint, sizes up to {}".format
    return [
        Obligation(name(row.name, bounded.MOST), row.name, partial(judge, row, up_to_bound=True), USES.get(row.name, ("slope",)))
        for row in rows
        if row.name in bounded.EXAMPLES
    ]
