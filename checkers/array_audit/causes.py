"""
What may have gone wrong: the wrong block of a Jacobian is compared with transformations of the right one.

A cause is named only if the transformed block agrees in every known entry, and the block on trial differs from the right one. Where
none does, it is asked what the error looks like (`remainders.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from checkers.array_audit.blocks import CLOSE, Block, evidence
from checkers.array_audit.case import Case, leaves
from checkers.array_audit.findings import parts
from checkers.array_audit.remainders import REMAINDERS, TOGETHER
from checkers.array_audit.trial import Trial
from checkers.primitive_audit.findings import constant_factor


def suspect(trial: Trial, cases: Sequence[Case], number: int) -> str:
    """
    The first cause that explains the block of a leaf in every case of the evidence, as it is in the largest of them; else in how
    many entries that block is wrong.
    """
    blocks = evidence(trial, cases, number)
    if not blocks:
        return "the derivative is wrong"
    with np.errstate(all="ignore"):
        for test in (*CAUSES, *REMAINDERS):
            reasons = [test(block) for block in blocks]
            varies = test in (constant_ratio, bias) and len(set(reasons)) > 1
            if all(reasons) and not (varies and test is bias):
                return scaled(blocks) or f"{reasons[0]} here, another elsewhere: it depends on the shape" if varies else reasons[0]
        told = next(filter(None, (test(blocks) for test in TOGETHER)), "")
    return told or (blocks[0].counted() if blocks[0].found.size > 1 else "the derivative is wrong")


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
    return constant_factor(float(ratios[0]))


def scaled(blocks: Sequence[Block]) -> str:
    """The ratio, constant in each block, is a number that varies with the block: an argument, a size, or the inverse of one."""
    ratios = [float(np.nanmedian(np.where(b.right != 0, b.found / b.right, np.nan))) for b in blocks]
    columns = zip(*(_numbers(block) for block in blocks), strict=False)
    for column in columns:
        names, values = {name for name, _ in column}, [v for _, v in column]
        if len(names) > 1 or len(set(values)) < 2:
            continue
        for powers, text in ((values, "a factor {} too many"), ([1 / v if v else np.nan for v in values], "missing factor {}")):
            if np.allclose(ratios, powers, rtol=CLOSE, atol=0):
                return text.format(*names)
    return ""


def _numbers(block: Block) -> Iterator[tuple[str, float]]:
    """The numbers of a case, by name: arguments and values without axes, and sizes."""
    yield from ((name, float(v.flat[0]) if v.size == 1 else np.nan) for name, v in block.arrays())
    for path, leaf in leaves(block.case.arguments, block.case.fixed):
        name = block.trial.parameters[path[0]]
        yield f"n, the number of elements of {name},", float(np.size(leaf))
        yield from ((f"n, the length of axis {axis} of {name},", float(n)) for axis, n in enumerate(np.shape(leaf)))


def factor(block: Block) -> str:
    """A factor is missing, or one too many: an argument, elementwise, or the value; broadcast to the leaf, or to the value."""
    for name, v in block.arrays():
        for by in (block.over_elements(v), block.over_outputs(v)):
            if by is None or np.ptp(by) == 0:
                continue
            if block.agrees(np.where(by != 0, block.right / by, block.found)):
                return f"missing factor {name}"
            if block.agrees(block.right * by):
                return f"a factor {name} too many"
    return ""


def elementwise(block: Block) -> str:
    """Each element reaches its own output only, and other outputs depend on it."""
    rows, columns = block.right.shape
    if rows != columns or rows < 2:
        return ""
    off = ~np.eye(rows, dtype=bool)
    if block.found[off].any() or not block.right[off].all() or not block.found.any():
        return ""
    return "each element reaches its own output only: the terms through a sum, a mean or a norm are missing"


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


def pushed(block: Block) -> str:
    """It is the right Jacobian, transposed."""
    if block.right.shape[0] != block.right.shape[1] or not block.agrees(block.right.T):
        return ""
    return "it applies the Jacobian where its transpose is due"


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
    pushed,
    factor,
    elementwise,
    unreduced,
    bias,
)
