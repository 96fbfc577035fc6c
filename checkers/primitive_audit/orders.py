"""
Checks 13 and 14: second order, where J goes through the rule itself, and adjointness with the tangent.

The program J(J(p)) is read in balls and compared with second differences of p in balls: no rounding on either side, so a
disagreement is in the rule, or in the rules of the primitives it calls. Both mixed orders are compared, hence symmetry.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

from checkers.columns.ball import balls
from checkers.forward_mode import jvp
from checkers.inputs import moderate
from checkers.primitive_audit.findings import finding
from checkers.primitive_audit.programs import calling, in_balls
from checkers.primitive_audit.reference import Enclosure, doubles, with_precision
from checkers.primitive_audit.subject import Judged, Subject
from checkers.verdict import OutOfScope, Passed, Refuted, Unknown, Verdict
from semantics.edit import applying
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.machine import run
from semantics.primitives.row import Hole
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO
from transforms.gradient_programs import gradient_program

BITS = 800
POINTS = 8
"""Points for one argument; with more of them there are more entries, and fewer points for each."""


def second_order(subject: Subject) -> list[Verdict]:
    """13: the derivative of the gradient, through the rule, is the second derivative of the function."""
    claim = "second order"
    if subject.rule is None:
        return [OutOfScope("the backpropagator is a black box, which J cannot enter", claim)]
    if subject.reference.balls is None:
        return [OutOfScope("the function is a black box: no second differences", claim)]
    points = [p for p in subject.smooth(4 * POINTS, ("sample", "random")) if moderate(p.xs)][: max(2, POINTS // subject.arity**2)]
    judged = 0
    for i in range(subject.arity):
        first = gradient_program(calling(subject.row), i)
        for j in range(subject.arity):
            program = gradient_program(first, j)
            for point in points:
                verdict = _second(subject, claim, program, point, i, j)
                if isinstance(verdict, Refuted):
                    return [verdict]
                judged += verdict
    return (
        [Passed(judged, "second derivatives, both mixed orders, in balls", claim)] if judged else [Unknown("no reference", claim)]
    )


def _second(subject: Subject, claim: str, program: Program, point: Judged, i: int, j: int) -> Any:
    """The fault at one point, or how many comparisons were made."""
    wanted = subject.reference.second(point.xs, i, j)
    if wanted is None or not wanted.finite:
        return 0
    found = read(program, point.xs)
    slope = subject.slope(point.xs, i).value
    relative, absolute = subject.budget(point.xs)
    steep = (slope.size if slope is not None else 0.0) * (1 + (1 / abs(point.xs[j]) if point.xs[j] else 0.0))
    allowed = 8 * relative * (wanted.size + steep) + absolute + 4 * (wanted.hi - wanted.lo)
    if found is None:
        value = on_machine(program, point.xs)
        if math.isnan(value) or not math.isfinite(value):
            return 0
        found, allowed = Enclosure(value, value), allowed + 2.0**-20 * (wanted.size + steep)
    if found.overlaps(wanted, allowed):
        return 1
    if subject.opinion(point, i, subject.pulled(point.xs, point.y, 1.0)[i]).verdict == "fault":
        return 0
    names = f"d2/d{subject.parameters[i]} d{subject.parameters[j]}"
    cause = (
        "the first derivative is right and its own derivative is not: a rule inside the rule, or a branch that holds a value fixed"
    )
    return finding(
        subject, claim, point, d=None, found=found.middle, wanted=wanted.middle, cause=cause, note=f"{names}, allowed {allowed:.3g}"
    )


def read(program: Program, xs: Sequence[float]) -> Enclosure | None:
    """The value of a program of reals in balls, as an enclosure; None where balls cannot decide."""
    from flint import arb

    def compute() -> Any:
        try:
            return in_balls(program, [arb(x) for x in xs])
        except (AdjudgeError, ArithmeticError, ValueError, TypeError):
            return None

    value = with_precision(BITS, compute)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Enclosure(float(value), float(value))
    return doubles(value) if isinstance(value, arb) else None


def on_machine(program: Program, xs: Sequence[float]) -> float:
    """The value of a program of reals on the machine, NaN if it stops with one of the five errors."""
    try:
        return float(run(program, *xs, fuel=1_000_000))
    except (AdjudgeError, TypeError):
        return math.nan


def pushforward(subject: Subject) -> tuple[Callable[..., Any], bool] | None:
    """
    (x…, dx…) -> dout, and whether it is the user's own tangent; else forward mode over the row or the forward program, in balls,
    where nothing overflows on the way. None without either.
    """
    own = subject.row.columns.get("tangent")
    if own is not None and not isinstance(own, Hole):
        return own, True
    program = applying(subject.row) if TABLE.get(subject.row.name) is subject.row else subject.program
    if not isinstance(program, Program):
        return None

    def forward(*both: Any) -> float:
        def compute() -> Enclosure | None:
            _, derivative = jvp(program, both[: subject.arity], both[subject.arity :], balls(BITS))
            return Enclosure(0.0, 0.0) if derivative is ZERO else doubles(derivative)

        found = with_precision(BITS, compute)
        if found is None or not found.finite:
            raise ArithmeticError("balls do not enclose it")
        return float(found.middle)

    return forward, False


def tangent(subject: Subject) -> list[Verdict]:
    """
    14: <dout, tangent(dx)> = <pullback(dout), dx> for random directions, within rounding of the sum.

    Without a tangent of the author's, forward mode over the forward function stands for it. Where kinks of its parts cancel, as in
    max(x, 0) + log1p(exp(-abs(x))) at 0, it is a convention of the parts, and accuses nobody: the entries are right there.
    """
    claim = "tangent"
    push = pushforward(subject)
    if push is None:
        return [OutOfScope("it has no tangent column, and its forward function is no program that forward mode could read", claim)]
    rule, own = push
    source = random.Random(subject.seed + 14)
    points = [p for p in subject.smooth(60, ("sample", "random")) if moderate(p.xs)]
    judged = apart = 0
    for point in points:
        pulled = subject.pulled(point.xs, point.y, 1.0)
        if any(subject.opinion(point, i, pulled[i]).verdict != "right" for i in range(subject.arity)):
            continue
        direction = tuple(source.choice((1.0, -1.0, 0.5, 2.0)) for _ in point.xs)
        terms = [pulled[i] * v for i, v in enumerate(direction)]
        try:
            pushed = float(rule(*point.xs, *direction))
        except (AdjudgeError, ArithmeticError, ValueError, TypeError) as error:
            if not own:
                continue
            return [
                finding(
                    subject, claim, point, found=f"{type(error).__name__}: {error}", wanted=sum(terms), cause="the tangent raises"
                )
            ]
        widths = [
            subject.conditioned(point.xs, i, s, 0.0)[0] for i in range(subject.arity) if (s := subject.slope(point.xs, i).value)
        ]
        room = (
            2 * subject.budget(point.xs)[0] * sum(map(abs, terms))
            + 2 * sum(2 * (w.hi - w.lo) for w in widths)
            + subject.budget(point.xs)[1]
        )
        if not abs(pushed - sum(terms)) <= room:
            if not own:
                apart += 1
                continue
            cause = "the tangent is not the transpose of the backpropagator, which agrees with the reference: the tangent is wrong"
            note = f"direction {direction}, allowed {room:.3g}"
            return [finding(subject, claim, point, found=pushed, wanted=sum(terms), cause=cause, note=note)]
        judged += 1
    if apart > judged:
        return [Unknown(f"forward mode over the function differs from the reference at {apart} of {apart + judged} points", claim)]
    return [Passed(judged, "<d, T v> = <T* d, v>", claim)] if judged else [Unknown("no ordinary point", claim)]


CHECKS: Sequence[tuple[str, Callable[[Subject], list[Verdict]]]] = (("second order", second_order), ("tangent", tangent))
