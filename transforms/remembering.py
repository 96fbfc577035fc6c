"""
What is made of the table alone, such as the backpropagator of a primitive read from its text, remembered from process to process.

Who runs a transform says by what: `with remembering(f)`, where f(key, make) gives what `make` gave when it was last called for this
key by the same code. A transform has no files of its own, so without it everything is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")
Memory = Callable[[str, Callable[[], Any]], Any]

_MEMORIES: list[Memory] = []


@contextmanager
def remembering(memory: Memory) -> Iterator[None]:
    """Inside, what is made of the table alone is looked for in this memory first."""
    _MEMORIES.append(memory)
    try:
        yield
    finally:
        _MEMORIES.pop()


def remembered(key: str, make: Callable[[], T]) -> T:
    """What `make` gives, now or when it was last called."""
    return _MEMORIES[-1](key, make) if _MEMORIES else make()
