"""
Checks 11 and 17 of a function of reals: is its rule right on arrays too, if it takes them?

An elementwise function written with NumPy takes arrays of any shape, and users will give it some. What it cannot do is out of
scope, with what Python said. The checks of `checkers.array_audit` are summed up in one verdict. The large array is one whose probes
take a moment: 2^15 elements in NumPy, 2^8 where the machine runs the rule. A rule that says it reads arrays is judged on 10^6.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from checkers.primitive_audit.subject import Subject
from checkers.verdict import OutOfScope, Verdict
from semantics.errors import AdjudgeError
from semantics.primitives.table import TABLE

EXAMPLES = 10
PROBES = 2
LARGE, LARGE_ON_THE_MACHINE = 2**15, 2**8
SHAPES = ((3,), (2, 3))
NO_SOURCE = "there is no Python function to give arrays to"


def shapes(subject: Subject) -> list[Verdict]:
    """
    11: other shapes and layouts, if the function takes arrays.

    A rule of the table that chooses is another program on arrays, where both sides are evaluated: its second order is judged too.
    """
    from checkers import array_audit
    from checkers.array_audit.special import chooses

    made = trial(subject)
    if isinstance(made, str):
        return [OutOfScope(made, "shapes")]
    written_anew = TABLE.get(subject.name) is subject.row and chooses(made)
    return array_audit.summary(made, (*array_audit.CORE, *(("second order",) if written_anew else ())), "shapes")


def large_arrays(subject: Subject) -> list[Verdict]:
    """17: one large array, if the function takes arrays."""
    from checkers.array_audit import large

    made = trial(subject)
    if isinstance(made, str):
        return [OutOfScope(made, large.CLAIM)]
    for base in large.bases(made):
        case = base.at(made, LARGE if subject.forward_source is not None else LARGE_ON_THE_MACHINE)
        if case is not None:
            outcome = large.judged(made, case, PROBES)
            bad = outcome.bad is not None or outcome.raised
            return [large.refuted(made, base, outcome) if bad else large.passed(made, outcome)]
    return [OutOfScope("it has no value at larger arrays", large.CLAIM)]


def trial(subject: Subject) -> Any:
    """The primitive as a trial on arrays, or why there is none; made once."""
    key: Any = "arrays"
    if key not in subject.opinions:
        subject.opinions[key] = _trial(subject)
    return subject.opinions[key]


def _trial(subject: Subject) -> Any:
    from checkers.array_audit import build

    if TABLE.get(subject.name) is subject.row and subject.forward_source is None:
        try:
            return build.of_row(subject.row, seed=subject.seed, examples=EXAMPLES)
        except AdjudgeError as error:
            return error.what
    if subject.forward_source is None or subject.pull_source is None:
        return NO_SOURCE
    samples = [arrays for shape in SHAPES if (arrays := sample(subject, shape)) is not None]
    if not samples:
        return "no arrays of ordinary numbers are in its domain"
    refused = refusal(subject, samples[0])
    if refused:
        return refused
    try:
        return build.of_functions(
            subject.forward_source,
            subject.pull_source,
            samples,
            seed=subject.seed,
            examples=EXAMPLES,
            name=subject.name,
            spread=subject.spread_arguments,
            domain=lambda *xs: all(subject.row.in_domain(*point) for point in points(xs)),
        )
    except AdjudgeError as error:
        return error.what


def sample(subject: Subject, shape: tuple[int, ...]) -> tuple[Any, ...] | None:
    """Arrays whose elements are points of the subject, in turns."""
    ordinary = [p.xs for p in subject.points if all(x == 0 or 2.0**-10 <= abs(x) <= 2.0**10 for x in p.xs)]
    if not ordinary:
        return None
    chosen = [ordinary[k % len(ordinary)] for k in range(int(np.prod(shape)))]
    return tuple(np.array(column, dtype=np.float64).reshape(shape) for column in zip(*chosen, strict=True))


def points(xs: tuple[Any, ...]) -> list[tuple[float, ...]]:
    """The elements of several arrays, broadcast together, as points."""
    try:
        arrays = np.broadcast_arrays(*xs)
    except ValueError:
        return []
    return [tuple(map(float, point)) for point in zip(*(a.ravel() for a in arrays), strict=True)]


def refusal(subject: Subject, arrays: tuple[Any, ...]) -> str:
    """Why the function or the rule takes no arrays, or ""."""
    for what, call in (("the function", _forward), ("the rule", _rule)):
        try:
            with np.errstate(all="ignore"):
                found = call(subject, arrays)
        except Exception as error:  # whatever a function of reals says of arrays
            said = str(error).splitlines()
            return f"{what} takes no arrays: {type(error).__name__}: {said[0] if said else ''}"
        if found:
            return found
    return ""


def _forward(subject: Subject, arrays: tuple[Any, ...]) -> str:
    assert subject.forward_source is not None
    value = subject.forward_source(*arrays)
    if not isinstance(value, (np.ndarray, np.floating)):
        return f"the function makes {type(value).__name__} of arrays"
    return ""


def _rule(subject: Subject, arrays: tuple[Any, ...]) -> str:
    assert subject.forward_source is not None
    assert subject.pull_source is not None
    value = subject.forward_source(*arrays)
    seed = np.ones_like(value)
    if subject.spread_arguments:
        subject.pull_source(*arrays, value, seed)
    else:
        subject.pull_source(arrays, value, seed)
    return ""


CHECKS: Sequence[tuple[str, Callable[[Subject], list[Verdict]]]] = (("shapes", shapes), ("large arrays", large_arrays))
