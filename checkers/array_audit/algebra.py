"""
Check 6 on arrays: a backpropagator is linear in its cotangent. Scaling by powers of two and -1 bit for bit; sums, and dense
cotangents put together from one-hot ones, within the rounding of their sums.

Room of additivity: a rule may add cotangents before it weighs them (`d - softmax * sum(d)`), so that an answer of coordinate k is
made of terms of up to max_j |J_jk| times the sum of |d|, each with 4 ulp for every operation of the rule; and what the answer moves
when its inputs move by an ulp (`rounding.shaken`). Scaling by powers of two commutes with every rounding but over- and
underflow, so only results of normal size are compared.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from checkers.array_audit.bounds import Reals
from checkers.array_audit.case import Case, Vector, unit
from checkers.array_audit.findings import finding, picked, place, shrunk
from checkers.array_audit.opinion import Format, answered, entries, format_of
from checkers.array_audit.purity import few
from checkers.array_audit.rounding import shaken
from checkers.array_audit.trial import Trial
from checkers.primitive_audit.contract import nonlinearity as of_factor
from checkers.verdict import OutOfScope, Passed, Refuted, Verdict

FACTORS = (-1.0, 2.0, 0.5, -(2.0**9), 2.0**-9)
SPREAD = 20


def algebra(trial: Trial) -> list[Verdict]:
    """6: odd, homogeneous over powers of two, additive."""
    claim = "algebra"
    judged = 0
    small: Verdict | None = None
    for case in few(trial, min(32, max(8, trial.examples))):
        if not _judgeable(trial, case):
            continue
        judged += 1
        broken = broken_law(trial, case)
        if broken is None:
            continue
        if broken.kind == "fault":
            case = shrunk(
                trial, case, lambda c: _judgeable(trial, c) and (b := broken_law(trial, c)) is not None and b.kind == "fault"
            )
            broken = broken_law(trial, case) or broken
        verdict = _refuted(trial, claim, case, broken)
        if broken.kind == "fault":
            return [verdict]
        small = verdict if small is None else small
    if not judged:
        return [OutOfScope("no case has moderate arguments", claim)]
    return [Passed(judged, "odd, homogeneous over powers of two, additive", claim) if small is None else small]


class Broken:
    """A law that does not hold: at which cotangent, for which coordinate, the two values, and the expression that tests it."""

    def __init__(self, law: str, d: Vector, k: int, values: tuple[float, float], kind: str, test: Callable[[Case], str]) -> None:
        self.law, self.cotangent, self.coordinate, self.values, self.kind, self.test = law, d, k, values, kind, test


def cotangents(trial: Trial, case: Case) -> list[Vector]:
    """Dense cotangents of random sign and mixed scale, ones, and one whose elements go up to 2^±20."""
    source = random.Random(trial.seed + 6)

    def drawn(spread: int) -> Vector:
        signs = [
            source.choice((1.0, -1.0)) * source.uniform(1.0, 2.0) * 2.0 ** source.randint(-spread, spread)
            for _ in range(case.outputs)
        ]
        return np.asarray(trial_rounded(trial, case, np.array(signs)))

    return [np.ones(case.outputs), drawn(1), drawn(3), drawn(SPREAD)]


def trial_rounded(trial: Trial, case: Case, d: Vector) -> Vector:
    """The cotangent as the value's own format holds it."""
    return Case((trial.seeded(case, d),), None).coordinates


def broken_law(trial: Trial, case: Case) -> Broken | None:
    """The first law that a case breaks."""
    form = format_of(trial, case)
    whole = answered(trial, case)
    if whole is None or not np.isfinite(whole).all():
        return None
    chosen = cotangents(trial, case)
    small: Broken | None = None
    for d in (*chosen, unit(case.outputs, 0)):
        found = _scaled(trial, case, d, form)
        if found is not None and found.kind == "fault":
            return found
        small = small or found
    for d, e in pairwise(chosen):
        found = _added(trial, case, (d, e), whole, form)
        if found is not None:
            return found
    for d in chosen:
        found = _combined(trial, case, d, whole, form)
        if found is not None:
            return found
    return small


def _scaled(trial: Trial, case: Case, d: Vector, form: Format) -> Broken | None:
    """A violation of homogeneity over powers of two, or of oddness."""
    answer = trial.pulled(case, d).cotangents
    if answer is None:
        return None
    for factor in FACTORS:
        other = trial.pulled(case, factor * d).cotangents
        if other is None:
            continue
        wanted = factor * answer
        wrong = _usable(form, answer, other) & (other != wanted)
        if not wrong.any():
            continue
        k = int(np.argmax(np.where(wrong, np.abs(other - wanted), -1.0)))
        near = abs(other[k] - wanted[k]) <= 4 * trial.operations * form.unit * max(abs(other[k]), abs(wanted[k]))
        if near and not _reproducible(trial, case, d, answer):
            continue

        def test(c: Case, factor: float = factor, k: int = k) -> str:
            return f"{picked(c, k, f'pull({factor!r} * dout)')} == {factor!r} * {picked(c, k)}"

        law = f"pb({factor:g} d) = {factor:g} pb(d)"
        return Broken(law, d, k, (float(other[k]), float(wanted[k])), "accuracy" if near else "fault", test)
    return None


def _reproducible(trial: Trial, case: Case, d: Vector, answer: Vector) -> bool:
    """Whether the same cotangent, elsewhere in memory, has the same answer bit for bit."""
    again = [trial.pulled_anew(case, trial.seeded(case, d)).cotangents for _ in range(3)]
    return all(a is not None and np.array_equal(a, answer) for a in again)


def _room(trial: Trial, case: Case, sizes: Reals, whole: Reals, form: Format) -> Reals:
    """The rounding that a sum over the outputs may make, per coordinate, for cotangents of these sizes."""
    return np.asarray(4 * trial.operations * form.unit * sizes.sum() * np.abs(whole).max(axis=0) + form.least * 2.0**10)


def _added(trial: Trial, case: Case, pair: tuple[Vector, Vector], whole: Reals, form: Format) -> Broken | None:
    """A violation of pb(d + e) = pb(d) + pb(e)."""
    d, e = pair
    total = trial_rounded(trial, case, d + e)
    e = total - d if np.array_equal(total - d + d, total) else e
    parts = [trial.pulled(case, v).cotangents for v in (d, e, total)]
    if any(p is None for p in parts):
        return None
    a, b, c = (np.asarray(p) for p in parts)
    sizes = np.abs(d) + np.abs(e) + np.abs(total)
    wrong = _disagree(trial, case, (c, a + b), sizes, (d, e, total), whole, form)
    if wrong is None:
        return None
    k, room = wrong
    written = np.array2string(e, separator=", ", floatmode="unique", threshold=10**6).replace("\n", "")

    def test(case: Case) -> str:
        shaped = f"(lambda e: e.reshape(np.shape(dout)).astype(np.asarray(dout).dtype))(np.array({written}))"
        sum_of = f"{picked(case, k)} + {picked(case, k, f'pull({shaped})')} - {picked(case, k, f'pull(dout + {shaped})')}"
        return f"abs({sum_of}) <= {room!r}"

    return Broken("pb(d + e) = pb(d) + pb(e)", d, k, (float(c[k]), float((a + b)[k])), "fault", test)


def _combined(trial: Trial, case: Case, d: Vector, whole: Reals, form: Format) -> Broken | None:
    """A violation of pb(d) = sum of d_k pb(one-hot k)."""
    answer = trial.pulled(case, d).cotangents
    if answer is None:
        return None
    wanted = d @ whole
    wrong = _disagree(trial, case, (np.asarray(answer), wanted), 2 * np.abs(d), (d,), whole, form)
    if wrong is None:
        return None
    k, room = wrong

    def test(case: Case) -> str:
        return f"abs({picked(case, k)} - {float(wanted[k])!r}) <= {room!r}"

    return Broken("pb(d) = sum of d[k] pb(one-hot k)", d, k, (float(answer[k]), float(wanted[k])), "fault", test)


def _disagree(
    trial: Trial, case: Case, values: tuple[Vector, Vector], sizes: Reals, at: Sequence[Vector], whole: Reals, form: Format
) -> tuple[int, float] | None:
    """The coordinate at which two answers, made of those `at` some cotangents, differ by more than rounding; and its room."""
    found, wanted = values
    gap = np.abs(found - wanted)
    room = _room(trial, case, sizes, whole, form)
    gap = np.where(np.isfinite(wanted), np.where(np.isnan(gap), np.inf, gap), 0.0)
    if not (gap > room).any():
        return None
    for v in at:
        room = room + 8 * shaken(trial, case, v, np.asarray(trial.pulled(case, v).cotangents))
    if not (gap > room).any():
        return None
    k = int(np.argmax(gap - room))
    return k, float(room[k])


def _usable(form: Format, *values: Reals) -> Any:
    """Where all results are zero or of normal size and finite, and not all zero."""
    good = [(v == 0) | (np.isfinite(v) & (np.abs(v) > form.gradual) & (np.abs(v) < form.huge)) for v in values]
    return np.logical_and.reduce(good) & np.logical_or.reduce([v != 0 for v in values])


def _judgeable(trial: Trial, case: Case) -> bool:
    """Whether a broken law at a case is the rule's: reals of moderate size, on both sides, and no entry that loses digits."""
    return bool(case.size and case.outputs) and _moderate(case) and not entries(trial, case).accuracy.any()


def _moderate(case: Case) -> bool:
    """Whether every real of the arguments and of the value is 0 or far from over- and underflow."""
    reals = np.abs(np.concatenate([case.coordinates, Case((case.value,), None).coordinates]))
    return bool(((reals == 0) | ((reals >= 2.0**-64) & (reals <= 2.0**64))).all())


def _refuted(trial: Trial, claim: str, case: Case, broken: Broken) -> Refuted:
    path, _, index = place(case, broken.coordinate)
    found, wanted = broken.values
    note = f"{broken.law}, the cotangent of {trial.parameters[path[0]]}{list(index) if index else ''}"
    cause = f"not linear in the cotangent: {nonlinearity(trial, case, broken)}"
    return finding(
        trial,
        claim,
        case,
        cotangent=broken.cotangent,
        found=found,
        wanted=wanted,
        kind=broken.kind,
        cause=cause,
        note=note,
        test=broken.test(case),
    )


def nonlinearity(trial: Trial, case: Case, broken: Broken) -> str:
    """How the answer depends on the cotangent."""
    k = broken.coordinate

    def at(factor: float) -> float:
        found = trial.pulled(case, factor * broken.cotangent).cotangents
        return float("nan") if found is None else float(found[k])

    return of_factor(at)


CHECKS: Sequence[tuple[str, Callable[[Trial], list[Verdict]]]] = (("algebra", algebra),)
