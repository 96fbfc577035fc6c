"""What tests say of verdicts: that a claim holds, or that a planted bug is found."""

from __future__ import annotations

from hypothesis import event
from hypothesis.errors import InvalidArgument

from checkers.verdict import Passed, Proved, Refuted, Verdict, summary


def note(text: str) -> None:
    """A label for the statistics of a property; nothing outside of one."""
    try:
        event(text)
    except InvalidArgument:
        pass


def holds(verdict: Verdict) -> bool:
    """Fails with the counterexample if the claim is refuted; whether it was really judged."""
    if isinstance(verdict, Refuted):
        raise AssertionError(f"{verdict.claim} is refuted\n{verdict.counterexample}")
    judged = isinstance(verdict, (Passed, Proved))
    note(f"{verdict.claim}: {'judged' if judged else type(verdict).__name__}")
    return judged


def judged(verdict: Verdict) -> None:
    """Fails unless the claim was judged and holds: for inputs on which it must not be vacuous."""
    assert holds(verdict), summary(verdict)


def refuted(verdict: Verdict) -> Refuted:
    """Fails unless the claim is refuted: the planted bug was found."""
    assert isinstance(verdict, Refuted), f"the planted bug was not found: {summary(verdict)}"
    return verdict
