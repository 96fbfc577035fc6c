"""
Kernels compared as reals: what stands at one place, under one sum and the same conditions, is a term over the reals, and two of
these may be one by an algebra that index forms do not know.

    x[i, j], a size, a sum over indices, a comparison     a variable, the same for the same text
    tanh, log1p, hypot, …, 1/s                            by their definitions, as everywhere over the reals

So 1 - tanh² and 1/cosh² are two forms, and one quotient of polynomials in exponentials (`proofs.normal_form`). Two terms are found
equal wherever both are defined; what a rule needs in order to be defined is judged by itself. So a function of which a form does
not say where it is defined is a variable here: tan, which has poles, and a power, whose definition asks for a positive base.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import z3

from checkers.smt.index_factors import Factor, Form, Monomial, tidied
from checkers.smt.index_places import Dim, Index
from checkers.smt.real import real_column
from checkers.smt.terms import real
from proofs.arrays.kernel import renamed
from proofs.normal_form import equal
from semantics.primitives.table import ELEMENTARY

FUNCTIONS = {p.name: cell for p in ELEMENTARY if p.name != "tan" and callable(cell := real_column().find(p))}
Place = tuple[tuple[tuple[Index, Dim], ...], tuple[Factor, ...]]


def without_equal(left: Form, right: Form, sizes: Mapping[str, Dim]) -> tuple[Form, Form]:
    """Both sides without what is the same reals on both: over the same indices, under the same conditions."""
    sides, terms = [by_place(side, sizes) for side in (left, right)], Terms()
    alike = {p for p in {*sides[0], *sides[1]} if equal(*(terms.of(side.get(p, Form(()))) for side in sides))}
    one, other = (Form(tuple(t for t in side.terms if placed(t[0], sizes)[0] not in alike)) for side in (left, right))
    return one, other


def by_place(form: Form, sizes: Mapping[str, Dim]) -> dict[Place, Form]:
    """The products of a sum, each without what its place says."""
    found: dict[Place, Form] = {}
    for monomial, coefficient in form.terms:
        place, rest = placed(monomial, sizes)
        found[place] = Form((*found.get(place, Form(())).terms, (rest, coefficient)))
    return found


def placed(monomial: Monomial, sizes: Mapping[str, Dim]) -> tuple[Place, Monomial]:
    """
    The place of a product, its bound indices and its conditions, and the other factors. Conditions that `sizes` meet are left out.

    A bound index is named by its number alone: its name in a form says how deeply functions are nested in the product.
    """
    names: dict[Index, Index] = {index: f"sum{k}" for k, (index, _) in enumerate(monomial.bound)}
    factors = [renamed(f, names) for f in tidied(monomial.factors, tuple(sizes.items()))]
    conditions = tuple(f for f in factors if f.kind in ("holds", "delta"))
    bound = tuple((names[index], n) for index, n in monomial.bound)
    return (bound, conditions), Monomial((), tuple(f for f in factors if f not in conditions))


@dataclass
class Terms:
    """Forms as terms over the reals, and the variables that stand for what is not read. Forms nest as deeply as a rule is long."""

    variables: dict[Factor | Monomial, z3.ArithRef] = field(default_factory=dict)

    def of(self, form: Form) -> z3.ArithRef:
        """A sum of products; one with bound indices is a variable."""
        total = real(0)
        for monomial, coefficient in form.terms:
            product = real(coefficient)
            for factor in () if monomial.bound else monomial.factors:
                product = product * self.factor(factor)
            total = total + (product * self.variable(monomial) if monomial.bound else product)
        return total

    def factor(self, factor: Factor) -> z3.ArithRef:
        """An inverse, a function by its definition, or a variable."""
        if factor.kind == "inverse":
            inside = factor.parts[0]
            return 1 / (self.of(inside) if isinstance(inside, Form) else self.factor(inside))
        if factor.kind == "call" and factor.name in FUNCTIONS:
            return FUNCTIONS[factor.name](*map(self.of, factor.parts))
        return self.variable(factor)

    def variable(self, what: Factor | Monomial) -> z3.ArithRef:
        return self.variables.setdefault(what, z3.Real(f"at!{len(self.variables)}"))
