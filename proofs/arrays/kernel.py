"""
Derivatives of index forms, and when two linear maps between arrays are each other's adjoint.

    <w, L v> = Σp,q w[p] K(p, q) v[q]

Every product in such a form has one entry of w and one of v; what is left of it, where these stand at p and q, is its part of the
kernel K. Two forms are equal for all w and v if their kernels are: the products that have the same factors must stand there equally
often at every p and q. How often is a sum of conditions on indices, and z3 compares two of these, for all sizes. Forms that are
linear in three arrays, as second derivatives are, have a kernel K(p, q, r) likewise.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import z3
from z3 import z3util

from checkers.smt import index_form as forms
from checkers.smt.index_factors import Factor, Form, Monomial, NotReachedError, occurs
from checkers.smt.index_places import (
    Condition,
    Dim,
    Extent,
    Index,
    Lookup,
    Place,
    condition,
    extent,
    lookups_in,
    names_in,
    plus,
    solved,
    substituted,
)

Skeleton = tuple[tuple[Any, ...], tuple[Factor, ...]]


# derivatives

Slope = Callable[..., Sequence[Form]]
Slopes = Mapping[str, Slope]
SLOPES: dict[str, Slope] = {
    "exp": lambda x: (forms.call("exp", x),),
    "log": lambda x: (forms.inverse(x),),
    "sqrt": lambda x: (forms.scaled(forms.inverse(forms.call("sqrt", x)), Fraction(1, 2)),),
}
"""The derivatives that rows on arrays need; each is a lemma of `proofs.lemmas`."""


def derivative(form: Form, moving: Mapping[str, str], slopes: Slopes = SLOPES) -> Form:
    """
    The derivative of a form when the entries of each array in `moving` change at the rate of the array named there.

    By the product rule; conditions, truths and sizes do not change.
    """
    fresh = itertools.count()
    return _derivative(form, moving, slopes, fresh)


def _derivative(form: Form, moving: Mapping[str, str], slopes: Slopes, fresh: Iterator[int]) -> Form:
    parts = []
    for monomial, coefficient in form.terms:
        names: dict[Index, Index] = {i: f"d{next(fresh)}" for i, _ in monomial.bound}
        factors = [renamed(f, names) for f in monomial.factors]
        for k, factor in enumerate(factors):
            slope = _of_factor(factor, moving, slopes, fresh)
            if not slope.terms:
                continue
            product = forms.scaled(slope, coefficient)
            for other in (*factors[:k], *factors[k + 1 :]):
                product = forms.multiply(product, forms.single(other))
            for index, n in monomial.bound:
                product = forms.summed(product, str(names[index]), n)
            parts.append(product)
    return forms.add(*parts)


def renamed(factor: Factor, names: dict[Index, Index]) -> Factor:
    """The factor with other names for its free indices."""
    if not any(occurs(i, factor) for i in names):
        return factor
    found = forms.rename(forms.single(factor), names)
    ((monomial, _),) = found.terms
    return monomial.factors[0]


def _of_factor(factor: Factor, moving: Mapping[str, str], slopes: Slopes, fresh: Iterator[int]) -> Form:
    match factor.kind:
        case "entry" if factor.name in moving:
            return forms.single(Factor("entry", moving[factor.name], factor.parts))
        case "inverse":
            inside = factor.parts[0] if isinstance(factor.parts[0], Form) else forms.single(factor.parts[0])
            slope = _derivative(inside, moving, slopes, fresh)
            square = forms.multiply(forms.single(factor), forms.single(factor))
            return forms.scaled(forms.multiply(slope, square), -1)
        case "call":
            inner = [_derivative(a, moving, slopes, fresh) for a in factor.parts]
            if not any(d.terms for d in inner):
                return forms.constant(0)
            if factor.name not in slopes:
                raise NotReachedError(f"the derivative of {factor.name}")
            partials = slopes[factor.name](*factor.parts)
            return forms.add(*(forms.multiply(p, d) for p, d in zip(partials, inner, strict=True) if d.terms))
        case _:
            return forms.constant(0)


# kernels


def ranges(letter: str, shape: Sequence[Dim]) -> dict[str, Dim]:
    """Names for the indices of an array, with their sizes."""
    return {f"{letter}{k}": n for k, n in enumerate(shape) if n != 1}


def kernel(form: Form, arrays: Mapping[str, str], sizes: Mapping[str, Dim]) -> Form:
    """
    K(p, q), where `arrays` names the array at each letter and every product has one entry of each.

    `sizes` names the indices whose axes have not size 1.
    """
    parts, names_of_arrays = [], tuple(arrays.values())
    for monomial, coefficient in form.terms:
        entries = {name: [f for f in monomial.factors if f.kind == "entry" and f.name == name] for name in names_of_arrays}
        rest = [f for f in monomial.factors if f.kind != "entry" or f.name not in names_of_arrays]
        if any(len(found) != 1 for found in entries.values()) or any(speaks_of(f, names_of_arrays) for f in rest):
            raise NotReachedError("it is not seen to be linear")
        conditions = []
        for letter, name in arrays.items():
            for k, at in enumerate(entries[name][0].parts):
                if f"{letter}{k}" in sizes:
                    conditions.append(("eq", plus(at, f"{letter}{k}", -1)))
        names: dict[Index, Index] = {i: f"k{j}" for j, (i, _) in enumerate(monomial.bound)}
        product = forms.total([(Monomial((), tuple(renamed(f, names) for f in rest)), coefficient)])
        for kind, term in conditions:
            product = forms.multiply(product, forms.holds(kind, substituted(term, names)))
        for index, n in monomial.bound:
            product = forms.summed(product, str(names[index]), n)
        parts.append(product)
    return forms.add(*parts)


def speaks_of(factor: Any, names: Sequence[str]) -> bool:
    """Whether an entry of one of the arrays stands in a factor."""
    todo = [factor]
    while todo:
        found = todo.pop()
        if isinstance(found, Form):
            todo.extend(f for m, _ in found.terms for f in m.factors)
        elif isinstance(found, Factor):
            if found.kind == "entry" and found.name in names:
                return True
            todo.extend(p for p in found.parts if isinstance(p, (Form, Factor)))
    return False


def settled(form: Form) -> Form:
    """
    Every product with the indices q and r that its conditions determine written out, in its other factors and conditions.

    The equations become one for each such index, and what is left of the others: systems that are one so often look so.
    """
    return forms.add(*(_settled(monomial, coefficient) for monomial, coefficient in form.terms))


def _settled(monomial: Monomial, coefficient: Fraction) -> Form:
    conditions = [f.parts[0] for f in monomial.factors if f.kind == "holds" and isinstance(f.parts[0], Condition)]
    rest = [f for f in monomial.factors if f.kind != "holds"]
    terms = [(c.kind, c.place) for c in conditions]
    solutions: dict[str, Index] = {}
    for name in sorted({i for kind, term in terms for i in names_in(term) if kind == "eq" and i[0] in "qr"}, reverse=True):
        value = next((v for kind, term in terms if kind == "eq" and (v := solved(term, name)) is not None), None)
        if value is not None:
            names: dict[Index, Index] = {name: value}
            terms = [(kind, substituted(term, names)) for kind, term in terms]
            rest = [renamed(f, names) for f in rest]
            solutions = {n: substituted(v, names) for n, v in solutions.items()} | {name: value}
    terms += [("eq", plus(name, value, -1)) for name, value in solutions.items()]
    found = [condition(kind, term) for kind, term in terms]
    if False in found:
        return forms.constant(0)
    holding = [Factor("holds", "", (c,)) for c in found if isinstance(c, Condition)]
    return forms.total([(Monomial(monomial.bound, (*holding, *rest)), coefficient)])


# comparison


class Comparison:
    """What z3 is asked to say that two kernels are one: each question is whether they can differ."""

    def __init__(self, sizes: Mapping[str, Dim]) -> None:
        self.sizes = sizes
        self.lookups: dict[Lookup, z3.ArithRef] = {}
        self.extents: set[str] = set()

    def questions(self, left: Form, right: Form) -> Iterator[list[z3.BoolRef]]:
        """Assertions that must be contradictory, one list for each skeleton; none where the two are equal as data."""
        sides = [self.counts(f) for f in (left, right)]
        for skeleton in dict.fromkeys([*sides[0], *sides[1]]):
            counted = [side.get(skeleton, []) for side in sides]
            if sorted(counted[0], key=repr) == sorted(counted[1], key=repr):
                continue
            a, b = (self.count(c) for c in counted)
            yield [*self.facts(skeleton), a != b]

    def counts(self, form: Form) -> dict[Skeleton, list[tuple[tuple[Factor, ...], Fraction]]]:
        """The products by their factors other than conditions."""
        found: dict[Skeleton, list[tuple[tuple[Factor, ...], Fraction]]] = {}
        for monomial, coefficient in form.terms:
            conditions = tuple(f for f in monomial.factors if f.kind in ("holds", "delta"))
            rest = tuple(f for f in monomial.factors if f not in conditions)
            found.setdefault((monomial.bound, rest), []).append((conditions, coefficient))
        return found

    def count(self, found: Sequence[tuple[tuple[Factor, ...], Fraction]]) -> z3.ArithRef:
        """How often the conditions hold, with their coefficients."""
        total: Any = z3.RealVal(0)
        for conditions, c in found:
            met = z3.And(True, True, *(self.condition(f) for f in conditions))
            total = total + z3.If(met, z3.RealVal(str(c)), z3.RealVal(0))
        return total

    def condition(self, factor: Factor) -> z3.BoolRef:
        if factor.kind == "delta":
            return self.term(factor.parts[0]) == self.term(factor.parts[1])
        c = factor.parts[0]
        return self.term(c.place) == 0 if c.kind == "eq" else self.term(c.place) >= 0

    def term(self, index: Index) -> z3.ArithRef:
        """An index term over the integers."""
        match index:
            case int():
                return z3.IntVal(index)
            case str():
                return z3.Int(index)
            case Lookup():
                for inner in lookups_in(index):
                    self.lookups.setdefault(inner, z3.Int(f"lookup{len(self.lookups)}"))
                return self.lookups[index]
            case Place(terms):
                total: Any = z3.IntVal(0)
                for atoms, c in terms:
                    product: Any = z3.IntVal(c)
                    for atom in atoms:
                        product = product * (self.extent(atom) if isinstance(atom, Extent) else self.term(atom))
                    total = total + product
                return total

    def extent(self, atom: Extent) -> z3.ArithRef:
        self.extents.add(atom.name)
        return z3.Int(f"size_{atom.name}")

    def facts(self, skeleton: Skeleton) -> list[z3.BoolRef]:
        """The ranges of indices, of elements of arrays of indices, and of sizes."""
        found = []
        for name, n in (*self.sizes.items(), *skeleton[0]):
            found += [self.term(name) >= 0, self.term(name) < self.term(extent(n))]
        done: set[Lookup] = set()
        while len(done) < len(self.lookups):
            for lookup in [k for k in self.lookups if k not in done]:
                done.add(lookup)
                found += [self.lookups[lookup] >= 0, self.lookups[lookup] < self.term(lookup.below)]
        found += [z3.Int(f"size_{name}") >= 1 for name in sorted(self.extents)]
        for a, b in itertools.combinations(self.lookups, 2):
            if a.name == b.name:
                same = [self.term(i) == self.term(j) for i, j in zip(a.at, b.at, strict=True)]
                found.append(z3.Implies(z3.And(True, True, *same), self.lookups[a] == self.lookups[b]))
        return found


def possible(facts: Sequence[z3.BoolRef]) -> bool:
    """Whether sizes of 4, indices of 0 and the first element everywhere meet the facts: hypotheses that can be met."""
    found = z3.And(True, True, *facts)
    numbers = [(v, z3.IntVal(4 if v.decl().name().startswith("size_") else 0)) for v in z3util.get_vars(found)]
    return z3.is_true(z3.simplify(z3.substitute(found, *numbers)))
