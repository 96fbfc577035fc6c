"""
Primitives of the user: one object, with as many columns as its author has.

    @primitive(domain="x > 0", kinks="x == 1")
    def f(x): ...

    @f.backpropagator
    def _(x, out, dout): return (dout * ...,)

The meaning is the Python function, checked, and total where only reals come in. What our parser can read of it is read, and then
the columns `exact` and `ball` follow from the program; what it cannot read stays a black box, and the report of `check` says which
judgments are lost.
A `UserPrimitive` is frozen but for one thing: each column can be given once, after the object exists, as decorators must.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

import numpy as np

from adjudge.values import to_value
from semantics.array_signatures import COLUMN
from semantics.arrays import Array
from semantics.denotation import FRACTIONS, Reading, denote
from semantics.errors import IllTyped, Malformed
from semantics.primitives.row import Hole, Primitive
from transforms.annotations import scalar_signature
from transforms.array_rows import to_numpy
from transforms.python_rows import Cells, register_backpropagator, row_of


class UserPrimitive:
    """
    A function of reals, or of arrays of them, made a primitive. `row` is what programs hold; calling the object calls its meaning.

    The decorators `backpropagator`, `tangent`, `exact`, `ball` and `z3` each add a column, once.
    """

    __name__: str
    __wrapped__: Callable[..., Any]
    row: Primitive
    _cells: Cells

    def __init__(self, function: Callable[..., Any], *, domain: str, kinks: str, name: str | None, signature: str | None) -> None:
        if not callable(function):
            raise IllTyped(f"{function!r} is not a function", rule="primitive", remedy="decorate a function of reals")
        found = name or str(getattr(function, "__name__", "primitive"))
        if not found.isidentifier():
            raise Malformed(f"{found!r} is not a name", rule="primitive", remedy="give one: @primitive(name='softplus')")
        signature = signature or scalar_signature(function)
        row, cells = row_of(function, found, domain=domain, kinks=kinks, signature=signature, extra=DERIVED)
        for slot, value in (
            ("row", row),
            ("_cells", cells),
            ("__name__", found),
            ("__doc__", function.__doc__),
            ("__wrapped__", function),
        ):
            object.__setattr__(self, slot, value)

    def __setattr__(self, slot: str, value: Any) -> None:
        raise IllTyped(
            f"the primitive {self.__name__} is frozen", remedy=f"add a column with its decorator, such as @{self.__name__}.ball"
        )

    def __repr__(self) -> str:
        return f"<primitive {self.__name__}({', '.join(self.row.parameters)})>"

    def __call__(self, *arguments: Any) -> Any:
        arrays = COLUMN in self._cells or any(isinstance(a, np.ndarray) for a in arguments)
        if not arrays:
            return self._cells["meaning"](*arguments)
        names = [*self.row.parameters, *(f"argument {i}" for i in range(len(arguments)))]
        return outside(self._cells["meaning"](*map(to_value, arguments, names)))

    def backpropagator(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Registers (x…, out, dout) -> (dx, …). Malformed if it takes other arguments, or if there is one already."""
        register_backpropagator(self._cells, self.row, rule)
        return rule

    def tangent(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Registers (x…, dx…) -> dout, the forward derivative."""
        return self._column("tangent", rule)

    def exact(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Registers the function on fractions."""
        return self._column("exact", function)

    def ball(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Registers the function on balls: an enclosure of its value for every point of its arguments."""
        return self._column("ball", function)

    def z3(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Registers the function on z3 terms over the reals."""
        return self._column("z3_real", function)

    def _column(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        self._cells.set_once(name, lambda: function, self.__name__)
        return function


def outside(value: Any) -> Any:
    """A value of the language as Python has it: arrays as those of NumPy."""
    if isinstance(value, tuple):
        return tuple(outside(item) for item in value)
    return to_numpy(value) if isinstance(value, Array) else value


def _reads(reading: Callable[[], Reading]) -> Callable[[Cells], Any]:
    """The cell of a column that follows from the program of the function: the program, read in that column."""

    def maker(cells: Cells) -> Any:
        program = cells["program"]
        if isinstance(program, Hole):
            return program
        return lambda *arguments: denote(program, arguments, reading())

    return maker


def _balls() -> Reading:
    """Balls at the precision in force: a difference of balls needs more bits than a value."""
    from flint import ctx

    from checkers.columns.ball import BITS, balls

    return balls(max(BITS, ctx.prec))


DERIVED: dict[str, Callable[[Cells], Any]] = {"exact": _reads(lambda: FRACTIONS), "ball": _reads(_balls)}


@overload
def primitive(function: Callable[..., Any], /) -> UserPrimitive: ...


@overload
def primitive(
    *, domain: str = "", kinks: str = "", name: str | None = None, signature: str | None = None
) -> Callable[[Callable[..., Any]], UserPrimitive]: ...


def primitive(
    function: Callable[..., Any] | None = None,
    *,
    domain: str = "",
    kinks: str = "",
    name: str | None = None,
    signature: str | None = None,
) -> Any:
    """
    Makes a function of reals, or of arrays of them, a primitive; with or without arguments, as a decorator.

    domain, kinks   conditions on the parameters, such as "x > 0" and "x == y", separated by `;`
    name            its name in programs, if not the function's
    signature       "f64[m, n] f64[n] i64 -> f64[m]" (`semantics.array_signatures`); without one, reals and arrays of f64 or f32 of
                    any shape come in, and what comes out for arrays is what the function returns. Of (x, n: int) it is
                    "f64 i64 -> f64": nothing is differentiated by `int` and `bool`, and the others are one real each
    """

    def make(f: Callable[..., Any]) -> UserPrimitive:
        return UserPrimitive(f, domain=domain, kinks=kinks, name=name, signature=signature)

    return make if function is None else make(function)
