"""The transforms: time against the size of the program, at 1, 10 and 100 times; the optimizer's effect on the machine's steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from bench.measure import Row, seconds
from semantics.machine import Machine
from semantics.text import read
from transforms.gradient_programs import gradient_program
from transforms.parse import parse_text
from transforms.pipeline import optimize


def straight_line(n: int) -> str:
    """A function of n statements."""
    body = "\n".join(f"    y = math.sin(y) * x + {i % 7}.0" for i in range(n))
    return f"import math\n\ndef f(x):\n    y = x\n{body}\n    return y\n"


def rows() -> Iterator[Row]:
    """Every row of this table."""
    sizes = (10, 100, 1000)
    programs = {n: parse_text(straight_line(n), "f") for n in sizes}
    texts = {n: str(p) for n, p in programs.items()}
    measured: dict[str, Callable[[int], Any]] = {
        "parse": lambda n: parse_text(straight_line(n), "f"),
        "print and read": lambda n: read(texts[n]),
        "J": lambda n: gradient_program(programs[n]),
        "optimize": lambda n: optimize(programs[n]),
    }
    for name, action in measured.items():
        base = seconds(lambda a=action: a(sizes[0])) / sizes[0]  # type: ignore[misc]
        for n in sizes:
            each = seconds(lambda a=action, n=n: a(n), 1) / n  # type: ignore[misc]
            yield Row(f"{name}, {n} statements", f"{1e6 * each:.0f} µs/statement", f"{sizes[0]} statements", f"{each / base:.2f}")
    for n in (10, 100):
        adjoint = gradient_program(programs[n])
        optimized = optimize(adjoint)
        before, after = Machine(adjoint).run((0.5,)).steps, Machine(optimized).run((0.5,)).steps
        primal = Machine(programs[n]).run((0.5,)).steps
        yield Row(
            f"gradient of {n} statements", f"{after} steps optimized", f"{before} steps as J makes it", f"{after / before:.2f}"
        )
        yield Row(f"gradient of {n} statements", f"{after} steps optimized", f"value: {primal} steps", f"{after / primal:.2f}")
