"""
What a reference knows of a derivative: bounds of many reals at once, from either side of the point.

Unknown is NaN. A bound is an enclosure if the reference is rigorous, else an estimate with its error added.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from checkers.array_audit.case import Case, Vector

Reals: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Mask: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """Each real lies between lo and hi, entry by entry; NaN in both where nothing is known."""

    lo: Reals
    hi: Reals

    @classmethod
    def unknown(cls, size: int) -> Bounds:
        return cls(np.full(size, np.nan), np.full(size, np.nan))

    @property
    def known(self) -> Mask:
        return np.isfinite(self.lo) & np.isfinite(self.hi)

    @property
    def middle(self) -> Reals:
        return self.lo / 2 + self.hi / 2

    @property
    def size(self) -> Reals:
        """The largest magnitude inside."""
        return np.maximum(np.abs(self.lo), np.abs(self.hi))

    def distance(self, found: Reals) -> Reals:
        """How far each is from the nearest point of its bounds; infinite where `found` is NaN."""
        gap = np.maximum(np.maximum(self.lo - found, found - self.hi), 0.0)
        return np.where(np.isnan(found), np.inf, gap)

    def hull(self, other: Bounds) -> Bounds:
        """The least bounds that hold both; NaN where either is unknown."""
        return Bounds(np.minimum(self.lo, other.lo), np.maximum(self.hi, other.hi))

    def or_else(self, other: Bounds) -> Bounds:
        """These, or the others where these are unknown."""
        known = self.known
        return Bounds(np.where(known, self.lo, other.lo), np.where(known, self.hi, other.hi))


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """
    The derivatives of all outputs in one direction, from the left and from the right.

    left, right  the one-sided derivatives        infinite  where the quotients grow without bound
    agreement    how far apart, relative to their size, the sides may be and count as one derivative
    by           which reference
    """

    left: Bounds
    right: Bounds
    infinite: Mask
    by: str
    agreement: float = 2.0**-30

    @property
    def _apart(self) -> Reals:
        return np.maximum(self.left.lo - self.right.hi, self.right.lo - self.left.hi)

    @property
    def smooth(self) -> Mask:
        """Where both sides are known and agree."""
        room = self.agreement * np.maximum(self.left.size, self.right.size)
        return self.left.known & self.right.known & ~self.infinite & (self._apart <= room)

    @property
    def kink(self) -> Mask:
        """Where both sides are known and differ."""
        return self.left.known & self.right.known & ~self.infinite & ~self.smooth

    @property
    def edge(self) -> Mask:
        """Where one side only is known and the function does not jump to the other: the edge of the domain."""
        return (self.left.known ^ self.right.known) & ~self.infinite

    @property
    def value(self) -> Bounds:
        """The derivative where it exists, NaN elsewhere."""
        both = self.left.hull(self.right)
        smooth = self.smooth
        return Bounds(np.where(smooth, both.lo, np.nan), np.where(smooth, both.hi, np.nan))

    @property
    def clarke(self) -> Bounds:
        """The interval between the two sides, which holds every derivative that one may answer."""
        return self.left.hull(self.right)


class Reference(Protocol):
    """One way to know a derivative without looking at a backpropagator. Stronger ones come first in a trial."""

    @property
    def name(self) -> str:
        """How reports call it."""

    def sides(self, case: Case, direction: Vector) -> Sides | None:
        """The derivatives of all outputs along `direction`; None where this reference knows nothing of the case."""

    def second(self, case: Case, first: Vector, second: Vector) -> Bounds | None:
        """The second derivatives of all outputs along two directions; None if unknown."""
