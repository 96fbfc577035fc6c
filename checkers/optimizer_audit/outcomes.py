"""
What a program does at a point, as a value to compare: on the machine (doubles) and over the reals (fractions, else balls).

    Value(v)          it ended with v
    Stopped(why)      it trapped, or a primitive refused its arguments; over the reals: it is not defined there
    Open(why)         not known: out of fuel, or the enclosure reaches a guard boundary
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from checkers.columns.ball import BALLS, BITS
from checkers.columns.leaves import map_leaves
from checkers.columns.undecided import Undecided
from semantics.arrays import Array, broadcast_positions, broadcast_shapes, size_of
from semantics.columns.exact import lift as exact_lift
from semantics.denotation import FLOATS, FRACTIONS, Reading, denote
from semantics.errors import AdjudgeError, Crash, OutOfFuel
from semantics.ir import Apply, Constant, NodeId, Program
from semantics.machine import Machine
from semantics.primitives.row import Primitive
from semantics.primitives.table import ELEMENTWISE
from semantics.tangents import Sparse, SparseArray, Zero, dense
from semantics.type_language import type_of
from semantics.values import Closure, same

FUEL = 20_000
Lift = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Value:
    """The program ended."""

    value: Any
    steps: int = 0


@dataclass(frozen=True, slots=True)
class Stopped:
    """The program has no value here."""

    why: str


@dataclass(frozen=True, slots=True)
class Open:
    """Whether it has, and which, is not known."""

    why: str


Result = Value | Stopped | Open


class Runner:
    """One program, run at many points on the machine."""

    def __init__(self, program: Program, fuel: int = FUEL) -> None:
        self.program, self.fuel = program, fuel
        self.machine = Machine(program)

    def __call__(self, point: Sequence[Any]) -> Result:
        """What the machine does at `point`."""
        try:
            outcome = self.machine.run(point, fuel=self.fuel)
        except OutOfFuel as error:
            return Open(error.what)
        except Crash as error:
            return Stopped(f"Crash: {error.what}")
        except AdjudgeError as error:
            return Stopped(f"{type(error).__name__}: {error.what}")
        return Value(outcome.value, outcome.steps)


def over_the_reals(program: Program, point: Sequence[Any], constants: Lift | None = None) -> Result:
    """
    The exact value at a point of doubles, as fractions if the run is rational, else as an enclosure.

    constants  how the constants of the program are read, if not exactly (see `rounded_constants`); then the value is an enclosure
    """
    readings = (FRACTIONS, BALLS) if constants is None else (Reading(BALLS.column, constants),)
    for reading in readings:
        last = reading is readings[-1]
        lifted = exact_lift if reading is FRACTIONS else BALLS.lift
        try:
            value = denote(program, [_lifted(lifted, x) for x in point], reading, fuel=FUEL)
            return Value(value) if _is_finite(value) else Stopped("its value is no real: an infinity or NaN is written in it")
        except (Undecided, OutOfFuel) as error:
            return Open(error.what)
        except AdjudgeError as error:
            if last:
                return Stopped(error.what)
        except (ArithmeticError, ValueError) as error:
            if last:
                return Open(f"{type(error).__name__}: {error}")
    raise AssertionError


def _lifted(lift: Lift, x: Any) -> Any:
    return map_leaves(lambda _, leaf: lift(leaf), x)


def _is_finite(value: Any) -> bool:
    found: list[bool] = []
    map_leaves(lambda _, leaf: found.append(not isinstance(leaf, arb) or leaf.is_finite()), value)
    return all(found)


def rounded_constants(before: Program, after: Program) -> Lift | None:
    """
    How to read the constants of `after` over the reals, if it has some that `before` has not: each as a ball.

    A new constant is what some operations on old ones rounded to. With n operations in `before`, each of which rounds by at most
    half an ulp of what it met, and m the largest constant met, it is within n m 2^-52 of the real that it stands for.
    """
    old, new = _reals_in(before), _reals_in(after)
    if new <= old:
        return None
    operations = sum(isinstance(n, Apply) for n in before.nodes.values())
    largest = max((abs(float(c)) for c in old | new if math.isfinite(c)), default=0.0)

    def lift(value: Any) -> Any:
        exact = BALLS.lift(value)
        if type(value) is not float or value in old or not math.isfinite(value):
            return exact
        return arb(exact, arb(operations * largest) * arb(2) ** -52)

    return lift


def _reals_in(program: Program) -> set[float]:
    return {
        n.value for n in program.nodes.values() if isinstance(n, Constant) and type(n.value) is float and not math.isnan(n.value)
    }


def agree(a: Any, b: Any) -> bool:
    """Whether two values over the reals may be one: fractions equal, enclosures not disjoint, structures alike."""
    todo = [(a, b)]
    while todo:
        x, y = todo.pop()
        x, y = (dense(v) if isinstance(v, (Sparse, SparseArray)) else v for v in (x, y))
        match x, y:
            case (tuple(), tuple()):
                if len(x) != len(y):
                    return False
                todo.extend(zip(x, y, strict=True))
            case (Array(), Array()):
                if (x.dtype, x.shape) != (y.dtype, y.shape):
                    return False
                todo.extend(zip(x.items, y.items, strict=True))
            case (Closure(), Closure()):
                continue
            case (arb(), _) | (_, arb()) if _is_real(x) and _is_real(y):
                if not _ball(x).overlaps(_ball(y)):
                    return False
            case (Fraction(), Fraction()):
                if x != y:
                    return False
            case _ if type(x) is not type(y) or x != y:
                return False
    return True


def _is_real(x: Any) -> bool:
    return isinstance(x, (arb, Fraction))


def _ball(x: Any) -> arb:
    if isinstance(x, arb):
        return x
    before, ctx.prec = ctx.prec, BITS
    try:
        return arb(x.numerator) / arb(x.denominator)
    finally:
        ctx.prec = before


def shown(value: Any) -> Any:
    """A value over the reals as something to print: fractions and balls as text, doubles as they are."""
    if isinstance(value, tuple):
        return tuple(shown(v) for v in value)
    if isinstance(value, Array):
        return value.with_items(shown(v) for v in value.items)
    if isinstance(value, Fraction):
        return float(value) if abs(value) < 2**1023 and Fraction(float(value)) == value else str(value)
    return value.str(17) if isinstance(value, arb) else value


def said(result: Result) -> Any:
    """A result as a counterexample shows it."""
    return shown(result.value) if isinstance(result, Value) else f"no value: {result.why}"


def same_bits(a: Result, b: Result) -> bool:
    """Whether two results are the same: equal bits, one NaN; closures are not compared."""
    if isinstance(a, Value) and isinstance(b, Value):
        if isinstance(a.value, Closure) and isinstance(b.value, Closure):
            return True
        return same(a.value, b.value)
    return isinstance(a, Stopped) and isinstance(b, Stopped)


def type_name(value: Any) -> str:
    """The type of a value as text; functions are alike, since a pass may rename them, and ZERO is of no type but its own."""
    match value:
        case Closure() | Primitive():
            return "function"
        case tuple():
            return f"tuple[{', '.join(type_name(v) for v in value)}]"
        case Zero() | Sparse():
            return "sensitivity"
        case _:
            return str(type_of(value))


def on_a_kink(program: Program, point: Sequence[Any]) -> bool:
    """Whether the run at `point` meets a declared kink, the edge of a domain, or an argument that is not finite."""
    met: list[bool] = []

    def observe(_: Program, __: NodeId, primitive: Primitive, arguments: Sequence[Any], ___: Any) -> None:
        if met or primitive.name == "switch":
            return
        try:
            if any(_rough(primitive, operands) for operands in _element_by_element(primitive, arguments)):
                met.append(True)
        except (ArithmeticError, ValueError, TypeError):
            met.append(True)

    try:
        denote(program, point, Reading(FLOATS.column, FLOATS.lift, FLOATS.truth, observe), fuel=FUEL)
    except AdjudgeError:
        return True
    return bool(met)


def _rough(primitive: Primitive, arguments: Sequence[Any]) -> bool:
    """Whether scalars lie on a kink, or outside the domain."""
    if primitive.name == "pow" and float(arguments[1]).is_integer() and arguments[1] >= 0:
        return False
    return primitive.on_kink(*arguments) or not primitive.in_domain(*arguments)


# rows of arrays that choose among elements, or have a kink of their own
CHOOSING = frozenset({"reduce_max", "reduce_min", "sort", "norm", "cumprod", "reduce_prod"})


def _element_by_element(primitive: Primitive, arguments: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """The scalars that an elementwise primitive meets; nothing for other rows of arrays, unless they choose among elements."""
    if not any(isinstance(a, Array) for a in arguments):
        yield arguments
    elif primitive.name in ELEMENTWISE:
        shape = broadcast_shapes([a.shape for a in arguments if isinstance(a, Array)], primitive.name)
        parts = [
            [a.items[k] for k in broadcast_positions(a.shape, shape)] if isinstance(a, Array) else [a] * size_of(shape)
            for a in arguments
        ]
        yield from zip(*parts, strict=True)
    elif primitive.name in CHOOSING:
        raise ValueError(f"{primitive.name} may have a kink here")
