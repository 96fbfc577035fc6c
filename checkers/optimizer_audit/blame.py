"""
Blame: which step of a pass is the first bad one, and the smallest program on which its rule goes wrong.

The run is recorded and bisected: the program before the bad step agrees with the start, the one after it does not. What agreement
is, is up to the caller: the value at failing points, or the gradient. For passes in a row the steps are those of all of them; for a
function the one step is the function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from checkers.optimizer_audit.pass_values import compare, signature
from checkers.optimizer_audit.reduction import reduce, text_of
from checkers.optimizer_audit.samples import Point
from checkers.optimizer_audit.subjects import Pass, Redo, as_pass
from semantics.derivation import Step
from semantics.ir import Program
from semantics.wellformed import problems

Bad = Callable[[Program, Program], bool]


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


def first_bad_step(system: Any, program: Program, points: Sequence[Point], domain: str) -> Blame | None:
    """The first step that changes what `program` computes at `points`, by bisection; None if the recorded run is sound there."""
    subject = system if isinstance(system, Pass) else as_pass(system, domain)
    return blamed_step(subject, program, lambda before, after: bad(before, after, points, domain))


def blamed_step(subject: Pass, program: Program, is_bad: Bad) -> Blame | None:
    """The first step after which the program is bad, compared with the start; None if the recorded run ends well."""
    steps = subject.steps(program)
    if not steps or not is_bad(program, steps[-1].after):
        return None
    low, high = 0, len(steps)  # the program after `low` steps is sound, after `high` steps bad
    while high - low > 1:
        middle = (low + high) // 2
        if is_bad(program, steps[middle - 1].after):
            high = middle
        else:
            low = middle
    return _shrunk(subject, steps[high - 1], is_bad, high)


def bad(before: Program, after: Program, points: Sequence[Point], domain: str) -> bool:
    """Whether `after` is ill-formed, takes other parameters, or computes something else."""
    if next(iter(problems(after)), None) is not None or signature(before) != signature(after):
        return True
    return compare(before, after, points, domain)[0] is not None


def _shrunk(subject: Pass, step: Step[Program], is_bad: Bad, number: int) -> Blame:
    again = subject.redo.get(step.rule)
    if again is None or wrong(again, step.before, is_bad) is None:
        return Blame(step.rule, step.place, step.before, step.after, number)
    small = reduce(step.before, lambda p: wrong(again, p, is_bad) is not None)
    after = wrong(again, small, is_bad)
    assert after is not None
    return Blame(step.rule, step.place, small, after, number)


def wrong(again: Redo, program: Program, is_bad: Bad) -> Program | None:
    """What one step of the rule makes of the program, if that is bad."""
    return next((after for after in again(program) if is_bad(program, after)), None)
