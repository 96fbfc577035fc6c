"""
Check 19 on arrays: would the inputs notice a wrong rule?

The rule is damaged in some thirty ways (`mutations.py`), and each damaged rule is judged as the rule itself is: its Jacobian entry
by entry against the reference, then its linearity. One that is nowhere told from a right rule is listed as Vacuous, with the inputs
that would tell. One that answers the same numbers at every case is no damage; the verdict names it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from checkers.array_audit.bounds import Reals
from checkers.array_audit.case import Case, Vector, leaves, unit
from checkers.array_audit.mutations import Mutation, mutations
from checkers.array_audit.opinion import Opinions, entries
from checkers.array_audit.trial import Trial
from checkers.verdict import OutOfScope, Passed, Unknown, Vacuous, Verdict

MOST = 16
LARGEST = 12
"""How many cases are used, and how many coordinates or outputs they have at most."""
ORDER = {"sample": 0, "random": 1, "shape": 2, "attribute": 3}


def vacuity(trial: Trial) -> list[Verdict]:
    """19: damaged rules are noticed; those that are not are listed."""
    claim = "vacuity"
    cases = chosen(trial)
    honest = [(case, entries(trial, case)) for case in cases]
    if any(opinions.fault.any() for _, opinions in honest):
        return [OutOfScope("the rule itself is wrong: damage to it says nothing", claim)]
    if any(o.accuracy.any() for _, o in honest) and not any((o.right & (o.found != 0)).any() for _, o in honest):
        return [OutOfScope("the rule is right nowhere but where it answers 0: damage to it says nothing", claim)]
    honest = [(case, opinions) for case, opinions in honest if opinions.right.any()]
    if not honest:
        return [Unknown("no reference knows the derivative at these inputs", claim)]
    survivors: list[Verdict] = []
    noticed, same = 0, []
    for mutation in mutations(trial):
        fate = judged(trial, honest, mutation)
        if fate == "noticed":
            noticed += 1
        elif fate == "same":
            same.append(mutation.name)
        else:
            survivors.append(Vacuous(f"your inputs would not notice {mutation.name}; what would: {mutation.hint}", claim))
    what = "damaged rules noticed" + (f"; these answer the same numbers here: {', '.join(same)}" if same else "")
    return [*survivors, Passed(noticed, what, claim)]


def chosen(trial: Trial) -> list[Case]:
    """At most `MOST` small cases, one of each kind in turn: shapes, attributes and origins all differ before any comes twice."""
    kinds: dict[str, list[Case]] = {}
    for case in trial.cases:
        if 0 < case.size <= LARGEST and 0 < case.outputs <= LARGEST:
            shapes = [np.shape(leaf) for _, leaf in leaves(case.arguments, case.fixed)]
            kinds.setdefault(f"{case.origin} {shapes}", []).append(case)
    groups = sorted(kinds.values(), key=lambda group: ORDER.get(group[0].origin, 4))
    turns = [group[turn] for turn in range(MOST) for group in groups if turn < len(group)]
    return turns[:MOST]


def judged(trial: Trial, honest: Sequence[tuple[Case, Opinions]], mutation: Mutation) -> str:
    """ "noticed", "survived", or "same" if the damaged rule answers as the rule does wherever it was asked."""
    differs = False
    for case, opinions in honest:
        rows = [mutation.damage(trial, case, unit(case.outputs, o)) for o in range(case.outputs)]
        if any(row is None for row in rows):
            continue
        found = np.array(rows).reshape(opinions.found.shape)
        if not equal(found, opinions.found):
            differs = True
            if wrong(trial, case, opinions, found):
                return "noticed"
        for d in cotangents(case, trial.seed):
            dense = mutation.damage(trial, case, d)
            if dense is None or equal(dense, trial.pulled(case, d).cotangents):
                continue
            differs = True
            if not_linear(trial, found, d, dense):
                return "noticed"
    return "survived" if differs else "same"


def cotangents(case: Case, seed: int) -> list[Vector]:
    """Dense cotangents of both signs, of size 3 and of size 2^12."""
    source = np.random.default_rng(seed)
    return [size * source.choice((-1.0, 1.0), case.outputs) * source.uniform(0.5, 1, case.outputs) for size in (3.0, 2.0**12)]


def wrong(trial: Trial, case: Case, opinions: Opinions, found: Reals) -> bool:
    """Whether the judge calls an entry of this Jacobian wrong that it calls right in the rule's own. No leaf is convicted by it."""
    suspect = opinions.right & ~(opinions.wanted.distance(found) <= opinions.allowed)
    if not suspect.any():
        return False
    before = trial.convicted.copy()
    fault = bool((entries(trial, case, found).fault & suspect).any())
    trial.convicted = before
    return fault


def not_linear(trial: Trial, rows: Reals, d: Vector, dense: Vector) -> bool:
    """
    Whether the answer to a dense cotangent is not the sum of those to its parts.

    Room: each operation of the rule may cost 4 ulp of each term, here and there, and the sum of n terms n - 1 roundings more.
    Columns with an entry that is not finite are left out.
    """
    finite = np.isfinite(rows).all(axis=0)
    size = np.abs(d) @ np.abs(rows[:, finite])
    room = (8 * trial.operations + len(d)) * trial.unit * size
    return bool((~(np.abs(dense[finite] - d @ rows[:, finite]) <= room)).any())


def equal(a: Reals, b: Reals | None) -> bool:
    """Equal as numbers: signed zeros and NaNs are not told apart."""
    return b is not None and bool(np.array_equal(a, b, equal_nan=True))


CHECKS: Sequence[tuple[str, Callable[[Trial], list[Verdict]]]] = (("vacuity", vacuity),)
