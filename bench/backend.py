"""The backend on the CPU: generated code against the reference machine, against CPython, and its compile time apart."""

from __future__ import annotations

import math
from collections.abc import Iterator

from bench.machine import LOOP, python
from bench.measure import Row, seconds
from semantics.machine import Machine
from semantics.type_language import INTEGER, REAL
from transforms.gradient_programs import gradient_program
from transforms.parse import parse_text
from transforms.pipeline import optimize

FIGURE = """
import math

def f(x, y):
    a = x ** 3 * math.sin(y)
    b = y ** 4
    return a * b
"""


def by_hand(x: float, y: float) -> float:
    """The derivative of FIGURE by x, as one would write it."""
    return 3 * x**2 * math.sin(y) * y**4


def rows() -> Iterator[Row]:
    """Every row of this table."""
    from backend import compile as compile_for

    program, turns = parse_text(LOOP, "power"), 10**5
    first = seconds(lambda: compile_for(program, (REAL, INTEGER), "cpu")(1.0, 1), 1)
    compiled = compile_for(program, (REAL, INTEGER), "cpu")
    fast = seconds(lambda: compiled(1.0, turns))
    plain = seconds(lambda: python(1.0, turns))
    reference = seconds(lambda: Machine(program).run((1.0, turns)), 1)
    yield Row(
        f"loop of {turns} turns, compiled", f"{fast:.6f} s", f"reference machine {reference:.3f} s", f"{fast / reference:.6f}"
    )
    yield Row(f"loop of {turns} turns, compiled", f"{fast:.6f} s", f"CPython {plain:.5f} s", f"{fast / plain:.4f}")
    yield Row("loop, first call", f"{first:.3f} s", f"a later call {fast:.6f} s", f"{first / fast:.0f}")
    gradient = optimize(gradient_program(parse_text(FIGURE, "f")))
    kernel = compile_for(gradient, (REAL, REAL), "cpu")
    calls = 10**4
    ours = seconds(lambda: [kernel(1.5, 0.5) for _ in range(calls)])
    hand = seconds(lambda: [by_hand(1.5, 0.5) for _ in range(calls)])
    yield Row(
        f"{calls} gradients of a product, one call each", f"{ours:.4f} s", f"by hand in CPython {hand:.4f} s", f"{ours / hand:.1f}"
    )
