"""
Linear algebra: exact on fractions, within rigorous bounds of NumPy on reals, and what is refused.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from adjudge.values import to_value
from checkers.ball_differences import precision
from checkers.columns.ball import BALLS, balls
from checkers.forward_mode import lifted
from semantics.arrays import Array
from semantics.denotation import FRACTIONS, denote
from semantics.errors import Trap
from semantics.machine import run
from semantics.values import same
from transforms.parse import parse_text

U = Fraction(1, 2**53)
Rows = list[list[Fraction]]


def program(text: str, count: int = 1) -> Any:
    return parse_text(f"import numpy as np\n\ndef f({', '.join('ab'[:count])}):\n    return {text}\n", "f")


def call(text: str, *arguments: Any) -> Any:
    """The value of an expression of a, b, on the machine."""
    return run(program(text, len(arguments)), *map(to_value, arguments))


def exactly(text: str, *arguments: Any) -> Any:
    """Its value on fractions."""
    return denote(program(text, len(arguments)), [lifted(FRACTIONS, to_value(a)) for a in arguments], FRACTIONS)


def rows(value: Array) -> Rows:
    """A matrix, or a vector as a column, as rows of fractions."""
    m = value.shape[1] if len(value.shape) > 1 else 1
    return [[Fraction(x) for x in value.items[i : i + m]] for i in range(0, len(value.items), m)] if m else []


def product(a: Rows, b: Rows) -> Rows:
    return [[sum((x * y for x, y in zip(row, column, strict=True)), Fraction(0)) for column in zip(*b, strict=True)] for row in a]


def well(n: int, seed: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng([seed, n]).standard_normal((n, n))


# exact


matrices = st.integers(1, 4).flatmap(
    lambda n: st.lists(st.lists(st.integers(-4, 4).map(float), min_size=n, max_size=n), min_size=n, max_size=n)
)


def leibniz(m: Rows) -> Fraction:
    """The determinant as the sum over permutations."""
    total = Fraction(0)
    for p in itertools.permutations(range(len(m))):
        odd = sum(p[i] > p[j] for i in range(len(p)) for j in range(i + 1, len(p))) % 2
        term = Fraction(-1 if odd else 1)
        for i, j in enumerate(p):
            term *= m[i][j]
        total += term
    return total


@given(matrices)
def test_on_fractions_det_is_leibnizs_and_inv_is_the_inverse(matrix: list[list[float]]) -> None:
    a = np.array(matrix)
    exact = [[Fraction(x) for x in row] for row in matrix]
    found = exactly("np.linalg.det(a)", a)
    assert found == leibniz(exact)
    if found == 0:
        with pytest.raises(Trap, match="singular"):
            exactly("np.linalg.inv(a)", a)
        return
    inverse = rows(exactly("np.linalg.inv(a)", a))
    unit = [[Fraction(i == j) for j in range(len(exact))] for i in range(len(exact))]
    assert product(exact, inverse) == unit
    assert product(inverse, exact) == unit
    side = a[:, :1] + 1.0
    assert product(exact, rows(exactly("np.linalg.solve(a, b)", a, side))) == [[Fraction(x) for x in row] for row in side.tolist()]


@given(matrices, st.integers(0, 5))
def test_on_fractions_the_determinant_is_multiplicative(matrix: list[list[float]], seed: int) -> None:
    n = len(matrix)
    a, b = np.array(matrix), np.random.default_rng([seed, n]).integers(-3, 4, (n, n)).astype(float)
    assert exactly("np.linalg.det(a @ b)", a, b) == exactly("np.linalg.det(a) * np.linalg.det(b)", a, b)


def test_on_balls_the_cholesky_factor_gives_the_matrix_back() -> None:
    a = to_value(well(3, 1) @ well(3, 1).T + np.eye(3))
    symmetric = a.with_items(a.items[max(i, j) * 3 + min(i, j)] for i in range(3) for j in range(3))
    found = denote(program("np.linalg.cholesky(a) @ np.linalg.cholesky(a).T"), [lifted(BALLS, symmetric)], BALLS)
    assert all(x.contains(BALLS.lift(y)) and x.rad() < 2.0**-300 for x, y in zip(found.items, symmetric.items, strict=True))
    lower = denote(program("np.linalg.cholesky(a)"), [lifted(BALLS, symmetric)], BALLS)
    assert all(lower.items[i * 3 + j] == 0 for i in range(3) for j in range(i + 1, 3))


# rounded


def growth(a: Rows) -> Fraction:
    """
    A bound on the elements of |L||U| of elimination with partial pivoting: |lᵢⱼ| ≤ 1, |uᵢⱼ| ≤ 2^(n-1) max|a| (Higham 2002, 9.3).

    Rounding makes each factor larger by 1 + 3u at most per step; twice the exact bound covers n ≤ 6 steps.
    """
    n = len(a)
    return 2 * n * 2 ** (n - 1) * max(abs(x) for row in a for x in row)


def residual_bound(a: Rows, x: Rows) -> Fraction:
    """|b - A·x| ≤ γ_3n |L||U||x| for Gaussian elimination (Higham 2002, theorem 9.4), here by its largest element per column."""
    n = len(a)
    return 3 * n * U / (1 - 3 * n * U) * growth(a) * max(sum(abs(row[j]) for row in x) for j in range(len(x[0])))


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("columns", [None, 1, 3])
def test_solve_is_that_of_numpy_within_the_residual_of_elimination(n: int, columns: int | None) -> None:
    a = well(n, 3)
    b = np.random.default_rng(n).standard_normal(n if columns is None else (n, columns))
    exact, side = rows(to_value(a)), rows(to_value(b))
    for value in (call("np.linalg.solve(a, b)", a, b), to_value(np.linalg.solve(a, b))):
        assert value.shape == b.shape
        x = rows(value)
        residual = [s - p for left, right in zip(side, product(exact, x), strict=True) for s, p in zip(left, right, strict=True)]
        assert max(map(abs, residual)) <= residual_bound(exact, x)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_inv_is_that_of_numpy_within_the_residual_of_elimination(n: int) -> None:
    a = well(n, 5)
    exact = rows(to_value(a))
    for value in (call("np.linalg.inv(a)", a), to_value(np.linalg.inv(a))):
        x = rows(value)
        residual = [p - (i == j) for i, row in enumerate(product(exact, x)) for j, p in enumerate(row)]
        assert max(map(abs, residual)) <= residual_bound(exact, x)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_det_is_within_the_backward_error_of_elimination(n: int) -> None:
    """
    The computed product of pivots is det(A + E)(1 + δ), |E| ≤ γ_n |L||U| ≤ ε, |δ| ≤ γ_n (Higham 2002, theorem 9.3); det is linear
    in each row, so it moves by at most n! ((max|a| + ε)^n - max|a|^n).

    NumPy answers exp(Σ log|uᵢ|). No pivot is above M = 2^(n-1) max|a|, nor, as their product is |det|, below |det| / M^(n-1): so
    |log|uᵢ|| ≤ Λ, the larger of their logarithms. Logarithms are right to an ulp, n additions to u·nΛ each: the exponent errs by
    at most (2n + n²) u Λ, the result by twice that (e^x - 1 ≤ 2x for x ≤ 1) and by an ulp of exp.
    """
    a = well(n, 7)
    exact = rows(to_value(a))
    wanted, most, unit = leibniz(exact), max(abs(x) for row in exact for x in row), n * U / (1 - n * U)
    moved = math.factorial(n) * ((most + unit * growth(exact)) ** n - most**n)
    size = abs(wanted) + moved
    assert abs(Fraction(call("np.linalg.det(a)", a)) - wanted) <= moved + unit * size
    largest = 2 ** (n - 1) * most
    smallest = (abs(wanted) - moved) / largest ** (n - 1)
    magnitude = Fraction(1 + max(abs(math.log(largest)), abs(math.log(smallest))))
    assert abs(Fraction(float(np.linalg.det(a))) - wanted) <= moved + (2 * (2 * n + n * n) * magnitude + 2) * U * size


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_slogdet_is_the_sign_and_logarithm_of_det(n: int) -> None:
    """On balls, exp(logabsdet) times the sign encloses det."""
    for seed in range(4):
        a = to_value(well(n, seed))
        point = [lifted(BALLS, a)]
        sign, logarithm = denote(program("np.linalg.slogdet(a)"), point, BALLS)
        determinant = denote(program("np.linalg.det(a)"), point, BALLS)
        assert (sign * logarithm.exp()).overlaps(determinant)
        assert float(sign.mid()) == np.linalg.slogdet(well(n, seed))[0]
        assert sign == call("np.linalg.slogdet(a)", well(n, seed))[0]


@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("text", ["np.linalg.cholesky(a)", "np.linalg.slogdet(a)[1]"])
def test_cholesky_and_slogdet_lie_with_numpys_in_one_enclosure(text: str, n: int) -> None:
    """
    Balls of 40 bits: every operation widens them by 2^-40 of its result, 2^13 times what a rounded one errs. The matrix is well
    conditioned and its elimination needs no exchanges, so NumPy's blocks differ by the order of at most n <= 4 terms.
    """
    a = well(n, 2) @ well(n, 2).T / 8 + 2.0 * np.eye(n)
    a = (a + a.T) / 2
    with precision(40):
        loose = denote(program(text), [lifted(balls(40), to_value(a))], balls(40))
    enclosures = loose.items if isinstance(loose, Array) else [loose]
    for value in (call(text, a), to_value(eval(text, {"np": np, "a": a}))):
        found = value.items if isinstance(value, Array) else [value]
        assert all(ball.contains(arb(x)) for ball, x in zip(enclosures, found, strict=True))


def test_singular_matrices() -> None:
    flat = np.array([[1.0, 2.0], [2.0, 4.0]])
    assert same(call("np.linalg.det(a)", flat), 0.0)
    assert same(call("np.linalg.slogdet(a)", flat), (0.0, -np.inf))
    assert same(call("np.linalg.det(a)", np.zeros((3, 3))), 0.0)
    for text in ("np.linalg.inv(a)", "np.linalg.solve(a, a)"):
        with pytest.raises(np.linalg.LinAlgError):
            eval(text, {"np": np, "a": flat})
        with pytest.raises(Trap, match="singular") as caught:
            call(text, flat)
        assert caught.value.remedy
    regular = np.array([[1.0, 2.0], [2.0, 3.0]])
    assert rows(call("np.linalg.inv(a)", regular)) == rows(to_value(np.linalg.inv(regular)))


def test_matrices_that_are_not_positive_definite_are_refused() -> None:
    for bad in ([[1.0, 2.0], [2.0, 4.0]], [[-1.0]], [[1.0, 0.0], [0.0, 0.0]]):
        with pytest.raises(np.linalg.LinAlgError):
            np.linalg.cholesky(np.array(bad))
        with pytest.raises(Trap, match="not positive definite"):
            call("np.linalg.cholesky(a)", np.array(bad))
    for good in (np.eye(2), np.array([[1.0, 0.0], [0.0, np.nan]])):
        assert same(call("np.linalg.cholesky(a)", good), to_value(np.linalg.cholesky(good)))


@pytest.mark.parametrize("name", ["inv", "det", "slogdet", "cholesky"])
@pytest.mark.parametrize("shape", [(2, 3), (3,), (), (2, 2, 3)])
def test_what_is_no_square_matrix_is_refused(name: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(np.linalg.LinAlgError):
        getattr(np.linalg, name)(np.ones(shape))
    with pytest.raises(Trap, match="no square matrix"):
        call(f"np.linalg.{name}(a)", np.ones(shape))


@pytest.mark.parametrize(("a", "b"), [((2, 2), (3,)), ((2, 2), (3, 1)), ((2, 3), (2,)), ((2, 2), ()), ((2, 2, 2), (3, 2, 1))])
def test_solve_refuses_what_does_not_match(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    with pytest.raises((ValueError, np.linalg.LinAlgError)):
        np.linalg.solve(np.ones(a) + np.eye(*a[-2:]), np.ones(b))
    with pytest.raises(Trap):
        call("np.linalg.solve(a, b)", np.ones(a) + np.eye(*a[-2:]), np.ones(b))


SHAPES = ((2, 2), (3, 2, 2), (2, 1, 1, 1), (0, 0), (0, 2, 2), (3, 0, 0))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("text", ["np.linalg.inv(a)", "np.linalg.det(a)", "np.linalg.slogdet(a)", "np.linalg.cholesky(a)"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.bool_])
def test_shapes_and_dtypes_are_those_of_numpy(text: str, shape: tuple[int, ...], dtype: Any) -> None:
    a = (np.ones(shape) * np.eye(shape[-1])).astype(dtype)
    found, wanted = call(text, a), to_value(tuple(r) if isinstance(r := eval(text, {"np": np, "a": a}), tuple) else r)
    assert same(found, wanted)


SOLVED = (
    *(((2, 2), (2,)), ((2, 2), (2, 3)), ((3, 2, 2), (2,)), ((3, 2, 2), (2, 1)), ((2, 2), (3, 2, 1)), ((2, 1, 2, 2), (3, 2, 1))),
    ((0, 0), (0,)),
)


@pytest.mark.parametrize(("a", "b"), SOLVED, ids=str)
def test_stacks_are_solved_as_in_numpy(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    """By a triangular matrix of powers of two, where nothing is rounded."""
    left = np.broadcast_to(np.array([[2.0, 1.0], [0.0, 4.0]])[: a[-1], : a[-1]], a).copy()
    right = np.arange(float(np.prod(b))).reshape(b)
    assert same(call("np.linalg.solve(a, b)", left, right), to_value(np.linalg.solve(left, right)))
