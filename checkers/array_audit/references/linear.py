"""
Linear algebra on arrays of numbers, which NumPy hands to LAPACK and so does for doubles only: inv, solve, det, slogdet, cholesky.

Elimination by rows; which row is the pivot changes no value, so the one is taken whose pivot is largest for certain. As LAPACK
does, Cholesky reads the lower triangle alone. Stacks of matrices are taken one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from checkers.array_audit.references.number import Number
from semantics.errors import IllTyped, Trap


def eliminated(matrix: Any, right: Any, numbers: type[Number]) -> tuple[Number, Any]:
    """The determinant, and x with matrix·x = right. Trap if no pivot is certainly different from 0."""
    a, b = matrix.copy(), right.copy()
    n = len(a)
    determinant: Any = numbers.of(1)
    for k in range(n):
        sizes = [a[i, k].magnitude() for i in range(k, n)]
        pivot = k + int(np.argmax(sizes)) if sizes else k
        if sizes[pivot - k] == 0:
            raise Trap("the matrix is singular, or not certainly regular", rule="numbers")
        if pivot != k:
            a[[k, pivot]], b[[k, pivot]] = a[[pivot, k]], b[[pivot, k]]
            determinant = -determinant
        determinant = determinant * a[k, k]
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            a[i, k:], b[i] = a[i, k:] - factor * a[k, k:], b[i] - factor * b[k]
    for k in reversed(range(n)):
        for j in range(k + 1, n):
            b[k] = b[k] - a[k, j] * b[j]
        b[k] = b[k] / a[k, k]
    return determinant, b


def _lifted(array: Any, numbers: type[Number]) -> Any:
    """A plain array of objects, each a number of the carrier."""
    array = np.asarray(array).view(np.ndarray)
    return np.frompyfunc(numbers.lifted, 1, 1)(array.astype(object)) if array.size else array.astype(object)


def _square(array: Any) -> Any:
    if array.ndim < 2 or array.shape[-1] != array.shape[-2]:
        raise IllTyped(f"a square matrix is wanted, not an array of shape {array.shape}", rule="numbers")
    return array


def _each(array: Any, compute: Callable[[Any], Any], shape: tuple[int, ...]) -> Any:
    """The result of `compute` for each matrix of a stack, each of that shape."""
    found = np.empty((*array.shape[:-2], *shape), dtype=object)
    for place in np.ndindex(array.shape[:-2]):
        found[place] = compute(array[place])
    return found if found.ndim else found[()]


def _eye(n: int, numbers: type[Number]) -> Any:
    return _lifted(np.eye(n), numbers)


def inverse(numbers: type[Number], a: Any) -> Any:
    a = _square(_lifted(a, numbers))
    n = a.shape[-1]
    return _each(a, lambda m: eliminated(m, _eye(n, numbers), numbers)[1], (n, n))


def solve(numbers: type[Number], a: Any, b: Any) -> Any:
    a, b = _square(_lifted(a, numbers)), _lifted(b, numbers)
    columns = b[:, None] if b.ndim == 1 else b
    stack = np.broadcast_shapes(a.shape[:-2], columns.shape[:-2])
    a, columns = np.broadcast_to(a, (*stack, *a.shape[-2:])), np.broadcast_to(columns, (*stack, *columns.shape[-2:]))
    found = np.empty(columns.shape, dtype=object)
    for place in np.ndindex(stack):
        found[place] = eliminated(a[place], columns[place], numbers)[1]
    return found[..., 0] if b.ndim == 1 else found


def determinant(numbers: type[Number], a: Any) -> Any:
    a = _square(_lifted(a, numbers))
    return _each(a, lambda m: eliminated(m, m[:, :0], numbers)[0], ())


def log_determinant(numbers: type[Number], a: Any) -> Any:
    """Its sign, and the logarithm of its size."""
    found = np.asarray(determinant(numbers, a), dtype=object)
    return np.frompyfunc(lambda d: d.sign(), 1, 1)(found), np.frompyfunc(lambda d: abs(d).log(), 1, 1)(found)


def cholesky(numbers: type[Number], a: Any, *, upper: bool = False) -> Any:
    """The lower factor, of the lower triangle; the upper one, of the upper triangle, if that is asked for."""
    a = _square(_lifted(a, numbers))
    a = np.swapaxes(a, -1, -2) if upper else a
    n = a.shape[-1]

    def factor(m: Any) -> Any:
        found = _lifted(np.zeros((n, n)), numbers)
        for i in range(n):
            for j in range(i + 1):
                rest = m[i, j]
                for k in range(j):
                    rest = rest - found[i, k] * found[j, k]
                found[i, j] = rest.sqrt() if i == j else rest / found[j, j]
        return found

    lower = _each(a, factor, (n, n))
    return np.swapaxes(lower, -1, -2) if upper else lower


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.linalg.inv: inverse,
    np.linalg.solve: solve,
    np.linalg.det: determinant,
    np.linalg.slogdet: log_determinant,
    np.linalg.cholesky: cholesky,
}
