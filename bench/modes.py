"""The reverse modes side by side: steps and time of the gradient in each, against the value's and against J's, at growing sizes."""

from __future__ import annotations

from collections.abc import Iterator

from bench.measure import Row, timed
from semantics.errors import AdjudgeError
from semantics.machine import Machine
from transforms.gradient_programs import gradient_program
from transforms.modes import MODES
from transforms.parse import parse_text
from transforms.pipeline import optimize

LOOP = """
def f(x, n):
    r = 1.0
    for i in range(n):
        r = r * x + x
    return r
"""
FAT_LOOP = """
def f(x, n):
    r = x
    for i in range(n):
        a = r * x
        b = a * a + x
        c = b * a - r
        r = c / (1.0 + c * c)
    return r
"""
BRANCHES = """
def f(x, n):
    r = x
    for i in range(n):
        if r > 1.0:
            r = r / 2.0
        else:
            r = r * x + 0.5
    return r
"""
RECURSION = """
def f(x, n):
    if n == 0:
        return x
    r = f(x, n - 1)
    return r * x + r
"""
FAMILIES = {"loop": LOOP, "fat loop": FAT_LOOP, "branches in a loop": BRANCHES, "recursion": RECURSION}
TURNS = (10, 100, 1000)
QUADRATIC = {"ssa-recompute": 100}  # turns beyond which a mode that is quadratic by design is left out


def rows() -> Iterator[Row]:
    """Every row of this table."""
    for family, source in FAMILIES.items():
        program = parse_text(source, "f")
        baseline: dict[int, float] = {}
        for name in MODES:
            try:
                adjoint = optimize(gradient_program(program, types=(None, None), mode=name))
            except AdjudgeError as refusal:
                yield Row(f"{family}, {name}", "refused", type(refusal).__name__, "see docs/agreement.md")
                continue
            for turns in TURNS:
                if turns > QUADRATIC.get(name, turns):
                    yield Row(f"{family}, {name}, {turns} turns", "left out", f"{QUADRATIC[name]} turns", "quadratic")
                    continue
                value = Machine(program).run((0.9, turns)).steps
                machine = Machine(adjoint)
                time, result = timed(lambda machine=machine, turns=turns: machine.run((0.9, turns)))  # type: ignore[misc]
                baseline.setdefault(turns, time)
                steps = f"{result.steps} steps, {result.steps / value:.1f} × the value's"
                yield Row(f"{family}, {name}, {turns} turns", steps, "time of J", f"{time / baseline[turns]:.2f}")
