"""
The course of one reading of a program as index forms: its hypotheses, and which forms are known not to be 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from checkers.smt.index_factors import Form
from checkers.smt.index_values import Run


@dataclass(frozen=True, slots=True)
class Infinite:
    """A constant that is no real; no real equals it."""

    positive: bool


@dataclass(slots=True)
class Course(Run):
    """One reading, under the hypothesis that values of the functions `apart` are not 0."""

    apart: frozenset[str] = frozenset()

    def nonzero(self, form: Form) -> bool:
        """Whether the hypotheses, or its signs, say that a form is not 0."""
        if positive(form):
            return True
        if len(form.terms) != 1 or form.terms[0][0].bound:
            return False
        return all(f.kind == "call" and f.name in self.apart for f in form.terms[0][0].factors)


def positive(form: Form) -> bool:
    """Whether every product has a positive coefficient and only factors that are positive for sizes of at least 1."""
    return bool(form.terms) and all(c > 0 and all(map(_positive_factor, m.factors)) for m, c in form.terms)


def _positive_factor(factor: Any) -> bool:
    if factor.kind == "inverse":
        inside = factor.parts[0]
        return positive(inside) if isinstance(inside, Form) else _positive_factor(inside)
    if (factor.kind, factor.name) == ("call", "sqrt"):
        return positive(factor.parts[0])
    return factor.kind == "size" or (factor.kind == "call" and factor.name in ("exp", "cosh"))
