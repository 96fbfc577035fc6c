"""The programs that a pass is judged on, what it made of them, its recorded runs, and the account of a failure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from checkers.optimizer_audit.blame import Blame, first_bad_step
from checkers.optimizer_audit.outcomes import said
from checkers.optimizer_audit.pass_values import Difference, compare, points_for, signature
from checkers.optimizer_audit.reduction import reduce
from checkers.optimizer_audit.samples import Point, names_of, shrink
from checkers.optimizer_audit.subjects import Broken, Pass
from checkers.verdict import Counterexample
from semantics.derivation import Step
from semantics.ir import Program
from semantics.wellformed import problems

ENOUGH = 3
MOST_STEPS = 4_000  # of recorded runs


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

    @cached_property
    def runs(self) -> list[tuple[Step[Program], ...]]:
        """The recorded runs on the changed programs, as long as there are not too many steps in all."""
        found: list[tuple[Step[Program], ...]] = []
        steps = 0
        for program, _ in self.changed:
            if steps > MOST_STEPS:
                break
            found.append(self.subject.steps(program))
            steps += len(found[-1])
        return found

    @property
    def changed(self) -> list[tuple[Program, Program]]:
        """The sound pairs that differ."""
        return [(p, q) for p, q in self.sound if p is not q and p != q]

    @property
    def idle(self) -> bool:
        """Whether the pass gave every program back as it was, so that nothing is known of it."""
        return bool(self.pairs) and not self.broken and len(self.sound) == len(self.pairs) and not self.changed

    @property
    def fired(self) -> Counter[str]:
        """How often each rule fired: in all runs of a system of rules, in the recorded ones of other passes."""
        return self.subject.fired if self.subject.system is not None else Counter(s.rule for run in self.runs for s in run)


def explained(bench: Bench, program: Program, found: Difference) -> Counterexample:
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
    blame = first_bad_step(subject, small, [point], domain)
    note = f"{blame}" if blame is not None else f"before:\n{small}\nafter:\n{subject(small)}"
    if blame is None:
        note += "\nthe recorded run is sound here: what drives the rules, not a rule, is to blame"
    return Counterexample(
        dict(zip(names_of(small), last.point, strict=True)),
        said(last.after),
        said(last.before),
        cause_of(subject, blame),
        note=note,
    )


def cause_of(subject: Pass, blame: Blame | None) -> str:
    """The rule or the pass to blame; a function is its own only step."""
    if blame is None or blame.rule == subject.name:
        return ""
    return f"rule {blame.rule}" if any(r.name == blame.rule.rsplit("/", 1)[-1] for r in subject.rules) else f"pass {blame.rule}"
