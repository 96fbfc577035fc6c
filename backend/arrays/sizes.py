"""
Sizes that are one: which texts stand for the same size, by what has been tested in the code at hand.

A test of two sizes, and every other after it, speaks of them by one name. So no pair is tested twice, and shapes are the same where
their texts are.
"""

from __future__ import annotations

from typing import Any

from backend.arrays.values import ONE, Sizes
from backend.status import SIZES

LOCAL = "_.shape["
"""What is in the size of an array that was made here, and may come of a slice by a branch or a loop."""


class Comparing:
    """
    What the emitter knows of sizes; for each piece of code, the name of a size whose other name is given.

    cut       the sizes of slices that begin or end where a run says, and that are no others: these are empty in some turns, as
              that of x[i + 1:] is in the last
    in_cells  the axes of arrays in cells of stacks of which these are the sizes
    shapes    the sizes of arrays that have been written into cells, by their names
    """

    code: list[Any]

    def __init__(self) -> None:
        self.proved: dict[int, tuple[list[Any], dict[str, str]]] = {}
        self.cut: set[str] = set()
        self.in_cells: set[tuple[Any, str, int]] = set()
        self.shapes: dict[str, Sizes] = {}

    def equal(self, a: str, b: str) -> str:
        """A size, after a test that both are the same."""
        a, b = self.same(a), self.same(b)
        if a != b:
            self.trap(f"{a} != {b}", SIZES)  # type: ignore[attr-defined]
            self.unified(a, b)
        return self.same(a)

    def unified(self, a: str, b: str) -> None:
        """From here on, in this code, two sizes are one: the number, if one is, else the first."""
        a, b = self.same(a), self.same(b)
        if b.isdigit():
            a, b = b, a
        if a != b:
            self._names()[b] = a
            if not (b in self.cut or LOCAL in b):
                self.cut.discard(a)

    def same(self, n: str) -> str:
        """The name of a size among those that tests in this code have shown to be the same."""
        names = self._names()
        while n in names:
            n = names[n]
        return n

    def _names(self) -> dict[str, str]:
        return self.proved.setdefault(id(self.code), (self.code, {}))[1]

    def common(self, *shapes: Sizes) -> Sizes:
        """The shape that all broadcast to."""
        rank = max(map(len, shapes))
        result = []
        for sizes in zip(*((ONE,) * (rank - len(s)) + s for s in shapes), strict=True):
            wide = [n for n in sizes if n != ONE]
            found = wide[0] if wide else ONE
            for n in wide[1:]:
                found = self.equal(found, n)
            result.append(found)
        return tuple(result)

    def at_least(self, n: str, count: int) -> None:
        """A test that a size is no less than a number."""
        n = self.same(n)
        tested = f"{n} >= {count}"
        if not (n.isdigit() and int(n) >= count) and tested not in self._names():
            self.trap(f"{n} < {count}", SIZES)  # type: ignore[attr-defined]
            self._names()[tested] = ""

    def not_empty(self, sizes: Sizes) -> None:
        """A test that no size is 0."""
        for n in map(self.same, sizes):
            tested = f"{n} > 0"
            if n == "0" or not (n.isdigit() or tested in self._names()):
                self.trap(f"{n} == 0", SIZES)  # type: ignore[attr-defined]
                self._names()[tested] = ""

    def perhaps_empty(self, sizes: Sizes) -> str:
        """A test that no size is 0 but those of slices; whether one of these is, "" if there are none."""
        cut = [n for n in map(self.same, sizes) if n in self.cut and f"{n} > 0" not in self._names()]
        self.not_empty(tuple(n for n in sizes if self.same(n) not in cut))
        return " or ".join(f"{n} == 0" for n in dict.fromkeys(cut))
