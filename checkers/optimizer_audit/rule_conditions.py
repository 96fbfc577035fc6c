"""
The weakest side condition under which a rule holds, from a small vocabulary: found by testing, then put to the solver if it can be.

An atom speaks of one variable. The conjunction reported excludes every point where the rule fails, as few as possible of the points
where it holds, and has as few atoms as possible. It is evidence, not a theorem, unless the report says that it was proved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from checkers.optimizer_audit.samples import Point

MOST_ATOMS = 3


@dataclass(frozen=True, slots=True)
class Atom:
    """A condition on one variable; `text` is empty where the language of conditions cannot say it."""

    said: str
    index: int
    holds: Callable[[Any], bool]
    text: str = ""


def is_nan(v: Any) -> bool:
    """Whether a value is the real NaN."""
    return type(v) is float and math.isnan(v)


def _negative_zero(v: Any) -> bool:
    return type(v) is float and v == 0 and math.copysign(1.0, v) < 0


def _positive_zero(v: Any) -> bool:
    return type(v) is float and v == 0 and math.copysign(1.0, v) > 0


def vocabulary(names: Sequence[str]) -> list[Atom]:
    """Not -0.0, not NaN, nonzero, finite, at least 0, positive: from weak to strong, for each variable."""
    atoms: list[Atom] = []
    for i, x in enumerate(names):
        atoms += [
            Atom(f"{x} is not -0.0", i, lambda v: not _negative_zero(v)),
            Atom(f"{x} is not +0.0", i, lambda v: not _positive_zero(v)),
            Atom(f"{x} is not NaN", i, lambda v: not is_nan(v), f"{x} == {x}"),
            Atom(f"{x} is nonzero", i, lambda v: v != 0, f"{x} != 0"),
            Atom(f"{x} is finite", i, lambda v: type(v) is not float or math.isfinite(v), f"{x} - {x} == 0"),
            Atom(f"{x} >= 0", i, lambda v: v >= 0, f"{x} >= 0"),
            Atom(f"{x} <= 0", i, lambda v: v <= 0, f"{x} <= 0"),
            Atom(f"{x} is positive", i, lambda v: v > 0, f"{x} > 0"),
            Atom(f"{x} is negative", i, lambda v: v < 0, f"{x} < 0"),
        ]
    return atoms


def weakest(names: Sequence[str], failing: Sequence[Point], holding: Sequence[Point]) -> tuple[Atom, ...] | None:
    """The conjunction of at most three atoms that excludes all of `failing` and the least of `holding`; None if there is none."""
    atoms = vocabulary(names)
    for size in range(1, MOST_ATOMS + 1):
        best: tuple[int, tuple[Atom, ...]] | None = None
        for chosen in combinations(atoms, size):
            if any(_all(chosen, p) for p in failing):
                continue
            kept = sum(_all(chosen, p) for p in holding)
            if kept and (best is None or kept > best[0]):
                best = kept, chosen
        if best is not None:
            return best[1]
    return None


def _all(atoms: Sequence[Atom], point: Point) -> bool:
    return all(a.holds(point[a.index]) for a in atoms)


def as_text(atoms: Sequence[Atom]) -> str:
    """The conjunction as a condition that a rule can have, or nothing if the language cannot say it."""
    return " and ".join(a.text for a in atoms) if all(a.text for a in atoms) else ""


def in_words(atoms: Sequence[Atom]) -> str:
    """The conjunction for a reader."""
    return " and ".join(a.said for a in atoms)
