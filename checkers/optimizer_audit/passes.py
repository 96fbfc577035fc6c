"""
The judgment on a pass, on programs built to contain its triggers: algebra with treacherous constants, shapes that passes get wrong,
random graphs, arrays and records, programs that raise, gradients of them, and what the caller gives.

A program is compared with what became of it in the equality domain of the pass. The first failure of each kind is shrunk and blamed
on the first bad step of the run: a rule, a pass among several, or the function as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from checkers.optimizer_audit.blame import first_bad_step
from checkers.optimizer_audit.checks import OF_PASSES
from checkers.optimizer_audit.journal import Journal
from checkers.optimizer_audit.pass_failures import dropped
from checkers.optimizer_audit.pass_gradients import gradients_kept, optimized_gradients
from checkers.optimizer_audit.pass_order import ends_as_claimed, orders, same_either_way, settles
from checkers.optimizer_audit.pass_programs import Bench, explained
from checkers.optimizer_audit.pass_values import compare, points_for, raised, signature
from checkers.optimizer_audit.reduction import reduce, text_of
from checkers.optimizer_audit.samples import names_of
from checkers.optimizer_audit.subjects import Broken, Pass, as_pass
from checkers.optimizer_audit.trigger_formulas import formulas
from checkers.optimizer_audit.trigger_sources import generated_wholes, sourced, unreachable
from checkers.optimizer_audit.triggers import generated, own_triggers, triggers
from checkers.optimizer_audit.typed_steps import typed
from checkers.optimizer_audit.validation import validated
from checkers.verdict import Counterexample, Passed, Refuted, Report, Unknown, Vacuous, Verdict
from semantics.ir import Program
from semantics.wellformed import problems

GENERATED, WHOLES = 24, 6


def audit_pass(subject: Any, seed: int, examples: Sequence[Program], skip: frozenset[str], domain: str | None = None) -> Report:
    """The report on a pass."""
    p = as_pass(subject, domain)
    journal = Journal(f"pass {p.name}", skip)
    bench = Bench(p, seed)
    shipped = [*(t.program for t in (*triggers(), *formulas(), *sourced())), *unreachable()]
    bench.add([*examples, *shipped, *own_triggers(p.rules), *generated(seed, GENERATED), *generated_wholes(seed, WHOLES)])
    journal.check("gives a program", lambda: [_gives(bench)])
    journal.details["programs"] = len(bench.pairs) + len(bench.broken) + len(bench.refused)
    journal.details["programs changed"] = len(bench.changed)
    if bench.idle:
        journal.check("values", lambda: [v for v in [_values(bench)] if isinstance(v, Refuted)])
        journal.check("gradients optimized", lambda: [v for v in [optimized_gradients(bench)] if isinstance(v, Refuted)])
        others = ", ".join(name for name in OF_PASSES if name not in ("gives a program", "values", "gradients optimized"))
        journal.not_judged(others, f"none of {len(bench.pairs)} programs is changed")
        return journal.report(seed)
    journal.check("well-formed", lambda: [_wellformed(bench)])
    journal.check("signature", lambda: [_signature(bench)])
    journal.check("types", lambda: [typed(bench.runs)])
    values = journal.check("values", lambda: [_values(bench)])
    if any(isinstance(v, Refuted) for v in values) or bench.broken:
        why = "values are not kept" if not bench.broken else "the pass gives no program for some"
        for name in ("gradients", "gradients optimized", "translation validation"):
            journal.not_judged(name, why)
    else:
        journal.check("gradients", lambda: gradients_kept(bench))
        journal.check("gradients optimized", lambda: [optimized_gradients(bench)])
        journal.check("translation validation", lambda: _validated(bench, journal))
    journal.check("cost", lambda: [_cost(bench)])
    journal.check("idempotence", lambda: [settles(p, bench.changed)])
    if p.system is None:
        journal.not_judged("measure, order", "the pass is no system of rules")
    else:
        system, programs = p.system, [before for before, _ in bench.changed]
        journal.check("measure", lambda: [ends_as_claimed(system, programs)])
        journal.check("order", lambda: [orders(system, programs, seed)])
        journal.check("recorded and unrecorded", lambda: [same_either_way(system, programs)])
    if p.rules:
        journal.details["rules fired"] = dict(bench.fired)
        idle = [name for name in p.redo if name not in bench.fired]
        journal.details["rules that never fired"] = idle
        if idle:
            journal.not_judged(f"{len(idle)} of {len(p.redo)} rules", "they fired on no program: " + ", ".join(idle[:8]))
    if bench.refused:
        journal.not_judged(f"{len(bench.refused)} programs", f"the pass refused them, first with {bench.refused[0][1].why}")
    return journal.report(seed)


def _gives(bench: Bench) -> Verdict:
    claim = "every program is given a program"
    if bench.broken:
        program, why = bench.broken[0]
        if why.endless:
            program, why = min(bench.broken, key=lambda pair: len(pair[0].nodes))
        elif "recurses" not in why.why:
            program = reduce(program, lambda p: isinstance(bench.subject(p), Broken) and not _refused(bench, p), most=60)
        return Refuted(Counterexample({"program": str(program)}, why.why, "a program"), "fault", claim)
    if not bench.pairs:
        return Unknown("the pass refused every program", claim)
    if bench.idle:
        remedy = "give some that it is meant for, aj.audit(…, examples=[f])"
        return Vacuous(f"the pass changed none of {len(bench.pairs)} programs: {remedy}", claim)
    return Passed(len(bench.pairs), f"programs, {len(bench.changed)} of them changed", claim)


def _refused(bench: Bench, program: Program) -> bool:
    found = bench.subject(program)
    return isinstance(found, Broken) and found.refused


def _wellformed(bench: Bench) -> Verdict:
    claim = "well-formed after every step"
    for program, after in bench.pairs:
        if (problem := next(iter(problems(after)), None)) is not None:
            small = reduce(program, lambda p: _ill_formed(bench.subject, p), most=120)
            made = bench.subject(small)
            blame = first_bad_step(bench.subject, small, [], bench.subject.domain)
            note = str(blame) if blame else f"after:\n{text_of(made)}"
            found = f"{problem[0]}: {problem[1]}"
            cause = f"rule {blame.rule}: {found}" if blame else found
            return Refuted(
                Counterexample({"program": str(small)}, found, "a well-formed program", cause, note=note), "fault", claim
            )
    return Passed(len(bench.pairs), "programs", claim)


def _ill_formed(subject: Pass, program: Program) -> bool:
    after = subject(program)
    return isinstance(after, Program) and next(iter(problems(after)), None) is not None


def _signature(bench: Bench) -> Verdict:
    claim = "the entry keeps its parameters and their types"
    for program, after in bench.sound:
        if signature(program) != signature(after):
            shown = Counterexample(
                {"program": str(program)}, str(signature(after)), str(signature(program)), note=f"after:\n{after}"
            )
            return Refuted(shown, "fault", claim)
    return Passed(len(bench.sound), "programs", claim)


def _values(bench: Bench) -> Verdict:
    domain = bench.subject.domain
    claim = "values are kept " + ("over the reals" if domain == "REAL" else "bit for bit")
    tried = 0
    for program, after in bench.changed:
        if signature(program) != signature(after):
            continue
        found, runs = compare(program, after, points_for(program, domain, bench.seed), domain)
        tried += runs
        if found is not None:
            return Refuted(explained(bench, program, found), "fault", claim)
    if (failure := dropped(bench.subject)) is not None:
        return Refuted(failure, "fault", claim)
    if not tried:
        return Vacuous("no changed program has a value at the points", claim)
    return Passed(tried, f"runs of {len(bench.changed)} changed programs", claim)


def _validated(bench: Bench, journal: Journal) -> list[Verdict]:
    """The recorded runs, step by step, and what was proved of them into the details."""
    verdicts, tally = validated(bench.runs, bench.subject.domain, bench.seed)
    journal.details["steps"] = dict(tally.statuses)
    journal.details["steps not proved"] = dict(tally.doubts)
    return verdicts


def _cost(bench: Bench) -> Verdict:
    claim = "no more machine steps than before"
    for program, after in bench.changed:
        worse = raised(program, after, points_for(program, bench.subject.domain, bench.seed)[:4])
        if worse is not None:
            point, before, now = worse
            inputs: dict[str, Any] = dict(zip(names_of(program), point, strict=True))
            shown = Counterexample(inputs, f"{now} steps", f"at most {before}", note=f"before:\n{program}\nafter:\n{after}")
            return Refuted(shown, "convention", claim)
    return Passed(len(bench.changed), "changed programs", claim)
