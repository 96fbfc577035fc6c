"""
Backpropagators of rows on arrays: <w, D f v> = <rule(w), v> for all shapes, or where index forms do not reach up to a stated bound.

    LEMMAS              what index forms rest on, by induction over sizes
    obligations(rows)   one claim for each row with a rule, for all shapes, and one for each that is judged up to a bound; and the
                        pullbacks of softmax and its kin
    judge(row, rule)    the same of any rule for a row of the table: Proved, Refuted by an executed instance, or Unknown
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from checkers.smt.inquiry import Judgment
from checkers.verdict import Proved, Refuted
from proofs.arrays import adjoints, bounded, compositions
from proofs.arrays.adjoints import rule_of
from proofs.arrays.kinds import examples
from proofs.arrays.lemmas import LEMMAS
from proofs.arrays.replay import refutation
from proofs.obligation import Obligation
from semantics.ir import Program
from semantics.primitives.row import Hole, Primitive
from transforms.backpropagators import find

__all__ = ["LEMMAS", "judge", "obligations"]

USES: dict[str, tuple[str, ...]] = {
    "logsumexp": ("slope", "exp_sum", "exp_slope", "log_inverse", "inverse"),
    "norm": ("slope", "roots"),
    "slogdet": ("slope", "log_inverse", "exp_sum", "exp_slope", "inverse"),
    "cholesky": ("slope", "roots"),
}
"""The axioms of functions that rows on arrays are made of; an elementwise row rests on what its rule on numbers rests on."""


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
    """The claims about the rows that have a rule and an array among the arguments at which they are judged."""
    found = []
    for row in rows:
        if isinstance(find(row), Hole):
            continue
        uses = USES.get(row.name, ("slope",))
        if examples(row.name):
            found.append(Obligation(f"{row.name} on arrays: adjoint, all shapes", row.name, partial(judge, row), uses))
        if row.name in bounded.EXAMPLES:
            name = f"{row.name} on arrays: adjoint, sizes up to {bounded.MOST}"
            found.append(Obligation(name, row.name, partial(judge, row, up_to_bound=True), uses))
    return [*found, *compositions.OBLIGATIONS]
