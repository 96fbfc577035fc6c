"""
The evidence for a suspected cause: blocks of Jacobians, the columns of one leaf, as a rule answers them and as they should be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from checkers.array_audit.bounds import Mask, Reals
from checkers.array_audit.case import Case, Vector, leaves
from checkers.array_audit.findings import parts
from checkers.array_audit.opinion import answered
from checkers.array_audit.trial import Trial

MOST, TRIED = 4, 12
CLOSE = 2.0**-20
"""Agreement of a guess with the numbers, relative to each: far above rounding, far below any accident over a whole block."""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """The columns of one leaf: what the rule answers, and what is right (NaN where that is not known)."""

    trial: Trial
    case: Case
    number: int
    found: Reals
    right: Reals
    shape: tuple[int, ...]

    @property
    def parameter(self) -> str:
        return self.trial.parameters[parts(self.case)[self.number][0][0]]

    @property
    def wrong(self) -> Mask:
        """The entries that are known and not near what is right."""
        with np.errstate(invalid="ignore"):
            return np.abs(self.found - self.right) > CLOSE * np.maximum(np.abs(self.found), np.abs(self.right))

    @property
    def elements(self) -> Vector:
        """The elements of the leaf."""
        return self.case.coordinates[parts(self.case)[self.number][1]]

    def arrays(self) -> list[tuple[str, Any]]:
        """The arguments, those that are held fixed too, and the value, by name."""
        named = [(self.trial.parameters[p[0]], np.asarray(v)) for p, v in leaves(self.case.arguments)]
        return [*named, *(("out", np.asarray(v)) for _, v in leaves((self.case.value,)))]

    def over_elements(self, v: Any) -> Any:
        """A factor for each element of the leaf, which an array is or broadcasts to; None if it does not."""
        try:
            return np.broadcast_to(v, self.shape).ravel()
        except ValueError:
            return v.ravel() if v.size == self.found.shape[1] else None

    def over_outputs(self, v: Any) -> Any:
        """A factor for each output, as a column; None if the array is none."""
        return v.reshape(-1, 1) if v.size == self.found.shape[0] else None

    def counted(self) -> str:
        """How many entries are wrong, and whether they are those of the diagonal."""
        wrong = self.wrong
        square = wrong.shape[0] == wrong.shape[1] > 1
        where = ", all on the diagonal" if square and not wrong[~np.eye(wrong.shape[0], dtype=bool)].any() else ""
        where = ", none on the diagonal" if square and not where and not np.diag(wrong).any() else where
        return f"{int(wrong.sum())} of {wrong.size} entries of the Jacobian are wrong{where}"

    def agrees(self, guess: Any) -> bool:
        """Whether a guess equals what was found in every known entry, which are not all zero."""
        known = np.isfinite(guess) & np.isfinite(self.found) & np.isfinite(self.right)
        close = np.abs(self.found - guess) <= CLOSE * np.maximum(np.abs(self.found), np.abs(guess))
        return bool(close[known].all() and known.any() and (guess[known] != 0).any())


def evidence(trial: Trial, cases: Sequence[Case], number: int) -> list[Block]:
    """
    Blocks of one leaf at a few cases with finite answers, the largest first; ordinary inputs before special ones, other shapes
    before the same again. A single entry that is not 0 fits everything: it is taken where there is nothing else.
    """
    ordinary = sorted(cases, key=lambda c: (c.origin in ("edge", "tie", "layout"), -c.size * c.outputs))
    found: dict[tuple[int, ...], list[Block]] = {}
    for case in ordinary:
        if sum(map(len, found.values())) >= TRIED:
            break
        answer = answered(trial, case)
        if answer is None or number >= len(parts(case)):
            continue
        span = parts(case)[number][1]
        shape = tuple(np.shape(leaves(case.arguments, case.fixed)[number][1]))
        block = Block(trial, case, number, answer[:, span], trial.reference(case).middle[:, span], shape)
        if block.found.size and np.isfinite(block.found).all() and np.isfinite(block.right).any():
            found.setdefault(block.found.shape, []).append(block)
    turns = [same[k] for k in range(TRIED) for same in found.values() if k < len(same)]
    several = [block for block in turns if np.count_nonzero(np.nan_to_num(block.right)) > 1] or turns
    return sorted(several[:MOST], key=lambda b: -b.found.size)
