"""
How much of an answer is rounding: how far it moves when the arguments, the value, or the cotangent that the rule is given move by
one unit in the last place (jitter), and how rough it is nearby, by fourth differences over steps of 2^-40, which smooth functions
do not have.

Moves are made on all coordinates at once with random signs: a sum of independent effects with random signs is, half of the time at
least, no smaller than a third of the largest, so that eight draws miss it once in two hundred times; the callers allow four times
the noise.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np

from checkers.array_audit.bounds import Mask, Reals
from checkers.array_audit.case import Case, leaves, replaced, unit
from checkers.array_audit.trial import Trial

DRAWS = 8
LINES = 2


@dataclass(frozen=True, slots=True, eq=False)
class Noise:
    """real: entries at which the rule is right over the reals. size: how much they move by rounding."""

    real: Mask
    size: Reals


def noise(trial: Trial, case: Case, output: int, found: Reals) -> Reals:
    """How far each cotangent moves by rounding, at the one-hot cotangent of an output."""
    return shaken(trial, case, unit(case.outputs, output), found)


def shaken(trial: Trial, case: Case, cotangent: Reals, found: Reals) -> Reals:
    """The same at any cotangent: the larger of the jitter and the roughness, coordinate by coordinate."""
    source = random.Random(trial.seed + 1)
    worst = np.zeros(case.size)
    seeded = trial.seeded(case, cotangent)
    nowhere: frozenset[int] = frozenset()
    for draw in range(3 * DRAWS):
        near = case.with_value(nudged(case.arguments, case.fixed, source), case.value) if draw % 3 == 0 else case
        value = nudged((case.value,), nowhere, source)[0] if draw % 3 == 1 else case.value
        dout = nudged((seeded,), nowhere, source)[0] if draw % 3 == 2 else seeded
        answer = trial.pulled_anew(near, dout, value).cotangents
        if answer is not None:
            gap = np.abs(answer - found)
            worst = np.maximum(worst, np.where(np.isfinite(gap), gap, 0.0))
    return np.maximum(worst, roughness(trial, case, seeded, source))


def nudged(arguments: Any, fixed: frozenset[int], source: random.Random) -> Any:
    """The arguments, every element of every leaf moved to a neighbour in its own format, up or down at random; zeros stay."""
    new = {}
    for path, leaf in leaves(arguments, fixed):
        array = np.asarray(leaf)
        ends = np.array([source.choice((np.inf, -np.inf)) for _ in range(array.size)], dtype=array.dtype).reshape(array.shape)
        with np.errstate(over="ignore"):
            near = np.where((array == 0) | ~np.isfinite(array), array, np.nextafter(array, ends)).astype(array.dtype)
        if isinstance(leaf, np.ndarray):
            new[path] = np.empty_like(leaf, subok=False)
            new[path][...] = near
        else:
            new[path] = type(leaf)(near)
    return replaced(arguments, new)


def roughness(trial: Trial, case: Case, seeded: Any, source: random.Random) -> Reals:
    """The noise of the rule near the case, along random directions of signs."""
    worst = np.zeros(case.size)
    coordinates = case.coordinates
    finite = np.where(np.isfinite(coordinates), coordinates, 0.0)
    with np.errstate(all="ignore"):
        steps = np.where(finite == 0, 2.0**-40, np.ldexp(1.0, np.frexp(finite)[1] - 40))
    for _ in range(LINES):
        signs = np.array([source.choice((1.0, -1.0)) for _ in range(case.size)])
        line = []
        for k in range(-4, 5):
            try:
                with np.errstate(all="ignore"):
                    arguments = case.at(coordinates + k * signs * steps)
                    value = trial.forward(*arguments)
            except Exception:  # a foreign function, out of its domain
                break
            answer = trial.pulled_anew(case.with_value(arguments, value), seeded).cotangents
            if answer is None:
                break
            line.append(answer)
        if len(line) == 9:
            fourth = np.abs(np.diff(np.array(line), n=4, axis=0)) / np.sqrt(70)
            worst = np.maximum(worst, np.where(np.isfinite(fourth), fourth, 0.0).max(axis=0))
    return worst
