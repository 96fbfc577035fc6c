"""
Checks 7 and 8 on arrays: every entry of the Jacobian against the reference, on ordinary arguments and on the edge pool, infinite
cotangents included. Entries are judged one by one, never by norm. One finding per argument, at its simplest case.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from checkers.array_audit.bounds import Mask
from checkers.array_audit.case import Case, unit
from checkers.array_audit.causes import suspect
from checkers.array_audit.findings import entry_name, finding, parts, picked, place, shrunk
from checkers.array_audit.opinion import ENOUGH, Opinions, answered, entries
from checkers.array_audit.trial import Trial
from checkers.plots import line
from checkers.verdict import OutOfScope, Passed, Refuted, Unknown, Vacuous, Verdict

NORMAL = 2.0**-60
"""A slope at least so large, at usual arguments, keeps an infinite cotangent infinite."""


def jacobian(trial: Trial) -> list[Verdict]:
    """7: the Jacobian on samples and random arguments."""
    return judge(trial, "jacobian", ("sample", "random"))


def edges(trial: Trial) -> list[Verdict]:
    """8: the Jacobian on the edge pool: zeros, tiny, huge, saturating and masked elements, the boundary of the domain, ties."""
    return judge(trial, "edges", ("edge", "tie"))


def judge(trial: Trial, claim: str, origins: Iterable[str], kind: str = "fault") -> list[Verdict]:
    """One finding of this kind per argument, shrunk; or how many entries were right, and against what."""
    failed: dict[int, list[Case]] = {}
    right = blank = 0
    names: set[str] = set()
    cases = [case for case in trial.cases if case.origin in tuple(origins)]
    for case in cases:
        opinions = entries(trial, case)
        right += int(opinions.right.sum())
        blank += opinions.found.size == 0
        if opinions.right.any():
            names.update(trial.by(case).split(" and "))
        for number in wrong_leaves(case, opinions, kind):
            failed.setdefault(number, []).append(case)
    found = [explain(trial, claim, number, where, kind) for number, where in sorted(failed.items())]
    verdicts: list[Verdict] = [v for v in found if v is not None]
    if verdicts:
        return verdicts
    if failed:
        return [Unknown("the reference did not confirm itself where the rule differs from it", claim)]
    if right:
        return [Passed(right, f"entries, against {', '.join(sorted(names))}", claim)]
    if blank and blank == len(cases):
        return [Vacuous("all inputs of this kind are empty, and have no entries", claim)]
    if not cases:
        return [OutOfScope(f"no inputs of this kind ({', '.join(origins)}) are in the domain", claim)]
    if all(answered(trial, case) is None for case in cases):
        return [Unknown("no answer of the rule can be read: see structure", claim)]
    return [Unknown("no reference knows the derivative at these inputs", claim)]


def wrong_leaves(case: Case, opinions: Opinions, kind: str) -> list[int]:
    """The leaves, by number, that have an entry of this kind."""
    mask = opinions.of(kind)
    if not mask.any():
        return []
    return [n for n, (_, span) in enumerate(parts(case)) if mask[:, span].any()]


def explain(trial: Trial, claim: str, number: int, where: list[Case], kind: str) -> Refuted | None:
    """The finding for one leaf: a simple case where an entry fails in this way, judged in full. None if there is none after all."""

    def fails(case: Case) -> bool:
        return number in wrong_leaves(case, entries(trial, case), kind)

    def stands(case: Case) -> bool:
        return number in wrong_leaves(case, entries(trial, case, thorough=True), kind)

    first = next((case for case in sorted(where, key=lambda c: c.size * c.outputs)[:ENOUGH] if stands(case)), None)
    if first is None:
        return None
    case = shrunk(trial, first, fails)
    return _explained(trial, claim, number, case if stands(case) else first, (where, kind))


def _explained(trial: Trial, claim: str, number: int, case: Case, why: tuple[list[Case], str]) -> Refuted:
    where, kind = why
    opinions = entries(trial, case, thorough=True)
    mask = opinions.of(kind).copy()
    span = parts(case)[number][1]
    mask[:, : span.start] = mask[:, span.stop :] = False
    output, coordinate = worst(opinions, mask)
    found = float(opinions.found[output, coordinate])
    wanted = float(opinions.wanted.middle[output, coordinate])
    room = float(opinions.allowed[output, coordinate])
    lo, hi = float(opinions.wanted.lo[output, coordinate]) - room, float(opinions.wanted.hi[output, coordinate]) + room
    sides = trial.sides(case, unit(case.size, coordinate))
    if math.isnan(wanted):
        value = sides.left.or_else(sides.right)
        wanted, lo, hi = float(value.middle[output]), float(value.lo[output]), float(value.hi[output])
    note = f"{entry_name(trial, case, output, coordinate)}, wrong at {len(where)} cases, {int(mask.sum())} of {mask[:, span].size} "
    note += f"entries here; reference: {sides.by}, allowed {room:.3g}"
    test = f"{lo!r} <= {picked(case, coordinate)} <= {hi!r}".replace("inf", "np.inf")
    cause = because(trial, [case, *where], kind, (found, wanted), (output, number))
    refuted = finding(
        trial,
        claim,
        case,
        cotangent=unit(case.outputs, output),
        found=found,
        wanted=wanted,
        kind=kind,
        cause=cause,
        note=note,
        test=test,
    )
    return replace(refuted, counterexample=replace(refuted.counterexample, plots=(line(trial, case, output, coordinate),)))


def worst(opinions: Opinions, mask: Any) -> tuple[int, int]:
    """The marked entry with the largest error relative to its size; one that is not finite first."""
    error = opinions.wanted.distance(opinions.found) / np.maximum(opinions.wanted.size, 1e-300)
    error = np.where(np.isfinite(opinions.found), np.nan_to_num(error, nan=np.inf), np.inf)
    k = int(np.argmax(np.where(mask, error, -1.0)))
    return k // mask.shape[1], k % mask.shape[1]


def because(trial: Trial, cases: list[Case], kind: str, values: tuple[float, float], at: tuple[int, int]) -> str:
    """The suspected cause of one wrong entry, at the first of the cases; all of them are evidence."""
    output, number = at
    raised = trial.pulled(cases[0], unit(cases[0].outputs, output)).raised
    if raised:
        return f"the rule raised {raised}"
    if kind == "accuracy":
        return f"{digits_lost(*values)} of 15.95 digits are lost: over the reals the rule is right; its rounding is not"
    if not math.isfinite(values[0]):
        return (
            f"{values[0]}: zero times infinity, or an intermediate overflows, in a branch that is not taken or at a special value"
        )
    return suspect(trial, cases, number)


def digits_lost(found: float, wanted: float) -> str:
    """How many decimal digits of a double are wrong, as text."""
    lost = lost_digits(found, wanted)
    return "all" if lost >= 15.95 else f"{lost:.1f}" if lost else "none"


def lost_digits(found: float, wanted: float) -> float:
    """The same as a number, between 0 and 15.95."""
    if found == wanted:
        return 0.0
    if not math.isfinite(found) or found == 0 or wanted == 0:
        return 15.95
    return min(max(0.0, 15.95 + math.log10(abs(found - wanted) / abs(wanted))), 15.95)


def infinite_cotangent(trial: Trial) -> list[Verdict]:
    """
    8, continued: one infinite element of the cotangent keeps its infinity and sign wherever the entry of the Jacobian is not zero.

    NaN is recorded as the convention of the rule: 0 * inf, or inf - inf between two terms.
    """
    claim = "infinite cotangent"
    judged = 0
    convention: Verdict | None = None
    for case in trial.cases:
        coordinates = np.abs(case.coordinates)
        if not ((coordinates == 0) | ((coordinates >= 2.0**-20) & (coordinates <= 2.0**20))).all():
            continue
        opinions = entries(trial, case)
        for output in range(case.outputs):
            for sign in (1.0, -1.0):
                cotangent = sign * unit(case.outputs, output)
                cotangent[output] *= np.inf
                found = trial.pulled(case, cotangent).cotangents
                usable = opinions.right[output] & far_from_zero(opinions)[output]
                if found is None or not usable.any():
                    continue
                judged += int(usable.sum())
                wanted = sign * np.copysign(np.inf, opinions.wanted.middle[output])
                wrong = usable & (found != wanted)
                for kind, mask in (("fault", wrong & ~np.isnan(found)), ("convention", wrong & np.isnan(found))):
                    if mask.any() and (kind == "fault" or convention is None):
                        verdict = _infinite(trial, claim, case, cotangent, (found, wanted, int(np.flatnonzero(mask)[0]), kind))
                        if kind == "fault":
                            return [verdict]
                        convention = verdict
    if not judged:
        return [Unknown("no entry is known to be far from zero", claim)]
    return [Passed(judged, "entries: infinite cotangents stay infinite", claim) if convention is None else convention]


def far_from_zero(opinions: Opinions) -> Mask:
    """The entries whose sign the reference knows."""
    return np.asarray((opinions.wanted.lo > NORMAL) | (opinions.wanted.hi < -NORMAL))


def _infinite(trial: Trial, claim: str, case: Case, cotangent: Any, at: tuple[Any, Any, int, str]) -> Refuted:
    found, wanted, k, kind = at
    path, _, index = place(case, k)
    cause = (
        "an infinite cotangent is clipped or loses its sign"
        if kind == "fault"
        else "NaN of an infinite cotangent: 0 * inf, or inf - inf"
    )
    note = f"the cotangent of {trial.parameters[path[0]]}{list(index) if index else ''}"
    test = f"{picked(case, k)} == {'-' if wanted[k] < 0 else ''}np.inf"
    return finding(
        trial,
        claim,
        case,
        cotangent=cotangent,
        found=float(found[k]),
        wanted=float(wanted[k]),
        kind=kind,
        cause=cause,
        note=note,
        test=test,
    )


CHECKS: Sequence[tuple[str, Callable[[Trial], list[Verdict]]]] = (
    ("jacobian", jacobian),
    ("edges", edges),
    ("infinite cotangent", infinite_cotangent),
)
