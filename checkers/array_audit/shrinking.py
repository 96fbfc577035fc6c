"""
A simpler case at which the same thing is wrong: first plain in memory, then fewer elements, then simpler numbers.

    layout     row-major, if the failure does not need the other
    elements   of each size, half, a quarter or one of them is left out, along all axes that have it; then along each axis alone
    numbers    all ones, then each coordinate simpler: 0, 1, 2, whole, fewer bits (`primitive_audit.findings.simpler`)

Greedy and deterministic. Every step is a case at which it fails; within TRIES attempts nothing is left that makes one simpler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from checkers.array_audit.case import Arguments, Case, Path, replaced
from checkers.array_audit.edges import with_coordinates
from checkers.array_audit.layouts import Layout, laid_out, layout_of, plain
from checkers.array_audit.shapes import Axis, arrays_in, groups
from checkers.array_audit.trial import Trial
from checkers.primitive_audit.findings import complexity, simpler

TRIES = 160
FEW = 16
"""Of more places than these, single ones are not left out: that would use up the attempts."""
Fails = Callable[[Case], bool]


def shrink(case: Case, fails: Fails, trial: Trial, tries: int = TRIES) -> Case:
    """A case at which `fails` holds, as it does at this one: the simplest that was found within so many attempts."""
    search = _Search(case, fails, trial, tries)
    search.unlay()
    search.drop()
    search.simplify()
    return search.case


class _Search:
    """The simplest case so far, and how many attempts are left."""

    def __init__(self, case: Case, fails: Fails, trial: Trial, tries: int) -> None:
        self.case, self.fails, self.trial, self.left = case, fails, trial, tries
        self.layout: Layout | None = layout_of(case.note) if case.origin == "layout" else None

    def accepts(self, arguments: Arguments) -> bool:
        """Moves to the arguments if it fails there too."""
        if self.left <= 0:
            return False
        self.left -= 1
        if self.layout is not None:
            arguments = laid_out(arguments, self.layout)
        note = f"shrunk from {self.case.origin}" + (f": {self.case.note}" if self.case.note else "")
        note = self.case.note if self.case.origin == "shrunk" else note
        found = self.trial.case(arguments, "shrunk", note)
        if found is None or not self.fails(found):
            return False
        self.case = found
        return True

    def unlay(self) -> None:
        """Plain arrays, if it fails with them; else the layout is kept from here on."""
        kept, self.layout = self.layout, None
        if not self.accepts(laid_out(self.case.arguments, plain)):
            self.layout = kept

    def drop(self) -> None:
        """No size can lose a part of itself, along the axes that share it or along one alone. Numbers keep a third of the tries."""
        reserved = self.left // 3
        moved = True
        while moved:
            moved = False
            for smaller in smallers(self.case.arguments):
                if self.left <= reserved:
                    return
                if self.accepts(smaller):
                    moved = True
                    break

    def simplify(self) -> None:
        """No single coordinate can be simpler."""
        self.accepts(with_coordinates(self.case, np.ones(self.case.size)))
        moved = True
        while moved:
            moved = False
            for k in range(self.case.size):
                if self.left <= 0:
                    return
                moved |= self._simpler(k)

    def _simpler(self, k: int) -> bool:
        at = self.case.coordinates
        for x in simpler(float(at[k])):
            if complexity(x) < complexity(float(at[k])):
                new = np.array(at)
                new[k] = x
                if self.accepts(with_coordinates(self.case, new)):
                    return True
        return False


def smallers(arguments: Arguments) -> Iterator[Arguments]:
    """The arguments with parts left out: of all axes of one size together, then of each axis alone; the largest parts first."""
    shared = groups([arguments])
    alone = [(axis,) for group in shared for axis in group if len(group) > 1]
    for group in (*shared, *alone):
        n = _size(arguments, group[0])
        for keep in _kept(n):
            yield without(arguments, group, keep)


def _size(arguments: Arguments, axis: Axis) -> int:
    return int(dict(arrays_in(arguments))[axis[0]].shape[axis[1]])


def _kept(n: int) -> Iterator[list[int]]:
    """The places to keep of n: either half, all but a quarter, all but one of few."""
    if n > 2:
        yield list(range(n // 2))
        yield list(range(n // 2, n))
    if n > 4:
        yield from ([i for i in range(n) if not k * n // 4 <= i < (k + 1) * n // 4] for k in range(4))
    if 1 < n <= FEW:
        yield from ([i for i in range(n) if i != k] for k in reversed(range(n)))


def without(arguments: Arguments, group: Sequence[Axis], keep: Sequence[int]) -> Arguments:
    """The arguments with these places only along the axes."""
    new: dict[Path, Any] = {}
    arrays = dict(arrays_in(arguments))
    for path, axis in group:
        new[path] = np.take(new.get(path, arrays[path]), keep, axis)
    return replaced(arguments, new)
