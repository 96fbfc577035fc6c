"""
Does a rule keep gradients? J of both sides, compared over the reals at finite points where the values agree.

Where the left side meets no kink its derivative is a fact, and a right side whose gradient differs, or is undefined, is at
fault: `x` written as relu(x) - relu(-x) has slope 2 at 0. Where the left side is on a kink the gradient there is a convention,
and so is a change of it: max(x, y) against (x + y + |x - y|) / 2 on ties.
"""

from __future__ import annotations

import math
from typing import Any

from checkers.optimizer_audit.outcomes import (
    Open,
    Result,
    Runner,
    Stopped,
    Value,
    agree,
    on_a_kink,
    over_the_reals,
    rounded_constants,
    said,
    same_bits,
)
from checkers.optimizer_audit.rule_values import Rule, allowed, points_of, types_in
from checkers.optimizer_audit.samples import Point, names_of, shrink
from checkers.verdict import Counterexample, OutOfScope, Passed, Refuted, Verdict
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.type_language import BOOLEAN, INTEGER
from transforms.gradient_programs import gradient_program

GRADIENT_POINTS = 40


class Gradients:
    """The gradient programs of two programs in the same parameters, compared point by point."""

    def __init__(self, left: Program, right: Program, wrt: tuple[int, ...], quick: bool = False) -> None:
        self.left, self.right, self.quick = left, right, quick
        self.constants = rounded_constants(left, right) if quick else None
        self.of_left, self.of_right = gradient_program(left, wrt), gradient_program(right, wrt)
        self.runs_left, self.runs_right = Runner(self.of_left), Runner(self.of_right)

    def pair(self, point: Point) -> tuple[Result, Result]:
        """The gradients over the reals if both are known; otherwise as the machine computes them."""
        a, b = over_the_reals(self.of_left, point), over_the_reals(self.of_right, point, self.constants)
        if isinstance(a, Value) and isinstance(b, Value):
            return a, b
        return self.runs_left(point), self.runs_right(point)

    def differ(self, point: Point) -> bool:
        """
        Whether the left gradient is known and finite, and the right one is certainly another, or not finite.

        With `quick`, for passes, gradients of the same bits are taken for equal without looking at the reals, and constants that
        are new on the right for rounded.
        """
        if self.quick and same_bits(self.runs_left(point), self.runs_right(point)):
            return False
        a, b = over_the_reals(self.of_left, point), over_the_reals(self.of_right, point, self.constants)
        if isinstance(a, Value) and isinstance(b, Value):
            return not agree(a.value, b.value)
        if isinstance(a, Open):
            return False
        x, y = self.runs_left(point), self.runs_right(point)
        return _finite(x) and not _finite(y) and isinstance(b, Stopped) and isinstance(a, Value)

    def smooth(self, point: Point) -> bool:
        """Whether the left side meets no kink at `point`."""
        return not on_a_kink(self.left, point)


def _finite(result: Result) -> bool:
    if not isinstance(result, Value):
        return False
    parts = result.value if isinstance(result.value, tuple) else (result.value,)
    return all(type(v) is not float or math.isfinite(v) for v in parts)


def reals_of(types: tuple[Any, ...]) -> tuple[int, ...]:
    """The positions of the parameters that one differentiates by."""
    return tuple(i for i, t in enumerate(types) if t not in (INTEGER, BOOLEAN))


def keeps_gradients(rule: Rule, seed: int) -> list[Verdict]:
    """A fault where the left side is smooth, a convention where it is on a kink, or Passed."""
    claim = "the gradient is kept"
    wrt = reals_of(types_in(rule))
    if not wrt:
        return [OutOfScope("no variable is a real", claim)]
    points = [p for p in points_of(rule, seed, finite=True, most=GRADIENT_POINTS) if _reals(p, wrt)]
    real = (p for p in points if isinstance(v := Runner(rule.left)(p), Value) and type(v.value) is float)
    if next(real, None) is None:
        return [OutOfScope("the value is not a real, or the left side has none at the points", claim)]
    try:
        gradients = Gradients(rule.left, rule.right, wrt)
    except AdjudgeError as error:
        return [OutOfScope(f"a side cannot be differentiated: {error.what}", claim)]
    return judged(gradients, points, names_of(rule.left), claim, allowed(rule))


def _reals(point: Point, wrt: tuple[int, ...]) -> bool:
    return all(type(point[i]) is float for i in wrt)


def judged(gradients: Gradients, points: list[Point], names: tuple[str, ...], claim: str, holds: Any = None) -> list[Verdict]:
    """The verdicts on pairs of gradients at points: at most one fault and one convention, each shrunk."""
    found: list[Verdict] = []
    tried = 0
    for smooth, kind in ((True, "fault"), (False, "convention")):

        def fails(p: Point, smooth: bool = smooth) -> bool:
            if not _sane(p) or (holds is not None and not holds(p)) or not gradients.differ(p):
                return False
            return gradients.smooth(p) == smooth and _agree_there(gradients, p)

        for point in points:
            tried += smooth
            if fails(point):
                bad = shrink(point, fails)
                a, b = gradients.pair(bad)
                cause = "the left side is smooth there" if smooth else "the left side has a kink there: which slope is a convention"
                counterexample = Counterexample(dict(zip(names, bad, strict=True)), said(b), said(a), cause, note="gradients")
                found.append(Refuted(counterexample, kind, claim))
                break
    return found or [Passed(tried, "points, kinks and ties among them", claim)]


def _sane(point: Point) -> bool:
    return all(type(v) is not float or abs(v) < 2.0**300 for v in point)


def _agree_there(gradients: Gradients, point: Point) -> bool:
    """Whether the values are not known to differ: a rule that changes the value is blamed for that elsewhere."""
    a, b = over_the_reals(gradients.left, point), over_the_reals(gradients.right, point, gradients.constants)
    return not (isinstance(a, Value) and isinstance(b, Value) and not agree(a.value, b.value))
