"""
Derivatives of a black box that speaks only doubles, or only singles: Richardson extrapolation of all outputs at once.

The scheme, its rounding floor and its bound are those of `checkers.finite_differences`, whose module derives them; here a level
is an array, η and the bound are known for each output, and a unit roundoff u takes the place of 2^-53. One evaluation of the
function serves every output, and the same points serve the central and the one-sided quotients.

Every point must be what it claims to be: the coordinates that the function sees are read back in its own dtype, and what their
places err by, relative to the step and summed, is ρ. A coordinate changes f over a step by at most two of its values, so that
is as if a value were wrong by 2ρ of the largest, and η is larger by that; along an axis most steps are exact. Steps grow by
factors of 4, from where rounding hides everything to where the function bends. Output by output, the first level that
contradicts the levels below ends the search: a kink or a pole came into reach. Extreme coordinates that move are left to exact
references.

The bound is an estimate, not a proof: it sees a wrong derivative that is wrong by more than the bound says, and nothing finer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from checkers.array_audit.bounds import Bounds, Mask, Reals, Sides
from checkers.array_audit.case import Case, Vector, flat, leaves
from checkers.finite_differences import CAUTION, ENOUGH, ORDER, RESOLVED

Forward: TypeAlias = Callable[..., Any]
LongDouble = np.longdouble
ULPS = 64.0
"""Units in the last place by which a value may be wrong: 32 operations of at most 2 each."""
PROBES = 4
SPREAD = 40
"""Coordinates that move lie between 2^-SPREAD and 2^SPREAD, or are 0."""
REFINEMENT, FEW = 2, 30
"""Steps grow by factors of 2^REFINEMENT; by 2 where the dtype has fewer than FEW bits, and few steps are of use."""
OUTSIDE = 30
CONFIRMING = 2.0**-4
"""One-sided quotients confirm the central ones only if they settle: those of √|x| at 0 grow, and their bound with them."""
MISPLACED = 2.0**-10
"""A step of which more is lost to rounding is none."""
LARGE = 100_000
"""Outputs: beyond, steps grow by factors of 16, so that what was seen fits into memory."""


class Search(NamedTuple):
    """The sharpest estimates found: value and bound, infinite where there is none."""

    value: Reals
    bound: Reals

    @property
    def ends(self) -> Bounds:
        known = np.isfinite(self.bound)
        nan = np.where(known, 0.0, np.nan)
        return Bounds(np.where(known, self.value - self.bound, nan), np.where(known, self.value + self.bound, nan))


@dataclass(eq=False)
class _Line:
    """The function along a direction through a case; remembers what it saw."""

    forward: Forward
    case: Case
    direction: Vector
    unit: float

    def __post_init__(self) -> None:
        self.start = self.case.coordinates
        self.moving = self.direction != 0
        self.seen: dict[float, Reals | None] = {}
        self.outputs: Any = slice(None)
        self.misplaced: dict[float, float] = {}

    def __call__(self, h: float) -> Reals | None:
        """The outputs at x + h d; None where that is no point of the dtype, or the function raises there."""
        if h not in self.seen:
            value = self._at(h)
            self.seen[h] = None if value is None else value[self.outputs]
        return self.seen[h]

    def narrowed(self) -> Mask:
        """Keeps the outputs that have moved at all, which it answers: one element of a large array moves few."""
        here = self.seen[0.0]
        moved = np.zeros(self.case.outputs, dtype=bool)
        for value in self.seen.values():
            moved |= False if value is None else value != here
        self.outputs = moved
        self.seen = {h: None if v is None else v[moved] for h, v in self.seen.items()}
        return moved

    def _at(self, h: float) -> Reals | None:
        arguments = self.case.at(self.start + h * self.direction)
        there = flat([leaf for _, leaf in leaves(arguments, self.case.fixed)])
        width = there[self.moving].astype(LongDouble) - self.start[self.moving].astype(LongDouble)
        step = LongDouble(h) * self.direction[self.moving].astype(LongDouble)
        with np.errstate(all="ignore"):
            errors = np.abs(width - step) / np.abs(step) if h else np.zeros(1)
        if not (errors <= MISPLACED).all():
            return None
        self.misplaced[abs(h)] = max(self.misplaced.get(abs(h), 0.0), float(errors.sum()))
        try:
            with np.errstate(all="ignore"):
                value = flat([leaf for _, leaf in leaves((self.forward(*arguments),))])
        except Exception:  # whatever a foreign function raises says that it does not take these arguments
            return np.full(self.case.outputs, np.nan)
        return value if value.size == self.case.outputs else np.full(self.case.outputs, np.nan)

    def exponents(self) -> tuple[int, int]:
        """The exponents of the least and of the largest coordinate that moves; of a zero that of 1."""
        scales = np.frexp(np.where(self.start == 0, 1.0, self.start)[self.moving])[1] - np.frexp(self.direction[self.moving])[1] + 1
        return int(scales.min()), int(scales.max())

    def noise(self, grain: float) -> Reals:
        """η without its rounding, for each output: grain and jitter; infinite where f jumps about from one double to the next."""
        value = self.seen[0.0]
        assert value is not None
        jitter = np.zeros_like(value)
        for k in range(1, PROBES + 1):
            low, high = self(-k * grain), self(k * grain)
            if low is None or high is None:
                continue
            second = np.abs(low - 2.0 * value + high)
            jitter = np.maximum(jitter, np.where(np.isfinite(second), second, 0.0))
        near = np.array([v for v in self.seen.values() if v is not None])
        near = np.where(np.isfinite(near), near, value)
        changes = np.where(near != value, np.abs(near - value), np.inf).min(axis=0)
        jumps = jitter > max(RESOLVED, 256 * self.unit) * np.abs(near).max(axis=0)
        return np.where(jumps, np.inf, np.maximum(jitter, np.where(np.isfinite(changes), changes, 0.0)))


def _ladder(line: _Line) -> list[list[float]]:
    """Steps, ascending: relative to the coordinates, then, if they are small, absolute. Each list is its own scheme."""
    low, high = line.exponents()
    digits = int(-np.log2(line.unit))
    every = 1 if digits < FEW else REFINEMENT if line.case.outputs <= LARGE else 2 * REFINEMENT
    first = [2.0**m for m in range(max(high - digits + 3, -1070), low - 2, every)]
    if (line.start[line.moving] != 0).all() and low < -2:
        return [first, [2.0**m for m in range(max(low - 2, -40), -3, every)]]
    return [first]


def _search(line: _Line, side: int, noise: Reals, batches: Sequence[Sequence[float]]) -> Search:
    """Ascent in h: for each output the sharpest estimate among those that agree with all before them."""
    size = noise.size
    value, bound = np.full(size, np.nan), np.full(size, np.inf)
    low, high = np.full(size, -np.inf), np.full(size, np.inf)
    open_ = np.isfinite(noise)
    for steps in batches:
        alive = open_.copy()
        for found, error in _extrapolations(line, side, noise, steps):
            alive &= np.isfinite(found) & np.isfinite(error)
            apart = (found - error > high) | (found + error < low)
            open_ &= ~(alive & apart)
            alive &= open_
            low = np.where(alive, np.maximum(low, found - error), low)
            high = np.where(alive, np.minimum(high, found + error), high)
            better = alive & (error < bound)
            value, bound = np.where(better, found, value), np.where(better, error, bound)
            if not alive.any():
                break
    return Search(value, bound)


def _extrapolations(line: _Line, side: int, noise: Reals, steps: Sequence[float]) -> Any:
    """For every level the sharpest member of the scheme, with the bound of `finite_differences`; NaN where f is not finite."""
    members: list[tuple[Any, Reals]] = []
    nodes: list[Any] = []
    largest = np.zeros(noise.size)
    for h in steps:
        low, high = line(-h if side <= 0 else 0.0), line(h if side >= 0 else 0.0)
        if low is None or high is None:
            continue
        width = LongDouble(h if side else 2 * h)
        largest = np.maximum(largest, np.maximum(np.abs(low), np.abs(high)))
        eta = np.maximum(noise, (ULPS * line.unit + 2.0 * line.misplaced[h]) * largest)
        member = ((high.astype(LongDouble) - low.astype(LongDouble)) / width, 2.0 * eta / float(width))
        nodes.append(LongDouble(h) if side else LongDouble(h) ** 2)
        row = [member]
        value, bound = np.full(largest.shape, np.nan), np.full(largest.shape, np.inf)
        for j, finer in enumerate(members[:ORDER]):
            s0, s1 = nodes[-2 - j], nodes[-1]
            better = (s1 * finer[0] - s0 * member[0]) / (s1 - s0)
            floor = ((s1 * finer[1] + s0 * member[1]) / (s1 - s0)).astype(np.float64)
            truncation = np.maximum(np.abs(better - finer[0]), np.abs(better - member[0])).astype(np.float64)
            error = CAUTION * truncation + 2.0 * floor + 2.0 * line.unit * np.abs(better).astype(np.float64)
            if j:
                sharper = error < bound
                value, bound = np.where(sharper, better.astype(np.float64), value), np.where(sharper, error, bound)
            member = (better, floor)
            row.append(member)
        members = row
        if len(nodes) > 2:
            yield value, np.where(np.isfinite(low) & np.isfinite(high), bound, np.nan)


@dataclass(eq=False)
class Richardson:
    """The reference for what cannot be read or run in any other arithmetic. `unit` is the unit roundoff of the function's own."""

    forward: Forward
    unit: float = 2.0**-53
    enough: float = ENOUGH

    @property
    def name(self) -> str:
        return "Richardson differences in long double"

    def sides(self, case: Case, direction: Vector) -> Sides | None:
        """
        The derivatives along `direction`; sharpest along an axis, or where its entries are 0 and ± powers of two.

        Both sides where the central quotients agree with either; one-sided ones where they are apart; unknown otherwise, and where
        the bound exceeds `enough` of max(1, |derivative|): rounding hides the function then.
        """
        line = _Line(self.forward, case, direction, self.unit)
        if not self._tries(line):
            return None
        with np.errstate(all="ignore"):
            batches = _ladder(line)
            for h in (h for steps in batches for h in steps):
                line(h), line(-h)
            grain = 2.0 ** (line.exponents()[1] - int(-np.log2(self.unit)))
            noise = line.noise(grain)
            still, moved = self._still(line), line.narrowed()
            found = [_search(line, side, noise[moved], batches).ends for side in (0, -1, 1)]
            return self._whole(self._joined(line, *found), moved, still)

    def _still(self, line: _Line) -> Reals:
        """
        The bound on the derivative of outputs that no step has moved: twice what rounding may hide at the largest.

        A value that stays 0 may have been absorbed: log(1 + exp(-40)) is 0, its slope is not. So a summand of 1 is assumed in it.
        """
        here = line.seen[0.0]
        assert here is not None
        taken = [h for h, value in line.seen.items() if h > 0 and value is not None and line.seen.get(-h) is not None]
        return 4.0 * ULPS * self.unit * np.maximum(np.abs(here), 1.0) / max(taken) if taken else np.full(here.size, np.inf)

    def _whole(self, sides: Sides, moved: Mask, still: Reals) -> Sides:
        """The sides of the outputs that moved, and 0 with its bound of the others."""

        def spread(part: Reals, rest: Reals) -> Reals:
            whole = np.where(np.isfinite(rest), rest, np.nan)
            whole[moved] = part
            return whole

        left, right = (Bounds(spread(b.lo, -still), spread(b.hi, still)) for b in (sides.left, sides.right))
        return Sides(left, right, np.zeros(moved.size, dtype=bool), self.name)

    def _tries(self, line: _Line) -> bool:
        d, x = line.direction[line.moving], line.start[line.moving]
        if not d.size or not np.isfinite(x).all():
            return False
        sizes = np.abs(x[x != 0])
        here = line(0.0)
        return not ((sizes < 2.0**-SPREAD) | (sizes > 2.0**SPREAD)).any() and here is not None and bool(np.isfinite(here).all())

    def _sharp(self, found: Bounds, enough: float | None = None) -> Mask:
        """Whether the bound is so small that it says something."""
        return np.asarray(found.hi - found.lo <= 2 * (enough or self.enough) * np.maximum(1.0, np.abs(found.middle)))

    def _joined(self, line: _Line, center: Bounds, left: Bounds, right: Bounds) -> Sides:
        smooth = self._sharp(center)
        for side in (left, right):
            smooth = smooth & _overlap(center, side) & self._sharp(side, CONFIRMING)
        apart = left.known & right.known & ~_overlap(left, right)
        edges = [_outside(line, side) for side in (-1, 1)]
        one = (left.known & ~right.known & edges[1]) | (right.known & ~left.known & edges[0])

        def chosen(side: Bounds) -> Bounds:
            keep = (apart | one) & self._sharp(side) & ~smooth
            ends = (np.where(smooth, c, np.where(keep, s, np.nan)) for c, s in ((center.lo, side.lo), (center.hi, side.hi)))
            return Bounds(*ends)

        return Sides(chosen(left), chosen(right), np.zeros(smooth.size, dtype=bool), self.name)

    def second(self, case: Case, first: Vector, second: Vector) -> Bounds | None:
        """Not known: differences of differences of doubles say too little."""
        return None


def _overlap(a: Bounds, b: Bounds) -> Mask:
    return np.asarray((a.lo <= b.hi) & (b.lo <= a.hi))


def _outside(line: _Line, side: int) -> Mask:
    """Where the function is not finite at once on that side: the edge of its domain."""
    low, high = line.exponents()
    there = line(side * 2.0 ** max(low - OUTSIDE, high - int(-np.log2(line.unit)) + 1))
    here = line.seen[0.0]
    assert here is not None
    return np.zeros(here.size, dtype=bool) if there is None else ~np.isfinite(there)
