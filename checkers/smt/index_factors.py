"""
What index forms are made of: factors, products with bound indices, and sums of those; and what is read off them at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from checkers.smt.index_places import Condition, Dim, Index, Lookup, Place, condition, extent, names_in, plus, solved


class NotReachedError(Exception):
    """The program says something that this normal form has no words for."""


@dataclass(frozen=True, slots=True)
class Factor:
    """
    An entry x[i, j], a size, δ(i, j) below a size, a function of forms, or the inverse of a form or of a factor.

    "holds" is 1 where a condition on indices holds, else 0; "truth" is 1 where a comparison of forms holds.
    """

    kind: str
    name: str
    parts: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Monomial:
    """Σ over `bound` (an index and its size, each) of the product of the factors."""

    bound: tuple[tuple[Index, Dim], ...]
    factors: tuple[Factor, ...]


@dataclass(frozen=True, slots=True)
class Form:
    """A sum of monomials with rational coefficients, in order."""

    terms: tuple[tuple[Monomial, Fraction], ...]

    @property
    def height(self) -> int:
        """How deeply forms are nested below: the names of bound indices carry it, so that none is captured."""
        return 1 + max((height(f) for m, _ in self.terms for f in m.factors), default=0)


def height(factor: Factor) -> int:
    """The height of the forms in a factor."""
    inner = (p.height if isinstance(p, Form) else height(p) for p in factor.parts if isinstance(p, (Form, Factor)))
    return max(inner, default=0)


def occurs(index: Index, factor: Factor | Form) -> bool:
    """Whether an index occurs free in a factor or a form: bound ones have names of their own."""
    todo: list[Any] = [factor]
    while todo:
        found = todo.pop()
        if isinstance(found, Form):
            todo.extend(f for m, _ in found.terms for f in m.factors)
        elif isinstance(found, Factor):
            todo.extend(found.parts)
        elif isinstance(found, (Condition, str, Lookup, Place)):
            if index in set(names_in(found.place if isinstance(found, Condition) else found)):
                return True
        elif found == index:
            return True
    return False


def tidied(factors: Sequence[Factor], bound: Sequence[tuple[Index, Dim]]) -> list[Factor]:
    """Without what is 1: δ(i, i), conditions that are met, and conditions and truths that stand there already."""
    met = {condition("ge", i) for i, _ in bound} | {condition("ge", plus(plus(extent(n), 1, -1), i, -1)) for i, n in bound}
    found: dict[Factor, int] = {}
    for f in factors:
        if f.kind == "delta" and any(isinstance(i, (Place, Lookup)) for i in f.parts):
            f = Factor("holds", "", (condition("eq", plus(f.parts[0], f.parts[1], -1)),))
        if (f.kind == "delta" and f.parts[0] == f.parts[1]) or (f.kind == "holds" and (f.parts[0] is True or f.parts[0] in met)):
            continue
        found[f] = 1 if f.kind in ("holds", "truth", "delta") else found.get(f, 0) + 1
    return list(Counter(found).elements())


def equal_index(factors: Sequence[Factor], index: Index, dim: Dim) -> tuple[Index, list[Factor]] | None:
    """What a bound index is equal to, and the conditions that this is one; 0 for the only index of an axis of size 1."""
    if dim == 1:
        return 0, []
    for factor in factors:
        if factor.kind == "delta" and factor.name == str(dim) and index in factor.parts and factor.parts[0] != factor.parts[1]:
            return next(i for i in factor.parts if i != index), []
    for factor in factors:
        if factor.kind == "holds" and isinstance(c := factor.parts[0], Condition) and c.kind == "eq":
            other = solved(c.place, str(index))
            if other is not None:
                last = plus(plus(extent(dim), 1, -1), other, -1)
                return other, [Factor("holds", "", (condition("ge", t),)) for t in (other, last)]
    return None


def connected(
    index: Index, bound: Sequence[tuple[Index, Dim]], factors: Sequence[Factor]
) -> tuple[tuple[tuple[Index, Dim], ...], list[Factor]]:
    """The bound indices that factors tie to this one, and all factors that speak of them."""
    tied = {index}
    while True:
        own = [f for f in factors if any(occurs(i, f) for i in tied)]
        wider = {i for i, _ in bound if any(occurs(i, f) for f in own)}
        if wider <= tied:
            return tuple(b for b in bound if b[0] in tied), own
        tied |= wider
