"""
How a column computes with the elements of arrays: the scalar cells of that column, and what is common to all array cells.

An array cell is a function of `Elements` first: `reduce_sum(e, x, axis, keepdims)`. It adds with `e.add`, compares with `e.lt`,
and makes its constants with `e.real`; so it is written once for doubles, fractions, balls, dual numbers and terms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from semantics.arrays import FLOATING, Array, checked_integer, within_budget
from semantics.columns.structure import wrong
from semantics.errors import Trap
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.structured import Ellipsis_, Record, Slice
from semantics.tangents import ZERO, Sparse, SparseArray, dense
from semantics.values import Closure, Unbound

NOT_NUMBERS = (bool, int, str, tuple, Array, SparseArray, Sparse, Record, Slice, Ellipsis_, Closure, Primitive, Unbound)


class Elements:
    """The scalar cells of a column: `e.add(x, y)` is its cell of `add`. `truth` decides a condition of the column."""

    def __init__(self, find: Callable[[Primitive], Any], truth: Callable[[Any], Any] = bool) -> None:
        self._find, self.truth = find, truth

    def __getattr__(self, name: str) -> Callable[..., Any]:
        cell = self._find(TABLE[name])
        self.__dict__[name] = cell
        return cell  # type: ignore[no-any-return]

    def number(self, n: int, dtype: str) -> Any:
        """The whole number n as an element of a dtype."""
        return self.real(n) if dtype in FLOATING else bool(n) if dtype == "bool" else n

    def real(self, n: int) -> Any:
        """The whole number n as a real of the column."""
        return self.to_real(n)

    def coerce(self, x: Any, dtype: str, name: str) -> Any:
        """An element as one of `dtype`: integers and booleans become reals, f32 rounds, i64 is checked. ZERO stays."""
        if dtype == "f64":
            return self.to_real(int(x)) if type(x) is int or type(x) is bool else x
        if x is ZERO:
            return x
        if dtype == "f32":
            return self.single(self.to_real(int(x)) if isinstance(x, (bool, int)) else x)
        if dtype == "i64":
            return checked_integer(int(x), name) if isinstance(x, (bool, int)) else x
        return x

    def total(self, items: Iterable[Any], dtype: str = "f64") -> Any:
        """The sum from the left, ZERO left out; the order is part of the meaning. 0 of nothing."""
        result: Any = None
        for x in items:
            if x is not ZERO:
                result = x if result is None else self.rounded(self.add(result, x), dtype)
        return self.number(0, dtype) if result is None else result

    def rounded(self, x: Any, dtype: str) -> Any:
        """What an operation on `dtype` makes of an exact or double result."""
        if dtype == "f32":
            return x if x is ZERO else self.single(x)
        return checked_integer(x, "array") if dtype == "i64" and type(x) is int else x

    def dot(self, xs: Iterable[Any], ys: Iterable[Any], dtype: str) -> Any:
        """The sum of products from the left."""
        return self.total((self.rounded(self.mul(x, y), dtype) for x, y in zip(xs, ys, strict=True)), dtype)


def as_array(name: str, x: Any) -> Array:
    """The array that an operand is; a scalar is one without axes. Trap for an integer beyond 64 bits, IllTyped for all else."""
    if type(x) is int:
        checked_integer(x, name)
    return looked_at(name, x)


def looked_at(name: str, x: Any) -> Array:
    """The same of what goes into no array: an integer may be of any size."""
    if type(x) is Array:
        return x
    if isinstance(x, SparseArray):
        return dense(x)  # type: ignore[no-any-return]
    dtype = scalar_dtype(x)
    if dtype is None:
        raise wrong(name, "an array", x, "make one: np.array(…)")
    return Array(dtype, (), (x,))


def scalar_dtype(x: Any) -> str | None:
    """The dtype of a scalar; None for what is no scalar. Reals of other columns are whatever is none of the other things."""
    if type(x) is bool:
        return "bool"
    if type(x) is int:
        return "i64"
    return "f64" if is_number(x) else None


def is_number(x: Any) -> bool:
    """Whether a value is a real of some column."""
    return type(x) is float or not (x is None or x is ZERO or isinstance(x, NOT_NUMBERS))


def absorbs(cell: Callable[..., Any]) -> Callable[..., Any]:
    """The cell, with ZERO for its result where an argument is ZERO: of nothing, nothing can depend."""

    def absorbing(e: Elements, *arguments: Any) -> Any:
        if any(a is ZERO for a in arguments):
            return ZERO
        return cell(e, *(dense(a) if isinstance(a, SparseArray) else a for a in arguments))

    absorbing.__name__, absorbing.__doc__ = cell.__name__, cell.__doc__
    return absorbing


def integer(name: str, what: str, x: Any) -> int:
    """x, if it is an integer; IllTyped otherwise."""
    if type(x) is not int:
        raise wrong(name, f"an integer {what}", x)
    return x


def boolean(name: str, what: str, x: Any) -> bool:
    """x, if it is a boolean; IllTyped otherwise."""
    if type(x) is not bool:
        raise wrong(name, f"a boolean {what}", x)
    return x


def sizes(name: str, x: Any) -> tuple[int, ...]:
    """A shape given as an integer, a tuple or a list of integers."""
    items = x.items if isinstance(x, Record) else x
    items = (items,) if type(items) is int else items
    if not isinstance(items, tuple) or not all(type(n) is int for n in items):
        raise wrong(name, "a shape: an integer or a tuple of integers", x)
    return items


def not_negative(name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape; Trap if a size is negative, OutOfFuel if it is one of too many elements."""
    if any(n < 0 for n in shape):
        raise Trap(f"{name}: the shape {shape} has a negative size", rule=name, remedy="sizes are 0 or more")
    return within_budget(name, shape)
