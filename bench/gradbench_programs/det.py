"""det: a determinant by expansion along the first row, minor by minor, in n! products."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjudge as aj
from bench.gradbench_programs.function import Function, Input, array, whole
from semantics.errors import Malformed


def determinant(a, n: int):  # type: ignore[no-untyped-def]
    """Σⱼ (-1)ʲ a₀ⱼ det(a without row 0 and column j). `used` has a binary digit for each column that is left out."""

    def minor(row, used):  # type: ignore[no-untyped-def]
        return 1.0 if row == n * n else expansion(row, used, 0, 1, 1.0)

    def expansion(row, used, column, digit, sign):  # type: ignore[no-untyped-def]
        if column == n:
            return 0.0
        if used // digit % 2 == 1:
            return expansion(row, used, column + 1, 2 * digit, sign)
        here = sign * a[row + column] * minor(row + n, used + digit)
        return here + expansion(row, used, column + 1, 2 * digit, -sign)

    return minor(0, 0)


def _read(given: Input) -> tuple[Any, int]:
    n = whole(given, "ell", 1)
    if n > 20:
        raise Malformed(f"an expansion by minors of {n} rows has {n}! products", remedy="at most 20 rows")
    return array(given, "A", n * n), n


FUNCTIONS = {"primal": Function(determinant, _read), "gradient": Function(aj.grad(determinant), _read)}


def sample(size: int) -> dict[str, Any]:
    """A random matrix."""
    return {"A": np.random.default_rng(size).random(size * size).tolist(), "ell": size}
