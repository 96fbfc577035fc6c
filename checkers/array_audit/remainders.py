"""
What may have gone wrong where no transformation of the right Jacobian explains the wrong one: what the error itself looks like.

`REMAINDERS` answer for one block, and for all blocks of the evidence alike; `TOGETHER` look at all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from checkers.array_audit.blocks import CLOSE, Block

NEAR = 2.0**-6
"""An error of less, in every entry, is that of an approximation or of a constant with few digits."""
SEVERAL = 3
"""So many elements on either side of a place, where no sign tells it: by chance, 1 in 10 of six elements are so divided."""


def surplus(block: Block) -> str:
    """Only entries that are 0 in truth are wrong."""
    if not block.wrong.any() or (block.wrong & (block.right != 0)).any():
        return ""
    return "what has no influence gets a cotangent: entries that are 0 in truth are not"


def permuted(block: Block) -> str:
    """The right numbers in another order, for each output or for each element."""
    for axis, where in ((1, "for each output"), (0, "for each element")) if block.wrong.any() else ():
        found, right = (np.sort(m, axis=axis) for m in (block.found, block.right))
        distinct = (np.ptp(block.right, axis=axis) > 0).any()
        if distinct and (np.abs(found - right) <= CLOSE * np.abs(right)).all():
            return f"the right numbers in another order, {where}"
    return ""


def same_ratio(block: Block) -> str:
    """All wrong entries are the same multiple of the right ones; two or more, and others are right."""
    wrong = block.wrong
    ratios = block.found[wrong] / block.right[wrong]
    if ratios.size < 2 or wrong.all() or not np.isfinite(ratios).all() or np.ptp(ratios) > CLOSE * abs(ratios[0]):
        return ""
    turned = abs(ratios[0] + 1) <= CLOSE
    return (
        "some entries have the wrong sign, the others are right"
        if turned
        else (f"some entries are {ratios[0]:.6g} times what they should be, the others are right")
    )


def level(block: Block) -> str:
    """For each output, the error is the same in every element."""
    error = block.found - block.right
    size = np.abs(error).max(axis=1)
    if error.shape[1] < 2 or not (size > CLOSE * np.abs(block.right).max()).any() or (np.ptp(error, axis=1) > CLOSE * size).any():
        return ""
    return f"for each output the error is the same in every element of {block.parameter}: a sum or a mean over them is missing"


def approximate(block: Block) -> str:
    """Every entry is nearly right, and some are not right."""
    known = np.isfinite(block.right) & (block.right != 0)
    errors = np.abs(block.found - block.right)[known] / np.abs(block.right[known])
    if not block.wrong.any() or (block.wrong & ~known).any() or not errors.size or errors.max() > NEAR:
        return ""
    digits = int(-np.log10(errors.max()))
    return f"right to {digits} digits only: an approximation, or a constant with too few digits"


def rank_one(blocks: Sequence[Block]) -> str:
    """The error is a product of a vector over the outputs and one over the elements, in every block, and one of them is large."""
    names: list[list[str]] = []
    for block in blocks:
        error = block.found - block.right
        if not np.isfinite(error).all():
            return ""
        _, sizes, directions = np.linalg.svd(error)
        if not sizes[0] > CLOSE * np.abs(block.right).max() or (sizes[1:2] > CLOSE * sizes[0]).any():
            return ""
        names.append([name for name, v in block.arrays() if v.size == error.shape[1] and _parallel(v.ravel(), directions[0])])
    if max(min(block.found.shape) for block in blocks) < SEVERAL:
        return ""
    along = [name for name in names[0] if all(name in others for others in names)]
    return "one term is wrong or missing: the error is of rank one" + (f", a multiple of {along[0]}" if along else "")


def _parallel(v: Any, direction: Any) -> bool:
    size = float(np.linalg.norm(v))
    return bool(np.isfinite(size) and size and abs(abs(v @ direction) - size) <= CLOSE * size)


def by_place(blocks: Sequence[Block]) -> str:
    """Of a function that acts elementwise: where the elements are at which it is wrong, if their sign or their size tells."""
    if any(b.right.shape[0] != b.right.shape[1] or _beside(b) for b in blocks):
        return ""
    x = np.concatenate([b.elements for b in blocks])
    wrong = np.concatenate([np.diag(b.wrong) for b in blocks])
    if wrong.all() or not wrong.any() or wrong.size < 2 * SEVERAL - 2:
        return ""
    name = blocks[0].parameter
    for text, where in (("{} < 0", x < 0), ("{} > 0", x > 0), ("|{}| > 1", np.abs(x) > 1), ("|{}| < 1", np.abs(x) < 1)):
        if (wrong == where).all():
            return f"wrong where {text.format(name)}, right elsewhere"
    low, high = np.sort(x[wrong]), np.sort(x[~wrong])
    if min(low.size, high.size) >= SEVERAL and low[0] > high[-1]:
        return f"wrong where {name} > {low[0]:.3g}, right where {name} <= {high[-1]:.3g}"
    if min(low.size, high.size) >= SEVERAL and low[-1] < high[0]:
        return f"wrong where {name} < {low[-1]:.3g}, right where {name} >= {high[0]:.3g}"
    return ""


def _beside(block: Block) -> bool:
    """Whether anything is off the diagonal."""
    off = ~np.eye(block.right.shape[0], dtype=bool)
    return bool((block.right[off] != 0).any() or (block.found[off] != 0).any())


REMAINDERS: tuple[Callable[[Block], str], ...] = (surplus, permuted, same_ratio, level, approximate)
TOGETHER: tuple[Callable[[Sequence[Block]], str], ...] = (rank_one, by_place)
