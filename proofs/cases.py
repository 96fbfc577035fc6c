"""The readings of a primitive that its obligation goes through: which arguments move, and what is assumed of them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from typing import Any

import z3

from checkers.smt.terms import real
from proofs.slopes import SLOPES, Slope, power_slope
from semantics.primitives.row import Primitive

SCALARS = ("real", "number")
EXPONENTS = (*range(9), -1, -2, -3, -4)


@dataclass(frozen=True)
class Case:
    """
    One reading of a primitive: the arguments, those of them that move, and what is assumed. `pow` has a case per integer exponent,
    `where` one per condition.
    """

    label: str
    arguments: tuple[Any, ...]
    moving: tuple[int, ...]
    assumed: tuple[Any, ...] = ()
    slopes: tuple[Slope, ...] | None = None


def _per_condition(primitive: Primitive) -> list[Case]:
    """A case for each value of the boolean arguments; the others move."""
    moving = tuple(i for i, kind in enumerate(primitive.signature) if kind != "boolean")
    named = dict(zip(primitive.parameters, primitive.signature, strict=True))
    choices = product(*((True, False) if kind == "boolean" else (z3.Real(name),) for name, kind in named.items()))
    return [Case(f"at {[a for a in c if isinstance(a, bool)]}", tuple(c), moving) for c in choices]


def cases(primitive: Primitive) -> list[Case]:
    """The cases of a primitive; none if it is not a function of reals."""
    kinds = (*primitive.signature, primitive.result)
    if not primitive.signature or any(kind not in (*SCALARS, "boolean", "integer") for kind in kinds):
        return []
    if "integer" in primitive.signature or primitive.result == "boolean":
        return []
    if "boolean" in primitive.signature:
        return _per_condition(primitive)
    xs = tuple(z3.Real(name) for name in primitive.parameters)
    named = dict(zip(primitive.parameters, xs, strict=True))
    if primitive.name == "pow":
        integral = [Case(f"exponent {n}", (xs[0], n), (0,), (xs[0] != 0,) if n < 0 else (), (power_slope(n),)) for n in EXPONENTS]
        return [*integral, Case("real exponent", xs, (0, 1), (xs[0] > 0,))]
    assumed = [c for condition in primitive.domain for c in condition.conjuncts(named, real)]
    for kink in primitive.kinks:
        with suppress(TypeError):
            assumed.append(z3.Not(z3.And(*kink.conjuncts(named, real))))
    return [Case("", xs, tuple(range(len(xs))), tuple(assumed), SLOPES.get(primitive.name))]
