"""
Cases at which a rule may go another way than at any random one: an ordinary case with one element 0, or 1, or equal to another.

A rule that holds a value fixed there, as `where(y == 0, 0.0, …)` does, is right at first order and has no second derivative. Only
rules that compare or choose are asked, and only where all entries of the Jacobian are known and right: no kink of the function.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from checkers.array_audit.bounds import Bounds
from checkers.array_audit.case import Case, Vector, unit
from checkers.array_audit.edges import spans, with_coordinates
from checkers.array_audit.opinion import format_of
from checkers.array_audit.programs import is_ordinary
from checkers.array_audit.trial import Trial
from semantics.primitives.table import COMPARISONS
from transforms.python_rows import constants

CHOOSING = frozenset({*(row.name for row in COMPARISONS), "where", "sign", "abs", "max", "maximum", "min", "minimum"})
FEW, TRIED = 4, 16
"""So many special cases are judged, each costs as much as an ordinary one; so many are looked at."""
NEAR, JUMP = 2.0**-40, 2.0**-16
"""
A second derivative that moves by this part of its scale, so near, jumps: a third derivative would be 2^24 times as large. Of narrow
floats the neighbours are not so near.
"""


def special(trial: Trial, bases: list[Case], largest: int) -> list[Case]:
    """At most FEW special cases of at most `largest` coordinates, made from small bases first; none if the rule chooses nothing."""
    if not chooses(trial):
        return []
    found: list[Case] = []
    bases = sorted((base for base in bases if 1 < base.size <= largest), key=lambda base: base.size)
    made = ((base, *changed) for base in bases for changed in beside(base))
    for base, note, coordinates in islice(made, TRIED):
        case = trial.case(with_coordinates(base, coordinates), "edge", note)
        if len(found) < FEW and case is not None and is_ordinary(trial, case):
            found.append(case)
    return found


def chooses(trial: Trial) -> bool:
    """Whether the rule compares numbers or chooses between them; a rule that cannot be read may."""
    return trial.rule is None or any(getattr(value, "name", "") in CHOOSING for value in constants(trial.rule))


def beside(base: Case) -> Iterator[tuple[str, Vector]]:
    """The coordinates of the base, one of them changed: of every argument one is 0, one is that of its neighbour, one is 1."""
    at, parts = base.coordinates, spans(base)
    for note, value in (
        ("an element 0", lambda k: 0.0),
        ("an element twice", lambda k: at[k - 1]),
        ("an element 1", lambda k: 1.0),
    ):
        for span in parts:
            k = span[-1]
            if value(k) != at[k]:
                yield note, np.where(np.arange(at.size) == k, value(k), at)


def jumps(trial: Trial, case: Case, wanted: tuple[Vector, Vector, int], bounds: Bounds, scale: float) -> bool:
    """
    Whether Σ w ∂²p along (e_k, v) is another number nearby, along any coordinate: then there is none here, only a mean.

    wanted  w, v, k        bounds  what the reference says at the case        scale  of the second derivative
    """
    w, v, k = wanted
    size = max(NEAR, 4 * format_of(trial, case).unit)
    for i, x in enumerate(case.coordinates):
        for step in (size, -size):
            near = trial.case(case.at(case.coordinates + step * max(abs(x), 1.0) * unit(case.size, i)))
            lo, hi = (np.nan, np.nan) if near is None else second(trial, near, w, unit(case.size, k), v)
            if not (lo <= bounds.hi[k] + JUMP * scale and hi >= bounds.lo[k] - JUMP * scale):
                return True
    return False


def second(trial: Trial, case: Case, w: Vector, u: Vector, v: Vector) -> tuple[float, float]:
    """The bounds of Σ w ∂²p along (u, v), by the strongest reference that knows it; NaN if none does."""
    for reference in trial.references:
        found = reference.second(case, u, v)
        if found is not None and found.known.all():
            lo, hi = np.sort(np.array([w * found.lo, w * found.hi]), axis=0).sum(axis=1)
            return float(lo), float(hi)
    return np.nan, np.nan
