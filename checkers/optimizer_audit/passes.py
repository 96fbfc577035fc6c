"""
The judgment on a pass, on programs built to contain its triggers: algebra with treacherous constants, shapes that passes get wrong,
random graphs, gradients of them, and what the caller gives.

A program is compared with what became of it in the equality domain of the pass. The first failure of each kind is shrunk and, where
the pass is made of rules, blamed on the first bad step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from checkers.optimizer_audit.blame import first_bad_step
from checkers.optimizer_audit.journal import Journal
from checkers.optimizer_audit.outcomes import Runner, Value, said
from checkers.optimizer_audit.pass_order import ends_as_claimed, orders, same_either_way, settles
from checkers.optimizer_audit.pass_values import Difference, compare, points_for, raised, signature
from checkers.optimizer_audit.reduction import reduce, text_of
from checkers.optimizer_audit.rule_gradients import Gradients, judged, reals_of
from checkers.optimizer_audit.samples import Point, edge_samples, names_of, numbers_in, shrink, types_of
from checkers.optimizer_audit.subjects import Broken, Pass, as_pass
from checkers.optimizer_audit.triggers import generated, own_triggers, triggers
from checkers.optimizer_audit.validation import validated
from checkers.verdict import Counterexample, Passed, Refuted, Report, Unknown, Vacuous, Verdict
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.wellformed import problems
from transforms import inline
from transforms.gradient_programs import gradient_program

GENERATED, GRADIENTS, OF_GRADIENTS = 24, 16, 5
ENOUGH = 3


@dataclass
class Bench:
    """The programs, each with what the pass made of it; made once, used by every check."""

    subject: Pass
    seed: int
    pairs: list[tuple[Program, Program]] = field(default_factory=list)
    broken: list[tuple[Program, Broken]] = field(default_factory=list)
    refused: list[tuple[Program, Broken]] = field(default_factory=list)

    def add(self, programs: Sequence[Program]) -> None:
        for program in programs:
            if sum(b.endless for _, b in self.broken) >= ENOUGH:
                return
            after = self.subject(program)
            if isinstance(after, Program):
                self.pairs.append((program, after))
            else:
                (self.refused if after.refused else self.broken).append((program, after))

    @property
    def sound(self) -> list[tuple[Program, Program]]:
        """The pairs whose result is a program that can be run."""
        return [(p, q) for p, q in self.pairs if next(iter(problems(q)), None) is None]

    @property
    def changed(self) -> list[tuple[Program, Program]]:
        """The sound pairs that differ."""
        return [(p, q) for p, q in self.sound if p is not q and p != q]


def audit_pass(subject: Any, seed: int, examples: Sequence[Program], skip: frozenset[str], domain: str | None = None) -> Report:
    """The report on a pass."""
    p = as_pass(subject, domain)
    journal = Journal(f"pass {p.name}", skip)
    bench = Bench(p, seed)
    own = own_triggers(p.system.rules) if p.system is not None else ()
    bench.add([*examples, *(t.program for t in triggers()), *own, *generated(seed, GENERATED)])
    journal.check("gives a program", lambda: [_gives(bench)])
    journal.check("well-formed", lambda: [_wellformed(bench)])
    journal.check("signature", lambda: [_signature(bench)])
    values = journal.check("values", lambda: [_values(bench)])
    if any(isinstance(v, Refuted) for v in values) or bench.broken:
        why = "values are not kept" if not bench.broken else "the pass gives no program for some"
        for name in ("gradients", "gradients optimized", "translation validation"):
            journal.not_judged(name, why)
    else:
        journal.check("gradients", lambda: _gradients(bench))
        journal.check("gradients optimized", lambda: [_optimized_gradients(bench)])
        journal.check("translation validation", lambda: validated(bench.changed, p.domain))
    journal.check("cost", lambda: [_cost(bench)])
    journal.check("idempotence", lambda: [settles(p, bench.changed)])
    if p.system is None:
        journal.not_judged("measure, order, blame by steps", "the pass is a function: its steps cannot be seen")
    else:
        system, programs = p.system, [before for before, _ in bench.changed]
        journal.check("measure", lambda: [ends_as_claimed(system, programs)])
        journal.check("order", lambda: [orders(system, programs, seed)])
        journal.check("recorded and unrecorded", lambda: [same_either_way(system, programs)])
        journal.details["rules fired"] = dict(p.fired)
        journal.details["rules that never fired"] = [r.name for r in p.system.rules if not p.fired[r.name]]
        if idle := journal.details["rules that never fired"]:
            journal.not_judged(f"{len(idle)} of {len(p.system.rules)} rules", "they fired on no program: " + ", ".join(idle[:8]))
    if bench.refused:
        journal.not_judged(f"{len(bench.refused)} programs", f"the pass refused them, first with {bench.refused[0][1].why}")
    journal.details["programs"] = len(bench.pairs) + len(bench.broken) + len(bench.refused)
    journal.details["programs changed"] = len(bench.changed)
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
    if not bench.changed:
        return Vacuous("the pass changed no program that is well-formed afterwards", claim)
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
            blame = first_bad_step(bench.subject.system, small, [], bench.subject.domain) if bench.subject.system else None
            note = str(blame) if blame else f"after:\n{text_of(made)}"
            cause = f"{problem[0]}: {problem[1]}"
            return Refuted(
                Counterexample({"program": str(small)}, cause, "a well-formed program", cause, note=note), "fault", claim
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
            return Refuted(_explained(bench, program, found), "fault", claim)
    if not tried:
        return Vacuous("no changed program has a value at the points", claim)
    return Passed(tried, f"runs of {len(bench.changed)} changed programs", claim)


def _explained(bench: Bench, program: Program, found: Difference) -> Counterexample:
    """The failing program and point, made small, with the step to blame."""
    subject, domain = bench.subject, bench.subject.domain

    def at(p: Program, points: Sequence[Point]) -> Difference | None:
        after = subject(p)
        if isinstance(after, Broken) or next(iter(problems(after)), None) is not None or signature(after) != signature(p):
            return None
        return compare(p, after, points, domain)[0]

    def near(p: Program) -> Sequence[Point]:
        return [found.point, *points_for(p, domain, bench.seed)]

    small = reduce(program, lambda p: at(p, near(p)) is not None)
    first = at(small, near(small)) or found
    point = shrink(first.point, lambda candidate: at(small, [candidate]) is not None)
    last = at(small, [point]) or first
    blame = first_bad_step(subject.system, small, [point], domain) if subject.system is not None else None
    made = subject(small)
    note = f"{blame}" if blame is not None else f"before:\n{small}\nafter:\n{made}"
    if subject.system is not None and blame is None:
        note += "\nthe recorded run is sound here: the worklist, not a rule, is to blame"
    cause = f"rule {blame.rule}" if blame is not None else ""
    return Counterexample(
        dict(zip(names_of(small), last.point, strict=True)), said(last.after), said(last.before), cause, note=note
    )


def _gradients(bench: Bench) -> list[Verdict]:
    """grad(opt p) against grad(p), over the reals; at a kink of p a change is a convention."""
    claim = "gradients are kept: grad of the result is grad of the program"
    verdicts: list[Verdict] = []
    tried = 0
    for program, after in _spread(bench.changed, GRADIENTS):
        wrt = reals_of(types_of(program))
        points = list(edge_samples(types_of(program), numbers_in(program), seed=bench.seed, most=12, finite=True))
        if not wrt or not _is_real(program, points):
            continue
        try:
            gradients = Gradients(program, after, wrt, quick=True)
        except AdjudgeError:
            continue
        for verdict in judged(gradients, points, names_of(program), claim):
            if isinstance(verdict, Refuted):
                c = verdict.counterexample
                note = f"before:\n{program}\nafter:\n{after}"
                shown = Counterexample(c.inputs, c.found, c.wanted, c.cause, note=note)
                if all(not isinstance(v, Refuted) or v.kind != verdict.kind for v in verdicts):
                    verdicts.append(Refuted(shown, verdict.kind, claim))
            elif isinstance(verdict, Passed):
                tried += verdict.n
        if any(isinstance(v, Refuted) and v.kind == "fault" for v in verdicts):
            return verdicts
    if tried:
        verdicts.append(Passed(tried, "points of changed programs", claim))
    return verdicts or [Vacuous("no changed program has a real value and a real parameter", claim)]


def _is_real(program: Program, points: Sequence[Point]) -> bool:
    """Whether the program yields reals."""
    runner = Runner(program)
    return any(isinstance(v := runner(p), Value) and type(v.value) is float for p in points[:4])


def _optimized_gradients(bench: Bench) -> Verdict:
    """opt(grad p) against grad(p): gradients are programs too, with tuples, closures and sensitivities in them."""
    claim = "the optimized gradient is the gradient"
    domain, tried, count = bench.subject.domain, 0, 0
    for program in _gradient_programs(bench):
        after = bench.subject(program)
        if isinstance(after, Broken):
            if after.refused:
                continue
            return Refuted(Counterexample({"program": str(program)}, after.why, "a program"), "fault", claim)
        if next(iter(problems(after)), None) is not None:
            return Refuted(Counterexample({"program": str(program)}, "an ill-formed program", "a program"), "fault", claim)
        found, runs = compare(program, after, points_for(program, domain, bench.seed)[:8], domain)
        tried, count = tried + runs, count + (program != after)
        if found is not None:
            return Refuted(_explained(bench, program, found), "fault", claim)
    return (
        Passed(tried, f"runs of {count} gradients that it changed", claim) if tried else Vacuous("no gradient could be made", claim)
    )


def _gradient_programs(bench: Bench) -> Iterator[Program]:
    """Gradients of the shapes and of generated programs: as J leaves them, and with their calls opened."""
    made = 0
    for program, _ in bench.pairs[:40] + bench.pairs[-OF_GRADIENTS:]:
        if made == 2 * OF_GRADIENTS:
            return
        wrt = reals_of(types_of(program))
        if not wrt or not _is_real(program, edge_samples(types_of(program), seed=bench.seed, most=4, finite=True)):
            continue
        try:
            gradient = gradient_program(program, wrt)
            yield gradient
            yield inline.SYSTEM.run(gradient, fuel=2_000)
        except AdjudgeError:
            continue
        made += 1


def _spread(pairs: list[tuple[Program, Program]], most: int) -> list[tuple[Program, Program]]:
    """At most `most` of them: the first, which are examples and shapes, and others evenly spread."""
    if len(pairs) <= most:
        return pairs
    half = most // 2
    rest = pairs[half:]
    return [*pairs[:half], *rest[:: max(1, len(rest) // half)][:half]]


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
