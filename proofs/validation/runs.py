"""
Runs of the optimizer, validated by its own map of nodes: an edit keeps identifiers, so a node of the program before is found in the
program after.

A *window* is some steps in a row. It is proved by local obligations (`checkers.optimizer_audit.obligations`): what has changed
from its first program to its last is unfolded on both sides down to what both have, and must be one term. First the whole run is
one window; one that is not proved is halved, one that is proved is followed by one of twice the size. A window of one step may ask
a solver. So the cost is that of the changes and of a look at the program for each window, not for each step.

A program without branches needs no map where only its real value matters: the two ends of the run are swept (`same`).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from checkers.optimizer_audit.term_equality import OPEN, PROVED, REFUTED, SCREENED
from checkers.optimizer_audit.validation import TESTED, Judged, Validator, blamed, by_terms
from checkers.smt.inquiry import Judgment
from checkers.verdict import Passed, Proved, Unknown, Vacuous, Verdict
from semantics.derivation import Step
from semantics.ir import Program

CLAIM = "translation validation of a run"


@dataclass
class Windows:
    """What became of the windows of one run: how many steps by which method, and the first that are not proved, with why."""

    steps: Counter[str] = field(default_factory=Counter)
    doubts: dict[str, str] = field(default_factory=dict)
    proved: int = 0
    tried: int = 0

    def __str__(self) -> str:
        found = ", ".join(f"{n} {how}" for how, n in self.steps.most_common())
        doubts = "".join(f"; {rule}: {why}" for rule, why in list(self.doubts.items())[:3])
        return f"{self.steps.total()} steps in {self.proved} windows: {found}{doubts}"

    def verdict(self) -> Verdict:
        """Proved only if every step is."""
        total = self.steps.total()
        if not total:
            return Vacuous("the run has no step", CLAIM)
        if self.steps[OPEN]:
            return Unknown(str(self), CLAIM)
        return Passed(total, str(self), CLAIM) if self.steps[TESTED] or self.steps[SCREENED] else Proved(str(self), CLAIM)


def validated(steps: Sequence[Step[Program]], domain: str = "BITS", seed: int = 0) -> Judgment:
    """
    Whether the last program of a recorded run means what the first does: proved, passed where single steps are tested only, refuted
    with the step that is wrong, or unknown.
    """
    started = time.perf_counter()
    validator, found = Validator(domain, seed), Windows()
    at, size = 0, len(steps)
    while at < len(steps):
        size = min(size, len(steps) - at)
        judged = window(validator, steps[at : at + size])
        found.tried += 1
        if size > 1 and judged.status != PROVED:
            size //= 2
            continue
        if judged.status == REFUTED and judged.counterexample is not None:
            verdict = blamed(steps[at], at + 1, judged.counterexample)
            return Judgment(CLAIM, "local obligations", verdict, time.perf_counter() - started)
        status = OPEN if judged.status == REFUTED else judged.status
        found.steps[f"by {judged.how}" if status == PROVED else status] += size
        if status != PROVED:
            found.doubts.setdefault(steps[at].rule, judged.how)
        found.proved += status == PROVED
        at, size = at + size, 2 * size
    return Judgment(CLAIM, "local obligations", found.verdict(), time.perf_counter() - started)


def window(validator: Validator, steps: Sequence[Step[Program]]) -> Judged:
    """By equal terms, however many steps there are; a single one by all other means too."""
    before, after = steps[0].before, steps[-1].after
    judged = by_terms(before, after)
    return validator.step(before, after) if len(steps) == 1 and judged.status != PROVED else judged
