"""What tests say of verdicts: that a claim holds, or that a planted bug is found."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from hypothesis import event, settings
from hypothesis.errors import InvalidArgument

from checkers.verdict import Passed, Proved, Refuted, Verdict, summary


def costly(factor: int) -> Any:
    """For a property whose examples are slow: a fraction of the profile's examples, five at least."""
    return settings(max_examples=max(5, examples() // factor))


def examples() -> int:
    """How many examples the chosen profile asks for."""
    chosen = settings.default
    assert chosen is not None, "conftest loads a profile"
    return chosen.max_examples


def note(text: str) -> None:
    """A label for the statistics of a property; nothing outside of one."""
    with suppress(InvalidArgument):
        event(text)


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
