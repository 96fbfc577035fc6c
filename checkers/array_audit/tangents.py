"""
Check 14 on arrays: the pullback is the transpose of the tangent, <w, T v> = <T* w, v> for dense w and v.

The tangent is the author's own, or forward mode over the row or the forward program, in balls.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import ctx

from checkers import forward_mode
from checkers.array_audit.case import Case, Vector, flat, leaves
from checkers.array_audit.findings import finding
from checkers.array_audit.machine_arrays import inside
from checkers.array_audit.opinion import entries
from checkers.array_audit.orders import BITS, bounds_of
from checkers.array_audit.programs import (
    NO_REALS,
    Placed,
    applied,
    directions,
    lifted,
    never_real,
    ordinary,
    placed,
    reals_of,
    signs,
)
from checkers.array_audit.trial import Trial
from checkers.ball_differences import precision
from checkers.columns.ball import balls
from checkers.verdict import OutOfScope, Passed, Refuted, Unknown, Verdict
from semantics.ir import Program
from semantics.primitives.row import Hole
from semantics.primitives.table import TABLE

CASES = 16
COARSE = 2.0**-20
"""Of the terms of a sum: far above the rounding of any tangent, far below one that is not linear."""


@dataclass(frozen=True, slots=True)
class Push:
    """(case, direction) -> the derivative of all outputs: by the author's own tangent, or by forward mode."""

    along: Callable[[Case, Vector], Vector]
    own: bool


def pushforward(trial: Trial) -> Push | None:
    """The author's tangent, or forward mode over the row or the forward program; None without either."""
    own = trial.row.columns.get("tangent") if trial.row is not None else None
    if own is not None and not isinstance(own, Hole):
        return Push(lambda case, v: _own(own, case, v), True)
    program = trial.program
    if program is None and trial.row is not None and TABLE.get(trial.row.name) is trial.row:
        program = applied(trial.row, len(trial.parameters))
    if program is None:
        return None
    return Push(lambda case, v: _dual(program, placed(trial, case, entered=True), inside(case.value), v), False)


def _own(rule: Callable[..., Any], case: Case, v: Vector) -> Vector:
    """The author's tangent, on arrays of NumPy; of an attribute the tangent is None."""
    moved = case.at(v)
    real = {path[0] for path, _ in leaves(case.arguments, case.fixed)}
    with np.errstate(all="ignore"):
        found = rule(*case.arguments, *(m if i in real else None for i, m in enumerate(moved)))
    return flat(found if isinstance(found, tuple) else (found,))


def _dual(program: Program, at: Placed, value: Any, v: Vector) -> Vector:
    """The derivative by dual numbers over balls, rounded once."""
    with precision(BITS):
        carrier = balls(ctx.prec)
        _, tangent = forward_mode.jvp(program, lifted(at, carrier), directions(at, v, carrier), carrier)
        return bounds_of(reals_of(tangent, value)).middle


def tangent(trial: Trial) -> list[Verdict]:
    """14: <w, T v> = <pullback(w), v> for dense w and v, within the errors that are allowed the entries of both."""
    claim = "tangent"
    if never_real(trial):
        return [OutOfScope(NO_REALS, claim)]
    push = pushforward(trial)
    if push is None:
        return [OutOfScope("it has no tangent column, and its forward function is no program that forward mode could read", claim)]
    source = random.Random(trial.seed + 14)
    if push.own and (bent := _not_linear(trial, claim, push, source)) is not None:
        return [bent]
    judged, why = 0, "no ordinary case at which every entry of the rule is right"
    for case in ordinary(trial, CASES):
        w, v = signs(case.outputs, source), signs(case.size, source)
        pulled = trial.pulled(case, w).cotangents
        if pulled is None:
            continue
        try:
            pushed = push.along(case, v)
        except Exception as error:  # the author's function raises what it likes; a reading may have no cell
            said = f"{type(error).__name__}: {error}".splitlines()[0]
            if push.own:
                cause = "the tangent raises"
                return [finding(trial, claim, case, cotangent=w, found=said, wanted=float(pulled @ v), cause=cause)]
            why = f"forward mode does not read it: {said}"
            continue
        judged += 1
        verdict = _transposed(trial, claim, case, (w, v), pushed, pulled)
        if verdict is not None:
            return [verdict]
    return [Passed(judged, "<w, T v> = <T* w, v>", claim)] if judged else [Unknown(why, claim)]


def _not_linear(trial: Trial, claim: str, push: Push, source: random.Random) -> Refuted | None:
    """
    The fault of an author's tangent T with T(u + v) ≠ T u + T v, ties included: there no reference knows the derivative, and a
    predicate that looks at the tangent is not seen elsewhere.
    """
    for case in [c for c in trial.cases if c.origin == "tie" and c.size and np.isfinite(c.coordinates).all()][:CASES]:
        matrix = trial.jacobian(case)
        u, v = signs(case.size, source), -signs(case.size, source)
        try:
            one, two, both = (push.along(case, d) for d in (u, v, u + v))
        except Exception:  # what it raises is found where it is held against the rule
            continue
        if matrix is None or not one.shape == two.shape == both.shape == (case.outputs,):
            continue
        room = COARSE * (np.abs(matrix) @ (np.abs(u) + np.abs(v)) + np.abs(one) + np.abs(two))
        wrong = np.abs(one + two - both) > room
        if wrong.any():
            k = int(np.flatnonzero(wrong)[0])
            cause = "the tangent is not linear: a predicate looks at the direction, not at the arguments alone"
            note = f"T(u + v) against T u + T v, output {k}; u = {u.tolist()}, v = {v.tolist()}"
            return finding(trial, claim, case, found=float(both[k]), wanted=float(one[k] + two[k]), cause=cause, note=note)
    return None


def _transposed(
    trial: Trial, claim: str, case: Case, pair: tuple[Vector, Vector], pushed: Vector, pulled: Vector
) -> Refuted | None:
    """The fault if the tangent at v and the pullback at w are not each other's transpose."""
    w, v = pair
    if pushed.shape != w.shape:
        cause = f"the tangent has {pushed.size} reals, the value {case.outputs}"
        return finding(trial, claim, case, cotangent=w, found=pushed.size, wanted=case.outputs, cause=cause)
    opinions = entries(trial, case)
    terms = np.abs(w)[:, None] * np.abs(v)[None, :]
    widths = np.nan_to_num(opinions.wanted.hi - opinions.wanted.lo) + opinions.allowed
    sums = (case.size + case.outputs) * 2.0**-52 * float((terms * np.abs(opinions.found)).sum())
    room = 2 * float((terms * widths).sum()) + sums
    one, two = float(w @ pushed), float(pulled @ v)
    if abs(one - two) <= room:
        return None
    cause = "the tangent is not the transpose of the backpropagator, which agrees with the reference: the tangent is wrong"
    return finding(
        trial, claim, case, cotangent=w, found=one, wanted=two, cause=cause, note=f"direction {v.tolist()}, allowed {room:.3g}"
    )


CHECKS: Sequence[tuple[str, Callable[[Trial], list[Verdict]]]] = (("tangent", tangent),)
