"""
From a probe that fails to the entry of the Jacobian that is bad, by halving: log2 of the coordinates, then log2 of the outputs.

The misses of two halves add up to that of the whole, so that the larger of them is at least a half of it. Where it falls below the
noise, the error is spread over many entries, and no single one can be shown.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from checkers.array_audit.case import unit
from checkers.array_audit.probes import Probe, Probing


@dataclass(frozen=True, slots=True)
class Bad:
    """Where a probe leads: output and coordinate, what the rule answers, what is right, within `room`. None: it is spread out."""

    output: int | None
    coordinate: int | None
    found: float
    wanted: float
    room: float
    rounds: int


def search(probing: Probing, probe: Probe) -> Bad:
    """The entry behind a probe that fails: the coordinates are halved with one answer of the rule, then the outputs."""
    where, missed, rounds = np.arange(len(probing.x)), probe.missed, 0
    if (lost := np.flatnonzero(~np.isfinite(probe.g))).size:
        where = lost[:1]
    while len(where) > 1:
        half = where[: len(where) // 2]
        part = _restricted(probing, probe, half)
        rounds += 1
        chosen, rest = (half, part.missed), (where[len(half) :], missed - part.missed)
        where, missed = chosen if abs(part.missed) >= abs(rest[1]) else rest
        if abs(missed) <= part.room / 4:
            return Bad(None, None, missed, 0.0, part.room, rounds)
    k = int(where[0])
    column = probing.along(unit(len(probing.x), k) * probing.scale[k], probing.step)
    outputs = np.flatnonzero(probe.w * column.smooth)
    while len(outputs) > 1:
        misses = []
        for half in (outputs[: len(outputs) // 2], outputs[len(outputs) // 2 :]):
            w = np.zeros(len(probe.w))
            w[half] = probe.w[half]
            g = probing.pull(w)
            miss = math.nan if g is None else float(g[k] * probing.scale[k] - np.sum(w[half] * column.value[half]))
            misses.append((math.inf if math.isnan(miss) else abs(miss), half))
        rounds += 1
        outputs = max(misses, key=lambda pair: pair[0])[1]
    if not len(outputs):
        return Bad(None, None, missed, 0.0, probe.room, rounds)
    o = int(outputs[0])
    g = probing.pull(unit(len(probe.w), o))
    size = float(probing.scale[k])
    found = math.nan if g is None else float(g[k])
    return Bad(o, k, found, float(column.value[o]) / size, 4 * float(column.error[o]) / size, rounds)


def _restricted(probing: Probing, probe: Probe, where: np.ndarray[Any, Any]) -> Probe:
    """The probe with the direction restricted to some coordinates, and the same cotangent."""
    v = np.zeros(len(probe.v))
    v[where] = probe.v[where]
    quotients = probing.along(v, probe.quotients.step)
    return probing.weighed(v, probe.w * np.isfinite(quotients.error), probe.g, quotients)
