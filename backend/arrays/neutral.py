"""
Reals that may be ZERO, and are added without asking whether they are.

    x if m else ZERO, plus d      =      x + d      where x is -0.0 wherever m is False

ZERO + d is d, and so is -0.0 + d in every bit: of 0.0, of -0.0, and of NaN, which is one value. So the numbers of an array with a
mask are -0.0 where the mask is False: every assignment of ZERO writes both. A sum of two such reals is another: it is -0.0 where
neither is there. Nothing but sums is so simple: 0.5 times ZERO is ZERO, and -1.0 times -0.0 is no longer neutral.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from backend.shape import Reg, Sum
from semantics.primitives.table import TABLE
from semantics.type_language import REAL
from semantics.type_lattice import ZERO_TYPE

NEUTRAL = "-0.0"


def untested(emit: Any, terms: list[Any]) -> Any:
    """The sum of two sensitivities of which one is neutral and the other a real or neutral, too; else None."""
    if not all(_is_real(a) for a in terms) or not any(isinstance(a, Sum) for a in terms):
        return None
    numbers = [as_number(a)[1] if isinstance(a, Sum) else a for a in terms]
    total = emit.primitive(TABLE["add"], numbers)
    choices = [a for a in terms if isinstance(a, Sum)]
    if len(choices) < len(terms):
        return total
    one = choices[0]
    there = emit.settled_test(" or ".join(as_number(a)[0] for a in choices))
    at = one.type.members.index(ZERO_TYPE)
    tests = tuple(f"(not {there})" if k == at else there for k in range(2))
    return replace(one, tests=tests, options=tuple(o if k == at else total for k, o in enumerate(one.options)))


def as_number(value: Sum) -> tuple[str, Reg]:
    """The test whether a neutral real is there, and its number."""
    return next((t, o) for t, o in zip(value.tests, value.options, strict=True) if isinstance(o, Reg))


def _is_real(value: Any) -> bool:
    return value.neutral if isinstance(value, Sum) else isinstance(value, Reg) and value.type == REAL
