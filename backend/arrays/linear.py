"""
Linear algebra on the last two axes, as the meaning has it: elimination column by column, the pivot the first element of largest
magnitude. A singular matrix, or one that is not positive definite, is left to the virtual machine, with its error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backend.arrays.attributes import as_operand, size_text
from backend.arrays.creation import eye
from backend.arrays.elementwise import instantiate
from backend.arrays.values import ONE, Held, Sizes, aligned, row_major, uncompiled
from backend.lowering.shape import Items, Reg, literal
from backend.status import SIZES
from semantics.type_language import BOOLEAN, INTEGER, REAL

SOURCES = {
    "_eliminate": """
def _eliminate(a, p, m, rows):
    n = m.shape[0]
    odd = False
    for i in range(n):
        rows[i] = i
        for j in range(n):
            m[i, j] = a[p, i, j]
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(float(m[best, k])) < abs(float(m[i, k])):
                best = i
        if float(m[best, k]) == 0.0:
            return odd, False
        if best != k:
            odd = not odd
            row = int(rows[k])
            rows[k] = rows[best]
            rows[best] = row
            for j in range(n):
                t = float(m[k, j])
                m[k, j] = m[best, j]
                m[best, j] = t
        for i in range(k + 1, n):
            factor = _div(float(m[i, k]), float(m[k, k]))
            m[i, k] = factor
            for j in range(k + 1, n):
                m[i, j] = float(m[i, j]) - _mul(factor, float(m[k, j]))
    return odd, True
""",
    "_solve": """
def _solve(m, rows, b, q, x, p):
    n = m.shape[0]
    for j in range(b.shape[2]):
        for i in range(n):
            t = float(b[q, int(rows[i]), j])
            for k in range(i):
                t = t - _mul(float(m[i, k]), float(x[p, k, j]))
            x[p, i, j] = t
        for i in range(n - 1, -1, -1):
            t = float(x[p, i, j])
            for k in range(i + 1, n):
                t = t - _mul(float(m[i, k]), float(x[p, k, j]))
            x[p, i, j] = _div(t, float(m[i, i]))
""",
    "_determinant": """
def _determinant(m, odd):
    t = 1.0
    for i in range(m.shape[0]):
        t = _mul(t, float(m[i, i]))
    return 0.0 - t if odd else t
""",
    "_logarithm": """
def _logarithm(m, odd):
    t = 0.0
    for i in range(m.shape[0]):
        p = float(m[i, i])
        odd = odd != (p < 0.0)
        t = t + _log(abs(p))
    return (-1.0 if odd else 1.0), t
""",
    "_cholesky": """
def _cholesky(a, p, x):
    n = a.shape[1]
    for j in range(n):
        for i in range(j):
            x[p, i, j] = 0.0
        t = float(a[p, j, j])
        for k in range(j):
            t = t - _mul(float(x[p, j, k]), float(x[p, j, k]))
        if t <= 0.0:
            return False
        x[p, j, j] = _sqrt(t)
        for i in range(j + 1, n):
            t = float(a[p, i, j])
            for k in range(j):
                t = t - _mul(float(x[p, i, k]), float(x[p, j, k]))
            x[p, i, j] = _div(t, float(x[p, j, j]))
    return True
""",
}


def _matrices(emit: Any, a: Any) -> tuple[Held, Sizes, str]:
    """A stack of square matrices in memory, its sizes made one; the sizes; and the side."""
    a = _numbers(emit, a)
    if len(a.sizes) < 2:
        raise uncompiled("linear algebra of other than matrices")
    n = emit.equal(a.sizes[-1], a.sizes[-2])
    return _stacked(emit, a), a.sizes[:-2], n


def _numbers(emit: Any, a: Any) -> Any:
    """The array of f64 that an operand is; an element that is ZERO counts as 0."""
    a = as_operand(emit, a)
    if a.dtype != "f64":
        raise uncompiled("linear algebra of other than matrices of f64")
    return instantiate(emit, a, a)


def _stacked(emit: Any, a: Any) -> Held:
    """Matrices in memory, numbered along one axis."""
    array: Held = emit.contiguous(emit.reshaped(a, (size_text(emit, a.sizes[:-2]), *a.sizes[-2:])))
    return array


def _number(indices: Sizes, sizes: Sizes) -> str:
    """The number in a stack of the matrix that broadcasting repeats at indices."""
    return row_major(aligned(indices, sizes), sizes)


class Factors:
    """Room for the factors of one matrix, and their computation."""

    def __init__(self, emit: Any, n: str) -> None:
        emit.helpers.add("_eliminate")
        self.emit, self.both, self.rows = emit, emit.new("f64", (n, n)), emit.new("i64", (n,))

    def of(self, stack: Held, number: str) -> str:
        """Eliminates; the variable that says whether the rows are an odd permutation."""
        odd, regular = self.emit.variable(BOOLEAN), self.emit.variable(BOOLEAN)
        self.emit.line(f"({odd}, {regular}) = _eliminate({stack.name}, {number}, {self.both.name}, {self.rows.name})")
        self.emit.trap(f"not {regular}", SIZES)
        return str(odd)


def solve(emit: Any, a: Any, b: Any) -> Any:
    """np.linalg.solve(a, b)"""
    left, stack, n = _matrices(emit, a)
    b = _numbers(emit, b)
    if len(b.sizes) == 1:
        found = solve(emit, a, emit.reshaped(b, (b.sizes[0], ONE)))
        return emit.reshaped(found, found.sizes[:-1])
    emit.equal(n, b.sizes[-2])
    right, whole = _stacked(emit, b), emit.common(stack, b.sizes[:-2])
    emit.helpers.add("_solve")
    factors, x = Factors(emit, n), emit.new("f64", (size_text(emit, whole), *b.sizes[-2:]))
    with emit.over(whole, None) as at:
        factors.of(left, _number(at, stack))
        given = f"{right.name}, {_number(at, b.sizes[:-2])}, {x.name}, {row_major(at, whole)}"
        emit.line(f"_solve({factors.both.name}, {factors.rows.name}, {given})")
    return emit.reshaped(x, (*whole, *b.sizes[-2:]))


def inv(emit: Any, a: Any) -> Any:
    """np.linalg.inv(a): the solution for the unit matrix."""
    a = emit.held(as_operand(emit, a))
    side = Reg(a.sizes[-1], INTEGER)
    return solve(emit, a, eye(emit, side, side, literal(0)))


def det(emit: Any, a: Any) -> Any:
    """np.linalg.det(a)"""
    (found,) = _each(emit, a, "_determinant", 1)
    return found


def slogdet(emit: Any, a: Any) -> Any:
    """np.linalg.slogdet(a): the sign and the logarithm of the magnitude."""
    return Items(_each(emit, a, "_logarithm", 2))


def _each(emit: Any, a: Any, helper: str, count: int) -> tuple[Any, ...]:
    """Numbers for each matrix, from its factors."""
    left, stack, n = _matrices(emit, a)
    emit.helpers.add(helper)
    factors = Factors(emit, n)
    results = [emit.new("f64", stack or (ONE,)) for _ in range(count)]
    numbers = [emit.variable(REAL) for _ in range(count)]
    with emit.over(stack, None) as at:
        odd = factors.of(left, row_major(at, stack))
        emit.line(f"{', '.join(numbers)} = {helper}({factors.both.name}, {odd})")
        for array, number in zip(results, numbers, strict=True):
            emit.write(array, at or ("0",), Reg(number, REAL))
    return tuple(results) if stack else tuple(emit.number_at(array, ("0",)) for array in results)


def cholesky(emit: Any, a: Any) -> Any:
    """np.linalg.cholesky(a)"""
    left, stack, n = _matrices(emit, a)
    emit.helpers.add("_cholesky")
    x, positive = emit.new("f64", (left.sizes[0], n, n)), emit.variable(BOOLEAN)
    with emit.over(stack, None) as at:
        emit.line(f"{positive} = _cholesky({left.name}, {row_major(at, stack)}, {x.name})")
        emit.trap(f"not {positive}", SIZES)
    return emit.reshaped(x, (*stack, n, n))


CELLS: dict[str, Callable[..., Any]] = {"solve": solve, "inv": inv, "det": det, "slogdet": slogdet, "cholesky": cholesky}
