"""Shrinking of array cases: it ends, never leaves the failing set, and finds the least counterexample of planted bugs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from checkers.array_audit.case import Case
from checkers.array_audit.layouts import LAYOUTS, laid_out
from checkers.array_audit.shrinking import TRIES, shrink, smallers
from checkers.array_audit.trial import Trial
from checkers.inputs import numbers


def trial(forward: Callable[..., Any], pull: Callable[..., Any], parameters: str = "x", **more: Any) -> Trial:
    return Trial("f", tuple(parameters.split()), forward, lambda xs, y, d: pull(*xs, y, d), (), **more)


def case_of(judged: Trial, *arguments: Any, origin: str = "sample", note: str = "") -> Case:
    found = judged.case(arguments, origin, note)
    assert found is not None
    return found


def wrong_against(judged: Trial, right: Callable[..., Any]) -> Callable[[Case], bool]:
    """Whether the pullback and the right one differ for the cotangent of ones."""

    def fails(case: Case) -> bool:
        d = judged.seeded(case, np.ones(case.outputs))
        found = judged.pulled_anew(case, d).cotangents
        wanted = np.concatenate([np.ravel(v) for v in right(*case.arguments, case.value, d)])
        return found is None or not np.allclose(found, wanted, rtol=2.0**-40, atol=0)

    return fails


def product(a: Any, b: Any) -> Any:
    return a @ b


def right_product(a: Any, b: Any, y: Any, d: Any) -> Any:
    return d @ b.T, a.T @ d


BUGS: dict[str, tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any], tuple[Any, ...], int]] = {
    # forward, right, wrong, arguments, and how many coordinates are left
    "a wrong factor": (np.square, lambda x, y, d: (2 * x * d,), lambda x, y, d: (3 * x * d,), (np.full((3, 4), 1.7),), 1),
    "wrong below 0": (
        np.tanh,
        lambda x, y, d: (d * (1 - y * y),),
        lambda x, y, d: (d * (1 - y * y) * np.where(x < 0, 2.0, 1.0),),
        (np.linspace(-1.3, 2.1, 12),),
        1,
    ),
    "wrong in the last place": (
        np.sin,
        lambda x, y, d: (d * np.cos(x),),
        lambda x, y, d: (d * np.cos(x) * np.where(np.arange(x.size) == x.size - 1, 2.0, 1.0),),
        (np.linspace(0.1, 0.9, 9),),
        1,
    ),
    "the order is lost": (
        np.sort,
        lambda x, y, d: (d[np.argsort(np.argsort(x))],),
        lambda x, y, d: (d,),
        (np.array([3.5, 1.25, 2.5, 0.75]),),
        2,
    ),
    "a transposed factor": (
        product,
        right_product,
        lambda a, b, y, d: (d @ b.T, d.T @ a if (d.T @ a).shape == b.shape else a.T @ d),
        (np.arange(1.0, 10).reshape(3, 3), np.arange(2.0, 11).reshape(3, 3)),
        6,
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_the_least_counterexample_of_a_planted_bug_is_found(bug: str) -> None:
    forward, right, wrong, arguments, least = BUGS[bug]
    judged = trial(forward, wrong, "a b" if len(arguments) == 2 else "x")
    if bug == "the order is lost":

        def fails(case: Case) -> bool:
            d = np.arange(1.0, case.outputs + 1)
            found, wanted = (np.ravel(rule(*case.arguments, case.value, d)[0]) for rule in (wrong, right))
            return bool((found != wanted).any())
    else:
        fails = wrong_against(judged, right)
    case = case_of(judged, *arguments)
    assert fails(case)
    found = shrink(case, fails, judged)
    assert fails(found)
    assert found.origin == "shrunk"
    assert found.size == least
    assert all(x == round(x) for x in found.coordinates)


def test_a_right_rule_is_not_shrunk() -> None:
    """Where nothing simpler fails, the case stays as it was."""
    judged = trial(np.exp, lambda x, y, d: (y * d,))
    case = case_of(judged, np.array([1.5, 2.5]))
    assert shrink(case, lambda c: c is case, judged) is case


@given(npst.arrays(np.float64, npst.array_shapes(max_dims=3, max_side=4), elements=numbers()), st.data())
def test_shrinking_never_leaves_the_failing_set_and_ends(x: Any, data: st.DataObject) -> None:
    judged = trial(np.sign, lambda x, y, d: (0 * d,))
    chosen = data.draw(st.sampled_from([np.ravel(x)[0], np.ravel(x).max(), 0.0]))
    asked = 0

    def fails(case: Case) -> bool:
        nonlocal asked
        asked += 1
        return bool((case.arguments[0] >= chosen).any())

    case = case_of(judged, x)
    if not fails(case):
        return
    asked = 0
    found = shrink(case, fails, judged)
    assert asked <= TRIES
    assert fails(found)
    assert found.size == 1


def test_sizes_of_one_name_shrink_together() -> None:
    for a, b in smallers((np.ones((2, 3)), np.ones((3, 4)))):
        assert a.shape[1] == b.shape[0] or {a.shape, b.shape} & {(2, 3), (3, 4)}


def test_a_layout_is_kept_where_the_failure_needs_it() -> None:
    """Of a rule that is wrong on arrays that are not contiguous, the counterexample is one."""
    judged = trial(np.exp, lambda x, y, d: (y * d * (1 if x.flags.c_contiguous else 2),))
    right = wrong_against(judged, lambda x, y, d: (y * d,))
    (strided,) = laid_out((np.arange(1.0, 6),), LAYOUTS["strided"])
    found = shrink(case_of(judged, strided, origin="layout", note="strided"), right, judged)
    assert right(found)
    assert found.size == 2
    assert "strided" in found.note


def test_a_layout_is_dropped_where_it_is_not_needed() -> None:
    judged = trial(np.exp, lambda x, y, d: (y * d * 2,))
    (strided,) = laid_out((np.arange(1.0, 6),), LAYOUTS["strided"])
    right = wrong_against(judged, lambda x, y, d: (y * d,))
    found = shrink(case_of(judged, strided, origin="layout", note="strided"), right, judged)
    assert found.arguments[0].flags.c_contiguous
    assert found.coordinates.tolist() == [0.0]


def test_the_domain_is_never_left() -> None:
    judged = trial(np.log, lambda x, y, d: (d,), domain=lambda xs: bool((xs[0] > 1.5).all()))
    found = shrink(case_of(judged, np.array([7.3, 2.9])), lambda c: True, judged)
    assert found.coordinates.tolist() == [2.0]


def test_a_large_array_takes_few_attempts() -> None:
    """A million elements, one of them wrong: halved until it is alone."""
    judged = trial(np.abs, lambda x, y, d: (d,))
    x = np.ones(1_000_000)
    x[654_321] = -1.0
    asked = 0

    def fails(case: Case) -> bool:
        nonlocal asked
        asked += 1
        return bool((case.arguments[0] < 0).any())

    found = shrink(case_of(judged, x), fails, judged)
    assert found.coordinates.tolist() == [-1.0]
    assert asked < TRIES
