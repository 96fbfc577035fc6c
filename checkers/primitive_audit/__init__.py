"""
The judge of backpropagators (DESIGN, section 6): is this primitive's rule right, everywhere it is defined?

    check(primitive)                          a primitive of the table, or a user's
    check_vjp(forward, pullback, samples)     a black box: forward(*xs) -> y, pullback(xs, y, dy) -> tuple

Each answers with a Report: verdicts with their claims, findings with shrunk inputs and stand-alone scripts, and a ledger of
what every check cost and of what was not judged.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from checkers.primitive_audit import composition, contract, jacobian, kinks, orders, vacuity
from checkers.primitive_audit.build import of_functions, of_row, row_in
from checkers.primitive_audit.subject import Subject
from checkers.verdict import LedgerEntry, OutOfScope, Report, Unknown, Verdict
from semantics.errors import AdjudgeError, Malformed
from semantics.primitives.row import Primitive

ARRAYS = "primitives of your own take reals, not arrays"


def arrays_later(name: str) -> tuple[str, Callable[[Subject], list[Verdict]]]:
    """A check of primitives that take arrays, which are not judged; it says so."""
    return name, lambda subject: [OutOfScope(ARRAYS, name)]


CHECKS: tuple[tuple[str, Callable[[Subject], list[Verdict]]], ...] = (
    *contract.CHECKS,
    *jacobian.CHECKS,
    *kinks.CHECKS,
    *orders.CHECKS,
    *composition.CHECKS,
    *vacuity.CHECKS,
    arrays_later("shapes"),
    arrays_later("large arrays"),
)
NAMES = tuple(name for name, _ in CHECKS)

__all__ = ["CHECKS", "NAMES", "check", "check_vjp"]


def check(
    primitive: Any,
    *,
    seed: int = 0,
    examples: int = 200,
    skip: Sequence[str] = (),
    prover: Callable[[Primitive], Sequence[Verdict]] | None = None,
) -> Report:
    """
    Judges the backpropagator of a primitive of reals: of the table, or an object made by `@primitive`.

    examples  how many points; skip  names of checks to leave out (see NAMES); seed  of every random choice
    prover    what answers the check "proof"; without one it is out of scope
    """

    def subject() -> Subject:
        made = of_row(row_in(primitive), seed=seed, examples=examples)
        made.prover = prover
        return made

    return judged(subject, seed, skip)


def check_vjp(
    forward: Callable[..., Any],
    pullback: Callable[..., Any],
    samples: Sequence[Any],
    *,
    seed: int = 0,
    examples: int = 200,
    skip: Sequence[str] = (),
) -> Report:
    """
    Judges a pullback against a forward function, both of real scalars.

    forward(*xs) -> y; pullback(xs, y, dy) -> tuple of cotangents, or pullback(*xs, y, dy). samples: argument tuples; the inputs
    tried are these, points near them, random ones and the edge pool, where forward is finite.
    """
    return judged(lambda: of_functions(forward, pullback, samples, seed=seed, examples=examples), seed, skip)


def judged(make: Callable[[], Subject], seed: int, skip: Sequence[str]) -> Report:
    """The report of every check but the skipped ones. Malformed for a name that no check bears."""
    skip = (skip,) if isinstance(skip, str) else tuple(skip)
    for name in skip:
        if name not in NAMES:
            raise Malformed(f"there is no check {name!r}", rule="check", remedy=f"one of {', '.join(NAMES)}")
    begin = time.perf_counter()
    subject = make()
    ledger = [LedgerEntry("inputs", time.perf_counter() - begin)]
    verdicts: list[Verdict] = []
    for name, run in CHECKS:
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
    details = {"points": len(subject.points), "references": subject.reference.name}
    return Report(subject.name, tuple(verdicts), tuple(ledger), seed, details)
