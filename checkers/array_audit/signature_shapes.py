"""
Shapes for a signature: every name of a size is once 1, once 0, and different from the others; open axes broadcast both ways.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any

import numpy as np

from checkers.array_audit.case import Arguments
from checkers.array_audit.signature import NUMPY, Shape, Shapes, fronts_of, is_real, leading, names, result_sizes, shaped
from semantics.array_signatures import ArraySignature, Spec
from semantics.arrays import size_of
from semantics.errors import IllTyped

MOST = 12
"""So many coordinates a case has at most: a whole Jacobian costs a few evaluations for each."""
ALL_DIFFERENT = 24
"""But so many where all sizes are to be different and above 1, without which a transposition may go unseen."""
FRONTS: tuple[Shape, ...] = ((3,), (), (2, 3), (1,), (0,), (2, 1, 2), (1, 3), (3, 0))
PAIRS: tuple[tuple[Shape, Shape], ...] = (
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (2, 3)),
    ((2, 1), (1, 3)),
    ((), (3,)),
    ((3,), ()),
    ((1,), (2, 2)),
    ((2, 2), (2, 1)),
    ((), ()),
    ((0,), (1,)),
    ((2, 1), (0,)),
)
"""Every way to broadcast two shapes: equal, more axes on either side, sizes of 1 in either and in both, none, empty."""


def shapes_for(signature: ArraySignature, seed: int = 0, most: int = MOST) -> tuple[tuple[str, Shapes], ...]:
    """
    Shapes that fit the signature, each with what is special about it; every name of a size is once 1, and once 0.

    All sizes different first, then each order of 1, 2, 3, then sizes of 1, empties, and equal ones; broadcast pairs both ways.
    At most `most` coordinates, or ALL_DIFFERENT where the sizes are all different. IllTyped if no sizes are small enough.
    """
    open_, letters = leading(signature), names(signature)
    fronts = list(_fronts(len(open_), seed))
    sizes = list(_sizes(letters, seed))
    found: dict[Shapes, str] = {}
    for k in range(max(len(fronts), len(sizes))):
        note, sized = sizes[k % len(sizes)]
        front = fronts[k % len(fronts)]
        where = dict(zip(open_, front, strict=True))
        for here in (where, {} if letters and k < len(sizes) else where):
            shapes = shaped(signature, sized, here)
            limit = ALL_DIFFERENT if note == "all sizes different" else most
            if _coordinates(signature, shapes) <= limit:
                found.setdefault(shapes, ", ".join(filter(None, (note, _described(signature, shapes)))))
    if not found:
        raise IllTyped(
            f"no shapes of at most {most} coordinates fit {signature}",
            rule="signature",
            remedy="name the sizes instead of fixing them: they are then chosen small",
        )
    return tuple((note, shapes) for shapes, note in found.items())


def _coordinates(signature: ArraySignature, shapes: Shapes) -> int:
    """The larger of the number of reals among the arguments and in the results."""
    reals = sum(1 if s is None else size_of(s) for p, s in zip(signature.arguments, shapes, strict=True) if is_real(p))
    return max(reals, sum(map(size_of, result_sizes(signature, shapes))))


def _fronts(count: int, seed: int) -> Iterator[tuple[Shape, ...]]:
    """Axes for the front of each of `count` arguments; they broadcast."""
    if count == 2:
        yield from PAIRS
        return
    for k, shape in enumerate(FRONTS):
        varied = [shape] * count
        if count > 2 and shape:
            varied[(k + seed) % count] = (1,) * len(shape)
            varied[(k + seed + 1) % count] = shape[1:]
        yield tuple(varied)


def _sizes(letters: Sequence[str], seed: int) -> Iterator[tuple[str, dict[str, int]]]:
    """Sizes for the letters, with a note."""
    count = len(letters)
    if not count:
        yield "", {}
        return
    if count == 1:
        yield from (("", {letters[0]: n}) for n in (3, 2, 5))
    else:
        yield "all sizes different", dict(zip(letters, range(2, count + 2), strict=True))
        yield "all sizes different", dict(zip(letters, range(count + 1, 1, -1), strict=True))
    orders = list(permutations(range(1, count + 1))) if count <= 3 else []
    yield from (("non-square", dict(zip(letters, order, strict=True))) for order in orders[seed % 2 :] if count > 1)
    for special, what in ((1, "size 1"), (0, "empty")):
        for one in letters:
            yield f"{what} at {one}", {n: special if n == one else 2 + (n != letters[0]) for n in letters}
            yield f"{what} at {one}", {n: special if n == one else 1 + (n != letters[0]) for n in letters}
    if count > 1:
        yield "all sizes equal", dict.fromkeys(letters, 2)
        yield "all sizes 1", dict.fromkeys(letters, 1)


def _described(signature: ArraySignature, shapes: Shapes) -> str:
    """What is special about the axes in front."""
    fronts = fronts_of(signature, shapes)
    if any(0 in shape for shape in fronts):
        return "no elements"
    if len(set(fronts)) > 1:
        return f"broadcast {' with '.join(map(str, fronts))}"
    ranks = {len(shape) for shape in shapes if shape is not None}
    return "0-d" if ranks == {0} else ""


# numbers in them

RANGES = ((-2.0, 2.0), (0.25, 2.25), (-0.9, 0.9), (1.25, 3.25), (0.1, 0.9))
"""Where functions that are not defined everywhere are likely to be: above 0, between -1 and 1, above 1, between 0 and 1."""


ATTRIBUTES = (None, 0, -1, True, 1)
"""What an attribute of any kind may be: there is no telling, but these are usual."""


def filled(
    signature: ArraySignature,
    shapes: Shapes,
    source: random.Random,
    low: float = -2.0,
    high: float = 2.0,
    attribute: Any = None,
) -> Arguments:
    """Arguments of these shapes: reals between low and high, whole numbers 0, 1, 2, either truth value."""
    pairs = zip(signature.arguments, shapes, strict=True)
    return tuple(attribute if spec.dtype == "any" else _drawn(spec, shape, source, low, high) for spec, shape in pairs)


def _drawn(spec: Spec, shape: Shape | None, source: random.Random, low: float, high: float) -> Any:
    def one() -> Any:
        return source.uniform(low, high) if is_real(spec) else source.randrange(2 if spec.dtype == "bool" else 3)

    if shape is None:
        return NUMPY[spec.dtype](one()).item()
    return np.array([one() for _ in range(size_of(shape))], NUMPY[spec.dtype]).reshape(shape)
