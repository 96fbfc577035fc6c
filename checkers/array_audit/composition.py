"""
Check 15 on arrays: the rule inside programs.

Let s(x) = Σ w p(x) with |s| at most 1. A few programs make one real t of s (`templates.py`), each with its own derivative t'(s)
worked out by hand; so the gradient of t by J, run on the machine, is t'(s) Σ w ∂p with ∂p from the reference. One more takes the
gradient of s inside, where the rule is a program: its gradient is ∇²s c.

A rule that keeps something between calls, or writes into its arguments, is right by itself and wrong here.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from checkers.array_audit.bounds import Reals
from checkers.array_audit.case import Case, Vector, named
from checkers.array_audit.findings import finding
from checkers.array_audit.machine_arrays import inside
from checkers.array_audit.opinion import entries
from checkers.array_audit.orders import DOUBT, seconds
from checkers.array_audit.programs import NO_REALS, Placed, never_real, ordinary, placed, reals_of, signs, with_reals
from checkers.array_audit.script import asked
from checkers.array_audit.templates import NESTED, TEMPLATES, Template, template
from checkers.array_audit.trial import Trial
from checkers.verdict import OutOfScope, Passed, Refuted, Unknown, Verdict
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.machine import Machine
from semantics.tangents import ZERO
from transforms.gradient_programs import gradient_program

CASES = 3
FUEL = 1_000_000
SLACK = 64
"""Roundings of a template's own arithmetic, at most: the longest has some twenty operations, each of at most 3 ulp."""


def weights(case: Case, source: random.Random) -> Vector:
    """Random powers of two of both signs, so small that |s| is at most 1."""
    w = signs(case.outputs, source)
    total = float(np.abs(w) @ np.abs(Case((case.value,), None).coordinates))
    return w if total <= 1 else w * 2.0 ** -math.ceil(math.log2(total))


def composition(trial: Trial) -> list[Verdict]:
    """15: gradients of programs that call the primitive."""
    claim = "composition"
    if never_real(trial):
        return [OutOfScope(NO_REALS, claim)]
    source = random.Random(trial.seed + 15)
    judged, why = 0, "no ordinary case at which every entry of the rule is right"
    for case in ordinary(trial, CASES):
        at, w = placed(trial, case), weights(case, source)
        for name, shape in TEMPLATES.items():
            verdict = _composed(trial, claim, case, at, w, name, shape)
            if isinstance(verdict, Refuted):
                return [verdict]
            judged, why = (judged + 1, why) if verdict == "" else (judged, verdict)
        if trial.rule is not None:
            inner = _nested(trial, claim, case, placed(trial, case, entered=True), w, source)
            if isinstance(inner, Refuted):
                return [inner]
            judged += inner
    return [Passed(judged, f"gradients of {len(TEMPLATES)} programs", claim)] if judged else [Unknown(why, claim)]


def gradients(program: Program, at: Placed, extra: Sequence[Any]) -> Vector:
    """The gradient by J on the machine, over the coordinates of the case."""
    found = Machine(gradient_program(program, at.varying)).run([*at.arguments, *extra], FUEL).value
    parts = [reals_of(d, at.arguments[i]) for d, i in zip(found, at.varying, strict=True)]
    return np.array([0.0 if r is ZERO else float(r) for part in parts for r in part])


def _composed(trial: Trial, claim: str, case: Case, at: Placed, w: Vector, name: str, shape: Template) -> Refuted | str:
    """The fault of one gradient; "" if it is right; or why nothing is known of it."""
    program = template(at, shape.text)
    value = inside(case.value)
    try:
        found = gradients(program, at, [with_reals(value, w)])
    except (AdjudgeError, ArithmeticError) as error:
        return _stopped(trial, claim, case, at, w, name, program, error)
    s = float(np.asarray(w @ Case((case.value,), None).coordinates))
    if abs(s) < DOUBT and name == "branch":
        return ""
    opinions, slope = entries(trial, case), shape.slope(s)
    wanted, allowed = slope * (w @ opinions.wanted.middle), _allowed(trial, opinions, w, slope)
    wrong = ~(np.abs(found - wanted) <= allowed)
    if not wrong.any():
        return ""
    k = int(np.flatnonzero(wrong)[0])
    cause = f"the rule is right by itself and wrong in the program '{name}': it keeps something between calls, or writes"
    note = f"program:\n{program}"
    return _fault(trial, claim, case, w, found[k], wanted[k], allowed[k], k, cause, note, asked(trial, "composed", name))


def _allowed(trial: Trial, opinions: Any, w: Vector, slope: float) -> Reals:
    """
    The allowance of every entry and the width of its bounds, carried through the sum and the factor t'; the roundings of the
    template, SLACK of them, and of the sum over the outputs, in the arithmetic of the rule; and what the roundings of s, at most 1,
    do to t', whose own derivative is at most 8 in every template.
    """
    widths = np.nan_to_num(opinions.wanted.hi - opinions.wanted.lo) + opinions.allowed
    terms = np.abs(w) @ np.abs(opinions.found)
    roundings = (SLACK + w.size + trial.operations) * trial.unit
    return np.asarray(2 * max(1.0, abs(slope)) * (np.abs(w) @ widths) + (4 * abs(slope) + 8) * roundings * terms)


def _stopped(
    trial: Trial, claim: str, case: Case, at: Placed, w: Vector, name: str, program: Program, error: Exception
) -> Refuted | str:
    """A program that runs and whose gradient stops is a fault of the rule, which answers where it is asked by itself."""
    said = f"{type(error).__name__}: {error}".splitlines()[0]
    try:
        Machine(program).run([*at.arguments, with_reals(inside(case.value), np.zeros(case.outputs))], FUEL)
    except (AdjudgeError, ArithmeticError):
        return f"the program '{name}' does not run: {said}"
    cause = f"the rule answers by itself and stops in the program '{name}'"
    note, now = f"program:\n{program}", asked(trial, "composed", name)
    return finding(
        trial,
        claim,
        case,
        cotangent=w,
        found=said,
        wanted="a gradient",
        cause=cause,
        note=note,
        test="not np.isnan(now).any()",
        now=now,
    )


def _fault(
    trial: Trial,
    claim: str,
    case: Case,
    w: Vector,
    found: float,
    wanted: float,
    allowed: float,
    k: int,
    cause: str,
    said: str,
    now: str,
) -> Refuted:
    """The fault of one coordinate of a gradient; what is not finite is no gradient."""
    note = f"with respect to {named(case, trial.parameters, k)}, allowed {allowed:.3g}; {said}"
    test = f"abs(now[{k}] - {float(wanted)!r}) <= {float(allowed)!r}"
    found, wanted = float(found), float(wanted)
    return finding(trial, claim, case, cotangent=w, found=found, wanted=wanted, cause=cause, note=note, test=test, now=now)


def _nested(trial: Trial, claim: str, case: Case, at: Placed, w: Vector, source: random.Random) -> Refuted | int:
    """A gradient inside the program: the fault of its gradient, or how many were right."""
    position = at.varying[0]
    size = len(reals_of(ZERO, at.arguments[position]))
    c = np.zeros(case.size)
    c[:size] = signs(size, source)
    wanted = seconds(trial, case, w, c)
    program = template(at, NESTED.replace("{position}", str(position)), "%c")
    try:
        found = gradients(program, at, [with_reals(inside(case.value), w), with_reals(at.arguments[position], c[:size])])
    except (AdjudgeError, ArithmeticError):
        return 0
    steep = np.abs(w) @ np.nan_to_num(trial.reference(case).size)
    allowed = DOUBT * (np.nan_to_num(wanted.size) + steep) + 4 * np.nan_to_num(wanted.hi - wanted.lo)
    # a rule may overflow at second order where its first is right: that is no fault, and `second order` reads it in balls
    wrong = wanted.known & np.isfinite(found) & ~(wanted.distance(found) <= allowed)
    if not wrong.any():
        return int(wanted.known.any())
    k = int(np.flatnonzero(wrong)[0])
    cause = "the rule is right by itself and wrong where the program itself takes a gradient"
    note, now = f"program:\n{program}", asked(trial, "nested", c[:size].tolist())
    return _fault(trial, claim, case, w, found[k], wanted.middle[k], allowed[k], k, cause, note, now)


CHECKS: Sequence[tuple[str, Callable[[Trial], list[Verdict]]]] = (("composition", composition),)
