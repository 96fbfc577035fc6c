"""
Check 18 on arrays: optimizing a gradient that goes through the rule changes no bit of it.

Two of the programs of `composition`, one that shares and one that loops: what the optimizer may share, drop and fold is there.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from checkers.array_audit.composition import FUEL, weights
from checkers.array_audit.findings import finding
from checkers.array_audit.machine_arrays import inside
from checkers.array_audit.programs import NO_REALS, never_real, ordinary, placed, with_reals
from checkers.array_audit.templates import TEMPLATES, template
from checkers.array_audit.trial import Trial
from checkers.verdict import OutOfScope, Passed, Unknown, Verdict
from semantics.errors import AdjudgeError, OutOfFuel
from semantics.machine import Machine
from semantics.values import same
from transforms.gradient_programs import gradient_program
from transforms.pipeline import optimize

CASES = 2
SHARED = ("fan-out", "one turn")


def optimizer(trial: Trial) -> list[Verdict]:
    """18: the optimized gradient of a program that calls the primitive has the same bits."""
    claim = "optimizer"
    if never_real(trial):
        return [OutOfScope(NO_REALS, claim)]
    source = random.Random(trial.seed + 18)
    judged = 0
    for case in ordinary(trial, CASES):
        at = placed(trial, case)
        given = [*at.arguments, with_reals(inside(case.value), weights(case, source))]
        for name in SHARED:
            gradient = gradient_program(template(at, TEMPLATES[name].text), at.varying)
            try:
                before = Machine(gradient).run(given, FUEL).value
            except (AdjudgeError, ArithmeticError):
                continue
            try:
                after = Machine(optimize(gradient)).run(given, FUEL).value
            except OutOfFuel as error:
                return [Unknown(error.what, claim)]
            judged += 1
            if not same(before, after):
                cause = f"optimizing the gradient of '{name}' changed its bits: a bug of the optimizer, or an impure rule"
                return [finding(trial, claim, case, found=after, wanted=before, cause=cause)]
    if not judged:
        return [Unknown("no ordinary case at which every entry of the rule is right", claim)]
    return [Passed(judged, "optimized gradients, bit for bit", claim)]


CHECKS: Sequence[tuple[str, Callable[[Trial], list[Verdict]]]] = (("optimizer", optimizer),)
