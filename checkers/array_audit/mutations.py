"""
Damaged copies of a backpropagator on arrays, as people damage them: what they answer at a case, to a cotangent.

A mutation sees the rule from outside. It changes the cotangent that the rule is given, what the rule keeps of the forward pass, or
the answer; where it does not apply (no second argument, no second axis) it answers as the rule does. A conjugate forgotten is no
damage to a rule of reals, and is not among them. Each says which inputs would notice it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest

import numpy as np

from checkers.array_audit.case import Case, Vector, leaves, replaced, unit
from checkers.array_audit.findings import parts
from checkers.array_audit.trial import Trial

Damage = Callable[[Trial, Case, Vector], Vector | None]
Change = Callable[[Case, Vector], Vector]
AXES = 3


@dataclass(frozen=True, slots=True)
class Mutation:
    """A damage by name, what it answers (None if it raises), and which inputs would notice it."""

    name: str
    damage: Damage
    hint: str


def mutations(trial: Trial) -> Iterator[Mutation]:
    """The mutations of a trial's rule: of its answer, of its cotangent, of what it remembers."""
    anywhere = "any input at which the derivative is known and not 0"
    several = "cotangents of several signs and sizes, at a derivative that is not 0"
    yield Mutation("a sign turned", answer(lambda case, g: -g), anywhere)
    yield Mutation("twice the cotangent", answer(lambda case, g: 2 * g), anywhere)
    yield Mutation("a factor of the number of elements", answer(lambda case, g: g * case.size), "an input of two elements or more")
    yield Mutation("a mean in place of a sum", answer(lambda case, g: g / max(case.size, 1)), "an input of two elements or more")
    yield Mutation("a factor 1 + 1e-6", answer(lambda case, g: g * (1 + 1e-6)), "an input at which a reference knows 7 digits")
    yield Mutation("a factor 1 - 1e-6", answer(lambda case, g: g * (1 - 1e-6)), "an input at which a reference knows 7 digits")
    yield Mutation("a bias of 1e-7", answer(lambda case, g: g + 1e-7), "an input with derivatives of moderate size")
    for i, name in enumerate(trial.parameters):
        if i not in trial.fixed:
            yield Mutation(
                f"the cotangent of {name} zeroed", answer(partial(zeroed, argument=i)), f"derivatives by {name} that are not 0"
            )
    yield Mutation("the first row of the cotangents zeroed", answer(partial(row_zeroed, row=0)), "an array of two rows or more")
    yield Mutation("the last row of the cotangents zeroed", answer(partial(row_zeroed, row=-1)), "an array of two rows or more")
    yield Mutation("cotangents swapped", answer(swapped), "arguments of one size with different derivatives")
    yield Mutation("the sign of the last cotangent turned", answer(last_turned), "a derivative by the last argument that is not 0")
    yield Mutation("cotangents transposed", answer(transposed), "a matrix that is not symmetric, and one that is not square")
    for axis in range(AXES):
        yield Mutation(
            f"cotangents rolled by one along axis {axis}", answer(partial(rolled, axis=axis)), "elements that differ along it"
        )
        yield Mutation(
            f"cotangents reversed along axis {axis}", answer(partial(reversed_, axis=axis)), "elements that differ along it"
        )
    yield Mutation("a mean over the broadcast axes", answer(averaged), "arguments that are broadcast, two rows or more")
    yield Mutation(
        "the first slice in place of a sum over the broadcast axes", first_slice, "arguments that are broadcast, two rows or more"
    )
    yield Mutation(
        "the diagonal of the Jacobian only", diagonal, "two elements or more, each with an influence on the other's output"
    )
    yield Mutation("the cotangent dropped", given(lambda case, d: np.ones_like(d)), several)
    yield Mutation("the cotangent clipped", given(lambda case, d: np.clip(d, -1.0, 1.0)), several)
    yield Mutation("the cotangent squared", given(lambda case, d: d * np.abs(d)), several)
    yield Mutation("negative cotangents dropped", given(lambda case, d: np.maximum(d, 0.0)), several)
    yield Mutation("the cotangent of the first output only", given(only_first), "an output of two elements or more")
    yield Mutation("the cotangent of the last output dropped", given(last_dropped), "an output of two elements or more")
    yield Mutation("a stale result", stale_value, "two inputs of one shape, if the rule uses the value")
    yield Mutation("stale arguments", stale_arguments, "two inputs of one shape with different derivatives")


def asked(trial: Trial, case: Case, d: Vector) -> Vector | None:
    """What the rule itself answers."""
    return trial.pulled(case, d).cotangents


def answer(change: Change) -> Damage:
    """The rule with its answer changed."""

    def damage(trial: Trial, case: Case, d: Vector) -> Vector | None:
        found = asked(trial, case, d)
        return None if found is None else change(case, found)

    return damage


def given(change: Change) -> Damage:
    """The rule on a changed cotangent."""
    return lambda trial, case, d: asked(trial, case, change(case, d))


def by_leaf(case: Case, g: Vector, change: Callable[[np.ndarray], np.ndarray]) -> Vector:
    """The cotangents with a change made to that of each leaf, in its shape; what changes shape is read in the old one."""
    found = g.copy()
    for (_, leaf), (_, where) in zip(leaves(case.arguments, case.fixed), parts(case), strict=True):
        found[where] = change(g[where].reshape(np.shape(leaf))).ravel()
    return found


def zeroed(case: Case, g: Vector, argument: int) -> Vector:
    """Nothing for one argument."""
    found = g.copy()
    for path, where in parts(case):
        if path[0] == argument:
            found[where] = 0.0
    return found


def row_zeroed(case: Case, g: Vector, row: int) -> Vector:
    """Nothing for the first or the last row of arrays of two rows or more."""

    def change(part: np.ndarray) -> np.ndarray:
        found = part.copy()
        if part.ndim and part.shape[0] > 1:
            found[row] = 0.0
        return found

    return by_leaf(case, g, change)


def rolled(case: Case, g: Vector, axis: int) -> Vector:
    """Off by one along an axis."""
    return by_leaf(case, g, lambda part: np.roll(part, 1, axis) if axis < part.ndim else part)


def reversed_(case: Case, g: Vector, axis: int) -> Vector:
    """Backwards along an axis."""
    return by_leaf(case, g, lambda part: np.flip(part, axis) if axis < part.ndim else part)


def transposed(case: Case, g: Vector) -> Vector:
    """The last two axes exchanged; of an array that is not square, its elements in the order of its transpose."""
    return by_leaf(case, g, lambda part: np.swapaxes(part, -1, -2) if part.ndim > 1 else part)


def swapped(case: Case, g: Vector) -> Vector:
    """Those of the first two leaves exchanged, if they are of one size."""
    found = g.copy()
    if len(where := [w for _, w in parts(case)]) > 1 and where[0].stop - where[0].start == where[1].stop - where[1].start:
        found[where[0]], found[where[1]] = g[where[1]], g[where[0]]
    return found


def last_turned(case: Case, g: Vector) -> Vector:
    """The sign of the last leaf's turned, if there are two."""
    found = g.copy()
    if len(where := [w for _, w in parts(case)]) > 1:
        found[where[-1]] = -g[where[-1]]
    return found


def broadcast(case: Case) -> list[tuple[slice, tuple[int, ...]]]:
    """The leaves that are broadcast to the shape of the value, each with the axes of the value along which it is repeated."""
    shape, found = np.shape(case.value) if not isinstance(case.value, (tuple, list)) else (), []
    for (_, leaf), (_, where) in zip(leaves(case.arguments, case.fixed), parts(case), strict=True):
        pairs = list(zip_longest(np.shape(leaf)[::-1], shape[::-1], fillvalue=1))
        if len(np.shape(leaf)) <= len(shape) and all(a in (b, 1) for a, b in pairs) and np.size(leaf) < np.prod(shape):
            found.append((where, tuple(len(shape) - 1 - k for k, (a, b) in enumerate(pairs) if a < b)))
    return found


def averaged(case: Case, g: Vector) -> Vector:
    """The cotangents of leaves that are broadcast divided by how often."""
    found = g.copy()
    for where, axes in broadcast(case):
        found[where] = g[where] / np.prod([np.shape(case.value)[a] for a in axes])
    return found


def first_slice(trial: Trial, case: Case, d: Vector) -> Vector | None:
    """The cotangents of leaves that are broadcast from the first slice along the repeated axes alone."""
    found = asked(trial, case, d)
    for where, axes in broadcast(case):
        kept = np.zeros(np.shape(case.value))
        kept[tuple(0 if a in axes else slice(None) for a in range(kept.ndim))] = 1.0
        part = asked(trial, case, d * kept.ravel())
        if found is None or part is None:
            return None
        found = found.copy()
        found[where] = part[where]
    return found


def diagonal(trial: Trial, case: Case, d: Vector) -> Vector | None:
    """Each output's influence on the coordinate of its own number, if there are as many of both."""
    if case.size != case.outputs:
        return asked(trial, case, d)
    matrix = trial.jacobian(case)
    return None if matrix is None else d * np.diagonal(matrix)


def only_first(case: Case, d: Vector) -> Vector:
    """Zero but for the first."""
    return d * unit(len(d), 0) if len(d) else d


def last_dropped(case: Case, d: Vector) -> Vector:
    """Zero for the last, if there are two."""
    return d * (1 - unit(len(d), len(d) - 1)) if len(d) > 1 else d


def other(trial: Trial, case: Case) -> Case | None:
    """Another case with the same shapes and attributes: what a rule with a memory saw before."""
    shapes = [(path, np.shape(leaf)) for path, leaf in leaves((*case.arguments, case.value))]
    for before in trial.cases:
        if before is case or np.array_equal(before.coordinates, case.coordinates):
            continue
        alike = [(path, np.shape(leaf)) for path, leaf in leaves((*before.arguments, before.value))] == shapes
        if alike and all(repr(before.arguments[i]) == repr(case.arguments[i]) for i in case.fixed):
            return before
    return None


def stale_value(trial: Trial, case: Case, d: Vector) -> Vector | None:
    """The rule with the value of another call, else with the value moved by a half."""
    before = other(trial, case)
    moved = {path: leaf + np.asarray(leaf).dtype.type(0.5) for path, leaf in leaves((case.value,))}
    value = replaced((case.value,), moved)[0] if before is None else before.value
    return trial.pulled_anew(case, trial.seeded(case, d), value).cotangents


def stale_arguments(trial: Trial, case: Case, d: Vector) -> Vector | None:
    """The rule with the arguments of another call, else with its own moved by a quarter of themselves and a half."""
    before = other(trial, case)
    arguments = case.at(1.25 * case.coordinates + 0.5) if before is None else before.at(before.coordinates)
    return trial.pulled_anew(case.with_value(arguments, case.value), trial.seeded(case, d)).cotangents
