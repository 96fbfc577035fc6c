"""
What may have gone wrong: the wrong block of a Jacobian is compared with transformations of the right one.

A cause is named only if the transformed block agrees in every known entry, and the block on trial differs from the right one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from checkers.array_audit.bounds import Reals
from checkers.array_audit.case import Case, leaves
from checkers.array_audit.findings import parts
from checkers.array_audit.opinion import answered
from checkers.array_audit.trial import Trial

MOST = 4
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

    def counted(self) -> str:
        """How many entries are wrong, and whether they are those of the diagonal."""
        wrong = np.abs(self.found - self.right) > CLOSE * np.maximum(np.abs(self.found), np.abs(self.right))
        square = wrong.shape[0] == wrong.shape[1] > 1
        where = ", all on the diagonal" if square and not wrong[~np.eye(wrong.shape[0], dtype=bool)].any() else ""
        where = ", none on the diagonal" if square and not where and not np.diag(wrong).any() else where
        return f"{int(wrong.sum())} of {wrong.size} entries of the Jacobian are wrong{where}"

    def agrees(self, guess: Any) -> bool:
        """Whether a guess equals what was found in every known entry, which are not all zero."""
        known = np.isfinite(guess) & np.isfinite(self.found) & np.isfinite(self.right)
        close = np.abs(self.found - guess) <= CLOSE * np.maximum(np.abs(self.found), np.abs(guess))
        return bool(close[known].all() and known.any() and (guess[known] != 0).any())


def suspect(trial: Trial, cases: Sequence[Case], number: int) -> str:
    """
    The first cause that explains the block of a leaf in every case of the evidence, as it is in the largest of them; else in how
    many entries that block is wrong.
    """
    blocks = evidence(trial, cases, number)
    with np.errstate(all="ignore"):
        for test in CAUSES:
            reasons = [test(block) for block in blocks]
            if reasons and all(reasons):
                varies = (
                    " here, another elsewhere: it depends on the shape" if len(set(reasons)) > 1 and test is constant_ratio else ""
                )
                return reasons[0] + varies
    if blocks and blocks[0].found.size > 1:
        return blocks[0].counted()
    return "the derivative is wrong"


def evidence(trial: Trial, cases: Sequence[Case], number: int) -> list[Block]:
    """Blocks of one leaf at a few cases with finite answers, the largest first; ordinary inputs before special ones."""
    ordinary = sorted(cases, key=lambda c: (c.origin in ("edge", "tie", "layout"), -c.size * c.outputs))
    found: list[Block] = []
    for case in ordinary:
        answer = answered(trial, case)
        if answer is None or number >= len(parts(case)):
            continue
        span = parts(case)[number][1]
        shape = tuple(np.shape(leaves(case.arguments, case.fixed)[number][1]))
        block = Block(trial, case, number, answer[:, span], trial.reference(case).middle[:, span], shape)
        if block.found.size and np.isfinite(block.found).all() and np.isfinite(block.right).any():
            found.append(block)
        if len(found) == MOST:
            break
    return found


def ignores_cotangent(block: Block) -> str:
    """The answer at twice the cotangent is the same."""
    case, span = block.case, parts(block.case)[block.number][1]
    one, two = (block.trial.pulled(case, np.full(case.outputs, d)).cotangents for d in (1.0, 2.0))
    if one is None or two is None or not one[span].any() or not np.array_equal(one[span], two[span]):
        return ""
    return "it ignores the cotangent"


def sign(block: Block) -> str:
    """All entries have the other sign."""
    return "wrong sign" if block.agrees(-block.right) else ""


def transposed(block: Block) -> str:
    """The cotangent is that of the transposed argument, or its elements are in the transposed order."""
    for axes in _swaps(len(block.shape)):
        arranged = block.right.reshape(-1, *block.shape).transpose(0, *(a + 1 for a in axes))
        if block.agrees(arranged.reshape(block.right.shape)):
            return "transposed"
    return ""


def _swaps(rank: int) -> Iterator[tuple[int, ...]]:
    for i in range(rank):
        for j in range(i + 1, rank):
            order = list(range(rank))
            order[i], order[j] = j, i
            yield tuple(order)


def swapped(block: Block) -> str:
    """It is the cotangent of another argument."""
    whole = block.trial.reference(block.case).middle
    for number, (path, span) in enumerate(parts(block.case)):
        if number != block.number and whole[:, span].shape == block.found.shape and block.agrees(whole[:, span]):
            return f"swapped arguments: this is the cotangent of {block.trial.parameters[path[0]]}"
    return ""


def zero(block: Block) -> str:
    """It answers 0 everywhere."""
    return "a term is missing: it answers 0" if not block.found.any() else ""


def constant_ratio(block: Block) -> str:
    """Every entry is the same multiple of the right one."""
    use = np.isfinite(block.right) & (block.right != 0) & np.isfinite(block.found)
    ratios = block.found[use] / block.right[use]
    if ratios.size < 2 or ratios[0] == 0 or not block.agrees(block.right * ratios[0]):
        return ""
    return f"constant ratio {ratios[0]:.9g}: a factor {1 / ratios[0]:.9g} is missing"


def factor(block: Block) -> str:
    """A factor is missing, or one too many: an argument, elementwise, or the value."""
    candidates = [(block.trial.parameters[p[0]], np.ravel(v)) for p, v in leaves(block.case.arguments, block.case.fixed)]
    values = [("out", np.ravel(v)) for _, v in leaves((block.case.value,))]
    for name, v in (*candidates, *values):
        for by in ([v] if v.size in (1, block.found.shape[1]) else []) + (
            [v[:, np.newaxis]] if v.size == block.found.shape[0] else []
        ):
            if np.ptp(by) == 0:
                continue
            if block.agrees(np.where(by != 0, block.right / by, block.found)):
                return f"missing factor {name}"
            if block.agrees(block.right * by):
                return f"a factor {name} too many"
    return ""


def unreduced(block: Block) -> str:
    """Entries are right or zero, and the outputs that reach the argument do so once where they should be summed."""
    right = np.nan_to_num(block.right)
    gone = (block.found == 0) & (right != 0)
    rest = np.where(gone, 0.0, right)
    if not gone.any() or not rest.any() or not block.agrees(rest):
        return ""
    repeated = any(isinstance(a, np.ndarray) and a.dtype.kind in "iu" and np.unique(a).size < a.size for a in block.case.arguments)
    fan = np.count_nonzero(right, axis=0)
    if (fan > 1).any() and (np.count_nonzero(block.found, axis=0)[fan > 1] == 1).all():
        if repeated:
            return "overwritten instead of added at repeated indices"
        if any(np.size(v) > block.found.shape[1] and np.ndim(v) >= len(block.shape) for _, v in leaves((block.case.value,))):
            return "a broadcast axis is not summed: only one of several outputs reaches the argument"
        return "the terms of a sum are missing: only one of several outputs reaches each element"
    if not block.found.any(axis=1).all() and block.right[block.found.any(axis=1)].size:
        return "some outputs do not reach the argument"
    return "a term is missing: some entries are 0"


def rolled(block: Block) -> str:
    """Off by one index, along an axis of the argument or of the outputs; or reversed."""
    grid = block.right.reshape(-1, *block.shape)
    for axis in range(1, grid.ndim):
        for step in (1, -1):
            if block.agrees(np.roll(grid, step, axis).reshape(block.right.shape)) or block.agrees(
                _shifted(grid, step, axis).reshape(block.right.shape)
            ):
                return f"off by one index along axis {axis - 1}"
        if block.agrees(np.flip(grid, axis).reshape(block.right.shape)):
            return f"reversed along axis {axis - 1}"
    for step in (1, -1):
        if block.agrees(np.roll(block.right, step, 0)) or block.agrees(_shifted(block.right, step, 0)):
            return "off by one index in the output"
    return "reversed in the output" if block.agrees(block.right[::-1]) else ""


def _shifted(grid: Any, step: int, axis: int) -> Any:
    """Moved by one along an axis, zeros moved in."""
    moved = np.roll(grid, step, axis)
    edge = [slice(None)] * moved.ndim
    edge[axis] = slice(0, 1) if step > 0 else slice(-1, None)
    moved[tuple(edge)] = 0.0
    return moved


def bias(block: Block) -> str:
    """A constant is added to every entry."""
    offset = (block.found - block.right)[np.isfinite(block.right)]
    if offset.size < 2 or not offset[0] or np.ptp(offset) > CLOSE * abs(offset[0]):
        return ""
    return f"off by the additive constant {offset[0]:.3g}"


CAUSES: tuple[Callable[[Block], str], ...] = (
    ignores_cotangent,
    zero,
    sign,
    constant_ratio,
    swapped,
    transposed,
    rolled,
    factor,
    unreduced,
    bias,
)
