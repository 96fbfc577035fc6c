"""
Checks 11 and 12 on arrays: other shapes, attributes and memory layouts; and f(x, x), one buffer given twice.

    shapes     the Jacobian on cases of these origins; a layout, of an argument or of the cotangent, changes no answer
    aliasing   a shared buffer changes no answer, and the two cotangents add up to the derivative of x -> f(x, x)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from checkers.array_audit.case import Case, Path, flat, leaves, replaced
from checkers.array_audit.findings import finding, parts, picked
from checkers.array_audit.jacobian import judge
from checkers.array_audit.opinion import answered, entries, format_of
from checkers.array_audit.purity import few
from checkers.array_audit.trial import Trial
from checkers.verdict import OutOfScope, Passed, Refuted, Verdict

SWEPT = ("shape", "attribute", "layout")
PAIRS = 48
"""So many pairs of arguments are made one, at most."""
COARSE = 2.0**-20
"""Of the sum at f(x, x), relative to its terms: far above rounding and conditioning, far below a gradient claimed twice. The
entries themselves are judged to the last digits by `jacobian`; only at ties, where they have no value of their own, is the sum all
there is."""

LOST = 64
"""How much more one answer may lose to cancellation than another at the same cotangent."""


def shapes(trial: Trial) -> list[Verdict]:
    """11: non-square, broadcast, empty and 0-d arrays, attributes, layouts."""
    claim = "shapes"
    for case in few(trial):
        for what, dout, d in cotangent_layouts(trial, case):
            found, wanted = trial.pulled_anew(case, dout).cotangents, trial.pulled(case, d).cotangents
            if wanted is not None and (found is None or differs(trial, case, found, wanted, d)):
                cause = f"the memory layout of the cotangent is taken for its elements' order ({what})"
                laid = "np.asfortranarray(dout)" if what == "Fortran order" else "np.repeat(dout, 2, axis=-1)[..., ::2]"
                test = f"all(np.allclose(a, b) for a, b in zip(pull({laid}), pull(dout)))"
                return [finding(trial, claim, case, cotangent=d, found=found, wanted=wanted, cause=cause, test=test)]
    return judge(trial, claim, SWEPT)


def cotangent_layouts(trial: Trial, case: Case) -> Iterator[tuple[str, Any, Any]]:
    """A cotangent of all different elements in other memory layouts, where it has one: (name, cotangent, as a vector)."""
    d = np.linspace(1.0, 2.0, case.outputs)
    plain = trial.seeded(case, d)
    d = flat([v for _, v in leaves((plain,))])
    if not isinstance(plain, np.ndarray) or plain.size < 2:
        return
    if plain.ndim > 1:
        yield "Fortran order", np.asfortranarray(plain), d
    yield "strided", np.repeat(plain, 2, axis=-1)[..., ::2], d


def differs(trial: Trial, case: Case, found: Any, wanted: Any, d: Any) -> bool:
    """
    Whether two answers at one cotangent differ by more than sums in another order do. A rule whose terms cancel, as those of a
    softmax near a corner do, loses more: as many digits as there are between `wanted` and what the one-hot cotangents add up to.
    """
    whole = answered(trial, case)
    if whole is None:
        return False
    known = np.nan_to_num(whole, posinf=0.0, neginf=0.0)
    room = 8 * trial.operations * format_of(trial, case).unit * (np.abs(d) @ np.abs(known))
    with np.errstate(invalid="ignore"):
        gap, lost = np.abs(found - wanted), np.nan_to_num(np.abs(wanted - d @ known), posinf=0.0)
        room = room + LOST * np.max(lost, initial=0.0) + COARSE * np.nan_to_num(np.abs(wanted), posinf=0.0)
    return bool((gap > room).any() or (np.isnan(found) != np.isnan(wanted)).any())


def aliasing(trial: Trial) -> list[Verdict]:
    """12: f(x, x) with one buffer for both."""
    claim = "aliasing"
    judged = 0
    for case, one, two in islice(shared(trial), PAIRS):
        judged += 1
        apart = Case(separate(case.arguments), case.value, case.origin, case.note, case.fixed)
        d = np.linspace(1.0, 2.0, case.outputs)
        found, wanted = trial.pulled(case, d).cotangents, trial.pulled(apart, d).cotangents
        if wanted is None:
            continue
        if found is None or not np.array_equal(found, wanted, equal_nan=True):
            cause = "a shared buffer changes the answer: the rule writes to an argument, or compares identities"
            test = "all(np.array_equal(a, b) for a, b in zip(pull(dout), pull(dout, tuple(np.array(v) for v in x))))"
            return [finding(trial, claim, case, cotangent=d, found=found, wanted=wanted, cause=cause, test=test)]
        refuted = _sum_of_two(trial, claim, case, (one, two))
        if refuted is not None:
            return [refuted]
    if not judged:
        return [OutOfScope("no two arguments can be one array", claim)]
    return [Passed(judged, "cases f(x, x): same answer for one buffer and for two, and the cotangents add up", claim)]


def shared(trial: Trial) -> Iterator[tuple[Case, slice, slice]]:
    """Cases in which two arguments of one shape and dtype are the same array, with the coordinates of both."""
    for case in few(trial, 12):
        spans = [(p, s, v) for (p, s), (_, v) in zip(parts(case), leaves(case.arguments, case.fixed), strict=True)]
        for i, (path, _, one) in enumerate(spans):
            for other, _, two in spans[i + 1 :]:
                if isinstance(one, np.ndarray) and isinstance(two, np.ndarray) and one.size and _alike(one, two):
                    made = trial.case(replaced(case.arguments, {other: one}), case.origin, "one array twice")
                    if made is not None:
                        ranges: dict[Path, slice] = dict(parts(made))
                        yield made, ranges[path], ranges[other]
                    break


def _alike(one: Any, two: Any) -> bool:
    return bool(one.shape == two.shape and one.dtype == two.dtype)


def separate(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments in buffers of their own."""
    return replaced(arguments, {p: np.array(v) for p, v in leaves(arguments) if isinstance(v, np.ndarray)})


def _sum_of_two(trial: Trial, claim: str, case: Case, spans: tuple[slice, slice]) -> Refuted | None:
    """
    The finding that the cotangents of both do not add up to the derivative of x -> f(x, x), where that exists.

    Two entries that are each right, but for rounding, add up: where they cancel, as at the maximum of a cosine,
    nothing else is left.
    """
    whole = answered(trial, case)
    if whole is None:
        return None
    opinions = entries(trial, case)
    sound = opinions.right | opinions.accuracy
    one, two = spans
    least = format_of(trial, case).least
    for k in range(one.stop - one.start):
        direction = np.zeros(case.size)
        direction[[one.start + k, two.start + k]] = 1.0
        value = trial.sides(case, direction).value
        terms = whole[:, one.start + k], whole[:, two.start + k]
        found = terms[0] + terms[1]
        room = COARSE * (np.abs(terms[0]) + np.abs(terms[1]) + value.size) + 4 * trial.operations * least
        wrong = value.known & (value.distance(found) > room) & np.isfinite(found)
        wrong &= ~(sound[:, one.start + k] & sound[:, two.start + k])
        if wrong.any():
            output = int(np.flatnonzero(wrong)[0])
            cause = (
                "at one array given twice, the two cotangents do not add up to the derivative: each claims too much or too little"
            )
            note = f"x -> f(x, x), element {k}; reference: {trial.sides(case, direction).by}"
            cotangent = np.zeros(case.outputs)
            cotangent[output] = 1.0
            return finding(
                trial,
                claim,
                case,
                cotangent=cotangent,
                found=float(found[output]),
                wanted=float(value.middle[output]),
                cause=cause,
                note=note,
                test=_adds_up(case, (one.start + k, two.start + k), value, output, room),
            )
    return None


def _adds_up(case: Case, at: tuple[int, int], value: Any, output: int, room: Any) -> str:
    lo, hi = float(value.lo[output] - room[output]), float(value.hi[output] + room[output])
    return f"{lo!r} <= {picked(case, at[0])} + {picked(case, at[1])} <= {hi!r}"


CHECKS: Sequence[tuple[str, Callable[[Trial], list[Verdict]]]] = (("shapes", shapes), ("aliasing", aliasing))
