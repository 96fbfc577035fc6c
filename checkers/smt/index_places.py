"""
Index terms: which element of an array an index form speaks of, and under which condition.

    i        an index                     n - 1 - i     a polynomial of indices and sizes with whole coefficients
    n        a size, as a number          k[i, j]       an element of an array of indices, below a size

A condition says of such a term that it is 0, or that it is not negative; as a factor of a form it counts 1 or 0. Terms are kept as
sums of products in order, so that equal polynomials are equal as data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Extent:
    """A size, as a number."""

    name: str


@dataclass(frozen=True, slots=True)
class Lookup:
    """An element of an array of indices, each at least 0 and below a size."""

    name: str
    at: tuple[Index, ...]
    below: Index


@dataclass(frozen=True, slots=True)
class Place:
    """A sum of products with whole coefficients, in order; the product of nothing is 1."""

    terms: tuple[tuple[tuple[Atom, ...], int], ...]

    def __str__(self) -> str:
        return " + ".join("*".join([str(c), *map(_shown, atoms)]) for atoms, c in self.terms)


@dataclass(frozen=True, slots=True)
class Condition:
    """`place` is 0 ("eq"), or not negative ("ge")."""

    kind: str
    place: Index


Atom: TypeAlias = str | Extent | Lookup
Index: TypeAlias = str | int | Lookup | Place
Dim: TypeAlias = str | int | Place


def _shown(atom: Atom) -> str:
    return atom.name if isinstance(atom, Extent) else str(atom)


def _polynomial(term: Index) -> dict[tuple[Atom, ...], int]:
    match term:
        case Place(terms):
            return dict(terms)
        case int():
            return {(): term} if term else {}
        case _:
            return {(term,): 1}


def _made(polynomial: Mapping[tuple[Atom, ...], int]) -> Index:
    """The term of a polynomial: a number or an atom by itself where it is one."""
    terms = sorted(((m, c) for m, c in polynomial.items() if c), key=repr)
    if not terms:
        return 0
    if len(terms) == 1:
        (atoms, coefficient) = terms[0]
        if not atoms:
            return coefficient
        if coefficient == 1 and len(atoms) == 1 and not isinstance(atoms[0], Extent):
            return atoms[0]
    return Place(tuple(terms))


def plus(a: Index, b: Index, by: int = 1) -> Index:
    """a + by·b"""
    found = _polynomial(a)
    for atoms, c in _polynomial(b).items():
        found[atoms] = found.get(atoms, 0) + by * c
    return _made(found)


def times(a: Index, b: Index) -> Index:
    """The product."""
    found: dict[tuple[Atom, ...], int] = {}
    for m, c in _polynomial(a).items():
        for n, d in _polynomial(b).items():
            atoms = tuple(sorted((*m, *n), key=repr))
            found[atoms] = found.get(atoms, 0) + c * d
    return _made(found)


def extent(dim: Dim) -> Index:
    """A size as a term: a name among sizes is that of a size."""
    return Place((((Extent(dim),), 1),)) if isinstance(dim, str) else dim


def dim_of(term: Index) -> Dim:
    """A term made of sizes, as a size: one by itself is its name."""
    match term:
        case int() | Place((((Extent(_),), 1),)):
            return term if isinstance(term, int) else term.terms[0][0][0].name  # type: ignore[union-attr]
        case Place(terms) if all(isinstance(atom, Extent) for atoms, _ in terms for atom in atoms):
            return term
        case _:
            raise ValueError(f"{term} is no size")


def flat(indices: tuple[Index, ...], shape: tuple[Dim, ...]) -> Index:
    """The place in row-major order: (i·m + j)·k + …"""
    found: Index = 0
    for i, n in zip(indices, shape, strict=True):
        found = plus(times(found, extent(n)), i)
    return found


def substituted(term: Index, names: Mapping[Index, Index]) -> Index:
    """The term with other terms for some of its indices, all at once."""
    match term:
        case int():
            return term
        case str():
            return names.get(term, term)
        case Lookup(name, at, below):
            return Lookup(name, tuple(substituted(i, names) for i in at), below)
        case Place(terms):
            found: Index = 0
            for atoms, c in terms:
                product: Index = c
                for atom in atoms:
                    product = times(product, extent(atom.name) if isinstance(atom, Extent) else substituted(atom, names))
                found = plus(found, product)
            return found


def names_in(term: Index) -> Iterator[str]:
    """The indices in a term."""
    match term:
        case str():
            yield term
        case Lookup(_, at, _):
            for i in at:
                yield from names_in(i)
        case Place(terms):
            for atoms, _ in terms:
                for atom in atoms:
                    if not isinstance(atom, Extent):
                        yield from names_in(atom)


def lookups_in(term: Index) -> Iterator[Lookup]:
    """The elements of arrays of indices in a term, those within others too."""
    match term:
        case Lookup(_, at, _):
            yield term
            for i in at:
                yield from lookups_in(i)
        case Place(terms):
            for atoms, _ in terms:
                for atom in atoms:
                    if isinstance(atom, Lookup):
                        yield from lookups_in(atom)


def solved(term: Index, index: str) -> Index | None:
    """What `index` is if the term is 0; None unless it occurs once, by itself and with coefficient ±1."""
    polynomial = _polynomial(term)
    coefficient = polynomial.pop((index,), 0)
    rest = _made(polynomial)
    if abs(coefficient) != 1 or index in names_in(rest):
        return None
    return times(-coefficient, rest)


def condition(kind: str, term: Index) -> Condition | bool:
    """The condition in its normal form; True or False where it speaks of numbers."""
    if isinstance(term, int):
        return term == 0 if kind == "eq" else term >= 0
    if kind == "eq":
        polynomial = _polynomial(term)
        if next(c for m, c in sorted(polynomial.items(), key=repr)) < 0:
            term = times(-1, term)
    return Condition(kind, term)
