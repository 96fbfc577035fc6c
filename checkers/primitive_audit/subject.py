"""
What is on trial: a forward function, a backpropagator, and a reference for the derivative, on a pool of points.

A `Subject` is made from a row (a primitive of the table or a user's) or from two Python functions. Everything a check needs is
asked of it: points, values, pulled-back cotangents, slopes (cached), and whether an error is explained by rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from checkers.inputs import Point, moderate, neighbours
from checkers.primitive_audit.given import told
from checkers.primitive_audit.reference import Best, Enclosure, Slope, U, doubles, unit, with_precision
from checkers.verdict import Verdict
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.primitives.row import Primitive
from semantics.tangents import ZERO

LEAST = 2.0**-1074
HUGE = 2.0**1000
ENOUGH = 5
"""So many confirmed faults of one entry make further confirmations idle; the reported one is confirmed again."""
ROUNDING = "over the reals the rule is right; its rounding is not"
UNTOLD = "at an extreme argument, where the rounding of a black box is not told from a wrong rule"
STEPS = 4
"""So many steps to either side show how rough a rule is."""
GRADUAL = 2.0**-969
"""Below this, a product with a rounding error is subnormal, and error bounds relative to the result do not hold."""


@dataclass(frozen=True, slots=True)
class Pulled:
    """What a backpropagator answered: `raw` as returned, `values` if that is one double per argument, or what it `raised`."""

    raw: Any
    values: tuple[float, ...] | None
    raised: str = ""

    def __getitem__(self, i: int) -> float:
        """Cotangent i, NaN if there is none."""
        return math.nan if self.values is None else self.values[i]


@dataclass(frozen=True, slots=True)
class Judged:
    """One point of the pool: arguments, the value there, and where the point comes from ("sample", "random" or "edge")."""

    xs: Point
    y: float
    origin: str


@dataclass(frozen=True, slots=True)
class Opinion:
    """On one entry at one point: "right", "fault", "accuracy" or "skip"; the enclosure, and the error that was allowed."""

    verdict: str
    wanted: Enclosure | None = None
    allowed: float = 0.0
    why: str = ""


@dataclass
class Subject:
    """
    forward     (x…) -> y, total where the language is; an exception or a NaN puts a point out of the pool
    pull        (xs, y, d) -> raw cotangents
    operations  how many elementary operations the rule makes; each may cost 4 ulp
    rule        the backpropagator as a program, None if it is a black box
    prover      what proves the rule over the reals; given by whoever asks, since proofs rest on checkers and not the reverse
    """

    name: str
    parameters: tuple[str, ...]
    forward: Callable[..., float]
    pull: Callable[[Point, float, float], Any]
    reference: Best
    row: Primitive
    rule: Program | None = None
    program: Program | None = None
    forward_source: Callable[..., Any] | None = None
    pull_source: Callable[..., Any] | None = None
    spread_arguments: bool = True
    operations: int = 64
    seed: int = 0
    prover: Callable[[Primitive], Sequence[Verdict]] | None = None
    points: tuple[Judged, ...] = ()
    lost: list[str] = field(default_factory=list)
    slopes: dict[Any, Slope] = field(default_factory=dict)
    opinions: dict[Any, Opinion] = field(default_factory=dict)
    convicted: dict[int, int] = field(default_factory=dict)

    @property
    def arity(self) -> int:
        return len(self.parameters)

    # values

    def value(self, xs: Point) -> float:
        """The forward value, or NaN where the function gives none."""
        try:
            return float(self.forward(*xs))
        except (AdjudgeError, ArithmeticError, ValueError):
            return math.nan

    def pulled(self, xs: Point, y: float, d: float) -> Pulled:
        """What the backpropagator answers; whatever it raises is recorded, never passed on."""
        try:
            raw = self.pull(xs, y, d)
        except Exception as error:
            return Pulled(None, None, told(error))
        return Pulled(raw, self.cotangents(raw))

    def cotangents(self, raw: Any) -> tuple[float, ...] | None:
        """The raw answer as doubles, if it is a tuple with one number per argument."""
        if not isinstance(raw, (tuple, list)) or len(raw) != self.arity:
            return None
        if type(raw) is tuple and all(type(d) is float for d in raw):
            return raw
        try:
            return tuple(float(d) for d in raw)
        except (TypeError, ValueError, OverflowError):
            return None

    # the reference

    def slope(self, xs: Point, direction: Sequence[float] | int) -> Slope:
        """The reference slope at xs along an argument or a direction, computed once."""
        towards = unit(self.arity, direction) if isinstance(direction, int) else tuple(direction)
        key = (tuple((x, math.copysign(1.0, x)) for x in xs), towards)
        if key not in self.slopes:
            self.slopes[key] = self.reference.slope(xs, towards)
        return self.slopes[key]

    def budget(self, xs: Point) -> tuple[float, float]:
        """(relative, absolute) rounding that a rule of this many operations is entitled to: 4 ulp each, and as many subnormals."""
        sizes = math.prod(min(max(1.0, abs(x)), 2.0**100) for x in xs if math.isfinite(x))
        return 4 * self.operations * U, 4 * self.operations * LEAST * sizes

    def opinion(self, point: Judged, i: int, found: float) -> Opinion:
        """Whether `found` is the derivative by argument i at the point. A fault is confirmed before it is claimed."""
        key = (tuple((x, math.copysign(1.0, x)) for x in point.xs), i, found.hex())
        if key not in self.opinions:
            opinion = self._opinion(point, i, found)
            if opinion.verdict == "fault" and self.convicted.get(i, 0) < ENOUGH:
                opinion = self.confirmed(point, i, opinion)
                self.convicted[i] = self.convicted.get(i, 0) + (opinion.verdict == "fault")
            self.opinions[key] = opinion
        return self.opinions[key]

    def opinion_of(self, point: Judged, i: int) -> Opinion:
        """The opinion on the rule's own answer."""
        return self.opinion(point, i, self.pulled(point.xs, point.y, 1.0)[i])

    def confirmed(self, point: Judged, i: int, opinion: Opinion) -> Opinion:
        """The opinion, if the reference in balls says the same with far smaller steps; else "skip": kinks are dense there."""
        balls = self.reference.balls
        if (
            balls is None
            or opinion.wanted is None
            or not all(map(math.isfinite, point.xs))
            or self.slope(point.xs, i).by != balls.name
        ):
            return opinion
        fine = balls.confirmed(point.xs, unit(self.arity, i))
        known = fine.value or fine.left or fine.right
        if known is None or fine.note != self.slope(point.xs, i).note or not known.overlaps(opinion.wanted, opinion.allowed):
            return Opinion("skip", opinion.wanted, opinion.allowed, "the reference does not confirm itself with smaller steps")
        return opinion

    def _opinion(self, point: Judged, i: int, found: float) -> Opinion:
        xs = point.xs
        slope = self.slope(xs, i)
        wanted = slope.value
        if slope.note == "edge":
            wanted = slope.left or slope.right
            if wanted is not None and wanted.finite and math.isnan(found) and moderate(xs):
                return Opinion("fault", wanted, 0.0, "the derivative exists on one side")
            return Opinion("skip")
        if wanted is None or not wanted.finite:
            return Opinion("skip")
        relative, absolute = self.budget(xs)
        if not math.isfinite(found):
            return self._lost(point, i, found, wanted, relative * wanted.size)
        allowed = relative * wanted.size + absolute
        if wanted.distance(found) <= allowed:
            return Opinion("right", wanted, allowed)
        wanted, allowed = self.conditioned(xs, i, wanted, allowed)
        if wanted.distance(found) <= allowed:
            return Opinion("right", wanted, allowed)
        if any(0 < abs(v) < GRADUAL for v in (*xs, point.y)) and wanted.distance(found) <= max(wanted.size, 1.0):
            return Opinion("skip", wanted, allowed, "the arguments or the value have lost their digits to underflow")
        if self.is_rounding(point, i, found, wanted, allowed):
            return Opinion("accuracy", wanted, allowed, ROUNDING)
        if self.rule_is_read or moderate(xs):
            return Opinion("fault", wanted, allowed)
        return Opinion("accuracy", wanted, allowed, UNTOLD)

    def _lost(self, point: Judged, i: int, found: float, wanted: Enclosure, allowed: float) -> Opinion:
        """A cotangent that is not finite where the derivative is."""
        finite = tuple(x for x in point.xs if math.isfinite(x))
        if len(finite) < self.arity and (not math.isfinite(point.xs[i]) or wanted.overlaps(Enclosure(0.0, 0.0))):
            return Opinion("skip", wanted, allowed, "at an infinite argument")
        if any(0 < abs(v) < GRADUAL for v in (*finite, point.y)):
            return Opinion("skip", wanted, allowed, "the arguments or the value have lost their digits to underflow")
        if wanted.size > HUGE or any(abs(v) > HUGE for v in finite):
            return Opinion("skip", wanted, allowed, "the derivative or an argument is about to overflow")
        usual = all(x == 0 or 2.0**-64 <= abs(x) <= 2.0**64 for x in finite)
        why = "not finite where the derivative is"
        if usual or (math.isnan(found) and self.rule is not None and not self._right_in_balls(point, i, wanted, allowed)):
            return Opinion("fault", wanted, allowed, why)
        return Opinion("accuracy", wanted, allowed, f"{why}: an intermediate leaves the doubles at an extreme argument")

    def conditioned(self, xs: Point, i: int, wanted: Enclosure, allowed: float) -> tuple[Enclosure, float]:
        """The enclosure widened to the derivatives 4 ulp around xs: what a rule backward stable in its inputs may answer."""
        for j, x in enumerate(xs):
            if not math.isfinite(x) or x == 0:
                continue
            for step in (8 * U, -8 * U):
                near = self.slope((*xs[:j], x * (1 + step), *xs[j + 1 :]), i).value
                if near is not None and near.finite:
                    wanted = wanted.hull(near)
        return wanted, allowed

    # is it rounding?

    def is_rounding(self, point: Judged, i: int, found: float, wanted: Enclosure, allowed: float) -> bool:
        """
        Whether the error is rounding: the rule is right over the reals, though not in doubles.

        A rule in the language is run in balls, where its answer is compared with the enclosure. A black box is asked how much it
        moves when its inputs move by a few ulp, or how rough it is nearby. An error that is alone, with none of a sixteenth of it
        nearby, is no rounding: a special case is missing.
        """
        if self.rule_is_read:
            return self._right_in_balls(point, i, wanted, allowed)
        error = wanted.distance(found)
        lines = self.lines(point, i)
        if all(wanted.distance(answer) < error / 16 for line in lines for k, answer in enumerate(line) if k != STEPS):
            return False
        return error <= 4 * max(self.jitter(point, i, found), roughness(lines))

    @property
    def rule_is_read(self) -> bool:
        """Whether the rule can be run in balls."""
        return self.rule is not None and self.reference.balls is not None

    def _right_in_balls(self, point: Judged, i: int, wanted: Enclosure, allowed: float) -> bool:
        real = self.rule_in_balls(point.xs, i)
        return real is not None and max(wanted.distance(real.lo), wanted.distance(real.hi)) <= allowed

    def rule_in_balls(self, xs: Point, i: int) -> Enclosure | None:
        """What the rule answers over the reals at cotangent 1, as an enclosure; None if it cannot be read in balls."""
        if self.rule is None or self.reference.balls is None:
            return None
        from flint import arb

        from checkers.primitive_audit.programs import in_balls

        def compute() -> Any:
            out = self.reference.balls.at([arb(x) for x in xs]) if self.reference.balls is not None else None
            if out is None or self.rule is None:
                return None
            try:
                return in_balls(self.rule, [*(arb(x) for x in xs), out, arb(1)])[i]
            except (AdjudgeError, ArithmeticError, ValueError, TypeError, IndexError):
                return None

        ball = with_precision(2000, compute)
        if ball is ZERO:
            return Enclosure(0.0, 0.0)
        if isinstance(ball, (int, float)):
            return Enclosure(float(ball), float(ball))
        return doubles(ball) if isinstance(ball, arb) else None

    def jitter(self, point: Judged, i: int, found: float) -> float:
        """How far the answer moves when the arguments or the value move by one double."""
        moves = [
            (tuple(n if j == k else x for k, x in enumerate(point.xs)), point.y)
            for j in range(self.arity)
            for n in neighbours(point.xs[j])
        ]
        moves += [(point.xs, n) for n in neighbours(point.y)]
        answers = (self.pulled(xs, y, 1.0)[i] for xs, y in moves)
        return max((abs(a - found) for a in answers if math.isfinite(a)), default=0.0)

    def lines(self, point: Judged, i: int) -> list[list[float]]:
        """What the rule answers around the point, along each argument, by steps of 2^-40 of it."""
        found = []
        for j, x in enumerate(point.xs):
            step = math.ldexp(1.0, math.frexp(x)[1] - 40) if x else 2.0**-40
            moved = (tuple(x + k * step if j == m else v for m, v in enumerate(point.xs)) for k in range(-STEPS, STEPS + 1))
            found.append([self.pulled(xs, self.value(xs), 1.0)[i] for xs in moved])
        return found

    # choosing points

    def smooth(self, most: int | None = None, origins: Iterable[str] = ("sample", "random", "edge")) -> list[Judged]:
        """The points, of the given origins, where every slope is known and finite."""
        kept = []
        for point in self.points:
            if point.origin in origins and self.is_smooth(point):
                kept.append(point)
                if most is not None and len(kept) == most:
                    break
        return kept

    def is_smooth(self, point: Judged) -> bool:
        """Whether every slope is known and finite."""
        return all((v := self.slope(point.xs, i).value) is not None and v.finite for i in range(self.arity))


def roughness(lines: Iterable[Sequence[float]]) -> float:
    """The noise of a rule: fourth differences, which smooth functions do not have over steps of 2^-40."""
    worst = 0.0
    for differences in lines:
        for _ in range(4):
            differences = [b - a for a, b in pairwise(differences)]
        worst = max([worst, *(abs(d) / math.sqrt(70) for d in differences if math.isfinite(d))])
    return worst
