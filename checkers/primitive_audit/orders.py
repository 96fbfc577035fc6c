"""
Checks 13 and 14: second order, where J goes through the rule itself, and adjointness with the tangent.

The program J(J(p)) is read in balls and compared with second differences of p in balls: no rounding on either side, so a
disagreement is in the rule, or in the rules of the primitives it calls. Both mixed orders are compared, hence symmetry.

A rule may branch where no random point lies: `0.0 if y == 0 else …` holds a value fixed and is right at first order. So each way
through the rule that such a point takes is judged as well: a random point with one special argument, or one of the edge pool.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from checkers.columns.ball import balls
from checkers.forward_mode import jvp
from checkers.inputs import Point, moderate, program_numbers
from checkers.primitive_audit.findings import finding
from checkers.primitive_audit.programs import calling, choices, in_balls
from checkers.primitive_audit.reference import Enclosure, doubles, with_precision
from checkers.primitive_audit.script import asked
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
MANY = 64
"""Beyond so many entries of the Hessian a part of them is drawn: a program is derived two times for each."""
WAYS = 8
"""At most so many other ways through the rule."""
SPOTS = 512
"""At most so many places are tried to find them."""
NEAR, JUMP = 2.0**-40, 2.0**-16
"""A second derivative that moves by this part of its scale, so near, jumps: a third derivative would be 2^24 times as large."""


def second_order(subject: Subject) -> list[Verdict]:
    """13: the derivative of the gradient, through the rule, is the second derivative of the function."""
    claim = "second order"
    if subject.rule is None:
        return [OutOfScope("the backpropagator is a black box, which J cannot enter", claim)]
    if subject.reference.balls is None:
        return [OutOfScope("the function is a black box: no second differences", claim)]
    points = [p for p in subject.smooth(4 * POINTS, ("sample", "random")) if moderate(p.xs)][: max(2, POINTS // subject.arity**2)]
    points += other_ways(subject, points)
    judged, chosen = 0, entries(subject.arity, subject.seed)
    for i, row in groupby(chosen, key=itemgetter(0)):
        first = gradient_program(calling(subject.row), i)
        for _, j in row:
            program = gradient_program(first, j)
            for point in points:
                verdict = _second(subject, claim, program, point, i, j)
                if isinstance(verdict, Refuted):
                    return [verdict]
                judged += verdict
    some = f", {len(chosen)} of {subject.arity**2} entries" if len(chosen) < subject.arity**2 else ""
    what = f"second derivatives, both mixed orders, in balls{some}"
    return [Passed(judged, what, claim)] if judged else [Unknown("no reference", claim)]


def entries(arity: int, seed: int) -> list[tuple[int, int]]:
    """The entries of the Hessian to be judged, in order: all, or as many as let the cost grow no faster than the arity."""
    if arity * arity <= MANY:
        return [(i, j) for i in range(arity) for j in range(arity)]
    source = random.Random(seed)
    chosen: set[tuple[int, int]] = set()
    while len(chosen) < max(8, 8 * MANY // arity):
        i, j = source.randrange(arity), source.randrange(arity)
        chosen |= {(i, i), (i, j), (j, i)}
    return sorted(chosen)


def other_ways(subject: Subject, points: Sequence[Judged]) -> list[Judged]:
    """For each way through the rule that none of `points` takes, one smooth point that takes it, if one is found."""
    assert subject.rule is not None
    ways = {choices(subject.rule, (*p.xs, p.y, 1.0)) for p in points} | {None}
    found: dict[Any, Judged] = {}
    for point in (*beside(subject, points), *(p for p in subject.points if p.origin == "edge" and moderate(p.xs))):
        way = choices(subject.rule, (*point.xs, point.y, 1.0))
        if len(found) < WAYS and way not in ways and way not in found and subject.is_smooth(point):
            found[way] = point
    return list(found.values())


def beside(subject: Subject, points: Sequence[Judged]) -> Iterator[Judged]:
    """The points with one argument 0, 1, -1, a number of the rule's, or tied with another: all else stays as it was drawn."""
    special = tuple(dict.fromkeys((0.0, 1.0, -1.0, *program_numbers(subject.rule))))
    spots = [(point, i, x) for point in points for i in range(subject.arity) for x in (*special, *point.xs)]
    for point, i, x in spots if len(spots) <= SPOTS else random.Random(subject.seed).sample(spots, SPOTS):
        xs = (*point.xs[:i], x, *point.xs[i + 1 :])
        if xs != point.xs and subject.row.in_domain(*xs) and math.isfinite(y := subject.value(xs)):
            yield Judged(xs, y, "edge")


def jumps(subject: Subject, xs: Point, i: int, j: int, wanted: Enclosure, scale: float) -> bool:
    """Whether the second derivative is another one nearby, along any argument: then there is none, and differences show a mean."""
    for k, x in enumerate(xs):
        step = NEAR * max(abs(x), NEAR)
        for moved in (x - step, x + step):
            near = subject.reference.second((*xs[:k], moved, *xs[k + 1 :]), i, j)
            if near is None or not near.overlaps(wanted, JUMP * scale):
                return True
    return False


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
    if jumps(subject, point.xs, i, j, wanted, wanted.size + steep):
        return 0
    if subject.opinion(point, i, subject.pulled(point.xs, point.y, 1.0)[i]).verdict == "fault":
        return 0
    names = f"d2/d{subject.parameters[i]} d{subject.parameters[j]}"
    cause = (
        "the first derivative is right and its own derivative is not: a rule inside the rule, or a branch that holds a value fixed"
    )
    return finding(
        subject,
        claim,
        point,
        d=None,
        found=found.middle,
        wanted=wanted.middle,
        cause=cause,
        note=f"{names}, allowed {allowed:.3g}",
        test=meets(found, wanted, allowed),
        now=asked("second", i, j),
    )


def meets(found: Enclosure, wanted: Enclosure, allowed: float) -> str:
    """The expression that `now`, in the place of the middle of `found`, is as near to what is wanted as is allowed."""
    room = allowed + (found.hi - found.lo) / 2
    return f"{wanted.lo - room!r} <= now <= {wanted.hi + room!r}"


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
    most = max(8, 120 // max(2, subject.arity))
    points = [p for p in subject.smooth(most, ("sample", "random")) if moderate(p.xs)]
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
        gap, room = abs(pushed - sum(terms)), 2 * subject.budget(point.xs)[0] * sum(map(abs, terms)) + subject.budget(point.xs)[1]
        if not gap <= room:
            room += conditioning(subject, point.xs)
        if not gap <= room:
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


def conditioning(subject: Subject, xs: Point) -> float:
    """How far the slopes at xs move within 4 ulp, together: four times the widths of their enclosures there."""
    slopes = ((i, subject.slope(xs, i).value) for i in range(subject.arity))
    widths = (subject.conditioned(xs, i, s, 0.0)[0] for i, s in slopes if s)
    return sum(4 * (w.hi - w.lo) for w in widths)


CHECKS: Sequence[tuple[str, Callable[[Subject], list[Verdict]]]] = (("second order", second_order), ("tangent", tangent))
