"""
Comparisons of entries in index forms: which there are, how they may turn out together, and what a form is then.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from checkers.smt import index_form as forms
from checkers.smt.index_factors import Factor, Form
from checkers.smt.index_places import Index
from proofs.arrays.kernel import renamed

MOST_TRUTHS = 6


def truths(form: Form) -> set[Factor]:
    """The comparisons of entries in a form, those within functions too."""
    found: set[Factor] = set()
    todo: list[Any] = [form]
    while todo:
        top = todo.pop()
        if isinstance(top, Form):
            todo.extend(f for m, _ in top.terms for f in m.factors)
        elif isinstance(top, Factor):
            if top.kind == "truth":
                found.add(top)
            todo.extend(p for p in top.parts if isinstance(p, (Form, Factor)))
    return found


def decided(form: Form, values: Mapping[Factor, int]) -> Form:
    """The form where comparisons are known."""
    parts = []
    for monomial, coefficient in form.terms:
        product = forms.constant(coefficient)
        names: dict[Index, Index] = {i: f"g{form.height}.{j}" for j, (i, _) in enumerate(monomial.bound)}
        factors = [renamed(f, names) for f in monomial.factors]
        if any(values.get(f) == 0 for f in factors):
            continue
        for factor in factors:
            product = forms.multiply(product, _decided_factor(factor, values)) if factor not in values else product
        for index, n in monomial.bound:
            product = forms.summed(product, str(names[index]), n)
        parts.append(product)
    return forms.add(*parts)


def outcomes(chosen: Sequence[Factor]) -> Iterator[dict[Factor, int]]:
    """
    The ways in which comparisons may turn out.

    Of two forms one relation holds at most, equal, less or greater; numbers compare as they do; and comparisons that the others
    make one, by what they choose, turn out as one.
    """
    for outcome in itertools.product((0, 1), repeat=len(chosen)):
        values = dict(zip(chosen, outcome, strict=True))
        if _consistent(values):
            yield values


def _consistent(values: Mapping[Factor, int]) -> bool:
    known: dict[tuple[str, tuple[Form, ...]], int] = {}
    for truth, value in values.items():
        parts = tuple(decided(part, values) for part in truth.parts)
        key = (truth.name, tuple(sorted(parts, key=repr)) if truth.name == "eq" else parts)
        difference = forms.add(parts[0], forms.scaled(parts[1], -1))
        if all(not m.bound and not m.factors for m, _ in difference.terms):
            number = sum(c for _, c in difference.terms)
            if bool(value) != (number == 0 if truth.name == "eq" else number < 0):
                return False
        elif known.setdefault(key, value) != value:
            return False
    holding = [frozenset(parts) for (_, parts), value in known.items() if value]
    return len(set(holding)) == len(holding)


def _decided_factor(factor: Factor, values: Mapping[Factor, int]) -> Form:
    if factor.kind == "call":
        return forms.call(factor.name, *(decided(a, values) for a in factor.parts))
    if factor.kind == "inverse":
        inside = factor.parts[0]
        return forms.inverse(decided(inside, values) if isinstance(inside, Form) else _decided_factor(inside, values))
    return forms.single(factor)
