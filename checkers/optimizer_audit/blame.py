"""
Blame: which step of a pass is the first bad one, and the smallest program on which its rule goes wrong.

The run is recorded and bisected: the program before the bad step agrees with the start at the failing points, the one after it does
not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from checkers.optimizer_audit.pass_values import compare
from checkers.optimizer_audit.reduction import reduce, text_of
from checkers.optimizer_audit.samples import Point
from semantics.derivation import Step
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.wellformed import problems
from transforms.system import Rewrite, RewriteSystem, places

FUEL = 3_000


@dataclass(frozen=True)
class Blame:
    """The rule, where it fired, and the program before and after, shrunk."""

    rule: str
    place: str
    before: Program
    after: Program
    step: int = 0

    def __str__(self) -> str:
        where = f"first bad step: number {self.step}, rule {self.rule} at {self.place}"
        return f"{where}\nbefore:\n{text_of(self.before)}\nafter:\n{text_of(self.after)}"


def first_bad_step(system: RewriteSystem, program: Program, points: Sequence[Point], domain: str) -> Blame | None:
    """The first step that changes what `program` computes at `points`, by bisection; None if the recorded run is sound there."""
    try:
        steps = system.derive(program, fuel=FUEL, checked=False).steps
    except AdjudgeError:
        steps = ()
    if not steps or not bad(program, steps[-1].after, points, domain):
        return None
    low, high = 0, len(steps)  # the program after `low` steps is sound, after `high` steps bad
    while high - low > 1:
        middle = (low + high) // 2
        if bad(program, steps[middle - 1].after, points, domain):
            high = middle
        else:
            low = middle
    return _shrunk(system, steps[high - 1], points, domain, high)


def bad(before: Program, after: Program, points: Sequence[Point], domain: str) -> bool:
    """Whether `after` is ill-formed or computes something else."""
    if next(iter(problems(after)), None) is not None:
        return True
    return compare(before, after, points, domain)[0] is not None


def _shrunk(system: RewriteSystem, step: Step[Program], points: Sequence[Point], domain: str, number: int) -> Blame:
    rule = next(r for r in system.rules if r.name == step.rule)

    def fails(program: Program) -> bool:
        return wrong(rule, program, points, domain) is not None

    small = reduce(step.before, fails) if fails(step.before) else step.before
    after = wrong(rule, small, points, domain) or step.after
    return Blame(step.rule, step.place, small, after, number)


def wrong(rule: Rewrite, program: Program, points: Sequence[Point], domain: str) -> Program | None:
    """What one step of the rule makes of the program, if that is bad."""
    for place in places(program):
        after = rule.function(program, place)
        if after is not None and bad(program, after, points, domain):
            return after
    return None
