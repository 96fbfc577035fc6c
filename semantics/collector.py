"""
The collector of cycles rests while programs are read and transformed, and until a first run has begun.

A transform makes millions of small objects that live on, and no cycles of them: reference counts free what it drops. The collector
would walk over all that lives each time it has grown by a quarter, which is most of the time at 10,000 statements: J of a
straight line of them takes 22.8 s with it and 6.8 s without, of 100 statements the same with and without.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def at_rest() -> Iterator[None]:
    """No collection inside; afterwards the collector is as it was before."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
