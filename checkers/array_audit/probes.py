"""
Random probes of a large Jacobian: w (J v) = (w J) v, by one answer of the rule and a few evaluations of the function.

    v   random signs over the coordinates, each times the power of two below its coordinate, so that x + h v is exact
    D   J v by differences, an estimate and an error bound E for every output: (64 D(h) - 20 D(2h) + D(4h)) / 45, where D(h) is
        the central quotient; this cancels the terms in h² and h⁴
    w   random signs over the outputs that are smooth at these steps, 0 for the others
    g   what the rule answers to w; wanted g·v = w·D

Error. Truncation: |D - R|, with R the estimate of order h⁴ from h and 2h alone, which is the worse of the two. Rounding: where
each value of f is wrong by η, D is by (64 + 10 + 1/4) / 45 η / h < 2 η / h. η is 64 units of the value (`reference.ULPS`), or
eight times the noise seen: fourth differences over steps of 2^-40, which smooth functions do not have. Kink: second
differences S(h) = (f(h) - 2 f(0) + f(-h)) / h shrink with h, but not at a kink; its jump is (16 S(h) - 10 S(2h) + S(4h)) / 7, which
cancels the terms in h and h³. Where it is more than rounding it is added, since a kink at the very point looks smooth to central
quotients.

Signs are independent of the errors that they multiply, so that by Hoeffding's inequality |w·e| exceeds t |e| (Euclidean) with
probability 2 exp(-t²/2) at most, which is 2^-40 for t = 7.54; likewise the rounding in g, 4 ulp for each operation, against v: of
those there are as many as elements where the rule adds or multiplies them all up. The room of a probe is the sum of the two.

One wrong entry J' = J + Δ adds Δ v_k to one side whatever the signs: it is seen if |Δ v_k| exceeds twice the room. Many wrong
entries are seen by each probe with probability 1/4 at least: given v, the largest |(Δ v)_o| is at least the largest entry half the
time, and given that, so is |w Δ v|, half the time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from checkers.array_audit.bounds import Mask, Reals
from checkers.array_audit.build import operations
from checkers.array_audit.case import Case, Vector, leaves
from checkers.array_audit.trial import DOUBLE, Trial
from checkers.primitive_audit.reference import ULPS

SIGMAS = math.sqrt(2 * math.log(2) * 41)
STEPS = (2.0**-4, 2.0**-7, 2.0**-10, 2.0**-14, 2.0**-18, 2.0**-24)
SINGLE_STEPS = (2.0**-3, 2.0**-5, 2.0**-7)
FEW = 3
"""Steps that are tried where a smaller size has shown the largest that is of use."""
ROUNDS = 6
"""A half of the elements is moved so often to see whether the others depend on it; two that do are taken apart each time in 4."""


@dataclass(frozen=True, slots=True, eq=False)
class Quotients:
    """J v, output by output, each wrong by at most `error`; `step` is h."""

    value: Reals
    error: Reals
    step: float
    smooth: Mask


def known(value: Reals, error: Reals) -> Mask:
    """
    The outputs that are known to three digits, of themselves or of the usual one; without a rare few that are far worse, where that
    is worth anything: products of many factors underflow, and beside their zeros every other output would be far worse.
    """
    finite = np.isfinite(error)
    usual = math.sqrt(float(np.mean(np.square(value[finite])))) if finite.any() else 0.0
    fine = finite & (error <= 2.0**-10 * np.maximum(np.abs(value), usual))
    if (count := int(fine.sum())) >= 64:
        fine &= error <= max(16 * np.partition(error[fine], int(0.9 * count))[int(0.9 * count)], 2.0**-30 * usual)
    return np.asarray(fine)


@dataclass(frozen=True, slots=True, eq=False)
class Probe:
    """One equation: what it missed by, what it may miss by, and all that it was made of."""

    v: Vector
    w: Vector
    g: Vector
    quotients: Quotients
    missed: float
    room: float

    @property
    def fails(self) -> bool:
        return not abs(self.missed) <= self.room

    @property
    def threshold(self) -> float:
        """The error of one entry that is seen for certain, as a part of the Euclidean norm of a usual column."""
        size = math.sqrt(float(np.mean(np.square(self.g * self.v)))) if len(self.g) else 0.0
        return 2 * self.room / size if size else math.inf


@dataclass
class Probing:
    """Probes of one case. The steps are tried at first, and the best is kept."""

    trial: Trial
    case: Case
    source: np.random.Generator
    step: float = 0.0
    most: float = math.inf

    def __post_init__(self) -> None:
        self.x = self.case.coordinates
        self.scale = np.where(self.x == 0, 1.0, np.ldexp(1.0, np.frexp(self.x)[1] - 1))
        self.here = self.value(np.zeros(len(self.x)), 0.0)
        self.noise = self.measured()
        self.operations = max(self.trial.operations, operations(self.trial.rule, (self.case,)))

    @property
    def steps(self) -> tuple[float, ...]:
        return tuple(h for h in (STEPS if self.trial.unit == DOUBLE else SINGLE_STEPS) if h <= self.most)[
            : FEW if self.most < 1 else None
        ]

    def signs(self) -> Vector:
        """A random direction."""
        return self.flips(len(self.x)) * self.scale

    def flips(self, size: int) -> Vector:
        """Random signs."""
        return np.asarray(2.0 * self.source.integers(0, 2, size) - 1.0)

    def value(self, v: Vector, h: float) -> Reals:
        """The outputs at x + h v; NaN where the function raises."""
        found = self.trial.value(self.case.at(self.x + h * v))
        return found if found is not None and len(found) == self.case.outputs else np.full(self.case.outputs, np.nan)

    def measured(self) -> Reals:
        """The error of the values: units in the last place, or the noise that is seen."""
        step = 2.0**-40 if self.trial.unit == DOUBLE else 2.0**-14
        v = self.signs()
        line = np.array([self.value(v, k * step) for k in range(-4, 5)])
        seen = np.sqrt(np.mean(np.square(np.diff(line, n=4, axis=0)), axis=0) / 70)
        return np.maximum(ULPS * self.trial.unit * np.abs(self.here), 8 * np.where(np.isfinite(seen), seen, 0.0))

    def along(self, v: Vector, h: float) -> Quotients:
        """J v by differences with the steps h, 2h and 4h."""
        with np.errstate(all="ignore"):
            ends = {k: (self.value(v, -k * h), self.value(v, k * h)) for k in (1, 2, 4)}
            one, two, four = ((right - left) / (2 * k * h) for k, (left, right) in ends.items())
            best, worse = (64 * one - 20 * two + four) / 45, (4 * one - two) / 3
            bent = [((right - self.here) + (left - self.here)) / (k * h) for k, (left, right) in ends.items()]
            kink = np.abs(16 * bent[0] - 10 * bent[1] + bent[2]) / 7
            kink = np.where(kink > 16 * self.noise / h, kink, 0.0)
            error = np.abs(best - worse) + kink + 2 * self.noise / h
        error = np.where(np.isfinite(best) & np.isfinite(error), error, np.inf)
        return Quotients(best, error, h, known(best, error))

    def best(self, v: Vector) -> Quotients:
        """The same with the step that gives most outputs, then the least error; it is kept for later probes."""
        if self.step:
            return self.along(v, self.step)
        found = [self.along(v, h) for h in self.steps]
        most = max(int(q.smooth.sum()) for q in found)
        usable = [(float(np.linalg.norm(q.error[q.smooth])), q) for q in found if q.smooth.sum() >= 0.99 * most]
        chosen = min(usable, key=lambda pair: pair[0])[1]
        self.step = chosen.step
        return chosen

    def pull(self, w: Vector) -> Vector | None:
        """What the rule answers to a cotangent; None if it is no answer."""
        return self.trial.pulled_anew(self.case, self.trial.seeded(self.case, w)).cotangents

    def probe(self) -> Probe | None:
        """
        One probe; None if the rule gives no answer. One that fails is repeated with another step, without the outputs that are not
        linear at such steps, and passes if that does.
        """
        v = self.signs()
        quotients = self.best(v)
        w = self.flips(self.case.outputs) * quotients.smooth
        g = self.pull(w)
        if g is None:
            return None
        found = self.weighed(v, w, g, quotients)
        if found.fails and np.isfinite(g).all():
            other = self.along(v, self.step / 4)
            w = w * other.smooth * self.additive(other, v)
            again = self.pull(w)
            return None if again is None else self.weighed(v, w, again, other)
        return found

    def additive(self, whole: Quotients, v: Vector) -> Mask:
        """
        The outputs whose quotients along the parts of v add up, for random parts. Where three elements that are sorted are nearly
        equal, the middle one has smooth quotients along v, and no derivative.
        """
        fine = np.ones(self.case.outputs, dtype=bool)
        for _ in range(ROUNDS):
            part = np.where(self.source.random(len(v)) < 0.5, v, 0.0)
            one, two = self.along(part, whole.step), self.along(v - part, whole.step)
            with np.errstate(invalid="ignore"):
                fine &= np.abs(one.value + two.value - whole.value) <= one.error + two.error + whole.error
        return fine

    def weighed(self, v: Vector, w: Vector, g: Vector, quotients: Quotients) -> Probe:
        """The equation w (J v) = (w J) v, and how far its sides may be apart."""
        on = w != 0
        left = float(np.sum((g * v).astype(np.longdouble)))
        right = float(np.sum((w[on] * quotients.value[on]).astype(np.longdouble)))
        noise = float(np.linalg.norm(quotients.error[on]))
        rounding = 4 * self.operations * self.trial.unit * float(np.linalg.norm(g * v))
        return Probe(v, w, g, quotients, left - right, SIGMAS * (noise + rounding))

    # elementwise functions

    def diagonal(self) -> Iterator[slice]:
        """The leaves that act elementwise: of the value's shape, and none of their elements moves the output of another."""
        start = 0
        for _, leaf in leaves(self.case.arguments, self.case.fixed):
            where = slice(start, start + np.size(leaf))
            start = where.stop
            if np.shape(leaf) == np.shape(self.case.value) and self.independent(where):
                yield where

    def independent(self, where: slice) -> bool:
        """Whether, a random half of the elements moved, the outputs of the others are the same to the bit."""
        for _ in range(ROUNDS):
            moved = self.source.random(self.case.outputs) < 0.5
            v = np.zeros(len(self.x))
            v[where] = moved * self.scale[where]
            if not np.array_equal(self.value(v, 2.0**-6)[~moved], self.here[~moved]):
                return False
        return True

    def entrywise(self, where: slice) -> tuple[int, float, float, float] | float | None:
        """
        Every entry of a diagonal Jacobian at once: (index, found, wanted, room) of the worst that is wrong; else the relative error
        that would have been seen in 99 of 100 entries; None if the rule gives no answer.
        """
        v = np.zeros(len(self.x))
        v[where] = self.scale[where]
        signs = self.flips(self.case.outputs)
        g = self.pull(signs)
        if g is None:
            return None
        found = g[where] * v[where] * signs
        excess, shares = np.full(len(found), np.inf), np.full(len(found), np.inf)
        centre, room = np.zeros(len(found)), np.zeros(len(found))
        ends = [np.full(len(found), np.inf), np.full(len(found), -np.inf)]
        for h in (self.step, self.step / 4):
            quotients = self.along(v, h)
            allowed = 4 * quotients.error + 4 * self.trial.operations * self.trial.unit * np.abs(quotients.value)
            allowed = np.where(quotients.smooth, allowed, np.inf)
            gap = np.abs(found - quotients.value)
            with np.errstate(invalid="ignore", divide="ignore"):
                excess = np.minimum(excess, np.where(np.isnan(gap), np.where(np.isfinite(allowed), np.inf, 0.0), gap / allowed))
                usual = np.sqrt(np.mean(np.square(quotients.value[quotients.smooth])))
                shares = np.minimum(shares, allowed / np.maximum(np.abs(quotients.value), usual))
            ends = [np.minimum(ends[0], quotients.value + allowed), np.maximum(ends[1], quotients.value - allowed)]
            centre, room = quotients.value, allowed
        excess = np.where(ends[0] >= ends[1], excess, 0.0)
        worst = int(np.argmax(excess))
        if excess[worst] > 1:
            size = float(v[where][worst])
            return worst + where.start, float(found[worst]) / size, float(centre[worst]) / size, float(room[worst]) / size
        return float(np.quantile(shares, 0.99))
