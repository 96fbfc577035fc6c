"""The reading of rows and backpropagators as index forms is their meaning: both are executed at small sizes, entry by entry."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import settings

from checkers.smt.index_form import Factor, Form
from checkers.smt.index_places import Extent, Lookup, Place
from checkers.smt.index_values import Indexed, array, number
from proofs.arrays.adjoints import rule_of
from proofs.arrays.course import Course
from proofs.arrays.instances import Indices, concrete, names_of_sizes, sized, symbolic
from proofs.arrays.kinds import EXAMPLES
from proofs.arrays.reading import column, read
from proofs.arrays.replay import applied, mapped, parts
from semantics.arrays import Array, indices_of, strides_of
from semantics.denotation import FRACTIONS, denote
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO

EVERY = 1 if settings.get_current_profile_name() == "deep" else 2
# these are read through functions or orders of entries, whose values are no rationals or not known to a form
APART = {"logsumexp", "norm", "reduce_max", "reduce_min", "sort"}
ROWS = sorted(set(EXAMPLES) - APART)
SIZES = {"n": 2, "m": 3, "k": 2, "l": 3, "a": 2, "b": 2}


class World:
    """Numbers for the sizes, entries and indices that a form names."""

    def __init__(self, sizes: Mapping[str, int], arrays: Mapping[str, Any], lookups: Mapping[str, Any]) -> None:
        self.sizes, self.arrays, self.lookups = dict(sizes), dict(arrays), dict(lookups)

    def form(self, form: Form, at: Mapping[str, int]) -> Any:
        total: Any = Fraction(0)
        for monomial, coefficient in form.terms:
            ranges = [range(sized(n, self.sizes)) for _, n in monomial.bound]
            for indices in itertools.product(*ranges):
                known = {**at, **dict(zip((i for i, _ in monomial.bound), indices, strict=True))}
                product = coefficient
                for factor in sorted(monomial.factors, key=lambda f: f.kind != "holds"):
                    product = product * self.factor(factor, known) if product else product
                total += product
        return total

    def factor(self, factor: Factor, at: Mapping[str, int]) -> Any:
        match factor.kind:
            case "entry":
                value = self.arrays[factor.name]
                if not isinstance(value, Array):
                    return value
                place = sum(self.index(i, at) * s for i, s in zip(factor.parts, strides_of(value.shape), strict=True))
                return value.items[place]
            case "size":
                return self.sizes[factor.name]
            case "holds":
                (condition,) = factor.parts
                value = self.index(condition.place, at)
                return int(value == 0 if condition.kind == "eq" else value >= 0)
            case "inverse":
                inside = factor.parts[0]
                return 1 / (self.form(inside, at) if isinstance(inside, Form) else Fraction(self.factor(inside, at)))
            case "delta":
                return int(self.index(factor.parts[0], at) == self.index(factor.parts[1], at))
            case _:
                raise AssertionError(factor)

    def index(self, term: Any, at: Mapping[str, int]) -> int:
        match term:
            case int():
                return term
            case str():
                return at[term]
            case Lookup(name, places, _):
                value = self.lookups[name]
                if not isinstance(value, Array):
                    return value
                return value.items[sum(self.index(i, at) * s for i, s in zip(places, strides_of(value.shape), strict=True))]
            case Place(terms):
                total = 0
                for atoms, c in terms:
                    for atom in atoms:
                        c *= self.sizes[atom.name] if isinstance(atom, Extent) else self.index(atom, at)
                    total += c
                return total
        raise AssertionError(term)

    def items(self, value: Any) -> list[Any]:
        """The entries of a value of the reading, in order."""
        if isinstance(value, tuple):
            return [x for part in value for x in self.items(part)]
        if isinstance(value, Form):
            return [self.form(value, {})]
        shape = tuple(sized(n, self.sizes) for n in value.shape)
        found = []
        for indices in indices_of(shape):
            names = [0 if n == 1 else f"e{k}" for k, n in enumerate(value.shape)]
            found.append(self.form(value.at(tuple(names)), {f"e{k}": i for k, i in enumerate(indices)}))
        return found


def _arrays(example: Any, value: Any, name: str) -> dict[str, Any]:
    if isinstance(example, tuple):
        return {k: v for j, (e, a) in enumerate(zip(example, value, strict=True)) for k, v in _arrays(e, a, f"{name}.{j}").items()}
    return {name: value}


def _lookups(example: Any, value: Any) -> dict[str, Any]:
    if isinstance(example, tuple) and isinstance(value, tuple):
        return {k: v for e, a in zip(example, value, strict=True) for k, v in _lookups(e, a).items()}
    return {example.name: value} if isinstance(example, Indices) else {}


@pytest.mark.parametrize("name", ROWS[1::EVERY])
def test_the_reading_of_a_row_and_of_its_rule_is_what_they_compute(name: str) -> None:
    for example in EXAMPLES[name]:
        sizes = {n: SIZES[n] for n in names_of_sizes(example)}
        values = concrete(example, sizes, _numbers(7))
        out = denote(applied(TABLE[name], len(example)), values, FRACTIONS)
        arguments = [symbolic(a, f"x{k}") for k, a in enumerate(example)]
        form = column(Course())[name](*arguments)
        world = World(sizes, {}, {})
        for k, (e, v) in enumerate(zip(example, values, strict=True)):
            world.arrays |= _arrays(e, v, f"x{k}")
            world.lookups |= _lookups(e, v)
        assert world.items(form) == _items(out), example
        dout = _filled(out)
        world.arrays["w"] = dout
        w = array("w", "f64", form.shape) if isinstance(form, Indexed) else number("w")
        rule = rule_of(TABLE[name], len(example))
        found = read(rule, [*arguments, form, w])
        exact = denote(rule, [*values, out, dout], FRACTIONS)
        for cotangent, wanted, value in zip(found, exact, values, strict=True):
            if cotangent is not ZERO:
                assert _flat(world, cotangent, value) == parts(wanted, value), example


def _numbers(step: int) -> Iterator[Fraction]:
    """Halves between -5 and 6, in no order."""
    return (Fraction((step * k) % 23 - 11, 2) for k in itertools.count())


def _filled(out: Any) -> Any:
    """A cotangent of a result."""
    numbers = _numbers(5)
    return mapped(lambda _: next(numbers), out)


def _flat(world: World, cotangent: Any, value: Any) -> list[Any]:
    if isinstance(value, tuple) and isinstance(cotangent, tuple):
        return [x for c, v in zip(cotangent, value, strict=True) for x in _flat(world, c, v)]
    return [Fraction(0)] * len(parts(ZERO, value)) if cotangent is ZERO else world.items(cotangent)


def _items(value: Any) -> list[Any]:
    if isinstance(value, tuple):
        return [x for v in value for x in _items(v)]
    return [Fraction(0) if x is ZERO else x for x in value.items] if isinstance(value, Array) else [value]
