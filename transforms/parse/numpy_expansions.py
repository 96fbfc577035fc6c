"""
Functions of NumPy that are several rows: each expands as NumPy defines it.

A dtype may be given as NumPy's type, as Python's, or by name; None stands for what the elements ask for.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from semantics.ir import Constant
from semantics.primitives.row import Primitive
from transforms.parse.cursor import Cursor

DTYPE_NAMES = {
    **{"float64": "f64", "double": "f64", "float": "f64", "f8": "f64", "f64": "f64"},
    **{"float32": "f32", "single": "f32", "f4": "f32", "f32": "f32"},
    **{"int64": "i64", "int": "i64", "i8": "i64", "i64": "i64"},
    **{"bool": "bool", "bool_": "bool", "?": "bool"},
}
BY_CONVERSION = {"to_real": "f64", "single": "f32", "to_integer": "i64", "to_boolean": "bool"}


# elementwise rows that leave each element as it is, and make a number of an array without axes
WITHOUT_AXES = {"f64": ("to_real",), "i64": ("to_integer",), "bool": ("not_", "not_"), "f32": ()}


def dtype(c: Cursor, node: int, at: ast.AST) -> int:
    """The node of a dtype's name."""
    value = c.constant_value(node)
    if isinstance(value, Primitive) and value.name in BY_CONVERSION:
        return c.constant(BY_CONVERSION[value.name])
    if isinstance(value, str):
        if value not in DTYPE_NAMES:
            raise c.refuse(at, f"the dtype {value} is not in the language", "float64, float32, int64 or bool")
        return c.constant(DTYPE_NAMES[value])
    return node


def converted(dtype_name: str) -> Callable[[Cursor, list[int], ast.AST], int]:
    """`np.float64(x)` and its kind: of a number a number, of anything else an array."""

    def build(c: Cursor, args: list[int], at: ast.AST) -> int:
        whole = c.apply("as_array", args[0], c.constant(None), at=at)
        whole = c.apply("astype", whole, c.constant(dtype_name), at=at)
        for row in WITHOUT_AXES[dtype_name]:
            whole = c.apply(row, whole, at=at)
        return whole

    return build


def scipy_logsumexp(c: Cursor, args: list[int], at: ast.AST) -> int:
    """SciPy's function without weights and signs."""
    x, axis, weights, keepdims, signs = args
    if not is_none(c, weights) or c.constant_value(signs) is not False:
        raise c.refuse(at, "logsumexp takes no weights and gives no signs here", "logsumexp(x + np.log(b)), b the weights")
    return c.apply("logsumexp", x, axis, keepdims, at=at)


def arange(c: Cursor, args: list[int], at: ast.AST) -> int:
    zero, one = c.constant(0), c.constant(1)
    given = [a for a in args if not is_none(c, a)]
    start, stop, step = {1: (zero, *given, one), 2: (*given, one), 3: tuple(given)}[len(given)]
    return c.apply("arange", start, stop, step, at=at)


def is_none(c: Cursor, node: int) -> bool:
    found = c.edit.nodes[node]
    return isinstance(found, Constant) and found.value is None


def eye(c: Cursor, args: list[int], at: ast.AST) -> int:
    n, m, k = args
    return c.apply("eye", n, n if is_none(c, m) else m, k, at=at)


def flat(c: Cursor, args: list[int], at: ast.AST) -> int:
    return c.apply("reshape", args[0], c.constant(-1), at=at)


def ndim(c: Cursor, args: list[int], at: ast.AST) -> int:
    return c.apply("length", c.apply("shape", args[0], at=at), at=at)


def square(c: Cursor, args: list[int], at: ast.AST) -> int:
    return c.apply("mul", args[0], args[0], at=at)


def fabs(c: Cursor, args: list[int], at: ast.AST) -> int:
    """The size as a real: of integers, a real first."""
    return c.apply("abs", c.apply("mul", args[0], c.constant(1.0), at=at), at=at)


def reciprocal(c: Cursor, args: list[int], at: ast.AST) -> int:
    """1 / x, of integers without the fraction: 1 and -1 themselves, and 0 for the others, but none for 0."""
    (x,) = args
    dtype, real = c.apply("dtype", x, at=at), c.apply("div", c.constant(1.0), x, at=at)
    one = c.apply("eq", c.apply("abs", x, at=at), c.constant(1), at=at)
    found = c.apply("where", one, x, c.apply("mod", x, x, at=at), at=at)
    for name in ("f32", "f64"):
        found = c.apply("switch", c.apply("eq", dtype, c.constant(name), at=at), real, found, at=at)
    return found


def float_power(c: Cursor, args: list[int], at: ast.AST) -> int:
    """The power of both as float64."""
    return c.apply("pow", *(c.apply("to_real", x, at=at) for x in args), at=at)


def variance(c: Cursor, args: list[int], at: ast.AST) -> int:
    """mean(|x - mean(x)|²) along the axes."""
    x, axis, keepdims = args
    centre = c.apply("mean", x, axis, c.constant(True), at=at)
    distance = c.apply("sub", x, centre, at=at)
    return c.apply("mean", c.apply("mul", distance, distance, at=at), axis, keepdims, at=at)


def deviation(c: Cursor, args: list[int], at: ast.AST) -> int:
    return c.apply("sqrt", variance(c, args, at), at=at)


def clip(c: Cursor, args: list[int], at: ast.AST) -> int:
    """minimum(maximum(x, low), high), as NumPy defines it; a bound that is None is left out."""
    x, low, high = args
    x = x if is_none(c, low) else c.apply("maximum", x, low, at=at)
    return x if is_none(c, high) else c.apply("minimum", x, high, at=at)


def isnan(c: Cursor, args: list[int], at: ast.AST) -> int:
    return c.apply("ne", args[0], args[0], at=at)


def copy(c: Cursor, args: list[int], at: ast.AST) -> int:
    return c.apply("as_array", args[0], c.constant(None), at=at)


def full_like(c: Cursor, args: list[int], at: ast.AST) -> int:
    return c.apply("full", c.apply("shape", args[0], at=at), args[1], c.apply("dtype", args[0], at=at), at=at)


def norm(c: Cursor, args: list[int], at: ast.AST) -> int:
    """The Euclidean norm along axes: of a vector, or of a matrix Frobenius's; other orders are refused."""
    x, order, axis, keepdims = args
    if not is_none(c, order) and c.constant_value(order) not in (2, "fro"):
        raise c.refuse(at, "a norm of this order is not in the language", "the Euclidean norm (ord left out), or sums of np.abs")
    return c.apply("norm", x, axis, keepdims, at=at)
