"""
Check 13 on arrays: second order, where J goes through the rule itself.

Let s = Σ w p over the outputs. The pullback of the pullback of p, at a direction v, is ∇²s v; it is read in balls and held against
the second differences of p along (e_j, v) for every coordinate j: no rounding on either side. For two dense directions u and v,
u ∇²s v = v ∇²s u, and reverse over reverse is forward over reverse. A black box of a framework that differentiates its own
pullbacks is held against the same differences, in doubles.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb

from checkers import forward_mode
from checkers.array_audit.bounds import Bounds, Reals
from checkers.array_audit.case import Case, Vector, named, unit
from checkers.array_audit.findings import finding
from checkers.array_audit.machine_arrays import inside
from checkers.array_audit.programs import (
    NO_REALS,
    Placed,
    coordinates_of,
    directions,
    lifted,
    never_real,
    ordinary,
    placed,
    pullback,
    signs,
    with_reals,
)
from checkers.array_audit.script import asked
from checkers.array_audit.special import jumps, second, special
from checkers.array_audit.trial import Trial
from checkers.ball_differences import precision
from checkers.columns.ball import balls
from checkers.primitive_audit.reference import doubles
from checkers.verdict import OutOfScope, Passed, Refuted, Unknown, Verdict
from semantics.denotation import FLOATS, Reading, denote
from semantics.errors import AdjudgeError
from semantics.tangents import ZERO

CASES = 4
BITS = 800
LARGEST = 12
"""Coordinates of the cases at second order: each costs a second difference."""
DOUBT = 2.0**-20
"""Where a rule is read in doubles, and second differences are held against it: far above rounding, far below a missing term."""
CAUSE = "the first derivative is right and its own derivative is not: a rule inside the rule, or a value that it holds fixed"


def second_order(trial: Trial) -> list[Verdict]:
    """13: the derivative of the pullback, through the rule, is the second derivative of the function."""
    claim = "second order"
    if never_real(trial):
        return [OutOfScope(NO_REALS, claim)]
    if trial.rule is None:
        return _by_framework(trial, claim)
    source = random.Random(trial.seed + 13)
    judged, why = 0, f"no reference knows it, or no ordinary case has at most {LARGEST} coordinates"
    cases = ordinary(trial, CASES, lambda case: case.size <= LARGEST)
    for case in (*cases, *special(trial, cases, LARGEST)):
        found = _second(trial, claim, case, source)
        if isinstance(found, Refuted):
            return [found]
        judged, why = (judged, found) if isinstance(found, str) else (judged + found, why)
    what = "second derivatives along dense directions, symmetric, reverse over reverse = forward over reverse"
    return [Passed(judged, what, claim)] if judged else [Unknown(why, claim)]


@dataclass(frozen=True, eq=False)
class Hessian:
    """∇²s v over the coordinates; whether the bounds are enclosures; and forward over reverse, if it could be read."""

    along: Bounds
    rigorous: bool
    forward: Bounds | None = None


def _second(trial: Trial, claim: str, case: Case, source: random.Random) -> Refuted | int | str:
    """The fault at one case, or how many comparisons were made, or why none could be."""
    at = placed(trial, case, entered=True)
    w, u, v = signs(case.outputs, source), signs(case.size, source), signs(case.size, source)
    judged = 0
    found = [hessian(at, inside(case.value), w, d) for d in (u, v)]
    for direction, hv in zip((u, v), found, strict=True):
        if isinstance(hv, str):
            return hv
        wanted = seconds(trial, case, w, direction)
        allowed = _allowed(trial, case, w, direction, wanted, hv.rigorous)
        wrong = wanted.known & ~_meet(hv.along, wanted, allowed)
        if wrong.any():
            k = int(np.flatnonzero(wrong)[0])
            if jumps(trial, case, (w, direction, k), wanted, float(wanted.size[k] + _steep(trial, case, w, direction)[k])):
                return "the second derivative jumps"
            return _fault(trial, claim, case, w, hv.along, wanted, k, allowed, CAUSE, direction)
        judged += int(wanted.known.sum())
        if hv.forward is not None and not (apart := _meet(hv.along, hv.forward, allowed)).all():
            cause = "reverse over reverse is not forward over reverse: a rule inside the rule is not linear in the cotangent"
            return _fault(trial, claim, case, w, hv.along, hv.forward, int(np.flatnonzero(~apart)[0]), allowed, cause, direction)
    if all(isinstance(h, Hessian) and h.rigorous for h in found):
        one, two = (_product(d, h.along) for d, h in zip((v, u), found, strict=True) if isinstance(h, Hessian))
        if not (one[0] <= two[1] and two[0] <= one[1]) and not judged:
            cause = f"{CAUSE}: the second derivatives are not symmetric"
            note, now = f"u = {u}, v = {v}", f"{_along(trial, u)} @ np.array({v.tolist()})"
            return finding(
                trial,
                claim,
                case,
                cotangent=w,
                found=sum(one) / 2,
                wanted=sum(two) / 2,
                cause=cause,
                note=note,
                test=f"{two[0]!r} <= now <= {two[1]!r}",
                now=now,
            )
    return judged


def _fault(
    trial: Trial,
    claim: str,
    case: Case,
    w: Vector,
    found: Bounds,
    wanted: Bounds,
    k: int,
    allowed: Reals,
    cause: str,
    direction: Vector,
) -> Refuted:
    """The fault of one coordinate, whose script asks again for the middle of `found`, here and in what it allows."""
    name = named(case, trial.parameters, k)
    note = f"d/d{name} of the derivative along {direction.tolist()}, allowed {allowed[k]:.3g}"
    room = float(allowed[k] + (found.hi[k] - found.lo[k]) / 2)
    return finding(
        trial,
        claim,
        case,
        cotangent=w,
        found=float(found.middle[k]),
        wanted=float(wanted.middle[k]),
        cause=cause,
        note=note,
        test=f"{float(wanted.lo[k]) - room!r} <= now[{k}] <= {float(wanted.hi[k]) + room!r}",
        now=_along(trial, direction),
    )


def _along(trial: Trial, direction: Vector) -> str:
    """The expression for the derivatives of what the rule answers to dout: along a direction, or of one coordinate of it."""
    if trial.second_pull is None:
        return asked(trial, "second", direction.tolist())
    answer = f"rule.second_pull(x, dout, {int(np.argmax(direction))})"
    return f"np.concatenate([np.ravel(part) for part in {answer} if part is not None])"


def hessian(at: Placed, value: Any, w: Vector, v: Vector) -> Hessian | str:
    """The rule's ∇²s v: in balls, else in doubles; what stopped it, if neither comes to an end."""
    why = "it is not finite"
    for carrier in (balls(BITS), FLOATS):
        with precision(BITS):
            try:
                weights = with_reals(value, w, carrier)
                along = _reverse(at, weights, v, carrier)
                forward = _forward(at, weights, v, carrier)
            except (AdjudgeError, ArithmeticError) as error:
                why = f"the pullback of the pullback stops: {error}".splitlines()[0]
                continue
            bounds = bounds_of(along)
            if np.isfinite(bounds.lo).all() and np.isfinite(bounds.hi).all():
                return Hessian(bounds, carrier is not FLOATS, forward)
    return why


def _reverse(at: Placed, weights: Any, v: Vector, carrier: Reading) -> list[Any]:
    """The pullback of the pullback at v."""
    program = pullback(at.row, len(at.arguments), 2)
    return coordinates_of(at, denote(program, [*lifted(at, carrier), weights, directions(at, v, carrier)], carrier))


def _forward(at: Placed, weights: Any, v: Vector, carrier: Reading) -> Bounds | None:
    """The derivative of the pullback along v, by dual numbers; None where they have no cell."""
    arity = len(at.arguments)
    try:
        _, tangent = forward_mode.jvp(
            pullback(at.row, arity), [*lifted(at, carrier), weights], [*directions(at, v, carrier), ZERO], carrier
        )
        return bounds_of(coordinates_of(at, tangent))
    except (AdjudgeError, ArithmeticError):
        return None


def bounds_of(reals: Sequence[Any]) -> Bounds:
    """Balls, doubles and zeros as bounds."""
    pairs = [(0.0, 0.0) if r is ZERO else _ends(r) for r in reals]
    lo, hi = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    return Bounds(lo, hi)


def _ends(real: Any) -> tuple[float, float]:
    if not isinstance(real, arb):
        return float(real), float(real)
    found = doubles(real)
    return (found.lo, found.hi) if found is not None else (np.nan, np.nan)


def seconds(trial: Trial, case: Case, w: Vector, v: Vector) -> Bounds:
    """Σ w ∂²p along (e_j, v) for every coordinate j, by the strongest reference that knows it."""
    lo, hi = np.full(case.size, np.nan), np.full(case.size, np.nan)
    for j in range(case.size):
        lo[j], hi[j] = second(trial, case, w, unit(case.size, j), v)
    return Bounds(lo, hi)


def _allowed(trial: Trial, case: Case, w: Vector, v: Vector, wanted: Bounds, rigorous: bool) -> Reals:
    """
    A constant of the rule is rounded once, and may be multiplied `operations` times: 8 of the rule's relative budgets of the second
    derivative, and of the first where the direction moves an argument by its own size. Plus four widths of the reference, and the
    rounding of the sum over the outputs. In doubles, DOUBT of the same.
    """
    budget = 4 * trial.operations * trial.unit
    scale = np.nan_to_num(wanted.size) + _steep(trial, case, w, v)
    return np.asarray((8 * budget + (0.0 if rigorous else DOUBT)) * scale + 4 * np.nan_to_num(wanted.hi - wanted.lo))


def _steep(trial: Trial, case: Case, w: Vector, v: Vector) -> Reals:
    """The size of the first derivatives, and of what they come to where the direction moves an argument by its own size."""
    sizes = np.abs(case.coordinates)
    relative = float(np.max(np.abs(v) / np.where(sizes == 0, 1.0, sizes)))
    return np.asarray((np.abs(w) @ np.nan_to_num(trial.reference(case).size)) * (1 + relative))


def _meet(a: Bounds, b: Bounds, allowed: Reals) -> Any:
    """Where two bounds overlap, or are as near as is allowed."""
    return (a.lo <= b.hi + allowed) & (b.lo <= a.hi + allowed)


def _product(d: Vector, along: Bounds) -> tuple[float, float]:
    """The bounds of d · along, with the rounding of the sum."""
    ends = np.sort(np.array([d * along.lo, d * along.hi]), axis=0)
    room = float(np.abs(ends).sum()) * (d.size + 1) * 2.0**-52
    return float(ends[0].sum()) - room, float(ends[1].sum()) + room


# black boxes


def _by_framework(trial: Trial, claim: str) -> list[Verdict]:
    """The pullback judged as a function, where the framework differentiates it."""
    if trial.second_pull is None:
        return [OutOfScope("the backpropagator is a black box, which J cannot enter", claim)]
    source = random.Random(trial.seed + 13)
    judged = 0
    for case in ordinary(trial, CASES, lambda case: case.size <= LARGEST):
        w, k = signs(case.outputs, source), source.randrange(case.size)
        wanted = seconds(trial, case, w, unit(case.size, k))
        if not wanted.known.any():
            continue
        try:
            answer = trial.second_pull(case.arguments, trial.seeded(case, w), k)
        except Exception as error:  # whatever a foreign framework raises says that it has no second derivative
            said = str(error).splitlines()
            return [OutOfScope(f"no second derivative: {type(error).__name__}: {said[0] if said else ''}", claim)]
        found = trial.read(case, answer)
        if isinstance(found, str):
            cause = "the pullback's own cotangents are misshapen"
            return [finding(trial, claim, case, found=found, wanted=wanted.middle, cause=cause)]
        allowed = _allowed(trial, case, w, unit(case.size, k), wanted, False)
        wrong = wanted.known & ~_meet(Bounds(found, found), wanted, allowed)
        if wrong.any():
            j = int(np.flatnonzero(wrong)[0])
            return [_fault(trial, claim, case, w, Bounds(found, found), wanted, j, allowed, CAUSE, unit(case.size, k))]
        judged += int(wanted.known.sum())
    return [Passed(judged, "second derivatives by the framework", claim)] if judged else [Unknown("no reference decides", claim)]


CHECKS: Sequence[tuple[str, Callable[[Trial], list[Verdict]]]] = (("second order", second_order),)
