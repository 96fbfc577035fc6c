"""
Arguments with ties: equal elements within an argument, and across arguments. Kinks of max, sort, norm and their kind lie there.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from checkers.array_audit.case import Arguments, Case, flat, leaves
from checkers.array_audit.edges import with_coordinates


def ties(bases: Sequence[Case], source: random.Random) -> Iterator[tuple[str, Arguments]]:
    """For each base in turn one kind of tie, across leaves and within one by turns, until every kind has been."""
    running = [each for base in bases for each in (_across(base, source), _within(base, source))]
    while running:
        for each in list(running):
            if (found := next(each, None)) is None:
                running.remove(each)
            else:
                yield found


def _within(base: Case, source: random.Random) -> Iterator[tuple[str, Arguments]]:
    parts = _parts(base)
    for k, part in enumerate(parts):
        if part.size < 2:
            continue
        yield "the greatest twice", _with(base, parts, k, _twice(part, part.argmax(), source))
        yield "all equal", _with(base, parts, k, np.full_like(part, part.flat[source.randrange(part.size)]))
        yield "two equal", _with(base, parts, k, _twice(part, source.randrange(part.size), source))
        yield "the least twice", _with(base, parts, k, _twice(part, part.argmin(), source))
        for axis in range(part.ndim):
            if part.ndim > 1 and part.shape[axis] > 1:
                equal = np.take(part, [0, 0, *range(2, part.shape[axis])], axis)
                yield f"two equal along axis {axis}", _with(base, parts, k, equal)


def _across(base: Case, source: random.Random) -> Iterator[tuple[str, Arguments]]:
    parts = _parts(base)
    for i, a in enumerate(parts):
        for j, b in enumerate(parts):
            if i == j or not a.size or not b.size:
                continue
            if a.shape == b.shape and i < j:
                yield "equal arguments", _with(base, parts, j, a)
                yield "opposite arguments", _with(base, parts, j, -a)
            if b.size > 1 or a.shape != b.shape:
                one = b.copy()
                one.flat[source.randrange(b.size)] = a.flat[source.randrange(a.size)]
                yield "an element of one argument in another", _with(base, parts, j, one)


def _parts(base: Case) -> list[Any]:
    return [np.asarray(leaf, dtype=np.float64) for _, leaf in leaves(base.arguments, base.fixed)]


def _twice(part: Any, place: Any, source: random.Random) -> Any:
    """The element at `place` in another place too."""
    other = (int(place) + source.randrange(1, part.size)) % part.size
    found = part.copy()
    found.flat[other] = part.flat[place]
    return found


def _with(base: Case, parts: Sequence[Any], k: int, part: Any) -> Arguments:
    return with_coordinates(base, flat([*parts[:k], part, *parts[k + 1 :]]))
