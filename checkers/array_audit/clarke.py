"""
The Clarke Jacobian of a function on arrays: the convex hull of the limits of Jacobians at nearby points (Clarke 1983, 2.6).

At a kink a rule may answer any of its elements, and nothing else. A convex set is known by its support function: a matrix J lies
inside only if, for all weights u over the outputs and all directions v over the coordinates, u J v is between the least and the
largest u J' v over nearby Jacobians J'. The one-sided derivatives of u·f along v lie between these two, and for convex and for
concave functions they are the two. So each pair (u, v) is asked in this order:

    along     the one-sided derivatives at the point, with their error bounds: an answer between them is inside
    nearby    only if it is not: derivatives along v at points next to the kink; an answer between any two of them is inside

The nearby points give every coordinate every rank among those that are tied, so that each branch of a sort, a median or a maximum
is taken by one of them; a climb from the best of them finds branches that no draw took. Where more than a few are not known to be
smooth, nothing is said. Several outputs are weighed together only where their sum is smooth, as the sum of a sorted array is: their
hull has too many corners to be found.

Along a direction that moves all tied elements together a maximum is smooth, and both ends are one number: 1 to each of two tied
elements answers 2 where the derivative is 1, though each of its entries is fine alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from checkers.array_audit.bounds import Bounds, Mask, Sides
from checkers.array_audit.case import Case, Vector, leaves, unit
from checkers.array_audit.trial import Trial
from checkers.primitive_audit.reference import Enclosure

NEAR = ((2.0**-30, 2.0**-18), (2.0**-8, 2.0**-5))
"""
How far nearby points are, relative to the coordinates, and how far derivatives may have moved there, relative to their size: a
second derivative of at most 2^12, or 2^3, of the first. An answer must be outside at both: at the smaller distance, a reference
with long steps sees the two ends of a kink only, or none; at the larger, a function with a large second derivative is another.
"""
DRAWS = 24
FEW = 6
"""So few draws tell nothing of how many branches there are."""
LOST = 2
"""Draws at which a reference may know nothing: those of more could be all of one branch, the one that was claimed."""
PAIRS = 8


@dataclass(frozen=True, slots=True, eq=False)
class Direction:
    """A direction over the coordinates, and what it does to ties."""

    vector: Vector
    text: str


def directions(case: Case, seed: int = 0) -> Iterator[Direction]:
    """Directions along which kinks are told apart, apart from the axes: ties moved together and against each other, and others."""
    x = case.coordinates
    size = len(x)
    if size < 2:
        return
    yield Direction(np.ones(size), "all coordinates together")
    for group in groups(x):
        together = np.zeros(size)
        together[group] = 1.0
        if len(group) < size:
            yield Direction(together, "all that are tied, together")
    for i, j in partners(case):
        yield Direction(unit(size, i) + unit(size, j), "two that are tied, together")
        yield Direction(unit(size, i) - unit(size, j), "two that are tied, against each other")
    signs = np.where(x < 0, -1.0, 1.0)
    if (x < 0).any() and (x > 0).any():
        yield Direction(signs, "all magnitudes together")
    start = 0
    for _, leaf in (found := leaves(case.arguments, case.fixed)):
        part = np.zeros(size)
        part[start : start + np.size(leaf)] = 1.0
        start += np.size(leaf)
        if len(found) > 1 and np.size(leaf) > 1:
            yield Direction(part, "one argument")
    source = np.random.default_rng(seed)
    for _ in range(2):
        yield Direction(source.choice((-1.0, 1.0), size), "a random direction")


def groups(x: Vector) -> list[list[int]]:
    """The coordinates that are tied: each class of two or more equal numbers."""
    classes: dict[float, list[int]] = {}
    for i, value in enumerate(x):
        classes.setdefault(float(value), []).append(i)
    return [group for group in classes.values() if len(group) > 1]


def partners(case: Case) -> list[tuple[int, int]]:
    """At most `PAIRS` pairs of tied coordinates: those at the same place of two arguments first."""
    x = case.coordinates
    shapes = [np.shape(leaf) for _, leaf in leaves(case.arguments, case.fixed)]
    starts = np.concatenate([[0], np.cumsum([int(np.prod(s)) for s in shapes])]).astype(int)
    matched = [
        (int(starts[a] + k), int(starts[b] + k))
        for a, b in combinations(range(len(shapes)), 2)
        if shapes[a] == shapes[b]
        for k in range(int(np.prod(shapes[a])))
    ]
    tied = [(i, j) for group in groups(x) for i, j in combinations(group, 2)]
    return list(dict.fromkeys([p for p in matched if abs(x[p[0]]) == abs(x[p[1]])] + tied))[:PAIRS]


def weighted(bounds: Bounds, u: Vector) -> Enclosure | None:
    """Bounds of the combination with weights u; None where one that counts is unknown."""
    on = u != 0
    if not bounds.known[on].all():
        return None
    ends = (bounds.lo[on] * u[on], bounds.hi[on] * u[on])
    return Enclosure(float(np.minimum(*ends).sum()), float(np.maximum(*ends).sum()))


def along(sides: Sides, u: Vector) -> Enclosure | None:
    """The hull of the one-sided derivatives of u·f; None where one is unknown or infinite."""
    if sides.infinite[u != 0].any():
        return None
    left, right = weighted(sides.left, u), weighted(sides.right, u)
    return None if left is None or right is None else left.hull(right)


def place(trial: Trial, case: Case, offsets: Vector, distance: float) -> Case | None:
    """The case a little beside this one: each finite coordinate moved by its offset times `distance` times its size."""
    x = case.coordinates
    scale = np.where(x != 0, np.abs(x), 1.0)
    near = trial.case(case.at(np.where(np.isfinite(x), x + distance * scale * offsets, x)), case.origin, case.note)
    return near if near is not None and near.outputs == case.outputs else None


def nearby(trial: Trial, case: Case, distance: float) -> list[tuple[Vector, Case]]:
    """Places next to the case, with their offsets, at which every coordinate takes every rank among its equals, and either sign."""
    return trial.once(case, lambda: _nearby(trial, case, distance), "nearby", distance)


def _nearby(trial: Trial, case: Case, distance: float) -> list[tuple[Vector, Case]]:
    size = max(case.size, 1)
    source = np.random.default_rng(trial.seed + 10)
    draws = []
    for draw in range(max(DRAWS, 2 * size)):
        if draw % size == 0:
            ranks = source.permutation(size)
        draws.append(((ranks + draw) % size + source.uniform(0, 1, size)) / size - source.uniform(0, 1))
    places = [(offsets, place(trial, case, offsets, distance)) for offsets in draws]
    return [(offsets, near) for offsets, near in places if near is not None]


def outside(
    trial: Trial, case: Case, u: Vector, v: Vector, claimed: float, size: float
) -> tuple[Enclosure, float] | Undecided | None:
    """
    What u J v may be and by how much it may miss it, if `claimed` is outside for certain; else None, or that it is not decided.

    size  the sum of magnitudes of the terms of u J v, which bounds its rounding

    At the tip of a cone, as of the norm at 0, each draw has a derivative of its own, and their hull is a part of the whole, which
    no number of draws fills. Where the function is regular (Clarke 1983, 2.3.4 and 2.3.6), as what is convex or concave is, the
    one-sided derivatives along v are the ends of the whole, and no draw is beyond them: then they decide. Where one is, the hull is
    an inner approximation, and what lies outside it may be inside.
    """
    sides = trial.sides(case, v)
    hull = along(sides, u)
    if hull is None:
        return None
    room, sided = 0.0, hull
    for distance, moves in NEAR:
        room = max(moves * (size + hull.size), 8 * sides.agreement * hull.size)
        if hull.distance(claimed) <= room:
            return None
        if distance < trial.unit * 2.0**12:
            continue
        sample = Sample(hull)
        for offsets, near in nearby(trial, case, distance):
            sample.add(offsets, weighted(trial.sides(near, v).value, u), claimed)
            if sample.hull.distance(claimed) <= room or sample.lost > LOST:
                break
            if np.count_nonzero(u) > 1 and sample.hull.hi - sample.hull.lo > room:
                return None
        if sample.hull.distance(claimed) > room and sample.lost <= LOST and sample.best is not None:
            climb(trial, case, u, v, claimed, distance, sample)
        elif sample.hull.distance(claimed) > room:
            return None
        hull = sample.hull
        if sample.is_curved and hull.distance(claimed) > room and (hull.lo < sided.lo - room or hull.hi > sided.hi + room):
            return Undecided(hull)
    return None if hull.distance(claimed) <= room else (hull, room)


@dataclass(frozen=True, slots=True)
class Undecided:
    """An inner approximation of what u J v may be, at the tip of a cone that is not regular."""

    inner: Enclosure


@dataclass
class Sample:
    """Derivatives seen nearby: their hull, the offsets of the one nearest to the claim, how many draws were not smooth."""

    hull: Enclosure
    best: Vector | None = None
    gap: float = np.inf
    lost: int = 0
    seen: list[float] = field(default_factory=list)

    @property
    def is_curved(self) -> bool:
        """Whether nearly every draw has a derivative of its own: here is the tip of a cone, of which draws see a part."""
        apart = np.diff(np.sort(self.seen))
        distinct = np.count_nonzero(apart > 2.0**-12 * (self.hull.hi - self.hull.lo))
        return len(self.seen) > FEW and bool(distinct > 0.75 * len(apart))

    def add(self, offsets: Vector, value: Enclosure | None, claimed: float) -> None:
        """One more draw."""
        if value is None:
            self.lost += 1
            return
        self.seen.append(value.middle)
        self.hull = self.hull.hull(value)
        if value.distance(claimed) < self.gap:
            self.best, self.gap = offsets, value.distance(claimed)


def climb(trial: Trial, case: Case, u: Vector, v: Vector, claimed: float, distance: float, sample: Sample) -> None:
    """
    Draws towards what is claimed: from the best offsets, each coordinate in turn is put to the other side, as far out as any.

    A sum of m independent kinks has 2^m branches, of which draws see few; each of its coordinates is found by itself.
    """
    assert sample.best is not None
    for k in range(case.size):
        for far in (-1.0, 1.0):
            offsets = sample.best.copy()
            offsets[k] = far * (1 + k / (4 * case.size))
            near = place(trial, case, offsets, distance)
            sample.add(offsets, None if near is None else weighted(trial.sides(near, v).value, u), claimed)


def rough(trial: Trial, case: Case) -> Mask:
    """
    The outputs that are not differentiable at the case, as far as the reference can tell.

    A kink along an axis or along one of `directions`, or a derivative there that is not the sum of the partial ones. The last is
    seen at a median of equal elements: smooth, with slope 0, along each axis, and yet it moves if they all do.
    """
    return trial.once(case, lambda: _rough(trial, case), "rough")


def _rough(trial: Trial, case: Case) -> Mask:
    axes = [trial.sides(case, unit(case.size, k)) for k in range(case.size)]
    found = np.zeros(case.outputs, dtype=bool)
    for sides in axes:
        found |= sides.kink | sides.infinite
    columns = [sides.value for sides in axes]
    partial = Bounds(np.array([c.lo for c in columns]).T, np.array([c.hi for c in columns]).T)
    for direction in directions(case, trial.seed):
        if found.all():
            break
        sides = trial.sides(case, direction.vector)
        found |= sides.kink | _not_additive(partial, sides, direction.vector)
    return found


def _not_additive(partial: Bounds, sides: Sides, v: Vector) -> Mask:
    """Where the derivative along v is known not to be the sum of the partial derivatives times v."""
    on = v != 0
    lo, hi = partial.lo[:, on] * v[on], partial.hi[:, on] * v[on]
    low, high = np.minimum(lo, hi).sum(axis=1), np.maximum(lo, hi).sum(axis=1)
    size = np.maximum(np.abs(lo), np.abs(hi)).sum(axis=1)
    value = sides.value
    gap = np.maximum(value.lo - high, low - value.hi)
    with np.errstate(invalid="ignore"):
        return np.asarray(gap > NEAR[0][1] * (size + value.size), dtype=bool)


def weights(case: Case, kinked: Mask, seed: int = 0) -> Iterator[Vector]:
    """Weights over the outputs that have a kink: each alone; their sum; two random choices of signs."""
    for k in np.flatnonzero(kinked):
        yield unit(case.outputs, int(k))
    if kinked.sum() > 1:
        yield kinked.astype(np.float64)
        source = np.random.default_rng(seed)
        for _ in range(2):
            yield np.where(kinked, source.choice((-1.0, 1.0), case.outputs), 0.0)
