"""
Checks 10 and 12: what a rule answers where the function is not differentiable, and when one variable is several arguments.

At a kink any element of the Clarke derivative is a convention and is recorded; anything else is a fault. The Clarke derivative is
the convex hull of the limits of nearby gradients (Clarke 1983, theorem 2.5.1): for one argument, the interval between the
one-sided derivatives; for several, the hull of gradients sampled next to the kink, of which the answer must not lie outside in
any direction. That catches `max` with 1 for each of two tied arguments, whose entries are fine one by one.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product

from checkers.conventions import others, shown
from checkers.inputs import moderate
from checkers.primitive_audit.findings import finding
from checkers.primitive_audit.reference import Direction, Enclosure, Slope
from checkers.primitive_audit.subject import Judged, Pulled, Subject
from checkers.verdict import OutOfScope, Passed, Refuted, Verdict

MOST = 16
NEAR = 2.0**-30
SAMPLES = 24
Gradient = tuple[float, ...]


def kinks(subject: Subject) -> list[Verdict]:
    """10: at kinks, an element of the Clarke derivative; the convention is recorded."""
    claim = "kinks"
    conventions: dict[tuple[float, ...], Refuted] = {}
    judged = 0
    for point in subject.points:
        if judged >= MOST or not moderate(point.xs):
            continue
        slopes = [subject.slope(point.xs, i) for i in range(subject.arity)]
        if not any(s.note == "kink" for s in slopes):
            continue
        judged += 1
        pulled = subject.pulled(point.xs, point.y, 1.0)
        answer = tuple(pulled[i] for i in range(subject.arity))
        for i, slope in enumerate(slopes):
            if slope.note != "kink" or (clarke := slope.clarke) is None:
                continue
            room = subject.budget(point.xs)[0] * clarke.size + 4 * (clarke.hi - clarke.lo) * 2.0**-40
            if clarke.distance(answer[i]) <= room:
                continue
            cause = f"NaN or infinite at a kink whose one-sided derivatives are {slope.left} and {slope.right}"
            if math.isfinite(answer[i]):
                cause = f"outside the Clarke interval [{clarke.lo!r}, {clarke.hi!r}]"
            test = f"{clarke.lo - room!r} <= pull(dout)[{i}] <= {clarke.hi + room!r}"
            note = f"entry {i} ({subject.parameters[i]}); reference: {slope.by}"
            return [finding(subject, claim, point, found=answer[i], wanted=clarke.middle, cause=cause, note=note, test=test)]
        if subject.arity > 1 and (fault := outside_hull(subject, point, answer)) is not None:
            return [fault]
        intervals = " and ".join(str(s.clarke) for s in slopes if s.note == "kink")
        conventions.setdefault(
            answer,
            finding(
                subject,
                claim,
                point,
                found=answer if len(answer) > 1 else answer[0],
                wanted=intervals,
                kind="convention",
                cause=choice(subject, point, slopes, answer),
            ),
        )
    if not judged:
        return [OutOfScope("no kink among the points", claim)]
    first = next(iter(conventions.values()))
    return [first, Passed(judged, "kinks where the answer is a Clarke derivative", claim)]


def choice(subject: Subject, point: Judged, slopes: Sequence[Slope], answer: Gradient) -> str:
    """Which slope it takes at the kink, where, between which; and what other frameworks take, if the function is a known one."""
    ties = [i for i, s in enumerate(slopes) if s.note == "kink"]
    if len(ties) == 1:
        i, clarke = ties[0], slopes[ties[0]].clarke
        span = "" if clarke is None else f", between {shown(round(clarke.lo, 9))} and {shown(round(clarke.hi, 9))}"
        said = f"slope {shown(answer[i])} at {subject.parameters[i]} == {point.xs[i]:g}{span}"
    else:
        slopes_taken = " and ".join(f"{shown(answer[i])} by {subject.parameters[i]}" for i in ties)
        said = f"slopes {slopes_taken} at {', '.join(f'{subject.parameters[i]} == {point.xs[i]:g}' for i in ties)}"
    elsewhere = others(subject.name, answer[ties[0]])
    return f"its choice at a kink: {said}" + (f"; {elsewhere}" if elsewhere else "")


def outside_hull(subject: Subject, point: Judged, answer: Gradient) -> Refuted | None:
    """The fault at a kink in several arguments, if some direction separates the answer from every nearby gradient."""
    gradients = nearby(subject, point)
    along: Enclosure | None
    if gradients:
        for v in normals(subject.arity, gradients):
            seen = [sum(a * b for a, b in zip(g, v, strict=True)) for g in gradients]
            claimed = sum(a * b for a, b in zip(answer, v, strict=True))
            room = 2.0**-18 * sum(map(abs, v)) * (1 + max(abs(x) for g in gradients for x in g))
            if claimed > max(seen) + room:
                return _tie(subject, point, v, claimed, Enclosure(min(seen), max(seen)), room)
        return None
    for v in product((0.0, 1.0, -1.0), repeat=min(subject.arity, 4)):
        direction = (*v, *(0.0,) * (subject.arity - len(v)))
        if sum(map(abs, direction)) < 2 or (along := subject.slope(point.xs, direction).value) is None:
            continue
        claimed = sum(a * b for a, b in zip(answer, direction, strict=True))
        room = 2.0**-18 * (1 + along.size)
        if along.distance(claimed) > room:
            return _tie(subject, point, direction, claimed, along, room)
    return None


def is_clarke(subject: Subject, point: Judged, pulled: Pulled) -> bool:
    """Whether the function has a kink along an argument, and what was pulled back lies among the gradients nearby."""
    if pulled.values is None or not moderate(point.xs):
        return False
    if not any(subject.slope(point.xs, i).note == "kink" for i in range(subject.arity)):
        return False
    if not (gradients := nearby(subject, point)):
        return False
    for x, seen in zip(pulled.values, zip(*gradients, strict=True), strict=True):
        if Enclosure(min(seen), max(seen)).distance(x) > 2.0**-18 * (1 + max(map(abs, seen))):
            return False
    return outside_hull(subject, point, pulled.values) is None


def _tie(subject: Subject, point: Judged, v: Direction, claimed: float, along: Enclosure, room: float) -> Refuted:
    """The fault, told of the direction in which the value grows."""
    if along.middle < 0:
        v, claimed, along = tuple(0.0 - a for a in v), 0.0 - claimed, Enclosure(-along.hi, -along.lo)
    shown = ", ".join(f"{a:g}" for a in v)
    count = "more than once" if claimed > along.hi else "less than once"
    cause = f"its cotangents add up to {claimed:g} along ({shown}), where the derivative lies in {along}: ties count {count}"
    weighted = " + ".join(f"{a!r} * pull(dout)[{i}]" for i, a in enumerate(v) if a)
    test = f"{along.lo - room!r} <= {weighted} <= {along.hi + room!r}"
    return finding(
        subject, "kinks", point, found=claimed, wanted=along.middle, cause=cause, note="a tie-preserving direction", test=test
    )


def nearby(subject: Subject, point: Judged) -> list[Gradient]:
    """Gradients at points next to the kink, by the exact reference; none if there is no such reference."""
    if subject.reference.balls is None:
        return []
    source = random.Random(subject.seed + 10)
    gradients = []
    for _ in range(SAMPLES):
        xs = tuple(x + NEAR * (abs(x) or 1.0) * source.uniform(-1, 1) for x in point.xs)
        slopes = [
            subject.reference.balls.slope(xs, tuple(float(i == j) for j in range(subject.arity))).value
            for i in range(subject.arity)
        ]
        if all(s is not None and s.finite for s in slopes):
            gradients.append(tuple(s.middle for s in slopes if s is not None))
    return gradients if len(gradients) >= SAMPLES // 2 else []


def normals(arity: int, gradients: Sequence[Gradient]) -> Iterator[Direction]:
    """Directions in which a hull of gradients may end: axes, diagonals, and normals of its edges."""
    for v in product((0.0, 1.0, -1.0), repeat=arity) if arity <= 3 else ():
        if any(v):
            yield v
    distinct = list(dict.fromkeys(tuple(round(x, 6) for x in g) for g in gradients))[:8]
    for a, b in combinations(distinct, 2):
        edge = tuple(y - x for x, y in zip(a, b, strict=True))
        size = max(map(abs, edge))
        if arity == 2 and size > 2.0**-12:
            yield (edge[1] / size, -edge[0] / size)
            yield (-edge[1] / size, edge[0] / size)


def aliasing(subject: Subject) -> list[Verdict]:
    """12: with one variable for all arguments, the cotangents add up to the derivative along the diagonal."""
    claim = "aliasing"
    if subject.arity == 1:
        return [OutOfScope("one argument cannot alias another", claim)]
    judged = 0
    diagonal = (1.0,) * subject.arity
    for point in subject.points:
        x = point.xs[0]
        if judged >= 15 or not moderate((x,)):
            continue
        xs = (x,) * subject.arity
        y = subject.value(xs)
        if not math.isfinite(y) or not subject.row.in_domain(*xs):
            continue
        along = subject.slope(xs, diagonal)
        slopes = [subject.slope(xs, i) for i in range(subject.arity)]
        if along.value is None or not all(s.value is not None and s.value.finite for s in slopes):
            continue
        alias = Judged(xs, y, "alias")
        pulled = subject.pulled(xs, y, 1.0)
        parts = [pulled[i] for i in range(subject.arity)]
        if not all(subject.opinion(alias, i, d).verdict == "right" for i, d in enumerate(parts)):
            if any(subject.opinion(alias, i, d).verdict == "fault" for i, d in enumerate(parts)):
                note = f"{subject.name}({', '.join('x' * subject.arity)})"
                return [
                    finding(
                        subject,
                        claim,
                        alias,
                        found=sum(parts),
                        wanted=along.value.middle,
                        cause="wrong when arguments coincide",
                        note=note,
                    )
                ]
            continue
        judged += 1
        widths = sum(s.value.hi - s.value.lo + s.value.size for s in slopes if s.value is not None)
        room = subject.budget(xs)[0] * widths + widths * 2.0**-40 + subject.budget(xs)[1]
        if along.value.distance(sum(parts)) > room and along.value.distance(sum(parts)) > 8 * sum(
            subject.conditioned(xs, i, s.value, 0.0)[0].hi - subject.conditioned(xs, i, s.value, 0.0)[0].lo
            for i, s in enumerate(slopes)
            if s.value
        ):
            return [
                finding(subject, claim, alias, found=sum(parts), wanted=along.value.middle, cause="the cotangents do not add up")
            ]
    return [Passed(judged, "aliased calls", claim)] if judged else [OutOfScope("no differentiable point on the diagonal", claim)]


CHECKS: Sequence[tuple[str, Callable[[Subject], list[Verdict]]]] = (("kinks", kinks), ("aliasing", aliasing))
