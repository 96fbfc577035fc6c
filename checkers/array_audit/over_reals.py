"""
A rule over the reals: what it would answer at a one-hot cotangent if nothing were rounded, as bounds.

A rule that is a program is read in balls; a Python function is run on arrays of balls, and so is the function itself, for the value
that the rule is given. A rule that can be run in neither way is nobody's to ask: None.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from flint import arb

from checkers.array_audit.bounds import Bounds
from checkers.array_audit.case import Case, leaves, replaced, unit
from checkers.array_audit.references.ball import Ball
from checkers.array_audit.references.number import fueled
from checkers.array_audit.references.objects import run, wrapped
from checkers.array_audit.references.program_balls import to_balls
from checkers.array_audit.trial import Trial
from checkers.primitive_audit.programs import in_balls
from checkers.primitive_audit.reference import doubles, with_precision
from semantics.arrays import Array
from semantics.tangents import ZERO, dense

BITS = 2000
"""Enough for one cancellation of doubles of any exponent: e**-700 is 1010 bits below 1."""
REFUSALS = 3
"""After so many refusals, and no answer before them, a way is not tried any more."""


def over_reals(trial: Trial, case: Case, output: int) -> Bounds | None:
    """What the rule answers over the reals at the one-hot cotangent of an output; None if it cannot be run on such numbers."""
    return trial.once(case, lambda: _over_reals(trial, case, output), "over the reals", output)


def _over_reals(trial: Trial, case: Case, output: int) -> Bounds | None:
    for way in (by_program, by_trace, by_objects):
        if trial.refusals[way.__name__] >= REFUSALS:
            continue
        try:
            balls = with_precision(BITS, lambda way=way: way(trial, case, output))  # type: ignore[misc]
        except Exception:  # what a foreign function, or a reading, cannot do on balls
            balls = None
        if balls is not None:
            trial.refusals[way.__name__] = -sys.maxsize  # it can be asked, and always will be
            return enclosed(balls)
        trial.refusals[way.__name__] += 1
    return None


def enclosed(balls: list[Any]) -> Bounds:
    """Bounds by doubles; NaN where a ball is not finite."""
    ends = [doubles(b if isinstance(b, arb) else arb(b)) for b in balls]
    lo = [np.nan if e is None else e.lo for e in ends]
    return Bounds(np.array(lo), np.array([np.nan if e is None else e.hi for e in ends]))


def by_program(trial: Trial, case: Case, output: int) -> list[Any] | None:
    """The rule as a program of arrays of balls."""
    if trial.rule is None or trial.program is None:
        return None
    arguments = _balls_in(case.arguments)
    value = in_balls(trial.program, arguments)
    dout = _balls_in((trial.seeded(case, unit(case.outputs, output)),))[0]
    answers = in_balls(trial.rule, (*arguments, value, dout))
    found: list[Any] = []
    for path, leaf in leaves(case.arguments, case.fixed):
        at: Any = answers
        for i in path:
            at = ZERO if at is ZERO else dense(at)[i]
        at = dense(at)
        items = (ZERO,) * np.size(leaf) if at is ZERO else at.items if isinstance(at, Array) else (at,)
        if len(items) != np.size(leaf):
            return None
        found.extend(arb(0) if item is ZERO else item for item in items)
    return found


def _balls_in(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Values of NumPy as values of the language whose reals are balls."""
    case = Case(values, None)
    balls = np.empty(case.size, dtype=object)
    balls[:] = [arb(x) for x in case.coordinates]
    return tuple(to_balls(a, b) for a, b in zip(values, case.at(balls), strict=True))


def by_trace(trial: Trial, case: Case, output: int) -> list[Any] | None:
    """The rule of another framework, as what that traces of it says."""
    return None if trial.over_reals is None else trial.over_reals(case, output)


def by_objects(trial: Trial, case: Case, output: int) -> list[Any] | None:
    """The rule as it is, on arrays of balls."""
    dout = objects((trial.seeded(case, unit(case.outputs, output)),))[0]

    def pull(*arguments: Any) -> Any:
        value = trial.forward(*arguments)
        answers = trial.pull(arguments, value, dout)
        answers = answers if isinstance(answers, (tuple, list)) else (answers,)
        return tuple(None if i in case.fixed else a for i, a in enumerate(answers))

    shaped = tuple(None if i in case.fixed else a for i, a in enumerate(case.arguments))
    with fueled():
        found = run(Ball, pull, Case(case.arguments, shaped, fixed=case.fixed), [Ball.of(float(x)) for x in case.coordinates])
    return [x.value for x in found]


def objects(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values with balls in place of their reals."""
    new: dict[Any, Any] = {}
    for path, leaf in leaves(values):
        if isinstance(leaf, np.ndarray):
            box = np.empty(leaf.size, dtype=object)
            box[:] = [Ball.of(float(v)) for v in leaf.ravel()]
            new[path] = wrapped(Ball, box.reshape(leaf.shape))
        else:
            new[path] = Ball.of(float(leaf))
    return replaced(values, new)
