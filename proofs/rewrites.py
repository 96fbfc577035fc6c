"""
Every rewrite rule keeps what it claims to keep: a value over the reals (REAL), or every bit (BITS, IEEE).

A metavariable that may be of several kinds is tried as each of them: `number` as a real and as an integer, `any` as a real, an
integer, a boolean, ZERO and a pair of reals (a sensitivity can be any of these). Combinations in which the left side makes no
sense are left out, since the rule cannot meet them; if all are, the rule is out of scope.

    REAL          proved over the reals, and where its condition and the left side's domain hold the right side is defined
    BITS, IEEE    the same, and bit for bit in every format of the ladder; integers are mathematical and need no format, and as
                  words of 64 bits, in which what does not fit traps, they are judged beside
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

import z3

from checkers.optimizer_audit.array_rules import prove_array_rule
from checkers.optimizer_audit.rule_kinds import KINDS
from checkers.smt.equality import judge_in_ieee, judge_over_reals
from checkers.smt.ieee import DOUBLE, HALF, LADDER, TINY, Format
from checkers.smt.inquiry import Judgment
from checkers.smt.sides import inputs_of
from checkers.smt.solver import RLIMIT
from checkers.smt.word_equality import judge_in_words
from checkers.smt.words import Words
from checkers.verdict import OutOfScope, Passed, Proved, Refuted, Unknown, Vacuous, Verdict
from proofs.normal_form import equal
from proofs.obligation import Obligation, applied
from semantics.denotation import denote
from semantics.errors import AdjudgeError, IllTyped
from transforms.patterns.rule import PatternRule

WIDTHS = (8, 16, 64)
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
    """
    The rule bit for bit in one format, for its real metavariables. bitwuzla, if installed, is asked first in the formats that it
    reads; z3 gives the second opinion.
    """
    name = f"{rule.name} in {format.name}"
    first = "bitwuzla" if format.sbits >= HALF.sbits else ""
    found = [
        judge_in_ieee(rule.left, rule.right, format, rule.condition, kinds=kinds, rlimit=rlimit, first=first, name=name)
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


def in_ieee(rule: PatternRule, formats: Sequence[Format] = LADDER, rlimit: int = RLIMIT) -> Judgment:
    """
    How far up the ladder the rule keeps every bit. The first format that is not decided ends the climb, and the verdict says which
    was the last that was. A rule that claims the reals only is told where the last format differs: that is no fault of the rule.
    """
    name = f"bits of {rule.name}"
    climbed: list[tuple[Format, Judgment]] = []
    if rule.domain == "REAL":
        highest = in_format(rule, formats[-1], rlimit)
        if isinstance(highest.verdict, Refuted):
            where = highest.verdict.counterexample.place
            why = f"it claims the reals only; in {formats[-1].name} the sides differ {where}"
            return replace(highest, name=name, verdict=OutOfScope(why, name))
    for format in formats:
        climbed.append((format, in_format(rule, format, rlimit)))
        if isinstance(climbed[-1][1].verdict, (Refuted, Unknown)):
            break
    decided = [f.name for f, j in climbed if isinstance(j.verdict, Proved)]
    exact = f"bit-exact to {decided[-1]}" if decided else "no format decided"
    format, highest = climbed[-1]
    verdict = highest.verdict
    if isinstance(verdict, Proved):
        verdict = Proved(exact)
    elif isinstance(verdict, Unknown):
        verdict = Unknown(f"{exact}; {format.name} not decided: {verdict.reason}")
    return replace(combined([j for _, j in climbed], name), verdict=replace(verdict, claim=name))


def about_reals(rule: PatternRule) -> bool:
    """Whether a metavariable may be a real, and none is an integer, which no format has."""
    return any({*kinds} & {"real", "pair"} and "integer" not in kinds for kinds in assignments(rule))


def obligations(rules: Iterable[PatternRule]) -> list[Obligation]:
    """One obligation per rule: over the reals, the integers and the booleans."""
    return [Obligation(f"rule {r.name}", r.name, partial(over_reals, r), mentions=primitives_in(r)) for r in rules]


def ladder_obligations(rules: Iterable[PatternRule], formats: Sequence[Format] = LADDER) -> list[Obligation]:
    """One obligation per rule about reals: bit for bit, format by format."""
    asked = [r for r in rules if about_reals(r)]
    return [Obligation(f"bits of {r.name}", r.name, partial(in_ieee, r, tuple(formats))) for r in asked]


def primitives_in(rule: PatternRule) -> tuple[str, ...]:
    """The primitives that the two sides apply."""
    return tuple(sorted({name for side in (rule.left, rule.right) for name in applied(side)}))


def in_words(rule: PatternRule, width: int, rlimit: int = RLIMIT) -> Judgment:
    """The rule on integers of a width, where what does not fit traps; booleans may be among them."""
    name = f"{rule.name} in {width} bits"
    found = [
        judge_in_words(rule.left, rule.right, width, rule.condition, kinds=kinds, rlimit=rlimit, name=name)
        for kinds in assignments(rule)
        if about_words(kinds)
    ]
    return combined(found, name)


def in_all_widths(rule: PatternRule, rlimit: int = RLIMIT) -> Judgment:
    """How wide the words are in which the rule is safe, decided width by width up to 64 bits."""
    name = f"words of {rule.name}"
    climbed: list[Judgment] = []
    decided = "no width decided"
    for width in WIDTHS:
        climbed.append(in_words(rule, width, rlimit))
        if not isinstance(climbed[-1].verdict, Proved):
            break
        decided = f"safe in {width} bits"
    verdict = climbed[-1].verdict
    if isinstance(verdict, Proved):
        verdict = Proved(decided)
    elif isinstance(verdict, Unknown):
        verdict = Unknown(f"{decided}; {WIDTHS[len(climbed) - 1]} not decided: {verdict.reason}")
    return replace(combined(climbed, name), verdict=replace(verdict, claim=name))


def about_words(kinds: Sequence[str]) -> bool:
    """Whether a choice of kinds is of integers and booleans only, with an integer among them."""
    return "integer" in kinds and {*kinds} <= {"integer", "boolean"}


def meant(rule: PatternRule, kinds: Sequence[str]) -> bool:
    """Whether the left side has a meaning at these kinds: `not b` has none where b is an integer."""
    run = Words(WIDTHS[0])
    values = inputs_of(rule.left, kinds, lambda kind, name: z3.Bool(name) if kind == "boolean" else run.variable(name)).values
    try:
        denote(rule.left, values, run.reading)
    except IllTyped:
        return False
    except AdjudgeError:
        return True
    return True


def word_obligations(rules: Iterable[PatternRule]) -> list[Obligation]:
    """One obligation per rule about integers: in words of 64 bits that trap."""
    asked = [r for r in rules if r.domain != "REAL" and any(about_words(kinds) and meant(r, kinds) for kinds in assignments(r))]
    return [Obligation(f"words of {r.name}", r.name, partial(in_all_widths, r)) for r in asked]
