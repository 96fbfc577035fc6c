"""
The judge of backpropagators on arrays (DESIGN, section 6), for rows, for users' functions, for black boxes of other frameworks.

    judged(make, seed, skip)     the report of every check on the trial that `make` makes
    summary(make, names)         a few checks at once, for a function of reals that takes arrays as well

The interface of the package is `case.py` (an application, its coordinates), `bounds.py` (what a reference knows) and `trial.py`
(what is on trial). A check is a function from a trial to verdicts; every module of checks ends with the table of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from checkers.array_audit import (
    accuracy,
    algebra,
    composition,
    contract,
    jacobian,
    kinks,
    large,
    optimizing,
    orders,
    proving,
    purity,
    sweeps,
    tangents,
    vacuity,
)
from checkers.array_audit.trial import Trial
from checkers.judgment import judged as run_all
from checkers.plots import errors_of
from checkers.verdict import OutOfScope, Passed, Refuted, Report, Unknown, Verdict

CHECKS: tuple[tuple[str, Callable[[Trial], list[Verdict]]], ...] = (
    *purity.CHECKS,
    *contract.CHECKS,
    *algebra.CHECKS,
    *jacobian.CHECKS,
    *accuracy.CHECKS,
    *kinks.CHECKS,
    *sweeps.CHECKS,
    *orders.CHECKS,
    *tangents.CHECKS,
    *composition.CHECKS,
    *optimizing.CHECKS,
    *proving.CHECKS,
    *large.CHECKS,
    *vacuity.CHECKS,
)
NAMES = tuple(name for name, _ in CHECKS)
CORE = ("structure", "purity", "algebra", "jacobian", "edges", "shapes")
"""What is asked on arrays of a primitive that is judged as a function of reals."""

__all__ = ["CHECKS", "CORE", "NAMES", "judged", "summary"]


def judged(make: Callable[[], Trial], seed: int, skip: Sequence[str]) -> Report:
    """The report of every check but the skipped ones. Malformed for a name that no check bears."""
    return run_all(make, CHECKS, seed=seed, skip=skip, details=details, plots=lambda trial: (errors_of(trial),))


def details(trial: Trial) -> dict[str, object]:
    """How many cases there were, and the references, strongest first."""
    return {"cases": len(trial.cases), "references": ", then ".join(r.name for r in trial.references)}


def summary(trial: Trial, names: Sequence[str], claim: str) -> list[Verdict]:
    """The faults that some checks find, under one claim; or on how many inputs they passed."""
    found = [verdict for name, check in CHECKS if name in names for verdict in check(trial)]
    faults: list[Verdict] = [
        replace(v, claim=claim, counterexample=replace(v.counterexample, note=f"{v.claim}; {v.counterexample.note}"))
        for v in found
        if isinstance(v, Refuted) and v.kind == "fault"
    ]
    if faults:
        return faults
    passed = [v for v in found if isinstance(v, Passed)]
    if passed:
        judged_by = ", ".join(dict.fromkeys(v.claim for v in passed))
        return [Passed(sum(v.n for v in passed), f"entries and cases on arrays ({judged_by})", claim)]
    reasons = [v.reason for v in found if isinstance(v, Unknown)] + [v.why for v in found if isinstance(v, OutOfScope)]
    return [Unknown(reasons[0] if reasons else "nothing could be judged on arrays", claim)]
