"""
From a failure on arrays to a finding (check 20): inputs that can be typed back, the entry, both values, the suspected cause, the
seed, and a script that fails alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from checkers.array_audit.case import Case, Path, Vector, leaves, named
from checkers.array_audit.script import script
from checkers.array_audit.shrinking import shrink
from checkers.array_audit.trial import Trial
from checkers.verdict import Counterexample, Refuted


def finding(
    trial: Trial,
    claim: str,
    case: Case,
    *,
    cotangent: Vector | None = None,
    found: Any,
    wanted: Any,
    kind: str = "fault",
    cause: str = "",
    note: str = "",
    test: str = "",
    now: str = "pull(dout)",
) -> Refuted:
    """
    A refutation at a case, and at a cotangent (a vector over the outputs) if one was given.

    test  a Python expression over forward, pull, x, y, dout, np and `now`, true when the rule is right; without it there is no
          script that computes, only one that records
    now   what the script shows and tests beside; where one call of the rule does not show the failure, by `script.asked`
    """
    inputs: dict[str, Any] = dict(zip(trial.parameters, case.arguments, strict=False))
    dout = None
    if cotangent is not None:
        dout = trial.seeded(case, cotangent)
        inputs["dout"] = dout
    written = "" if kind == "convention" else script(trial, claim, case, dout, test, found, wanted, now)
    parts = (case.note, note, f"seed {trial.seed}")
    return Refuted(Counterexample(inputs, found, wanted, cause, written, "; ".join(p for p in parts if p)), kind, claim)


def shrunk(trial: Trial, case: Case, fails: Callable[[Case], bool]) -> Case:
    """A simpler case that still fails; the case itself if none is found, or if a check raises on simpler ones."""
    return shrink(case, fails, trial)


def output_name(case: Case, k: int) -> str:
    """Output k as users write it: `out[0, 2]`, or `out`."""
    return named(Case((case.value,), None), ("out",), k)


def entry_name(trial: Trial, case: Case, output: int, coordinate: int) -> str:
    """An entry of the Jacobian as users write it: `d out[1] / d x[0, 2]`."""
    return f"d {output_name(case, output)} / d {named(case, trial.parameters, coordinate)}"


def place(case: Case, coordinate: int) -> tuple[Path, int, tuple[int, ...]]:
    """The leaf of a coordinate: its path, its number among the leaves, and the index within it."""
    for number, (path, leaf) in enumerate(leaves(case.arguments, case.fixed)):
        if coordinate < np.size(leaf):
            return path, number, tuple(int(i) for i in np.unravel_index(coordinate, np.shape(leaf)))
        coordinate -= np.size(leaf)
    raise IndexError(coordinate)


def picked(case: Case, coordinate: int, pulled: str = "pull(dout)") -> str:
    """The expression that picks one element of the cotangents out of an answer."""
    path, _, index = place(case, coordinate)
    answer = pulled + "".join(f"[{i}]" for i in path)
    if len(case.arguments) == 1 and len(path) == 1:
        answer = f"(lambda a: a[0] if isinstance(a, (tuple, list)) else a)({pulled})"
    return f"np.asarray({answer})[{', '.join(map(str, index))}]" if index else f"float(np.asarray({answer}))"


def parts(case: Case) -> list[tuple[Path, slice]]:
    """The leaves by path, each with its range of coordinates."""
    found, start = [], 0
    for path, leaf in leaves(case.arguments, case.fixed):
        found.append((path, slice(start, start + np.size(leaf))))
        start += np.size(leaf)
    return found
