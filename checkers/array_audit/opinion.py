"""
The opinion on every entry of a Jacobian that a backpropagator answered: right, a fault, rounding (accuracy), or not judged.

An entry is compared with the reference's bounds, each alone: never by a norm, never relative to other entries. Let u be the unit
roundoff of the coarsest float among arguments and value. The room of an entry has three parts, tried in this order:

    4 · operations · u · |wanted|         each elementary operation of the rule may cost 4 ulp of its result
    4 · operations · least · size²        and as many least subnormals, scaled by the arguments that multiply them afterwards; least
                                          normal numbers where the framework flushes subnormals to zero
    the least normal number               where the derivative is subnormal: a divisor that overflows makes it 0
    the reference nearby                  the bounds widened to the derivatives where all arguments moved by 4 ulp, up or down: a
                                          rule that is exact for such neighbours is backward stable, and right

What lies outside is a fault if the rule is wrong over the reals (`over_reals.py`), else rounding, of which elimination is allowed
what the condition of its matrix costs (`conditioning.py`). A rule that cannot be asked over
the reals is shaken (`rounding.py`): an error that it makes by itself when its inputs move by an ulp is rounding. A fault is claimed
only after the reference confirmed itself (`confirming.py`): where it cannot, there is a kink or many, and the entry is skipped. An
entry that is 0 in truth has no digits to lose: there, rounding is right.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from checkers.array_audit.bounds import Bounds, Mask, Reals
from checkers.array_audit.case import Arguments, Case, leaves, unit
from checkers.array_audit.conditioning import conditioned
from checkers.array_audit.confirming import confirmed
from checkers.array_audit.findings import parts
from checkers.array_audit.over_reals import over_reals
from checkers.array_audit.rounding import Noise, noise
from checkers.array_audit.trial import Trial

ARITHMETIC = ("OverflowError", "ZeroDivisionError", "FloatingPointError")
"""What Python raises where NumPy answers NaN or infinity: the answer counts as NaN."""
ENOUGH = 5
"""After so many confirmed faults of one leaf, its gross errors at usual arguments are called faults at sight; the one that is
reported is judged in full."""
GROSS = 2.0**-12
"""An error of at least this part of the derivative."""
PATTERNS = 6
"""Sign patterns of the moves by 4 ulp: all up, alternating, and random ones."""
FLUSHING = ("jax",)
"""Frameworks whose arithmetic answers 0 for what is subnormal, also in the middle of a computation."""
REACH = 64
"""Where three moves widened the bounds by less than this part of the error, more will not reach it."""


@dataclass(frozen=True, slots=True)
class Format:
    """Where the arithmetic of a case ends: unit roundoff, least number held, least normal, sizes near under- and overflow."""

    unit: float
    least: float
    normal: float
    gradual: float
    huge: float

    @property
    def usual(self) -> float:
        """Magnitudes between this and its inverse leave room for products of a dozen."""
        return self.huge ** (1 / 16)


@dataclass(frozen=True, slots=True, eq=False)
class Opinions:
    """
    On every entry (outputs, size): exactly one of right, fault, accuracy, skip.

    found    the Jacobian on trial        wanted   the reference, widened where nearby derivatives were asked for
    allowed  the error allowed beyond the bounds
    """

    found: Reals
    wanted: Bounds
    allowed: Reals
    right: Mask
    fault: Mask
    accuracy: Mask

    @property
    def skip(self) -> Mask:
        return ~(self.right | self.fault | self.accuracy)

    def of(self, kind: str) -> Mask:
        """The entries of one kind, by its name."""
        found: Mask = getattr(self, kind)
        return found


def format_of(trial: Trial, case: Case) -> Format:
    """The coarsest float among the arguments, the value and the arithmetic of the rule."""
    kinds = [np.asarray(leaf).dtype for _, leaf in leaves((*case.arguments, case.value))] + [np.dtype(np.float64)]
    coarse = np.finfo(max(kinds, key=lambda d: float(np.finfo(d).eps)))
    u = max(trial.unit, float(coarse.eps) / 2)
    if u > 2.0**-53 and float(coarse.eps) / 2 < u:
        coarse = np.finfo(np.float32)
    normal = float(coarse.tiny)
    least = normal if trial.framework in FLUSHING else float(coarse.smallest_subnormal)
    return Format(u, least, normal, normal / u, float(coarse.max) / 2.0**24)


def entries(trial: Trial, case: Case, found: Reals | None = None, *, thorough: bool = False) -> Opinions:
    """
    The opinions on the Jacobian of the trial's rule, or on another one that is `found`.

    Of another one nothing is known but its numbers: it is right or a fault, never rounding. Where the rule's answer cannot be
    read (see `structure`), every entry is skipped. Thorough opinions convict nobody at sight (see `ENOUGH`).
    """
    if found is not None:
        return _entries(trial, case, np.asarray(found, dtype=np.float64), own=False, thorough=True)
    return trial.once(case, lambda: _entries(trial, case, answered(trial, case), own=True, thorough=thorough), "opinions", thorough)


def answered(trial: Trial, case: Case) -> Reals | None:
    """The Jacobian by the rule; NaN in the rows where it raised an arithmetic error; None if an answer cannot be read."""
    rows = [trial.pulled(case, unit(case.outputs, k)) for k in range(case.outputs)]
    if any(r.cotangents is None and not r.raised.startswith(ARITHMETIC) for r in rows):
        return None
    blank = np.full(case.size, np.nan)
    return np.array([blank if r.cotangents is None else r.cotangents for r in rows]).reshape(case.outputs, case.size)


def _entries(trial: Trial, case: Case, found: Reals | None, *, own: bool, thorough: bool) -> Opinions:
    nothing = np.zeros((case.outputs, case.size), dtype=bool)
    if found is None or not found.size:
        blank = np.full(nothing.shape, np.nan) if found is None else found
        return Opinions(blank, Bounds(blank, blank), np.zeros(nothing.shape), nothing, nothing, nothing)
    wanted, form = trial.reference(case), format_of(trial, case)
    known, finite = wanted.known, np.isfinite(found)
    allowed = room(trial, case, wanted, form)
    right = known & finite & (wanted.distance(found) <= allowed)
    if not takes_infinity(trial, case):
        return Opinions(found, wanted, allowed, right, nothing, nothing)
    accuracy, bad = nothing.copy(), known & finite & ~right
    sight = nothing if thorough or not bad.any() else bad & at_sight(trial, case, wanted, found, form)
    bad &= ~sight
    if bad.any():
        wanted = widened(trial, case, wanted, found, bad, form)
        right |= bad & (wanted.distance(found) <= allowed)
        bad &= ~right
        if _touches(case, form.gradual):
            bad &= wanted.distance(found) > np.maximum(wanted.size, 1.0)
    if bad.any() and own:
        rounded = _rounding(trial, case, found, wanted, allowed, bad, form)
        none = (wanted.lo <= 0) & (wanted.hi >= 0)
        right |= bad & rounded.real & none & (wanted.distance(found) <= 4 * rounded.size)
        allowed = allowed + np.where(rounded.real, conditioned(trial, case, form.unit), 0.0)
        right |= bad & rounded.real & (wanted.distance(found) <= allowed)
        accuracy |= bad & rounded.real & ~right
        bad &= ~rounded.real
    lost_fault, lost_accuracy = _lost(trial, case, found, wanted, allowed, form, own)
    fault = bad | lost_fault | _beyond_edges(trial, case, found, form)
    if fault.any():
        fault = confirmed(trial, case, wanted, allowed, fault)
        convict(trial, case, fault)
    return Opinions(found, wanted, allowed, right, fault | sight, accuracy | lost_accuracy)


def at_sight(trial: Trial, case: Case, wanted: Bounds, found: Reals, form: Format) -> Mask:
    """Gross errors at usual arguments, of leaves that were convicted before."""
    if not _usual(case, form):
        return np.zeros(found.shape, dtype=bool)
    sight = wanted.distance(found) > GROSS * wanted.size
    for path, span in parts(case):
        if trial.convicted[path] < ENOUGH:
            sight[:, span] = False
    return sight


def convict(trial: Trial, case: Case, fault: Mask) -> None:
    """Counts the leaves with confirmed faults."""
    for path, span in parts(case):
        trial.convicted[path] += int(fault[:, span].any())


def room(trial: Trial, case: Case, wanted: Bounds, form: Format) -> Reals:
    """The first three parts of the room; NaN where nothing is known."""
    coordinates = np.abs(case.coordinates)
    size = min(max(1.0, float(np.max(coordinates[np.isfinite(coordinates)], initial=1.0))), 2.0**50)
    subnormal = np.where(wanted.size < form.normal, form.normal, 0.0)
    return np.asarray(4 * trial.operations * (form.unit * wanted.size + form.least * size**2) + subnormal)


def moved(trial: Trial, case: Case, form: Format) -> list[Case]:
    """The cases where every coordinate moved by 4 ulp, in several patterns of signs; those in the domain."""
    return trial.once(case, lambda: _moved(trial, case, form), "moved")


def _moved(trial: Trial, case: Case, form: Format) -> list[Case]:
    source = random.Random(trial.seed)
    patterns = [np.ones(case.size), (-1.0) ** np.arange(case.size)]
    patterns += [np.array([source.choice((1.0, -1.0)) for _ in range(case.size)]) for _ in range(PATTERNS - 2)]
    with np.errstate(over="ignore"):
        places = [case.coordinates * (1 + 8 * form.unit * p) for p in patterns]
    return [c for p in places if (c := trial.case(case.at(p), case.origin, case.note)) is not None]


def widened(trial: Trial, case: Case, wanted: Bounds, found: Reals, where: Mask, form: Format) -> Bounds:
    """The bounds, in the marked entries the hull with those at the moved cases."""
    lo, hi = wanted.lo.copy(), wanted.hi.copy()
    for tried, near in enumerate(moved(trial, case, form)):
        if near.outputs != case.outputs or near.size != case.size:
            continue
        for k in np.flatnonzero(where.any(axis=0)):
            value = trial.sides(near, unit(case.size, int(k))).value
            use = value.known & where[:, k]
            lo[use, k] = np.minimum(lo[use, k], value.lo[use])
            hi[use, k] = np.maximum(hi[use, k], value.hi[use])
        grown = (hi - lo) - (wanted.hi - wanted.lo)
        if tried >= 2 and not (where & (REACH * grown >= Bounds(lo, hi).distance(found))).any():
            break
    return Bounds(lo, hi)


def _touches(case: Case, gradual: float) -> bool:
    """Whether an argument or a value is so small that its products with rounding errors are subnormal."""
    reals = np.abs(np.concatenate([case.coordinates, Case((case.value,), None).coordinates]))
    return bool(((reals > 0) & (reals < gradual)).any())


def _usual(case: Case, form: Format) -> bool:
    """Whether no argument is extreme: every rule that is right stays finite there."""
    reals = np.abs(case.coordinates)
    reals = reals[np.isfinite(reals) & (reals > 0)]
    return bool(((reals >= 1 / form.usual) & (reals <= form.usual)).all())


def _rounding(trial: Trial, case: Case, found: Reals, wanted: Bounds, allowed: Reals, bad: Mask, form: Format) -> Noise:
    """
    Of the bad entries: whether the rule is right over the reals, and how much it moves by rounding.

    A framework keeps the value that its rule works with to itself: an ulp of that is allowed for, where it cannot be shaken.
    """
    real, size = np.zeros(bad.shape, dtype=bool), np.zeros(bad.shape)
    usual, values = _usual(case, form), Case((case.value,), None).coordinates
    for k in np.flatnonzero(bad.any(axis=1)):
        row = Bounds(wanted.lo[k], wanted.hi[k])
        true = over_reals(trial, case, int(k))
        if true is not None:
            real[k] = true.known & (row.distance(true.lo) <= allowed[k]) & (row.distance(true.hi) <= allowed[k])
        if true is None or (bad[k] & real[k] & (row.lo <= 0) & (row.hi >= 0)).any():  # noise is asked for many answers
            size[k] = noise(trial, case, int(k), found[k])
        if true is None:
            kept = form.unit * abs(float(values[k])) if trial.framework else 0.0
            real[k] = (row.distance(found[k]) <= 4 * np.maximum(size[k], kept)) | (not usual)
    return Noise(real, size)


def _lost(trial: Trial, case: Case, found: Reals, wanted: Bounds, allowed: Reals, form: Format, own: bool) -> tuple[Mask, Mask]:
    """
    Entries that are not finite where the derivative is: faults at usual arguments, accuracy where an intermediate overflows.

    A column with an infinite slope is skipped: there a zero cotangent of another output meets it, as in 0 / (2 sqrt 0).
    """
    lost = wanted.known & ~np.isfinite(found)
    nothing = np.zeros_like(lost)
    if not lost.any() or _touches(case, form.gradual):
        return nothing, nothing
    coordinates = case.coordinates
    for k in np.flatnonzero(lost.any(axis=0)):
        if trial.sides(case, unit(case.size, int(k))).infinite.any():
            lost[:, k] = False
    infinite = ~np.isfinite(coordinates)
    if infinite.any():
        lost &= ~infinite[np.newaxis, :] & ~((wanted.lo <= 0) & (wanted.hi >= 0))
    lost &= wanted.size <= form.huge
    if (np.abs(coordinates[~infinite]) > form.huge).any():
        return nothing, nothing
    if not own or _usual(case, form):
        return lost, nothing
    fault = nothing
    for k in np.flatnonzero((lost & np.isnan(found)).any(axis=1)):
        true = over_reals(trial, case, int(k))
        if true is not None:
            row = Bounds(wanted.lo[k], wanted.hi[k])
            fault[k] = lost[k] & ~(true.known & (row.distance(true.middle) <= allowed[k]))
    return fault, lost & ~fault


def takes_infinity(trial: Trial, case: Case) -> bool:
    """
    Whether an infinite element could stand at any other place of its leaf, and the function still have a finite value.

    If so it is a mask, as in a sum of exponentials. If not, the value is finite by chance, and nothing is asked of the rule:
    np.linalg.solve divides by an infinite pivot, and subtracts infinities where the infinity is no pivot.
    """
    return trial.once(case, lambda: all(trial.case(arguments) is not None for arguments in _elsewhere(case)), "takes infinity")


def _elsewhere(case: Case) -> Iterator[Arguments]:
    """The arguments with each infinite element in the place of each finite one of its leaf, and 1 in its own."""
    at = case.coordinates
    for _, span in parts(case):
        places = range(span.start, span.stop)
        for k in (k for k in places if not np.isfinite(at[k])):
            for j in (j for j in places if np.isfinite(at[j])):
                swapped = at.copy()
                swapped[[j, k]] = at[k], 1.0
                yield case.at(swapped)


def _beyond_edges(trial: Trial, case: Case, found: Reals, form: Format) -> Mask:
    """NaN where the derivative exists on one side and the arguments are usual: the edge of the domain belongs to it."""
    blank = np.isnan(found)
    if blank.any() and _usual(case, form) and np.isfinite(case.coordinates).all():
        for k in np.flatnonzero(blank.any(axis=0)):
            sides = trial.sides(case, unit(case.size, int(k)))
            blank[:, k] &= sides.edge & (sides.left.known | sides.right.known).all()
        return blank
    return np.zeros_like(blank)
