"""
Which axioms a proof rests on: found, as far as it can be, in what the proof asked.

    functions   a question that names exp rests on what is assumed of exp, and on nothing else: `Axiom.functions`
    slopes      where the obligation is about derivatives, so does the derivative of exp: `Axiom.slopes`, and on `slope` itself
    definitions primitives are read as terms by their definitions: `Axiom.defines`, for those that the obligation reads
    pieces      a question with an integer part rests on `pieces`

To these come the axioms that the obligation says it uses. A function that no axiom speaks of is an unknown one, for which the
obligation is proved whatever it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

import z3

from checkers.smt.inquiry import Judgment
from checkers.smt.paths import Run
from checkers.smt.real import reading
from proofs.obligation import Obligation, applied
from proofs.trusted import TRUSTED
from semantics.errors import AdjudgeError
from semantics.primitives.table import TABLE
from transforms.backpropagators import backpropagator

FUNCTION = re.compile(r"\bu_[a-z0-9]+")
SLOPE, PIECES = "slope", "pieces"
REALS = {"real", "number"}


def named(judgment: Judgment) -> frozenset[str]:
    """The functions that the questions of a judgment name."""
    return frozenset(name for answer in judgment.answers for name in FUNCTION.findall(answer.smt2))


def rests_on(obligation: Obligation, judgment: Judgment, calculus: bool = False) -> tuple[str, ...]:
    """The axioms that the judgment rests on, in the order of the trusted base; with `calculus` it is about derivatives."""
    primitives = read(obligation)
    functions = named(judgment) | {name for p in primitives for name in read_as(p)}
    found = {*obligation.uses, *((SLOPE,) if calculus else ())}
    for axiom in TRUSTED:
        touched = functions & {*axiom.functions, *(axiom.slopes if calculus else ())}
        if touched or primitives & {*axiom.defines}:
            found.add(axiom.name)
    if any("to_int" in answer.smt2 for answer in judgment.answers):
        found.add(PIECES)
    return tuple(axiom.name for axiom in TRUSTED if axiom.name in found) + tuple(sorted(found - {a.name for a in TRUSTED}))


def read(obligation: Obligation) -> frozenset[str]:
    """The primitives that an obligation reads by their definitions."""
    return frozenset(obligation.mentions) | of_row(obligation.subject)


@cache
def of_row(name: str) -> frozenset[str]:
    """A primitive of the table, and those that its backpropagator applies; nothing for another name."""
    if name not in TABLE:
        return frozenset()
    try:
        return frozenset({name, *applied(backpropagator(TABLE[name]))})
    except AdjudgeError:
        return frozenset({name})


@cache
def read_as(primitive: str) -> frozenset[str]:
    """The functions that stand in the term as which a primitive is read: u_log and u_sqrt for asinh."""
    if primitive not in TABLE or not {*TABLE[primitive].signature} <= REALS:
        return frozenset()
    try:
        value = reading(Run()).column[TABLE[primitive]](*(z3.Real(name) for name in TABLE[primitive].parameters))
    except (AdjudgeError, TypeError):  # a hole, or no function of reals
        return frozenset()
    return frozenset(FUNCTION.findall(value.sexpr())) if z3.is_expr(value) else frozenset()


def users(rested: Iterable[tuple[str, tuple[str, ...]]]) -> dict[str, list[str]]:
    """For each axiom the obligations that rest on it, from (obligation, axioms)."""
    found: dict[str, list[str]] = {axiom.name: [] for axiom in TRUSTED}
    for name, axioms in rested:
        for axiom in axioms:
            found.setdefault(axiom, []).append(name)
    return found
