"""
A rewrite rule on the ladder: over the reals, then in a tiny format, f16, f32 and f64. Both kinds of equality are found here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from checkers.smt.ieee import LADDER, Format
from checkers.smt.ieee_equality import equal_in_ieee, judge_in_ieee
from checkers.smt.inquiry import Judgment
from checkers.smt.real_equality import SameTerms, equal_over_reals, judge_over_reals
from checkers.smt.solver import RLIMIT
from checkers.verdict import Verdict
from semantics.conditions import Condition
from semantics.ir import Program


class Rule(Protocol):
    """What `ladder` needs of a rewrite rule: two programs in the same parameters, and a side condition."""

    @property
    def left(self) -> Program: ...
    @property
    def right(self) -> Program: ...
    @property
    def condition(self) -> Condition | str | None: ...


def ladder(rule: Rule, formats: Sequence[Format] = LADDER, *, rlimit: int = RLIMIT) -> list[Verdict]:
    """The verdicts on a rule over the reals and then format by format, from the narrowest."""
    return [j.verdict for j in judge_ladder(rule, formats, rlimit=rlimit)]


def judge_ladder(
    rule: Rule, formats: Sequence[Format] = LADDER, *, rlimit: int = RLIMIT, equal: SameTerms | None = None
) -> list[Judgment]:
    """`ladder` with its evidence."""
    over_reals = judge_over_reals(rule.left, rule.right, None, rule.condition, rlimit=rlimit, equal=equal)
    return [over_reals, *(judge_in_ieee(rule.left, rule.right, f, rule.condition, rlimit=rlimit) for f in formats)]


__all__ = ["Rule", "equal_in_ieee", "equal_over_reals", "judge_in_ieee", "judge_ladder", "judge_over_reals", "ladder"]
