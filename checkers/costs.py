"""
T20, the cheap gradient, measured: for every family of programs one constant bounds work(J f) by c · work(f) + d.

A *family* is a Python source of `f` that grows with a size n, or is called with arguments that do. Its constant is the largest
slope of the gradient's work against the value's, between consecutive sizes; d pays for what does not grow. Work is defined in
`checkers.work`. `adjudge about --costs` prints the table. The largest size is such that a gradient whose work grows with the
square, because each projection from a tuple of n sends back n elements, is above the bound.

Another family is one more entry in `checkers.cost_families` or `checkers.array_cost_families`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from checkers.array_cost_families import ARRAY_FAMILIES, DATA_FAMILIES
from checkers.cost_families import SCALAR_FAMILIES, Family
from checkers.verdict import Counterexample, Passed, Refuted, Vacuous, Verdict
from checkers.work import work
from semantics.columns.meaning import MEANING
from semantics.ir import Program
from semantics.primitives.row import Column
from semantics.type_language import type_of
from transforms.gradient_programs import gradient_program

FAMILIES = (*SCALAR_FAMILIES, *ARRAY_FAMILIES, *DATA_FAMILIES)
SIZES = (16, 64, 256)
CONSTANT = 40.0  # measured: 30.0 for multiplications, whose value takes one step a line, and less for all others; a third more


@dataclass(frozen=True, slots=True)
class Cost:
    """What was measured of a family: (n, work of the value, work of the gradient), for growing n."""

    family: str
    measured: tuple[tuple[int, int, int], ...]

    @property
    def constant(self) -> float:
        """The largest growth of the gradient's work for one of the value's, between consecutive sizes."""
        return max((g - f) / max(1, v - u) for (_, u, f), (_, v, g) in pairwise(self.measured))

    @property
    def row(self) -> dict[str, Any]:
        """The cost as a row of a table: at the largest size, the constant, the bound that is declared, the verdict."""
        n, value, gradient = self.measured[-1]
        shown = {"family": self.family, "n": n, "work of value": value, "work of gradient": gradient}
        ratios = {"ratio": f"{gradient / value:.1f}", "constant": f"{self.constant:.1f}", "bound": CONSTANT}
        return {**shown, **ratios, "verdict": type(self.verdict).__name__.lower()}

    @property
    def verdict(self) -> Verdict:
        """Whether the constant keeps below CONSTANT. Vacuous if the value's work did not grow."""
        claim = f"T20 cheap gradient: {self.family}"
        if any(v <= u for (_, u, _), (_, v, _) in pairwise(self.measured)):
            return Vacuous("the work of the value does not grow with n", claim)
        if self.constant > CONSTANT:
            return Refuted(Counterexample({"n": self.measured[-1][0]}, self.constant, f"at most {CONSTANT}"), claim=claim)
        return Passed(len(self.measured), f"sizes; {self.constant:.1f} of the gradient for one of the value", claim)


def cost(
    family: Family,
    sizes: Sequence[int] = SIZES,
    gradient: Callable[..., Program] = gradient_program,
    column: Column = MEANING,
) -> Cost:
    """The work of the value and of the gradient of a family at these sizes; primitives mean what `column` says."""
    rows: list[tuple[int, int, int]] = []
    for n in sizes:
        program, arguments = family.program(n), family.arguments(n)
        derivative = gradient(program, 0, [type_of(a) for a in arguments])
        rows.append((n, work(program, arguments, column), work(derivative, arguments, column)))
    return Cost(family.name, tuple(rows))


def costs(families: Sequence[Family] = FAMILIES) -> list[Cost]:
    """What every family costs."""
    return [cost(family) for family in families]
