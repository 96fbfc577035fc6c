"""The transforms: time for each node against the size of the program, by family; the optimizer's effect on the machine's steps."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

from bench.families import FAMILIES, straight_line
from bench.measure import Row, seconds
from semantics.infer import infer
from semantics.machine import Machine
from semantics.text import read
from semantics.type_language import REAL
from transforms.gradient_programs import gradient_program
from transforms.parse import parse_text
from transforms.pipeline import optimize

SIZES = (100, 1000, 10_000)
ROOM = 1000  # statements whose gradient is optimized: its program is about twenty times as large


def each_node(action: Callable[[], Any], nodes: int) -> float:
    """Seconds for each node, with the collector of cycles off, as `timeit` has it: programs hold no cycles of objects."""
    gc.disable()
    try:
        return seconds(action, 1) / nodes
    finally:
        gc.enable()


def rows() -> Iterator[Row]:
    """Every row of this table."""
    for family in FAMILIES:
        base: dict[str, float] = {}
        for n in SIZES:
            source = family(n)
            program = parse_text(source, "f")
            text, nodes = str(program), len(program.nodes)
            adjoint = gradient_program(program)
            measured: dict[str, Callable[[], Any]] = {
                "parse": lambda source=source: parse_text(source, "f"),  # type: ignore[misc]
                "print and read": lambda text=text: read(text),  # type: ignore[misc]
                "infer": lambda program=program: infer(program, (REAL,)),  # type: ignore[misc]
                "J": lambda program=program: gradient_program(program),  # type: ignore[misc]
                "optimize": lambda program=program: optimize(program),  # type: ignore[misc]
            }
            if n <= ROOM:
                measured["optimize J"] = lambda adjoint=adjoint: optimize(adjoint)  # type: ignore[misc]
            for name, action in measured.items():
                time = each_node(action, nodes)
                ratio = f"{time / base.setdefault(name, time):.2f}"
                yield Row(f"{name}, {family.__name__} {n}", f"{1e6 * time:.0f} µs/node of {nodes}", f"size {SIZES[0]}", ratio)
    yield from steps()


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
