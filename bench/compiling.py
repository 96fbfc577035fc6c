"""
The time until code is ready, against the length of a program: straight lines of 10, 100, 1000 statements, of numbers and of arrays.

Processor seconds of the gradient: of the first call, which the virtual machine takes, of writing the text of generated code, and of
compiling it with the first call of that. No program has been compiled before: one of its constants is new in each process. A row
says that it grows faster than the program where ten times as many statements take more than 10^1.5 times as long, and a size that
would take more than two minutes is left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from adjudge.values import to_value
from backend import lowered, runnable
from bench.measure import Row, named, timed
from semantics.type_language import REAL, ArrayType
from transforms.gradient_programs import calling
from transforms.parse import parse_text

SIZES = (10, 100, 1000, 10_000)
LONGEST = 120.0  # seconds that a size may be expected to take
NEW = 1e-9 * os.getpid()
FORMS = {
    "sines": (f"np.sin({{x}}) * x + {NEW}",),
    "arithmetic": ("{x} * x + 0.5", f"{{x}} - {NEW}", "{x} / (x * x + 2.0)"),
    "a mixture": (f"{{x}} * x + {NEW}", "np.cos({x}) - x", "{x} / (x * x + 2.0)", "np.tanh({x}) * {x}"),
}
KINDS: dict[str, tuple[tuple[str, ...], Any, Any]] = {
    **{f"{name} of numbers": (forms, REAL, 0.3) for name, forms in FORMS.items()},
    "a mixture of arrays": (FORMS["a mixture"], ArrayType("f64", (None,)), np.array([0.1, 0.2, 0.3, 0.4])),
}


def straight(forms: tuple[str, ...], count: int, whole: str) -> str:
    """A function of so many statements, each of which needs the one before, and that gives `whole` of the last."""
    lines = [f"    x{k + 1} = {forms[k % len(forms)].format(x=f'x{k}')}" for k in range(count)]
    return "\n".join(["def f(x):", "    x0 = x", *lines, f"    return {whole.format(x=f'x{count}')}", ""])


def rows(only: str = "") -> Iterator[Row]:
    """Every kind of statement, or those whose name has a text in it, from the least size on."""
    for name, (forms, kind, given) in named(KINDS, only).items():
        measured(straight(forms, 3, whole_of(kind)), kind, given)  # what is done once in a process
        before: tuple[int, float] | None = None
        for count in SIZES:
            label = f"{name}, {count} statements"
            if before is not None and before[1] * count / before[0] > LONGEST:
                yield Row(label, "not run", f"would take some {before[1] * count / before[0]:.0f} s", "")
                break
            first, text, code = measured(straight(forms, count, whole_of(kind)), kind, given)
            taken = text + code
            value = f"{taken:.3g} s, {1e3 * taken / count:.3g} ms each"
            yield Row(label, value, f"text {text:.3g} s, first call {first:.3g} s", grown(before, count, taken))
            before = count, taken


def whole_of(kind: Any) -> str:
    return "{x}" if kind == REAL else "np.sum({x})"


def grown(before: tuple[int, float] | None, count: int, taken: float) -> str:
    """By how much more a statement takes than one of the size before, and whether that is much."""
    if before is None:
        return ""
    ratio, times = taken / count * before[0] / before[1], count / before[0]
    return f"{ratio:.2f}{', grows faster' * (ratio > times**0.5)}"


def measured(text: str, kind: Any, given: Any) -> tuple[float, float, float]:
    """Seconds of the first call, of writing code, and of compiling and first calling it."""
    program = calling(parse_text(text, "f", names={"np": np}), "grad", 0, (kind,))
    argument = to_value(given)
    tiered = runnable(program, (kind,))
    first, value = timed(lambda: tiered(argument))
    writing, _ = timed(lambda: lowered(program, (kind,)))
    compiling, found = timed(lambda: tiered(argument))
    if str(found) != str(value):
        raise ValueError(f"code gives {found}, and the machine {value}")
    return first, writing, compiling
