"""Vacuity on arrays: every mutation is noticed at inputs that show it, and is no damage elsewhere; weak inputs are told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.array_audit.bounds import Bounds, Reference, Sides
from checkers.array_audit.case import Case, Vector
from checkers.array_audit.mutations import Mutation, mutations
from checkers.array_audit.opinion import entries
from checkers.array_audit.references import references_for
from checkers.array_audit.trial import Trial
from checkers.array_audit.vacuity import chosen, judged, vacuity
from checkers.verdict import OutOfScope, Passed, Unknown, Vacuous

SOURCE = np.random.default_rng(5)


def trial(
    forward: Callable[..., Any], rule: Callable[..., Any], *points: Any, references: Any = None, fixed: Any = frozenset()
) -> Trial:
    """A trial of rule(x…, y, dy)."""
    parameters = tuple("xyzw"[: len(points[0])])
    known = references_for(forward=forward) if references is None else references
    made = Trial("f", parameters, forward, lambda xs, y, d: rule(*xs, y, d), known, fixed=fixed, forward_source=forward)
    made.cases = tuple(c for p in points if (c := made.case(p)) is not None)
    return made


def real(*shape: int) -> Any:
    """Numbers of ordinary size, of both signs."""
    return SOURCE.choice((-1.0, 1.0), shape) * SOURCE.uniform(0.5, 2, shape)


def matmul() -> Trial:
    rule = lambda x, y, out, d: (d @ y.T, x.T @ d)  # noqa: E731
    return trial(lambda x, y: x @ y, rule, (real(2, 3), real(3, 2)), (real(2, 2), real(2, 2)), (real(2, 2), real(2, 2)))


def weighted_rows() -> Trial:
    """A vector broadcast over the rows of a matrix."""
    rule = lambda x, y, out, d: (d * y, np.sum(d * x, axis=0))  # noqa: E731
    return trial(lambda x, y: x * y, rule, (real(3, 2), real(2)), (real(2, 2), real(2)))


def exponential() -> Trial:
    rule = lambda x, y, d: (d * y,)  # noqa: E731
    return trial(np.exp, rule, (real(3),), (real(3),), (real(2, 2),))


def cumulative() -> Trial:
    rule = lambda x, y, d: (2 * x * np.cumsum(d[::-1])[::-1],)  # noqa: E731
    return trial(lambda x: np.cumsum(x * x), rule, (real(4),), (real(4),))


def product() -> Trial:
    rule = lambda x, y, out, d: (d * y, d * x)  # noqa: E731
    return trial(lambda x, y: x * y, rule, (real(3), real(3)), (real(1, 2, 3), real(1, 2, 3)))


TRIALS = {f.__name__: f for f in (matmul, weighted_rows, exponential, cumulative, product)}


@pytest.mark.parametrize("name", TRIALS)
def test_of_a_right_rule_at_good_inputs_no_damage_survives(name: str) -> None:
    verdicts = vacuity(TRIALS[name]())
    (passed,) = verdicts
    assert isinstance(passed, Passed)
    assert passed.n >= 14


def test_every_mutation_is_noticed_somewhere_and_without_effect_elsewhere() -> None:
    noticed: set[str] = set()
    fates: dict[str, set[str]] = {}
    flat = trial(lambda x: x[()] + 0.0, lambda x, y, d: (d,), (1.0,), (2.0,))
    for made in (*[make() for make in TRIALS.values()], flat):
        honest = [(case, entries(made, case)) for case in chosen(made)]
        for mutation in mutations(made):
            fate = judged(made, honest, mutation)
            fates.setdefault(mutation.name, set()).add(fate)
            noticed |= {mutation.name} if fate == "noticed" else set()
    assert set(fates) == noticed
    assert len(noticed) >= 25
    everywhere = ("sign", "twice", "1e-", "zeroed", "dropped", "squared", "clipped", "stale")
    assert all("same" in seen for name, seen in fates.items() if not any(word in name for word in everywhere))


@dataclass
class Coarse:
    """A reference that knows three digits."""

    exact: tuple[Reference, ...]
    name: str = "three digits"

    def sides(self, case: Case, direction: Vector) -> Sides | None:
        found = next(s for r in self.exact if (s := r.sides(case, direction)) is not None)
        value = found.value
        wide = Bounds(value.lo - 1e-3 * value.size, value.hi + 1e-3 * value.size)
        return Sides(wide, wide, found.infinite, self.name, found.agreement)

    def second(self, case: Case, first: Vector, second: Vector) -> Bounds | None:
        return None


def test_what_a_coarse_reference_cannot_see_is_listed() -> None:
    coarse = Coarse(references_for(forward=np.exp))
    made = trial(np.exp, lambda x, y, d: (d * y,), (real(3),), (real(3),), references=(coarse,))
    verdicts = vacuity(made)
    survivors = [v.why for v in verdicts if isinstance(v, Vacuous)]
    assert [s for s in survivors if "a factor 1 + 1e-6" in s and "7 digits" in s]
    assert not [s for s in survivors if "sign" in s or "twice" in s]
    assert isinstance(verdicts[-1], Passed)


def test_inputs_at_which_the_function_is_flat_show_nothing() -> None:
    made = trial(lambda x: x * x, lambda x, y, d: (2 * x * d,), (np.zeros(2),))
    passed = vacuity(made)[-1]
    assert isinstance(passed, Passed)
    assert "a sign turned" in passed.what.split("same numbers here")[1]


def test_of_a_wrong_rule_nothing_is_said() -> None:
    (verdict,) = vacuity(trial(np.exp, lambda x, y, d: (-d * y,), (real(3),)))
    assert isinstance(verdict, OutOfScope)


def test_without_a_reference_nothing_is_decided() -> None:
    (verdict,) = vacuity(trial(np.exp, lambda x, y, d: (d * y,), (real(3),), references=()))
    assert isinstance(verdict, Unknown)


def test_an_attribute_is_not_damaged() -> None:
    made = trial(lambda x, y: x.sum(axis=y), lambda x, y, out, d: (np.broadcast_to(d, x.shape), None), (real(3, 2), 0), fixed={1})
    assert not [m for m in mutations(made) if m.name == "the cotangent of y zeroed"]


def by_name(made: Trial, name: str) -> Mutation:
    return next(m for m in mutations(made) if m.name == name)


@pytest.mark.parametrize("name", ["the first slice in place of a sum over the broadcast axes", "a mean over the broadcast axes"])
def test_a_broadcast_that_is_not_reduced_changes_only_what_was_broadcast(name: str) -> None:
    made = weighted_rows()
    case, d = made.cases[0], np.ones(6)
    honest, damaged = made.pulled(case, d).cotangents, by_name(made, name).damage(made, case, d)
    assert honest is not None
    assert damaged is not None
    assert np.array_equal(honest[:6], damaged[:6])
    assert not np.array_equal(honest[6:], damaged[6:])


@given(st.integers(1, 3), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_damage_to_the_answer_keeps_its_size_and_never_touches_the_rule(m: int, n: int, seed: int) -> None:
    source = np.random.default_rng(seed)
    x, y = source.uniform(1, 2, (m, n)), source.uniform(1, 2, (n, m))
    made = trial(lambda x, y: x @ y, lambda x, y, out, d: (d @ y.T, x.T @ d), (x, y), references=())
    (case,) = made.cases
    d = source.uniform(-1, 1, case.outputs)
    before = made.pulled(case, d).cotangents
    assert before is not None
    kept = before.copy()
    for mutation in mutations(made):
        damaged = mutation.damage(made, case, d)
        assert damaged is not None
        assert damaged.shape == (case.size,)
    assert np.array_equal(before, kept)
