"""Slices that are empty in some turns, as x[i + 1:] in the last: their sums are 0.0 in generated code, as elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from code_claims import LENGTHS, gradient, has_code, written

import backend
from adjudge.values import to_value
from semantics.errors import Trap
from semantics.type_language import ArrayType

MATRIX, VECTOR = ArrayType("f64", (None, None)), ArrayType("f64", (None,))
TYPES = (MATRIX, VECTOR)
SUMS = {
    "a sum": "s = s + np.sum(a[i, i + 1:] * b[i + 1:])",
    "a product of vectors": "s = s + a[i, i + 1:] @ b[i + 1:] * b[i]",
    "a product with a matrix": "s = s + np.sum(a[i:, :i] @ a[:i, i:]) + np.sum(a[i + 1:, :i] @ b[:i])",
    "sums along axes": "s = s + np.sum(np.sum(a[i:, :i], axis=1) * b[i:]) + np.sum(a[:i] * b[0], axis=0)[0]",
    "an outer product": "s = s + np.sum(np.outer(a[i, :i], b[i:]) * 2.0)",
    "products, means, norms": "s = s + np.prod(b[i + 1:]) + np.mean(b[i:]) + np.sqrt(np.sum(a[i, :i] ** 2) + 1.0)",
    "booleans": "s = s + (1.0 if np.any(b[:i] > 0.0) else 0.5) + (b[i] if np.all(b[i + 1:] > -9.0) else 0.0)",
    "integers": "s = s * 0.5 + float(np.sum(np.arange(n)[i + 1:])) + b[i]",
}
ELIMINATED = (
    "n = len(b)\na = a.copy()\nb = b.copy()\nfor i in range(n):\n for k in range(i + 1, n):\n  f = a[k, i] / a[i, i]\n"
    "  a[k, i:] = a[k, i:] - f * a[i, i:]\n  b[k] = b[k] - f * b[i]\nx = np.zeros(n)\nfor i in range(n - 1, -1, -1):\n"
    " x[i] = (b[i] - np.sum(a[i, i + 1:] * x[i + 1:])) / a[i, i]\nreturn np.sum(x * x)"
)
SOLVED = {
    "elimination by rows": ELIMINATED,
    "elimination, by products of vectors": ELIMINATED.replace("np.sum(a[i, i + 1:] * x[i + 1:])", "a[i, i + 1:] @ x[i + 1:]"),
    "triangles in one matrix": (
        "n = len(b)\na = a.copy()\nfor i in range(n):\n a[i + 1:, i] = a[i + 1:, i] / a[i, i]\n"
        " a[i + 1:, i + 1:] = a[i + 1:, i + 1:] - np.outer(a[i + 1:, i], a[i, i + 1:])\nreturn np.sum(a * a)"
    ),
    "Cholesky's rows": (
        "n = len(b)\na = a @ a.T + np.eye(n)\nl = np.zeros((n, n))\nfor i in range(n):\n for j in range(i + 1):\n"
        "  s = np.sum(l[i, :j] * l[j, :j])\n"
        "  l[i, j] = math.sqrt(a[i, i] - s) if i == j else (a[i, j] - s) / l[j, j]\nreturn np.sum(l)"
    ),
    "Cholesky's columns": (
        "n = len(b)\na = a @ a.T + np.eye(n)\nl = np.zeros((n, n))\nfor j in range(n):\n"
        " d = math.sqrt(a[j, j] - np.sum(l[j, :j] ** 2))\n l[j, j] = d\n"
        " l[j + 1:, j] = (a[j + 1:, j] - l[j + 1:, :j] @ l[j, :j]) / d\nreturn np.sum(l * l)"
    ),
    "rows that take the next one's place": "a = a.copy()\nfor i in range(len(a) - 1): a[i] = a[i + 1] * b[i]\nreturn np.sum(a * a)",
    "rows that change places": (
        "a = a.copy()\nfor i in range(len(a) - 1): a[i], a[i + 1] = a[i + 1], a[i]\nreturn np.sum(a[0] * a[-1] * b)"
    ),
}


def sample(n: int) -> tuple[Any, ...]:
    """A matrix that can be eliminated without a choice of rows, and a vector with signed zeros."""
    grid = np.cos(1.7 * np.arange(n * n) + 0.3).reshape(n, n)
    return grid + 3.0 * np.eye(n), np.where(np.arange(n) % 3 == 1, -0.0, np.sin(0.9 * np.arange(n) + 0.2))


SAMPLES = [sample(n) for n in LENGTHS]


def summed(name: str) -> str:
    return f"n = len(b)\ns = 0.0\nfor i in range(n): {SUMS[name]}\nreturn s"


PROGRAMS = {**{name: summed(name) for name in SUMS}, **SOLVED}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("derived", [False, True], ids=["value", "gradient"])
def test_slices_that_may_be_empty_have_code_that_takes_them(name: str, derived: bool) -> None:
    subject = written(PROGRAMS[name], "a, b")
    has_code(gradient(subject, TYPES) if derived else subject, TYPES, SAMPLES)


@pytest.mark.parametrize("name", ["elimination by rows", "Cholesky's columns", "an outer product"])
def test_so_it_is_where_numba_compiles_it(name: str) -> None:
    subject = written(PROGRAMS[name], "a, b")
    has_code(subject, TYPES, SAMPLES[1:], "cpu")
    has_code(gradient(subject, TYPES), TYPES, SAMPLES[1:], "cpu")


@pytest.mark.parametrize("row", ["max", "min"])
def test_near_miss_the_greatest_of_nothing_is_the_reference_s_error(row: str) -> None:
    subject = written(f"s = 0.0\nfor i in range(len(b)): s = s + np.{row}(b[i + 1:])\nreturn s + a[0, 0]", "a, b")
    has_code(subject, TYPES, SAMPLES)
    with pytest.raises(Trap):
        backend.compile(subject, TYPES, "python")(*map(to_value, sample(3)))


def test_near_miss_a_sum_of_all_asks_first_whether_there_is_something() -> None:
    """So it begins with -0.0, whatever the sizes: what has no elements at all is the machine's."""
    whole, part = (written(f"return np.sum(b{cut} * 2.0) + a[0, 0]", "a, b") for cut in ("", "[len(a) - 1:]"))
    assert "else -0.0" not in backend.lowered(whole, TYPES).source
    assert "else -0.0" in backend.lowered(part, TYPES).source


def test_near_miss_a_slice_of_a_size_that_is_known_is_not_asked() -> None:
    subject = written("s = 0.0\nfor i in range(2): s = s + np.sum(a[i, i:i + len(b)] * np.ones(3))\nreturn s", "a, b")
    assert "else -0.0" not in backend.lowered(subject, TYPES).source
