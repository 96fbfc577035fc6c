"""
Check 9 on arrays: the digits that a rule loses against the reference's bounds, on all cases. A rule that is right over the reals
and wrong in doubles is an accuracy finding, one per argument; otherwise the worst entry is told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from checkers.array_audit.case import ORIGINS
from checkers.array_audit.jacobian import judge, lost_digits
from checkers.array_audit.opinion import entries
from checkers.array_audit.trial import Trial
from checkers.verdict import Passed, Refuted, Verdict

FULL = 15.95
NORMAL = 2.0**-900
"""Of smaller derivatives the least digits are subnormal, and not counted."""


def accuracy(trial: Trial) -> list[Verdict]:
    """9: every entry keeps the digits that its operations allow."""
    claim = "accuracy"
    found = judge(trial, claim, ORIGINS, kind="accuracy")
    if any(isinstance(v, Refuted) for v in found) or not isinstance(found[0], Passed):
        return found
    worst = 0.0
    for case in trial.cases:
        opinions = entries(trial, case)
        gap = np.where(opinions.right, opinions.wanted.distance(opinions.found), 0.0) / np.maximum(opinions.wanted.size, 1e-300)
        gap = gap[opinions.wanted.size > NORMAL]
        if gap.size:
            worst = max(worst, lost_digits(1.0 + float(gap.max()), 1.0))
    return [Passed(found[0].n, f"{found[0].what}; the worst entry loses {worst:.1f} of {FULL} digits", claim)]


CHECKS: Sequence[tuple[str, Callable[[Trial], list[Verdict]]]] = (("accuracy", accuracy),)
