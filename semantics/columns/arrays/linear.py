"""
Linear algebra on the last two axes: solve, inv, det, slogdet, cholesky. Leading axes are stacks of matrices.

Elimination goes column by column; the pivot is the first element of largest magnitude at or below the diagonal. Over fractions the
results are exact. Integers and booleans are read as f64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from semantics.arrays import FLOATING, Array, Shape, broadcast_positions, broadcast_shapes, of_rank_zero, promoted, size_of
from semantics.columns.arrays.elements import Elements, absorbs, as_array
from semantics.errors import Trap
from semantics.tangents import ZERO

Matrix = list[list[Any]]


class Field:
    """Arithmetic of one dtype over the elements of a column: every operation is rounded as the dtype says."""

    def __init__(self, e: Elements, dtype: str) -> None:
        self.e, self.dtype, self.zero, self.one = e, dtype, e.number(0, dtype), e.number(1, dtype)

    def mul(self, x: Any, y: Any) -> Any:
        return self.e.rounded(self.e.mul(x, y), self.dtype)

    def div(self, x: Any, y: Any) -> Any:
        return self.e.rounded(self.e.div(x, y), self.dtype)

    def sub(self, x: Any, y: Any) -> Any:
        return self.e.rounded(self.e.sub(x, y), self.dtype)

    def add(self, x: Any, y: Any) -> Any:
        return self.e.rounded(self.e.add(x, y), self.dtype)

    def less(self, x: Any, y: Any) -> bool:
        """Whether x < y, decided."""
        return bool(self.e.truth(self.e.lt(x, y)))

    def larger(self, x: Any, y: Any) -> bool:
        """Whether |x| > |y|, decided."""
        return self.less(self.e.abs(y), self.e.abs(x))

    def vanishes(self, x: Any) -> bool:
        """Whether x is 0, decided."""
        return bool(self.e.truth(self.e.eq(x, self.zero)))

    def minus(self, x: Any, products: Iterable[tuple[Any, Any]]) -> Any:
        """x less the products, one after the other."""
        for a, b in products:
            x = self.sub(x, self.mul(a, b))
        return x


def _floating(dtype: str) -> str:
    return dtype if dtype in FLOATING else "f64"


def _numbers(e: Elements, array: Array, dtype: str, name: str) -> Array:
    """The array in a floating dtype; an element that is ZERO counts as 0."""
    items = tuple(e.number(0, dtype) if x is ZERO else e.coerce(x, dtype, name) for x in array.items)
    return Array(dtype, array.shape, items)


def _square(e: Elements, name: str, a: Any) -> Array:
    """The stack of square matrices that `a` is; Trap if it is none."""
    array = as_array(name, a)
    if len(array.shape) < 2 or array.shape[-1] != array.shape[-2]:
        raise Trap(
            f"{name}: an array of shape {array.shape} is no square matrix", rule=name, remedy="a square matrix, or a stack of them"
        )
    return _numbers(e, array, _floating(array.dtype), name)


def _matrices(array: Array) -> list[Matrix]:
    """The matrices of a stack, in order."""
    n, m = array.shape[-2:]
    flat = array.items
    return (
        [[list(flat[p + i * m : p + (i + 1) * m]) for i in range(n)] for p in range(0, len(flat), n * m)] if flat else _empty(array)
    )


def _empty(array: Array) -> list[Matrix]:
    return [[[] for _ in range(array.shape[-2])] for _ in range(size_of(array.shape[:-2]))]


def _flat(matrices: Iterable[Matrix]) -> tuple[Any, ...]:
    return tuple(x for matrix in matrices for row in matrix for x in row)


class Factors(NamedTuple):
    """
    P·A = L·U, both in `lower_upper`: L below the diagonal, U above and on it.

    rows       row i of P·A is row rows[i] of A
    odd        whether P is an odd permutation
    pivots     the diagonal of U as far as it is not 0
    remainder  what is left to eliminate where a whole column has no pivot; None if all have
    """

    lower_upper: Matrix
    rows: list[int]
    odd: bool
    pivots: list[Any]
    remainder: Matrix | None


def eliminate(f: Field, matrix: Matrix) -> Factors:
    """Gaussian elimination with partial pivoting, up to a column without a pivot."""
    n = len(matrix)
    m = [list(row) for row in matrix]
    rows, odd = list(range(n)), False
    pivots: list[Any] = []
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if f.larger(m[i][k], m[best][k]):
                best = i
        if f.vanishes(m[best][k]):
            return Factors(m, rows, odd, pivots, [row[k:] for row in m[k:]])
        if best != k:
            m[k], m[best], rows[k], rows[best], odd = m[best], m[k], rows[best], rows[k], not odd
        pivots.append(m[k][k])
        for i in range(k + 1, n):
            factor = f.div(m[i][k], m[k][k])
            m[i] = [*m[i][:k], factor, *(f.minus(x, [(factor, y)]) for x, y in zip(m[i][k + 1 :], m[k][k + 1 :], strict=True))]
    return Factors(m, rows, odd, pivots, None)


def _regular(f: Field, name: str, matrix: Matrix) -> Factors:
    """The factors; Trap if the matrix is singular."""
    found = eliminate(f, matrix)
    if found.remainder is not None:
        raise Trap(f"{name}: the matrix is singular", rule=name, remedy="test np.linalg.det first, or regularise")
    return found


def _substitute(f: Field, factors: Factors, b: list[Any]) -> list[Any]:
    """x with A·x = b: forward through L, backward through U."""
    m, n = factors.lower_upper, len(b)
    y: list[Any] = []
    for i in range(n):
        y.append(f.minus(b[factors.rows[i]], zip(m[i][:i], y, strict=True)))
    x: list[Any] = [None] * n
    for i in reversed(range(n)):
        x[i] = f.div(f.minus(y[i], zip(m[i][i + 1 :], x[i + 1 :], strict=True)), m[i][i])
    return x


def _solution(f: Field, factors: Factors, b: Matrix, columns: int) -> Matrix:
    found = [_substitute(f, factors, [row[j] for row in b]) for j in range(columns)]
    return [[column[i] for column in found] for i in range(len(b))]


def solve(e: Elements, a: Any, b: Any) -> Array:
    """np.linalg.solve(a, b): x with a @ x = b; b is a vector if it has one axis, else a stack of matrices."""
    left, right = _square(e, "solve", a), as_array("solve", b)
    dtype = _floating(promoted((left.dtype, right.dtype), "solve"))
    left, right = _numbers(e, left, dtype, "solve"), _numbers(e, right, dtype, "solve")
    vector = len(right.shape) == 1
    if vector:
        right = Array(dtype, (*right.shape, 1), right.items)
    if len(right.shape) < 2 or right.shape[-2] != left.shape[-1]:
        shown = f"{left.shape} and {as_array('solve', b).shape}"
        raise Trap(f"solve: the shapes {shown} do not match", rule="solve", remedy="as many rows on the right as on the left")
    stacked, m = broadcast_shapes((left.shape[:-2], right.shape[:-2]), "solve"), right.shape[-1]
    f = Field(e, dtype)
    needed = broadcast_positions(left.shape[:-2], stacked)
    matrices, sides = _matrices(left), _matrices(right)
    factors = {p: _regular(f, "solve", matrices[p]) for p in dict.fromkeys(needed)}
    places = zip(needed, broadcast_positions(right.shape[:-2], stacked), strict=True)
    items = _flat(_solution(f, factors[p], sides[q], m) for p, q in places)
    n = left.shape[-1]
    return Array(dtype, (*stacked, n) if vector else (*stacked, n, m), items)


def inv(e: Elements, a: Any) -> Array:
    """np.linalg.inv(a): the solution for the unit matrix."""
    array = _square(e, "inv", a)
    f, n = Field(e, array.dtype), array.shape[-1]
    unit = [[f.one if i == j else f.zero for j in range(n)] for i in range(n)]
    return array.with_items(_flat(_solution(f, _regular(f, "inv", m), unit, n) for m in _matrices(array)))


def _determinant(f: Field, matrix: Matrix) -> Any:
    """
    The product of the pivots from the left, negated for an odd permutation.

    Where a column has no pivot, the remainder's determinant is added up without division: it is 0, but its derivatives need not be.
    """
    found = eliminate(f, matrix)
    factors = [*found.pivots, *([] if found.remainder is None else [_without_division(f, found.remainder)])]
    result = factors[0] if factors else f.one
    for x in factors[1:]:
        result = f.mul(result, x)
    result = f.sub(f.zero, result) if found.odd else result
    return result if found.remainder is None else f.add(f.zero, result)


def _without_division(f: Field, a: Matrix) -> Any:
    """The determinant by sums and products alone (Bird 2011): X ← μ(X)·A, n - 1 times from A, then ±X[0][0]."""
    n, x = len(a), a
    for _ in range(n - 1):
        below, tails = f.zero, [f.zero] * n
        for i in reversed(range(n)):
            tails[i] = f.sub(f.zero, below)
            below = f.add(below, x[i][i])
        upper = [[tails[i] if i == j else x[i][j] if j > i else None for j in range(n)] for i in range(n)]
        x = [[_upper_product(f, upper[i], a, i, j) for j in range(n)] for i in range(n)]
    return x[0][0] if n % 2 else f.sub(f.zero, x[0][0])


def _upper_product(f: Field, row: list[Any], a: Matrix, i: int, j: int) -> Any:
    total = f.mul(row[i], a[i][j])
    for k in range(i + 1, len(row)):
        total = f.add(total, f.mul(row[k], a[k][j]))
    return total


def _each(dtype: str, shape: Shape, items: Iterable[Any]) -> Any:
    return of_rank_zero(Array(dtype, shape, tuple(items)))


def det(e: Elements, a: Any) -> Any:
    """np.linalg.det(a); exactly 0 where a column has no pivot."""
    array = _square(e, "det", a)
    f = Field(e, array.dtype)
    return _each(array.dtype, array.shape[:-2], (_determinant(f, m) for m in _matrices(array)))


def slogdet(e: Elements, a: Any) -> tuple[Any, Any]:
    """np.linalg.slogdet(a): the sign of the determinant and the logarithm of its magnitude; (0, -inf) of a singular matrix."""
    array = _square(e, "slogdet", a)
    f = Field(e, array.dtype)
    found = [_sign_and_logarithm(f, m) for m in _matrices(array)]
    shape = array.shape[:-2]
    return _each(array.dtype, shape, (s for s, _ in found)), _each(array.dtype, shape, (x for _, x in found))


def _sign_and_logarithm(f: Field, matrix: Matrix) -> tuple[Any, Any]:
    found = eliminate(f, matrix)
    if found.remainder is not None:
        return f.zero, f.e.log(f.zero)
    odd, total = found.odd, f.zero
    for p in found.pivots:
        odd = odd != f.less(p, f.zero)
        total = f.add(total, f.e.rounded(f.e.log(f.e.abs(p)), f.dtype))
    return f.e.number(-1 if odd else 1, f.dtype), total


def cholesky(e: Elements, a: Any) -> Array:
    """
    np.linalg.cholesky(a): the lower triangular L with L·Lᵀ = a. Only the lower triangle of a is read.

    Trap if a is not positive definite; a NaN is passed on, as in NumPy.
    """
    array = _square(e, "cholesky", a)
    f = Field(e, array.dtype)
    return array.with_items(_flat(_lower(f, m) for m in _matrices(array)))


def _lower(f: Field, a: Matrix) -> Matrix:
    n = len(a)
    found: Matrix = [[f.zero] * n for _ in range(n)]
    for j in range(n):
        square = f.minus(a[j][j], zip(found[j][:j], found[j][:j], strict=True))
        if f.e.truth(f.e.le(square, f.zero)):
            raise Trap("cholesky: the matrix is not positive definite", rule="cholesky", remedy="add a multiple of the unit matrix")
        found[j][j] = f.e.rounded(f.e.sqrt(square), f.dtype)
        for i in range(j + 1, n):
            found[i][j] = f.div(f.minus(a[i][j], zip(found[i][:j], found[j][:j], strict=True)), found[j][j])
    return found


CELLS: dict[str, Callable[..., Any]] = {cell.__name__: absorbs(cell) for cell in (solve, inv, det, slogdet, cholesky)}
