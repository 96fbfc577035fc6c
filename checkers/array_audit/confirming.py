"""
Does the reference stand by what it said? Asked before a fault is claimed.

It is asked again with finer steps if it has them, with other steps otherwise; and an output must be differentiable: along dense
directions its derivative is the sum of what its partial derivatives say.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from checkers.array_audit.bounds import Bounds, Mask, Reals, Reference, Sides
from checkers.array_audit.case import Case, Vector, unit
from checkers.array_audit.trial import Trial

DIRECTIONS = 2
OTHER_STEPS = 0.8125
"""A reference asked along this multiple of a direction takes other steps."""


def confirmed(trial: Trial, case: Case, wanted: Bounds, allowed: Reals, fault: Mask) -> Mask:
    """The faults at which the reference, with other steps, gives the same derivative, of outputs that are differentiable there."""
    kept = fault.copy()
    for k in np.flatnonzero(fault.any(axis=0)):
        sides = trial.sides(case, unit(case.size, int(k)))
        again = finer(trial, case, unit(case.size, int(k)), sides)
        if again is None:
            continue
        value = again.value.or_else(again.left).or_else(again.right)
        same = (value.lo <= wanted.hi[:, k] + allowed[:, k]) & (value.hi >= wanted.lo[:, k] - allowed[:, k])
        one_sided = ~sides.smooth & (again.left.known | again.right.known)
        kept[:, k] &= same | one_sided
    for i in np.flatnonzero(kept.any(axis=1)):
        if not differentiable(trial, case, int(i)):
            kept[i] = False
    return kept


def differentiable(trial: Trial, case: Case, output: int) -> bool:
    """
    Whether the derivatives of an output along dense directions are those that its partial derivatives say, where they are known.

    At ties all partial derivatives may exist, and the function have a kink nevertheless: the median of three equal numbers
    moves with none of them alone. What a rule may answer there is a matter of `kinks`.
    """
    partial = trial.reference(case)
    known = partial.known[output]
    source = random.Random(trial.seed + 2)
    for _ in range(DIRECTIONS if known.sum() > 1 else 0):
        direction = np.array([source.choice((1.0, -1.0)) * source.uniform(1.0, 2.0) for _ in range(case.size)]) * known
        sides = trial.sides(case, direction)
        if sides.kink[output]:
            return False
        if not sides.smooth[output]:
            continue
        ends = np.where(known, partial.lo[output], 0.0) * direction, np.where(known, partial.hi[output], 0.0) * direction
        least, most = np.minimum(*ends).sum(), np.maximum(*ends).sum()
        room = sides.agreement * np.abs(ends[0]).sum()
        if sides.value.lo[output] > most + room or sides.value.hi[output] < least - room:
            return False
    return True


def finer(trial: Trial, case: Case, direction: Vector, sides: Sides) -> Sides | None:
    """The first of the references that spoke, asked with finer steps if it has them, else with other ones."""
    for reference in trial.references:
        if reference.name not in sides.by:
            continue
        fine = _fine(reference, case, direction)
        if fine is not None:
            return fine
        other = reference.sides(case, OTHER_STEPS * direction)
        return None if other is None else _scaled(other, 1 / OTHER_STEPS)
    return None


def _fine(reference: Reference, case: Case, direction: Vector) -> Sides | None:
    ask: Any = reference.sides
    if "fine" not in getattr(getattr(ask, "__code__", None), "co_varnames", ()):
        return None
    found: Sides | None = ask(case, direction, fine=True)
    return found


def _scaled(sides: Sides, factor: float) -> Sides:
    def of(b: Bounds) -> Bounds:
        return Bounds(b.lo * factor, b.hi * factor)

    return Sides(of(sides.left), of(sides.right), sides.infinite, sides.by, sides.agreement)
