"""
The column "tangent": for every smooth primitive its partial derivatives, `(x..., out) -> (d/dx, ...)`.

A cell is written once, in terms of other primitives, and `partials(reading)` instantiates it over the carrier of that
reading: doubles, fractions, balls, dual numbers. It knows neither J nor the backpropagators; they are compared with it.

Conventions where a primitive is not differentiable (everywhere else the derivative is the derivative):

    abs(x)             sign(x), so 0 at 0
    min(x, y)          all to x if not y < x, else all to y: to the argument that is returned
    max(x, y)          all to x if not y > x, else all to y
    maximum, minimum   as max and min
    where(c, x, y)     all to the one that is chosen
    sqrt, cbrt at 0    inf
    asin, acos at ±1   ±inf; acosh at 1 inf
    hypot at (0, 0)    (0, 0)
    atan2 at (0, 0)    NaN
    copysign(x, y)     sign(x) * sign of y to x, nothing to y
    floor, ceil, floordiv, sign, conversions to integer, comparisons
                       nothing (ZERO), on the jumps as between them
    mod(x, y)          (1, -floor(x / y)), on the jumps as between them
    pow(x, y)          y * x**(y-1) to x, y * out / x if y is 0, and 0 if x is 0 too; log(x) * out to y, and 0 if x is 0

A real that is given to an integer parameter has no partial. Partials are computed one at a time, on demand: that of `pow`
to its exponent does not exist for a negative base, and nobody should stumble over it who does not ask.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from checkers.columns.undecided import Undecided
from semantics.denotation import FLOATS, Reading
from semantics.ir import Program
from semantics.primitives.array_rows import ARRAYS
from semantics.primitives.memory_rows import MEMORY
from semantics.primitives.row import Column, Hole, Primitive
from semantics.primitives.table import COMPARISONS, MACROS, STRUCTURE, TABLE
from semantics.tangents import ZERO


class Numbers:
    """The operations of a carrier: `n.mul(x, y)` is the cell of `mul` in the column of the reading."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return self.reading.column[TABLE[name]]

    def real(self, c: float) -> Any:
        """A literal real."""
        return self.reading.lift(c)

    def vanishes(self, x: Any) -> bool:
        """Whether x is certainly zero."""
        try:
            return bool(self.reading.truth(self.eq(x, self.real(0.0))))
        except Undecided:
            return False

    def holds(self, condition: Any) -> bool:
        """The truth of a comparison."""
        return bool(self.reading.truth(condition))


Partial = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Partials:
    """A cell of the column: one function per argument, all of `(x..., out)`."""

    each: tuple[Partial, ...]
    numbers: Numbers

    def __call__(self, *arguments: Any) -> tuple[Any, ...]:
        return tuple(p(self.numbers, *arguments) for p in self.each)

    def wanted(self, which: Sequence[bool], arguments: Sequence[Any]) -> tuple[Any, ...]:
        """The partials that are wanted; ZERO for the others."""
        return tuple(p(self.numbers, *arguments) if w else ZERO for w, p in zip(which, self.each, strict=True))


def wanted(cell: Callable[..., Any], which: Sequence[bool], arguments: Sequence[Any], reading: Reading) -> tuple[Any, ...]:
    """
    The wanted partials at (x..., out); ZERO for the others.

    A cell of the user's is a directional derivative (x..., dx...) -> dout: it is asked along each axis.
    """
    if isinstance(cell, Partials):
        return cell.wanted(which, arguments)
    primals, zero, one = tuple(arguments[:-1]), reading.lift(0.0), reading.lift(1.0)
    axes = ([one if k == i else zero for k in range(len(primals))] for i in range(len(primals)))
    return tuple(cell(*primals, *axis) if w else ZERO for w, axis in zip(which, axes, strict=True))


def body(primitive: Primitive, tangents: Column) -> Program | None:
    """The program of a user's primitive that has one and no tangent: readings with tangents then read the program."""
    program = primitive.columns.get("program")
    return program if isinstance(program, Program) and isinstance(tangents.find(primitive), Hole) else None


def _none(n: Numbers, *arguments: Any) -> Any:
    return ZERO


def _one(n: Numbers, *arguments: Any) -> Any:
    return n.real(1.0)


def _minus_one(n: Numbers, *arguments: Any) -> Any:
    return n.real(-1.0)


def _inverse(n: Numbers, x: Any) -> Any:
    return n.div(n.real(1.0), x)


def _square_complement(n: Numbers, x: Any) -> Any:
    """1 - x*x without cancellation near 1."""
    return n.mul(n.sub(n.real(1.0), x), n.add(n.real(1.0), x))


def _root_complement(n: Numbers, x: Any) -> Any:
    return n.sqrt(_square_complement(n, x))


def _power_base(n: Numbers, x: Any, y: Any, out: Any) -> Any:
    if not n.vanishes(y):
        return n.mul(y, n.pow(x, n.sub(y, 1)))
    return n.real(0.0) if n.vanishes(x) else n.div(n.mul(y, out), x)


def _power_exponent(n: Numbers, x: Any, y: Any, out: Any) -> Any:
    return n.real(0.0) if n.vanishes(x) else n.mul(out, n.log(x))


def _second_is_less(n: Numbers, x: Any, y: Any) -> bool:
    return n.holds(n.lt(y, x))


def _second_is_more(n: Numbers, x: Any, y: Any) -> bool:
    return n.holds(n.gt(y, x))


def _chosen(second: Callable[[Numbers, Any, Any], bool], index: int) -> Partial:
    """1 to the argument that min or max returns, 0 to the other."""

    def partial(n: Numbers, x: Any, y: Any, out: Any) -> Any:
        return n.real(1.0 if second(n, x, y) == (index == 1) else 0.0)

    return partial


def _gauss(n: Numbers, x: Any, out: Any) -> Any:
    """2/sqrt(pi) * exp(-x*x), the derivative of erf."""
    pi = n.mul(n.real(4.0), n.atan(n.real(1.0)))
    return n.mul(n.div(n.real(2.0), n.sqrt(pi)), n.exp(n.neg(n.mul(x, x))))


def _logarithm(base: float) -> Partial:
    return lambda n, x, out: _inverse(n, n.mul(x, n.log(n.real(base))))


def _leg(n: Numbers, x: Any, out: Any) -> Any:
    """x / hypot, and 0 at the origin."""
    return n.real(0.0) if n.vanishes(out) else n.div(x, out)


def _turn(n: Numbers, x: Any, y: Any) -> Any:
    """x / (x*x + y*y) without overflow."""
    r = n.hypot(x, y)
    return n.div(n.div(x, r), r)


def _where(chosen: bool) -> Partial:
    """1 to the value that the condition chooses, nothing to the other."""

    def partial(n: Numbers, c: Any, x: Any, y: Any, out: Any) -> Any:
        return n.real(1.0) if n.holds(c) == chosen else ZERO

    return partial


def _share_of_exponential(index: int) -> Partial:
    """exp(x - out), the share of exp(x) in exp(x) + exp(y), as 1 / (1 + exp(y - x)): also where both are infinite apart."""

    def partial(n: Numbers, x: Any, y: Any, out: Any) -> Any:
        own, other = (x, y) if index == 0 else (y, x)
        return _inverse(n, n.add(n.real(1.0), n.exp(n.sub(other, own))))

    return partial


SMOOTH: dict[str, tuple[Partial, ...]] = {
    "add": (_one, _one),
    "sub": (_one, _minus_one),
    "mul": (lambda n, x, y, out: y, lambda n, x, y, out: x),
    "div": (lambda n, x, y, out: _inverse(n, y), lambda n, x, y, out: n.neg(n.div(out, y))),
    "floordiv": (_none, _none),
    "mod": (_one, lambda n, x, y, out: n.neg(n.floordiv(x, y))),
    "pow": (_power_base, _power_exponent),
    "neg": (_minus_one,),
    "abs": (lambda n, x, out: n.sign(x),),
    "min": (_chosen(_second_is_less, 0), _chosen(_second_is_less, 1)),
    "max": (_chosen(_second_is_more, 0), _chosen(_second_is_more, 1)),
    "sign": (_none,),
    "exp": (lambda n, x, out: out,),
    "expm1": (lambda n, x, out: n.exp(x),),
    "log": (lambda n, x, out: _inverse(n, x),),
    "log1p": (lambda n, x, out: _inverse(n, n.add(n.real(1.0), x)),),
    "log2": (_logarithm(2.0),),
    "log10": (_logarithm(10.0),),
    "sqrt": (lambda n, x, out: n.div(n.real(0.5), out),),
    "cbrt": (lambda n, x, out: _inverse(n, n.mul(n.real(3.0), n.mul(out, out))),),
    "sin": (lambda n, x, out: n.cos(x),),
    "cos": (lambda n, x, out: n.neg(n.sin(x)),),
    "tan": (lambda n, x, out: n.add(n.real(1.0), n.mul(out, out)),),
    "asin": (lambda n, x, out: _inverse(n, _root_complement(n, x)),),
    "acos": (lambda n, x, out: n.neg(_inverse(n, _root_complement(n, x))),),
    "atan": (lambda n, x, out: _inverse(n, n.add(n.real(1.0), n.mul(x, x))),),
    "atan2": (lambda n, y, x, out: _turn(n, x, y), lambda n, y, x, out: n.neg(_turn(n, y, x))),
    "sinh": (lambda n, x, out: n.cosh(x),),
    "cosh": (lambda n, x, out: n.sinh(x),),
    "tanh": (lambda n, x, out: _inverse(n, n.mul(n.cosh(x), n.cosh(x))),),
    "asinh": (lambda n, x, out: _inverse(n, n.hypot(n.real(1.0), x)),),
    "acosh": (lambda n, x, out: _inverse(n, n.mul(n.sqrt(n.sub(x, n.real(1.0))), n.sqrt(n.add(x, n.real(1.0))))),),
    "atanh": (lambda n, x, out: _inverse(n, _square_complement(n, x)),),
    "hypot": (lambda n, x, y, out: _leg(n, x, out), lambda n, x, y, out: _leg(n, y, out)),
    "copysign": (lambda n, x, y, out: n.mul(n.sign(x), n.copysign(n.real(1.0), y)), _none),
    "erf": (_gauss,),
    "erfc": (lambda n, x, out: n.neg(_gauss(n, x, out)),),
    "maximum": (_chosen(_second_is_more, 0), _chosen(_second_is_more, 1)),
    "minimum": (_chosen(_second_is_less, 0), _chosen(_second_is_less, 1)),
    "where": (_none, _where(True), _where(False)),
    "logaddexp": (_share_of_exponential(0), _share_of_exponential(1)),
    "single": (_one,),
    "to_real": (_one,),
    "to_integer": (_none,),
    "to_boolean": (_none,),
    "floor": (_none,),
    "ceil": (_none,),
    **{p.name: (_none,) * len(p.parameters) for p in COMPARISONS},
}

HOLES: dict[str, Hole] = {
    **{p.name: Hole("it moves values about; readings with tangents follow its structure") for p in STRUCTURE},
    **{p.name: Hole("its elements carry their own tangents; it is read element by element") for p in ARRAYS},
    **{p.name: Hole("it moves values about; readings with tangents follow its structure") for p in MEMORY},
    "J": Hole("a function on functions, expanded before a program runs"),
    **{p.name: Hole("a function on functions, expanded before a program runs") for p in MACROS},
}


def partials(reading: Reading = FLOATS) -> Column:
    """The column over the carrier of `reading`."""
    numbers = Numbers(reading)
    return Column("tangent", {**{name: Partials(each, numbers) for name, each in SMOOTH.items()}, **HOLES})


def has_structure(primitive: Primitive) -> bool:
    """Whether a primitive moves values about instead of computing reals."""
    return primitive.name in _STRUCTURAL and TABLE[primitive.name] is primitive


_STRUCTURAL = frozenset(p.name for p in (*STRUCTURE, *ARRAYS, *MEMORY))

TANGENT = partials()
