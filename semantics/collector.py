"""
The collector of cycles rests while programs are read and transformed, and in a call until it turns out to be a long one.

A transform makes millions of small objects that live on, and no cycles of them: reference counts free what it drops. The collector
would walk over all that lives each time it has grown by a quarter, which is most of the time at 10,000 statements: J of a
straight line of them takes 22.8 s with it and 6.8 s without, of 100 statements the same with and without.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

_RESTING: list[bool] = []
"""For each `at_rest` that is entered, from the outermost on, whether the collector was at work before."""

_ONE = RLock()
"""One thread at a time puts the collector to rest or to work; a process that is forked in between finds nobody at it."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_ONE.acquire, after_in_parent=_ONE.release, after_in_child=_ONE.release)

_SETTLED: list[bool] = []
"""Not empty once `settle` has done its work: again and again, it would keep full collections from coming."""


@contextmanager
def at_rest() -> Iterator[None]:
    """No collection inside; afterwards, and after what other threads do meanwhile, the collector is as it was before."""
    with _ONE:
        _RESTING.append(gc.isenabled())
        gc.disable()
    try:
        yield
    finally:
        with _ONE:
            if _RESTING.pop():
                gc.enable()


def settle() -> None:
    """
    Once in a process, all that lives is put among the oldest objects, and none is counted as new: else the collector, which has
    rested, would go over the modules and the first program as soon as it is back, 3 to 12 ms in a first call. What is no longer
    needed then is found by a full collection, as other old objects are. Nothing is done where someone has frozen objects.
    """
    if not _SETTLED and gc.get_freeze_count() == 0:
        _SETTLED.append(True)
        gc.freeze()
        gc.unfreeze()


@contextmanager
def at_work() -> Iterator[None]:
    """Inside, the collector is as it was before it came to rest: for what may take long, in a call that might have been short."""
    with _ONE:
        was = gc.isenabled()
        if _RESTING and _RESTING[0]:
            gc.enable()
    try:
        yield
    finally:
        with _ONE:
            if not was and _RESTING:  # else the rest is over, which was another thread's
                gc.disable()
