"""
The functions of a black box read by our parser: as programs on arrays, where they are in the language.

What is read is believed only where it runs on the samples and answers what the Python function answers there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from checkers.array_audit.case import Arguments, flat, leaves
from checkers.array_audit.machine_arrays import forward_of, pull_of
from checkers.array_audit.shapes import reals
from checkers.array_audit.signature_shapes import ALL_DIFFERENT
from checkers.array_audit.trial import DOUBLE, SINGLE, Trial
from checkers.primitive_audit.pullback_form import rule_of
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.primitives.row import Hole
from transforms.python_rows import program_of

SAME = 2.0**29
"""Two evaluations of one formula, in another order, differ by fewer roundings than this on samples; two formulas hardly ever do."""
SAME_SINGLE = 2.0**12
"""The same in single precision."""
COMPARED = 3


def read_program(forward: Callable[..., Any], samples: Sequence[Arguments]) -> Program | Hole:
    """The forward function as a program that answers the same at the smallest samples, or why there is none."""
    found = program_of(forward)
    if isinstance(found, Hole):
        return found
    run = forward_of(found)
    return _believed(found, [(lambda xs=xs: run(*xs), lambda xs=xs: forward(*xs)) for xs in _small(samples)])  # type: ignore[misc]


def read_rule(trial: Trial, pullback: Callable[..., Any], samples: Sequence[Arguments]) -> Program | Hole:
    """The pullback as a program (x…, y, dy) that answers the same at the smallest samples, or why there is none."""
    found, why = rule_of(pullback, trial.spread, trial.parameters)
    if found is None:
        return Hole(why)
    run = pull_of(found)
    pairs = []
    for case in filter(None, map(trial.case, _small(samples))):
        d = trial.seeded(case, np.ones(case.outputs))
        pairs.append((lambda c=case, d=d: run(c.arguments, c.value, d), lambda c=case, d=d: trial.pull(c.arguments, c.value, d)))
    return _believed(found, pairs)


def _small(samples: Sequence[Arguments]) -> list[Arguments]:
    return [s for s in sorted(samples, key=reals) if reals(s) <= ALL_DIFFERENT][:COMPARED]


def _believed(found: Program, pairs: Sequence[tuple[Callable[[], Any], Callable[[], Any]]]) -> Program | Hole:
    """The program if it answers as the function does wherever that answers; at least once."""
    agreed = 0
    for ours, theirs in pairs:
        try:
            with np.errstate(all="ignore"):
                wanted = theirs()
        except Exception:  # a foreign function: where it gives nothing, there is nothing to compare
            continue
        try:
            answer = ours()
        except AdjudgeError as error:
            return Hole(f"read as a program it does not run: {error.what}")
        if not _same(answer, wanted):
            return Hole("read as a program it answers something else")
        agreed += 1
    return found if agreed else Hole("no sample is small enough to compare it with its program")


def _same(a: Any, b: Any) -> bool:
    """Whether two values have the same reals, near enough."""
    left, right = ([leaf for _, leaf in leaves((v,))] for v in (a, b))
    if [np.shape(leaf) for leaf in left] != [np.shape(leaf) for leaf in right]:
        return False
    x, y = flat(left), flat(right)
    single = any(np.asarray(leaf).dtype == np.float32 for leaf in (*left, *right))
    room = SAME * DOUBLE if not single else SAME_SINGLE * SINGLE
    with np.errstate(all="ignore"):
        near = np.abs(x - y) <= room * np.maximum(np.abs(x), np.abs(y))
        return bool(np.all((x == y) | near | (np.isnan(x) & np.isnan(y))))
