"""
The column "z3_real": programs read over the real numbers, as z3 terms.

    a real     a z3 term of sort Real            an integer  a Python int, or a z3 term of sort Int
    a boolean  a Python bool, or a z3 term       ZERO, unit, tuples, closures   themselves

The terms keep `/` and the names of functions (`u_exp`, `u_sqrt`): `purify` turns them into what a solver decides well, and a
normaliser can read them as they are. What a function needs in order to be defined is told to the course of the run, so that a
proof can ask whether a rewrite added a pole. Functions that have a definition in terms of exp, log, sin, cos are read by it:
tan, sinh, cosh, tanh, expm1, log1p, log2, log10, asinh, acosh, atanh, erfc, and `pow` with an exponent that is no integer.

A condition that is not yet a boolean is decided by the course, which `paths` provides. Arrays have a known shape and dtype, and
terms for elements; a rounding to f32 is none over the reals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import z3

from checkers.smt import real_arithmetic as arithmetic
from checkers.smt import real_functions as functions
from checkers.smt.terms import PI, Course, as_real, bound_to, real, uninterpreted
from semantics.arrays import Array
from semantics.columns.arrays import with_arrays
from semantics.columns.structure import CELLS as STRUCTURE
from semantics.denotation import Reading
from semantics.errors import Trap
from semantics.primitives.row import Column, Hole, Primitive
from semantics.primitives.table import MACROS


def _structural(cell: Callable[..., Any]) -> Callable[..., Any]:
    """A structural cell, which reads alike over every carrier and needs no course."""

    def structural(_: Course, *arguments: Any) -> Any:
        return cell(*arguments)

    return structural


CELLS: dict[str, Callable[..., Any] | Hole] = {
    **{p.name: Hole("it is expanded before anything runs") for p in MACROS},
    **{name: _structural(cell) for name, cell in STRUCTURE.items()},
    "add": arithmetic.add,
    "sub": arithmetic.sub,
    "mul": arithmetic.mul,
    "div": arithmetic.div,
    "floordiv": arithmetic.floordiv,
    "mod": arithmetic.mod,
    "range_length": arithmetic.range_length,
    "pow": arithmetic.power,
    "neg": arithmetic.neg,
    "abs": arithmetic.absolute,
    "min": arithmetic.minimum,
    "max": arithmetic.maximum,
    "sign": arithmetic.sign,
    "copysign": arithmetic.copysign,
    "maximum": arithmetic.np_maximum,
    "minimum": arithmetic.np_minimum,
    "where": arithmetic.where,
    "logaddexp": functions.logaddexp,
    "single": lambda _, a: as_real("single", a),
    "and_": arithmetic.logical("logical_and", z3.And),
    "or_": arithmetic.logical("logical_or", z3.Or),
    "exp": functions.exp,
    "expm1": functions.expm1,
    "log": functions.log,
    "log1p": functions.log1p,
    "log2": functions.log_of(2),
    "log10": functions.log_of(10),
    "sqrt": functions.sqrt,
    "cbrt": functions.elementary("cbrt"),
    "sin": functions.elementary("sin"),
    "cos": functions.elementary("cos"),
    "tan": functions.tan,
    "asin": functions.elementary("asin", lambda x: z3.And(x >= -1, x <= 1)),
    "acos": functions.elementary("acos", lambda x: z3.And(x >= -1, x <= 1)),
    "atan": functions.elementary("atan"),
    "atan2": functions.atan2,
    "sinh": functions.sinh,
    "cosh": functions.cosh,
    "tanh": functions.tanh,
    "asinh": functions.asinh,
    "acosh": functions.acosh,
    "atanh": functions.atanh,
    "hypot": functions.hypot,
    "erf": functions.elementary("erf"),
    "erfc": functions.erfc,
    "to_real": lambda _, a: as_real("float", a),
    "to_integer": arithmetic.to_whole("int"),
    "floor": arithmetic.to_whole("floor"),
    "ceil": arithmetic.to_whole("ceil"),
    "to_boolean": arithmetic.to_boolean,
    "lt": arithmetic.comparison("lt", lambda a, b: a < b),
    "le": arithmetic.comparison("le", lambda a, b: a <= b),
    "gt": arithmetic.comparison("gt", lambda a, b: a > b),
    "ge": arithmetic.comparison("ge", lambda a, b: a >= b),
    "eq": arithmetic.comparison("eq", lambda a, b: a == b),
    "ne": arithmetic.comparison("ne", lambda a, b: a != b),
    "not_": arithmetic.not_,
    "instantiate": arithmetic.instantiated,
    "seed": arithmetic.seed,
}


class _OfRun(Column):
    """The column of one run: a user's own cell has no course, so the domain that its row declares is told for it."""

    course: Course

    def __init__(self, cells: Mapping[str, Callable[..., Any] | Hole], course: Course) -> None:
        super().__init__("z3_real", cells)
        object.__setattr__(self, "course", course)

    def find(self, primitive: Primitive) -> Callable[..., Any] | Hole:
        found = super().find(primitive)
        if isinstance(found, Hole) or primitive.columns.get(self.name) is None:
            return found

        def own(*arguments: Any) -> Any:
            for condition in primitive.domain:
                for conjunct in condition.conjuncts(primitive.named(arguments), real):
                    self.course.need(conjunct)
            return found(*arguments)

        return own


def reading(course: Course, *, pi: bool = False) -> Reading:
    """
    The reading of one run. A double is the rational it stands for; with `pi` the double nearest to π is π.
    """

    def lift(value: Any) -> Any:
        if isinstance(value, Array):
            return value.with_items(map(lift, value.items))
        if type(value) is not float:
            return value
        if not math.isfinite(value):
            raise Trap(f"{value} is not a real number", rule="z3_real")
        return uninterpreted(PI) if pi and value == math.pi else real(value)

    def truth(condition: Any) -> Any:
        return course.decide(condition) if z3.is_bool(condition) else condition

    return Reading(_OfRun(_bound(course, truth), course), lift, truth)


def _bound(course: Course, truth: Callable[[Any], Any]) -> dict[str, Callable[..., Any] | Hole]:
    """The cells with their course, those of arrays too."""
    return with_arrays(bound_to(course, CELLS), truth)


class _Nowhere:
    """The course of no run: it decides nothing."""

    def decide(self, condition: Any) -> bool:
        raise Trap("a condition is not decided outside a run", rule="z3_real")

    def need(self, condition: Any) -> None:
        """Nothing is noted."""


# The column as others see it: which primitives can be read at all. A run binds its course to the cells.
Z3_REAL = Column("z3_real", _bound(_Nowhere(), _Nowhere().decide))


def real_column() -> Column:
    """The column, for reports on which primitives it reads."""
    return Z3_REAL
