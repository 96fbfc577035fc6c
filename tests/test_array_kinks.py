"""
Kinks of functions on arrays: rules that answer outside the Clarke Jacobian are caught, every correct choice passes, conventions
are told. The functions are piecewise linear, so that a reference on fractions knows their one-sided derivatives exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.array_audit.bounds import Bounds, Sides
from checkers.array_audit.case import Case, Vector, leaves
from checkers.array_audit.clarke import Direction, Undecided, directions, groups, outside, partners, rough
from checkers.array_audit.kinks import kinks
from checkers.array_audit.references import references_for
from checkers.array_audit.trial import Trial
from checkers.conventions import TABLE, others, shown
from checkers.verdict import OutOfScope, Passed, Refuted, Unknown

STEP = Fraction(1, 2**100)
Arrays = tuple[Any, ...]


@dataclass
class Piecewise:
    """Exact one-sided derivatives of a piecewise linear function: quotients of fractions over a step shorter than any piece."""

    function: Callable[..., Any]
    name: str = "fractions"

    def sides(self, case: Case, direction: Vector) -> Sides:
        x, v = [[Fraction(float(a)) for a in vector] for vector in (case.coordinates, direction)]

        def at(h: Fraction) -> list[Fraction]:
            moved = case.at(np.array([a + h * b for a, b in zip(x, v, strict=True)], dtype=object))
            value = np.asarray(self.function(*moved), dtype=object)
            return [Fraction(a) for a in value.ravel()]

        here = at(Fraction(0))
        left, right = (
            np.array([float((b - a) / h) for a, b in zip(here, at(h), strict=True)]).reshape(len(here)) for h in (-STEP, STEP)
        )
        return Sides(Bounds(left, left), Bounds(right, right), np.zeros(len(here), dtype=bool), self.name)

    def second(self, case: Case, first: Vector, second: Vector) -> Bounds | None:
        return None


def trial(forward: Callable[..., Any], rule: Callable[..., Any], *points: Arrays, name: str = "f") -> Trial:
    """A trial of rule(x…, y, dy) on arguments that hold ties."""
    parameters = tuple("xyzw"[: len(points[0])])
    made = Trial(name, parameters, forward, lambda xs, y, d: rule(*xs, y, d), (Piecewise(forward),), forward_source=forward)
    made.cases = tuple(c for p in points if (c := made.case(tuple(np.asarray(a, dtype=np.float64) for a in p), "tie")) is not None)
    assert len(made.cases) == len(points)
    return made


def one_hot(index: int, size: int) -> Any:
    return np.eye(size)[index]


def middle(x: Any) -> Any:
    return np.sort(x)[len(x) // 2]


def lower(x: Any, y: Any) -> Any:
    return np.minimum(np.abs(x), y)


TIES = ([1.0, 1.0, 0.5],), ([2.0, 2.0, 2.0],), ([0.0, -1.0, 0.0],)
TIED = ([1.0, 2.0], [1.0, 3.0]), ([0.0, 0.0], [0.0, 0.0])
ZEROS = ([0.0, 1.0, -1.0],), ([0.0, 0.0],)

RIGHT: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[Arrays, ...]]] = {
    "max to the first": (np.max, lambda x, y, d: (d * one_hot(int(np.argmax(x)), x.size),), TIES),
    "max to the last": (np.max, lambda x, y, d: (d * one_hot(x.size - 1 - int(np.argmax(x[::-1])), x.size),), TIES),
    "max shared equally": (np.max, lambda x, y, d: (d * (x == y) / np.sum(x == y),), TIES),
    "maximum to the left": (np.maximum, lambda x, y, out, d: (d * (x >= y), d * (x < y)), TIED),
    "maximum shared": (np.maximum, lambda x, y, out, d: (d * ((x > y) + 0.5 * (x == y)), d * ((x < y) + 0.5 * (x == y))), TIED),
    "minimum to the right": (np.minimum, lambda x, y, out, d: (d * (x < y), d * (x >= y)), TIED),
    "abs, 0 at 0": (np.abs, lambda x, y, d: (d * np.sign(x),), ZEROS),
    "abs, 1 at 0": (np.abs, lambda x, y, d: (d * np.where(x >= 0, 1.0, -1.0),), ZEROS),
    "relu, 0 at 0": (lambda x: np.maximum(x, 0), lambda x, y, d: (d * (x > 0),), ZEROS),
    "relu, half at 0": (lambda x: np.maximum(x, 0), lambda x, y, d: (d * np.heaviside(x, 0.5),), ZEROS),
    "clip, 1 at its bounds": (lambda x: np.clip(x, 0, 1), lambda x, y, d: (d * ((x >= 0) & (x <= 1)),), ZEROS),
    "clip, 0 at its bounds": (lambda x: np.clip(x, 0, 1), lambda x, y, d: (d * ((x > 0) & (x < 1)),), ZEROS),
    "sort, stable": (np.sort, lambda x, y, d: (d[np.argsort(np.argsort(x, kind="stable"))],), TIES),
    "sort, ties reversed": (np.sort, lambda x, y, d: (d[::-1][np.argsort(np.argsort(-x, kind="stable"))],), TIES),
    "median, the middle one": (
        middle,
        lambda x, y, d: (d * one_hot(int(np.argsort(x, kind="stable")[x.size // 2]), x.size),),
        TIES,
    ),
    "median, shared": (middle, lambda x, y, d: (d * (x == y) / np.sum(x == y),), TIES),
    "the smaller of |x| and y, by |x|": (
        lower,
        lambda x, y, out, d: (d * np.where(np.abs(x) <= y, np.where(x >= 0, 1.0, -1.0), 0.0), d * (np.abs(x) > y)),
        (([0.0], [0.0]), ([1.0], [1.0])),
    ),
    "many independent kinks that are not convex": (
        lambda x, y: np.sum(np.abs(x)) - np.sum(np.abs(y)),
        lambda x, y, out, d: (d * np.where(x >= 0, 1.0, -1.0), d * np.where(y >= 0, -1.0, 1.0)),
        (([0.0] * 5, [0.0] * 5),),
    ),
    "many independent kinks in many outputs": (
        lambda x: np.abs(x) * np.array([1, -1, 1, -1, 2, 1]),
        lambda x, y, d: (d * np.where(x >= 0, 1.0, -1.0) * np.array([1, -1, 1, -1, 2, 1]),),
        (([0.0] * 6,),),
    ),
    "sum of distances": (
        lambda x: np.sum(np.abs(x[:, None] - x[None, :])),
        lambda x, y, d: (2 * d * np.sign(x[:, None] - x[None, :]).sum(axis=1),),
        TIES,
    ),
}

WRONG: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[Arrays, ...]]] = {
    "max, 1 to each tie": (np.max, lambda x, y, d: (d * (x == y),), TIES),
    "max, nothing to ties": (np.max, lambda x, y, d: (d * (x == y) * (np.sum(x == y) == 1),), TIES),
    "max, half to each of three": (np.max, lambda x, y, d: (d * (x == y) / min(2, np.sum(x == y)),), TIES),
    "maximum, 1 to both": (np.maximum, lambda x, y, out, d: (d * (x >= y), d * (x <= y)), TIED),
    "maximum, 0 to both": (np.maximum, lambda x, y, out, d: (d * (x > y), d * (x < y)), TIED),
    "abs, NaN at 0": (np.abs, lambda x, y, d: (d * x / y,), ZEROS),
    "abs, 2 at 0": (np.abs, lambda x, y, d: (d * np.where(x == 0, 2.0, np.sign(x)),), ZEROS),
    "relu, -1/8 at 0": (lambda x: np.maximum(x, 0), lambda x, y, d: (d * np.where(x == 0, -0.125, x > 0),), ZEROS),
    "sort, ties to the first twice": (
        np.sort,
        lambda x, y, d: (d @ (one_hot(np.searchsorted(y, y), x.size) @ one_hot(np.argsort(x, kind="stable"), x.size)),),
        TIES,
    ),
    "median, 1 to each tie": (middle, lambda x, y, d: (d * (x == y),), TIES),
    "distances, NaN where points repeat": (
        lambda x: np.sum(np.abs(x[:, None] - x[None, :])),
        lambda x, y, d: (2 * d * ((x[:, None] - x[None, :]) / np.abs(x[:, None] - x[None, :])).sum(axis=1),),
        TIES,
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_every_element_of_the_clarke_jacobian_passes(name: str) -> None:
    forward, rule, points = RIGHT[name]
    verdicts = kinks(trial(forward, rule, *points))
    assert not [v for v in verdicts if isinstance(v, Refuted) and v.kind != "convention"], verdicts
    assert [v for v in verdicts if isinstance(v, Passed) and v.n > 0]


@pytest.mark.parametrize("name", WRONG)
def test_what_is_outside_the_clarke_jacobian_is_a_fault(name: str) -> None:
    forward, rule, points = WRONG[name]
    (fault,) = kinks(trial(forward, rule, *points))
    assert isinstance(fault, Refuted)
    assert fault.kind == "fault"
    assert fault.claim == "kinks"


def test_a_tie_across_arguments_is_told_as_such() -> None:
    (fault,) = kinks(trial(*WRONG["maximum, 1 to both"][:2], *TIED))
    assert isinstance(fault, Refuted)
    assert "more than once" in fault.counterexample.cause
    assert (fault.counterexample.found, fault.counterexample.wanted) == (2.0, 1.0)


def test_away_from_kinks_nothing_is_judged() -> None:
    (verdict,) = kinks(trial(np.max, lambda x, y, d: (d * 7.0 + x,), ([1.0, 2.0, 3.0],)))
    assert isinstance(verdict, OutOfScope)


def test_the_convention_names_the_slope_its_interval_and_what_others_take() -> None:
    rule = lambda x, y, d: (d * np.sign(x),)  # noqa: E731
    convention = kinks(trial(np.abs, rule, ([0.0, 1.0],), name="numpy.abs"))[0]
    assert isinstance(convention, Refuted)
    assert convention.kind == "convention"
    cause = convention.counterexample.cause
    assert "slope 0, between -1 and 1 at x[0] = 0" in cause
    assert "PyTorch and autograd take 0" in cause
    assert "JAX differs" in cause


def test_a_median_of_equal_elements_is_not_differentiable_though_each_axis_is_smooth() -> None:
    made = trial(middle, lambda x, y, d: (d * x,), ([2.0, 2.0, 2.0],), ([1.0, 2.0, 3.0],))
    assert rough(made, made.cases[0]).all()
    assert not rough(made, made.cases[1]).any()


def test_nearby_gradients_excuse_what_one_sided_derivatives_do_not() -> None:
    made = trial(lower, lambda x, y, out, d: (d, d), ([0.0], [0.0]))
    (case,) = made.cases
    one, x = np.ones(1), np.array([1.0, 0.0])
    assert outside(made, case, one, x, 1.0, 1.0) is None
    assert outside(made, case, one, x, 1.5, 1.5) is not None


@given(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), min_size=1, max_size=6), st.lists(st.floats(0, 1), min_size=6, max_size=6))
def test_any_convex_combination_of_winners_is_in_the_clarke_jacobian(x: list[float], shares: list[float]) -> None:
    def rule(x: Any, y: Any, d: Any) -> Any:
        weights = (x == y) * (np.array(shares[: x.size]) + 2.0**-20)
        return (d * weights / weights.sum(),)

    verdicts = kinks(trial(np.max, rule, (x,)))
    assert not [v for v in verdicts if isinstance(v, Refuted) and v.kind != "convention"]


@given(st.lists(st.sampled_from([-1.0, 0.0, 0.5]), min_size=2, max_size=6), st.floats(0.25, 4))
def test_cotangents_of_ties_that_do_not_add_up_to_one_are_caught(x: list[float], share: float) -> None:
    def rule(x: Any, y: Any, d: Any) -> Any:
        return (d * share * (x == y),)

    ties = x.count(max(x))
    verdicts = kinks(trial(np.max, rule, (x,)))
    faults = [v for v in verdicts if isinstance(v, Refuted) and v.kind == "fault"]
    if ties > 1 and abs(ties * share - 1) > 2.0**-3:
        assert faults
    if ties * share == 1:
        assert not faults


@given(st.lists(st.sampled_from([-1.0, 0.0, 0.0, 2.0]), min_size=1, max_size=6))
def test_directions_keep_or_break_ties_as_they_say(x: list[float]) -> None:
    made = trial(np.max, lambda x, y, d: (d * x,), (x,))
    (case,) = made.cases
    for way in directions(case):
        assert np.isfinite(way.vector).all()
        if way.text == "all that are tied, together":
            moved = np.array(x) + way.vector
            assert all(len({moved[i] for i in group}) == 1 for group in groups(np.array(x)))
    assert all(x[i] == x[j] for i, j in partners(case))


def at_the_kink(function: str, where: str) -> tuple[Any, ...]:
    """The arguments at the kink of a row of the table."""
    upper = "upper" in where
    points: dict[str, tuple[Any, ...]] = {
        "clip": (1.0 if upper else 0.0,),
        "hardtanh": (1.0,),
        "max": ([1.0, 1.0, 0.0],),
        "min": ([1.0, 1.0, 2.0],),
        "sort": ([1.0, 1.0, 2.0],),
        "median": ([1.0, 1.0, 1.0],),
        "norm": ([0.0, 0.0],),
        **dict.fromkeys(("maximum", "minimum", "fmax", "fmin"), (1.0, 1.0)),
        "hypot": (0.0, 0.0),
    }
    return points.get(function, (0.0,))


def in_jax(function: str) -> Any:
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    special = {
        "relu": jax.nn.relu,
        "leaky_relu": jax.nn.leaky_relu,
        "hardtanh": jax.nn.hard_tanh,
        "clip": lambda x: jnp.clip(x, 0.0, 1.0),
        "sort": lambda x: jnp.sort(x)[0],
        "norm": jnp.linalg.norm,
        "where": lambda x: jnp.where(x > 0, x, 0.0),
    }
    call = special.get(function) or getattr(jnp, function)
    return lambda xs: np.asarray(jax.grad(call)(*map(jnp.asarray, xs))).ravel()[0]


def in_torch(function: str) -> Any:
    torch = pytest.importorskip("torch")
    special = {
        "leaky_relu": torch.nn.functional.leaky_relu,
        "hardtanh": torch.nn.functional.hardtanh,
        "clip": lambda x: torch.clamp(x, 0.0, 1.0),
        "sort": lambda x: torch.sort(x).values[0],
        "norm": torch.linalg.norm,
        "where": lambda x: torch.where(x > 0, x, 0.0 * x),
    }
    call = special.get(function) or getattr(torch, function)

    def slope(xs: Any) -> float:
        tensors = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in xs]
        return float(torch.autograd.grad(call(*tensors), tensors)[0].ravel()[0])

    return slope


def in_autograd(function: str) -> Any:
    autograd = pytest.importorskip("autograd")
    anp = pytest.importorskip("autograd.numpy")
    special = {
        "clip": lambda x: anp.clip(x, 0.0, 1.0),
        "sort": lambda x: anp.sort(x)[0],
        "norm": anp.linalg.norm,
        "where": lambda x: anp.where(x > 0, x, 0.0),
    }
    call = special.get(function) or getattr(anp, function)
    return lambda xs: np.asarray(autograd.grad(call)(*[np.asarray(x, dtype=float) for x in xs])).ravel()[0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("framework", ["JAX", "PyTorch", "autograd"])
def test_the_table_of_conventions_is_what_the_frameworks_do(framework: str) -> None:
    ask = {"JAX": in_jax, "PyTorch": in_torch, "autograd": in_autograd}[framework]
    rows = [row for row in TABLE if framework in row.takes]
    assert rows
    for row in rows:
        found, told = float(ask(row.function)(at_the_kink(row.function, row.where))), row.takes[framework]
        assert shown(found) == shown(told), f"{framework} {row.function}"


def test_what_others_take_is_a_clause_and_nothing_of_the_unknown() -> None:
    assert others("jax.numpy.maximum", 0.5) == "maximum of two equal numbers: JAX, PyTorch and autograd take 0.5; none differs"
    assert others("relu", 1.0).endswith("JAX and PyTorch differ from it")
    assert others("my_function") == ""


def test_arguments_that_are_not_differentiated_have_no_directions() -> None:
    case = Case((np.array([1.0, 1.0]), 2.0), 1.0, fixed=frozenset({1}))
    assert len(leaves(case.arguments, case.fixed)) == 1
    assert all(len(way.vector) == 2 for way in directions(case))


@pytest.mark.parametrize("objects", [True, False])
def test_of_a_sort_of_three_ties_a_reference_with_long_steps_accuses_no_one(objects: bool) -> None:
    made = trial(*RIGHT["sort, stable"][:2], ([2.0, 2.0, 2.0],))
    made.references = references_for(forward=np.sort, objects=objects)
    assert not [v for v in kinks(made) if isinstance(v, Refuted) and v.kind != "convention"]


def root(x: Any) -> Any:
    return np.sqrt(np.sum(x * x))


def test_the_norm_at_zero_is_a_ball_of_slopes_and_nan_is_a_fault() -> None:
    rules = {
        "right": lambda x, y, d: (d * x / y if y > 0 else np.full(x.shape, 0.5) * d,),
        "NaN": lambda x, y, d: (d * x / y,),
        "long": lambda x, y, d: (d * x / y if y > 0 else np.ones(x.shape) * d,),
    }
    kinds = {}
    for name, rule in rules.items():
        made = trial(root, rule, ([0.0, 0.0],))
        made.references = references_for(forward=root)
        kinds[name] = {v.kind for v in kinks(made) if isinstance(v, Refuted)}
    assert kinds == {"right": {"convention"}, "NaN": {"fault"}, "long": {"fault"}}


def test_an_infinite_slope_is_recorded() -> None:
    made = Trial("sqrt", ("x",), np.sqrt, lambda xs, y, d: (d / (2 * y),), references_for(forward=np.sqrt))
    made.cases = tuple(c for c in [made.case((np.array([0.0, 1.0]),), "edge")] if c is not None)
    (convention,) = kinks(made)
    assert isinstance(convention, Refuted)
    assert convention.kind == "convention"
    assert "JAX, PyTorch and autograd take inf" in convention.counterexample.cause


def test_the_tip_of_a_cone_is_wider_than_what_draws_see_of_it() -> None:
    """Singular values of the zero matrix: each rank-one u vᵀ is a subgradient, and few directions come near it."""

    def values(a: np.ndarray) -> np.ndarray:
        return np.linalg.svd(a, compute_uv=False)

    def rule(xs: tuple[np.ndarray], y: np.ndarray, d: np.ndarray) -> tuple[np.ndarray]:
        u, _, v = np.linalg.svd(xs[0], full_matrices=False)
        return ((u * d) @ v,)

    for factor, kinds_found in ((1.0, {"convention"}), (2.0, {"fault"})):
        made = trial(values, lambda *xs: tuple(factor * g for g in rule(xs[:1], *xs[1:])), ([[0.0, 0.0], [0.0, 0.0]],))  # noqa: B023
        made.references = references_for(forward=values)
        assert {v.kind for v in kinks(made) if isinstance(v, Refuted)} == kinds_found


def saddle(x: np.ndarray) -> np.ndarray:
    """A cone that is neither convex nor concave: along (1, 1, -1, -1) its one-sided derivatives at 0 are 0."""
    return np.sqrt(np.sum(x[:2] ** 2)) - np.sqrt(np.sum(x[2:] ** 2))


ACROSS = np.array([1.0, 1.0, -1.0, -1.0])


def corner(x: np.ndarray, y: np.ndarray, d: np.ndarray) -> tuple[np.ndarray]:
    """Of the Clarke Jacobian at 0, the element that is farthest along ACROSS."""
    return (d * ACROSS * np.sqrt(0.5),)


def at_the_tip() -> tuple[Trial, Any]:
    made = trial(saddle, corner, ([0.0, 0.0, 0.0, 0.0],))
    made.references = references_for(forward=saddle)
    return made, made.cases[0]


@pytest.mark.parametrize("claimed", [2.82842712, 2.9, 40.0])
def test_beyond_an_inner_approximation_nothing_is_decided(claimed: float) -> None:
    made, case = at_the_tip()
    assert isinstance(outside(made, case, np.ones(1), ACROSS, claimed, claimed), Undecided)


def test_along_an_axis_the_one_sided_derivatives_decide() -> None:
    made, case = at_the_tip()
    axis = np.array([1.0, 0.0, 0.0, 0.0])
    assert outside(made, case, np.ones(1), axis, 1.0, 1.0) is None
    assert isinstance(outside(made, case, np.ones(1), axis, 1.5, 1.5), tuple)


def test_what_is_not_decided_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    made, _ = at_the_tip()
    monkeypatch.setattr("checkers.array_audit.kinks.directions", lambda case, seed=0: [Direction(ACROSS, "across")])
    (unknown,) = [v for v in kinks(made) if isinstance(v, Unknown)]
    assert unknown.reason.startswith("at x[0] = 0, x[1] = 0, x[2] = 0, x[3] = 0, across, 2.82843 is outside")
    assert not any(isinstance(v, Refuted) and v.kind == "fault" for v in kinks(made))
