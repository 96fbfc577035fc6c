"""The record of one audit: verdicts in order, a ledger entry with its cost for every check, and details for the report."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from checkers.verdict import LedgerEntry, OutOfScope, Report, Unknown, Verdict
from semantics.errors import AdjudgeError

_WATCHER: ContextVar[Callable[[str], None] | None] = ContextVar("watcher", default=None)


@contextmanager
def watched(watcher: Callable[[str], None]) -> Iterator[None]:
    """Tells `watcher` the name of every check as it begins: audits can be long."""
    token = _WATCHER.set(watcher)
    try:
        yield
    finally:
        _WATCHER.reset(token)


@dataclass
class Journal:
    """Where checks leave what they found. `skip` names checks that the caller does not want."""

    subject: str
    skip: frozenset[str] = frozenset()
    verdicts: list[Verdict] = field(default_factory=list)
    ledger: list[LedgerEntry] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)

    def check(self, name: str, judge: Callable[[], Iterable[Verdict]]) -> tuple[Verdict, ...]:
        """Runs one check. What it could not judge becomes a ledger entry with the reason; an error of ours, Unknown."""
        if name in self.skip:
            self.ledger.append(LedgerEntry(name, 0.0, "the caller asked to skip it"))
            return ()
        if (watcher := _WATCHER.get()) is not None:
            watcher(name)
        began = time.perf_counter()
        try:
            found = tuple(judge())
        except AdjudgeError as error:
            found = (Unknown(f"{type(error).__name__}: {error.what}", name),)
        except Exception as error:  # a check that breaks must not take the others with it, nor pass for success
            found = (Unknown(f"the check broke, which is a bug of ours: {type(error).__name__}: {error}", name),)
        seconds = time.perf_counter() - began
        self.verdicts += found
        reasons = [v.why for v in found if isinstance(v, OutOfScope)] + [v.reason for v in found if isinstance(v, Unknown)]
        self.ledger.append(LedgerEntry(name, seconds, "; ".join(dict.fromkeys(reasons))))
        return found

    def not_judged(self, name: str, why: str) -> None:
        """Notes a check that was not made, and why."""
        self.ledger.append(LedgerEntry(name, 0.0, why))

    def report(self, seed: int) -> Report:
        """Everything as one report."""
        return Report(self.subject, tuple(self.verdicts), tuple(self.ledger), seed, dict(self.details))
