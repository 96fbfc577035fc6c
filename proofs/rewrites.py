"""
Every rewrite rule keeps what it claims to keep: a value over the reals (REAL), or every bit (BITS, IEEE).

A metavariable that may be of several kinds is tried as each of them: `number` as a real and as an integer, `any` as a real, an
integer, a boolean, ZERO and a pair of reals (a sensitivity can be any of these). Combinations in which the left side makes no
sense are left out, since the rule cannot meet them; if all are, the rule is out of scope.

    REAL          proved over the reals, and where its condition and the left side's domain hold the right side is defined
    BITS, IEEE    the same, and bit for bit in every format of the ladder; integers are mathematical and need no format
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from checkers.optimizer_audit.array_rules import prove_array_rule
from checkers.optimizer_audit.rule_kinds import KINDS
from checkers.smt.equality import judge_in_ieee, judge_over_reals
from checkers.smt.ieee import DOUBLE, HALF, LADDER, TINY, Format
from checkers.smt.inquiry import Judgment
from checkers.smt.solver import RLIMIT
from checkers.verdict import OutOfScope, Passed, Proved, Refuted, Unknown, Vacuous, Verdict
from proofs.normal_form import equal
from proofs.obligation import Obligation
from transforms.pattern import PatternRule

QUICK: tuple[Format, ...] = (TINY, HALF)
# Which of several verdicts speaks for all of them.
GRAVITY: tuple[type, ...] = (Refuted, Unknown, Passed, Vacuous, Proved, OutOfScope)


def assignments(rule: PatternRule) -> list[tuple[str, ...]]:
    """Every way to give the metavariables kinds."""
    return list(itertools.product(*(KINDS[type] for type in rule.variables.values())))


def combined(found: Sequence[Judgment], name: str) -> Judgment:
    """One judgment for several: the gravest verdict, all the evidence."""
    verdict: Verdict = OutOfScope("no kinds of the metavariables give the left side a meaning here", name)
    if found:
        verdict = min(found, key=lambda j: GRAVITY.index(type(j.verdict))).verdict
    methods = sorted({j.method for j in found if not isinstance(j.verdict, OutOfScope)})
    answers = tuple(a for j in found for a in j.answers)
    seconds = sum(j.seconds for j in found)
    return Judgment(name, ", ".join(methods) or "none", replace(verdict, claim=name), seconds, answers)


def over_reals(rule: PatternRule, rlimit: int = RLIMIT) -> Judgment:
    """The rule over the reals and the integers."""
    name = f"{rule.name} over the reals"
    condition = rule.condition
    found = [
        judge_over_reals(rule.left, rule.right, kinds, condition, equal=equal, rlimit=rlimit, name=name)
        for kinds in assignments(rule)
    ]
    return combined(found, name)


def in_format(rule: PatternRule, format: Format, rlimit: int = RLIMIT) -> Judgment:
    """The rule bit for bit in one format, for its real metavariables."""
    name = f"{rule.name} in {format.name}"
    found = [
        judge_in_ieee(rule.left, rule.right, format, rule.condition, kinds=kinds, rlimit=rlimit, name=name)
        for kinds in assignments(rule)
        if "integer" not in kinds
    ]
    judged = combined(found, name)
    if rule.domain == "REAL" and isinstance(judged.verdict, Refuted):
        # The rule claims the reals only: a difference in a format is what it admits to, and worth showing.
        return replace(judged, verdict=replace(judged.verdict, kind="convention"))
    return judged


def judge(rule: PatternRule, formats: Sequence[Format] = LADDER, rlimit: int = RLIMIT) -> list[Judgment]:
    """The rule on the ladder. A rule that claims the reals only is also taken to f64, for the input that tells it from equality."""
    if not rule.is_scalar:
        return [Judgment(v.claim, "shape by shape", v) for v in prove_array_rule(rule, rlimit)]
    steps = formats if rule.domain != "REAL" else (DOUBLE,)
    return [over_reals(rule, rlimit), *(in_format(rule, f, rlimit) for f in steps)]


def claim(rule: PatternRule, formats: Sequence[Format], rlimit: int = RLIMIT) -> Judgment:
    """One judgment on all that the rule claims."""
    found = [over_reals(rule, rlimit)]
    if rule.domain != "REAL":
        found += [in_format(rule, f, rlimit) for f in formats]
    return combined(found, f"rule {rule.name}")


def obligations(rules: Iterable[PatternRule], formats: Sequence[Format] = QUICK) -> list[Obligation]:
    """One obligation per rule."""
    return [Obligation(f"rule {rule.name}", rule.name, partial(claim, rule, tuple(formats))) for rule in rules]
