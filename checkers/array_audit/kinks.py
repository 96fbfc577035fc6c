"""
Check 10 on arrays: what a rule answers where the function is not differentiable.

At a kink every element of the Clarke Jacobian is a convention, and recorded; anything else is a fault (`clarke.py`). NaN is a fault
where the one-sided derivatives are finite. Where a slope is infinite, as of sqrt at 0, there is no right answer: what the rule
answers is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from checkers.array_audit.bounds import Mask, Reals
from checkers.array_audit.case import Case, Vector, named, unit
from checkers.array_audit.clarke import Direction, Undecided, along, directions, groups, outside, rough, weights
from checkers.array_audit.findings import finding, picked, shrunk
from checkers.array_audit.trial import Trial
from checkers.conventions import others, shown
from checkers.primitive_audit.reference import Enclosure
from checkers.verdict import OutOfScope, Passed, Refuted, Unknown, Verdict

MOST = 10
TRIED = 80
TOLD = 3
"""How many cases with kinks are judged, how many cases are looked at for them, how many conventions are told."""
LARGEST = 2.0**62
"""The least steps are 2^-100 of the largest argument: at larger ones they pass over whole periods of a tangent."""


def kinks(trial: Trial) -> list[Verdict]:
    """10: at kinks, an element of the Clarke Jacobian; the convention is recorded."""
    claim = "kinks"
    conventions: dict[str, Refuted] = {}
    judged = infinite = unread = 0
    undecided: list[Unknown] = []
    for case, kinked in kinked_cases(trial):
        matrix = trial.jacobian(case)
        if matrix is None:
            unread += 1
            continue
        fault = fault_at(trial, case, kinked, matrix)
        if isinstance(fault, Refuted):
            return [simplest(trial, case)]
        endless = kinked & unbounded(trial, case)
        if endless.any():
            infinite += 1
            said = f"answers {_listed(matrix[endless].ravel())} where a slope is infinite"
            conventions.setdefault(said, _convention(trial, case, int(np.flatnonzero(endless)[0]), matrix, said))
        kinked = kinked & ~endless & np.isfinite(matrix).all(axis=1)
        if not kinked.any():
            continue
        if fault is None:
            judged += 1
        else:
            undecided.append(fault)
        row = int(np.flatnonzero(kinked)[0])
        said = choice(trial, case, row, matrix)
        conventions.setdefault(said.split(" at ")[0], _convention(trial, case, row, matrix, said))
    if judged or infinite or undecided:
        told: list[Verdict] = [*list(conventions.values())[:TOLD], *undecided[:1]]
        return [*told, Passed(judged, "cases with kinks where the answer is in the Clarke Jacobian", claim)] if judged else told
    if unread:
        return [Unknown(f"no answer at the {unread} cases with kinks can be read", claim)]
    return [OutOfScope("no kink among the cases", claim)]


def kinked_cases(trial: Trial) -> Iterator[tuple[Case, Mask]]:
    """Cases at which an output is not differentiable, at most `MOST`: ties first, then edges, then others; with those outputs."""
    order = {"tie": 0, "edge": 1, "sample": 2}
    found = 0
    for case in sorted(trial.cases, key=lambda c: order.get(c.origin, 3))[:TRIED]:
        reals = np.abs(case.coordinates[np.isfinite(case.coordinates)])
        if not reals.size or not case.outputs or reals.max() > LARGEST:
            continue
        kinked = rough(trial, case)
        if kinked.any():
            found += 1
            yield case, kinked
            if found == MOST:
                return


def unbounded(trial: Trial, case: Case) -> Mask:
    """The outputs with an infinite slope along some axis."""
    return np.asarray(np.array([trial.sides(case, unit(case.size, k)).infinite for k in range(case.size)]).any(axis=0))


def fault_at(trial: Trial, case: Case, kinked: Mask, matrix: Reals) -> Refuted | Unknown | None:
    """The fault at a case, if there is one; Unknown where it is not decided whether there is."""
    if (fault := not_finite(trial, case, kinked, matrix)) is not None:
        return fault
    finite = kinked & ~unbounded(trial, case) & np.isfinite(matrix).all(axis=1)
    return outside_hull(trial, case, finite, matrix) if finite.any() else None


def simplest(trial: Trial, case: Case) -> Refuted:
    """The fault at the simplest case to which this one can be shrunk."""

    def fault(at: Case) -> Refuted | None:
        kinked, matrix = rough(trial, at), trial.jacobian(at)
        found = fault_at(trial, at, kinked, matrix) if matrix is not None and kinked.any() else None
        return found if isinstance(found, Refuted) else None

    found = fault(shrunk(trial, case, lambda at: fault(at) is not None))
    found = fault(case) if found is None else found
    assert found is not None
    return found


def not_finite(trial: Trial, case: Case, kinked: Mask, matrix: Reals) -> Refuted | None:
    """
    The fault of an entry that is NaN or infinite, though both one-sided derivatives are finite.

    A column with an infinite slope is skipped: there a zero cotangent of another output meets it, as in 0 / (3 cbrt(0)^2).
    """
    for o, k in np.argwhere(~np.isfinite(matrix) & kinked[:, np.newaxis]):
        sides = trial.sides(case, unit(case.size, int(k)))
        between = along(sides, unit(case.outputs, int(o)))
        if between is None or sides.infinite.any() or not np.isfinite(case.coordinates[k]):
            continue
        where = named(case, trial.parameters, int(k))
        cause = f"{matrix[o, k]} by {where}, at a kink whose one-sided derivatives are finite"
        note = f"output {o}; reference: {sides.by}"
        entry = (int(o), int(k))
        return _fault(trial, case, unit(case.outputs, entry[0]), unit(case.size, entry[1]), matrix[o, k], between, 0.0, cause, note)
    return None


def outside_hull(trial: Trial, case: Case, kinked: Mask, matrix: Reals) -> Refuted | Unknown | None:
    """The fault of a matrix that some direction and some weights separate from the Clarke Jacobian, or may."""
    undecided: Unknown | None = None
    axes = (Direction(unit(case.size, k), f"along {named(case, trial.parameters, k)}") for k in range(case.size))
    ways = [*axes, *directions(case, trial.seed)]
    for u in weights(case, kinked, trial.seed):
        row = u @ np.where(u[:, np.newaxis] != 0, matrix, 0.0)
        size = np.abs(u) @ np.where(u[:, np.newaxis] != 0, np.abs(matrix), 0.0)
        for way in ways:
            claimed = float(row @ way.vector)
            missed = outside(trial, case, u, way.vector, claimed, float(size @ np.abs(way.vector)))
            if missed is None:
                continue
            if isinstance(missed, Undecided):
                where = ", ".join(f"{p} = {x:g}" for p, x in zip(_names(trial, case), case.coordinates, strict=True))
                why = f"at {where}, {way.text}, {claimed:g} is outside the {missed.inner} that was seen of the Clarke interval"
                undecided = undecided or Unknown(f"{why}: an inner approximation of it, at the tip of a cone", "kinks")
                continue
            between, room = missed
            cause = f"outside the Clarke interval [{between.lo!r}, {between.hi!r}] {way.text}"
            if np.count_nonzero(way.vector) > 1:
                ties = "more than once" if claimed > between.hi else "less than once"
                cause = f"{way.text}, the cotangents add up to {claimed:g}, where the derivative is in {between}: ties count {ties}"
            return _fault(trial, case, u, way.vector, claimed, between, room, cause, f"reference: {trial.by(case)}")
    return undecided


def _names(trial: Trial, case: Case) -> list[str]:
    return [named(case, trial.parameters, k) for k in range(case.size)]


def choice(trial: Trial, case: Case, row: int, matrix: Reals) -> str:
    """The convention at a kink of one output, in words."""
    sides = [trial.sides(case, unit(case.size, k)) for k in range(case.size)]
    at = [k for k in range(case.size) if sides[k].kink[row]]
    x = case.coordinates
    if not at:
        at = max(groups(x), key=len, default=list(range(case.size)))
    values = matrix[row, at]
    names = [named(case, trial.parameters, k) for k in at]
    if len(at) == 1:
        between = along(sides[at[0]], unit(case.outputs, row))
        span = "" if between is None else f", between {shown(round(between.lo, 9))} and {shown(round(between.hi, 9))}"
        return f"slope {shown(values[0])}{span} at {names[0]} = {x[at[0]]:g}"
    place = f"at {', '.join(names[:6])}{', …' if len(names) > 6 else ''}"
    if (values == values[0]).all():
        return f"{shown(values[0])} to each of those with a kink {place}"
    if np.count_nonzero(values) == 1:
        winner = int(np.flatnonzero(values)[0])
        rank = {0: "the first", len(at) - 1: "the last"}.get(winner, "one in the middle")
        return f"{shown(values[winner])} to {rank} of those with a kink, 0 to the others {place}"
    return f"{_listed(values)} {place}"


def _listed(values: Vector) -> str:
    distinct = list(dict.fromkeys(shown(float(v)) for v in values))
    return ", ".join(distinct[:4]) + (", …" if len(distinct) > 4 else "")


def _convention(trial: Trial, case: Case, row: int, matrix: Reals, said: str) -> Refuted:
    sides = [trial.sides(case, unit(case.size, k)) for k in range(case.size)]
    first = next((k for k, s in enumerate(sides) if s.kink[row] or s.infinite[row]), 0)
    between = along(sides[first], unit(case.outputs, row))
    elsewhere = others(trial.name, float(matrix[row, first]))
    cause = f"its choice at a kink: {said}" + (f"; {elsewhere}" if elsewhere else "")
    wanted = "infinite" if sides[first].infinite[row] else "any of the Clarke Jacobian" if between is None else str(between)
    return finding(trial, "kinks", case, found=said, wanted=wanted, kind="convention", cause=cause)


def _fault(
    trial: Trial, case: Case, u: Vector, v: Vector, claimed: float, between: Enclosure, room: float, cause: str, note: str
) -> Refuted:
    terms = " + ".join(f"{a!r} * {picked(case, k)}" for k, a in enumerate(map(float, v)) if a)
    test = f"{between.lo - room!r} <= {terms} <= {between.hi + room!r}"
    wanted = between.lo if between.lo == between.hi else str(between)
    return finding(trial, "kinks", case, cotangent=u, found=float(claimed), wanted=wanted, cause=cause, note=note, test=test)


CHECKS: Sequence[tuple[str, Callable[[Trial], list[Verdict]]]] = (("kinks", kinks),)
