"""
What is proved about rows, rules and J, and from what.

    TRUSTED                  the axioms, as data
    FAMILIES, obligations()  every named claim: lemmas of calculus, backpropagators, rewrite rules, J case by case
    discharge(obligation)    its judgment: name, method, verdict, seconds, rlimit, and the questions as SMT-LIB (`.smt2`)
    prove(thing)             the verdicts on one primitive or one rewrite rule, yours included
"""

from __future__ import annotations

from collections.abc import Sequence

from checkers.smt.ieee import LADDER, Format
from checkers.smt.inquiry import Judgment
from checkers.verdict import Verdict
from proofs import backpropagators, rewrites
from proofs.arrays import users
from proofs.families import FAMILIES, obligations
from proofs.obligation import Obligation, discharge
from proofs.trusted import TRUSTED, Axiom
from semantics.errors import Malformed
from semantics.primitives.row import Primitive
from transforms.patterns.rule import PatternRule

__all__ = ["FAMILIES", "TRUSTED", "Axiom", "Judgment", "Obligation", "discharge", "judge", "obligations", "prove"]


def judge(thing: Primitive | PatternRule, formats: Sequence[Format] = LADDER) -> list[Judgment]:
    """`prove` with the evidence."""
    if isinstance(thing, Primitive):
        return [users.judge(thing) if users.signature(thing) is not None else backpropagators.judge(thing)]
    if isinstance(thing, PatternRule):
        return rewrites.judge(thing, formats)
    name = getattr(thing, "__name__", repr(thing))
    raise Malformed(f"{name} is neither a primitive nor a rewrite rule", rule="prove", remedy="@aj.primitive or aj.rule(...)")


def prove(thing: Primitive | PatternRule) -> list[Verdict]:
    """
    A primitive: whether its backpropagator is right over the reals, of arrays for all sizes. A rule: over the reals and up the
    ladder of formats.
    """
    return [judgment.verdict for judgment in judge(thing)]
