"""
The cases of a trial: where its backpropagator is judged. Drawn once, the same for the same seed.

    sample     what the author gave                    random   near them, of mixed scale, of one scale
    shape      other sizes                             edge     zeros, signed zeros, tiny, huge, saturating, infinite, constants
    attribute  other axes, flags, shifts, indices      tie      equal elements within an argument and across arguments
    layout     Fortran order, strided, backwards …

Only applications where the function has a finite value and the domain holds; each once. They are small, at most MOST coordinates
and outputs, so that a whole Jacobian is cheap; samples and shapes with all sizes different may have ALL_DIFFERENT. A function of
many arguments has two for each, and fewer cases.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product
from typing import Any

import numpy as np

from checkers.array_audit.attributes import attributes, swept
from checkers.array_audit.case import Arguments, Case, leaves
from checkers.array_audit.edges import edges, infinities, orders, randoms, repeats, saturating, zeros, zeros_elsewhere
from checkers.array_audit.layouts import layouts
from checkers.array_audit.shapes import arrays_in, reals, varied
from checkers.array_audit.signature import is_real
from checkers.array_audit.signature_shapes import ALL_DIFFERENT, ATTRIBUTES, MOST, RANGES, filled, shapes_for
from checkers.array_audit.ties import ties
from checkers.array_audit.trial import Trial
from semantics.array_signatures import ArraySignature

Candidates = Iterable[tuple[str, Arguments]]
LARGEST_SAMPLE = 64
"""Where the function takes no shape with fewer reals, cases have so many; there are fewer of them."""
ATTEMPTS = 6
"""So many candidates are tried for each case that is wanted: many have no finite value, or were there before."""
SHARES = {"shape": 3, "attribute": 5, "layout": 12, "tie": 5, "edge": 4, "saturated": 8, "elsewhere": 12, "random": 4}
"""Of all examples, one in so many is of this origin, if there are enough. Samples are at most half."""


def cases(
    trial: Trial, samples: Sequence[Arguments], *, seed: int, examples: int, signature: ArraySignature | None = None
) -> tuple[Case, ...]:
    """About `examples` cases; none if the function has a finite value at no sample and no shape."""
    pool = _Pool(trial, seed, examples)
    pool.make_room(sum(map(is_real, signature.arguments)) if signature else min((len(leaves(s)) for s in samples), default=0))
    small = [s for s in samples if reals(s) <= max(pool.limit, ALL_DIFFERENT)]
    pool.take("sample", _spread(small, max(1, examples // 2)), len(small))
    if signature is None:
        shapes: Candidates = varied(samples, trial.parameters, fixed=trial.fixed, seed=seed)
    else:
        shapes = _signed(trial, signature, seed, pool.limit)
    pool.take("shape", shapes, pool.quota("shape"))
    if not any(case.size for case in pool.kept):
        pool.widen()
        pool.take("sample", _spread([s for s in samples if reals(s) <= pool.limit], 3), 3)
    pool.take("attribute", swept([c.arguments for c in pool.kept], trial.parameters), pool.quota("attribute"))
    bases = pool.bases()
    if bases:
        pool.take("layout", (found for base in bases[:3] for found in layouts(base.arguments)), max(5, pool.quota("layout")))
        pool.take("random", islice(randoms(bases, pool.source), ATTEMPTS * pool.examples), pool.quota("random"))
        varied_bases = [*bases, *(c for c in pool.kept if c.origin == "random")][: len(bases) + 3]
        pool.take("tie", ties(varied_bases, pool.source), pool.quota("tie"))
        special = (each(trial, bases, pool.source) for each in (zeros, infinities, repeats, orders))
        pool.take("edge", (found for few in special for found in few), pool.quota("edge"))
        pool.take("edge", saturating(trial, bases, pool.source), pool.quota("saturated"))
        pool.take("edge", zeros_elsewhere(trial, bases, pool.source), pool.quota("elsewhere"))
        pool.take("edge", edges(trial, bases, pool.source), pool.quota("edge"))
        left = pool.examples - len(pool.kept)
        pool.take("random", islice(randoms(bases, pool.source), max(0, ATTEMPTS * left)), left)
    return tuple(pool.kept)


class _Pool:
    """The cases so far, and what was seen."""

    def __init__(self, trial: Trial, seed: int, examples: int) -> None:
        self.trial = trial
        self.source = random.Random(seed)
        self.examples = examples
        self.limit = MOST
        self.kept: list[Case] = []
        self.seen: set[Any] = set()

    def quota(self, origin: str) -> int:
        return -(-self.examples // SHARES[origin])

    def widen(self) -> None:
        """From here on fewer cases, of more reals: their Jacobians cost more."""
        self.limit, self.examples = max(self.limit, LARGEST_SAMPLE), -(-self.examples // 4)

    def make_room(self, arguments: int) -> None:
        """Of more than MOST arguments cases may have two reals for each, and there are fewer, in proportion."""
        if arguments > MOST:
            self.limit, self.examples = 2 * arguments, -(-self.examples * MOST // (2 * arguments))

    def take(self, origin: str, candidates: Candidates, most: int) -> None:
        """Keeps the first `most` candidates that are new, small and have a value, of ATTEMPTS times as many."""
        left = most
        for note, arguments in islice(candidates, max(0, ATTEMPTS * most)):
            if left <= 0:
                return
            key = identity(arguments)
            if key in self.seen:
                continue
            self.seen.add(key)
            wide = max(self.limit, ALL_DIFFERENT) if origin == "sample" or note.startswith("all sizes different") else self.limit
            case = self.trial.case(arguments, origin, note) if reals(arguments) <= wide else None
            if case is not None and case.size <= wide and case.outputs <= wide:
                self.kept.append(case)
                left -= 1

    def bases(self) -> list[Case]:
        """
        Cases from which others are made: with elements and outputs; of each structure and attributes one, a sample if there is
        one, else the widest.
        """
        found: dict[Any, Case] = {}
        for case in sorted(self.kept, key=lambda c: (c.origin != "sample" or c.size < 2, -c.size)):
            ranks = tuple((path, array.ndim) for path, array in arrays_in(case.arguments))
            key = (ranks, repr([case.arguments[i] for i in attributes(case.arguments)]))
            if 0 < case.size <= self.limit and case.outputs:
                found.setdefault(key, case)
        return list(found.values()) or [c for c in self.kept if c.size]


def identity(arguments: Arguments) -> Any:
    """What tells applications apart: types, values with the signs of zeros, shapes, and layout."""
    arrays = tuple((path, a.dtype.str, a.shape, a.strides, a.flags.writeable, a.tobytes()) for path, a in arrays_in(arguments))
    numbers = tuple((path, np.float64(x).tobytes()) for path, x in leaves(arguments) if not isinstance(x, np.ndarray))
    return arrays, numbers, repr([arguments[i] for i in attributes(arguments)])


def _spread(samples: Sequence[Arguments], most: int) -> Iterator[tuple[str, Arguments]]:
    """At most `most` samples, evenly spread over all of them, numbered."""
    count = min(most, len(samples))
    for k in range(count):
        i = k * len(samples) // count
        yield f"sample {i}", samples[i]


def _signed(trial: Trial, signature: ArraySignature, seed: int, most: int) -> Iterator[tuple[str, Arguments]]:
    """Random arguments of every shape that a signature has, from the first range of numbers where the function has a value."""
    source = random.Random(seed)
    tried = ATTRIBUTES if any(spec.dtype == "any" for spec in signature.arguments) else ATTRIBUTES[:1]
    for note, shapes in shapes_for(signature, seed, most):
        for (low, high), attribute in product(RANGES, tried):
            arguments = filled(signature, shapes, source, low, high, attribute)
            if trial.case(arguments) is not None:
                yield note, arguments
                break
