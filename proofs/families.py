"""
Everything that is claimed about what is shipped: families of obligations, one a module, in the order in which they are read.

A family is one kind of judgment. Its `column` names that judgment where the obligations of several families are about one subject,
as the first and the second order of a primitive are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from checkers.smt.ieee import Format
from proofs import (
    arrays,
    backpropagators,
    derived,
    lemmas,
    loops,
    modes,
    planted,
    recursion,
    rewrites,
    second_order,
    structural,
    structure_rows,
    totals,
)
from proofs.arrays import second_order_claims
from proofs.obligation import Obligation
from semantics.errors import Malformed
from semantics.primitives.table import ROWS
from transforms.simplify import EXACT_RULES, FAST_RULES, ZERO_RULES

Formats = tuple[Format, ...]
RULES = (*EXACT_RULES, *FAST_RULES, *ZERO_RULES)


@dataclass(frozen=True)
class Family:
    """
    name         of the family and of its file of certificates
    title        what is judged, in a few words
    column       the judgment, as the head of a column
    obligations  all of them; rewrite rules are taken to the formats given
    calculus     whether they are about derivatives, and so rest on what derivatives rest on
    """

    name: str
    title: str
    column: str
    obligations: Callable[[Formats], Sequence[Obligation]]
    calculus: bool = False


def _derived(obligations: Callable[..., Sequence[Obligation]]) -> Sequence[Obligation]:
    """The obligations of one kind about functions that are written in primitives."""
    return obligations(derived.primitives())


FAMILIES: tuple[Family, ...] = (
    Family("lemmas", "derivatives of named functions, from the axioms", "lemma", lambda _: lemmas.LEMMAS),
    Family("first_order", "backpropagators of scalars", "first order", lambda _: backpropagators.obligations(ROWS), True),
    Family("totals", "total differentials", "total differential", lambda _: totals.obligations(ROWS), True),
    Family(
        "second_order", "backpropagators of scalars, differentiated", "second order", lambda _: second_order.obligations(ROWS), True
    ),
    Family("derived", "functions that users write", "first order", lambda _: _derived(backpropagators.obligations), True),
    Family(
        "derived_second",
        "functions that users write, differentiated",
        "second order",
        lambda _: _derived(second_order.obligations),
        True,
    ),
    Family(
        "derived_totals",
        "functions that users write, total differentials",
        "total differential",
        lambda _: _derived(totals.obligations),
        True,
    ),
    Family("planted", "wrong variants of backpropagators, refuted", "wrong variants", lambda _: planted.obligations(ROWS)),
    Family("array_lemmas", "sums over ranges of any size, by induction", "lemma", lambda _: arrays.LEMMAS),
    Family("arrays", "backpropagators of arrays, for all shapes", "all shapes", lambda _: arrays.obligations(ROWS), True),
    Family("bounded", "backpropagators of arrays, up to a bound", "bounded", lambda _: arrays.bounded_obligations(ROWS), True),
    Family(
        "arrays_second",
        "backpropagators of arrays, differentiated, for all shapes",
        "second order, all shapes",
        lambda _: second_order_claims.obligations(ROWS),
        True,
    ),
    Family(
        "bounded_second",
        "backpropagators of arrays, differentiated, up to a bound",
        "second order, bounded",
        lambda _: second_order_claims.bounded_obligations(ROWS),
        True,
    ),
    Family(
        "structure",
        "backpropagators of structure and memory, and of what lets nothing flow",
        "first order",
        lambda _: structure_rows.obligations(ROWS),
        True,
    ),
    Family(
        "structure_second",
        "backpropagators of structure and memory, differentiated",
        "second order",
        lambda _: structure_rows.second_obligations(ROWS),
        True,
    ),
    Family("transform", "J, construct by construct", "J", lambda _: structural.OBLIGATIONS),
    Family("recursion", "J of recursion, by induction", "recursion", lambda _: recursion.OBLIGATIONS),
    Family("loops", "J of loops, by induction", "loops", lambda _: loops.OBLIGATIONS),
    Family("modes", "the SSA adjoint and the local pullbacks", "modes", lambda _: modes.OBLIGATIONS),
    Family("rules", "rewrite rules over the reals and the integers", "over the reals", lambda _: rewrites.obligations(RULES)),
    Family("bits", "rewrite rules in IEEE-754", "bits", lambda formats: rewrites.ladder_obligations(RULES, formats)),
    Family("words", "rewrite rules in integers of 64 bits", "64 bits", lambda _: rewrites.word_obligations(EXACT_RULES)),
)


@cache
def by_family(formats: Formats) -> dict[str, tuple[Obligation, ...]]:
    """The obligations of every family. Malformed if two have one name, since by it they are found again."""
    found = {family.name: tuple(family.obligations(formats)) for family in FAMILIES}
    seen: set[str] = set()
    for obligation in (o for of_family in found.values() for o in of_family):
        if obligation.name in seen:
            raise Malformed(f"two obligations are called {obligation.name}", rule="prove", remedy="name them apart")
        seen.add(obligation.name)
    return found


def obligations(formats: Sequence[Format] = rewrites.QUICK) -> list[Obligation]:
    """All that is claimed about what is shipped; rewrite rules are taken to `formats`."""
    return [o for of_family in by_family(tuple(formats)).values() for o in of_family]
