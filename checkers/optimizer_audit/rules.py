"""
The judgment on one rewrite rule: what it claims, what it loses, and what would make it hold.

    domain REAL         a fault where the sides differ over the reals, types change, a pole is added, or a smooth gradient is lost;
                        a difference in IEEE-754 is a convention
    domain IEEE, BITS   a fault where the machine tells the sides apart; a difference over the reals is a convention

Both questions are always asked, so that a report can say "refuted in IEEE-754, proved over the reals".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from checkers.optimizer_audit import rule_structure as structure
from checkers.optimizer_audit.array_rules import audit_array_rule, judged_as_arrays
from checkers.optimizer_audit.critical_pairs import confluent
from checkers.optimizer_audit.divergence import Divergence, in_the_reals, on_the_machine
from checkers.optimizer_audit.journal import Journal
from checkers.optimizer_audit.outcomes import Runner, Value, said, same_bits
from checkers.optimizer_audit.rule_gradients import keeps_gradients
from checkers.optimizer_audit.rule_kinds import proved_in_every_kind
from checkers.optimizer_audit.rule_values import (
    Rule,
    equal_bits,
    equal_reals,
    equal_types,
    points_of,
    removed_singularities,
)
from checkers.optimizer_audit.samples import edge_samples, names_of, types_of
from checkers.optimizer_audit.side_conditions import of_the_declared, what_would_save
from checkers.optimizer_audit.triggers import generated, triggers
from checkers.verdict import Counterexample, Passed, Proved, Refuted, Report, Vacuous, Verdict
from semantics.ir import Program
from transforms.system import Rewrite

RLIMIT = 1_500_000
IN_CONTEXT = 16


def audit_rule(
    rule: Any,
    seed: int,
    examples: Sequence[Program],
    skip: frozenset[str],
    rlimit: int = RLIMIT,
    *,
    others: Sequence[Any] | None = None,
    words: Iterable[str] | None = None,
) -> Report:
    """
    The report on a rule (`transforms.patterns.rule.PatternRule`, or anything of that shape).

    others  the rules it is used with, for critical pairs and subsumption; the shipped ones of its domain if not given
    words   the vocabulary of side conditions (`rule_conditions.vocabulary`), if not ours
    """
    known, rewrites = shipped(rule.domain) if others is None else (tuple(others), ())
    if judged_as_arrays(rule):
        return _with_structure(audit_array_rule(rule, seed, skip, rlimit), rule, skip, known, rewrites)
    journal = Journal(f"rule {rule.name}", skip)
    bits = rule.domain in ("BITS", "IEEE")
    satisfiable = bool(points_of(rule, seed))
    if not satisfiable:
        journal.verdicts.append(Vacuous("no point that was tried satisfies the side condition", "side condition"))
    journal.check("proof over the reals", lambda: [_proved(rule, "convention" if bits else "fault", rlimit)])
    real = journal.check(
        "values over the reals",
        lambda: [_node_by_node(rule, equal_reals(rule, seed, "convention" if bits else "fault"), in_the_reals)],
    )
    machine = journal.check(
        "values in IEEE-754",
        lambda: [_node_by_node(rule, equal_bits(rule, seed, "fault" if bits else "convention"), on_the_machine)],
    )
    _formats(journal, rule, bits, machine, rlimit)
    journal.check("types", lambda: [equal_types(rule, seed)])
    journal.check("gradients", lambda: keeps_gradients(rule, seed))
    refuted = any(isinstance(v, Refuted) for v in (machine if bits else real))
    if refuted:
        what_would_save(journal, rule, seed, words, rlimit)
    elif rule.condition is not None:
        of_the_declared(journal, rule, seed, words, rlimit)
    _as_rewrite(journal, rule, seed, examples)
    _among_others(
        journal, rule, known, rewrites, "the rule does not keep values" if refuted else "" if satisfiable else "it never fires"
    )
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


def _node_by_node(rule: Rule, verdict: Verdict, diverge: Callable[..., Divergence | None]) -> Verdict:
    """A refutation with both sides printed node by node at its point."""
    if not isinstance(verdict, Refuted):
        return verdict
    found = verdict.counterexample
    shown = diverge(rule.left, rule.right, tuple(found.inputs.values()))
    note = "\n".join(part for part in (found.note, str(shown) if shown else "") if part)
    return replace(verdict, counterexample=replace(found, note=note))


def _proved(rule: Rule, kind: str, rlimit: int) -> Verdict:
    verdict = proved_in_every_kind(rule, rlimit)
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


def _as_rewrite(journal: Journal, rule: Any, seed: int, examples: Sequence[Program]) -> None:
    """Firing, termination, hits."""
    rewrite = structure.known(rule)
    if rewrite is None:
        journal.not_judged("rewriting", "the rule is two programs and no rewrite")
        return
    after: list[Program | None] = [None]

    def fire() -> list[Verdict]:
        verdict, after[0] = structure.fires(rule, rewrite, seed)
        return [verdict]

    journal.check("firing", fire)
    journal.check("termination", lambda: [structure.terminates(rule, rewrite, after[0])] if after[0] is not None else [])
    if "hits" not in journal.skip:
        programs = [*examples, *(t.program for t in triggers()), *generated(seed, 12)]
        found = structure.hits(rewrite, programs)
        journal.details["hits"] = f"{len(found)} of {len(programs)} programs"
        kind = "fault" if rule.domain in ("BITS", "IEEE") else "convention"
        journal.check("in context", lambda: [_in_context(found[:IN_CONTEXT], kind, seed)])


def _with_structure(report: Report, rule: Any, skip: frozenset[str], others: Sequence[Any], rewrites: Sequence[Rewrite]) -> Report:
    """The report on a rule about arrays, and what terms alone tell: termination, critical pairs, subsumption."""
    journal = Journal(report.subject, skip)
    journal.check("termination", lambda: [structure.terminates(rule, rule.rewrite, None)])
    refuted = any(f.kind == "fault" for f in report.findings)
    _among_others(journal, rule, others, rewrites, "the rule does not keep values" if refuted else "")
    verdicts, ledger = (*report.verdicts, *journal.verdicts), (*report.ledger, *journal.ledger)
    return replace(report, verdicts=verdicts, ledger=ledger, details={**report.details, **journal.details})


def _among_others(journal: Journal, rule: Any, others: Sequence[Any], rewrites: Sequence[Rewrite], idle: str) -> None:
    """Critical pairs and subsumption; `idle` says why pairs are not worth judging, if so."""
    if structure.known(rule) is None or not hasattr(rule, "left_term"):
        journal.not_judged("critical pairs", "the rule is no pattern")
        return
    if idle:
        journal.not_judged("critical pairs", idle)
    else:
        journal.check("critical pairs", lambda: [confluent(rule, others, rewrites)])
    if "subsumption" in journal.skip:
        journal.details["subsumed by"] = []
        return
    journal.details["subsumed by"] = structure.subsumed(rule, rewrites or tuple(o.rewrite for o in others))
    journal.details["instance of"] = structure.instance_in(rule, others)


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


def shipped(domain: str) -> tuple[tuple[Any, ...], tuple[Rewrite, ...]]:
    """The rules of our optimizer that are on where this domain is claimed, as patterns, and all of them as rewrites."""
    from transforms.simplify import EXACT_RULES, FAST, FAST_RULES, SYSTEM

    return ((*EXACT_RULES, *FAST_RULES), FAST.rules) if domain == "REAL" else (EXACT_RULES, SYSTEM.rules)
