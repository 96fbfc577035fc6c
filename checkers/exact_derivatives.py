"""
Exact gradients of rational programs (T11): dual numbers over fractions. There is nothing to tolerate and nothing to bound.

A program that meets an irrational primitive is refused by the exact column, with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from checkers import forward_mode
from checkers.columns.leaves import Coordinate
from semantics.denotation import FRACTIONS, denote
from semantics.ir import Program


def lifted(primals: Sequence[Any]) -> tuple[Any, ...]:
    """The arguments as fractions; doubles are taken exactly."""
    result: tuple[Any, ...] = forward_mode.lifted(FRACTIONS, tuple(primals))
    return result


def value(program: Program, primals: Sequence[Any]) -> Any:
    """The exact value."""
    return denote(program, lifted(primals), FRACTIONS)


def derivative(program: Program, primals: Sequence[Any], wrt: Coordinate = 0) -> Any:
    """The exact partial derivative to the real at `wrt`."""
    return forward_mode.derivative(program, lifted(primals), wrt, FRACTIONS)


def gradient(program: Program, primals: Sequence[Any]) -> tuple[Any, ...]:
    """The exact gradient, in the structure of `primals`; None at integers and booleans."""
    return forward_mode.gradient(program, lifted(primals), FRACTIONS)


def second_derivative(program: Program, primals: Sequence[Any], i: Coordinate = 0, j: Coordinate = 0) -> Fraction:
    """The exact second derivative to the reals at `i` and `j`."""
    found = forward_mode.second_derivative(program, lifted(primals), i, j, FRACTIONS)
    assert isinstance(found, Fraction)
    return found
