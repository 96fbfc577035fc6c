"""
Running a solver's counterexample before it is believed.

Over the reals there are two independent ways to compute both sides: exact fractions, where every operation is rational, and
balls, which enclose the value of a z3 term at a rational point (`enclosures`). In a format, the reference meaning is run on
doubles and rounded to the format after every operation, which gives the correctly rounded result for + - * / and sqrt because a
double has more than twice the digits of the narrower formats (Figueroa).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

from semantics.arrays import Array, single
from semantics.columns.arrays import with_arrays
from semantics.columns.meaning import CELLS as NUMBERS
from semantics.columns.meaning import MEANING
from semantics.denotation import FRACTIONS, Reading, denote
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.machine import run
from semantics.primitives.row import Column, Hole

# doubles rounded to a narrower format


def rounded(x: float, ebits: int, sbits: int) -> float:
    """x rounded to the nearest number of the format, ties to even; overflow gives an infinity."""
    if (ebits, sbits) == (11, 53) or x == 0 or not math.isfinite(x):
        return x
    bias = (1 << (ebits - 1)) - 1
    lowest = 1 - bias
    exponent = max(math.frexp(x)[1] - 1, lowest)
    unit = exponent - (sbits - 1)
    value = round(Fraction(x) / Fraction(2) ** unit) * Fraction(2) ** unit
    largest = (2 - Fraction(2) ** (1 - sbits)) * Fraction(2) ** bias
    if abs(value) > largest:
        return math.copysign(math.inf, x)
    return math.copysign(float(value), x)


def run_in(program: Program, arguments: Sequence[Any], ebits: int, sbits: int) -> Any:
    """The value of `program` where every real result is rounded to the format, inside the sums of arrays too."""
    return denote(program, arguments, narrow_reading(ebits, sbits))


@cache
def narrow_reading(ebits: int, sbits: int) -> Reading:
    """The reference meaning, every real result rounded to the format. It is asked for at every point, and made once."""

    def narrow(value: Any) -> Any:
        if isinstance(value, Array):
            return value.with_items(map(narrow, value.items))
        return rounded(value, ebits, sbits) if type(value) is float else value

    def cell(function: Callable[..., Any] | Hole) -> Callable[..., Any] | Hole:
        if isinstance(function, Hole):
            return function
        return lambda *arguments: narrow(function(*arguments))

    column = Column(MEANING.name, with_arrays({name: cell(function) for name, function in NUMBERS.items()}))
    return Reading(column, narrow)


# the programs themselves


def exact(program: Program, arguments: Sequence[Any], fuel: int = 100_000) -> Any:
    """The value over fractions; the error where it is undefined (a Trap), not rational or not reached (anything else)."""
    try:
        return denote(program, arguments, FRACTIONS, fuel=fuel)
    except AdjudgeError as error:
        return error


def floats(program: Program, arguments: Sequence[Any]) -> Any:
    """The value on the reference machine, on doubles; the error where it traps."""
    try:
        return run(program, *map(_double, arguments), fuel=1_000_000)
    except (AdjudgeError, OverflowError) as error:
        return error


def _double(value: Any) -> Any:
    """A rational as a double, in an array of f32 as one of those."""
    if isinstance(value, Array):
        doubles = (float(x) if isinstance(x, Fraction) else x for x in value.items)
        return value.with_items(single(x) if value.dtype == "f32" else x for x in doubles)
    return float(value) if isinstance(value, Fraction) else value
