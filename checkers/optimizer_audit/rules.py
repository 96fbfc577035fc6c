"""
The judgment on one rewrite rule: what it claims, what it loses, and what would make it hold.

    domain REAL         a fault where the sides differ over the reals, types change, a pole is added, or a smooth gradient is lost;
                        a difference in IEEE-754 is a convention
    domain IEEE, BITS   a fault where the machine tells the sides apart; a difference over the reals is a convention

Both questions are always asked, so that a report can say "refuted in IEEE-754, proved over the reals".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from checkers.optimizer_audit import rule_structure as structure
from checkers.optimizer_audit.journal import Journal
from checkers.optimizer_audit.outcomes import Runner, Value, said, same_bits
from checkers.optimizer_audit.rule_conditions import as_text, in_words, weakest
from checkers.optimizer_audit.rule_gradients import keeps_gradients
from checkers.optimizer_audit.rule_values import (
    Rule,
    Sides,
    equal_bits,
    equal_reals,
    equal_types,
    points_of,
    removed_singularities,
)
from checkers.optimizer_audit.samples import edge_samples, names_of, types_of
from checkers.optimizer_audit.triggers import generated, triggers
from checkers.verdict import Counterexample, Passed, Proved, Refuted, Report, Vacuous, Verdict
from semantics.ir import Program

RLIMIT = 1_500_000
IN_CONTEXT = 16


def audit_rule(rule: Any, seed: int, examples: Sequence[Program], skip: frozenset[str], rlimit: int = RLIMIT) -> Report:
    """The report on a rule (`transforms.pattern.PatternRule`, or anything of that shape)."""
    journal = Journal(f"rule {rule.name}", skip)
    bits = rule.domain in ("BITS", "IEEE")
    satisfiable = bool(points_of(rule, seed))
    if not satisfiable:
        journal.verdicts.append(Vacuous("no point that was tried satisfies the side condition", "side condition"))
    journal.check("proof over the reals", lambda: [_proved(rule, "convention" if bits else "fault", rlimit)])
    real = journal.check("values over the reals", lambda: [equal_reals(rule, seed, "convention" if bits else "fault")])
    machine = journal.check("values in IEEE-754", lambda: [equal_bits(rule, seed, "fault" if bits else "convention")])
    _formats(journal, rule, bits, machine, rlimit)
    journal.check("types", lambda: [equal_types(rule, seed)])
    journal.check("gradients", lambda: keeps_gradients(rule, seed))
    _conditions(journal, rule, seed, bits, machine if bits else real)
    _as_rewrite(journal, rule, seed, examples)
    if removed := removed_singularities(rule, seed):
        shown = ", ".join(str(dict(zip(names_of(rule.left), p, strict=True))) for p in removed)
        journal.details["defined only on the right"] = shown
    journal.details["summary"] = in_short(journal.verdicts)
    return journal.report(seed)


def in_short(verdicts: Sequence[Verdict]) -> str:
    """Both answers in one line: "refuted in IEEE-754, proved over the reals"."""

    def answer(*claims: str) -> str:
        found = [v for v in verdicts if any(v.claim.startswith(c) for c in claims)]
        for kind, word in ((Refuted, "refuted"), (Proved, "proved"), (Passed, "passed its tests")):
            if any(isinstance(v, kind) for v in found):
                return word
        return "not decided"

    return f"{answer('equal in IEEE', 'bit-equal')} in IEEE-754, {answer('equal over the reals')} over the reals"


def _proved(rule: Rule, kind: str, rlimit: int) -> Verdict:
    from checkers.smt.equality import equal_over_reals

    verdict = equal_over_reals(rule.left, rule.right, None, rule.condition, rlimit=rlimit)
    return Refuted(verdict.counterexample, kind, verdict.claim) if isinstance(verdict, Refuted) else verdict


def _formats(journal: Journal, rule: Rule, bits: bool, machine: Sequence[Verdict], rlimit: int) -> None:
    """The ladder tiny, f16, f32, f64, for rules that claim IEEE-754 and passed their tests."""
    from checkers.smt.equality import equal_in_ieee
    from checkers.smt.ieee import LADDER, Format

    if not bits:
        journal.not_judged("proof in IEEE-754", "the rule claims equality over the reals only")
        return
    if any(isinstance(v, Refuted) for v in machine):
        journal.not_judged("proof in IEEE-754", "already refuted by a run")
        return
    for format in LADDER:

        def judge(format: Format = format) -> list[Verdict]:
            return [_in_format(equal_in_ieee(rule.left, rule.right, format, rule.condition, rlimit=rlimit))]

        found = journal.check(f"proof in {format.name}", judge)
        if found and not isinstance(found[0], Proved):
            journal.not_judged("proof in wider formats", f"{format.name} was not proved")
            return


def _in_format(verdict: Verdict) -> Verdict:
    """A refutation in a format that is not ours is a hint, not a fault: the machine computes in f64."""
    if isinstance(verdict, Refuted) and "f64" not in verdict.claim:
        return Refuted(verdict.counterexample, "convention", verdict.claim)
    return verdict


def _conditions(journal: Journal, rule: Rule, seed: int, bits: bool, judged: Sequence[Verdict]) -> None:
    """For a rule that failed, the weakest condition that would save it; for one that holds, whether its own is needed."""
    sides = Sides(rule)
    differ = sides.bits_differ if bits else sides.reals_differ
    if any(isinstance(v, Refuted) for v in judged):
        points = points_of(rule, seed, finite=not bits, most=300 if bits else 80)
        failing = [p for p in points if differ(p)]
        chosen = weakest(names_of(rule.left), failing, [p for p in points if not differ(p)])
        if chosen is None:
            journal.not_judged(
                "weakest side condition", "no conjunction of three atoms of the vocabulary makes it hold at the points tried"
            )
            return
        journal.details["holds when"] = in_words(chosen)
        journal.details["holds when, as a condition"] = as_text(chosen)
        journal.not_judged("weakest side condition", f"holds at all points tried when {in_words(chosen)}; tested, not proved")
    elif rule.condition is not None:
        bare = Sides(_Bare(rule))
        differ = bare.bits_differ if bits else bare.reals_differ
        needed = any(differ(p) for p in points_of(bare.rule, seed, finite=not bits, most=120))
        journal.details["side condition needed"] = needed
        if not needed:
            journal.not_judged("necessity of the side condition", "no point was found where the rule fails without it")


class _Bare:
    """A rule without its side condition."""

    def __init__(self, rule: Any) -> None:
        self.name, self.left, self.right, self.domain = rule.name, rule.left, rule.right, rule.domain
        self.condition = None
        self.variables = getattr(rule, "variables", None)


def _as_rewrite(journal: Journal, rule: Any, seed: int, examples: Sequence[Program]) -> None:
    """Firing, termination, subsumption, hits."""
    rewrite = structure.known(rule)
    if rewrite is None:
        journal.not_judged("rewriting", "the rule is two programs and no rewrite")
        return
    after: list[Program | None] = [None]

    def fire() -> list[Verdict]:
        verdict, after[0] = structure.fires(rule, rewrite, seed)
        return [verdict]

    journal.check("firing", fire)
    journal.check("termination", lambda: [structure.terminates(rewrite, after[0])] if after[0] is not None else [])
    if "hits" not in journal.skip:
        programs = [*examples, *(t.program for t in triggers()), *generated(seed, 12)]
        found = structure.hits(rewrite, programs)
        journal.details["hits"] = f"{len(found)} of {len(programs)} programs"
        kind = "fault" if rule.domain in ("BITS", "IEEE") else "convention"
        journal.check("in context", lambda: [_in_context(found[:IN_CONTEXT], kind, seed)])
    journal.details["subsumed by"] = structure.subsumed(rule, _shipped()) if "subsumption" not in journal.skip else []


def _in_context(found: Sequence[tuple[Program, Program]], kind: str, seed: int) -> Verdict:
    """Programs before and after one step of the rule, at points."""
    claim = "equal in IEEE-754, in the programs where it fires"
    tried = 0
    for before, after in found:
        left, right = Runner(before), Runner(after)
        for point in edge_samples(types_of(before), seed=seed, most=16):
            a = left(point)
            if not isinstance(a, Value):
                continue
            tried += 1
            if not same_bits(a, b := right(point)):
                inputs = dict(zip(names_of(before), point, strict=True))
                note = f"before:\n{before}\nafter:\n{after}"
                return Refuted(Counterexample(inputs, said(b), said(a), "the rule in a program", note=note), kind, claim)
    if not tried:
        return Vacuous("it fires on no generated program with a value", claim)
    return Passed(tried, f"runs of {len(found)} programs in which it fires", claim)


def _shipped() -> tuple[Any, ...]:
    from transforms.simplify import SYSTEM

    return SYSTEM.rules
