"""
Check 19: would the inputs notice a wrong rule? The author's rule is damaged in a dozen ways; a damaged rule that nowhere leaves
the reference is listed as Vacuous. One that answers the same numbers on every point is no damage, and is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from checkers.inputs import Point
from checkers.primitive_audit.subject import Judged, Subject
from checkers.verdict import OutOfScope, Passed, Vacuous, Verdict

Answer = tuple[float, ...]
Mutant = Callable[[Point, float, float], Answer | None]
COTANGENTS = (1.0, -3.0, 2.0**12)
FEW = 8


def mutants(subject: Subject) -> Iterator[tuple[str, Mutant]]:
    """Damaged copies of the rule, by the name of the damage."""

    def rule(xs: Point, y: float, d: float) -> Answer | None:
        return subject.pulled(xs, y, d).values

    def of(change: Callable[[Answer, float], Answer]) -> Mutant:
        def mutant(xs: Point, y: float, d: float) -> Answer | None:
            values = rule(xs, y, d)
            return None if values is None else change(values, d)

        return mutant

    yield "a sign turned", of(lambda v, d: tuple(-x for x in v))
    yield "twice the cotangent", of(lambda v, d: tuple(2 * x for x in v))
    yield "a factor 1 + 1e-6", of(lambda v, d: tuple(x * (1 + 1e-6) for x in v))
    yield "a factor 1 - 1e-6", of(lambda v, d: tuple(x * (1 - 1e-6) for x in v))
    yield "a bias of 1e-7", of(lambda v, d: tuple(x + 1e-7 for x in v))
    yield "a bias of 1e-7 times the cotangent", of(lambda v, d: tuple(x + 1e-7 * d for x in v))
    yield "the cotangent dropped", lambda xs, y, d: rule(xs, y, 1.0)
    yield "the cotangent clipped", lambda xs, y, d: rule(xs, y, min(max(d, -1.0), 1.0))
    yield "the cotangent squared", lambda xs, y, d: rule(xs, y, d * abs(d))
    yield "negative cotangents dropped", lambda xs, y, d: rule(xs, y, max(d, 0.0))
    yield "a stale result", lambda xs, y, d: rule(xs, y + 0.5, d)
    yield "a stale argument", lambda xs, y, d: rule((xs[0] + 0.5, *xs[1:]), y, d)
    for i in zeroed(subject):
        yield f"the cotangent of {subject.parameters[i]} zeroed", of(partial(_zeroed, i))
    if subject.arity > 1:
        yield "cotangents swapped", of(lambda v, d: (v[1], v[0], *v[2:]))
        yield "the sign of the last cotangent turned", of(lambda v, d: (*v[:-1], -v[-1]))


def zeroed(subject: Subject) -> range:
    """The arguments whose cotangents are zeroed in turn: all, or FEW that are spread evenly."""
    return range(0, subject.arity, -(-subject.arity // FEW))


def _zeroed(i: int, values: Answer, d: float) -> Answer:
    return (*values[:i], 0.0, *values[i + 1 :])


def vacuity(subject: Subject) -> list[Verdict]:
    """19: damaged rules are noticed; those that are not are listed."""
    claim = "vacuity"
    points = subject.smooth(60, ("sample", "random")) + subject.smooth(40, ("edge",))
    honest = [(p, [subject.pulled(p.xs, p.y, d).values for d in COTANGENTS]) for p in points]
    if any(
        subject.opinion(p, i, answers[0][i]).verdict == "fault"
        for p, answers in honest
        for i in range(subject.arity)
        if answers[0] is not None
    ):
        return [OutOfScope("the rule itself is wrong: damage to it says nothing", claim)]
    noticed = 0
    survivors: list[Verdict] = []
    for name, mutant in mutants(subject):
        fate = judged(subject, honest, mutant)
        if fate == "noticed":
            noticed += 1
        elif fate == "survived":
            survivors.append(Vacuous(f"your inputs would not notice {name}", claim))
    left_out = subject.arity - len(zeroed(subject))
    what = "damaged rules noticed" + (f"; the cotangents of {left_out} arguments were not zeroed" if left_out else "")
    return [*survivors, Passed(noticed, what, claim)]


def judged(subject: Subject, honest: Sequence[tuple[Judged, list[Answer | None]]], mutant: Mutant) -> str:
    """ "noticed", "survived", or "same" if the mutant answers as the rule does on every point."""
    differs = False
    copy = replace(subject, pull=mutant)
    for point, answers in honest:
        for d, answer in zip(COTANGENTS, answers, strict=True):
            found = copy.pulled(point.xs, point.y, d).values
            if found is None or answer is None or _equal(found, answer):
                continue
            differs = True
            if any(_wrong(copy, point, i, found[i], d) for i in range(subject.arity)):
                return "noticed"
    return "survived" if differs else "same"


def _equal(a: Answer, b: Answer) -> bool:
    """Equal as numbers: signed zeros and NaNs are not told apart, since no check here could."""
    return all(x == y or (math.isnan(x) and math.isnan(y)) for x, y in zip(a, b, strict=True))


def _wrong(subject: Subject, point: Judged, i: int, found: float, d: float) -> bool:
    """Whether the cotangent is farther from the reference, at its own scale, than rounding allows."""
    value = subject.slope(point.xs, i).value
    if value is None:
        return False
    relative, absolute = subject.budget(point.xs)
    wanted = type(value)(*sorted((value.lo * d, value.hi * d)))
    if wanted.distance(found) <= relative * wanted.size + absolute * abs(d):
        return False
    middle, _ = subject.conditioned(point.xs, i, value, 0.0)
    return type(value)(*sorted((middle.lo * d, middle.hi * d))).distance(found) > relative * wanted.size + absolute * abs(d)


CHECKS: Sequence[tuple[str, Callable[[Subject], list[Verdict]]]] = (("vacuity", vacuity),)
