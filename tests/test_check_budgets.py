"""No cost of the judge grows faster than its subject: many arguments, many entries, large samples; and what is left out is said."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjudge as aj
from checkers.array_audit import build
from checkers.array_audit.pool import MOST
from checkers.inputs import edge_points
from checkers.primitive_audit import NAMES, check
from checkers.primitive_audit.build import of_row
from checkers.primitive_audit.orders import MANY, entries
from checkers.primitive_audit.vacuity import FEW, zeroed


@given(st.integers(1, 200), st.integers(1, 120))
def test_edge_points_are_as_many_as_are_asked_for_whatever_the_arity(arity: int, most: int) -> None:
    """Combinations of n arguments are 3^n: they must not be listed before they are counted."""
    points = edge_points(arity, (0.25,), most=most)
    assert 0 < len(points) <= most
    assert {len(p) for p in points} == {arity}


@given(st.integers(1, 300), st.integers(0, 5))
def test_the_entries_of_a_hessian_that_are_judged_are_bounded_and_in_both_orders(arity: int, seed: int) -> None:
    chosen = entries(arity, seed)
    assert len(chosen) == arity**2 if arity**2 <= MANY else 8 <= len(chosen) <= MANY + 8
    assert all((j, i) in chosen for i, j in chosen)
    assert chosen == sorted(set(chosen))


@aj.primitive
def sum_of_twelve(a, b, c, d, e, f, g, h, i, j, k, m):
    return a * a + b * b + c * c + d * d + e * e + f * f + g * g + h * h + i * i + j * j + k * k + m * m


@sum_of_twelve.backpropagator
def _(a, b, c, d, e, f, g, h, i, j, k, m, out, z):
    return (
        *(2.0 * a * z, 2.0 * b * z, 2.0 * c * z, 2.0 * d * z, 2.0 * e * z, 2.0 * f * z),
        *(2.0 * g * z, 2.0 * h * z, 2.0 * i * z, 2.0 * j * z, 2.0 * k * z, 2.0 * m * z),
    )


def test_of_many_arguments_there_are_fewer_points_and_the_report_says_what_was_left_out() -> None:
    few, many = (of_row(p.row, seed=0, examples=200) for p in (square, sum_of_twelve))
    assert len(many.points) < len(few.points)
    assert len(zeroed(many)) <= FEW < many.arity
    report = check(sum_of_twelve, examples=60, skip=[n for n in NAMES if n not in ("second order", "vacuity")])
    said = {v.claim: v.what for v in report.verdicts if v.claim in ("second order", "vacuity")}
    assert "of 144 entries" in said["second order"]
    assert "the cotangents of 6 arguments were not zeroed" in said["vacuity"]
    assert report.exit_code == 0
    assert len(report.plots) == 8


@aj.primitive
def square(x):
    return x * x


@square.backpropagator
def _(x, out, dout):
    return (2.0 * x * dout,)


@pytest.mark.parametrize("arguments", [MOST, MOST + 2])
def test_a_function_of_many_arrays_has_cases_with_elements(arguments: int) -> None:
    parameters = [f"x{k}" for k in range(arguments)]
    samples = [tuple(np.full(2, 1.0 + k) for k in range(arguments))]
    trial = build.of_functions(lambda *xs: sum(xs), lambda xs, y, d: (d,) * len(xs), samples, examples=12)
    assert any(case.size for case in trial.cases)
    signature = " ".join(["f64[n]"] * arguments)
    row = aj.primitive(
        eval(f"lambda {', '.join(parameters)}: {' + '.join(parameters)}"), name="many", signature=f"{signature} -> f64[n]"
    )
    row.backpropagator(eval(f"lambda {', '.join(parameters)}, out, dout: (dout,) * {arguments}"))
    assert any(case.size for case in build.of_row(row.row, examples=12).cases)


def test_a_matrix_is_judged_where_it_is_singular_of_the_highest_rank() -> None:
    """A determinant's derivative by the inverse times the value is 0 there, and the cofactors are not."""
    square_matrix = np.array([[2.0, -1.0, 0.5], [0.25, 3.0, 1.0], [-0.5, 0.75, 1.5]])
    trial = build.of_functions(np.linalg.det, lambda a, y, d: (d * y * np.linalg.pinv(a).T,), [(square_matrix,)])
    (case,) = (c for c in trial.cases if c.note.startswith("a row of a twice"))
    assert np.linalg.matrix_rank(case.arguments[0]) == 2
