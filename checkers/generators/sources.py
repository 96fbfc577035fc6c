"""
Python source of the scalar language as a Hypothesis strategy.

Each program draws a swarm mask first, the subset of features that it may use: programs with few features find bugs that
programs with all of them drown (Groce et al., "Swarm testing", 2012).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from checkers.generators.options import Options
from checkers.generators.statements import give_back, statement
from checkers.generators.writer import FUNCTION_BOUND, Variable, Writer
from semantics.ir import Program

PARAMETERS = ("x", "z", "p", "q")


@dataclass(frozen=True, slots=True)
class Source:
    """A generated program: its text, the number of real parameters of its entry `f`, and the features that it uses."""

    text: str
    parameters: int
    used: frozenset[str]

    def __repr__(self) -> str:
        return f"Source of f:\n{self.text}"

    @property
    def has_oracle(self) -> bool:
        """Whether CPython can run it: grad is not Python."""
        return "nested_grad" not in self.used

    def python(self) -> Callable[..., Any]:
        """The function that CPython makes of the text."""
        namespace: dict[str, Any] = {}
        exec(compile(self.text, "<generated>", "exec"), namespace)  # text of our own making
        function: Callable[..., Any] = namespace["f"]
        return function

    def program(self) -> Program:
        """The program that our parser makes of the text."""
        from transforms.parse import parse_text

        return parse_text(self.text, "f")


@st.composite
def sources(draw: Callable[[Any], Any], options: Options = Options()) -> Source:  # noqa: B008 (frozen)
    """Programs `f(x, …)` of reals to a real, whose arguments should be no larger than 4."""
    allowed = options.allowed()
    mask = draw(st.integers(0, 2 ** len(allowed) - 1))
    features = frozenset(f for i, f in enumerate(allowed) if mask >> i & 1) | (options.always & frozenset(allowed))
    w = Writer(draw, options, features)
    names = PARAMETERS[: options.parameters]
    w.line(f"def f({', '.join(names)}):")
    w.indent = 1
    w.scope = [Variable(n, "real", FUNCTION_BOUND) for n in names]
    while w.budget > 0:
        statement(w)
    give_back(w)
    needed = {"math": "import math", "numpy": "import numpy as np", "nested_grad": "from adjudge import grad"}
    header = [line for feature, line in needed.items() if feature in w.used]
    return Source("\n".join([*header, *w.lines]) + "\n", options.parameters, frozenset(w.used))
