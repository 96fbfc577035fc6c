"""Large arrays: right rules pass at every size, sparse bugs that no small array shows are found with their entry and their size."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.array_audit import large as module
from checkers.array_audit.case import unit
from checkers.array_audit.large import Base, bases, judged, large
from checkers.array_audit.probes import Probing, Quotients
from checkers.array_audit.scaling import filled, shapes_at
from checkers.array_audit.shapes import groups
from checkers.array_audit.trial import SINGLE, Trial
from checkers.verdict import OutOfScope, Passed, Refuted

SOURCE = np.random.default_rng(3)
X, SQUARE = SOURCE.uniform(0.5, 2, 5) * [1, -1, 1, -1, 1], SOURCE.uniform(-2, 2, (3, 3))
MEDIUM = (256, 1024, 72_000)


def trial(forward: Callable[..., Any], rule: Callable[..., Any], *arguments: Any, fixed: Any = frozenset(), **more: Any) -> Trial:
    """A trial of rule(x…, y, dy) on one sample."""
    parameters = tuple("xyzw"[: len(arguments)])
    pull = lambda xs, y, d: rule(*xs, y, d)  # noqa: E731
    made = Trial("f", parameters, forward, pull, (), fixed=fixed, forward_source=forward, pull_source=rule, **more)
    case = made.case(arguments)
    made.cases, made.examples = () if case is None else (case,), module.MANY
    return made


@pytest.fixture(autouse=True)
def medium(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes that the machine has time for while other tests run."""
    monkeypatch.setattr(module, "SIZES", MEDIUM)
    monkeypatch.setattr(module, "SEARCH", 0.5)
    monkeypatch.setattr(module, "PROBES", 3)


def softmax(x: Any) -> Any:
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


def softmax_rule(x: Any, y: Any, d: Any) -> Any:
    return (y * (d - np.sum(d * y)),)


def exponential_rule(x: Any, y: Any, d: Any) -> Any:
    return (d * y,)


RIGHT: dict[str, tuple[Any, ...]] = {
    "exp": (np.exp, exponential_rule, X),
    "softmax": (softmax, softmax_rule, X),
    "sum": (np.sum, lambda x, y, d: (d * np.ones_like(x),), X),
    "mean": (np.mean, lambda x, y, d: (d * np.ones_like(x) / x.size,), X),
    "var": (np.var, lambda x, y, d: (2 * d * (x - np.mean(x)) / x.size,), X),
    "cumsum": (np.cumsum, lambda x, y, d: (np.cumsum(d[::-1])[::-1],), X),
    "matmul": (lambda x, y: x @ y, lambda x, y, out, d: (d @ y.T, x.T @ d), SQUARE, SQUARE),
    "relu": (lambda x: np.maximum(x, 0), lambda x, y, d: (d * (x > 0),), X),
    "sort": (np.sort, lambda x, y, d: (d[np.argsort(np.argsort(x, kind="stable"))],), X),
    "rows times a vector": (lambda x, y: x * y, lambda x, y, out, d: (d * y, np.sum(d * x, axis=0)), SQUARE, X[:3]),
    "log": (np.log, lambda x, y, d: (d / x,), np.abs(X)),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_rules_pass_and_say_what_they_would_have_seen(name: str) -> None:
    forward, rule, *arguments = RIGHT[name]
    (verdict,) = large(trial(forward, rule, *arguments))
    assert isinstance(verdict, Passed), verdict
    assert "with probability 1 - 2^-20 they see an error of one entry of" in verdict.what


def test_a_million_elements_pass_one_by_one() -> None:
    made = trial(np.exp, exponential_rule, X)
    case = next(bases(made)).at(made, 1_000_000)
    assert case is not None
    outcome = judged(made, case, 2)
    assert outcome.bad is None
    assert (outcome.case.size, outcome.entries) == (1_000_000, 1_000_000)
    assert outcome.entry < 2.0**-30


def at_block_edge(x: Any, y: Any, d: Any) -> Any:
    g = d * y
    if g.size > 65536:
        g[65536] *= 1 + 1e-6
    return (g,)


def last_dropped(x: Any, y: Any, d: Any) -> Any:
    g = d * np.ones_like(x)
    if x.size > 70000:
        g[-1] = 0.0
    return (g,)


def block_without_carry(x: Any, y: Any, d: Any) -> Any:
    g = np.cumsum(d[::-1])[::-1]
    if x.size > 65536:
        g[:65536] = np.cumsum(d[:65536][::-1])[::-1]
    return (g,)


def sum_of_a_block(x: Any, y: Any, d: Any) -> Any:
    return (y * (d - np.sum((d * y)[:65536])),)


WRONG: dict[str, tuple[Any, Any, Any, int]] = {
    "a factor 1 + 1e-6 at the edge of a block": (np.exp, at_block_edge, X, 65537),
    "the last of many dropped": (np.sum, last_dropped, X, 70001),
    "a carry lost between blocks": (np.cumsum, block_without_carry, X, 65537),
    "a sum over the first block only": (softmax, sum_of_a_block, X, 65537),
}


@pytest.mark.parametrize("name", WRONG)
def test_sparse_bugs_are_found_with_their_entry(name: str) -> None:
    forward, rule, x, least = WRONG[name]
    (fault,) = large(trial(forward, rule, x))
    assert isinstance(fault, Refuted)
    assert (fault.kind, fault.claim) == ("fault", "large arrays")
    size = fault.counterexample.inputs["x"].size
    assert least <= size <= MEDIUM[-1]
    assert "d out" in fault.counterexample.cause


def test_the_script_makes_the_large_arrays_again_and_fails_alone(tmp_path: Path) -> None:
    (fault,) = large(trial(lambda x: x * x, lambda x, y, d: (d * 2 * x * (1 + 1e-3 * (np.arange(x.size) == 65536)),), X))
    assert isinstance(fault, Refuted)
    script = fault.counterexample.script
    (tmp_path / "fails.py").write_text(script)
    (tmp_path / "passes.py").write_text(script.replace("0.001", "0.0"))
    assert "0.001" in script
    codes = {}
    for name in ("fails.py", "passes.py"):
        done = subprocess.run([sys.executable, str(tmp_path / name)], capture_output=True, text=True, check=False)
        assert not done.stderr
        codes[name] = done.returncode
    assert codes == {"fails.py": 1, "passes.py": 0}


def sampled(rule: Callable[..., Any], size: int) -> Trial:
    """A trial of a rule of exp whose author gave a sample of so many elements, and a small one."""
    made = trial(np.exp, rule, X)
    made.samples = ((X,), (np.linspace(-1, 1, size),))
    return made


def test_a_large_sample_is_judged_at_its_size() -> None:
    (right,) = large(sampled(exponential_rule, 120_000))
    assert isinstance(right, Passed)
    assert "at 120000 elements" in right.what
    (wrong,) = large(sampled(lambda x, y, d: (d * y * (1 + 1e-3 * (np.arange(x.size) == 110_000)),), 120_000))
    assert isinstance(wrong, Refuted)
    assert "x[110000]" in wrong.counterexample.cause


def test_a_large_sample_whose_calls_take_too_long_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENT", 0.0)
    made = sampled(exponential_rule, 120_000)
    (verdict,) = large(made)
    assert isinstance(verdict, Passed)
    assert "120000" not in verdict.what
    assert [lost for lost in made.lost if "a sample of 120000 elements is not judged at its size" in lost]


def test_a_rule_that_raises_on_many_elements_is_told() -> None:
    def rule(x: Any, y: Any, d: Any) -> Any:
        if x.size > 1000:
            raise ValueError("too many")
        return (d * y,)

    (fault,) = large(trial(np.exp, rule, X))
    assert isinstance(fault, Refuted)
    assert "too many" in fault.counterexample.found


def test_nan_at_one_place_is_found_there() -> None:
    rule = lambda x, y, d: (np.where(np.arange(x.size) == 71_000, np.nan, d * y),)  # noqa: E731
    (fault,) = large(trial(np.exp, rule, X))
    assert isinstance(fault, Refuted)
    assert np.isnan(fault.counterexample.found)
    assert "x[71000]" in fault.counterexample.cause


def test_single_precision_is_judged_by_its_own_unit() -> None:
    x = X.astype(np.float32)
    (right,) = large(trial(np.exp, lambda x, y, d: (d * y,), x, unit=SINGLE))
    assert isinstance(right, Passed)
    (wrong,) = large(trial(np.exp, lambda x, y, d: (d * y * np.where(np.arange(x.size) == 70_000, 2, 1),), x, unit=SINGLE))
    assert isinstance(wrong, Refuted)


def test_a_function_of_numbers_alone_is_out_of_scope() -> None:
    (verdict,) = large(trial(lambda x: x * x, lambda x, y, d: (2 * x * d,), 1.5))
    assert isinstance(verdict, OutOfScope)


def test_a_function_that_takes_no_larger_arrays_says_so() -> None:
    def three(x: Any) -> Any:
        if x.size != 3:
            raise ValueError("three elements only")
        return np.sum(x)

    (verdict,) = large(trial(three, lambda x, y, d: (d * np.ones(3),), X[:3]))
    assert isinstance(verdict, OutOfScope)
    assert "larger" in verdict.why


def test_a_table_of_all_pairs_stops_before_it_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_OUTPUTS", 50_000)
    (verdict,) = large(trial(np.outer, lambda x, y, out, d: (d @ y, x @ d), X, X[:3]))
    assert isinstance(verdict, Passed)
    assert "more would" in verdict.what


@given(st.integers(1, 6), st.integers(1, 6), st.integers(40, 5000))
def test_shapes_grow_together_to_about_the_target(m: int, n: int, target: int) -> None:
    made = trial(lambda x, y: x @ y, lambda x, y, out, d: (d @ y.T, x.T @ d), np.ones((m, n)), np.ones((n, m)))
    (case,) = made.cases
    sizes = groups([case.arguments])
    shapes = shapes_at(case, sizes, target)
    if not sizes:
        return
    x, y = shapes.get((0,), (m, n)), shapes.get((1,), (n, m))
    assert (x[0], x[1]) == (y[1], y[0])
    assert np.prod(x) + np.prod(y) >= target
    assert Base(case, sizes).at(made, target) is not None


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.25, 3.0, -7.5]))
def test_drawn_elements_keep_the_sign_and_have_few_bits(seed: int, element: float) -> None:
    drawn = filled(np.array([element]), (50,), np.random.default_rng(seed), 30)
    assert np.all(np.sign(drawn) == np.sign(element))
    assert np.all(np.abs(drawn / element - 1) <= 1 / 16 + 2.0**-29)
    mantissa, _ = np.frexp(drawn)
    assert np.array_equal(np.ldexp(mantissa, 30), np.round(np.ldexp(mantissa, 30)))


@given(st.integers(0, 2**32 - 1), st.sampled_from([2.0**-4, 2.0**-7, 2.0**-10, 2.0**-18]))
def test_the_truth_lies_within_the_error_of_the_quotients(seed: int, step: float) -> None:
    source = np.random.default_rng(seed)
    for forward, slope in ((np.exp, np.exp), (np.tanh, lambda x: 1 / np.cosh(x) ** 2), (np.abs, np.sign), (np.cumsum, None)):
        x = source.uniform(-3, 3, 30)
        made = trial(forward, exponential_rule, x)
        probing = Probing(made, made.cases[0], np.random.default_rng(seed))
        v = probing.signs()
        found: Quotients = probing.along(v, step)
        truth = np.cumsum(v) if slope is None else slope(x) * v
        on = found.smooth
        # the truth is itself rounded: 8 units of the sum of its terms
        assert np.all(np.abs(found.value - truth)[on] <= found.error[on] + 2.0**-50 * np.sum(np.abs(v)))


def test_a_kink_at_the_very_point_is_not_taken_for_smooth() -> None:
    made = trial(np.abs, lambda x, y, d: (d * np.sign(x),), np.array([0.0, 1.0, -2.0]))
    probing = Probing(made, made.cases[0], np.random.default_rng(0))
    assert list(probing.along(unit(3, 0) + probing.scale, 2.0**-10).smooth) == [False, True, True]
