"""
Whole numbers in programs of symbolic sizes: what primitives mean where sizes and indices are polynomials.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from checkers.smt.index_factors import NotReachedError
from checkers.smt.index_movement import Integers
from checkers.smt.index_places import Index, Lookup, Place, dim_of, extent, plus, times
from checkers.smt.index_values import SizeOf
from semantics.columns.meaning import MEANING
from semantics.primitives.table import TABLE

POLYNOMIAL: dict[str, Callable[[Index, Index], Index]] = {
    "add": plus,
    "sub": lambda a, b: plus(a, b, -1),
    "mul": times,
}


def whole(x: Any) -> Index | None:
    """A whole number as an index term; None for anything else."""
    if type(x) is int or isinstance(x, (Lookup, Place)):
        return x
    if isinstance(x, SizeOf):
        return extent(x.name)
    return x.at(()) if isinstance(x, Integers) and x.shape == () else None


def number_of(term: Index) -> Any:
    """A term as a value of the reading: one of sizes only is a size."""
    if isinstance(term, int):
        return term
    try:
        size = dim_of(term)
        return size if isinstance(size, int) else SizeOf(size)
    except ValueError:
        return term


def on_integers(name: str, cell: Callable[..., Any]) -> Callable[..., Any]:
    """The cell, and on whole numbers what the primitive means there."""

    def on_integers(*arguments: Any) -> Any:
        if all(type(a) is int or type(a) is bool or a is None or isinstance(a, str) for a in arguments):
            return MEANING[TABLE[name]](*arguments)
        terms = [whole(a) for a in arguments]
        if any(t is None for t in terms):
            return cell(*arguments)
        if name in POLYNOMIAL:
            return number_of(POLYNOMIAL[name](*terms))  # type: ignore[arg-type]
        if name == "neg":
            return number_of(plus(0, terms[0], -1))  # type: ignore[arg-type]
        if name == "floordiv":
            return number_of(_quotient(*terms))  # type: ignore[arg-type]
        if name in ("min", "max") and terms[0] == terms[1]:
            return arguments[0]
        if name == "gt" and isinstance(arguments[0], SizeOf) and arguments[1] == 0:
            return True  # sizes are at least 1
        return cell(*arguments)

    return on_integers


def _quotient(a: Index, b: Index) -> Index:
    """The quotient of two products of sizes, which must have no remainder."""
    if a == b:
        return 1
    if b == 1:
        return a
    if isinstance(a, Place) and isinstance(b, Place) and len(a.terms) == len(b.terms) == 1:
        (atoms, c), (others, d) = a.terms[0], b.terms[0]
        left = list(atoms)
        for atom in others:
            if atom not in left:
                raise NotReachedError("a quotient of sizes with a remainder")
            left.remove(atom)
        if c % d == 0:
            return times(c // d, Place(((tuple(left), 1),)) if left else 1)
    raise NotReachedError("a quotient of sizes that is not known")
