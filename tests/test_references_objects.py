"""Users' functions on arrays of numbers: what NumPy can do there, what is refused, and that nothing is rounded on the way."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import ctx
from hypothesis import event, given
from hypothesis import strategies as st

import adjudge as aj
from checkers.array_audit.case import Case, unit
from checkers.array_audit.references import DigitQuotients, ExactJets, Richardson, ball_objects
from checkers.array_audit.references.ball import Ball
from checkers.array_audit.references.digits import Digits
from checkers.array_audit.references.jet import Jet
from checkers.array_audit.references.number import fueled
from checkers.array_audit.references.objects import arrays_of, run, wrapped
from checkers.array_audit.references.rebound import rebound
from checkers.columns.undecided import Undecided
from semantics.errors import IllTyped, OutOfFuel

A = np.array([[0.5, -1.25, 2.0], [3.0, 0.75, -0.375]])
V = np.array([0.5, -1.25, 2.0])
S = np.array([[2.0, 0.5, 0.25], [0.5, 3.0, -0.5], [0.25, -0.5, 1.5]])


def softmax(x, axis=-1):
    x = np.asarray(x, dtype=float)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def filled(x):
    out = np.zeros((2, 3))
    out[0] = x
    out[1, 0] = helper(x[1])
    return out


def helper(v):
    return math.exp(v) * math.atan2(v, 2.0)


def scalars(x):
    return float(math.hypot(x[0], x[1]) + sum(math.log(v * v, 2) for v in x))


RATIONAL = {
    "matmul": (lambda a, b: a @ b, A, A.T),
    "einsum": (lambda a, b: np.einsum("ij,kj->ik", a, b), A, A),
    "dot": (np.dot, A, V),
    "tensordot": (lambda a: np.tensordot(a, a, axes=1), S),
    "outer": (np.outer, V, V),
    "ufunc outer": (np.multiply.outer, V, V),
    "variance": (lambda x: np.var(x, axis=0), A),
    "mean": (lambda x: x.mean(axis=1, keepdims=True), A),
    "average": (lambda x: np.average(x, weights=[1.0, 2.0, 3.0], axis=1), A),
    "sum over axes": (lambda x: x.sum(axis=(0, 1)), A),
    "cumprod": (np.cumprod, V),
    "cumsum reversed": (lambda x: np.cumsum(x[::-1])[::-1], V),
    "prod": (lambda x: np.prod(x, axis=1), A),
    "sort": (np.sort, A),
    "median": (np.median, A),
    "max": (lambda x: np.max(x, axis=1), A),
    "running min": (np.minimum.accumulate, V),
    "argmax": (lambda x: x[np.argmax(x)], V),
    "spread": (np.ptp, A),
    "clip": (lambda x: np.clip(x, -0.5, 1.0), A),
    "where": (lambda x: np.where(x > 0, x, 0.1 * x), A),
    "masked": (lambda x: x[x > 0], A),
    "abs": (np.abs, A),
    "trace": (np.trace, S),
    "triangle": (np.tril, A),
    "diagonal": (np.diag, V),
    "concatenate": (lambda x: np.concatenate([x, 2 * x]), A),
    "stack": (lambda x: np.stack([x, x * x], axis=1), A),
    "array": (lambda x: np.array([x, 2 * x, np.ones(3)]), V),
    "pad": (lambda x: np.pad(x, 1), A),
    "kron": (np.kron, A, A),
    "cross": (lambda x: np.cross(x[0], x[1]), A),
    "convolve": (lambda x: np.convolve(x, [1.0, 2.0]), V),
    "diff": (np.diff, A),
    "gradient": (np.gradient, V),
    "roll": (lambda x: np.roll(np.flip(x), 1), A),
    "take": (lambda x: np.take(x, [0, 0, -1], axis=1), A),
    "vectorize": (np.vectorize(lambda t: t * t), A),
    "broadcast": (lambda x: np.broadcast_to(x, (2, 2, 3)) * 1, A),
    "inverse": (np.linalg.inv, S),
    "solve": (lambda a: np.linalg.solve(a, np.ones(3)), S),
    "determinant": (lambda a: float(np.linalg.det(a)), S),
    "stack of matrices": (lambda a: np.linalg.inv(np.stack([a, 2 * a])), S),
    "rows swapped": (lambda a: np.linalg.det(a[[1, 0, 2]]), S - np.diag(np.diag(S))),
    "remainders": (lambda x: np.fmod(x, 0.7) + np.remainder(x, 0.7), A),
    "rational": (lambda x: x**3 / (1 + x**2), A),
    "single inside": (lambda x: x.astype(float) * 2, A),
    "no axes": (lambda x: x * x, np.array(1.5)),
    "empty": (lambda x: np.sum(x, axis=0), np.zeros((0, 2))),
    "Fortran order": (lambda x: x * 2, np.asfortranarray(A)),
}
IRRATIONAL = {
    "softmax": (softmax, A),
    "logsumexp": (lambda x: np.log(np.sum(np.exp(x), axis=0)), A),
    "norm": (np.linalg.norm, A),
    "norms": (lambda x: np.linalg.norm(x, axis=1), A),
    "deviation": (lambda x: x.std(ddof=1), A),
    "logaddexp": (np.logaddexp, A, V),
    "hypot": (lambda x: np.hypot(x, 1.0), A),
    "power": (lambda x: np.power(np.abs(x), 1.5), A),
    "arctan2": (np.arctan2, A, V),
    "sinc": (np.sinc, A),
    "assigned": (filled, V),
    "math": (scalars, V),
    "log determinant": (lambda a: np.linalg.slogdet(a)[1], S),
    "cholesky": (np.linalg.cholesky, S),
}
FUNCTIONS = {**RATIONAL, **IRRATIONAL}


def case_of(function, *arguments):
    return Case(arguments, function(*arguments))


def meet(a, b) -> bool:
    """Whether two bounds overlap wherever both are known."""
    known = a.known & b.known
    return bool((np.maximum(a.lo - b.hi, b.lo - a.hi)[known] <= 0).all())


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_numpy_runs_on_numbers_and_the_references_meet(name):
    function, *arguments = FUNCTIONS[name]
    case = case_of(function, *arguments)
    for k in {0, case.size // 2, case.size - 1} if case.size else ():
        direction = unit(case.size, k)
        balls = ball_objects(function).sides(case, direction).value
        assert balls.known.all()
        digits = DigitQuotients(function).sides(case, direction).value
        doubles = Richardson(function).sides(case, direction).value
        assert meet(balls, digits)
        assert meet(balls, doubles)
        assert digits.known.all()
        exact = ExactJets(function).sides(case, direction)
        assert (exact is not None) == (name in RATIONAL)
        if exact is not None:
            assert exact.value.known.all()
            assert meet(exact.value, balls)


REFUSED = {
    "transform": lambda x: np.fft.rfft(x).real,
    "interpolation": lambda x: np.interp(x, [0.0, 1.0], [0.0, 1.0]),
    "integer": lambda x: x.astype(int) * 1.0,
    "format": lambda x: x * len(f"{x[0]:.3f}"),
    "buffer": lambda x: np.frombuffer(x.tobytes())[:3] * 1.0,
    "only some": lambda x: np.add(x, 1.0, out=np.copy(x), where=np.array([True, False, True])),
    "index": lambda x: np.arange(3.0)[round(x[0])] * x,
}


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_only_doubles_can_do_is_refused_and_never_rounded(name):
    case = case_of(REFUSED[name], V)
    for reference in (ball_objects(REFUSED[name]), DigitQuotients(REFUSED[name]), ExactJets(REFUSED[name])):
        assert reference.sides(case, unit(3, 0)) is None
        assert reference.attempts.why


# numbers


@given(st.floats(-5, 5), st.floats(-5, 5))
def test_a_ball_holds_what_doubles_round(x, y):
    ours, theirs = Ball.of(x).logaddexp(Ball.of(y)), np.logaddexp(x, y)
    assert abs(float(ours.value.mid()) - theirs) <= 4 * math.ulp(theirs) + 4 * math.ulp(1.0)
    assert Ball.of(x).value == x
    largest = Ball.of(x).maximum(Ball.of(y)).value
    assert largest.contains(Ball.of(max(x, y)).value)


@given(st.integers(-9, 9), st.integers(-9, 9), st.integers(1, 9))
def test_jets_are_power_series(a, b, c):
    """(a + bε)/(c + ε) and its product with c + ε, coefficient by coefficient."""
    x, y = Jet.moving(float(a), float(b)), Jet.moving(float(c), 1.0)
    q = x / y
    first = Fraction(b * c - a, c * c)
    assert [Fraction(int(v.p), int(v.q)) for v in q.value] == [Fraction(a, c), first, -first / c]
    assert (q * y).value == x.value
    assert ((x + y) ** 2).value == (x * x + 2 * x * y + y * y).value


@given(st.floats(-2, 2))
def test_jets_are_ordered_by_what_comes_just_after(x):
    here, after = Jet.of(x), Jet.moving(x, 1.0)
    assert here < after
    assert not after <= here
    event(f"whole: {x == int(x)}")
    assert Jet.moving(x, -1.0).floor().value[0] == math.ceil(x) - 1


def test_a_comparison_that_is_not_decided_is_said_to_be():
    third = Ball.of(1) / 3
    with pytest.raises(Undecided):
        bool(third * 3 > 1)
    with pytest.raises(Undecided):
        bool(Jet.moving(0.0, 1.0) ** 3 > 0)
    assert (Digits.of(1) / 3 * 3 > 1) in (True, False)


@pytest.mark.parametrize("convert", [float, int, complex, math.exp, np.float64, lambda x: np.zeros(2)[x], lambda x: f"{x:.2f}"])
def test_a_number_is_never_rounded_to_a_double(convert):
    with pytest.raises((IllTyped, TypeError, IndexError)):
        convert(Ball.of(0.5))


def test_infinities_are_exact_in_logaddexp():
    low = Ball.of(-math.inf)
    assert low.logaddexp(Ball.of(2.0)).value == 2
    assert low.logaddexp(low).value == low.value
    assert Ball.of(math.inf).logaddexp(Ball.of(2.0)).value == Ball.of(math.inf).value


def test_an_infinite_coordinate_does_not_hide_the_others():
    x, y = np.array([-math.inf, 1.0]), np.array([0.5, -math.inf])
    found = ball_objects(np.logaddexp).sides(case_of(np.logaddexp, x, y), unit(4, 1)).value
    assert found.distance(np.array([0.0, 1.0])).max() == 0


def test_a_function_that_writes_into_its_arguments_leaves_the_case_alone():
    def doubled(x):
        x *= 2
        x[0] += np.sin(x[1])
        return x

    case = Case((V,), doubled(V.copy()))
    found = ball_objects(doubled).sides(case, unit(3, 1)).value
    assert found.distance(np.array([2 * math.cos(2 * V[1]), 2.0, 0.0])).max() <= math.ulp(2.0)
    assert case.arguments[0].tolist() == [0.5, -1.25, 2.0]


def test_fuel_bounds_what_an_evaluation_costs():
    def endless(x):
        while x[0] < 1e300:
            x = x + 1e-300
        return x

    with fueled(1000), pytest.raises(OutOfFuel, match="more arithmetic"):
        run(Ball, endless, case_of(lambda x: x, V), [Ball.of(0.0)] * 3)

    def iterated(x):
        for _ in range(40):
            x = x * x - 1
        return x

    case = case_of(iterated, np.array([0.75]))
    reference = ExactJets(iterated)
    assert reference.sides(case, unit(1, 0)) is None
    assert "too long" in reference.attempts.why


def test_constants_that_a_function_makes_are_computed_with_its_numbers():
    def function(x):
        return np.log(np.full_like(x, 2.0)) * x

    with_numbers = run(Digits, function, case_of(function, V), [Digits.of(v) for v in V])
    assert abs(with_numbers[0].value / 0.5 - Digits.of(2).log().value) < 1e-55


# functions made again


def test_a_function_made_again_is_the_same_on_doubles_and_leaves_the_users_alone():
    again = rebound(Ball, filled)
    assert (again(V) == filled(V)).all()
    assert again is not filled
    assert filled.__globals__["np"] is np
    assert rebound(Ball, np.exp) is np.exp


def test_floats_are_still_floats_in_a_function_made_again():
    def function(x):
        assert isinstance(1.0, float)
        assert np.zeros(2, dtype=int).dtype == int
        assert np.zeros(2, dtype=bool).dtype == bool
        return np.sum(x, dtype=float) + x.sum(dtype=np.float64) * float("0.5")

    case = case_of(function, V)
    assert ExactJets(function).sides(case, unit(3, 1)).value.distance(np.array([1.5])).max() == 0


def test_arrays_of_numbers_stay_what_they_are():
    row = np.empty(2, dtype=object)
    row[:] = [Ball.of(1.0), Ball.of(2.0)]
    row = wrapped(Ball, row)
    kind = arrays_of(Ball)
    assert kind is arrays_of(Ball)
    for value in (
        row + 1.0,
        np.exp(row),
        2.0 * row[::-1],
        np.stack([row, row]),
        row.reshape(2, 1).T,
        np.zeros_like(row),
        row.astype(float),
    ):
        assert type(value) is kind
    assert (row > 1.0).tolist() == [False, True]
    assert (row > 1.0).dtype == bool
    assert type(np.sum(row)) is Ball
    assert type(np.float64(2.0) * row[0]) is Ball
    assert ctx.prec < 600


# scalars


def outside_our_language(x):
    return {0: np.expm1(x)}[0]


def test_a_scalar_black_box_that_runs_on_balls_is_judged_by_them():
    exact = aj.check_vjp(outside_our_language, lambda xs, y, dy: (dy * np.exp(xs[0]),), [(0.5,), (-2.0,)])
    exact.raise_for_faults()
    assert "differences in ball arithmetic on arrays of objects" in str(exact)
    lossy = aj.check_vjp(outside_our_language, lambda xs, y, dy: (dy * (y + 1),), [(0.5,), (-2.0,)])
    assert {f.kind for f in lossy.findings} == {"accuracy"}
    wrong = aj.check_vjp(outside_our_language, lambda xs, y, dy: (dy * np.exp(xs[0]) * (1 + 1e-9),), [(0.5,), (-2.0,)])
    assert "fault" in {f.kind for f in wrong.findings}


def test_a_scalar_black_box_that_runs_on_doubles_only_is_judged_by_them():
    def stored(x):
        return np.fft.rfft([x, 0.0])[0].real

    report = aj.check_vjp(stored, lambda xs, y, dy: (dy,), [(0.5,), (-2.0,)])
    report.raise_for_faults()
    assert "Richardson" in str(report)


def test_numbers_made_outside_of_an_evaluation_cost_the_next_ones_nothing():
    one = Jet.of(1.0)
    for _ in range(200_001):
        one = one + Jet.of(0.0)
    case = Case((V,), V * V)
    assert ExactJets(lambda x: x * x).sides(case, unit(3, 0)) is not None
