"""How a row is measured: the best of several runs in CPU seconds, and the peak of allocated memory."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """A measured thing, what it is compared with, and their ratio."""

    what: str
    value: str
    against: str
    ratio: str


def named(programs: Mapping[str, Any], only: str) -> dict[str, Any]:
    """The programs whose name has a text in it, in either case; all, if there is no text."""
    return {name: program for name, program in programs.items() if only.lower() in name.lower()}


def timed(action: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    """The least CPU time of `repeats` runs, in seconds, garbage collected before each; and the result."""
    best, result = float("inf"), None
    for _ in range(repeats):
        gc.collect()
        start = time.process_time()
        result = action()
        best = min(best, time.process_time() - start)
    return best, result


def seconds(action: Callable[[], Any], repeats: int = 3) -> float:
    """The least CPU time of `repeats` runs, in seconds."""
    return timed(action, repeats)[0]


def seconds_a_call(function: Callable[..., Any], given: tuple[Any, ...], calls: int, repeats: int = 3) -> float:
    """
    The least CPU time of a call, of `repeats` runs of so many calls. No result is kept: as a list of them grows, each would lie
    in memory that the system has yet to give, which for arrays can take ten times as long as the call.
    """

    def run() -> None:
        for _ in range(calls):
            function(*given)

    return seconds(run, repeats) / calls


def peak(action: Callable[[], Any]) -> int:
    """The most memory that Python had allocated at once during one run beyond what it had before, in bytes."""
    gc.collect()
    tracemalloc.start()
    action()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most
