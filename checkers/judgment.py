"""
Running checks: the report of a subject, with what every check cost and what was not judged. It knows nothing of the checks.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any, TypeVar

import numpy as np

from checkers.plots import Plot
from checkers.verdict import LedgerEntry, OutOfScope, Report, Unknown, Verdict
from semantics.errors import AdjudgeError, Malformed

S = TypeVar("S")


def judged(
    make: Callable[[], S],
    checks: Sequence[tuple[str, Callable[[S], list[Verdict]]]],
    *,
    seed: int,
    skip: Sequence[str],
    details: Callable[[S], dict[str, Any]],
    plots: Callable[[S], tuple[Plot, ...]],
) -> Report:
    """
    The report of every check but the skipped ones, on the subject that is made. Malformed for a name that no check bears.

    A subject has a name, and `lost`: reasons why something about it cannot be judged. A check that stops with one of our errors is
    Unknown, with the reason.
    """
    skip = known(skip, [name for name, _ in checks])
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return _judged(make, checks, seed, skip, details, plots)


def _judged(
    make: Callable[[], S],
    checks: Sequence[tuple[str, Callable[[S], list[Verdict]]]],
    seed: int,
    skip: tuple[str, ...],
    details: Callable[[S], dict[str, Any]],
    plots: Callable[[S], tuple[Plot, ...]],
) -> Report:
    """The same with nothing left to check, and without NumPy's warnings: on edges they are of no interest."""
    begin = time.perf_counter()
    subject: Any = make()
    ledger = [LedgerEntry("inputs", time.perf_counter() - begin)]
    verdicts: list[Verdict] = []
    for name, run in checks:
        if name in skip:
            ledger.append(LedgerEntry(name, 0.0, "asked to be skipped"))
            continue
        begin = time.perf_counter()
        try:
            found = run(subject)
        except AdjudgeError as error:
            found = [Unknown(f"the check stopped: {error.what}", name)]
        verdicts += found
        reasons = [v.why for v in found if isinstance(v, OutOfScope)] + [v.reason for v in found if isinstance(v, Unknown)]
        ledger.append(LedgerEntry(name, time.perf_counter() - begin, "; ".join(reasons)))
    ledger += [LedgerEntry("black box", 0.0, lost) for lost in subject.lost]
    begin = time.perf_counter()
    drawn = plots(subject)
    ledger.append(LedgerEntry("plots", time.perf_counter() - begin))
    return Report(subject.name, tuple(verdicts), tuple(ledger), seed, details(subject), drawn)


def known(skip: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """The names of checks to skip. Malformed if one is none."""
    skip = (skip,) if isinstance(skip, str) else tuple(skip)
    for name in skip:
        if name not in names:
            like = "".join(f"did you mean {found!r}? " for found in get_close_matches(name, names, 1))
            raise Malformed(f"there is no check {name!r}", rule="check", remedy=f"{like}one of {', '.join(names)}")
    return skip
