"""The machine: steps per second, time and memory from 10^3 to 10^6 steps, the cost of a gradient."""

from __future__ import annotations

from collections.abc import Iterator

from bench.measure import Row, peak, seconds
from semantics.machine import Machine
from semantics.type_language import INTEGER, REAL
from transforms.gradient_programs import gradient_program
from transforms.parse import parse_text

LOOP = """
def power(x, n):
    r = 1.0
    while n > 0:
        r = r * x
        n = n - 1
    return r
"""

RECURSION = """
def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)
"""


def python(x: float, n: int) -> float:
    """The loop as CPython runs it."""
    r = 1.0
    while n > 0:
        r = r * x
        n = n - 1
    return r


def rows() -> Iterator[Row]:
    """Every row of this table."""
    loop, recursion = (Machine(parse_text(source, "power")) for source in (LOOP, RECURSION))
    base: tuple[float, int] | None = None
    for turns in (10**2, 10**3, 10**4, 10**5):
        steps = loop.run((1.0, turns)).steps
        time, memory = seconds(lambda n=turns: loop.run((1.0, n))), peak(lambda n=turns: loop.run((1.0, n)))  # type: ignore[misc]
        each = time / steps
        against = f"{1e9 * base[0]:.0f} ns/step, {base[1] / 1e3:.0f} kB at {10**2} turns" if base else "itself"
        ratio = f"time {each / base[0]:.2f}, memory {memory / base[1]:.2f}" if base else "1"
        yield Row(
            f"loop, {steps} steps", f"{1e9 * each:.0f} ns/step ({steps / time:,.0f} steps/s), {memory / 1e3:.0f} kB", against, ratio
        )
        base = base or (each, memory)
    turns = 10**4
    plain = seconds(lambda: python(1.0, turns))
    time = seconds(lambda: loop.run((1.0, turns)))
    yield Row(f"loop of {turns} turns", f"{time:.3f} s", f"CPython {plain:.5f} s", f"{time / plain:.0f}")
    depths = {}
    for depth in (10**3, 10**4, 10**5):
        steps = recursion.run((1.0, depth)).steps
        depths[depth] = seconds(lambda d=depth: recursion.run((1.0, d)), 1) / steps  # type: ignore[misc]
    for depth, each in depths.items():
        yield Row(f"recursion of depth {depth}", f"{1e9 * each:.0f} ns/step", "depth 1000", f"{each / depths[10**3]:.2f}")
    for name, source in (("loop", LOOP), ("recursion", RECURSION)):
        program = parse_text(source, "power")
        adjoint = gradient_program(program, types=(REAL, INTEGER))
        for turns in (10**2, 10**3, 10**4):
            primal, both = Machine(program).run((1.0, turns)).steps, Machine(adjoint).run((1.0, turns)).steps
            yield Row(f"gradient of the {name}, {turns} turns", f"{both} steps", f"value: {primal} steps", f"{both / primal:.2f}")
