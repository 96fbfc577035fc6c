"""
Matrix products, each sum from the left, k ascending, as the meaning says.

The result is gone over in tiles, `_TALL` rows by `_WIDE` columns, and a vector in strips of `_LONG`; they may come in any order.
The CPU has the sums of a tile in registers (`backend.cpu.tiles`), and elsewhere a tile is one sum (`backend.cpu.plain_tiles`). Of a
matrix and a vector, eight sums go on side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backend.arrays.attributes import flat
from backend.arrays.values import ARRAYS, ONE, Held, Sizes, uncompiled
from backend.lowering.shape import Reg
from semantics.primitives.table import TABLE
from semantics.type_language import REAL


def matrix_matrix(name: str, tile: str, vector_matrix: str) -> str:
    """The helper for two matrices, by tiles; fewer rows than half a tile has, each by `vector_matrix`."""
    return f"""
def {name}(a, b, c):
    rows, columns = c.shape
    if 2 * rows < _TALL:
        for i in range(rows):
            {vector_matrix}(a[i], b, c[i])
    else:
        for m in _rows((rows + _TALL - 1) // _TALL):
            for n in _columns((columns + _WIDE - 1) // _WIDE):
                {tile}(a, b, c, m * _TALL, n * _WIDE)
"""


def vector_matrix(name: str, strip: str) -> str:
    """The helper for a vector and a matrix, by strips."""
    return f"""
def {name}(a, b, c):
    for n in _each((c.shape[0] + _LONG - 1) // _LONG):
        {strip}(a, b, c, n * _LONG)
"""


SOURCES = {
    "_matrix_matrix": matrix_matrix("_matrix_matrix", "_tile", "_vector_matrix"),
    "_vector_matrix": vector_matrix("_vector_matrix", "_strip"),
    "_matrix_vector": """
def _matrix_vector(a, b, c):
    rows, inner = a.shape
    eights = rows // 8
    for n in _each(eights):
        i = 8 * n
        t0 = -0.0
        t1 = -0.0
        t2 = -0.0
        t3 = -0.0
        t4 = -0.0
        t5 = -0.0
        t6 = -0.0
        t7 = -0.0
        for k in range(inner):
            x = float(b[k])
            t0 = t0 + _mul(float(a[i, k]), x)
            t1 = t1 + _mul(float(a[i + 1, k]), x)
            t2 = t2 + _mul(float(a[i + 2, k]), x)
            t3 = t3 + _mul(float(a[i + 3, k]), x)
            t4 = t4 + _mul(float(a[i + 4, k]), x)
            t5 = t5 + _mul(float(a[i + 5, k]), x)
            t6 = t6 + _mul(float(a[i + 6, k]), x)
            t7 = t7 + _mul(float(a[i + 7, k]), x)
        c[i] = t0
        c[i + 1] = t1
        c[i + 2] = t2
        c[i + 3] = t3
        c[i + 4] = t4
        c[i + 5] = t5
        c[i + 6] = t6
        c[i + 7] = t7
    for n in _own(rows - 8 * eights):
        i = 8 * eights + n
        t = -0.0
        for k in range(inner):
            t = t + _mul(float(a[i, k]), float(b[k]))
        c[i] = t
""",
    "_vector_vector": """
def _vector_vector(a, b):
    t = -0.0
    for k in _all(a.shape[0]):
        t = t + _mul(float(a[k]), float(b[k]))
    return t
""",
}
USES = {"_matrix_matrix": ("_vector_matrix",)}


def matmul(emit: Any, a: Any, b: Any) -> Any:
    """a @ b, of vectors and matrices; a matrix of one column or row is a vector."""
    if not all(getattr(x, "dtype", "") == "f64" and len(x.sizes) in (1, 2) for x in (a, b)):
        raise uncompiled("a product of other than vectors and matrices of f64")
    inner = emit.equal(a.sizes[-1], b.sizes[0])
    empty = emit.perhaps_empty((inner,))
    result = (*a.sizes[:-1], *b.sizes[1:])
    if inner == ONE and len(a.sizes) == len(b.sizes) == 2:
        return _outer(emit, a, b, lambda at: (at[0], "0"), lambda at: ("0", at[1]))
    left, right = emit.held(a), emit.contiguous(b)
    if len(left.sizes) == 2 and left.sizes[0] == ONE:
        left = emit.held(emit.reshaped(left, (inner,)))
    if len(right.sizes) == 2 and right.sizes[1] == ONE:
        right = emit.held(emit.reshaped(right, (inner,)))
    found = _product(emit, left, right)
    if empty and not isinstance(found, Reg):
        with emit.under(f"if {empty}:"), emit.each(found.sizes) as at:
            emit.write(found, at, Reg("0.0", REAL))
    if isinstance(found, Reg):
        if not result:
            return emit.settled(Reg(f"0.0 if {empty} else {found.text}", REAL)) if empty else found
        array = emit.new("f64", result)
        with emit.over((), ()):
            emit.line(f"{array.name}[{', '.join('0' for _ in result)}] = {found.text}")
        return array
    return emit.reshaped(found, result)


def dot(emit: Any, a: Any, b: Any) -> Any:
    """np.dot of vectors and matrices, which is their product."""
    return matmul(emit, a, b)


def _product(emit: Any, a: Held, b: Held) -> Any:
    """The product of vectors and matrices as they are."""
    match len(a.sizes), len(b.sizes):
        case 1, 1:
            total = emit.variable(REAL)
            emit.line(f"{total} = {_named(emit, '_vector_vector')}({a.name}, {b.name})")
            return Reg(total, REAL)
        case 2, 1 if a.name.endswith(".T"):
            return _called(emit, "_vector_matrix", b.name, a.name.removesuffix(".T"), a.sizes[:1])
        case 2, 1:
            return _called(emit, "_matrix_vector", a.name, b.name, a.sizes[:1])
        case 1, _:
            return _called(emit, "_vector_matrix", a.name, b.name, b.sizes[1:])
        case _:
            return _called(emit, "_matrix_matrix", a.name, b.name, (a.sizes[0], b.sizes[1]))


def _called(emit: Any, name: str, a: str, b: str, sizes: tuple[str, ...]) -> Held:
    array: Held = emit.new("f64", sizes)
    emit.line(f"{_named(emit, name)}({a}, {b}, {array.name})")
    return array


def _named(emit: Any, name: str) -> str:
    """The name of the helper that computes a product; in fast code, of that which does so in any order."""
    chosen = f"_fast{name}" if emit.fast else name
    emit.helpers.add(chosen)
    return chosen


def outer(emit: Any, a: Any, b: Any) -> Any:
    """np.outer: of all elements in row-major order."""
    if not all(isinstance(x, ARRAYS) and x.dtype != "bool" for x in (a, b)):
        raise uncompiled("an outer product of other than arrays of numbers")
    a, b = flat(emit, a), flat(emit, b)
    if a.dtype == b.dtype == "f64":
        return _outer(emit, a, b, lambda at: at[:1], lambda at: at[1:])
    return emit.primitive(TABLE["mul"], [emit.reshaped(a, (*a.sizes, ONE)), emit.reshaped(b, (ONE, *b.sizes))])


def _outer(emit: Any, a: Any, b: Any, left: Callable[[Sizes], Sizes], right: Callable[[Sizes], Sizes]) -> Any:
    """The products of elements of a, at `left` of the indices, and of b, at `right`; so is a sum of one, since -0.0 + x is x."""

    def element(emit: Any, at: Sizes) -> Reg:
        found: Reg = emit.primitive(TABLE["mul"], [emit.element(a, left(at)), emit.element(b, right(at))])
        return found

    return emit.formula("f64", (a.sizes[0], b.sizes[-1]), element, (a, b), along=False)
