"""
Reals that may be ZERO, and are added without asking whether they are.

    x if m else ZERO, plus d      =      x + d      where x is -0.0 wherever m is False

ZERO + d is d, and so is -0.0 + d in every bit: of 0.0, of -0.0, and of NaN, which is one value. So the numbers of an array with a
mask are -0.0 where the mask is False: every assignment of ZERO writes both. A sum of two such reals is another: it is -0.0 where
neither is there. Of a product, 0.5 times ZERO is ZERO, and -1.0 times -0.0 is no longer neutral: so -0.0 is put in its place.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from backend.lowering.shape import Reg, Sum
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
    return _neutral(choices[0], emit.settled_test(" or ".join(dict.fromkeys(as_number(a)[0] for a in choices))), total)


def scaled(emit: Any, name: str, factors: list[Any]) -> Any:
    """
    A product, a quotient or the negative of a neutral real, which is ZERO where that is: the number is computed in any case, and
    -0.0 is put where it is not there. So there is no branch, and a loop of such is vectorised. Of a product of products -0.0 is put
    once, at the end. None for anything else.
    """
    choices = [a for a in factors if isinstance(a, Sum)]
    if name not in ("mul", "div", "neg") or not choices or not all(_is_real(a) for a in factors):
        return None
    if name == "div" and isinstance(factors[1], Sum):
        return None
    numbers = [as_number(a)[1] if isinstance(a, Sum) else a for a in factors]
    found = emit.primitive(TABLE[name], [emit.anywhere.get(n.text, n) for n in numbers])
    there = emit.settled_test(" and ".join(dict.fromkeys(as_number(a)[0] for a in choices)))
    chosen = emit.settled(Reg(f"{found.text} if {there} else {NEUTRAL}", REAL))
    emit.anywhere[chosen.text] = found
    return _neutral(choices[0], there, chosen)


def _neutral(like: Sum, there: str, number: Any) -> Sum:
    """What `number` is where it is there, and ZERO."""
    at = like.type.members.index(ZERO_TYPE)
    tests = tuple(f"(not {there})" if k == at else there for k in range(2))
    return replace(like, tests=tests, options=tuple(o if k == at else number for k, o in enumerate(like.options)))


def as_number(value: Sum) -> tuple[str, Reg]:
    """The test whether a neutral real is there, and its number."""
    return next((t, o) for t, o in zip(value.tests, value.options, strict=True) if isinstance(o, Reg))


def _is_real(value: Any) -> bool:
    return value.neutral if isinstance(value, Sum) else isinstance(value, Reg) and value.type == REAL
