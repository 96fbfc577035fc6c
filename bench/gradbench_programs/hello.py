"""hello: the square of a number, and its derivative."""

from __future__ import annotations

from typing import Any

import adjudge as aj
from bench.gradbench_programs.function import Function
from semantics.errors import Malformed


def square(x: float) -> float:
    """x²"""
    return x * x


def _number(given: Any) -> tuple[float]:
    """The input is the number itself."""
    if type(given) not in (int, float):
        raise Malformed("the input is not a number")
    return (float(given),)


FUNCTIONS = {"square": Function(square, _number), "double": Function(aj.grad(square), _number)}


def sample(size: int) -> Any:
    """A number."""
    return float(size)
