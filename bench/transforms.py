"""The transforms: time for each node against the size of the program, by family; the optimizer's effect on the machine's steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bench.families import FAMILIES, straight_line
from bench.measure import Row, timed
from semantics.infer import infer
from semantics.machine import Machine
from semantics.text import read
from semantics.type_language import REAL
from transforms.gradient_programs import gradient_program
from transforms.parse import parse_text
from transforms.pipeline import optimize

SIZES = (100, 1000, 10_000)
LIMIT = 20.0  # seconds that a stage may be expected to take, from what it took at the size before


def rows() -> Iterator[Row]:
    """Every row of this table."""
    for family in FAMILIES:
        base: dict[str, float] = {}
        last: dict[str, float] = {}
        for n in SIZES:
            for name, time, nodes in stages(family(n), n, last):
                what = f"{name}, {family.__name__} {n}"
                if time is None:
                    yield Row(what, "left out", f"size {SIZES[0]}", f"above {LIMIT:.0f} s")
                    continue
                last[name] = time
                ratio = f"{time / nodes / base.setdefault(name, time / nodes):.2f}"
                yield Row(what, f"{1e6 * time / nodes:.0f} µs/node of {nodes}", f"size {SIZES[0]}", ratio)
    yield from steps()


def stages(source: str, n: int, last: Mapping[str, float]) -> Iterator[tuple[str, float | None, int]]:
    """Every stage a program of n lines goes through: its name, its seconds or None if it is left out, the program's nodes."""
    repeats = 3 if n == SIZES[0] else 1
    time, program = timed(lambda: parse_text(source, "f"), repeats)
    nodes = len(program.nodes)
    yield "parse", time, nodes
    text = str(program)
    yield "read", timed(lambda: read(text), repeats)[0], nodes
    yield "infer", timed(lambda: infer(program, (REAL,)), repeats)[0], nodes
    time, adjoint = timed(lambda: gradient_program(program), repeats)
    yield "J", time, nodes
    for name, found in (("optimize", program), ("optimize J", adjoint)):
        too_long = n > SIZES[0] and 10 * last[name] > LIMIT
        yield name, None if too_long else timed(lambda found=found: optimize(found), repeats)[0], nodes  # type: ignore[misc]


def steps() -> Iterator[Row]:
    """What optimizing saves when the gradient runs."""
    for n in (10, 100):
        program = parse_text(straight_line(n), "f")
        adjoint = gradient_program(program)
        before, after = Machine(adjoint).run((0.5,)).steps, Machine(optimize(adjoint)).run((0.5,)).steps
        primal = Machine(program).run((0.5,)).steps
        yield Row(
            f"gradient of {n} statements", f"{after} steps optimized", f"{before} steps as J makes it", f"{after / before:.2f}"
        )
        yield Row(f"gradient of {n} statements", f"{after} steps optimized", f"value: {primal} steps", f"{after / primal:.2f}")
