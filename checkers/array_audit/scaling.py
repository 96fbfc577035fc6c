"""
Applications scaled up: the sizes that samples share grow together, and the elements are drawn from those of the sample.

A drawn element is one of the sample's, off by up to a sixteenth of itself, so that signs and the domain are kept and ties are gone;
it is rounded to few bits, so that x + h v is exact for the steps of `probes.py`.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from checkers.array_audit.case import Arguments, Case, Path, leaves, replaced
from checkers.array_audit.script import literal
from checkers.array_audit.shapes import Group, arrays_in
from checkers.array_audit.trial import DOUBLE, Trial
from checkers.primitive_audit.script import NotEmbeddable, sources

BITS = 30
SINGLE_BITS = 14
Shape = tuple[int, ...]


def filled(pool: Any, shape: Any, source: Any, bits: int) -> Any:
    """
    An array of elements of the pool. Reals are moved by up to a sixteenth of themselves, each by an amount of its own, and rounded
    to so many bits.
    """
    drawn = source.choice(np.ravel(pool), shape)
    if drawn.dtype.kind != "f":
        return drawn
    moves = (source.permutation(drawn.size) + source.random(drawn.size) / 2).reshape(shape) / max(1, drawn.size)
    mantissa, exponent = np.frexp(drawn * (1 + (2 * moves - 1) / 16))
    return np.ldexp(np.round(np.ldexp(mantissa, bits)), exponent - bits).astype(pool.dtype)


def bits(trial: Trial) -> int:
    """To how many bits elements are rounded."""
    return BITS if trial.unit == DOUBLE else SINGLE_BITS


def shapes_at(case: Case, sizes: Sequence[Group], target: int) -> dict[Path, Shape]:
    """The shapes of the arrays at which about `target` coordinates vary, all sizes having grown by one factor."""
    grows = {axis for group in sizes for axis in group}
    shapes = {path: np.shape(array) for path, array in arrays_in(case.arguments)}
    varying = [path for path, leaf in leaves(case.arguments, case.fixed) if path in shapes and np.size(leaf)]

    def at(factor: float) -> dict[Path, Shape]:
        return {
            path: tuple(max(1, round(n * factor)) if (path, axis) in grows else n for axis, n in enumerate(shape))
            for path, shape in shapes.items()
        }

    def total(factor: float) -> int:
        found = at(factor)
        return sum(math.prod(found[path]) for path in varying)

    low, high = 0.0, 1.0
    while total(high) < target and high <= target:
        high *= 2
    if high > target:
        return {}
    for _ in range(64):
        middle = (low + high) / 2
        low, high = (middle, high) if total(middle) < target else (low, middle)
    return {path: shape for path, shape in at(high).items() if any((path, axis) in grows for axis in range(len(shape)))}


def grown(trial: Trial, case: Case, shapes: dict[Path, Shape]) -> Case | None:
    """The case with arrays of these shapes; None where the function has no value there."""
    source = np.random.default_rng(trial.seed)
    new: dict[Path, Any] = {}
    for path, array in arrays_in(case.arguments):
        if path in shapes and array.size:
            new[path] = filled(array, shapes[path], source, bits(trial))
        elif array.dtype.kind == "f" and path[0] not in case.fixed:
            new[path] = rounded(array, bits(trial))
    return trial.case(replaced(case.arguments, new), case.origin, case.note)


def rounded(array: Any, kept: int) -> Any:
    """The array with its elements rounded to so many bits."""
    mantissa, exponent = np.frexp(array)
    return np.where(np.isfinite(array), np.ldexp(np.round(np.ldexp(mantissa, kept)), exponent - kept), array).astype(array.dtype)


def recipe(trial: Trial, base: Arguments, case: Case, index: Shape, test: str) -> str:
    """
    A script that makes the large arguments again, pulls back a one at an output and fails while the test is false; "" if it cannot.

    test  an expression over pulled, the answer
    """
    try:
        body = sources(trial)  # type: ignore[arg-type]  # it reads forward_source and pull_source only
        parts = []
        for before, now in zip(base, case.arguments, strict=True):
            if isinstance(now, np.ndarray) and now.shape != before.shape:
                parts.append(f"filled({literal(before)}, {now.shape}, source, {bits(trial)})")
            else:
                parts.append(literal(now))
    except NotEmbeddable:
        return ""
    call = "pullback(*x, y, dout)" if trial.spread else "pullback(x, y, dout)"
    made = inspect.getsource(filled).replace(": Any", "").replace(": int", "").replace(" -> Any", "")
    return (
        f'"""{trial.name}: large arrays fail. Exits with 1 while they do."""\n\nimport math\nimport sys\n\nimport numpy as np\n\n'
        f"{body}\n\n\n{made}\n\nsource = np.random.default_rng({trial.seed})\nx = ({', '.join(parts)},)\ny = forward(*x)\n"
        f"dout = np.zeros(np.shape(y))\ndout[{index}] = 1.0\nwith np.errstate(all='ignore'):\n    pulled = {call}\n"
        f"sys.exit(0 if {test} else 1)\n"
    )
