"""
Check 16 on arrays: what can be proved of the rule.

    the prover that was given      z3, on what it reads
    exact rationals                the rule on fractions against dual numbers over fractions: equality, no tolerance
    index forms                    for all sizes, that the rule of what is linear is its adjoint (`adjoint_forms`)

Fractions say nothing of other arguments, but nothing is rounded: a rule whose constants are rounded differs there by as much, and
that is not a fault. Index forms are a proof, where they reach.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from checkers import forward_mode
from checkers.array_audit.adjoint_forms import adjoint
from checkers.array_audit.case import Case, named, unit
from checkers.array_audit.findings import finding
from checkers.array_audit.machine_arrays import inside
from checkers.array_audit.opinion import format_of
from checkers.array_audit.programs import (
    NO_REALS,
    applied,
    coordinates_of,
    directions,
    lifted,
    never_real,
    ordinary,
    placed,
    reals_of,
    signs,
    with_reals,
)
from checkers.array_audit.trial import Trial
from checkers.smt.index_factors import NotReachedError
from checkers.verdict import OutOfScope, Passed, Proved, Refuted, Unknown, Verdict
from semantics.denotation import FRACTIONS, denote
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.tangents import ZERO

CASES = 6
LARGEST = 12
SHOWN = 4


def proof(trial: Trial) -> list[Verdict]:
    """16: every proof that reaches the rule; out of scope, with the reasons, if none does."""
    claim = "proof"
    if never_real(trial):
        return [OutOfScope(NO_REALS, claim)]
    if trial.rule is None:
        return [OutOfScope("a black box has no proof", claim)]
    verdicts: list[Verdict] = []
    if trial.prover is not None and trial.row is not None:
        try:
            verdicts += trial.prover(trial.row)
        except AdjudgeError as error:
            verdicts.append(Unknown(error.what, claim))
    verdicts.append(exact(trial, claim))
    if not isinstance(verdicts[-1], Refuted):
        verdicts += for_all_shapes(trial, claim)
    told: list[Verdict] = [v for v in verdicts if not isinstance(v, OutOfScope)]
    return told or [OutOfScope("; ".join(v.why for v in verdicts if isinstance(v, OutOfScope)), claim)]


# exact rationals


def exact(trial: Trial, claim: str) -> Verdict:
    """The rule on fractions against the exact derivative, entry by entry."""
    source = random.Random(trial.seed + 16)
    judged, rounded, why = 0, 0, "no ordinary case at which every entry of the rule is right"
    program, rule = _program(trial), trial.rule
    if program is None or rule is None:
        return OutOfScope("the function is no program: no exact rationals", claim)
    for case in ordinary(trial, CASES, lambda case: case.size <= LARGEST):
        w = signs(case.outputs, source)
        try:
            found, wanted = _fractions(trial, case, program, rule, w)
        except (AdjudgeError, ArithmeticError, TypeError, ValueError) as error:
            why = f"no exact rationals: {getattr(error, 'what', error)}"
            continue
        for j, (a, b) in enumerate(zip(found, wanted, strict=True)):
            judged += 1
            if a == b:
                continue
            rounded += 1
            # a constant of the rule is rounded once and may be multiplied `operations` times
            room = 4 * trial.operations * format_of(trial, case).unit * float(np.abs(w) @ trial.reference(case).size[:, j])
            if abs(a - b) > room:
                cause = "on exact rationals the rule differs from the exact derivative"
                name = named(case, trial.parameters, j)
                return finding(trial, claim, case, cotangent=w, found=a, wanted=b, cause=cause, note=f"the cotangent of {name}")
    if not judged:
        return OutOfScope(why, claim)
    if rounded:
        return Unknown(f"on exact rationals {rounded} of {judged} entries are right but for the rounding of constants", claim)
    return Passed(judged, "cotangents equal to the exact derivative, on exact rationals", claim)


def _program(trial: Trial) -> Program | None:
    """The function as a program; a row is one that calls it."""
    if trial.program is not None or trial.row is None:
        return trial.program
    program = trial.row.columns.get("program", applied(trial.row, len(trial.parameters)))
    return program if isinstance(program, Program) else None


def _fractions(trial: Trial, case: Case, program: Program, rule: Program, w: Any) -> tuple[list[Fraction], list[Fraction]]:
    """What the rule answers to w, and what it should, over the coordinates."""
    at = placed(trial, case, entered=True)
    point = lifted(at, FRACTIONS)
    value = denote(program, point, FRACTIONS)
    found = coordinates_of(at, denote(rule, [*point, value, with_reals(inside(case.value), w, FRACTIONS)], FRACTIONS))
    wanted = []
    for j in range(case.size):
        _, tangent = forward_mode.jvp(program, point, directions(at, unit(case.size, j), FRACTIONS), FRACTIONS)
        parts = reals_of(tangent, inside(case.value))
        wanted.append(sum((Fraction(float(a)) * b for a, b in zip(w, parts, strict=True) if b is not ZERO), Fraction(0)))
    return [Fraction(0) if a is ZERO else Fraction(a) for a in found], wanted


# index forms


def for_all_shapes(trial: Trial, claim: str) -> Iterator[Verdict]:
    """One proof for each kind of arguments and each argument that the row is linear in; or why there is none."""
    program = _program(trial)
    if program is None or trial.rule is None:
        yield OutOfScope("the function is no program: no index forms", claim)
        return
    proved: dict[str, dict[str, None]] = {}
    why = "no case of real arrays"
    for case in trial.cases:
        at = placed(trial, case, entered=True)
        for i in at.varying:
            try:
                kinds = adjoint(program, trial.rule, at.arguments, i)
            except NotReachedError as error:
                why = str(error)
            except (AdjudgeError, ArithmeticError, TypeError, ValueError) as error:
                why = str(getattr(error, "what", error))
            else:
                proved.setdefault(trial.parameters[i], {})[kinds] = None
    left = [p for p in trial.parameters if p not in proved]
    unsaid = f"; nothing of {' and '.join(left)}" if left else ""
    for parameter, found in proved.items():
        shown = "; ".join([*list(found)[:SHOWN], *([f"{len(found) - SHOWN} more"] if len(found) > SHOWN else [])])
        yield Proved(f"index forms: linear in {parameter}, the rule its adjoint, for all sizes of ({shown}){unsaid}", claim)
    if not proved:
        yield OutOfScope(f"index forms do not reach it: {why}", claim)


CHECKS: Sequence[tuple[str, Callable[[Trial], list[Verdict]]]] = (("proof", proof),)
